"""A suite with a case of every kind, and a store for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluation.support import Place
from tests.support.suites import MIXED, write_suite


@pytest.fixture
def mixed(tmp_path: Path) -> Place:
    return Place(root=write_suite(tmp_path / "suite", MIXED), store=tmp_path / "store")
