"""`regress run` with judges whose provider misbehaves: the real command, the real client, real sockets."""

from __future__ import annotations

import shlex
import signal
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from sqlite3 import OperationalError, connect

import pytest

from regress_core.records.json_io import JsonObject
from tests.cli.support import Command, Here, Result
from tests.support import openai_server as openai
from tests.support.judges import MODEL, JudgeServer, judged_suite, says, verdict
from tests.support.openai_server import KEY, Answer, OpenAIServer
from tests.support.suites import write_suite

HANGS_S = 60.0
_GIVE_UP_AFTER_S = 60
PASS, WARN, FAIL = says(verdict("pass")), says(verdict("warn")), says(verdict("fail"))


@contextmanager
def serving(server: JudgeServer) -> Generator[OpenAIServer]:
    """Serve a judges' model to the commands that are started meanwhile."""
    with OpenAIServer(server) as listening, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", listening.base_url)
        patch.setenv("OPENAI_API_KEY", KEY)
        yield listening


def entries(result: Result) -> dict[str, JsonObject]:
    """Give the entries of a summary by case id."""
    return {case["caseId"]: case for case in result.json["cases"]}


def judging(entry: JsonObject) -> JsonObject:
    """Say what became of the one judge of a case."""
    (one,) = entry["judging"]
    return one


@dataclass(frozen=True)
class Comes:
    """What the provider answers, and what that comes to where a call is attempted twice."""

    answers: Sequence[Answer]
    status: str
    state: str
    requests: int


def completed(message: JsonObject, finish: str) -> Answer:
    """Answer with a message, and why it ended."""
    return openai.json_body(openai.completion(message, finish=finish))


OUTAGE = ("warn", "skipped", 2)
SAID = ("pass", "verdict", 1)
NO_VERDICT = ("warn", "error", 1)
ATTEMPTS, TIME_OUT_S = 2, 2
FAULTS: Mapping[str, Comes] = {
    "fine": Comes([PASS], *SAID),
    "slow": Comes([openai.after(0.3, PASS)], *SAID),
    "warns": Comes([WARN], "warn", "verdict", 1),
    "fails": Comes([FAIL], "fail", "verdict", 1),
    "fenced": Comes([says(f"\n```json\n{verdict('pass')}\n```\n")], *SAID),
    "thinks": Comes([says(f"<think>{verdict('fail')}</think>{verdict('pass')}")], *SAID),
    "in-prose": Comes([says(f"Reasoning: []{verdict('pass')}. That is all.")], *SAID),
    "talks": Comes([says("I cannot evaluate this.")], *NO_VERDICT),
    "breaks-off": Comes([says('{"verdict": "pass", "score": 0.')], *NO_VERDICT),
    "is-cut-off": Comes([completed({"content": verdict("pass")}, "length")], *NO_VERDICT),
    "is-filtered": Comes([completed({"content": verdict("pass")}, "content_filter")], *NO_VERDICT),
    "declines": Comes([completed({"refusal": verdict("pass")}, "stop")], *NO_VERDICT),
    "quotes": Comes([says(f'{{"verdict": "FAIL"}} is not {verdict("pass")}')], *NO_VERDICT),
    "says-nothing": Comes([says("")], *NO_VERDICT),
    "refuses": Comes([openai.error(400, "too odd")], *NO_VERDICT),
    "429": Comes([openai.rate_limited()], *OUTAGE),
    "429-once": Comes([openai.rate_limited("1"), PASS], "pass", "verdict", 2),
    "500": Comes([openai.error(500)], *OUTAGE),
    "500-once": Comes([openai.error(500), PASS], "pass", "verdict", 2),
    "hangs": Comes([openai.after(HANGS_S, PASS)], *OUTAGE),
    "cut-before": Comes([openai.cut("before the answer")], *OUTAGE),
    "cut-within": Comes([openai.cut("within the body")], *OUTAGE),
    "half-json": Comes([openai.broken_json()], *OUTAGE),
}
TROUBLED = {name for name, comes in FAULTS.items() if comes.state == "skipped"}
WITHOUT_VERDICT = {name for name, comes in FAULTS.items() if comes.state == "error"}


