"""The sections of a comparison: what each compares, which decide, which are left out."""

from __future__ import annotations

import pytest

from regress_core.compare.options import CompareOptions
from regress_core.compare.sections import SectionName
from regress_core.records.json_io import JsonError, JsonObject, JsonValue
from tests.compare.support import (
    REFERENCE,
    changed,
    compare,
    decision,
    fingerprint,
    found,
    gone,
    guardrail,
    new,
    places,
    prompt,
    proposal,
)
from tests.support.json_compare import json_difference
from tests.support.records import record_json, tool_call

DECIDING: list[SectionName] = [
    "status",
    "response",
    "toolCalls",
    "effects",
    "policy",
    "suspendedProposals",
    "guardrails",
    "errors",
]
PROVENANCE: list[SectionName] = ["prompts", "fingerprints", "descriptor", "metadata"]
SECTIONS = DECIDING + PROVENANCE

# Two records that differ in every section, and where.
LEFT = record_json(
    items=[tool_call("c1", "f", arguments={"n": 1})],
    policyDecisions=[decision()],
    suspendedProposals=[proposal()],
    guardrailDecisions=[guardrail()],
    promptSnapshots=[prompt()],
    requestFingerprints=[fingerprint()],
    metadata={"team": "a", "harness": {"descriptorHash": "1"}},
)
RIGHT = record_json(
    status="failed",
    response="Sorry.",
    items=[tool_call("c1", "f", arguments={"n": 2})],
    policyDecisions=[decision(decision="deny")],
    suspendedProposals=[proposal(reason="too dear")],
    guardrailDecisions=[guardrail(decision="triggered")],
    errorName="Error",
    errorMessage="boom",
    promptSnapshots=[prompt(promptHash="other")],
    requestFingerprints=[fingerprint(requestHash="other")],
    metadata={"team": "b", "harness": {"descriptorHash": "2"}},
)
PLACES: dict[SectionName, list[str]] = {
    "status": ["status"],
    "response": ["response"],
    "toolCalls": ["toolCalls[0].arguments"],
    "effects": ["effects[0].arguments"],
    "policy": ["policyDecisions[0]"],
    "suspendedProposals": ["suspendedProposals[0]"],
    "guardrails": ["guardrailDecisions[0]"],
    "errors": ["errorName", "errorMessage"],
    "prompts": ["promptSnapshots[0]"],
    "fingerprints": ["requestFingerprints[0]"],
    "descriptor": ["metadata.harness"],
    "metadata": ["metadata"],
}


def _places_of(sections: list[SectionName]) -> list[str]:
    return [place for section in sections for place in PLACES[section]]


def _options(options: JsonObject) -> CompareOptions:
    """Give what a suite says of the comparison, where it says that the tool `f` writes."""
    return CompareOptions.from_json({"effects": {"write": ["f"]}, **options})


# What a suite says, and which sections then decide or are only reported; both in the order of all sections.
PLANS: list[tuple[JsonObject, list[SectionName], list[SectionName]]] = [
    ({}, DECIDING, PROVENANCE),
    ({"exclude_sections": []}, DECIDING, PROVENANCE),
    ({"include_sections": SECTIONS}, DECIDING, PROVENANCE),
    ({"include_sections": ["response"]}, ["response"], []),
    ({"include_sections": ["prompts"]}, [], ["prompts"]),
    ({"include_sections": ["metadata", "policy"]}, ["policy"], ["metadata"]),
    ({"exclude_sections": PROVENANCE}, DECIDING, []),
    ({"exclude_sections": DECIDING}, [], PROVENANCE),
    ({"exclude_sections": ["response", "prompts"]}, [s for s in DECIDING if s != "response"], PROVENANCE[1:]),
    ({"include_sections": ["response", "policy"], "exclude_sections": ["policy"]}, ["response"], []),
    ({"deciding": PROVENANCE}, SECTIONS, []),
    ({"provenance": DECIDING}, [], SECTIONS),
    (
        {"deciding": ["descriptor"], "provenance": ["status", "errors"]},
        ["response", "toolCalls", "effects", "policy", "suspendedProposals", "guardrails", "descriptor"],
        ["status", "errors", "prompts", "fingerprints", "metadata"],
    ),
    ({"deciding": ["response"], "provenance": ["prompts"]}, DECIDING, PROVENANCE),
    ({"deciding": ["metadata"], "exclude_sections": ["metadata"]}, DECIDING, PROVENANCE[:3]),
    ({"include_sections": ["prompts", "response"], "deciding": ["prompts"]}, ["response", "prompts"], []),
]


