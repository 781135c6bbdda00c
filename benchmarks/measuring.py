"""Measuring in a fresh process, so that nothing done before counts."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path


def in_fresh_process(*arguments: str) -> dict[str, float]:
    """Run the running benchmark again, with other arguments, and give the JSON object that it prints last."""
    command = [sys.executable, sys.argv[0], *arguments]
    output = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    return json.loads(output.splitlines()[-1])


def peak_rss_mb() -> float:
    """Give the most memory that this process has had so far, in MiB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def arguments_by_concurrency(description: str | None) -> argparse.Namespace:
    """Read the options of a benchmark that measures the same at several concurrencies.

    `measure` is the concurrency that a fresh process is to measure with the suite in `folder`; else None.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[8, 32])
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()
