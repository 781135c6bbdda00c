"""Which verdicts are found again, and what is asked anew: whatever can change a verdict is in the key."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from regress_core.judge.asker import IRRELEVANT_TO_VERDICTS, cache_key
from regress_core.judge.config import AxesConfig, AxisConfig, JudgeConfig, PriceConfig, RegressionConfig
from regress_core.judge.contract import RunJudgeInput, RunRegressionExpectation
from regress_core.judge.judges import model_judges
from regress_core.judge.question import JudgedCase, JudgeQuestion, ModelJudge
from regress_core.models.client import ModelError
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import JsonObject, JsonValue
from tests.judge.asked import judge_input
from tests.judge.asking import (
    AXES,
    BRIEF,
    CALM,
    CASE,
    DOWN,
    ENDPOINT,
    GARBAGE,
    OUTPUT_ONLY,
    REGRESSION,
    RUBRIC,
    SETTINGS,
    Place,
    case_of,
    run_record,
)
from tests.support.judges import COST_USD, MODEL, JudgeModel, grades, scores, verdict
from tests.support.records import tool_call, tool_output


@pytest.mark.parametrize(
    ("judge", "reply"),
    [
        pytest.param(REGRESSION, verdict("fail"), id="regression"),
        pytest.param(RUBRIC, grades(calm=False), id="rubric"),
        pytest.param(AXES, scores(4, 3.5, 2), id="axes"),
    ],
)
def test_another_evaluation_takes_the_verdict_for_nothing(
    place: Place, judge: ModelJudge, reply: str
) -> None:
    first = place.ask(reply, judge=judge)
    client = JudgeModel()

    again = place.ask(client, "e2", judge=judge)

    assert client.requests == []
    assert again == first.model_copy(update={"cached": True, "calls": 0, "cost_usd": 0.0})
    (row,) = place.calls("e2")
    assert (row.state, row.cost_nanousd, row.saved_nanousd) == ("cached", 0, 300_000)


@pytest.mark.parametrize("reply", [verdict("fail"), GARBAGE], ids=["a verdict", "none"])
def test_what_was_answered_before_a_crash_is_neither_asked_again_nor_an_earlier_verdict(
    place: Place, reply: str
) -> None:
    first = place.ask(reply)
    client = JudgeModel()

    again = place.ask(client)

    assert client.requests == []
    assert again == first
    assert (again.cached, again.calls, again.cost_usd) == (False, 1, COST_USD)
    assert [row.state for row in place.calls()] == ["settled"]


NO_VERDICT: dict[str, str | ModelError] = {
    "no JSON": GARBAGE,
    "two verdicts": verdict("pass") + verdict("fail"),
    "cut off": verdict("pass")[:-1],
    "503": DOWN,
    "no connection": ModelError("connection", "no connection"),
    "refused": ModelError("refused request", "too odd", status=400),
}


@pytest.mark.parametrize("reply", NO_VERDICT.values(), ids=NO_VERDICT)
@pytest.mark.parametrize("again", ["e2", "the next revision"])
def test_what_is_no_verdict_is_asked_for_again(place: Place, reply: str | ModelError, again: str) -> None:
    """R49."""
    first = place.ask(reply)

    second = (
        place.ask(verdict("pass"), "e2") if again == "e2" else place.ask(verdict("pass"), "e1", revision=2)
    )

    assert (first.state == "verdict", second.state, second.cached) == (False, "verdict", False)


def key_of(question: JudgeQuestion) -> str:
    return cache_key(question, canonical_hash(question.evidence), "a", 1, ENDPOINT)


def test_a_request_without_an_answer_is_made_again_after_a_crash(place: Place) -> None:
    """R49: 503, then 200."""
    place.ask(DOWN)

    outcome = place.ask(verdict("pass"))

    assert (outcome.state, outcome.calls, outcome.cost_usd) == ("verdict", 2, COST_USD)
    assert [row.state for row in place.calls()] == ["unbilled", "settled"]


OTHER_CALL = run_record(
    items=[tool_call("c1", "find_order", arguments={"id": "b"}), tool_output("c1", output="sent")]
)
ODD_ANCHORS = AxisConfig(
    name="accuracy", description="As it is.", anchors={"1": "bad", "3": "so-so", "5": "good"}
)


def the_question(asked: RunJudgeInput) -> JsonValue:
    return {"question": asked.candidate.question}


def both(record: JsonObject) -> JudgedCase:
    """Give a case both of whose runs changed in the same way: the bounded projection shows no difference."""
    return JudgedCase("a", 1, judge_input(record, record))


MISSES: dict[str, dict[str, Any]] = {
    "another case": {"case": case_of(case_id="b")},
    "another trial": {"case": case_of(trial=2)},
    "another endpoint": {"endpoint": "http://two.example/v1"},
    "another model": {"judge": replace(REGRESSION, model="openai:other")},
    "another prompt version": {"judge": replace(REGRESSION, prompt_version="v2")},
    "other instructions": {"judge": replace(REGRESSION, system_prompt="Be harsh.", prompt_version="v2")},
    "another setting": {"judge": replace(REGRESSION, settings={**SETTINGS, "temperature": 1})},
    "longer replies": {"judge": replace(REGRESSION, settings={**SETTINGS, "max_tokens": 101})},
    "another input mode": {"judge": replace(REGRESSION, input_mode="arguments")},
    "another projection": {"judge": replace(REGRESSION, projection=the_question)},
    "another judge": {"judge": AXES},
    "another answer": {"case": case_of(run_record(response="Soon."))},
    "another argument": {"case": both(OTHER_CALL)},
    "an expectation": {"case": case_of(expectation=RunRegressionExpectation(intent="be brief"))},
}


@pytest.mark.parametrize("changes", MISSES.values(), ids=MISSES)
def test_whatever_can_change_a_verdict_has_it_asked_for(place: Place, changes: dict[str, Any]) -> None:
    """R47, R48."""
    place.ask(verdict("pass"))
    client = JudgeModel()

    outcome = place.ask(client, "e2", **changes)

    assert (len(client.requests), outcome.state, outcome.cached) == (1, "verdict", False)


def test_an_argument_that_the_judge_is_not_shown_counts() -> None:
    shown, other = REGRESSION.question(CASE), REGRESSION.question(both(OTHER_CALL))

    assert shown.text == other.text
    assert key_of(shown) != key_of(other)


@pytest.mark.parametrize(
    ("judge", "other"),
    [
        pytest.param(RUBRIC, replace(RUBRIC, dimensions=(CALM, BRIEF)), id="one more dimension"),
        pytest.param(
            RUBRIC,
            replace(RUBRIC, dimensions=(CALM.model_copy(update={"fail_rubric": "It shouts."}),)),
            id="another rule",
        ),
        pytest.param(AXES, replace(AXES, axes=(ODD_ANCHORS, *AXES.axes[1:])), id="other anchors"),
    ],
)
def test_the_rubric_and_the_axes_count(place: Place, judge: ModelJudge, other: ModelJudge) -> None:
    """R48."""
    place.ask(JudgeModel(), judge=judge)
    client = JudgeModel()

    place.ask(client, "e2", judge=other)

    assert len(client.requests) == 1


SAME_AGAIN = run_record(
    runId="run-9",
    startedAt="2026-02-03T04:05:06.000Z",
    completedAt="2026-02-03T04:05:07.000Z",
    items=[tool_call("c9", "find_order", arguments={"id": "a"}), tool_output("c9", output="sent")],
)
HITS: dict[str, dict[str, Any]] = {
    "other ids and times": {"case": case_of(SAME_AGAIN)},
    "another price": {"price": OUTPUT_ONLY},
    "another cap": {"cap_usd": 5},
    "fails to be confirmed": {"confirm_fail": 3},
    "longer questions": {"max_input_tokens": 200_000},
}


@pytest.mark.parametrize("changes", HITS.values(), ids=HITS)
def test_what_cannot_change_a_verdict_is_of_no_account(place: Place, changes: dict[str, Any]) -> None:
    place.ask(verdict("pass"))
    client = JudgeModel()

    outcome = place.ask(client, "e2", **changes)

    assert (client.requests, outcome.cached) == ([], True)


QUESTION = REGRESSION.question(CASE)
OTHER_QUESTIONS: dict[str, JudgeQuestion] = {
    "judge": replace(QUESTION, judge="axes"),
    "model": replace(QUESTION, model="openai:other"),
    "prompt_version": replace(QUESTION, prompt_version="v2"),
    "system": replace(QUESTION, system="Be harsh."),
    "text": replace(QUESTION, text="something else"),
    "settings": replace(QUESTION, settings={"temperature": 1}),
    "input_mode": replace(QUESTION, input_mode="full"),
    "evidence": replace(QUESTION, evidence={}),
}
BARE: JsonObject = {"model": MODEL, "axes": True, "price": {"input": 1.0, "output": 10.0}}
OTHER_AXIS: JsonObject = ODD_ANCHORS.model_dump(mode="json")
OTHER_CONFIGS: dict[str, JsonObject] = {
    "JudgeConfig.model": {"model": "openai:other"},
    "JudgeConfig.regression": {"regression": False},
    "JudgeConfig.axes": {"axes": False},
    "JudgeConfig.sample": {"sample": 0.3},
    "JudgeConfig.confirm_fail": {"confirm_fail": 3},
    "JudgeConfig.cap_usd": {"cap_usd": 5.0},
    "JudgeConfig.price": {"price": None},
    "JudgeConfig.timeout_minutes": {"timeout_minutes": 1.0},
    "JudgeConfig.max_output_tokens": {"max_output_tokens": 9},
    "JudgeConfig.max_input_tokens": {"max_input_tokens": 9},
    "JudgeConfig.settings": {"settings": {"top_p": 0.5}},
    "RegressionConfig.input_mode": {"regression": {"input_mode": "arguments"}},
    "RegressionConfig.prompt_version": {"regression": {"instructions": "harsh.md", "prompt_version": "v2"}},
    "RegressionConfig.instructions": {"regression": {"instructions": "harsh.md"}},
    "AxesConfig.axes": {"axes": {"axes": [OTHER_AXIS]}},
    "PriceConfig.input": {"price": {"input": 2.0, "output": 10.0}},
    "PriceConfig.output": {"price": {"input": 1.0, "output": 20.0}},
    "PriceConfig.cache_read": {"price": {"input": 1.0, "output": 10.0, "cache_read": 0.5}},
    "PriceConfig.cache_write": {"price": {"input": 1.0, "output": 10.0, "cache_write": 2.0}},
}
NEEDED: dict[str, JsonObject] = {
    "RegressionConfig.prompt_version": {"regression": {"instructions": "harsh.md"}},
}
"""What has to be there before a field can be changed."""
FILES = {"harsh.md": "Be harsh."}


def keys_of(config: JsonObject) -> list[str]:
    """Give the keys under which the verdicts of a suite's judges are kept."""
    judge = JudgeConfig.from_json(config)
    own = None if judge.regression is None else judge.regression.instructions
    judges = model_judges(judge, (CALM,), None if own is None else FILES[own])
    return [key_of(one.question(CASE)) for one in judges]


