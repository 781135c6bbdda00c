"""`judge` and `rubric` of a suite: closed, and a fault is named by its place and says what to do."""

from __future__ import annotations

import pytest

from regress_core.judge.config import (
    DEFAULT_AXES,
    AxesConfig,
    AxisConfig,
    JudgeConfig,
    PriceConfig,
    RegressionConfig,
    Rubric,
    RubricDimension,
    checked_rubric,
)
from regress_core.records.json_io import JsonError, JsonObject, JsonValue
from regress_core.records.wire import ConfigModel
from regress_core.records.yaml_io import parse_yaml


class Holder(ConfigModel):
    """What holds a rubric, as suite.yaml does."""

    rubric: Rubric = ()


def dimension(name: str = "names-a-date", **changes: JsonValue) -> JsonObject:
    return {
        "id": name,
        "question": "Does the answer name a date?",
        "passRubric": "A date is named.",
        "failRubric": "No date is named, or a vague one.",
        **changes,
    }


def axis(name: str = "brevity", **changes: JsonValue) -> JsonObject:
    anchors = {"1": "Endless.", "3": "Could be shorter.", "5": "As short as can be."}
    return {"name": name, "description": "How short it is.", "anchors": anchors, **changes}


def refusal(model: type[ConfigModel], value: JsonValue) -> JsonError:
    with pytest.raises(JsonError) as raised:
        model.from_json(value)
    assert "\n" not in str(raised.value)
    return raised.value


def test_a_rubric_as_the_yaml_has_it() -> None:
    text = """
rubric:
  - id: not-defensive
    question: Does the reply stay calm?
    passRubric: >
      It owns the mistake
      in plain words.
    failRubric: It argues, e.g. with the user's memory.
"""
    loaded = Holder.from_json(parse_yaml(text, source="suite.yaml"))

    assert loaded.rubric == (
        RubricDimension(
            id="not-defensive",
            question="Does the reply stay calm?",
            passRubric="It owns the mistake in plain words.",
            failRubric="It argues, e.g. with the user's memory.",
        ),
    )


@pytest.mark.parametrize("count", [0, 1, 8])
def test_a_rubric_has_up_to_eight_dimensions(count: int) -> None:
    rubric = Holder.from_json({"rubric": [dimension(f"d{number}") for number in range(count)]}).rubric

    assert [entry.id for entry in rubric] == [f"d{number}" for number in range(count)]


def test_the_ninth_dimension_is_refused() -> None:
    error = refusal(Holder, {"rubric": [dimension(f"d{number}") for number in range(9)]})

    assert error.path == "$.rubric"
    assert error.reason == ("9 dimensions, and a rubric has at most 8; prune them, or split the case in two")


def test_a_suites_rubric_and_a_cases_own_are_checked_together() -> None:
    suite = Holder.from_json({"rubric": [dimension(f"d{number}") for number in range(5)]}).rubric
    case = Holder.from_json({"rubric": [dimension(f"e{number}") for number in range(4)]}).rubric

    assert checked_rubric((*suite, *case[:3])) == (*suite, *case[:3])
    with pytest.raises(ValueError, match="9 dimensions"):
        checked_rubric((*suite, *case))
    with pytest.raises(ValueError, match="two dimensions are called d1; rename or remove one"):
        checked_rubric((*suite, suite[1]))


@pytest.mark.parametrize("name", ["a", "0", "names-a-date", "step-2", "a" * 64])
def test_ids_in_kebab_case(name: str) -> None:
    assert RubricDimension.from_json(dimension(name)).id == name


WRONG_DIMENSIONS: list[tuple[str, JsonObject, str, str]] = [
    ("empty id", dimension(""), "$.rubric[0].id", "'' is no id"),
    ("capital", dimension("NamesADate"), "$.rubric[0].id", "'NamesADate' is no id"),
    ("snake case", dimension("names_a_date"), "$.rubric[0].id", "is no id; use a-z and 0-9 with single -"),
    ("blank", dimension("names a date"), "$.rubric[0].id", "is no id"),
    ("two hyphens", dimension("a--b"), "$.rubric[0].id", "is no id"),
    ("hyphen first", dimension("-a"), "$.rubric[0].id", "is no id"),
    ("hyphen last", dimension("a-"), "$.rubric[0].id", "is no id"),
    ("line break", dimension("a\n"), "$.rubric[0].id", "is no id"),
    ("other digits", dimension("a\u0665"), "$.rubric[0].id", "is no id"),
    ("long id", dimension("a" * 65), "$.rubric[0].id", "at most 64"),
    ("number as id", dimension() | {"id": 5}, "$.rubric[0].id", "input should be a valid string"),
    (
        "two sentences",
        dimension(passRubric="It is named. It is right."),
        "$.rubric[0].passRubric",
        "has a second sentence, 'It is right.'; keep one, or make a dimension of each",
    ),
    ("empty question", dimension(question=" "), "$.rubric[0].question", "says nothing; write one sentence"),
    ("long prose", dimension(failRubric="a " * 400), "$.rubric[0].failRubric", "has 799 characters"),
    ("null", dimension(failRubric=None), "$.rubric[0].failRubric", "input should be a valid string"),
    ("snake_case key", dimension(fail_rubric="x"), "$.rubric[0].fail_rubric", "unknown key"),
    ("weight", dimension(weight=2), "$.rubric[0].weight", "unknown key"),
]


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [row[1:] for row in WRONG_DIMENSIONS],
    ids=[row[0] for row in WRONG_DIMENSIONS],
)
def test_a_wrong_dimension_is_refused(value: JsonObject, path: str, reason: str) -> None:
    error = refusal(Holder, {"rubric": [value]})

    assert error.path == path
    assert reason in error.reason