def test_every_fault_stays_in_its_case_and_what_can_be_mended_is(here: Here, tmp_path: Path) -> None:
    """J1, J3, J5, J6, J8, J12, R39, R49."""
    write_suite(tmp_path / "suite", dict.fromkeys(FAULTS, "same"), config=judged_suite())
    server = JudgeServer({(name, "regression"): comes.answers for name, comes in FAULTS.items()})
    run = partial(
        here,
        "run",
        "suite",
        "--json",
        REGRESS_CONCURRENCY="8",
        REGRESS_CALL_ATTEMPTS=str(ATTEMPTS),
        REGRESS_CALL_TIME_OUT_S=str(TIME_OUT_S),
    )
    with serving(server):
        disturbed = run()
        asked = server.asked
        server.recover()
        mended = run()
        asked_again = server.asked
        server.recover()
        another = run()

    found = entries(disturbed)
    assert {
        name: (entry["status"], judging(entry)["state"], asked[name, "regression"])
        for name, entry in found.items()
    } == {name: (comes.status, comes.state, comes.requests) for name, comes in FAULTS.items()}
    for name in TROUBLED:
        told = judging(found[name])
        assert (told["trouble"], told["reason"][:22]) == ("outage", "provider unreachable: ")
        assert told["reason"].endswith(f"({ATTEMPTS} attempts)")
    assert disturbed.code == 1
    assert (
        f"judge unavailable on {len(TROUBLED)} of {len(FAULTS)} cases"
        in disturbed.json["gate"]["reasons"][-1]
    )

    # The same command asks again where there was no answer; what was answered stands.
    assert asked_again == {(name, "regression"): 1 for name in TROUBLED}
    assert {name: entry["status"] for name, entry in entries(mended).items()} == {
        name: "pass" if name in TROUBLED else comes.status for name, comes in FAULTS.items()
    }
    assert mended.json["evaluationId"] == disturbed.json["evaluationId"]

    # Another evaluation has all verdicts already; what was none is no verdict to be had again.
    assert server.asked == {(name, "regression"): 1 for name in WITHOUT_VERDICT}
    assert {name for name, entry in entries(another).items() if judging(entry).get("cached")} == {
        *FAULTS
    } - WITHOUT_VERDICT


def test_the_same_command_again_makes_no_call(here: Here, tmp_path: Path) -> None:
    write_suite(tmp_path / "suite", dict.fromkeys("abc", "same"), config=judged_suite())
    server = JudgeServer()
    with serving(server):
        first, again = (here("run", "suite", "--json") for _ in range(2))

    assert (first.code, again.code) == (0, 0)
    assert server.asked == {(case, "regression"): 1 for case in "abc"}
    assert again.json["evaluationId"] != first.json["evaluationId"]
    assert [again.json["cost"][name] for name in ("judgeUsd", "skippedByCap")] == [0, 0]
    assert again.json["cost"]["savedByCacheUsd"] == first.json["cost"]["judgeUsd"] > 0


def test_one_pace_for_all_requests_retries_included(here: Here, tmp_path: Path) -> None:
    """R40: five requests at four a second."""
    write_suite(tmp_path / "suite", dict.fromkeys("abcd", "same"), config=judged_suite())
    server = JudgeServer({("a", "regression"): [openai.error(500), PASS]})
    with serving(server):
        result = here("run", "suite", "--json", REGRESS_REQUESTS_PER_SECOND="4")

    assert result.json["totals"]["passed"] == 4
    assert len(server.arrivals) == 5
    assert server.arrivals[-1] - server.arrivals[0] > 0.8  # four quarters, less what the way may take


def test_a_wait_that_the_provider_asks_for_holds_for_all_cases(here: Here, tmp_path: Path) -> None:
    """R40: one after the other, so that it is known what the first answer is for."""
    write_suite(tmp_path / "suite", dict.fromkeys("ab", "same"), config=judged_suite())
    server = JudgeServer({("a", "regression"): [openai.rate_limited("2"), PASS]})
    with serving(server):
        result = here("run", "suite", "--json", REGRESS_CONCURRENCY="1")

    assert result.json["totals"]["passed"] == 2
    first, second, third = server.arrivals
    assert second - first > 1.9
    assert third >= second


