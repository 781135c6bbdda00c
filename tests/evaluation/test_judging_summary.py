"""What the judges come to over all cases: summary, gate, outputs, history; they ask a scripted model."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from regress_core.errors import InputError
from regress_core.history.calibrations import keep_calibrations
from regress_core.history.sql import query
from regress_core.history.store import History
from regress_core.history.tables import TableName
from regress_core.judge.axes import AXES_PROMPT_VERSION
from regress_core.judge.contract import Status
from regress_core.judge.instructions import REGRESSION_PROMPT_VERSION
from regress_core.judge.rubric import RUBRIC_PROMPT_VERSION
from regress_core.models.client import ModelError
from regress_core.records.json_io import JsonObject
from regress_core.stats.calibration import JudgeVersion, LabelledVerdict, calibrate
from regress_core.suite.gate import ExitCode, FailOn, exit_code
from tests.evaluation.judging import judge
from tests.evaluation.support import by_case
from tests.support.candidates import Does, write_candidate_suite
from tests.support.judges import (
    COST_USD,
    MODEL,
    RUBRIC,
    Asked,
    JudgeModel,
    Replies,
    grades,
    judged_suite,
    scores,
    verdict,
)
from tests.support.suites import as_json, tree, write_suite

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DOWN = ModelError("connection", "refused", never_sent=True)
CHECK = "assertions: [{id: asks, kind: tool_called, tool: find_order}]"
EXPECTATION = "expectation: {intent: be brief}"
REPLIES: dict[Asked, Replies] = {
    ("a", "regression"): verdict("pass", summary="as good"),
    ("a", "axes"): scores(4, 5, 3.5),
    ("b", "regression"): verdict("warn", summary="a bit curt"),
    ("b", "rubric"): grades(calm=False),
    ("b", "axes"): scores(3, 3, 3),
    ("c", "rubric"): DOWN,
    ("c", "axes"): "I cannot evaluate this.",
}
"""Of `d` there is no candidate."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with suite, store, out and summary.json of one evaluation by all three judges."""
    place = tmp_path_factory.mktemp("judged")
    root = write_suite(
        place / "suite",
        {"a": "same", "b": "same", "c": "same", "d": "missing"},
        config=judged_suite(RUBRIC, CHECK, EXPECTATION, judge="axes: true"),
    )
    judge(root, place / "store", JudgeModel(REPLIES), out=place / "out")
    return place


