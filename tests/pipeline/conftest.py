"""Fixtures of the Dagster tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipeline.bench import Bench, open_bench


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """Give an empty suites root and a store with its Dagster instance; the environment names both."""
    bench = open_bench(tmp_path)
    monkeypatch.setenv("REGRESS_STORE", str(bench.store))
    monkeypatch.setenv("REGRESS_SUITES_ROOT", str(bench.suites_root))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    with bench.instance:
        yield bench
