"""`regress run` with a candidate harness: the RFC's command line, a suite folder, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Command, Here, evaluations_in
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
    write_script,
)
from tests.support.records import message
from tests.support.suites import tree, write_record, write_records

RFC_LINE = (
    "run",
    *("--records", "./baseline/runrecords"),
    *("--baseline", "./baseline/harness.yaml"),
    *("--candidate", "./candidate/harness.yaml"),
    *("--expectation", "./expectation.yaml"),
    *("--adapter", "./adapter.py"),
    *("--out", "./out"),
)

JUDGE = """

from regress_core.judge.contract import RunJudgeResult


def create_judge(context):
    def judge(asked):
        versions = [d["metadata"]["version"] for d in (asked.baseline_descriptor, asked.candidate_descriptor)]
        summary = f"{asked.expectation.intent}, from {versions[0]} to {versions[1]}"
        return RunJudgeResult(verdict="pass", summary=summary, findings=[])

    return judge
"""


def read(path: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The RFC's layout in a folder `shop`: one case that stays the same, one that is reworded."""
    root = tmp_path / "shop"
    does: dict[str, Does] = {"a": "same", "b": "reworded"}
    write_records(root / "baseline" / "runrecords", {case: recorded(case) for case in does})
    for name, text in {
        "baseline/harness.yaml": HARNESS.replace('version: "2"', 'version: "1"'),
        "candidate/harness.yaml": HARNESS,
        "expectation.yaml": "intent: be brief\nshouldUseTools: [find_order]\n",
        "adapter.py": ADAPTER + JUDGE,
    }.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    write_script(root, does)
    return root


def test_the_rfcs_command_line(regress: Command, shop: Path) -> None:
    result = regress(*RFC_LINE, "--mode", "live", folder=shop)

    assert (result.code, result.err.count("Traceback")) == (0, 0), result.err
    assert set(tree(shop / "out")) == {"summary.json"} | {
        f"{folder}/{case}.{kind}.json"
        for folder, kind in (
            ("candidates", "runrecord"),
            ("comparisons", "comparison"),
            ("judges", "judge"),
            ("results", "result"),
        )
        for case in "ab"
    }
    summary = read(shop / "out" / "summary.json")
    assert (summary["suite"], summary["status"], summary["candidate"]["label"]) == ("shop", "warn", LABEL)
    assert summary["totals"] == {"cases": 2, "passed": 1, "warned": 1, "failed": 0, "inconclusive": 0}
    judge = {"verdict": "pass", "summary": "be brief, from 1 to 2"}
    assert [case["judge"] for case in summary["cases"]] == [judge, judge]
    outcome = read(shop / "out" / "results" / "a.result.json")
    assert outcome["expectation"] == {"intent": "be brief", "shouldUseTools": ["find_order"]}
    assert tools_run(shop) == ["find_order a", "find_order b"]


@pytest.mark.parametrize(
    ("options", "code", "tools", "source"),
    [
        pytest.param((), 0, 0, "inputItemCount", id="strict by default"),
        pytest.param(("--mode", "strict"), 0, 0, "inputItemCount", id="strict"),
        pytest.param(("--mode", "hybrid"), 0, 0, "inputItemCount", id="hybrid"),
        pytest.param(("--mode", "live"), 0, 2, "inputItemCount", id="live"),
        pytest.param(("--input-mode", "recorded"), 0, 0, "inputItemCount", id="recorded"),
        pytest.param(("--input-mode", "question"), 0, 0, "question", id="question"),
        pytest.param(("--fail-on", "warn"), 1, 0, "inputItemCount", id="fail on warn"),
        pytest.param(("--fail-on", "never"), 0, 0, "inputItemCount", id="never fail"),
    ],
)
def test_the_rfcs_options(
    here: Here, shop: Path, options: Sequence[str], code: int, tools: int, source: str
) -> None:
    result = here(*RFC_LINE, *options, folder=shop)

    assert result.code == code, result.err
    assert len(tools_run(shop)) == tools
    assert read(shop / "out" / "results" / "a.result.json")["replayStats"]["inputSource"] == source


