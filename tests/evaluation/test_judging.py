"""What checks and a suite's judges make of a case; the judges ask a scripted model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.judge.contract import Status
from regress_core.judge.outcome import JudgeName
from regress_core.models.client import ModelError, ModelErrorKind
from regress_core.records.json_io import JsonObject
from regress_core.suite.contract import RunRegressionSummary
from tests.evaluation.judging import Case, assert_begin, evaluated_one, judge, replies_of, write_cases
from tests.evaluation.support import by_case
from tests.support.candidates import ADAPTER, write_candidate_suite
from tests.support.judges import (
    COST_USD,
    MODEL,
    RUBRIC,
    JudgeModel,
    Replies,
    grades,
    judged_suite,
    scores,
    verdict,
)
from tests.support.suites import Kind, write_suite

GARBAGE = "I cannot evaluate this."
DOWN = ModelError("connection", "refused", never_sent=True)


FAIL, WARN, PASS = verdict("fail"), verdict("warn"), verdict("pass")
CASES: dict[str, Case] = {
    "all-pass": Case("same", {}, "pass", []),
    "judge-warns": Case("same", {"regression": WARN}, "warn", ["judge: as it is"]),
    "judge-fails": Case("same", {"regression": FAIL}, "fail", ["judge: as it is"]),
    "a-pass-clears-no-signal": Case("reworded", {}, "warn", ["finalOutputChanged: "]),
    "fail-beside-a-signal": Case(
        "reworded", {"regression": FAIL}, "fail", ["judge: as it is", "finalOutputChanged: "]
    ),
    "open-flip": Case(
        "same",
        {"rubric": grades(calm=False)},
        "warn",
        ["rubric calm: pass → fail, not signed off: calm is what it is"],
    ),
    "accepted-flip": Case("same", {"rubric": grades(calm=False)}, "pass", [], signed=[(False, "accepted")]),
    "rejected-flip": Case(
        "same",
        {"rubric": grades(calm=False)},
        "fail",
        ["rubric calm: pass → fail, rejected: calm is what it is"],
        signed=[(False, "rejected")],
    ),
    "flip-back": Case(
        "same",
        {"rubric": grades(calm=True)},
        "warn",
        ["rubric calm: fail → pass, not signed off: "],
        signed=[(False, "accepted")],
    ),
    "nothing-applies": Case(
        "same", {"rubric": grades(calm=None)}, "warn", ["rubric: none of its questions applies"]
    ),
    "low-axis": Case("same", {"axes": scores(1.9)}, "fail", ["axes: accuracy 1.9 is below the minimum 2"]),
    "axis-at-the-minimum": Case("same", {"axes": scores(2)}, "pass", []),
    "two-low-axes": Case(
        "same", {"axes": scores(1, 1.5)}, "fail", ["axes: accuracy 1 is", "axes: tone 1.5 is"]
    ),
    "all-fail": Case(
        "same",
        {"regression": FAIL, "rubric": grades(calm=False), "axes": scores(1)},
        "fail",
        ["judge: as it is", "axes: accuracy 1 is", "rubric calm: pass → fail, not signed off: "],
    ),
    # Whatever is no verdict warns, and is no pass: J6, J7, J8, J12.
    "judge-talks": Case("same", {"regression": GARBAGE}, "warn", ["judge: no verdict: "]),
    "rubric-talks": Case("same", {"rubric": GARBAGE}, "warn", ["rubric: no verdict: "]),
    "axes-talk": Case("same", {"axes": GARBAGE}, "warn", ["axes: no verdict: "]),
    "judge-breaks-off": Case("same", {"regression": PASS[:-1]}, "warn", ["judge: no verdict: "]),
    "judge-says-two": Case("same", {"regression": PASS + FAIL}, "warn", ["judge: no verdict: "]),
    "score-off-the-scale": Case("same", {"axes": scores(9)}, "warn", ["axes: no verdict: "]),
    "score-is-text": Case("same", {"axes": scores().replace("5", '"5"', 1)}, "warn", ["axes: no verdict: "]),
    "unknown-dimension": Case("same", {"rubric": grades(bold=True)}, "warn", ["rubric: no verdict: "]),
    "judge-is-down": Case(
        "same", {"regression": DOWN}, "warn", ["judge: not asked: provider unreachable: refused"]
    ),
    "rubric-is-down": Case(
        "same", {"rubric": DOWN}, "warn", ["rubric: not asked: provider unreachable: refused"]
    ),
    "axes-are-down": Case("same", {"axes": DOWN}, "warn", ["axes: not asked: provider unreachable: refused"]),
    "down-beside-a-fail": Case(
        "same", {"regression": FAIL, "axes": DOWN}, "fail", ["judge: as it is", "axes: not asked: "]
    ),
    # Nobody is asked about what has failed already, or what we do not know.
    "candidate-fails": Case("failed", {}, "fail", ["candidate failed: "], frozenset()),
    "no-candidate": Case("missing", {}, "warn", ["no candidate record"], frozenset()),
}


@dataclass(frozen=True)
class Judged:
    """An evaluation of `CASES` by all three judges."""

    summary: RunRegressionSummary
    model: JudgeModel
    entries: Mapping[str, JsonObject]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    place = tmp_path_factory.mktemp("judged")
    root = write_cases(place / "suite", CASES, judged_suite(RUBRIC, judge="axes: true"))
    model = JudgeModel(replies_of(CASES))
    summary = judge(root, place / "store", model)
    return Judged(summary, model, by_case(summary))


@pytest.mark.parametrize("name", CASES)
def test_what_the_judges_make_of_a_case(judged: Judged, name: str) -> None:
    case, entry = CASES[name], judged.entries[name]

    assert entry["status"] == case.status
    assert_begin(entry["reasons"], case.reasons)
    assert {judge for (asked, judge) in judged.model.asked if asked == name} == case.asked
    assert entry["inconclusive"] == (case.kind == "missing")


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.kind != "missing"])
def test_the_entry_says_what_became_of_each_judge(judged: Judged, name: str) -> None:
    case, entry = CASES[name], judged.entries[name]
    states = {one["judge"]: one["state"] for one in entry["judging"]}

    no_verdict = {
        reason.split(": ")[0]: "error" if ": no verdict: " in reason else "skipped"
        for reason in case.reasons
        if ": no verdict: " in reason or ": not asked: " in reason
    }
    expected = {
        "regression": no_verdict.get("judge", "verdict"),
        "rubric": no_verdict.get("rubric", "verdict"),
        "axes": no_verdict.get("axes", "verdict"),
    }
    assert states == (expected if case.asked else dict.fromkeys(expected, "skipped"))
    # Without a verdict there is neither a verdict nor a number: invariant 4.
    assert ("judge" in entry) == (states["regression"] == "verdict")
    assert ("rubric" in entry) == (states["rubric"] == "verdict")
    assert ("axes" in entry) == (states["axes"] == "verdict")
    assert all(one.get("intended", False) == (not case.asked) for one in entry["judging"])


def test_what_people_decided_stands_beside_the_verdict(judged: Judged) -> None:
    told = {
        name: [(one["passed"], one["flipped"], one["decision"]) for one in entry["rubric"]]
        for name, entry in judged.entries.items()
        if name in ("all-pass", "open-flip", "accepted-flip", "rejected-flip", "flip-back")
    }
    assert told == {
        "all-pass": [(True, False, None)],
        "open-flip": [(False, True, "logged")],
        "accepted-flip": [(False, False, "accepted")],
        "rejected-flip": [(False, True, "rejected")],
        "flip-back": [(True, True, None)],
    }


CLEARED = "judge_clears: [finalOutputChanged]"
ONLY_REGRESSION: frozenset[JudgeName] = frozenset(("regression",))


@pytest.mark.parametrize(
    ("gate", "kind", "reply", "status", "reasons"),
    [
        pytest.param(
            CLEARED, "reworded", PASS, "pass", ["finalOutputChanged: "], id="a pass clears the signal"
        ),
        pytest.param(CLEARED, "other_tool", PASS, "warn", ["toolsChanged: "], id="not another signal"),
        pytest.param(
            CLEARED, "reworded", WARN, "warn", ["finalOutputChanged: ", "judge: "], id="warn clears nothing"
        ),
        pytest.param(
            CLEARED, "reworded", FAIL, "fail", ["judge: ", "finalOutputChanged: "], id="nor does fail"
        ),
        pytest.param(
            CLEARED,
            "reworded",
            GARBAGE,
            "warn",
            ["finalOutputChanged: ", "judge: no verdict: "],
            id="nor what is no verdict",
        ),
        pytest.param(
            CLEARED,
            "reworded",
            DOWN,
            "warn",
            ["finalOutputChanged: ", "judge: not asked: "],
            id="nor an outage",
        ),
        pytest.param(
            f"{CLEARED}, signals: {{finalOutputChanged: fail}}",
            "reworded",
            PASS,
            "pass",
            ["finalOutputChanged: "],
            id="a pass clears what would fail",
        ),
        pytest.param(
            f"{CLEARED}, signals: {{finalOutputChanged: fail}}",
            "reworded",
            DOWN,
            "fail",
            ["finalOutputChanged: ", "judge: not asked: "],
            id="an outage does not",
        ),
    ],
)
def test_a_pass_clears_the_signals_that_the_gate_lists(
    tmp_path: Path, gate: str, kind: Kind, reply: Replies, status: Status, reasons: list[str]
) -> None:
    case = Case(kind, {"regression": reply}, status, reasons, ONLY_REGRESSION)

    evaluated_one(tmp_path, case, judged_suite(f"gate: {{{gate}}}"))


@pytest.mark.parametrize(
    ("gate", "score", "status"),
    [
        pytest.param("axis_minimum: 3", 2.9, "fail", id="below"),
        pytest.param("axis_minimum: 3", 3, "pass", id="at"),
        pytest.param("axis_minimum: 3, fail_on_threshold_breach: false", 2.9, "warn", id="below, warns"),
        pytest.param("axis_minimum: 1", 1, "pass", id="the lowest"),
    ],
)
def test_the_axis_minimum_is_the_gates(tmp_path: Path, gate: str, score: float, status: Status) -> None:
    reasons = [] if status == "pass" else ["axes: accuracy 2.9 is below the minimum 3"]
    case = Case("same", {"axes": scores(score)}, status, reasons, frozenset(("axes",)))

    evaluated_one(tmp_path, case, judged_suite(f"gate: {{{gate}}}", judge="regression: false, axes: true"))


def test_a_failed_check_leaves_the_judges_out(tmp_path: Path) -> None:
    case = Case("same", {}, "fail", ["check tone: looked for "], frozenset())
    check = "assertions: [{id: tone, kind: text_contains, text: dearly}]"

    entry = evaluated_one(tmp_path, case, judged_suite(RUBRIC, check, judge="axes: true"))

    assert entry["failedChecks"] == ["tone"]
    assert [(one["judge"], one["state"], one["reason"], one["intended"]) for one in entry["judging"]] == [
        (judge, "skipped", "a check has failed", True) for judge in ("regression", "rubric", "axes")
    ]


def test_a_check_that_warns_does_not(tmp_path: Path) -> None:
    case = Case("same", {}, "warn", ["check tone: looked for "], ONLY_REGRESSION)
    check = "assertions: [{id: tone, kind: text_contains, text: dearly, severity: warn}]"

    entry = evaluated_one(tmp_path, case, judged_suite(check))

    assert "failedChecks" not in entry


def test_a_structure_check_forces_the_format_to_one(tmp_path: Path) -> None:
    case = Case(
        "same",
        {"axes": scores(form=4.5)},
        "fail",
        [
            "axes: format 1 is below the minimum 2 (a structure check failed; judged 4.5)",
            "check json: looked for ",
        ],
        frozenset(("axes",)),
    )
    check = "assertions: [{id: json, kind: json, severity: warn}]"

    entry = evaluated_one(tmp_path, case, judged_suite(check, judge="regression: false, axes: true"))

    assert entry["axes"] == {"accuracy": 5, "tone": 5, "format": 1}


def test_a_verdict_that_speaks_against_itself_stands_and_is_shown(tmp_path: Path) -> None:
    """J13."""
    said = verdict("pass", summary="The answer got worse.")
    case = Case("same", {"regression": said}, "pass", [], ONLY_REGRESSION)

    entry = evaluated_one(tmp_path, case, judged_suite())

    assert entry["judge"] == {"verdict": "pass", "summary": "The answer got worse."}
    assert len(entry["judging"][0]["flags"]) == 1


@pytest.mark.parametrize(
    ("kind", "trouble", "reason"),
    [
        ("quota", "quota", "judge: not asked: no money"),
        ("configuration", "configuration", "judge: not asked: no money"),
        ("outage", "outage", "judge: not asked: provider unreachable: no money"),
    ],
)
def test_trouble_warns_and_says_what_it_is(
    tmp_path: Path, kind: ModelErrorKind, trouble: str, reason: str
) -> None:
    case = Case("same", {"regression": ModelError(kind, "no money")}, "warn", [reason], ONLY_REGRESSION)

    entry = evaluated_one(tmp_path, case, judged_suite())

    assert entry["judging"][0]["trouble"] == trouble


def test_a_rubric_of_one_case_is_asked_of_that_case(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", {"a": "same", "b": "same"}, config=judged_suite())
    (root / "cases").mkdir()
    (root / "cases" / "b.yaml").write_text(RUBRIC, encoding="utf-8")
    model = JudgeModel()

    judge(root, tmp_path / "store", model)

    assert model.asked == {("a", "regression"): 1, ("b", "regression"): 1, ("b", "rubric"): 1}


@pytest.mark.parametrize("confirm_fail", [1, 3])
def test_a_fail_is_confirmed_where_the_suite_wants_it(tmp_path: Path, confirm_fail: int) -> None:
    """J16."""
    status: Status = "fail" if confirm_fail == 1 else "pass"
    reasons = ["judge: as it is"] if confirm_fail == 1 else []
    case = Case("same", {"regression": (FAIL, PASS, PASS)}, status, reasons, ONLY_REGRESSION)

    entry = evaluated_one(tmp_path, case, judged_suite(judge=f"confirm_fail: {confirm_fail}"))

    assert entry["judging"][0]["costUsd"] == pytest.approx(confirm_fail * COST_USD)


def test_each_trial_is_judged_for_itself_and_the_worst_one_counts(tmp_path: Path) -> None:
    config = judged_suite("trials: 3")
    root = write_candidate_suite(tmp_path / "suite", {"a": ["same", "same", "same"]}, config=config)
    model = JudgeModel({("a", "regression"): (PASS, FAIL, WARN)})

    entry = by_case(judge(root, tmp_path / "store", model, concurrency=1))["a"]

    assert model.asked == {("a", "regression"): 3}  # equal runs, and yet each has a verdict of its own
    assert (entry["status"], entry["judge"]["verdict"]) == ("fail", "fail")
    totals = {name: entry["trials"][name] for name in ("passed", "warned", "failed")}
    assert totals == {"passed": 1, "warned": 1, "failed": 1}


OWN_JUDGE = """