@pytest.mark.parametrize("key", ["id", "question", "passRubric", "failRubric"])
def test_every_part_of_a_dimension_is_needed(key: str) -> None:
    value = dimension()
    del value[key]

    error = refusal(Holder, {"rubric": [dimension("other"), value]})

    assert (error.path, error.reason) == (f"$.rubric[1].{key}", "the field is missing")


def test_the_usual_axes() -> None:
    assert [entry.name for entry in DEFAULT_AXES] == ["accuracy", "tone", "format"]
    assert all(set(entry.anchors) == {"1", "3", "5"} for entry in DEFAULT_AXES)


WRONG_AXES: list[tuple[str, JsonValue, str, str]] = [
    ("none", [], "$.axes", "no axis; name one"),
    ("one name twice", [axis("a"), axis("b"), axis("a")], "$.axes", "two axes are called a"),
    ("no list", {"brevity": 1}, "$.axes", "input should be a valid list"),
    ("taken name", [axis("reasoning")], "$.axes[0].name", "not the word reasoning"),
    ("capital", [axis("Brevity")], "$.axes[0].name", "'Brevity' is no axis name"),
    ("blank name", [axis("")], "$.axes[0].name", "is no axis name"),
    ("blank description", [axis(description=" ")], "$.axes[0].description", "is empty"),
    ("no anchors", [axis(anchors={})], "$.axes[0].anchors", "no anchor for 1, 3, 5;"),
    (
        "one anchor left out",
        [axis(), axis("b", anchors={"1": "Bad.", "5": "Good."})],
        "$.axes[1].anchors",
        "no anchor for 3; say what an answer with that score is like",
    ),
    ("blank anchor", [axis(anchors={"1": "a", "3": "", "5": "c"})], "$.axes[0].anchors['3']", "is empty"),
    (
        "anchor between",
        [axis(anchors={"1": "a", "2": "b", "3": "c", "5": "d"})],
        "$.axes[0].anchors['2']",
        "input should be '1', '3' or '5'",
    ),
]


@pytest.mark.parametrize(
    ("value", "path", "reason"), [row[1:] for row in WRONG_AXES], ids=[row[0] for row in WRONG_AXES]
)
def test_wrong_axes_are_refused(value: JsonValue, path: str, reason: str) -> None:
    error = refusal(AxesConfig, {"axes": value})

    assert error.path == path
    assert reason in error.reason


def test_least_that_a_judge_needs() -> None:
    config = JudgeConfig.from_json({"model": "openai:gpt-4.1-mini"})

    assert config == JudgeConfig(
        model="openai:gpt-4.1-mini",
        regression=RegressionConfig(input_mode="bounded", prompt_version=None, instructions=None),
        axes=None,
        sample=1.0,
        confirm_fail=1,
        cap_usd=2.0,
        price=None,
        timeout_minutes=10.0,
        max_output_tokens=1024,
        max_input_tokens=100_000,
        settings={},
    )


def test_all_that_a_judge_takes() -> None:
    text = """
model: openrouter:vendor/model:free
regression: {input_mode: arguments, prompt_version: ours.v2, instructions: judge.md}
axes:
  axes:
    - name: brevity
      description: How short it is.
      anchors: {1: Endless., 3: Could be shorter., 5: As short as can be.}
sample: 0.3
confirm_fail: 3
cap_usd: 0
price: {input: 1, output: 2.5, cache_read: 0.1, cache_write: 0}
timeout_minutes: 0.5
max_output_tokens: 200
max_input_tokens: 5000
settings: {seed: 1}
"""
    config = JudgeConfig.from_json(parse_yaml(text, source="suite.yaml"))

    assert config == JudgeConfig(
        model="openrouter:vendor/model:free",
        regression=RegressionConfig(
            input_mode="arguments", prompt_version="ours.v2", instructions="judge.md"
        ),
        axes=AxesConfig(
            axes=(
                AxisConfig(
                    name="brevity",
                    description="How short it is.",
                    anchors={"1": "Endless.", "3": "Could be shorter.", "5": "As short as can be."},
                ),
            )
        ),
        sample=0.3,
        confirm_fail=3,
        cap_usd=0.0,
        price=PriceConfig(input=1.0, output=2.5, cache_read=0.1, cache_write=0.0),
        timeout_minutes=0.5,
        max_output_tokens=200,
        max_input_tokens=5000,
        settings={"seed": 1},
    )


