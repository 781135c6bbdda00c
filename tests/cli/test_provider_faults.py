"""`regress run` against a provider that misbehaves: a real server, the real client, a process of its own."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from regress_core.history.store import History
from regress_core.records.json_io import JsonObject
from tests.cli.support import Command, Here, Result, count_outcomes, evaluations_in
from tests.support.openai_server import KEY, OpenAIServer
from tests.support.provider_faults import (
    ATTEMPTS,
    COMES_TO,
    FAULTS,
    Provider,
    expected_case,
    write_live_suite,
)
from tests.support.suites import lasting, without_reasons

_TIME_OUT_S = 2  # of one attempt; a busy machine takes its time for the answers that do come
_GIVE_UP_AFTER_S = 60
_TROUBLED = {case for case, comes in COMES_TO.items() if comes.trouble}
_FAILED = {case for case, comes in COMES_TO.items() if comes.error}


@contextmanager
def serving(provider: Provider) -> Generator[None]:
    """Serve a provider to the commands that are started meanwhile."""
    with OpenAIServer(provider) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", server.base_url)
        patch.setenv("OPENAI_API_KEY", KEY)
        yield


def entries(result: Result) -> dict[str, JsonObject]:
    """Give the entries of a summary by case id, without what differs between any two runs."""
    return {case["caseId"]: case for case in lasting(result.json)["cases"]}


def pass_rate(store: Path) -> float:
    rows = History.open(store).table("evaluations").to_pylist()
    return max(rows, key=lambda row: row["revision"])["pass_rate"]


def test_every_fault_stays_in_its_case_and_the_same_command_mends_what_can_be_mended(
    regress: Command, tmp_path: Path
) -> None:
    write_live_suite(tmp_path / "suite", COMES_TO, config="name: shop\ngate: {min_pass_rate: 0.5}\n")
    store = tmp_path / "store"
    provider = Provider({case: FAULTS[case] for case in COMES_TO})
    run = partial(
        regress,
        "run",
        "suite",
        "--json",
        REGRESS_CONCURRENCY="8",
        REGRESS_CALL_ATTEMPTS=str(ATTEMPTS),
        REGRESS_CALL_TIME_OUT_S=str(_TIME_OUT_S),
    )
    with serving(provider):
        disturbed = run("--store", store)
        requests, arrivals, rate = provider.requests, provider.arrivals, pass_rate(store)
        provider.recover()
        mended = run("--store", store)
        requests_again = provider.requests
        undisturbed = run("--store", "other")

    found, sound = entries(disturbed), entries(undisturbed)
    assert {case: without_reasons(entry) for case, entry in sound.items()} == {
        case: expected_case(case) for case in COMES_TO
    }
    assert {case: without_reasons(entry) for case, entry in found.items()} == {
        case: expected_case(case, fault=case) for case in COMES_TO
    }
    for case, entry in found.items():
        assert_reasons(case, entry)
    # R41: attempts are bounded, and they are ours alone.
    assert requests == {case: comes.requests for case, comes in COMES_TO.items()}
    first, second, *_ = arrivals["429-once"]
    assert second - first >= 1  # as Retry-After says
    # R39: trouble is outside the pass rate: of six conclusive cases three pass, which is the gate's floor.
    assert rate == 0.5
    assert (disturbed.code, disturbed.json["gate"]["status"]) == (0, "warn")

    # Only what met trouble is asked for again, and comes to what an undisturbed run comes to.
    assert requests_again == dict.fromkeys(_TROUBLED, 2)
    assert entries(mended) == {case: found[case] if case in _FAILED else sound[case] for case in COMES_TO}
    assert mended.json["evaluationId"] == disturbed.json["evaluationId"]
    assert [row[1:] for row in evaluations_in(store)] == [("finished", 2)]
    assert pass_rate(store) == 10 / 13


def assert_reasons(case: str, entry: JsonObject) -> None:
    """A failure names its error, trouble says how often it was tried, and a pass needs no reason."""
    if case in _FAILED:
        (reason,) = entry["reasons"]
        assert reason.startswith(f"candidate failed: {COMES_TO[case].error}")
    elif case in _TROUBLED:
        (reason,) = entry["reasons"]
        assert reason.endswith(f"({ATTEMPTS} attempts)")
    else:
        assert entry["reasons"] == []


@pytest.mark.parametrize(
    ("fault", "kind", "code"),
    [
        pytest.param("quota", "quota", "429", id="quota"),
        pytest.param("401", "configuration", "401", id="401"),
    ],
)
def test_what_no_waiting_mends_stops_all_calls(
    here: Here, tmp_path: Path, fault: str, kind: str, code: str
) -> None:
    """R42, H53: nothing was evaluated, which is never exit 0; the same command goes on once it is mended."""
    cases = [f"case-{number}" for number in range(12)]
    write_live_suite(tmp_path / "suite", cases)
    provider = Provider(dict.fromkeys(cases, FAULTS[fault]))
    with serving(provider):
        result = here("run", "suite", "--json", REGRESS_CONCURRENCY="3")
        # Those that were on their way together; each was sent once.
        assert 1 <= len(provider.requests) <= 3
        assert set(provider.requests.values()) == {1}
        provider.recover()
        mended = here("run", "suite", "--json")

    assert (result.code, result.json["gate"]["status"]) == (3, "warn")
    assert result.json["totals"]["inconclusive"] == len(cases)
    troubles = [case["trouble"] for case in result.json["cases"]]
    assert troubles == [{"kind": kind, "code": code, "retryable": True}] * len(cases)
    assert KEY not in result.out + result.err
    assert (mended.code, mended.json["totals"]["passed"]) == (0, len(cases))
    assert provider.requests == dict.fromkeys(cases, 2)


def test_ctrl_c_in_the_middle_of_a_hanging_call(regress: Command, tmp_path: Path) -> None:
    write_live_suite(tmp_path / "suite", ["a", "hanging", "z"])
    store = tmp_path / "store"
    provider = Provider({"hanging": FAULTS["hangs"]})
    with serving(provider):
        with regress.started("run", "suite", "--store", "store") as process:
            wait_until_it_hangs(process, provider, store)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=_GIVE_UP_AFTER_S)
        assert (process.returncode, out) == (130, "")
        assert "Traceback" not in err
        assert "2 of 3 cases" in err
        ((evaluation_id, state, _),) = evaluations_in(store)
        assert (state, f"--resume {evaluation_id}" in err) == ("running", True)
        provider.recover()
        result = regress("run", "--resume", evaluation_id, "--store", "store", "--json")

    assert result.code == 0, result.err
    assert [without_reasons(case) for case in entries(result).values()] == [
        expected_case(case) for case in ("a", "hanging", "z")
    ]
    assert provider.requests == {"hanging": 2}
    assert [row[1:] for row in evaluations_in(store)] == [("finished", 1)]


def wait_until_it_hangs(process: subprocess.Popen[str], provider: Provider, store: Path) -> None:
    """Wait until the hanging call is out and the other two cases are committed."""
    give_up = time.monotonic() + _GIVE_UP_AFTER_S
    while count_outcomes(store) < 2 or "hanging" not in provider.requests:
        assert process.poll() is None
        assert time.monotonic() < give_up, "the evaluation does not go on"
        time.sleep(0.01)
