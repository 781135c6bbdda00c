"""A real process, stopped in the middle of a large evaluation, and taken up again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from regress_core.records.json_io import JsonObject
from tests.cli.support import Command, Result, count_outcomes, evaluations_in, outcomes_in
from tests.support.records import tool_call, tool_output
from tests.support.suites import (
    Kind,
    baseline,
    candidate,
    expected_case,
    lasting,
    tree,
    without_reasons,
    write_records,
    write_suite,
)

CASES, CALLS = 300, 80
_ATTEMPTS = 6
_GIVE_UP_AFTER_S = 120
_PATIENCE_S = 20
KINDS: dict[str, Kind] = {
    f"case-{number:03}": ("reworded" if number % 7 == 1 else "failed" if number % 11 == 2 else "same")
    for number in range(CASES)
}


def _large(record: JsonObject, side: str) -> JsonObject:
    """Give the record a long run of calls, so that evaluating a case takes milliseconds."""
    calls = [
        item
        for n in range(CALLS)
        for item in (
            tool_call(
                f"{side}{n}", "search", arguments={"query": f"order {n}", "limit": 10, "tags": ["a", "b"]}
            ),
            tool_output(f"{side}{n}", output={"hits": [{"id": n, "title": "x" * 20}]}),
        )
    ]
    return record | {"items": calls}


@dataclass(frozen=True)
class Large:
    """A large suite, and what its undisturbed evaluation comes to."""

    root: Path
    summary: dict[str, Any]
    results: dict[str, bytes]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Large:
    folder = tmp_path_factory.mktemp("large")
    root = write_suite(folder / "suite", {})
    write_records(root / "records", {case: _large(baseline(case), "b") for case in KINDS})
    made = {case: _large(candidate(case, kind) or {}, "c") for case, kind in KINDS.items()}
    write_records(root / "new", made)
    result = Command(folder)("run", "suite", "--json", "--store", "store", "--out", "out")
    assert result.code == 1, result.err
    summary = result.json
    assert [without_reasons(case) for case in summary["cases"]] == [
        expected_case(case, kind) for case, kind in KINDS.items()
    ]
    return Large(root, summary, tree(folder / "out" / "results"))


def wait_for_outcomes(process: subprocess.Popen[str], store: Path, wanted: int) -> None:
    """Wait until the journal holds so many outcomes, or the process has ended."""
    give_up = time.monotonic() + _GIVE_UP_AFTER_S
    while count_outcomes(store) < wanted and process.poll() is None:
        assert time.monotonic() < give_up, "the evaluation does not go on"
        time.sleep(0.002)


def assert_undisturbed(result: Result, large: Large, store: Path, out: Path) -> None:
    """The evaluation is complete, and it came to what an undisturbed one comes to."""
    assert result.code == 1, result.err
    assert lasting(result.json) == lasting(large.summary)
    assert tree(out / "results") == large.results
    assert [row[1:] for row in evaluations_in(store)] == [("finished", 1)]
    assert len(outcomes_in(store)) == CASES


def rows_of(regress: Command, store: Path) -> Any:  # noqa: ANN401 - JSON
    question = "SELECT count(*) n, count(DISTINCT case_id) cases, max(revision) revision FROM case_results"
    return regress("sql", question, "--json", "--store", store).json


def test_ctrl_c(regress: Command, tmp_path: Path, large: Large) -> None:
    """R36, on a process: what is done is kept, and the printed command does the rest."""
    store = tmp_path / "my store"
    with regress.started("run", large.root, "--store", "my store", "--out", "my out") as process:
        wait_for_outcomes(process, store, 20)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=_GIVE_UP_AFTER_S)

    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert out == ""
    assert not (tmp_path / "my out").exists()
    kept = outcomes_in(store)
    assert 20 <= len(kept) < CASES
    ((evaluation_id, state, _),) = evaluations_in(store)
    assert state == "running"
    assert f"{len(kept)} of {CASES} cases" in err
    (command,) = [line.strip() for line in err.splitlines() if "--resume" in line]
    assert command.startswith(f"regress run --resume {evaluation_id}")

    done = subprocess.run(
        ["/bin/sh", "-c", f"{command} --json"],
        cwd=tmp_path,
        env=regress.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=_GIVE_UP_AFTER_S,
    )

    assert f"{len(kept)} of them done before" in done.stderr
    result = Result(done.returncode, done.stdout, done.stderr)
    assert_undisturbed(result, large, store, tmp_path / "my out")
    assert {key: payload for key, payload in outcomes_in(store).items() if key in kept} == kept
    assert rows_of(regress, store) == [{"n": CASES, "cases": CASES, "revision": 1}]


def test_ctrl_c_before_the_first_case(regress: Command, tmp_path: Path) -> None:
    """The inputs are still being read: a record is a pipe that nobody writes to."""
    root = write_suite(tmp_path / "suite", {"a": "same"})
    os.mkfifo(root / "records" / "pipe.json")
    with regress.started("run", "suite", "--out", "out") as process:
        writer = open_once_read(process, root / "records" / "pipe.json")
        time.sleep(0.2)  # from the opening to the read, that is; see ctrl_c_until_ended
        out, err = ctrl_c_until_ended(process)
        os.close(writer)

    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["suite"]


def ctrl_c_until_ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Press Ctrl-C, and again if nothing comes of it, as a person would.

    Python looks for signals before a blocking read, not on its way into it; one that comes just then is seen
    only when the read ends or the next signal cuts it short.
    """
    for _ in range(_GIVE_UP_AFTER_S // _PATIENCE_S):
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError("Ctrl-C does not end the process")


def open_once_read(process: subprocess.Popen[str], pipe: Path) -> int:
    """Open the writing end as soon as the process has opened the reading end."""
    give_up = time.monotonic() + _GIVE_UP_AFTER_S
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads yet
            assert process.poll() is None
            assert time.monotonic() < give_up, "the pipe is never read"
            time.sleep(0.01)


def test_kill_9(regress: Command, tmp_path: Path, large: Large) -> None:
    """Killed with between a quarter and three quarters of the outcomes in the journal."""
    store, kept = tmp_path / "none", dict[tuple[Any, ...], str]()
    for attempt in range(_ATTEMPTS):  # on a busy machine the kill may come too late
        store = tmp_path / f"store{attempt}"
        with regress.started("run", large.root, "--store", store, "--out", "out") as process:
            wait_for_outcomes(process, store, CASES // 4)
            process.kill()
            process.communicate()
        assert process.returncode in {-signal.SIGKILL, 1}
        kept = outcomes_in(store)
        if len(kept) <= CASES * 3 // 4:
            break
    assert CASES // 4 <= len(kept) <= CASES * 3 // 4
    assert [row[1:] for row in evaluations_in(store)] == [("running", 1)]
    assert not (store / "history").exists()

    result = regress("run", large.root, "--store", store, "--out", "out", "--json")

    assert f"{len(kept)} of them done before" in result.err
    assert_undisturbed(result, large, store, tmp_path / "out")
    after = outcomes_in(store)
    assert {key: payload for key, payload in after.items() if key in kept} == kept
    assert sorted(key[1:] for key in after) == [(case, 1, 1) for case in KINDS]
    assert rows_of(regress, store) == [{"n": CASES, "cases": CASES, "revision": 1}]
