"""A suite whose candidate is a descriptor with an adapter: what a case comes to, and where that is kept."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regress_core.errors import InputError
from regress_core.evaluation.events import CaseStarted, Event
from regress_core.evaluation.ports import Ports
from regress_core.history.store import History
from tests.evaluation.support import by_case, evaluated, plan_of, resumed, rows_by_case, run, taken_up
from tests.support.candidates import (
    ADAPTER,
    EVERYTHING,
    HARNESS,
    LABEL,
    Does,
    asked,
    recorded,
    tools_run,
    write_candidate_suite,
)
from tests.support.records import message
from tests.support.suites import as_json, lasting, tree, write_record

SIGNALS = ("statusChanged", "toolsChanged", "policyChanged", "finalOutputChanged")

COMES_TO: dict[str, tuple[str, bool, set[str], str]] = {
    "a-same": ("pass", False, set(), ""),
    "b-reworded": ("warn", False, {"finalOutputChanged"}, "finalOutputChanged: "),
    "c-no-tool": ("warn", False, {"toolsChanged", "policyChanged"}, "toolsChanged: "),
    "d-raises": ("fail", False, set(SIGNALS), "candidate failed: RuntimeError: no idea"),
    "e-strays": (
        "fail",
        False,
        {"statusChanged", "toolsChanged", "finalOutputChanged"},
        'diverged: Error: Missing recorded tool output for "find_order".',
    ),
    "f-down": ("warn", True, set(), "the provider is down"),
}
"""Status, inconclusive, the signals raised, how the first reason begins."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with suite, store and out of one evaluation of a case of every kind."""
    place = tmp_path_factory.mktemp("place")
    root = write_candidate_suite(place / "suite", EVERYTHING)
    evaluated(root, place / "store", out=place / "out")
    return place