def test_cached_tokens_are_billed_once(here: Here, tmp_path: Path) -> None:
    """R45: 500 tokens of $2, 1500 cached ones of $0.50 and 100 of $10 a million are $0.00275."""
    price = "{input: 2.0, output: 10.0, cache_read: 0.5}"
    write_suite(tmp_path / "suite", {"a": "same"}, config=judged_suite(price=price))
    counts = openai.usage(2000, 100, cached=1500)
    with serving(JudgeServer({("a", "regression"): [openai.text(verdict("pass"), counts=counts)]})):
        result = here("run", "suite", "--json")

    assert result.json["cost"]["judgeUsd"] == pytest.approx(0.00275)
    (call,) = here("sql", "SELECT * FROM judge_calls", "--json").json
    names = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "cost_usd")
    assert [call[name] for name in names] == [500, 1500, 0, 100, pytest.approx(0.00275)]


CASES = [f"case-{number}" for number in range(12)]


@pytest.mark.parametrize(
    ("refusal", "trouble", "fail_on", "code"),
    [
        pytest.param(openai.out_of_quota(), "quota", "fail", 0, id="no quota"),
        pytest.param(openai.unauthorised(), "configuration", "fail", 3, id="401"),
        pytest.param(openai.unauthorised(), "configuration", "never", 0, id="401, never"),
        pytest.param(openai.unauthorised(), "configuration", "warn", 1, id="401, warn"),
    ],
)
def test_what_no_waiting_mends_stops_all_calls(
    here: Here, tmp_path: Path, refusal: Answer, trouble: str, fail_on: str, code: int
) -> None:
    """R42, H53: no case fails by it, and the same command goes on once it is mended."""
    write_suite(tmp_path / "suite", dict.fromkeys(CASES, "same"), config=judged_suite())
    server = JudgeServer({(case, "regression"): [refusal] for case in CASES})
    with serving(server):
        result = here("run", "suite", "--json", "--fail-on", fail_on, REGRESS_CONCURRENCY="3")
        asked = server.asked
        server.recover()
        mended = here("run", "suite", "--json")

    assert result.code == code, result.err
    assert 1 <= asked.total() <= 3  # those that were on their way together
    assert result.json["totals"] | {"inconclusive": 0} == {
        "cases": 12,
        "passed": 0,
        "warned": 12,
        "failed": 0,
        "inconclusive": 0,
    }
    assert {judging(entry)["trouble"] for entry in entries(result).values()} == {trouble}
    assert KEY not in result.out + result.err
    assert ("OPENAI_API_KEY" in result.out) == (refusal.status == 401)
    assert (mended.code, mended.json["totals"]["passed"]) == (0, 12)
    assert mended.json["evaluationId"] == result.json["evaluationId"]
    assert server.asked == {(case, "regression"): 1 for case in CASES}


def test_an_unknown_model_is_a_fault_of_the_configuration(here: Here, tmp_path: Path) -> None:
    write_suite(tmp_path / "suite", {"a": "same"}, config=judged_suite())
    with serving(JudgeServer({("a", "regression"): [openai.unknown_model()]})):
        result = here("run", "suite", "--json")

    assert result.code == 3
    assert judging(entries(result)["a"])["trouble"] == "configuration"


