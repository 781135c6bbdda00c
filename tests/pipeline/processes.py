"""Processes of ours: started, watched through the journal, stopped in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from tests.pipeline.bench import Bench
from tests.pipeline.builders import outcome_rows
from tests.support.commands import run_in_process

REGRESS = Path(sys.executable).with_name("regress")
_REPOSITORY = Path(__file__).resolve().parents[2]
_GIVE_UP_AFTER_S = 60


def run_regress(bench: Bench, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command on the bench's suites and store, to its end."""
    return subprocess.run(
        [REGRESS, *arguments], env=_environment(bench), capture_output=True, text=True, check=False
    )


def run_here(bench: Bench, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command in this process, which need not load Dagster anew; otherwise as `run_regress`."""
    return run_in_process(["regress", *map(str, arguments)], None, _environment(bench))


def regress_started(bench: Bench, *arguments: str | Path) -> AbstractContextManager[subprocess.Popen[str]]:
    """Start the command; see `_started`."""
    return _started(bench, [REGRESS, *arguments])


def run_started(
    bench: Bench, suite: str, first: str, last: str
) -> AbstractContextManager[subprocess.Popen[str]]:
    """Start a Dagster run of a range of partitions, whose op gets a child process; see `_started`."""
    command = [sys.executable, "-m", "tests.pipeline.apart", bench.store, bench.suites_root]
    return _started(bench, [*command, suite, first, last])


@contextmanager
def _started(bench: Bench, command: Sequence[str | Path]) -> Generator[subprocess.Popen[str]]:
    """Start a process; it and its children are killed at the latest when the block ends."""
    before = signal.getsignal(signal.SIGINT)
    # A process started while SIGINT is ignored ignores it too, as does what a shell runs in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(
            command,
            cwd=_REPOSITORY,
            env=_environment(bench),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def wait_for_outcomes(process: subprocess.Popen[str], store: Path, wanted: int) -> None:
    """Wait until the journal holds so many outcomes."""
    give_up = time.monotonic() + 2 * _GIVE_UP_AFTER_S
    while len(outcome_rows(store)) < wanted:
        assert process.poll() is None, f"it ended too early: {process.communicate()}"
        assert time.monotonic() < give_up, "it takes too long"
        time.sleep(0.002)


def end_of(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait for a process that should be ending; give what it wrote."""
    try:
        return process.communicate(timeout=_GIVE_UP_AFTER_S)
    except subprocess.TimeoutExpired:
        raise AssertionError("it does not end") from None


def _environment(bench: Bench) -> dict[str, str]:
    return {
        **os.environ,
        "REGRESS_STORE": str(bench.store),
        "REGRESS_SUITES_ROOT": str(bench.suites_root),
    }