def read(path: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", EVERYTHING)
def test_what_a_case_comes_to(place: Path, case: str) -> None:
    status, inconclusive, signals, reason = COMES_TO[case]

    (entry,) = [entry for entry in read(place / "out" / "summary.json")["cases"] if entry["caseId"] == case]

    assert (entry["status"], entry["inconclusive"]) == (status, inconclusive)
    assert {name for name in SIGNALS if entry["signals"][name]} == signals
    assert (entry["reasons"] or [""])[0].startswith(reason)
    assert bool(entry["reasons"]) == bool(reason)
    assert entry["baselineRunId"] == f"baseline of {case}"
    assert (entry["candidateRunId"] == "") == inconclusive
    assert "trials" not in entry


def test_the_summary(place: Path) -> None:
    summary = read(place / "out" / "summary.json")

    assert (summary["suite"], summary["status"], summary["complete"]) == ("shop", "fail", True)
    assert summary["candidate"]["label"] == LABEL
    assert summary["totals"] == {"cases": 6, "passed": 1, "warned": 3, "failed": 2, "inconclusive": 1}


def test_nothing_but_the_model_was_run(place: Path) -> None:
    once = {f"{case}/1" for case in EVERYTHING}

    assert set(asked(place / "suite")) == once
    assert tools_run(place / "suite") == []


def test_the_outputs(place: Path) -> None:
    assert set(tree(place / "out")) == {
        "summary.json",
        *(f"candidates/{case}.runrecord.json" for case in EVERYTHING),
        *(f"comparisons/{case}.comparison.json" for case in EVERYTHING if case != "f-down"),
        *(f"results/{case}.result.json" for case in EVERYTHING),
    }


def test_a_result(place: Path) -> None:
    result = read(place / "out" / "results" / "a-same.result.json")

    assert result["baseline"] == recorded("a-same")
    assert result["candidate"] == read(place / "out" / "candidates" / "a-same.runrecord.json")
    assert result["comparison"]["equal"] is True
    assert result["replayStats"] == {
        "recordedToolCalls": 1,
        "replayedFromRecord": 1,
        "missingToolCalls": 0,
        "liveFallbackCalls": 0,
        "inputSource": "inputItemCount",
    }
    assert "judge" not in result


def test_the_record_of_a_candidate(place: Path) -> None:
    record = read(place / "out" / "candidates" / "a-same.runrecord.json")

    assert (record["status"], record["agentName"], record["model"]) == ("completed", "clerk", "m-small")
    assert (record["question"], record["response"]) == ("Where is order a-same?", "On its way.")
    assert record["metadata"]["harness"]["name"] == "shop"
    assert [item["type"] for item in record["items"]] == [
        item["type"] for item in recorded("a-same")["items"]
    ]


def test_the_evaluation_in_the_history(place: Path) -> None:
    (row,) = History.open(place / "store").table("evaluations").to_pylist()

    assert {name: row[name] for name in ("candidate_kind", "candidate_label", "model")} == {
        "candidate_kind": "harness",
        "candidate_label": LABEL,
        "model": None,
    }
    how = ("mode", "input_mode", "trials", "from_turn")
    assert [row[name] for name in how] == ["strict", "recorded", 1, 0]


STATS: dict[str, tuple[int, ...]] = {
    # replayed from the record, missing, live, input tokens, output tokens
    "a-same": (1, 0, 0, 20, 10),
    "b-reworded": (1, 0, 0, 20, 10),
    "c-no-tool": (0, 0, 0, 10, 5),
    "d-raises": (0, 0, 0, 0, 0),
    "e-strays": (0, 1, 0, 10, 5),
    "f-down": (0, 0, 0, 0, 0),
}


@pytest.mark.parametrize("case", EVERYTHING)
def test_how_a_run_went_in_the_history(place: Path, case: str) -> None:
    row = rows_by_case(place / "store", "candidate_records")[case]

    names = ("replayed_from_record", "missing_tool_calls", "live_fallback_calls")
    assert tuple(row[name] for name in (*names, "input_tokens", "output_tokens")) == STATS[case]
    assert (row["mode"], row["input_source"], row["recorded_tool_calls"]) == ("strict", "inputItemCount", 1)
    assert row["duration_s"] >= 0


def test_a_miss_is_a_column(place: Path) -> None:
    found = rows_by_case(place / "store", "case_results")

    assert [case for case, row in found.items() if row["replay_miss"]] == ["e-strays"]
    assert [case for case, row in found.items() if row["inconclusive"]] == ["f-down"]
    down = found["f-down"]
    assert (down["trouble_kind"], down["trouble_stage"]) == ("outage", "candidate")
    assert (down["trouble_code"], down["trouble_retryable"]) == ("503", True)


def test_of_recorded_candidates_nothing_was_run(tmp_path: Path) -> None:
    root = write_candidate_suite(tmp_path / "suite", {"a": "same"})
    (root / "candidate.yaml").write_text("records: records\n", encoding="utf-8")

    evaluated(root, tmp_path / "store", out=tmp_path / "out")

    row = rows_by_case(tmp_path / "store", "candidate_records")["a"]
    names = ("mode", "input_source", "recorded_tool_calls", "replayed_from_record", "input_tokens")
    assert {row[name] for name in (*names, "duration_s")} == {None}
    (evaluation,) = History.open(tmp_path / "store").table("evaluations").to_pylist()
    assert [evaluation[name] for name in ("candidate_kind", "mode", "trials")] == ["records", None, None]
    assert "replayStats" not in read(tmp_path / "out" / "results" / "a.result.json")


MODES: dict[str, tuple[dict[str, str], list[str], tuple[int, ...]]] = {
    "strict": ({"a": "pass", "b": "fail"}, [], (0, 1, 0)),
    "hybrid": ({"a": "pass", "b": "warn"}, ["find_order another"], (0, 1, 1)),
    "live": ({"a": "pass", "b": "warn"}, ["find_order a", "find_order another"], (0, 0, 0)),
}
"""Statuses, the tools that were run, and of case b: replayed, missing, live fallback."""


@pytest.mark.parametrize("mode", MODES)
def test_the_mode_says_where_tool_outputs_come_from(tmp_path: Path, mode: str) -> None:
    statuses, ran, stats = MODES[mode]
    does: dict[str, Does] = {"a": "same", "b": "strays"}
    root = write_candidate_suite(tmp_path / "suite", does, config=f"name: shop\nmode: {mode}\n")

    cases = by_case(evaluated(root, tmp_path / "store"))

    assert {case: entry["status"] for case, entry in cases.items()} == statuses
    assert tools_run(root) == ran
    row = rows_by_case(tmp_path / "store", "candidate_records")["b"]
    names = ("replayed_from_record", "missing_tool_calls", "live_fallback_calls")
    assert (row["mode"], *(row[name] for name in names)) == (mode, *stats)


@pytest.mark.parametrize(("mode", "source"), [("recorded", "inputItemCount"), ("question", "question")])
def test_the_input_mode(tmp_path: Path, mode: str, source: str) -> None:
    root = write_candidate_suite(
        tmp_path / "suite", {"a": "same"}, config=f"name: shop\ninput_mode: {mode}\n"
    )

    assert by_case(evaluated(root, tmp_path / "store"))["a"]["status"] == "pass"

    assert rows_by_case(tmp_path / "store", "candidate_records")["a"]["input_source"] == source


def test_a_multi_turn_record_is_inconclusive(tmp_path: Path) -> None:
    root = write_candidate_suite(tmp_path / "suite", {"a": "same", "b": "same"})
    more = [message("And order 8?"), message("It is lost.", "assistant")]
    record = recorded("b")
    write_record(root / "records" / "b.json", record | {"items": [*record["items"], *more]})

    cases = by_case(evaluated(root, tmp_path / "store"))

    assert (cases["a"]["status"], cases["b"]["inconclusive"]) == ("pass", True)
    assert cases["b"]["reasons"] == ["multi-turn record: import with --turns each"]
    assert cases["b"]["trouble"] == {"kind": "input", "code": "multi-turn record", "retryable": False}
    assert asked(root) == ["a/1", "a/1"]


def test_comparison_options_of_the_adapter(tmp_path: Path) -> None:
    options = (
        "\n\nfrom regress_core.compare.options import CompareOptions\n\n\n"
        'def create_comparison_options(context):\n    return CompareOptions(exclude_sections=("response",))\n'
    )
    root = write_candidate_suite(tmp_path / "suite", {"a": "reworded"}, adapter=ADAPTER + options)
    assert by_case(evaluated(root, tmp_path / "store"))["a"]["status"] == "pass"

    (root / "suite.yaml").write_text("name: shop\ncompare: {}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"create_comparison_options: suite\.yaml says it too"):
        evaluated(root, tmp_path / "store2")


OTHER_PLANS = ["trials: 2", "mode: live", "input_mode: question", "expectation: {intent: x}"]
THE_SAME_PLAN = ["trials: 1", "mode: strict", "input_mode: recorded", "# a comment"]


@pytest.mark.parametrize(
    ("line", "same"), [*((line, False) for line in OTHER_PLANS), *((line, True) for line in THE_SAME_PLAN)]
)
def test_how_a_harness_is_run_is_part_of_the_plan(tmp_path: Path, line: str, *, same: bool) -> None:
    root = write_candidate_suite(tmp_path / "suite", {"a": "same"})
    before = plan_of(root).plan_key

    _append("suite.yaml", f"{line}\n")(root)

    assert (plan_of(root).plan_key == before) == same


def test_the_baselines_descriptor_is_part_of_the_plan(tmp_path: Path) -> None:
    """Judges see it."""
    root = write_candidate_suite(tmp_path / "suite", {"a": "same"}, config="name: shop\nbaseline: old.yaml\n")
    (root / "old.yaml").write_text(HARNESS, encoding="utf-8")
    before = plan_of(root).plan_key

    (root / "old.yaml").write_text(HARNESS.replace("brief", "long"), encoding="utf-8")

    assert plan_of(root).plan_key != before


def _append(name: str, text: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        with (root / name).open("a", encoding="utf-8") as file:
            file.write(text)

    return change


CHANGES = {
    "the descriptor": _append("harness.yaml", "unknown: 1\n"),
    "the adapter": _append("adapter.py", "# a comment\n"),
}


def interrupted_at_b(root: Path, store: Path) -> str:
    """Evaluate until case b starts; give the evaluation's id."""

    def emit(event: Event) -> None:
        if isinstance(event, CaseStarted) and event.case_id == "b":
            raise KeyboardInterrupt

    plan = taken_up(plan_of(root), store)
    with pytest.raises(KeyboardInterrupt):
        run(plan, store, emit, concurrency=1)
    return plan.evaluation_id


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_another_candidate_is_not_resumed(tmp_path: Path, change: Callable[[Path], None]) -> None:
    root, store = write_candidate_suite(tmp_path / "suite", {"a": "same", "b": "same"}), tmp_path / "store"
    evaluation_id = interrupted_at_b(root, store)
    change(root)

    with pytest.raises(InputError) as raised:
        run(resumed(evaluation_id, store), store)

    assert "changed since the evaluation was planned" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert evaluated(root, store).evaluation_id != evaluation_id
    with Ports.open(store) as ports:
        assert [row.evaluation_id for row in ports.journal.unfinished()] == [evaluation_id]


def test_resuming_needs_the_candidates_files_only(tmp_path: Path) -> None:
    root, store = write_candidate_suite(tmp_path / "suite", {"a": "same", "b": "same"}), tmp_path / "store"
    undisturbed = evaluated(root, tmp_path / "other")
    evaluation_id = interrupted_at_b(root, store)
    for name in ("suite.yaml", "candidate.yaml"):
        (root / name).unlink()

    summary = run(resumed(evaluation_id, store), store)

    assert lasting(as_json(summary)) == lasting(as_json(undisturbed))
    assert asked(root) == sorted(["a/1", "a/1", "b/1", "b/1"] * 2)