@pytest.mark.parametrize("command", [("run", "--dry-run"), ("validate",)], ids=" ".join)
def test_a_dry_run_runs_nothing(here: Here, shop: Path, command: Sequence[str]) -> None:
    before = tree(shop)
    line = RFC_LINE[1:] if command[0] == "run" else RFC_LINE[1:-2]  # validate writes nothing, so has no --out

    result = here(*command, *line, "--mode", "live", folder=shop)

    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        "suite shop: 2 cases",
        f"candidate {LABEL}: a harness; live, recorded input",
        "all inputs are valid",
    ]
    after = {name: data for name, data in tree(shop).items() if not name.startswith("__pycache__/")}
    assert after == before
    assert not (shop / ".regress").exists()


def test_a_dry_run_builds_the_candidate(here: Here, shop: Path) -> None:
    text = HARNESS.replace("app://cancel_order", "app://gone")
    (shop / "candidate" / "harness.yaml").write_text(text, encoding="utf-8")

    fault = here(*RFC_LINE, "--dry-run", folder=shop).fault

    assert 'candidate/harness.yaml: Harness registry is missing target "app://gone"' in fault


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_candidate_suite(tmp_path / "suite", {"a": "same", "b": "same"})


def test_a_suite_with_a_case_of_every_kind(regress: Command, tmp_path: Path) -> None:
    root = write_candidate_suite(tmp_path / "suite", EVERYTHING)

    result = regress("run", "suite", "--json", "--out", "out")

    assert result.code == 1
    assert result.json == read(tmp_path / "out" / "summary.json")
    assert result.json["totals"] == {"cases": 6, "passed": 1, "warned": 3, "failed": 2, "inconclusive": 1}
    assert tools_run(root) == []
    query = "SELECT case_id, mode, missing_tool_calls FROM candidate_records WHERE missing_tool_calls > 0"
    assert regress("sql", query, "--json").json == [
        {"case_id": "e-strays", "mode": "strict", "missing_tool_calls": 1}
    ]


def test_trials_of_the_command_line_win(here: Here, suite: Path) -> None:
    (suite / "suite.yaml").write_text("name: shop\ntrials: 3\n", encoding="utf-8")

    result = here("run", "suite", "--trials", "2", "--json")

    assert [case["trials"]["passed"] for case in result.json["cases"]] == [2, 2]
    assert "2 trials" in here("validate", "suite", "--trials", "2").out
    assert "3 trials" in here("validate", "suite").out


@pytest.mark.parametrize(
    ("turn", "answer", "requests"),
    [
        ("1", {"status": "pass", "inconclusive": False, "reasons": []}, 1),
        (
            "2",
            {
                "status": "warn",
                "inconclusive": True,
                "reasons": ["the baseline has 2 turns, so that none is left to run after 2"],
            },
            0,
        ),
    ],
)
def test_from_turn(here: Here, tmp_path: Path, turn: str, answer: dict[str, object], requests: int) -> None:
    root = write_candidate_suite(tmp_path / "suite", {"a": "same"})

    (case,) = here("run", "suite", "--from-turn", turn, "--json").json["cases"]

    assert case.items() >= answer.items()
    assert asked(root) == ["a/1"] * requests


def test_how_it_is_run_is_part_of_the_plan(here: Here, suite: Path) -> None:
    """An evaluation that met trouble is taken up by the same command only."""
    write_script(suite, {"a": "same", "b": "down"})
    first = here("run", "suite", "--json").json["evaluationId"]
    options = (
        (),
        ("--mode", "hybrid"),
        ("--input-mode", "question"),
        ("--trials", "2"),
        ("--from-turn", "1"),
    )

    ids = [here("run", "suite", *option, "--json").json["evaluationId"] for option in options]

    assert ids[0] == first
    assert len(set(ids)) == 5


