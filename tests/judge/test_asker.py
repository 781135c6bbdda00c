"""Asking judges: within the cap, a fail confirmed, and what is no answer is no verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from regress_core.calls.prices import Price
from regress_core.judge.outcome import JudgeOutcome, JudgeState, JudgeTrouble
from regress_core.judge.question import ModelJudge
from regress_core.models.client import ModelError, ModelErrorKind, ModelReply, ModelRequest
from regress_core.models.scripted import FunctionClient
from regress_core.records.json_io import loads
from tests.judge.asking import (
    AXES,
    CASE,
    DOWN,
    GARBAGE,
    OUTPUT_ONLY,
    REGRESSION,
    RUBRIC,
    SETTINGS,
    Place,
    case_of,
)
from tests.support.judges import COST_USD, MODEL, USAGE, JudgeModel, grades, scores, verdict


@pytest.mark.parametrize(
    ("judge", "reply", "mode"),
    [
        pytest.param(REGRESSION, verdict("warn"), "bounded", id="regression"),
        pytest.param(RUBRIC, grades(calm=True), "transcript", id="rubric"),
        pytest.param(AXES, scores(4, 3.5, 2), "answer", id="axes"),
    ],
)
def test_a_verdict_and_what_it_took(place: Place, judge: ModelJudge, reply: str, mode: str) -> None:
    outcome = place.ask(reply, judge=judge)

    told = (outcome.judge, outcome.state, outcome.model, outcome.prompt_version, outcome.input_mode)
    assert told == (judge.name, "verdict", MODEL, judge.question(CASE).prompt_version, mode)
    assert (outcome.cached, outcome.calls, outcome.cost_usd, outcome.advisory) == (False, 1, COST_USD, True)
    (row,) = place.calls()
    assert (row.state, row.usable, row.cost_nanousd, row.entry.number) == ("settled", True, 300_000, 1)


@dataclass(frozen=True)
class Confirmed:
    """Replies one after the other, and the verdict of up to three that counts."""

    judge: ModelJudge
    replies: tuple[str, ...]
    comes_to: object
    calls: int


def said_by(outcome: JudgeOutcome) -> object:
    """Give a verdict in short."""
    if outcome.result is not None:
        return outcome.result.verdict
    if outcome.dimensions is not None:
        return [one.passed for one in outcome.dimensions]
    return [one.score for one in outcome.axes or ()]


def regressions(*words: str) -> tuple[str, ...]:
    return tuple(verdict(word, summary=f"{word} {number}") for number, word in enumerate(words, start=1))


def calms(passed: Sequence[bool | None]) -> tuple[str, ...]:
    return tuple(grades(calm=one) for one in passed)


CONFIRMED: dict[str, Confirmed] = {
    "one of three": Confirmed(REGRESSION, regressions("fail", "pass", "pass"), "pass", 3),
    "two of three": Confirmed(REGRESSION, regressions("fail", "pass", "fail"), "fail", 3),
    "three of three": Confirmed(REGRESSION, regressions("fail", "fail", "fail"), "fail", 3),
    "no majority": Confirmed(REGRESSION, regressions("fail", "pass", "warn"), "warn", 3),
    "warn": Confirmed(REGRESSION, regressions("warn"), "warn", 1),
    "pass": Confirmed(REGRESSION, regressions("pass"), "pass", 1),
    "rubric, one": Confirmed(RUBRIC, calms([False, True, True]), [True], 3),
    "rubric, two": Confirmed(RUBRIC, calms([False, False, True]), [False], 3),
    "rubric, no majority": Confirmed(RUBRIC, calms([False, True, None]), [False], 3),
    "rubric, pass": Confirmed(RUBRIC, calms([True]), [True], 1),
    "axes": Confirmed(AXES, (scores(1, 1, 1),), [1, 1, 1], 1),
}


@pytest.mark.parametrize("confirmed", CONFIRMED.values(), ids=CONFIRMED)
def test_a_fail_counts_where_most_verdicts_say_so(place: Place, confirmed: Confirmed) -> None:
    """J16: and every call is in the ledger, with its reply."""
    outcome = place.ask(confirmed.replies, judge=confirmed.judge, confirm_fail=3)

    assert (outcome.state, said_by(outcome), outcome.calls) == (
        "verdict",
        confirmed.comes_to,
        confirmed.calls,
    )
    assert outcome.cost_usd == pytest.approx(confirmed.calls * COST_USD)
    rows = place.calls()
    assert [(row.entry.number, row.state, row.usable) for row in rows] == [
        (number, "settled", True) for number in range(1, confirmed.calls + 1)
    ]
    assert [loads(row.payload)["text"] for row in rows] == [*confirmed.replies]


def test_a_majority_is_found_again_whole(place: Place) -> None:
    first = place.ask(regressions("fail", "pass", "pass"), confirm_fail=3)
    client = JudgeModel()

    again = place.ask(client, "e2", confirm_fail=3)

    assert client.requests == []
    assert again == first.model_copy(update={"cached": True, "calls": 0, "cost_usd": 0.0})
    assert [(row.entry.number, row.state) for row in place.calls("e2")] == [
        (number, "cached") for number in (1, 2, 3)
    ]


def test_a_fail_that_was_found_again_is_confirmed_by_new_calls(place: Place) -> None:
    place.ask(verdict("fail"))

    outcome = place.ask(verdict("pass"), "e2", confirm_fail=3)

    assert (said_by(outcome), outcome.calls, outcome.cached) == ("pass", 2, False)


@pytest.mark.parametrize(
    ("second", "state", "trouble"),
    [
        pytest.param(GARBAGE, "error", None, id="no verdict"),
        pytest.param(DOWN, "skipped", "outage", id="outage"),
    ],
)
@pytest.mark.parametrize("judge", [REGRESSION, RUBRIC], ids=["regression", "rubric"])
def test_a_fail_that_cannot_be_confirmed_is_none(
    place: Place,
    judge: ModelJudge,
    second: str | ModelError,
    state: JudgeState,
    trouble: JudgeTrouble | None,
) -> None:
    fail = verdict("fail") if judge is REGRESSION else grades(calm=False)

    outcome = place.ask((fail, second, fail), judge=judge, confirm_fail=3)

    assert (outcome.state, outcome.trouble) == (state, trouble)
    assert (outcome.result, outcome.dimensions) == (None, None)
    assert (outcome.reason or "").startswith("it says fail, which could not be confirmed: ")
    assert [row.entry.number for row in place.calls()] == [1, 2], "a third verdict could not count"


def test_a_fail_that_there_is_no_money_to_confirm_is_none(place: Place) -> None:
    outcome = place.ask(verdict("fail"), confirm_fail=3, price=OUTPUT_ONLY, cap_usd="0.001")

    assert (outcome.state, outcome.trouble, outcome.result, outcome.calls) == ("skipped", "cap", None, 1)


def test_what_another_process_has_bought_with_the_last_money_is_used(place: Place) -> None:
    client = JudgeModel()
    asker = place.asker(client, price=OUTPUT_ONLY, cap_usd="0.001")

    async def both() -> list[JudgeOutcome]:
        first, second = asker.ask(REGRESSION, CASE), asker.ask(REGRESSION, CASE)
        return [*await asyncio.gather(first, second)]

    outcomes = place.time.run(both())

    assert [said_by(outcome) for outcome in outcomes] == ["pass", "pass"]
    assert len(client.requests) == 1


@pytest.mark.parametrize("spare", [0, -1], ids=["just fits", "one byte too long"])
def test_a_question_that_is_too_long_is_not_sent(place: Place, spare: int) -> None:
    question = REGRESSION.question(CASE)
    size = len((question.system + question.text).encode())
    client = JudgeModel()

    outcome = place.ask(client, max_input_tokens=size + spare)

    assert len(client.requests) == (1 if spare == 0 else 0)
    assert outcome.state == ("verdict" if spare == 0 else "skipped")
    if spare:
        assert (outcome.reason or "").startswith(f"too long: {size} UTF-8 bytes")
        assert (outcome.trouble, outcome.intended, place.calls()) == (None, False, [])


def test_the_cap_skips_what_does_not_fit(place: Place) -> None:
    place.ask(verdict("pass"), price=OUTPUT_ONLY, cap_usd="0.001")
    client = JudgeModel()

    outcome = place.ask(client, case=case_of(case_id="b"), price=OUTPUT_ONLY, cap_usd="0.001")

    assert (client.requests, outcome.state, outcome.trouble) == ([], "skipped", "cap")
    assert outcome.reason == (
        "cost cap exceeded: $0.0002 of $0.001 is spent or reserved, and this call may cost $0.001"
    )
    assert (outcome.calls, outcome.cost_usd) == (0, 0.0)


def test_a_model_without_a_known_price_is_over_the_cap(place: Place) -> None:
    client = JudgeModel()

    outcome = place.ask(client, price=None)

    assert (client.requests, outcome.state, outcome.trouble) == ([], "skipped", "cap")
    assert "state it as `price`" in (outcome.reason or "")


def test_a_model_that_costs_nothing_needs_no_cap(place: Place) -> None:
    outcome = place.ask(verdict("pass"), price=Price(Decimal(0), Decimal(0)), cap_usd=0)

    assert (outcome.state, outcome.cost_usd) == ("verdict", 0.0)


def test_what_nobody_tells_the_price_of_counts_as_dear_as_it_can_be(place: Place) -> None:
    client = FunctionClient(lambda _: ModelReply(verdict("pass")))

    outcome = place.ask(client, price=OUTPUT_ONLY)

    assert (outcome.state, outcome.calls, outcome.cost_usd) == ("verdict", 1, 0.001)


TROUBLES: dict[ModelErrorKind, tuple[JudgeState, JudgeTrouble | None, str]] = {
    "rate limit": ("skipped", "outage", "provider unreachable: it says no"),
    "outage": ("skipped", "outage", "provider unreachable: it says no"),
    "time-out": ("skipped", "outage", "provider unreachable: it says no"),
    "connection": ("skipped", "outage", "provider unreachable: it says no"),
    "quota": ("skipped", "quota", "it says no"),
    "configuration": ("skipped", "configuration", "it says no"),
    "refused request": ("error", None, "it says no"),
}


@pytest.mark.parametrize("kind", TROUBLES)
def test_no_answer_is_no_verdict(place: Place, kind: ModelErrorKind) -> None:
    state, trouble, reason = TROUBLES[kind]

    outcome = place.ask(ModelError(kind, "it says no"))

    assert (outcome.state, outcome.trouble, outcome.intended) == (state, trouble, False)
    assert (outcome.reason or "").startswith(reason)
    assert (outcome.result, outcome.model, outcome.prompt_version) == (
        None,
        MODEL,
        REGRESSION.prompt_version,
    )


def test_a_client_that_answers_what_is_no_reply(place: Place) -> None:
    def answer(_: ModelRequest) -> Any:  # noqa: ANN401 - that is the point
        return verdict("pass")

    outcome = place.ask(FunctionClient(answer))

    assert (outcome.state, outcome.reason) == ("error", "the model client gave str, not ModelReply")


CUTS: dict[str, str] = {
    "length": "the reply was cut off (length)",
    "content filter": "the reply was cut off (content filter)",
    "refusal": "the model refused to answer",
}


@pytest.mark.parametrize(
    ("judge", "reply"),
    [
        pytest.param(REGRESSION, verdict("pass"), id="regression"),
        pytest.param(RUBRIC, grades(calm=True), id="rubric"),
        pytest.param(AXES, scores(), id="axes"),
    ],
)
@pytest.mark.parametrize("cut", CUTS)
def test_a_reply_that_is_not_whole_is_no_verdict(
    place: Place, judge: ModelJudge, reply: str, cut: str
) -> None:
    """J8: whatever it says; found again after a crash it reads the same, and it is never cached."""
    client = FunctionClient(lambda _: ModelReply(reply, usage=USAGE, cut=cut))
    after_a_crash, another = JudgeModel(), JudgeModel()

    outcome = place.ask(client, judge=judge)
    again = place.ask(after_a_crash, judge=judge)
    elsewhere = place.ask(another, "e2", judge=judge)

    assert (outcome.state, outcome.reason, outcome.intended) == ("error", CUTS[cut], False)
    assert (again, after_a_crash.requests) == (outcome, [])
    assert (elsewhere.state, elsewhere.cached, len(another.requests)) == ("verdict", False, 1)
    (row,) = place.calls()
    assert (row.state, row.usable, row.cost_nanousd) == ("settled", False, 300_000)


def test_a_fail_that_is_confirmed_by_half_a_reply_is_none(place: Place) -> None:
    replies = iter([ModelReply(verdict("fail")), ModelReply(verdict("fail"), cut="length")])

    outcome = place.ask(FunctionClient(lambda _: next(replies)), confirm_fail=3)

    assert outcome.state == "error"
    assert outcome.reason == "it says fail, which could not be confirmed: the reply was cut off (length)"


def test_what_is_sent(place: Place) -> None:
    client = JudgeModel()
    question = AXES.question(CASE)

    place.ask(client, judge=AXES)

    (request,) = client.requests
    assert (request.model, request.system_prompt, request.settings) == (MODEL, question.system, SETTINGS)
    assert list(request.messages) == [{"type": "message", "role": "user", "content": question.text}]
    assert request.tools == ()
