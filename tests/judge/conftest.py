"""The place where judges are asked."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.calls.support import patient_ledger
from tests.judge.asking import Place


@pytest.fixture
def place(tmp_path: Path) -> Generator[Place]:
    with patient_ledger(tmp_path) as ledger:
        yield Place(ledger)
