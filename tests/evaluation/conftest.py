"""A suite with a case of every kind, and a store for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.evaluation.support import Place
from tests.support.suites import MIXED, write_suite


@pytest.fixture
def mixed(tmp_path: Path) -> Place:
    return Place(root=write_suite(tmp_path / "suite", MIXED), store=tmp_path / "store")


@pytest.fixture(autouse=True)
def search_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the folders of adapters leave the module search path again."""
    monkeypatch.setattr(sys, "path", [*sys.path])