@pytest.mark.parametrize(("options", "deciding", "provenance"), PLANS, ids=repr)
def test_a_suite_says_what_is_compared_and_what_decides(
    options: JsonObject, deciding: list[SectionName], provenance: list[SectionName]
) -> None:
    comparison = compare(LEFT, RIGHT, _options(options))

    assert places(comparison.differences) == _places_of(deciding)
    assert places(comparison.provenance) == _places_of(provenance)
    assert comparison.equal is (not deciding)
    looked_at = {*deciding, *provenance}
    expected = {name: "different" if name in looked_at else "not compared" for name in SECTIONS}
    assert comparison.sections == expected


@pytest.mark.parametrize(("options", "deciding", "provenance"), PLANS, ids=repr)
def test_sections_that_are_the_same_say_so(
    options: JsonObject, deciding: list[SectionName], provenance: list[SectionName]
) -> None:
    comparison = compare(LEFT, LEFT, _options(options))

    assert comparison.equal
    looked_at = {*deciding, *provenance}
    expected = {name: "same" if name in looked_at else "not compared" for name in SECTIONS}
    assert comparison.sections == expected


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_decides_alone_exactly_when_it_is_a_deciding_one(section: SectionName) -> None:
    comparison = compare(LEFT, RIGHT, _options({"include_sections": [section]}))

    assert comparison.equal is (section in PROVENANCE)


def test_the_references_five_sections() -> None:
    comparison = compare(LEFT, RIGHT, REFERENCE)

    assert places(comparison.differences) == [
        "response",
        "toolCalls[0].argsHash",
        "policyDecisions[0]",
        "guardrailDecisions[0]",
        "metadata",
    ]
    assert comparison.provenance == []
    assert {name for name, state in comparison.sections.items() if state == "not compared"} == {
        "status",
        "effects",
        "suspendedProposals",
        "errors",
        "prompts",
        "fingerprints",
        "descriptor",
    }


def test_a_section_cannot_decide_and_only_be_reported() -> None:
    with pytest.raises(JsonError, match="policy") as raised:
        CompareOptions.from_json({"deciding": ["policy", "metadata"], "provenance": ["policy"]})

    assert raised.value.path == "$"


def _unrecorded(record: JsonObject, *names: JsonValue) -> JsonObject:
    metadata: JsonObject = {**record["metadata"], "regress": {"unrecorded": list(names)}}
    return record | {"metadata": metadata}


@pytest.mark.parametrize("side", ["left", "right", "both"])
@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_that_either_source_cannot_know_is_not_compared(section: SectionName, side: str) -> None:
    left = LEFT if side == "right" else _unrecorded(LEFT, section)
    right = RIGHT if side == "left" else _unrecorded(RIGHT, section)

    comparison = compare(left, right, _options({}))

    effects: set[SectionName] = {"effects"} if section == "toolCalls" else set()  # which are those of calls
    unknown: set[SectionName] = {section, *effects}
    assert all(comparison.sections[name] == "not compared" for name in unknown)
    different = {name for name, state in comparison.sections.items() if state == "different"}
    assert different == {*SECTIONS} - unknown
    assert places(comparison.differences) == _places_of([name for name in DECIDING if name not in unknown])
    assert places(comparison.provenance) == _places_of([name for name in PROVENANCE if name not in unknown])


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    ("section", "signal"),
    [
        ("status", "statusChanged"),
        ("effects", "effectsChanged"),
        ("policy", "policyChanged"),
        ("response", "finalOutputChanged"),
    ],
)
def test_a_section_that_is_not_known_raises_no_signal(section: SectionName, signal: str, side: str) -> None:
    left = LEFT if side == "right" else _unrecorded(LEFT, section)
    right = RIGHT if side == "left" else _unrecorded(RIGHT, section)

    raised = compare(left, right, _options({})).signals.raised()

    assert signal not in raised
    assert len(raised) == 4


def test_calls_that_are_not_known_raise_no_signal() -> None:
    raised = compare(_unrecorded(LEFT, "toolCalls"), RIGHT, _options({})).signals.raised()

    assert raised == ("statusChanged", "policyChanged", "finalOutputChanged")


def test_two_sources_that_cannot_know_different_things() -> None:
    left, right = _unrecorded(LEFT, "policy", "guardrails"), _unrecorded(RIGHT, "status", "policy")

    comparison = compare(left, right, _options({}))

    assert [name for name, state in comparison.sections.items() if state == "not compared"] == [
        "status",
        "policy",
        "guardrails",
    ]


@pytest.mark.parametrize("names", [["costs"], ["", None, 7], ["Status"]], ids=repr)
def test_names_of_no_section_leave_all_of_them_compared(names: list[JsonValue]) -> None:
    comparison = compare(_unrecorded(LEFT, *names), RIGHT, _options({}))

    assert "not compared" not in comparison.sections.values()