def test_validate_lists_multi_turn_records(here: Here, suite: Path) -> None:
    record = recorded("b")
    more = [message("And order 8?"), message("It is lost.", "assistant")]
    write_record(suite / "records" / "b.json", record | {"items": [*record["items"], *more]})

    result = here("validate", "suite")

    assert result.code == 0
    assert "1 multi-turn, to be imported with --turns each: b" in result.out.splitlines()
    run = here("run", "suite", "--json")
    assert run.json["cases"][1]["reasons"] == ["multi-turn record: import with --turns each"]
    assert run.code == 0


@pytest.mark.parametrize("name", ["harness.yaml", "adapter.py"])
def test_a_candidate_that_changed_is_not_resumed(here: Here, suite: Path, name: str) -> None:
    write_script(suite, {"a": "same", "b": "down"})
    evaluation_id = here("run", "suite", "--json").json["evaluationId"]
    before = evaluations_in(suite.parent / ".regress")
    assert before == [(evaluation_id, "finished", 1)]
    write_script(suite, {"a": "same", "b": "same"})
    good = (suite / name).read_bytes()
    (suite / name).write_bytes(
        good + b"\nchanged: 1\n" if name == "harness.yaml" else good + b"\n# changed\n"
    )

    fault = here("run", "--resume", evaluation_id).fault

    assert "changed since the evaluation was planned; begin a new evaluation, without --resume" in fault
    assert evaluations_in(suite.parent / ".regress") == before
    (suite / name).write_bytes(good)
    assert here("run", "--resume", evaluation_id).code == 0
    assert evaluations_in(suite.parent / ".regress") == [(evaluation_id, "finished", 2)]


def test_an_adapter_alone(here: Here, tmp_path: Path) -> None:
    """An agent of one's own needs neither descriptor nor candidate.yaml."""
    root = write_candidate_suite(tmp_path / "suite", {"a": "same"})
    (root / "candidate.yaml").unlink()
    (root / "own.py").write_text(
        "def create_harness(context):\n"
        "    async def agent(request):\n"
        "        await request.tools.call('find_order', {'id': request.case_id})\n"
        "        return 'On its way.'\n"
        "    return agent\n",
        encoding="utf-8",
    )

    result = here("run", "suite", "--adapter", "suite/own.py", "--json")

    assert result.code == 0, result.err
    assert result.json["candidate"]["label"].startswith("own@")
    assert result.json["cases"][0]["status"] == "pass"


def test_what_an_adapter_prints_is_not_in_the_way_of_a_script(regress: Command, tmp_path: Path) -> None:
    root = write_candidate_suite(
        tmp_path / "suite",
        {"a": "same"},
        adapter=f"print('imported')\n{ADAPTER}\n\ndef setup(_):\n    print('set up')\n",
    )

    result = regress("run", root, "--json")

    assert result.json["totals"]["passed"] == 1
    assert "imported\nset up\n" in result.err
    assert "imported" not in regress("validate", root).out


@pytest.mark.parametrize(("mode", "warns"), [("strict", False), ("hybrid", True), ("live", True)])
def test_tools_that_get_placeholders_are_warned_of(
    here: Here, tmp_path: Path, mode: str, *, warns: bool
) -> None:
    root = write_candidate_suite(tmp_path / "suite", {"a": "same", "b": "same"})
    record = json.loads((root / "records" / "a.json").read_text(encoding="utf-8"))
    record["metadata"] = {"regress": {"redacted": {"EMAIL": 1}}}
    (root / "records" / "a.json").write_text(json.dumps(record), encoding="utf-8")

    told = here("validate", root, "--mode", mode).err + here("run", root, "--mode", mode).err

    warning = f"warning: 1 of 2 baselines are redacted, and mode {mode} runs tools: "
    assert told.count(warning) == (2 if warns else 0)
