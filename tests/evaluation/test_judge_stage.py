"""The application's judge: what it sees, what its verdict makes of a case, and where that is kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from regress_core.history.store import History
from regress_core.records.json_io import JsonObject
from tests.evaluation.support import by_case, evaluated, rows_by_case
from tests.support.candidates import ADAPTER, HARNESS, Does, recorded, write_candidate_suite
from tests.support.suites import tree, write_record

JUDGE = """

import asyncio

from regress_core.judge.contract import RunJudgeFinding, RunJudgeResult
from regress_core.records.json_io import dumps_text


def create_judge(context):
    {maybe_async}def judge(asked):
        case = asked.baseline.question.split()[-1].rstrip("?")
        seen = {{
            "baseline": asked.baseline.data,
            "candidate": asked.candidate.data,
            "comparison": asked.comparison.to_json(),
            "expectation": asked.expectation and asked.expectation.to_json(),
            "baselineDescriptor": asked.baseline_descriptor,
            "candidateDescriptor": asked.candidate_descriptor,
        }}
        (HERE / f"seen-{{case}}.json").write_text(dumps_text(seen), encoding="utf-8")
        word = json.loads((HERE / "judge.json").read_text(encoding="utf-8"))[case]
        if word == "raises":
            raise ValueError("no\\nverdict")
        if word == "exits":
            raise SystemExit(0)
        if word == "cancels":
            raise asyncio.CancelledError
        if word == "nonsense":
            return {{"verdict": "pass", "summary": "fine", "findings": []}}
        if word == "nothing":
            return None
        return RunJudgeResult(
            verdict=word,
            summary="the tone",
            findings=[RunJudgeFinding(severity="warn", reason="curt", evidence="On its way.")],
            score=0.5,
            judge_model="m-judge",
            judge_prompt_version="p1",
        )

    return judge
"""

JUDGING = ADAPTER + JUDGE.format(maybe_async="")


@dataclass(frozen=True)
class Judged:
    """What the candidate does, what the judge says, and what the case comes to."""

    does: Does
    says: str
    status: str
    reasons: Sequence[str]
    """How each reason begins."""
    asked: bool = True


CASES = {
    "pass": Judged("same", "pass", "pass", []),
    "warn": Judged("same", "warn", "warn", ["judge: the tone"]),
    "fail": Judged("same", "fail", "fail", ["judge: the tone"]),
    "a-pass-clears-no-signal": Judged("reworded", "pass", "warn", ["finalOutputChanged: "]),
    "worse-than-the-signal": Judged("reworded", "fail", "fail", ["judge: the tone", "finalOutputChanged: "]),
    "as-bad-as-the-signal": Judged("reworded", "warn", "warn", ["finalOutputChanged: ", "judge: the tone"]),
    "raises": Judged("same", "raises", "warn", ["judge: no verdict: ValueError: no verdict"]),
    "raises-beside-a-signal": Judged(
        "reworded", "raises", "warn", ["finalOutputChanged: ", "judge: no verdict: ValueError: no verdict"]
    ),
    "exits": Judged("same", "exits", "warn", ["judge: no verdict: SystemExit: 0"]),
    "cancels": Judged("same", "cancels", "warn", ["judge: no verdict: CancelledError"]),
    "nonsense": Judged(
        "same", "nonsense", "warn", ["judge: no verdict: the judge gave dict, not RunJudgeResult"]
    ),
    "nothing": Judged(
        "same", "nothing", "warn", ["judge: no verdict: the judge gave NoneType, not RunJudgeResult"]
    ),
    "the-candidate-fails": Judged("raises", "pass", "fail", ["candidate failed: "], asked=False),
    "it-strays": Judged("strays", "pass", "fail", ["diverged: "], asked=False),
    "it-is-down": Judged("down", "pass", "warn", ["the provider is down"], asked=False),
}


JUDGED = {*CASES} - {"it-is-down"}
"""Those of which is known what became of the judge: it was asked, or left out, as the case had failed."""


def with_judge(root: Path, cases: dict[str, Judged], adapter: str = JUDGING, config: str = "") -> Path:
    write_candidate_suite(
        root,
        {name: case.does for name, case in cases.items()},
        adapter=adapter,
        config=f"name: shop\n{config}",
    )
    says = {name: case.says for name, case in cases.items()}
    (root / "judge.json").write_text(json.dumps(says), encoding="utf-8")
    return root


def read(path: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=["", "async "], ids=["sync", "async"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with suite, store and out of one evaluation of `CASES`."""
    place = tmp_path_factory.mktemp("judged")
    adapter = ADAPTER + JUDGE.format(maybe_async=request.param)
    evaluated(with_judge(place / "suite", CASES, adapter), place / "store", out=place / "out")
    return place


@pytest.mark.parametrize("name", CASES)
def test_what_a_verdict_makes_of_a_case(place: Path, name: str) -> None:
    case = CASES[name]

    (entry,) = [entry for entry in read(place / "out" / "summary.json")["cases"] if entry["caseId"] == name]

    assert entry["status"] == case.status
    assert len(entry["reasons"]) == len(case.reasons)
    for reason, beginning in zip(entry["reasons"], case.reasons, strict=True):
        assert reason.startswith(beginning)
    verdict = case.says if case.asked and case.says in ("pass", "warn", "fail") else None
    assert entry.get("judge") == (verdict and {"verdict": verdict, "summary": "the tone"})
    assert (place / "suite" / f"seen-{name}.json").exists() == case.asked