@pytest.mark.parametrize(
    "options",
    [CompareOptions(), CompareOptions(deciding=("metadata", "descriptor")), REFERENCE],
    ids=["default", "metadata decides", "reference"],
)
@pytest.mark.parametrize("metadata", [{}, {"team": "a", "harness": {"descriptorHash": "1"}}], ids=repr)
def test_what_an_importer_noted_is_never_compared(options: CompareOptions, metadata: JsonObject) -> None:
    noted: list[JsonObject] = [
        metadata,
        {**metadata, "regress": {"name": "a", "row": 1}},
        {**metadata, "regress": {"name": "b", "row": 2, "source": "log.jsonl"}},
        {"regress": None, **metadata},
    ]
    for left in noted:
        for right in noted:
            comparison = compare(record_json(metadata=left), record_json(metadata=right), options)
            assert comparison.equal
            assert comparison.differences == []
            assert comparison.provenance == []


def _decided(*decisions: JsonObject) -> JsonObject:
    return record_json(policyDecisions=list(decisions))


def _seen(part: JsonObject) -> JsonObject:
    """Give what a difference shows of a part: all but what changes from run to run."""
    return {key: value for key, value in part.items() if key not in ("timestamp", "callId", "runId")}


ALLOW_F, DENY_F = decision(), decision(decision="deny", reason="no")
ALLOW_G, DENY_G = decision("c2", name="g"), decision("c2", name="g", decision="deny", reason="no")

PARTS: list[tuple[str, JsonObject, JsonObject, list[JsonObject]]] = [
    (
        "C37: the same answer of a failed run",
        record_json(),
        record_json(status="failed", errorName="ToolCallError", errorMessage="boom"),
        [
            changed("status", "completed", "failed"),
            new("errorName", "ToolCallError"),
            new("errorMessage", "boom"),
        ],
    ),
    ("status alone", record_json(), record_json(status="failed"), [changed("status", "completed", "failed")]),
    ("answer", record_json(), record_json(response=""), [changed("response", "On its way.", "")]),
    (
        "another error",
        record_json(errorName="A", errorMessage="boom"),
        record_json(errorName="B", errorMessage="boom"),
        [changed("errorName", "A", "B")],
    ),
    (
        "no error any more",
        record_json(errorName="A", errorMessage="boom"),
        record_json(),
        [gone("errorName", "A"), gone("errorMessage", "boom")],
    ),
    (
        "an error without words",
        record_json(),
        record_json(errorMessage=""),
        [new("errorMessage", "")],
    ),
    (
        "decision",
        _decided(ALLOW_F),
        _decided(DENY_F),
        [changed("policyDecisions[0]", _seen(ALLOW_F), _seen(DENY_F))],
    ),
    (
        "decision about the same tool",
        _decided(ALLOW_F, ALLOW_G),
        _decided(DENY_G, ALLOW_F),
        [changed("policyDecisions[1]", _seen(ALLOW_G), _seen(DENY_G))],
    ),
    (
        "decisions about two tools",
        _decided(ALLOW_F, ALLOW_G),
        _decided(DENY_G, DENY_F),
        [
            changed("policyDecisions[0]", _seen(ALLOW_F), _seen(DENY_F)),
            changed("policyDecisions[1]", _seen(ALLOW_G), _seen(DENY_G)),
        ],
    ),
    (
        "decision about a handoff of that name",
        _decided(ALLOW_F),
        _decided(decision(resource={"kind": "handoff", "name": "f"})),
        [
            gone("policyDecisions[0]", _seen(ALLOW_F)),
            new("policyDecisions[0]", _seen(decision(resource={"kind": "handoff", "name": "f"}))),
        ],
    ),
    (
        "decision in another turn",
        _decided(ALLOW_F),
        _decided(ALLOW_F | {"turn": 2}),
        [changed("policyDecisions[0]", _seen(ALLOW_F), _seen(ALLOW_F | {"turn": 2}))],
    ),
    (
        "decision missing",
        _decided(ALLOW_F, ALLOW_G),
        _decided(ALLOW_G),
        [changed("policyDecisions.length", 2, 1), gone("policyDecisions[0]", _seen(ALLOW_F))],
    ),
    (
        "decision more",
        _decided(ALLOW_F),
        _decided(ALLOW_F, ALLOW_F),
        [changed("policyDecisions.length", 1, 2), new("policyDecisions[1]", _seen(ALLOW_F))],
    ),
    (
        "proposal",
        record_json(suspendedProposals=[proposal(reason="a")]),
        record_json(suspendedProposals=[proposal(reason="b")]),
        [changed("suspendedProposals[0]", _seen(proposal(reason="a")), _seen(proposal(reason="b")))],
    ),
    (
        "proposals in another order",
        record_json(suspendedProposals=[proposal("c1", toolName="f"), proposal("c2", toolName="g")]),
        record_json(suspendedProposals=[proposal("c1", toolName="g"), proposal("c2", toolName="f")]),
        [],
    ),
    (
        "proposal missing",
        record_json(suspendedProposals=[proposal()]),
        record_json(),
        [changed("suspendedProposals.length", 1, 0), gone("suspendedProposals[0]", _seen(proposal()))],
    ),
    (
        "handoff instead of a tool",
        record_json(suspendedProposals=[proposal()]),
        record_json(suspendedProposals=[proposal(kind="handoff", toAgentName="returns")]),
        [
            gone("suspendedProposals[0]", _seen(proposal())),
            new("suspendedProposals[0]", _seen(proposal(kind="handoff", toAgentName="returns"))),
        ],
    ),
    (
        "guardrail",
        record_json(guardrailDecisions=[guardrail()]),
        record_json(guardrailDecisions=[guardrail(decision="triggered", reason="rude")]),
        [
            changed(
                "guardrailDecisions[0]",
                _seen(guardrail()),
                _seen(guardrail(decision="triggered", reason="rude")),
            )
        ],
    ),
    (
        "guardrail more",
        record_json(),
        record_json(guardrailDecisions=[guardrail()]),
        [changed("guardrailDecisions.length", 0, 1), new("guardrailDecisions[0]", _seen(guardrail()))],
    ),
]


