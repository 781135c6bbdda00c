"""Measuring in a fresh process, so that nothing done before counts."""

from __future__ import annotations

import json
import resource
import subprocess
import sys


def in_fresh_process(*arguments: str) -> dict[str, float]:
    """Run the running benchmark again, with other arguments, and give the JSON object that it prints last."""
    command = [sys.executable, sys.argv[0], *arguments]
    output = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    return json.loads(output.splitlines()[-1])


def peak_rss_mb() -> float:
    """Give the most memory that this process has had so far, in MiB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