@pytest.mark.parametrize(
    ("said", "regression", "axes"),
    [
        ({}, True, False),
        ({"regression": True, "axes": True}, True, True),
        ({"regression": {}, "axes": {}}, True, True),
        ({"regression": False, "axes": False}, False, False),
        ({"regression": None, "axes": None}, False, False),
    ],
)
def test_judges_are_switched_on_and_off(said: JsonObject, regression: bool, axes: bool) -> None:  # noqa: FBT001 - a table
    config = JudgeConfig.from_json({"model": "a:b", **said})

    assert config.regression == (RegressionConfig() if regression else None)
    assert config.axes == (AxesConfig(axes=DEFAULT_AXES) if axes else None)


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        ({}, {"temperature": 0, "max_tokens": 7}),
        ({"temperature": 0.5, "seed": 1}, {"temperature": 0.5, "seed": 1, "max_tokens": 7}),
        ({"temperature": None}, {"temperature": None, "max_tokens": 7}),
    ],
)
def test_settings_of_every_call(settings: JsonObject, sent: JsonObject) -> None:
    assert JudgeConfig(model="a:b", max_output_tokens=7, settings=settings).call_settings == sent


WRONG: list[tuple[JsonObject, str, str]] = [
    ({"model": "gpt-4.1-mini"}, "$.model", "'gpt-4.1-mini' names no provider; write provider:model"),
    ({"model": ":b"}, "$.model", "names no provider"),
    ({"model": "a:"}, "$.model", "names no provider"),
    ({"model": ""}, "$.model", "names no provider"),
    ({"model": "a:b\n"}, "$.model", "names no provider"),
    ({"model": None}, "$.model", "input should be a valid string"),
    ({"modle": "a:b"}, "$.modle", "unknown key"),
    ({"regression": 0}, "$.regression", "give true, false or a mapping"),
    ({"regression": "off"}, "$.regression", "give true, false or a mapping"),
    ({"regression": {"inputMode": "full"}}, "$.regression.inputMode", "unknown key"),
    ({"regression": {"input_mode": "all"}}, "$.regression.input_mode", "'bounded', 'arguments' or 'full'"),
    ({"regression": {"instructions": ""}}, "$.regression.instructions", "is empty"),
    ({"axes": []}, "$.axes", "give true, false or a mapping"),
    ({"axes": {"axis": []}}, "$.axes.axis", "unknown key"),
    ({"axes": {"axes": []}}, "$.axes.axes", "no axis"),
    ({"sample": 0}, "$.sample", "greater than 0"),
    ({"sample": 1.01}, "$.sample", "less than or equal to 1"),
    ({"sample": "0.3"}, "$.sample", "valid number"),
    ({"sample": True}, "$.sample", "valid number"),
    ({"confirm_fail": 2}, "$.confirm_fail", "2 is even, and verdicts could tie; give an odd number"),
    ({"confirm_fail": 0}, "$.confirm_fail", "greater than or equal to 1"),
    ({"confirm_fail": 11}, "$.confirm_fail", "less than or equal to 9"),
    ({"confirm_fail": 3.0}, "$.confirm_fail", "valid integer"),
    ({"cap_usd": -0.01}, "$.cap_usd", "greater than or equal to 0"),
    ({"cap_usd": float("inf")}, "$.cap_usd", "finite"),
    ({"cap_usd": float("nan")}, "$.cap_usd", ""),
    ({"cap_usd": None}, "$.cap_usd", "valid number"),
    ({"price": 0.5}, "$.price", "dictionary"),
    ({"price": {"input": 1}}, "$.price.output", "the field is missing"),
    ({"price": {"input": -1, "output": 1}}, "$.price.input", "greater than or equal to 0"),
    ({"price": {"input": 1, "output": 1, "cached": 1}}, "$.price.cached", "unknown key"),
    ({"timeout_minutes": 0}, "$.timeout_minutes", "greater than 0"),
    ({"timeout_minutes": float("inf")}, "$.timeout_minutes", "finite"),
    ({"max_output_tokens": 0}, "$.max_output_tokens", "greater than or equal to 1"),
    ({"max_input_tokens": 0}, "$.max_input_tokens", "greater than or equal to 1"),
    ({"settings": []}, "$.settings", "dictionary"),
    ({"settings": {"max_tokens": 5}}, "$.settings", "max_tokens is not set here: use max_output_tokens"),
    ({"settings": {"max_completion_tokens": 5}}, "$.settings", "use max_output_tokens"),
]


@pytest.mark.parametrize(("changes", "path", "reason"), WRONG, ids=[str(row[0]) for row in WRONG])
def test_a_wrong_value_is_refused(changes: JsonObject, path: str, reason: str) -> None:
    error = refusal(JudgeConfig, {"model": "a:b", **changes})

    assert error.path == path
    assert reason in error.reason


def test_a_judge_without_a_model_is_refused() -> None:
    error = refusal(JudgeConfig, {})

    assert (error.path, error.reason) == ("$.model", "the field is missing")
