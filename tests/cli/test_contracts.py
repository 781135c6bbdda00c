"""What `regress validate` and `regress run` tell of the contracts of tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Command, Here
from tests.support.candidates import ADAPTER, HARNESS, asked, recorded, write_candidate_suite
from tests.support.suites import write_record

BASELINE = """\
metadata: {name: shop, version: "1"}
runtime: {entry_agent: clerk}
tools:
  find_order: {target: "app://find_order", effect: read}
  get_parcel: {target: "app://get_parcel"}
agents:
  clerk: {model: m-small, instructions: Be brief., tools: [find_order, get_parcel]}
"""

CANDIDATE = HARNESS.replace("find_order}", "find_order, effect: write}")

CHANGES = [
    {"tool": "get_parcel", "agent": "clerk", "change": "removed", "detail": "", "breaking": True},
    {"tool": "cancel_order", "agent": "clerk", "change": "added", "detail": "", "breaking": False},
    {"tool": "find_order", "agent": None, "change": "effect", "detail": "read → write", "breaking": True},
]

LINES = [
    "contract of tool get_parcel of agent clerk: removed, breaking",
    "contract of tool cancel_order of agent clerk: added",
    "contract of tool find_order: effect, breaking: read → write",
]

OF_FINGERPRINT = (
    "contract of agent clerk: fingerprint, perhaps breaking: "
    "its model is told other names, descriptions or schemas than the recorded runs' was"
)


def contract_lines(text: str) -> list[str]:
    """Give the lines that are about contracts."""
    return [line for line in text.splitlines() if line.startswith("contract of ")]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A suite of one case, whose baseline has a descriptor of its own."""
    root = write_candidate_suite(tmp_path / "shop", {"a": "same"}, config="name: shop\nbaseline: old.yaml\n")
    (root / "old.yaml").write_text(BASELINE, encoding="utf-8")
    (root / "harness.yaml").write_text(CANDIDATE, encoding="utf-8")
    return root


def test_validate_tells_it_and_runs_nothing(here: Here, shop: Path) -> None:
    result = here("validate", shop)

    assert (result.code, contract_lines(result.out)) == (0, LINES), result.err
    assert asked(shop) == []


def test_run_tells_it_before_the_first_case_and_in_the_summary(regress: Command, shop: Path) -> None:
    out = shop / "out"

    result = regress("run", shop, "--out", out)

    assert result.code == 0, result.err
    assert contract_lines(result.out) == contract_lines(result.err) == LINES
    order = [line.strip() for line in result.err.splitlines()]
    assert order.index(LINES[-1]) < order.index("1 of 1 cases done")
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["contracts"] == CHANGES
    assert [(case["status"], case["reasons"]) for case in summary["cases"]] == [("pass", [])]
    assert summary["gate"] == {"status": "pass", "reasons": []}


def test_what_was_told_is_told_again_by_a_resumed_evaluation(here: Here, shop: Path) -> None:
    first = here("run", shop, "--json").json

    again = here("run", "--resume", first["evaluationId"], "--json")

    assert (first["contracts"], again.json["contracts"]) == (CHANGES, CHANGES)


def test_without_a_baseline_to_compare_with_nothing_is_told(here: Here, shop: Path) -> None:
    (shop / "suite.yaml").write_text("name: shop\n", encoding="utf-8")

    validated, run = here("validate", shop), here("run", shop, "--json")

    assert contract_lines(validated.out) == contract_lines(run.err) == []
    assert "contracts" not in run.json


@pytest.fixture
def recorded_here(here: Here, tmp_path: Path) -> Path:
    """A suite whose baseline is a run of its own candidate, so that its record has fingerprints."""
    root = write_candidate_suite(tmp_path / "shop", {"a": "same"})
    assert here("run", root, "--out", tmp_path / "out").code == 0
    made: Any = json.loads((tmp_path / "out/candidates/a.runrecord.json").read_text(encoding="utf-8"))
    write_record(root / "records" / "a.json", made)
    return root


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        pytest.param("", "", [], id="the same"),
        pytest.param('"sent"', '"gone"', [], id="what a tool does"),
        pytest.param('f"Calls {name}."', 'f"Asks {name}."', [OF_FINGERPRINT], id="description"),
        pytest.param("execute)", "execute, {'minProperties': 1})", [OF_FINGERPRINT], id="schema"),
    ],
)
def test_a_tool_that_no_descriptor_describes(
    here: Here, recorded_here: Path, old: str, new: str, lines: list[str]
) -> None:
    (recorded_here / "adapter.py").write_text(ADAPTER.replace(old, new), encoding="utf-8")

    assert contract_lines(here("validate", recorded_here).out) == lines


def test_what_the_descriptors_tell_is_not_told_twice(here: Here, recorded_here: Path) -> None:
    (recorded_here / "old.yaml").write_text(HARNESS, encoding="utf-8")
    (recorded_here / "suite.yaml").write_text("baseline: old.yaml\n", encoding="utf-8")
    fewer = HARNESS.replace("[find_order, cancel_order]", "[find_order]")
    (recorded_here / "harness.yaml").write_text(fewer, encoding="utf-8")

    lines = contract_lines(here("validate", recorded_here).out)

    assert lines == ["contract of tool cancel_order of agent clerk: removed, breaking"]


def test_recorded_candidates_are_compared_by_their_fingerprints(
    here: Here, recorded_here: Path, tmp_path: Path
) -> None:
    old: Any = json.loads((recorded_here / "records" / "a.json").read_text(encoding="utf-8"))
    for request in old["requestFingerprints"]:
        request.update(toolsHash="0" * 64, toolCount=request["toolCount"] + 1)
    write_record(tmp_path / "new" / "a.json", old)

    records = recorded_here / "records"
    result = here("run", "--records", records, "--candidate-records", tmp_path / "new", "--json")

    assert result.json["contracts"] == [
        {
            "tool": None,
            "agent": "clerk",
            "change": "fingerprint",
            "detail": "2 → 3 tools and handoffs",
            "breaking": None,
        }
    ]


def test_many_changes_are_cut_on_the_terminal_alone(here: Here, shop: Path) -> None:
    tools = "".join(f"  t{number}: {{target: x}}\n" for number in range(30))
    names = ", ".join(f"t{number}" for number in range(30))
    text = BASELINE.replace("agents:\n", f"{tools}agents:\n").replace("get_parcel]", f"get_parcel, {names}]")
    (shop / "old.yaml").write_text(text, encoding="utf-8")

    validated, run = here("validate", shop), here("run", shop, "--json")

    assert len(contract_lines(validated.out)) == 20
    assert "and 13 more changes of contracts; summary.json has them all" in validated.out
    assert len(run.json["contracts"]) == 33


def test_a_record_that_is_not_the_planned_one_is_left_to_its_case(here: Here, recorded_here: Path) -> None:
    first = here("run", recorded_here, "--json").json
    write_record(recorded_here / "records" / "a.json", recorded("a"))

    again = here("run", "--resume", first["evaluationId"], "--json")

    assert again.code == 0, again.err
