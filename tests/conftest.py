"""Fixtures and settings for every test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import configuration, settings

_REPOSITORY = Path(__file__).resolve().parent.parent

# Derandomised: a run tells of the change, not of the luck. No deadline: tests share the machine with others.
settings.register_profile("regress", derandomize=True, deadline=None, database=None)
settings.load_profile("regress")


def pytest_configure(config: pytest.Config) -> None:
    """Keep what hypothesis stores with pytest's own cache, so that no folder of its own is left behind."""
    if config.pluginmanager.hasplugin("cacheprovider"):
        configuration.set_hypothesis_home_dir(config.cache.mkdir("hypothesis"))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Give the folder of real data (`REGRESS_DATA_DIR`); the test is skipped where it is missing."""
    folder = Path(os.environ.get("REGRESS_DATA_DIR") or _REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is missing, set REGRESS_DATA_DIR")
    return folder