def read(path: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def summary(place: Path) -> JsonObject:
    return read(place / "out" / "summary.json")


def test_what_each_judge_came_to(summary: JsonObject) -> None:
    nothing = {"errors": 0, "skipped": 0, "leftOut": 0, "cached": 0}

    assert summary["judges"] == [
        nothing
        | {
            "judge": "regression",
            "model": MODEL,
            "promptVersion": REGRESSION_PROMPT_VERSION,
            "verdicts": 3,
            "agreement": None,
        },
        nothing
        | {
            "judge": "rubric",
            "model": MODEL,
            "promptVersion": RUBRIC_PROMPT_VERSION,
            "verdicts": 2,
            "skipped": 1,
            "agreement": None,
        },
        nothing
        | {
            "judge": "axes",
            "model": MODEL,
            "promptVersion": AXES_PROMPT_VERSION,
            "verdicts": 2,
            "errors": 1,
            "agreement": None,
        },
    ]


def test_the_scores_are_over_the_cases_that_have_some(summary: JsonObject) -> None:
    """J6, J10: c and d are in no mean. (3.5 + 4 + 3.25) / 3 = 3.5833…"""
    assert summary["axes"] == {
        "total": 2,
        "passed": 2,
        "failed": 0,
        "compositeScore": 3.58,
        "axisBreakdown": {"accuracy": 3.5, "tone": 4, "format": 3.25},
        "notJudged": 2,
    }


def test_what_it_cost(summary: JsonObject) -> None:
    """Eight replies, verdicts or not; a request that never left costs nothing."""
    cost = summary["cost"]

    by_judge = cost.pop("byJudge")
    assert by_judge == {
        "regression": pytest.approx(3 * COST_USD),
        "rubric": pytest.approx(2 * COST_USD),
        "axes": pytest.approx(3 * COST_USD),
    }
    assert cost == {
        "candidateUsd": 0,
        "judgeUsd": pytest.approx(8 * COST_USD),
        "candidateCapUsd": None,
        "judgeCapUsd": 2,
        "savedByCacheUsd": 0,
        "skippedByCap": 0,
    }


def test_the_gate_names_the_judge_that_could_not_be_asked(summary: JsonObject) -> None:
    assert summary["gate"] == {
        "status": "warn",
        "reasons": [
            "2 of 4 cases warned",
            "1 of 4 cases inconclusive",
            "rubric judge unavailable on 1 of 4 cases: provider unreachable: refused (1 attempt)",
        ],
    }


def test_the_files_of_the_judges(place: Path) -> None:
    folder = place / "out" / "judges"
    a = read(folder / "a.judge.json")
    common: JsonObject = {
        "state": "verdict",
        "model": MODEL,
        "cached": False,
        "calls": 1,
        "costUsd": COST_USD,
        "advisory": True,
    }

    assert set(tree(folder)) == {"a.judge.json", "b.judge.json", "c.judge.json"}
    assert [len(a.pop("evidenceHash")), *(len(a[one].pop("evidenceHash")) for one in ("rubric", "axes"))] == [
        64,
        64,
        64,
    ]
    rubric, axes = a.pop("rubric"), a.pop("axes")
    assert len(rubric["dimensions"][0].pop("dimensionHash")) == 64
    assert a == common | {
        "judge": "regression",
        "flags": [],
        "verdict": "pass",
        "summary": "as good",
        "findings": [],
        "judgeModel": MODEL,
        "judgePromptVersion": REGRESSION_PROMPT_VERSION,
        "promptVersion": REGRESSION_PROMPT_VERSION,
        "inputMode": "bounded",
    }
    assert rubric == common | {
        "judge": "rubric",
        "flags": [],
        "promptVersion": RUBRIC_PROMPT_VERSION,
        "inputMode": "transcript",
        "dimensions": [
            {
                "dimensionId": "calm",
                "passed": True,
                "reason": "calm is what it is",
                "judgeModel": MODEL,
                "judgeTokensUsed": {"input": 100, "output": 20},
            }
        ],
    }
    assert axes == common | {
        "judge": "axes",
        "promptVersion": AXES_PROMPT_VERSION,
        "inputMode": "answer",
        "reasoning": "as it is",
        "axes": [
            {"axis": "accuracy", "score": 4},
            {"axis": "tone", "score": 5},
            {"axis": "format", "score": 3.5},
        ],
    }


def test_the_results_hold_checks_and_verdicts(place: Path) -> None:
    a, c = (read(place / "out" / "results" / f"{case}.result.json") for case in ("a", "c"))

    assert [(check["checkId"], check["kind"], check["outcome"]) for check in a["checks"]] == [
        ("asks", "tool_called", "pass")
    ]
    assert (a["judge"]["verdict"], a["rubric"]["state"], a["axes"]["state"]) == ("pass", "verdict", "verdict")
    assert (c["judge"]["verdict"], c["rubric"]["state"], c["axes"]["state"]) == ("pass", "skipped", "error")
    assert "dimensions" not in c["rubric"]
    assert "axes" not in c["axes"]


def rows(store: Path, table: TableName, *columns: str) -> list[tuple[Any, ...]]:
    found = History.open(store).table(table).to_pylist()
    return sorted(tuple(row[column] for column in columns) for row in found)


def test_the_history_has_a_row_a_call(place: Path) -> None:
    columns = ("case_id", "judge", "state", "input_tokens", "output_tokens", "cost_usd")
    paid = ("settled", 100, 20, COST_USD)

    assert rows(place / "store", "judge_calls", *columns) == [
        ("a", "axes", *paid),
        ("a", "regression", *paid),
        ("a", "rubric", *paid),
        ("b", "axes", *paid),
        ("b", "regression", *paid),
        ("b", "rubric", *paid),
        ("c", "axes", *paid),
        ("c", "regression", *paid),
        ("c", "rubric", "unbilled", None, None, 0),
    ]
    (call,) = [
        row
        for row in History.open(place / "store").table("judge_calls").to_pylist()
        if (row["case_id"], row["judge"]) == ("b", "regression")
    ]
    names = ("number", "trial", "revision", "model", "prompt_version", "error", "reply", "saved_usd")
    assert [call[name] for name in names] == [
        1,
        1,
        1,
        MODEL,
        REGRESSION_PROMPT_VERSION,
        None,
        REPLIES["b", "regression"],
        0,
    ]


def test_the_history_has_a_row_a_judge(place: Path) -> None:
    columns = ("case_id", "judge", "state", "verdict", "trouble_kind", "calls")

    found = rows(place / "store", "judge_results", *columns)

    assert found == [
        ("a", "axes", "verdict", None, None, 1),
        ("a", "regression", "verdict", "pass", None, 1),
        ("a", "rubric", "verdict", None, None, 1),
        ("b", "axes", "verdict", None, None, 1),
        ("b", "regression", "verdict", "warn", None, 1),
        ("b", "rubric", "verdict", None, None, 1),
        ("c", "axes", "error", None, None, 1),
        ("c", "regression", "verdict", "pass", None, 1),
        ("c", "rubric", "skipped", None, "outage", 1),
    ]
    (expectation,) = set(
        rows(place / "store", "judge_results", "expectation_json", "expectation_sha256", "judge_model")
    )
    assert json.loads(expectation[0]) == {"intent": "be brief"}
    assert expectation[1:] == (hashlib.sha256(expectation[0].encode()).hexdigest(), MODEL)


def test_the_history_has_a_row_a_dimension_and_a_check(place: Path) -> None:
    columns = ("case_id", "judge", "dimension", "passed", "score", "judged_score", "decision")

    assert rows(place / "store", "judge_dimensions", *columns) == [
        ("a", "axes", "accuracy", None, 4, 4, None),
        ("a", "axes", "format", None, 3.5, 3.5, None),
        ("a", "axes", "tone", None, 5, 5, None),
        ("a", "rubric", "calm", True, None, None, None),
        ("b", "axes", "accuracy", None, 3, 3, None),
        ("b", "axes", "format", None, 3, 3, None),
        ("b", "axes", "tone", None, 3, 3, None),
        ("b", "rubric", "calm", False, None, None, "logged"),
    ]
    assert rows(place / "store", "check_results", "case_id", "check_id", "kind", "outcome") == [
        (case, "asks", "tool_called", "pass") for case in ("a", "b", "c")
    ]


def test_the_evaluation_keeps_scores_thresholds_and_cost(place: Path) -> None:
    (row,) = History.open(place / "store").table("evaluations").to_pylist()

    names = ("axes_judged", "composite_score", "composite_warn", "composite_block", "axis_minimum")
    assert [row[name] for name in names] == [2, 3.58, 3.5, 3, 2]
    assert (row["judge_usd"], row["cost_usd"]) == (pytest.approx(8 * COST_USD),) * 2
    assert (row["candidate_usd"], row["saved_by_cache_usd"], row["skipped_by_cap"]) == (0, 0, 0)


def test_what_fell_below_a_threshold_is_a_view(tmp_path: Path) -> None:
    config = judged_suite(judge="regression: false, axes: true")
    root = write_suite(tmp_path / "suite", {"a": "same", "b": "same"}, config=config)
    judge(
        root, tmp_path / "store", JudgeModel({("a", "axes"): scores(1, 2, 3), ("b", "axes"): scores(4, 4, 2)})
    )

    sql = "SELECT threshold, limit_value, value, case_id, axis FROM threshold_violations"
    found = query(History.open(tmp_path / "store"), sql).table.to_pylist()

    # (2.5 + 3 + 2.5) / 3 = 2.666…
    assert sorted(tuple(row.values()) for row in found) == [
        ("axis_minimum", 2, 1, "a", "accuracy"),
        ("composite_block", 3, 2.67, None, None),
    ]


@pytest.mark.parametrize(
    ("score", "gate", "status", "said"),
    [
        pytest.param(3.5, "", "pass", [], id="at the first threshold"),
        pytest.param(3.49, "", "warn", ["composite score 3.49 of 1 cases is below 3.5"], id="below it"),
        pytest.param(3, "", "warn", ["composite score 3.00 of 1 cases is below 3.5"], id="at the second"),
        pytest.param(2.99, "", "fail", ["composite score 2.99 of 1 cases is below 3"], id="below that"),
        pytest.param(
            2.99,
            "fail_on_threshold_breach: false",
            "warn",
            ["composite score 2.99 of 1 cases is below 3"],
            id="where it only warns",
        ),
        pytest.param(
            3.79,
            "composite_block: 3.8, composite_warn: 4.2",
            "fail",
            ["composite score 3.79 of 1 cases is below 3.8"],
            id="a stricter suite",
        ),
    ],
)
def test_the_composite_score_is_the_gates_affair(
    tmp_path: Path, score: float, gate: str, status: Status, said: list[str]
) -> None:
    config = judged_suite(f"gate: {{{gate}}}", judge="regression: false, axes: true")
    root = write_suite(tmp_path / "suite", {"a": "same"}, config=config)

    summary = judge(root, tmp_path / "store", JudgeModel({("a", "axes"): scores(score, score, score)}))

    assert summary.gate is not None
    assert (summary.gate.status, summary.gate.reasons) == (status, said)
    assert summary.status == "pass"  # as the reference has it, the worst case's


def test_without_a_judgement_there_is_no_score(tmp_path: Path) -> None:
    """J6: never a 0."""
    config = judged_suite(judge="regression: false, axes: true")
    root = write_suite(tmp_path / "suite", {"a": "same"}, config=config)

    summary = as_json(judge(root, tmp_path / "store", JudgeModel({("a", "axes"): "no idea"})))

    assert summary["axes"] == {
        "total": 0,
        "passed": 0,
        "failed": 0,
        "compositeScore": None,
        "axisBreakdown": {},
        "notJudged": 1,
    }
    assert summary["gate"] == {"status": "warn", "reasons": ["1 of 1 cases warned"]}
    (row,) = History.open(tmp_path / "store").table("evaluations").to_pylist()
    assert (row["axes_judged"], row["composite_score"]) == (0, None)


def test_no_judge_at_all(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", {"a": "same"})

    summary = as_json(judge(root, tmp_path / "store", JudgeModel()))

    assert summary.keys().isdisjoint({"judges", "axes", "warnings"})
    assert summary["cost"]["judgeCapUsd"] is None
    assert "judging" not in summary["cases"][0]


def test_a_judge_is_calibrated_in_the_words_it_was_calibrated_with(tmp_path: Path) -> None:
    """H73."""
    root = write_suite(tmp_path / "suite", {"a": "same"}, config=judged_suite())
    version = JudgeVersion("regression", MODEL, REGRESSION_PROMPT_VERSION)
    labels = [LabelledVerdict(f"i{n}", version, predicted=True, actual=n > 0) for n in range(4)]
    history = History.open(tmp_path / "store")
    keep_calibrations(history, calibrate(labels), calibration_id="c1", source="labels.csv", now=NOW)

    first = judge(root, tmp_path / "store", JudgeModel())
    (root / "harsh.md").write_text("Be harsh.", encoding="utf-8")
    config = judged_suite(judge="regression: {instructions: harsh.md}")
    (root / "suite.yaml").write_text(config, encoding="utf-8")
    second = judge(root, tmp_path / "store", JudgeModel())

    assert [one.agreement for one in (*first.judges, *second.judges)] == [0.75, None]


TIGHT = "{input: 0.0, output: 10.0}"
"""A call may cost $0.001, for the 100 tokens that it may answer, and costs $0.0002."""
TIGHT_JUDGE = "max_output_tokens: 100, cap_usd: 0.002"


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_the_cap_holds_and_what_fits_does_not_depend_on_concurrency(tmp_path: Path, concurrency: int) -> None:
    """Five settled calls and a reservation are just the cap, six are more: six are made."""
    cases = [f"case-{number}" for number in range(10)]
    config = judged_suite(judge=TIGHT_JUDGE, price=TIGHT)
    root = write_suite(tmp_path / "suite", dict.fromkeys(cases, "same"), config=config)
    model = JudgeModel()

    summary = judge(root, tmp_path / "store", model, concurrency=concurrency)

    assert len(model.requests) == 6
    assert summary.cost is not None
    assert (summary.cost.skipped_by_cap, summary.cost.judge_usd) == (4, pytest.approx(0.0012))
    skipped = [case for case in summary.cases if case.status == "warn"]
    assert len(skipped) == 4
    for case in skipped:
        (reason,) = case.reasons
        assert reason.startswith("judge: not asked: cost cap exceeded: $0.0012 of $0.002 is spent")
    codes: dict[FailOn, ExitCode] = {"fail": ExitCode.NOTHING_KNOWN, "never": ExitCode.OK}
    assert {fail_on: exit_code(summary, fail_on=fail_on, allow_empty=False) for fail_on in codes} == codes


def test_what_the_cap_keeps_from_any_trial_is_told(tmp_path: Path) -> None:
    """The first trial warns as well, and counts; the second one was not judged."""
    config = judged_suite("trials: 2", judge="max_output_tokens: 100, cap_usd: 0.001", price=TIGHT)
    root = write_candidate_suite(tmp_path / "suite", {"a": ["same", "same"]}, config=config)

    summary = judge(
        root, tmp_path / "store", JudgeModel({("a", "regression"): verdict("warn")}), concurrency=1
    )

    entry = by_case(summary)["a"]
    assert (entry["status"], entry["trials"]["counted"], entry["judge"]["verdict"]) == ("warn", 1, "warn")
    assert [(one["trial"], one["state"], one.get("trouble")) for one in entry["judging"]] == [
        (1, "verdict", None),
        (2, "skipped", "cap"),
    ]
    (judged,) = summary.judges
    assert (judged.verdicts, judged.skipped) == (1, 1)
    assert summary.cost is not None
    assert summary.cost.skipped_by_cap == 1
    assert exit_code(summary, fail_on="fail", allow_empty=False) == ExitCode.NOTHING_KNOWN


def test_an_unknown_price_is_over_any_cap(tmp_path: Path) -> None:
    config = f'name: shop\njudge: {{model: "{MODEL}"}}\n'
    root = write_suite(tmp_path / "suite", {"a": "same"}, config=config)
    model = JudgeModel()

    summary = judge(root, tmp_path / "store", model)

    assert model.requests == []
    (reason,) = summary.cases[0].reasons
    assert f"the price of {MODEL} is not known; state it as `price`" in reason
    assert exit_code(summary, fail_on="fail", allow_empty=False) == ExitCode.NOTHING_KNOWN


OVERRIDE = {
    "caseId": "a",
    "reason": "known",
    "owner": "ann",
    "expires": "2999-12-31",
    "createdAt": "2026-01-01T00:00:00+00:00",
}


def test_an_override_takes_a_verdict_out_of_the_gate(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", {"a": "same", "b": "same"}, config=judged_suite())
    (root / "overrides.jsonl").write_text(json.dumps(OVERRIDE) + "\n", encoding="utf-8")

    summary = judge(root, tmp_path / "store", JudgeModel({("a", "regression"): verdict("fail")}))

    assert (summary.status, summary.gate and summary.gate.status) == ("fail", "pass")
    assert exit_code(summary, fail_on="fail", allow_empty=False) == ExitCode.OK


THREE: list[Does] = ["same", "same", "same"]


def test_a_case_is_counted_once_however_many_of_its_trials_went_without_a_judge(tmp_path: Path) -> None:
    config = judged_suite("trials: 3", judge="cap_usd: 0", price=TIGHT)
    root = write_candidate_suite(tmp_path / "suite", {"a": THREE}, config=config)

    summary = judge(root, tmp_path / "store", JudgeModel())

    assert summary.gate is not None
    (reason,) = [one for one in summary.gate.reasons if "unavailable" in one]
    assert reason.startswith("regression judge unavailable on 1 of 1 cases: cost cap exceeded: ")


def test_what_all_trials_of_a_case_cost_is_told(tmp_path: Path) -> None:
    root = write_candidate_suite(tmp_path / "suite", {"a": THREE}, config=judged_suite("trials: 3"))

    summary = judge(root, tmp_path / "store", JudgeModel())

    (entry,) = summary.cases
    assert [(one.trial, one.cost_usd) for one in entry.judging] == [
        (number, pytest.approx(COST_USD)) for number in (1, 2, 3)
    ]


def test_an_override_takes_scores_out_of_the_gate(tmp_path: Path) -> None:
    config = judged_suite("gate: {composite_block: 3.5}", judge="regression: false, axes: true")
    root = write_suite(tmp_path / "suite", {"a": "same", "b": "same"}, config=config)
    (root / "overrides.jsonl").write_text(json.dumps(OVERRIDE) + "\n", encoding="utf-8")

    summary = judge(root, tmp_path / "store", JudgeModel({("a", "axes"): scores(1, 1, 1)}))

    assert summary.axes is not None
    assert (summary.axes.total, summary.axes.composite_score) == (1, 5.0)
    assert summary.gate is not None
    assert summary.gate.status == "pass"


@pytest.mark.parametrize("key", ["n", "model", "extra_body", "extra_headers", "stream", "timeout"])
def test_nothing_else_is_asked_than_what_is_reserved_for(tmp_path: Path, key: str) -> None:
    config = judged_suite(judge=f"settings: {{{key}: 5}}")
    root = write_suite(tmp_path / "suite", {"a": "same"}, config=config)

    with pytest.raises(InputError, match=rf"suite.yaml: \$.judge.settings: {key} is not set here"):
        judge(root, tmp_path / "store", JudgeModel())