VERDICT: JsonObject = {
    "summary": "the tone",
    "findings": [{"severity": "warn", "reason": "curt", "evidence": "On its way."}],
    "score": 0.5,
    "judgeModel": "m-judge",
    "judgePromptVersion": "p1",
    "judge": "regression",
    "state": "verdict",
    "flags": [],
    "advisory": True,
}


def test_the_files_are_the_rfcs_results_of_a_judge(place: Path) -> None:
    folder = place / "out" / "judges"

    assert set(tree(folder)) == {f"{name}.judge.json" for name in JUDGED}
    for name in ("pass", "warn", "fail"):
        judged = read(folder / f"{name}.judge.json")
        assert judged == VERDICT | {"verdict": name}
        assert read(place / "out" / "results" / f"{name}.result.json")["judge"] == judged


@pytest.mark.parametrize("name", ["raises", "nonsense"])
def test_without_a_verdict_the_file_says_why_and_the_result_has_none(place: Path, name: str) -> None:
    (reason,) = CASES[name].reasons
    judged = read(place / "out" / "judges" / f"{name}.judge.json")

    assert judged.pop("reason").replace("\n", " ") == reason.removeprefix("judge: no verdict: ")
    assert judged == {"judge": "regression", "state": "error", "advisory": True}
    assert "judge" not in read(place / "out" / "results" / f"{name}.result.json")


def test_the_history_has_a_row_a_verdict(place: Path) -> None:
    found = rows_by_case(place / "store", "judge_results")

    assert found.keys() == JUDGED
    row = found["warn"]
    names = ("judge", "state", "reason", "verdict", "summary", "score", "findings")
    assert [row[name] for name in names] == ["regression", "verdict", None, "warn", "the tone", 0.5, 1]
    names = ("judge_model", "judge_prompt_version", "advisory", "trial", "revision")
    assert [row[name] for name in names] == ["m-judge", "p1", True, 1, 1]
    row = found["raises"]
    names = ("state", "reason", "verdict", "summary", "score", "findings", "advisory")
    assert [row[name] for name in names] == ["error", "ValueError: no\nverdict", *[None] * 4, True]
    row = found["the-candidate-fails"]
    assert [row[name] for name in names] == ["skipped", "the candidate failed", *[None] * 4, True]


def test_the_verdict_is_a_column_of_the_case(place: Path) -> None:
    found = rows_by_case(place / "store", "case_results")

    assert {name: row["judge_verdict"] for name, row in found.items()} == {
        name: case.says if case.asked and case.says in ("pass", "warn", "fail") else None
        for name, case in CASES.items()
    }


def test_the_judge_sees_everything_unredacted(tmp_path: Path) -> None:
    root = tmp_path / "suite"
    with_judge(
        root,
        {"a": Judged("reworded", "pass", "warn", [])},
        config="baseline: old.yaml\nexpectation: {intent: be brief, shouldPreserve: [facts]}\n",
    )
    old = HARNESS.replace('version: "2"', 'version: "1"')
    (root / "old.yaml").write_text(old, encoding="utf-8")
    secret: JsonObject = {"contextSnapshot": {"password": "hunter2"}, "metadata": {"token": "t-1"}}
    write_record(root / "records" / "a.json", recorded("a") | secret)

    evaluated(root, tmp_path / "store", out=tmp_path / "out")

    seen = read(root / "seen-a.json")
    assert seen == {
        "baseline": recorded("a") | secret,
        "candidate": read(tmp_path / "out" / "candidates" / "a.runrecord.json"),
        "comparison": read(tmp_path / "out" / "comparisons" / "a.comparison.json"),
        "expectation": {"intent": "be brief", "shouldPreserve": ["facts"]},
        "baselineDescriptor": yaml.safe_load(old),
        "candidateDescriptor": yaml.safe_load(HARNESS),
    }
    assert seen["candidate"]["contextSnapshot"] == {"password": "hunter2"}


def test_what_is_not_there_is_nothing(tmp_path: Path) -> None:
    root = with_judge(tmp_path / "suite", {"a": Judged("same", "pass", "pass", [])})

    evaluated(root, tmp_path / "store")

    seen = read(root / "seen-a.json")
    assert (seen["expectation"], seen["baselineDescriptor"]) == (None, None)


def test_judging_changes_no_file_of_the_suite(tmp_path: Path) -> None:
    """Invariant 7; `seen` is this judge's own, log.txt this candidate's."""
    root = with_judge(tmp_path / "suite", {"a": Judged("same", "fail", "fail", [])})
    before = tree(root)

    evaluated(root, tmp_path / "store")

    own = ("seen-a.json", "log.txt", "__pycache__")
    after = {name: data for name, data in tree(root).items() if not name.startswith(own)}
    assert after == before


def test_each_trial_is_judged(tmp_path: Path) -> None:
    does: list[Does] = ["same", "reworded", "same"]
    root = write_candidate_suite(
        tmp_path / "suite", {"a": does}, adapter=JUDGING, config="name: shop\ntrials: 3\n"
    )
    (root / "judge.json").write_text('{"a": "pass"}', encoding="utf-8")

    case = by_case(evaluated(root, tmp_path / "store", out=tmp_path / "out"))["a"]

    assert case["trials"]["counted"] == 2
    assert set(tree(tmp_path / "out" / "judges")) == {"a.judge.json", "a~1.judge.json", "a~3.judge.json"}
    rows = History.open(tmp_path / "store").table("judge_results").to_pylist()
    assert [(row["trial"], row["verdict"]) for row in rows] == [(1, "pass"), (2, "pass"), (3, "pass")]