def test_a_missing_key_is_named(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_suite(tmp_path / "suite", {"a": "same"}, config=judged_suite())
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    result = here("run", "suite")

    assert result.code == 3
    assert "judge: not asked: no API key for OpenAI; set OPENAI_API_KEY" in result.out


@pytest.mark.parametrize("down", ["503", "refused"])
def test_an_outage_from_the_first_call_on_is_no_fault_of_the_candidate(
    here: Here, tmp_path: Path, down: str
) -> None:
    """Invariant 4, J12: warn, exit 0, no case failed, and the summary says so."""
    write_suite(tmp_path / "suite", dict.fromkeys(CASES, "same"), config=judged_suite())
    server = JudgeServer({(case, "regression"): [openai.error(503)] for case in CASES})
    run = partial(here, "run", "suite", REGRESS_CALL_ATTEMPTS="1", REGRESS_CONCURRENCY="1")
    with serving(server) as listening:
        if down == "refused":
            listening.close()
        result = run()
        strict = run("--fail-on", "warn", "--json")

    assert (result.code, strict.code) == (0, 1), result.err
    assert "12 cases: 0 passed, 12 warned, 0 failed" in result.out
    assert "regression judge unavailable on 12 of 12 cases: provider unreachable: " in result.out
    assert {entry["status"] for entry in entries(strict).values()} == {"warn"}
    assert all("judge" not in entry for entry in entries(strict).values())
    assert strict.json["cost"]["judgeUsd"] == 0
    # After ten failures in a row the circuit opens; the second command tries again.
    assert server.asked.total() == (2 * 10 if down == "503" else 0)


TIGHT = "{input: 0.0, output: 10.0}"
"""A call may cost $0.001, for the 100 tokens that it may answer, and costs $0.0002."""


@pytest.mark.parametrize(("fail_on", "code"), [("fail", 3), ("warn", 1), ("never", 0)])
def test_the_cap_in_the_middle(here: Here, tmp_path: Path, fail_on: str, code: int) -> None:
    """Five settled calls and a reservation are just the cap: six calls are made."""
    config = judged_suite(judge="max_output_tokens: 100, cap_usd: 0.002", price=TIGHT)
    write_suite(tmp_path / "suite", dict.fromkeys(CASES, "same"), config=config)
    server = JudgeServer()
    with serving(server):
        result = here("run", "suite", "--json", "--fail-on", fail_on)

    assert (result.code, server.asked.total()) == (code, 6)
    cost = result.json["cost"]
    assert (cost["judgeUsd"], cost["judgeCapUsd"]) == (pytest.approx(0.0012), 0.002)
    assert cost["skippedByCap"] == 6
    told = [judging(entry) for entry in entries(result).values()]
    skipped = [one for one in told if one["state"] == "skipped"]
    assert [one["trouble"] for one in skipped] == ["cap"] * 6
    assert all(one["reason"].startswith("cost cap exceeded: ") for one in skipped)
    assert result.json["totals"]["passed"] == 6


def test_a_model_of_unknown_price_is_not_asked(here: Here, tmp_path: Path) -> None:
    config = f'name: shop\njudge: {{model: "{MODEL}"}}\n'
    write_suite(tmp_path / "suite", {"a": "same"}, config=config)
    server = JudgeServer()
    with serving(server):
        result = here("run", "suite")

    assert (result.code, server.asked) == (3, {})
    assert f"the price of {MODEL} is not known; state it as `price`" in result.out


def test_one_of_ten_fails_and_the_rate_holds(here: Here, tmp_path: Path) -> None:
    """H52: exit 0, and the failure is shown all the same."""
    cases = [f"case-{number}" for number in range(10)]
    config = judged_suite("gate: {min_pass_rate: 0.9}")
    write_suite(tmp_path / "suite", dict.fromkeys(cases, "same"), config=config)
    with serving(JudgeServer({("case-3", "regression"): [FAIL]})):
        result = here("run", "suite")

    assert result.code == 0
    assert "10 cases: 9 passed, 0 warned, 1 failed" in result.out
    assert "  fail  case-3" in result.out
    assert "pass rate 0.900 of 10 conclusive cases" in result.out
    assert "uncalibrated): 10 verdicts" in result.out  # H73: nobody has compared it with people's labels


def test_judges_that_take_too_long_are_interrupted_and_resumed(here: Here, tmp_path: Path) -> None:
    config = judged_suite(judge="timeout_minutes: 0.03")
    write_suite(tmp_path / "suite", dict.fromkeys("ab", "same"), config=config)
    server = JudgeServer({("b", "regression"): [openai.after(HANGS_S, PASS)]})
    with serving(server):
        stopped = here("run", "suite", "--json")
        (command,) = [line.strip() for line in stopped.err.splitlines() if "--resume" in line]
        asked = server.asked
        server.recover()
        resumed = here(*shlex.split(command)[1:])

    assert (stopped.code, stopped.out) == (130, "")
    assert "the judges took longer than timeout_minutes (0.03)" in stopped.err
    assert "1 of 2 cases are kept" in stopped.err
    assert asked == {("a", "regression"): 1, ("b", "regression"): 1}
    assert (resumed.code, resumed.json["totals"]["passed"]) == (0, 2)
    assert resumed.json["evaluationId"] in command
    assert server.asked == {("b", "regression"): 1}


@pytest.mark.parametrize(
    ("settings", "words"),
    [("{temperature: hot}", "setting temperature: "), ("{sead: 7}", "unknown setting sead")],
    ids=["a wrong value", "an unknown name"],
)
@pytest.mark.parametrize("command", ["run", "validate"])
def test_a_setting_that_cannot_be_sent_is_no_input(
    here: Here, tmp_path: Path, command: str, settings: str, words: str
) -> None:
    config = judged_suite(judge=f"settings: {settings}")
    write_suite(tmp_path / "suite", {"a": "same"}, config=config)
    server = JudgeServer()
    with serving(server):
        result = here(command, "suite")

    assert (result.code, result.out if command == "run" else "") == (2, "")
    assert f"regress: suite.yaml: judge.settings: {words}" in result.err
    assert server.asked.total() == 0


def ledger(store: Path) -> list[tuple[str, str, int]]:
    """Give case, state and what counts (nano-dollars) of each call; none while there is no journal yet."""
    counted = "coalesce(cost_nanousd, reserved_nanousd)"
    try:
        with closing(connect(f"file:{store / 'journal.sqlite'}?mode=ro", uri=True)) as connection:
            return connection.execute(f"SELECT case_id, state, {counted} FROM calls").fetchall()  # noqa: S608 - our own words
    except OperationalError:
        return []


def wait_for_replies(process: subprocess.Popen[str], store: Path, wanted: int) -> None:
    give_up = time.monotonic() + _GIVE_UP_AFTER_S
    while sum(state == "settled" for _, state, _ in ledger(store)) < wanted:
        assert process.poll() is None
        assert time.monotonic() < give_up, "the evaluation does not go on"
        time.sleep(0.01)


def test_after_kill_9_no_reply_that_was_paid_for_is_asked_for_again(regress: Command, tmp_path: Path) -> None:
    """Invariant 6. $0.01 covers twenty calls of $0.0002 and nine lost reservations of $0.001 at least."""
    cases = [f"case-{number}" for number in range(20)]
    config = judged_suite(judge="max_output_tokens: 100, cap_usd: 0.015", price=TIGHT)
    write_suite(tmp_path / "suite", dict.fromkeys(cases, "same"), config=config)
    store = tmp_path / "store"
    server = JudgeServer({(case, "regression"): [openai.after(0.3, PASS)] for case in cases})
    with serving(server):
        with regress.started("run", "suite", "--store", "store") as process:
            wait_for_replies(process, store, 6)
            process.kill()
            process.communicate()
        before = ledger(store)
        result = regress("run", "suite", "--store", "store", "--json")

    assert process.returncode == -signal.SIGKILL
    paid = {case for case, state, _ in before if state == "settled"}
    lost = {case for case, state, _ in before if state == "open"}
    assert 6 <= len(paid) < 20
    assert (result.code, result.json["totals"]["passed"]) == (0, 20)
    assert all(server.asked[case, "regression"] == 1 for case in paid)
    assert all(server.asked[case, "regression"] == 1 for case in {*cases} - paid - lost)
    after = ledger(store)
    assert {case for case, state, _ in after if state == "settled"} == {*cases}
    assert {case for case, state, _ in after if state == "open"} == lost
    assert sum(nanousd for *_, nanousd in after) <= 15_000_000
    assert result.json["cost"]["judgeUsd"] == pytest.approx(sum(nanousd for *_, nanousd in after) / 10**9)
    assert not any(judging(entry).get("cached") for entry in entries(result).values())
