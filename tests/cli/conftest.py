"""The command, in a folder of the test's own: in a process of its own, or in this one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import Command, Here


@pytest.fixture
def regress(tmp_path: Path) -> Command:
    return Command(tmp_path)


@pytest.fixture
def here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, capsys)