def test_every_field_is_in_the_key_or_of_no_account_for_a_reason() -> None:
    """R48. Whoever adds a field says here how it changes, and in the list, if it is of no account, why."""
    configs = (JudgeConfig, RegressionConfig, AxesConfig, PriceConfig)
    of_configs = [f"{config.__name__}.{name}" for config in configs for name in config.model_fields]

    assert [*OTHER_QUESTIONS] == [one.name for one in fields(JudgeQuestion)]
    assert [*OTHER_CONFIGS] == of_configs
    known = {*of_configs, *(f"JudgeQuestion.{name}" for name in OTHER_QUESTIONS)}
    assert known >= IRRELEVANT_TO_VERDICTS.keys()


@pytest.mark.parametrize("name", OTHER_QUESTIONS)
def test_a_field_of_a_question(name: str) -> None:
    same = key_of(OTHER_QUESTIONS[name]) == key_of(QUESTION)

    assert same == (f"JudgeQuestion.{name}" in IRRELEVANT_TO_VERDICTS)


@pytest.mark.parametrize("name", OTHER_CONFIGS)
def test_a_field_of_a_suites_judges(name: str) -> None:
    bare = {**BARE, **NEEDED.get(name, {})}

    same = keys_of({**bare, **OTHER_CONFIGS[name]}) == keys_of(bare)

    assert same == (name in IRRELEVANT_TO_VERDICTS)