from regress_core.judge.contract import RunJudgeResult


def create_judge(context):
    def judge(asked):
        return RunJudgeResult(verdict="warn", summary="our own", findings=[])

    return judge
"""


def test_an_applications_judge_takes_the_place_of_ours(tmp_path: Path) -> None:
    config = judged_suite(RUBRIC)
    root = write_candidate_suite(
        tmp_path / "suite", {"a": "same"}, config=config, adapter=ADAPTER + OWN_JUDGE
    )
    model = JudgeModel()

    entry = by_case(judge(root, tmp_path / "store", model))["a"]

    assert model.asked == {("a", "rubric"): 1}
    assert (entry["status"], entry["reasons"]) == ("warn", ["judge: our own"])
    assert [(one["judge"], one.get("model")) for one in entry["judging"]] == [
        ("regression", None),
        ("rubric", MODEL),
    ]


def test_two_regression_judges_are_one_too_many(tmp_path: Path) -> None:
    config = judged_suite(judge="regression: {input_mode: arguments}")
    root = write_candidate_suite(
        tmp_path / "suite", {"a": "same"}, config=config, adapter=ADAPTER + OWN_JUDGE
    )

    with pytest.raises(InputError, match=r"judge\.regression: the adapter's create_judge gives"):
        judge(root, tmp_path / "store", JudgeModel())
