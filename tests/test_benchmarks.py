"""The benchmarks run and print what they promise; how fast they are is not for tests to say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def figures(benchmark: str, **options: int) -> dict[str, Any]:
    """Run a benchmark and give what it prints last."""
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    command = [sys.executable, str(ROOT / "benchmarks" / benchmark), *arguments]
    output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", timeout=120).stdout
    return json.loads(output.splitlines()[-1])


def test_compare_throughput() -> None:
    told = figures("compare_throughput.py", cases=20, calls=3)

    assert told["cases"] == 20
    assert told["calls"] == 3
    assert {"run_s", "wall_s", "peak_rss_mb"} <= told.keys()
    assert all(told[name] > 0 for name in ("run_s", "wall_s", "peak_rss_mb"))


def test_suite_throughput() -> None:
    told = figures("suite_throughput.py", cases=10)

    assert told["cases"] == 10
    assert all(told[name] > 0 for name in ("run_s", "wall_s", "peak_rss_mb"))


def test_concurrency() -> None:
    told = figures("concurrency.py", cases=4, concurrency=3)

    assert told["cases"] == 4
    (run,) = told["runs"]
    assert (run["concurrency"], run["ideal"]) == (3, 1.2)  # two rounds of three turns of 0.2 s
    assert run["seconds"] >= run["ideal"]
    assert run["ratio"] >= 1


def test_judge_runner() -> None:
    told = figures("judge_runner.py", cases=4, concurrency=3)

    assert told["cases"] == 4
    (run,) = told["runs"]
    assert (run["concurrency"], run["calls"], run["ideal"]) == (3, 4, 0.4)  # two rounds of 0.2 s
    assert run["judging_s"] >= run["ideal"]
    assert run["wall_s"] >= run["judging_s"]
    assert run["ratio"] >= 1
    assert run["again_calls"] == 0


def test_pipeline_overhead() -> None:
    told = figures("pipeline_overhead.py", cases=4, paced=1)

    (run,) = told["runs"]
    assert run["cases"] == 4
    assert run["dagster_s"] > run["alone_s"] > 0
    assert run["first_case_s"] > 0
    assert (told["paced"]["concurrency"], told["paced"]["model_s"]) == (16, 6.0)  # three turns of two seconds
    assert told["paced"]["seconds"] >= 6
    assert told["paced"]["ratio"] >= 1


def test_import_memory() -> None:
    told = figures("import_memory.py", mb=1)

    for form in ("lines", "array"):
        assert told[form]["cases"] > 20
        assert all(told[form][name] > 0 for name in ("seconds", "mb_per_s", "peak_rss_mb"))
