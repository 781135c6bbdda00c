"""The benchmarks run and print what they promise; how fast they are is not for tests to say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_compare_throughput_prints_json_last() -> None:
    command = [
        sys.executable,
        str(ROOT / "benchmarks/compare_throughput.py"),
        "--cases",
        "20",
        "--calls",
        "3",
    ]
    output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", timeout=120).stdout

    figures = json.loads(output.splitlines()[-1])

    assert figures["cases"] == 20
    assert figures["calls"] == 3
    assert {"run_s", "wall_s", "peak_rss_mb"} <= figures.keys()
    assert all(figures[name] > 0 for name in ("run_s", "wall_s", "peak_rss_mb"))