@pytest.mark.parametrize(
    ("left", "right", "differences"), [pytest.param(*case[1:], id=case[0]) for case in PARTS]
)
def test_the_differences_of_a_section(
    left: JsonObject, right: JsonObject, differences: list[JsonObject]
) -> None:
    comparison = compare(left, right)

    assert json_difference(differences, found(comparison.differences), null_is_absent=False) is None
    assert comparison.equal is (not differences)
    assert comparison.provenance == []


EXPLAINING: list[tuple[str, JsonObject, JsonObject, list[JsonObject]]] = [
    (
        "prompt",
        record_json(promptSnapshots=[prompt(promptHash="a")]),
        record_json(promptSnapshots=[prompt(promptHash="b")]),
        [changed("promptSnapshots[0]", _seen(prompt(promptHash="a")), _seen(prompt(promptHash="b")))],
    ),
    (
        "prompt more",
        record_json(),
        record_json(promptSnapshots=[prompt()]),
        [changed("promptSnapshots.length", 0, 1), new("promptSnapshots[0]", _seen(prompt()))],
    ),
    (
        "tool contracts",
        record_json(requestFingerprints=[fingerprint(toolsHash="a")]),
        record_json(requestFingerprints=[fingerprint(toolsHash="b")]),
        [
            changed(
                "requestFingerprints[0]",
                _seen(fingerprint(toolsHash="a")),
                _seen(fingerprint(toolsHash="b")),
            )
        ],
    ),
    (
        "descriptor",
        record_json(metadata={"harness": {"descriptorHash": "1"}}),
        record_json(metadata={"harness": {"descriptorHash": "2"}}),
        [changed("metadata.harness", {"descriptorHash": "1"}, {"descriptorHash": "2"})],
    ),
    (
        "no descriptor",
        record_json(metadata={"harness": {"descriptorHash": "1"}}),
        record_json(),
        [gone("metadata.harness", {"descriptorHash": "1"})],
    ),
    (
        "metadata",
        record_json(metadata={"team": "a", "harness": 1, "regress": {"row": 1}}),
        record_json(metadata={"team": "b", "harness": 1, "regress": {"row": 2}}),
        [changed("metadata", {"team": "a"}, {"team": "b"})],
    ),
]


@pytest.mark.parametrize(
    ("left", "right", "differences"), [pytest.param(*case[1:], id=case[0]) for case in EXPLAINING]
)
def test_what_only_explains_a_difference_is_reported_apart(
    left: JsonObject, right: JsonObject, differences: list[JsonObject]
) -> None:
    comparison = compare(left, right)

    assert comparison.equal
    assert comparison.differences == []
    assert json_difference(differences, found(comparison.provenance), null_is_absent=False) is None
    assert comparison.signals.raised() == ()


@pytest.mark.parametrize(
    ("section", "change", "signal"),
    [
        ("status", {"status": "failed"}, "statusChanged"),
        ("response", {"response": "another"}, "finalOutputChanged"),
        ("toolCalls", {"items": [tool_call("c", "f")]}, "toolsChanged"),
        ("policy", {"policyDecisions": [decision("c", 1, "f")]}, "policyChanged"),
    ],
)
def test_a_section_moved_to_provenance_raises_no_signal(
    section: str, change: JsonObject, signal: str
) -> None:
    baseline = record_json()
    options = CompareOptions.from_json({"provenance": [section]})

    moved = compare(baseline, baseline | change, options)

    assert compare(baseline, baseline | change).signals.raised() == (signal,)
    assert moved.signals.raised() == ()
    assert moved.equal
    assert moved.provenance != []
