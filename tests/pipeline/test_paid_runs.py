"""Runs whose judges cost money, killed or terminated in the middle: invariants 3 and 6 through Dagster."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from sqlite3 import OperationalError, connect

import pytest

from regress_core.records.json_io import JsonObject
from tests.pipeline.bench import Bench
from tests.pipeline.builders import evaluation_states, outcome_rows, read_json, revisions
from tests.pipeline.processes import end_of, regress_started, run_regress, run_started
from tests.support import openai_server as openai
from tests.support.judges import JudgeServer, judged_suite, says, verdict
from tests.support.openai_server import KEY, Answer, OpenAIServer
from tests.support.suites import Kind, lasting, write_suite

PASS = says(verdict("pass"))
PRICE = "{input: 0.001, output: 10.0}"
"""Dollars per million tokens: a call of 100 tokens of output is reserved with $0.001 and 4 % more at most."""

CAP_USD = 0.1
"""Covers 200 calls of 20 tokens of output, $0.0002 each, and some lost reservations of a killed process."""

_GIVE_UP_AFTER_S = 120


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Generator[JudgeServer]:
    server = JudgeServer()
    with OpenAIServer(server) as listening:
        monkeypatch.setenv("OPENAI_BASE_URL", listening.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield server


def _judged(bench: Bench, count: int) -> list[str]:
    cases = [f"case-{number:03}" for number in range(count)]
    kinds: dict[str, Kind] = dict.fromkeys(cases, "reworded")
    config = judged_suite(judge=f"max_output_tokens: 100, cap_usd: {CAP_USD}", price=PRICE)
    write_suite(bench.suites_root / "shop", kinds, config=config)
    return cases


def _calls(store: Path) -> list[tuple[str, str, int]]:
    """Give case, state and what counts (nano-dollars) of each call; none while there is no journal yet."""
    counted = "coalesce(cost_nanousd, reserved_nanousd)"
    try:
        with closing(connect(f"file:{store / 'journal.sqlite'}?mode=ro", uri=True)) as connection:
            return connection.execute(f"SELECT case_id, state, {counted} FROM calls").fetchall()  # noqa: S608 - our own words
    except OperationalError:
        return []


def _of_state(store: Path, wanted: str) -> set[str]:
    return {case for case, state, _ in _calls(store) if state == wanted}


def _wait(process: subprocess.Popen[str], reached: Callable[[], bool]) -> None:
    give_up = time.monotonic() + _GIVE_UP_AFTER_S
    while not reached():
        assert process.poll() is None, f"it ended too early: {process.communicate()}"
        assert time.monotonic() < give_up, "it takes too long"
        time.sleep(0.01)


def _but_cost(summary: JsonObject) -> JsonObject:
    """Take off what lost reservations make larger."""
    kept = {key: value for key, value in lasting(summary).items() if key != "cost"}
    cases: list[JsonObject] = kept["cases"]
    for one in (one for case in cases for one in case["judging"]):
        del one["costUsd"]
    return kept


def test_200_cases_killed_with_9_in_the_middle_pay_for_no_committed_call_again(
    bench: Bench, server: JudgeServer, tmp_path: Path
) -> None:
    cases = _judged(bench, 200)
    server.answers = {(case, "regression"): [openai.after(0.05, PASS)] for case in cases}
    with regress_started(bench, "pipeline", "run", "shop") as process:
        _wait(process, lambda: len(_of_state(bench.store, "settled")) >= 60)
        process.kill()
        process.wait()
    paid, lost = _of_state(bench.store, "settled"), _of_state(bench.store, "open")
    committed = outcome_rows(bench.store)
    [evaluation_id] = evaluation_states(bench.store)

    done = run_regress(bench, "pipeline", "run", "shop")

    assert process.returncode == -signal.SIGKILL
    assert 60 <= len(paid) < 200
    assert len(committed) < 200
    assert done.returncode == 0, done.stderr
    assert evaluation_states(bench.store) == {evaluation_id: ("finished", 1)}
    asked = {case: server.asked[case, "regression"] for case in cases}
    assert {case for case in asked if asked[case] != 1} <= lost  # whose reply nobody has seen
    assert [row for row in outcome_rows(bench.store) if row in committed] == committed
    assert dict.fromkeys(cases, 1) == {
        case: len(n) for case, n in revisions(bench.store, evaluation_id).items()
    }
    assert sum(nanousd for *_, nanousd in _calls(bench.store)) <= CAP_USD * 10**9
    server.recover()
    other = tmp_path / "undisturbed"
    assert run_regress(bench, "pipeline", "run", "shop", "--store", other).returncode == 0
    [outputs] = (other / "outputs").iterdir()
    summary = read_json(bench.store / "outputs" / evaluation_id / "summary.json")
    assert _but_cost(summary) == _but_cost(read_json(outputs / "summary.json"))
    assert summary["totals"]["cases"] == 200


def test_a_terminated_run_gives_back_what_it_reserved_for_calls_that_never_left(
    bench: Bench, server: JudgeServer
) -> None:
    """Eight calls are in flight; of those that wait for their turn none has left."""
    cases = _judged(bench, 40)
    hangs: list[Answer] = [openai.after(60, PASS)]
    server.answers = {(case, "regression"): hangs for case in cases[3:]}
    bench.register("shop", cases)
    with run_started(bench, "shop", cases[0], cases[-1]) as process:
        _wait(process, lambda: server.asked.total() == 3 + 8)
        [run_id] = bench.run_ids()
        bench.announce_termination(run_id)
        process.send_signal(signal.SIGINT)
        end_of(process)
    [evaluation_id] = evaluation_states(bench.store)

    assert bench.read(run_id).status == "CANCELED"
    assert evaluation_states(bench.store) == {evaluation_id: ("running", 1)}
    assert [row.case_id for row in outcome_rows(bench.store)] == cases[:3]
    assert _of_state(bench.store, "settled") == set(cases[:3])
    assert len(_calls(bench.store)) == 3 + 8  # those in flight may have cost something: they stay reserved
    server.recover()
    again = bench.reexecute("shop", run_id)
    assert again.status == "SUCCESS"
    assert again.evaluation_id() == evaluation_id
    assert {case for case, _ in server.asked} == set(cases[3:])
    assert set(server.asked.values()) == {1}
