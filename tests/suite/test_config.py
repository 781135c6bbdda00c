"""suite.yaml, candidate.yaml and the expectation: closed, and a fault is named by file and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.compare.options import CompareOptions
from regress_core.errors import InputError
from regress_core.judge.contract import RunRegressionExpectation
from regress_core.records.json_io import JsonObject, JsonValue, dumps, loads
from regress_core.records.wire import ConfigModel, WireModel
from regress_core.suite.config import (
    GATE_PRESETS,
    CandidateConfig,
    GateConfig,
    SuiteConfig,
    load_config,
    parse_config,
)
from tests.suite.support import refusal

FILE = Path("suites/airline/suite.yaml")


def _refused(model: type[ConfigModel | WireModel], value: JsonValue) -> InputError:
    with pytest.raises(InputError) as raised:
        parse_config(model, value, FILE)
    error = refusal(raised)
    assert error.file == str(FILE)
    return error


def test_nothing_said_is_the_defaults() -> None:
    config = parse_config(SuiteConfig, {}, FILE)

    assert config.name is None
    assert config.records == "records"
    assert config.expectation is None
    assert config.compare == CompareOptions()
    assert config.gate == GateConfig(signals={}, min_pass_rate=None)


def test_everything_said() -> None:
    value: JsonObject = {
        "name": "airline-2",
        "records": "baseline/runrecords",
        "expectation": {"intent": "Be brief.", "shouldUseTools": ["f"]},
        "compare": {
            "include_sections": ["response", "toolCalls", "metadata"],
            "exclude_sections": ["response"],
            "deciding": ["metadata"],
            "provenance": ["toolCalls"],
            "ignore_volatile": False,
        },
        "gate": {"signals": {"toolsChanged": "fail", "finalOutputChanged": "pass"}, "min_pass_rate": 0.9},
    }

    config = parse_config(SuiteConfig, value, FILE)

    assert (config.name, config.records) == ("airline-2", "baseline/runrecords")
    assert config.expectation == RunRegressionExpectation(intent="Be brief.", should_use_tools=["f"])
    assert config.compare == CompareOptions(
        include_sections=("response", "toolCalls", "metadata"),
        exclude_sections=("response",),
        deciding=("metadata",),
        provenance=("toolCalls",),
        ignore_volatile=False,
    )
    assert config.gate.signals == {"toolsChanged": "fail", "finalOutputChanged": "pass"}
    assert config.gate.min_pass_rate == 0.9


UNKNOWN_KEYS: list[tuple[type[ConfigModel | WireModel], JsonObject, str, list[str]]] = [
    (SuiteConfig, {"nmae": "a"}, "$.nmae", ["name", "records", "expectation", "compare", "gate"]),
    (
        SuiteConfig,
        {"name": "a", "Gate": {}},
        "$.Gate",
        ["name", "records", "expectation", "compare", "gate"],
    ),
    (SuiteConfig, {"min_pass_rate": 1}, "$.min_pass_rate", ["gate"]),
    (CandidateConfig, {"records": "v2", "lable": "v2"}, "$.lable", ["records", "label"]),
    (
        RunRegressionExpectation,
        {"intnt": "x"},
        "$.intnt",
        ["intent", "shouldUseTools", "shouldAvoidTools", "shouldPreserve", "shouldImprove", "notes"],
    ),
]


@pytest.mark.parametrize(("model", "value", "path", "known"), UNKNOWN_KEYS)
def test_an_unknown_key_is_refused_and_the_known_ones_are_listed(
    model: type[ConfigModel | WireModel], value: JsonObject, path: str, known: list[str]
) -> None:
    error = _refused(model, value)

    assert error.field == path
    assert error.message == "unknown key"
    assert error.remedy is not None
    listed = error.remedy.replace(",", " ").split()
    assert [key for key in listed if key in known] == known


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"gate": {"signal": {}}}, "$.gate.signal"),
        ({"gate": {"signals": {"toolChanged": "fail"}}}, "$.gate.signals.toolChanged"),
        ({"compare": {"includeSections": ["response"]}}, "$.compare.includeSections"),
        ({"gate": {"rule": "recommended"}}, "$.gate.rule"),
        ({"effects": {"writes": ["refund"]}}, "$.effects.writes"),
        ({"effects": {"arguments": {}, "tool": {}}}, "$.effects.tool"),
        ({"compare": {"sections": {}}}, "$.compare.sections"),
        ({"expectation": {"shouldUseTool": ["f"]}}, "$.expectation.shouldUseTool"),
    ],
)
def test_an_unknown_key_further_in_is_refused(value: JsonObject, path: str) -> None:
    assert _refused(SuiteConfig, value).field == path


WRONG: list[tuple[JsonValue, str]] = [
    ([], "$"),
    ("airline", "$"),
    ({"name": 5}, "$.name"),
    ({"name": ""}, "$.name"),
    ({"name": "Airline"}, "$.name"),
    ({"name": "a b"}, "$.name"),
    ({"name": "a\n"}, "$.name"),
    ({"name": "x" * 65}, "$.name"),
    ({"records": None}, "$.records"),
    ({"records": ["a"]}, "$.records"),
    ({"expectation": 5}, "$.expectation"),
    ({"expectation": ["be brief"]}, "$.expectation"),
    ({"expectation": {"intent": 5}}, "$.expectation.intent"),
    ({"expectation": {"shouldUseTools": "f"}}, "$.expectation.shouldUseTools"),
    ({"expectation": {"shouldUseTools": ["f", 5]}}, "$.expectation.shouldUseTools[1]"),
    ({"compare": []}, "$.compare"),
    ({"compare": {"include_sections": "response"}}, "$.compare.include_sections"),
    ({"compare": {"include_sections": ["response", "tools"]}}, "$.compare.include_sections[1]"),
    ({"compare": {"exclude_sections": ["Response"]}}, "$.compare.exclude_sections[0]"),
    ({"compare": {"deciding": [None]}}, "$.compare.deciding[0]"),
    ({"compare": {"ignore_volatile": "no"}}, "$.compare.ignore_volatile"),
    ({"compare": {"ignore_volatile": 0}}, "$.compare.ignore_volatile"),
    ({"compare": {"deciding": ["policy"], "provenance": ["policy"]}}, "$.compare"),
    ({"effects": []}, "$.effects"),
    ({"effects": "refund"}, "$.effects"),
    ({"effects": {"write": "refund"}}, "$.effects.write"),
    ({"effects": {"write": ["refund", 5]}}, "$.effects.write[1]"),
    ({"effects": {"write": [""]}}, "$.effects.write[0]"),
    ({"effects": {"read": [None]}}, "$.effects.read[0]"),
    ({"effects": {"idempotent": {"refund": True}}}, "$.effects.idempotent"),
    ({"effects": {"failed": ["^Not", "(a"]}}, "$.effects.failed[1]"),
    ({"effects": {"arguments": {"refund": {"note": "skip"}}}}, "$.effects.arguments.refund.note"),
    ({"effects": {"tolerance": {"refund": {"amount": 0}}}}, "$.effects.tolerance.refund.amount"),
    ({"effects": {"tolerance": {"refund": {"amount": "0.1"}}}}, "$.effects.tolerance.refund.amount"),
    ({"effects": {"tolerance": {"refund": 0.1}}}, "$.effects.tolerance.refund"),
    ({"effects": {"defaults": {"refund": "no"}}}, "$.effects.defaults.refund"),
    ({"gate": None}, "$.gate"),
    ({"gate": ["reference"]}, "$.gate"),
    ({"gate": {"signals": ["toolsChanged"]}}, "$.gate.signals"),
    ({"gate": {"signals": {"toolsChanged": "error"}}}, "$.gate.signals.toolsChanged"),
    ({"gate": {"signals": {"toolsChanged": True}}}, "$.gate.signals.toolsChanged"),
    ({"gate": {"rules": "strict"}}, "$.gate.rules"),
    ({"gate": {"rules": ["recommended"]}}, "$.gate.rules"),
    ({"gate": {"rules": None}}, "$.gate.rules"),
    ({"gate": {"min_pass_rate": 1.01}}, "$.gate.min_pass_rate"),
    ({"gate": {"min_pass_rate": -0.1}}, "$.gate.min_pass_rate"),
    ({"gate": {"min_pass_rate": 90}}, "$.gate.min_pass_rate"),
    ({"gate": {"min_pass_rate": "90%"}}, "$.gate.min_pass_rate"),
    ({"gate": {"min_pass_rate": "0.9"}}, "$.gate.min_pass_rate"),
    ({"gate": {"min_pass_rate": True}}, "$.gate.min_pass_rate"),
]


@pytest.mark.parametrize(("value", "path"), WRONG, ids=repr)
def test_a_wrong_value_is_refused_at_its_key(value: JsonValue, path: str) -> None:
    assert _refused(SuiteConfig, value).field == path


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({}, "$"),
        ({"label": "v2"}, "$"),
        ({"model": "openai:m"}, "$"),
        ({"records": "v2", "descriptor": "harness.yaml"}, "$"),
        ({"records": "v2", "adapter": "adapter.py"}, "$"),
        ({"records": "v2", "model": "openai:m"}, "$"),
        ({"records": 2}, "$.records"),
        ({"descriptor": ["harness.yaml"]}, "$.descriptor"),
        ({"adapter": 5}, "$.adapter"),
        ({"descriptor": "harness.yaml", "model": ""}, "$.model"),
        ({"records": "v2", "label": ""}, "$.label"),
        ({"records": "v2", "label": 2}, "$.label"),
        ([], "$"),
    ],
    ids=repr,
)
def test_a_candidate_is_records_or_a_harness(value: JsonValue, path: str) -> None:
    assert _refused(CandidateConfig, value).field == path


def test_an_unknown_section_is_answered_with_the_known_ones() -> None:
    text = str(_refused(SuiteConfig, {"compare": {"exclude_sections": ["tools"]}}))

    for name in ("status", "toolCalls", "policy", "suspendedProposals", "fingerprints", "metadata"):
        assert name in text


@pytest.mark.parametrize("rate", [0, 1, 0.0, 1.0, 0.95])
def test_a_pass_rate_is_a_share(rate: float) -> None:
    assert parse_config(SuiteConfig, {"gate": {"min_pass_rate": rate}}, FILE).gate.min_pass_rate == rate


def test_a_gate_may_be_a_presets_name() -> None:
    config = parse_config(SuiteConfig, {"gate": "reference"}, FILE)

    assert config.gate == GATE_PRESETS["reference"] == GateConfig()


def test_the_recommended_gate_differs_in_its_rules_only() -> None:
    config = parse_config(SuiteConfig, {"gate": "recommended"}, FILE)

    assert config.gate == GATE_PRESETS["recommended"] == GateConfig(rules="recommended")
    assert GateConfig() == GateConfig(rules="reference")


def test_the_recommended_rules_may_stand_in_a_mapping() -> None:
    gate: JsonObject = {
        "rules": "recommended",
        "min_pass_rate": 0.95,
        "signals": {"effectsChanged": "warn"},
        "judge_clears": ["finalOutputChanged"],
    }

    assert parse_config(SuiteConfig, {"gate": gate}, FILE).gate == GateConfig(
        rules="recommended",
        min_pass_rate=0.95,
        signals={"effectsChanged": "warn"},
        judge_clears=("finalOutputChanged",),
    )


@pytest.mark.parametrize("name", ["strict", "", "Reference"])
def test_an_unknown_preset_is_answered_with_the_known_ones(name: str) -> None:
    error = _refused(SuiteConfig, {"gate": name})

    assert error.field == "$.gate"
    assert repr(name) in str(error)
    assert "recommended, reference" in str(error).split(repr(name))[1]


def test_a_path_is_what_text_for_an_expectation_means() -> None:
    assert parse_config(SuiteConfig, {"expectation": "expectation.yaml"}, FILE).expectation == (
        "expectation.yaml"
    )


@pytest.mark.parametrize("text", ["", "\n# nothing yet\n", "{}", "\ufeff"], ids=repr)
def test_an_empty_file_is_an_empty_mapping(tmp_path: Path, text: str) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(text, encoding="utf-8")

    assert load_config(SuiteConfig, path) == SuiteConfig()


def test_a_file_may_be_json(tmp_path: Path) -> None:
    path = tmp_path / "expectation.json"
    path.write_text('{"intent": "Be brief.", "notes": null}', encoding="utf-8")

    assert load_config(RunRegressionExpectation, path).intent == "Be brief."


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("name: a\nname: b\n", "line 2"),
        ("name: [a\n", "line 2"),
        ("name: a\nnmae: b\n", "$.nmae"),
        ("gate:\n  min_pass_rate: 2\n", "$.gate.min_pass_rate"),
    ],
)
def test_a_fault_in_a_file_names_the_file_and_the_place(tmp_path: Path, text: str, place: str) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(InputError) as raised:
        load_config(SuiteConfig, path)

    error = refusal(raised)
    assert error.file == str(path)
    assert (error.field or "").startswith(place)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        load_config(SuiteConfig, tmp_path / "gone.yaml")

    assert raised.value.file == str(tmp_path / "gone.yaml")


@pytest.mark.parametrize(
    "compare",
    [
        {"include_sections": []},
        {"include_sections": ["prompts", "metadata"]},
        {"include_sections": ["response"], "exclude_sections": ["response"]},
        {"include_sections": ["response"], "provenance": ["response"]},
    ],
    ids=repr,
)
def test_a_comparison_that_could_only_be_equal_is_refused(compare: JsonObject) -> None:
    error = _refused(SuiteConfig, {"compare": compare})

    assert error.field == "$.compare"
    assert "no section is left that decides" in str(error)


EFFECTS: JsonObject = {
    "write": ["book_*", "refund"],
    "read": ["book_lookup"],
    "idempotent": ["cancel_order"],
    "failed": ["^Not possible"],
    "arguments": {"book_flight": {"passengers": ["unordered"], "note": "ignore"}},
    "tolerance": {"refund": {"amount": 0.01, "lines[*].net": 1}},
    "defaults": {"book_flight": {"insurance": "no", "seats": None, "bags": {"free": 1}}},
}


def test_effects_are_a_mapping_of_their_own() -> None:
    config = parse_config(
        SuiteConfig, {"effects": EFFECTS, "compare": {"exclude_sections": ["policy"]}}, FILE
    )

    assert config.effects is not None
    assert config.effects.write == ("book_*", "refund")
    assert config.effects.read == ("book_lookup",)
    assert config.effects.idempotent == ("cancel_order",)
    assert config.effects.failed == ("^Not possible",)
    assert config.effects.tolerance == {"refund": {"amount": 0.01, "lines[*].net": 1.0}}
    assert config.effects.defaults == EFFECTS["defaults"]
    assert config.effects.arguments.apply("book_flight", {"note": "x", "seat": 1}) == {"seat": 1}
    assert config.comparison == CompareOptions(exclude_sections=("policy",), effects=config.effects)
    assert config.compare.effects is None


def test_the_journal_keeps_effects_as_they_are() -> None:
    config = parse_config(SuiteConfig, {"effects": EFFECTS, "gate": "recommended"}, FILE)

    kept = config.model_dump(mode="json", by_alias=True, exclude_unset=True)

    assert SuiteConfig.from_json(loads(dumps(kept))) == config


@pytest.mark.parametrize("value", [{}, {"effects": None}], ids=repr)
def test_without_effects_nobody_knows_which_tools_write(value: JsonObject) -> None:
    config = parse_config(SuiteConfig, value, FILE)

    assert config.effects is None
    assert config.comparison == CompareOptions()


@pytest.mark.parametrize("value", [{}, {"write": []}], ids=repr)
def test_that_nothing_writes_can_be_said(value: JsonObject) -> None:
    config = parse_config(SuiteConfig, {"effects": value}, FILE)

    assert config.effects == EffectsConfig()
    assert "effects" in config.comparison.plan().compared


def test_effects_do_not_stand_in_compare() -> None:
    error = _refused(SuiteConfig, {"compare": {"effects": {"write": ["refund"]}}})

    assert error.field == "$.compare"
    assert error.message == "effects stand in suite.yaml beside compare, not in it"


def test_effects_alone_may_decide_where_the_suite_says_which_tools_write() -> None:
    compare: JsonObject = {"include_sections": ["effects"]}

    config = parse_config(SuiteConfig, {"compare": compare, "effects": {"write": ["refund"]}}, FILE)

    assert config.comparison.plan().compared == ("effects",)
    assert _refused(SuiteConfig, {"compare": compare}).field == "$.compare"


def test_a_fault_in_effects_names_the_file_and_the_field(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text("effects:\n  write: [refund]\n  failed: ['(a']\n", encoding="utf-8")

    with pytest.raises(InputError) as raised:
        load_config(SuiteConfig, path)

    error = refusal(raised)
    assert (error.file, error.field) == (str(path), "$.effects.failed[0]")
