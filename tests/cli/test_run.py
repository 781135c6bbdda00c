"""`regress run` and `regress validate`: what they read, print and write."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import REGRESS, Command, Here, evaluations_in
from tests.support.json_compare import json_difference
from tests.support.suites import (
    MIXED,
    baseline,
    candidate,
    expected_case,
    lasting,
    tree,
    without_reasons,
    write_record,
    write_suite,
)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path / "suite", MIXED)


def statuses(summary: dict[str, Any]) -> dict[str, str]:
    return {case["name"]: case["status"] for case in summary["cases"]}


@pytest.mark.usefixtures("suite")
def test_a_suite_folder(regress: Command, tmp_path: Path) -> None:
    result = regress("run", "suite")

    assert result.code == 1
    for word in ("5 cases", "1 passed", "3 warned", "1 inconclusive", "1 failed", "suite shop", "shop@2"):
        assert word in result.out
    for case in ("b-reworded", "c-failed", "d-missing", "e-other-tool"):
        assert f" {case}\n" in result.out
    assert "a-same" not in result.out
    assert "ModelError" in result.out
    ((evaluation_id, state, revision),) = evaluations_in(tmp_path / ".regress")
    assert (state, revision) == ("finished", 1)
    assert f".regress/outputs/{evaluation_id}" in result.out
    assert (tmp_path / ".regress" / "outputs" / evaluation_id / "summary.json").is_file()
    assert evaluation_id in result.err
    assert "5 of 5 cases done" in result.err


@pytest.mark.usefixtures("suite")
def test_json_is_the_rfc_s_summary(regress: Command) -> None:
    result = regress("run", "suite", "--json", "--out", "out")

    summary = result.json
    assert list(summary)[:4] == ["suite", "status", "totals", "cases"]
    assert summary["suite"] == "shop"
    assert summary["status"] == "fail"
    assert summary["totals"] == {"cases": 5, "passed": 1, "warned": 3, "failed": 1, "inconclusive": 1}
    assert summary["gate"]["status"] == "fail"
    assert [without_reasons(case) for case in summary["cases"]] == [
        expected_case(case, kind) for case, kind in MIXED.items()
    ]
    written = json.loads((regress.folder / "out" / "summary.json").read_text(encoding="utf-8"))
    assert json_difference(summary, written) is None


def test_records_and_candidate_records(regress: Command, suite: Path) -> None:
    (regress.folder / "expectation.yaml").write_text("intent: shorter\n", encoding="utf-8")
    result = regress(
        "run",
        *("--records", suite / "records"),
        *("--candidate-records", suite / "new"),
        *("--expectation", "expectation.yaml"),
        *("--name", "my-suite"),
        *("--out", "out"),
        *("--store", "store"),
        "--json",
    )

    assert result.code == 1
    assert result.json["suite"] == "my-suite"
    assert [without_reasons(case) for case in result.json["cases"]] == [
        expected_case(case, kind) for case, kind in MIXED.items()
    ]
    result_file = regress.folder / "out" / "results" / "a-same.result.json"
    assert json.loads(result_file.read_text(encoding="utf-8"))["expectation"] == {"intent": "shorter"}
    assert not (regress.folder / ".regress").exists()
    assert not (regress.folder / "store" / "outputs").exists()


@pytest.mark.parametrize(
    ("records", "name"),
    [
        ("My Shop/records", "my-shop"),
        ("My Shop/baseline/runrecords", "my-shop"),
        ("night_runs", "night_runs"),
    ],
)
def test_the_name_of_bare_records_is_their_folder_s(here: Here, records: str, name: str) -> None:
    for folder in (records, "cand"):
        write_record(here.folder / folder / "a.json", baseline("a"))

    assert here("run", "--records", records, "--candidate-records", "cand", "--json").json["suite"] == name


def test_one_file_on_each_side(here: Here, suite: Path) -> None:
    result = here(
        "run",
        *("--records", suite / "records" / "b-reworded.json"),
        *("--candidate-records", suite / "new" / "b-reworded.json"),
        "--json",
    )

    assert (result.code, statuses(result.json)) == (0, {"b-reworded": "warn"})


@pytest.mark.parametrize(
    "option", [("--candidate", "other.yaml"), ("--candidate", "other"), ("--candidate-records", "other")]
)
@pytest.mark.usefixtures("suite")
def test_another_candidate_than_the_suite_names(here: Here, option: tuple[str, str]) -> None:
    for case in MIXED:
        write_record(here.folder / "other" / f"{case}.json", candidate(case, "same"))
    (here.folder / "other.yaml").write_text("records: other\nlabel: shop@9\n", encoding="utf-8")

    result = here("run", "suite", *option, "--json")

    assert (result.code, set(statuses(result.json).values())) == (0, {"pass"})
    if option[1].endswith(".yaml"):
        assert result.json["candidate"]["label"] == "shop@9"


@pytest.mark.parametrize(
    ("globs", "chosen"),
    [
        (["a-*"], ["a-same"]),
        (["*-same", "c-failed"], ["a-same", "c-failed"]),
        (["*"], list(MIXED)),
        (["[bd]-*"], ["b-reworded", "d-missing"]),
    ],
)
@pytest.mark.usefixtures("suite")
def test_cases(here: Here, globs: list[str], chosen: list[str]) -> None:
    options = [word for glob in globs for word in ("--cases", glob)]

    assert list(statuses(here("run", "suite", *options, "--json").json)) == chosen


def test_the_layout_of_the_rfc_is_a_suite_folder_too(here: Here) -> None:
    root = here.folder / "age"
    for case in ("photosynthesis", "gravity"):
        write_record(root / "baseline" / "runrecords" / f"{case}.json", baseline(case))
        write_record(root / "candidate" / "runrecords" / f"{case}.runrecord.json", candidate(case, "same"))
    (root / "suite.yaml").write_text(
        "records: baseline/runrecords\nexpectation: expectation.yaml\n", encoding="utf-8"
    )
    (root / "expectation.yaml").write_text("intent: adapt to age\n", encoding="utf-8")
    (root / "candidate.yaml").write_text("records: candidate/runrecords\n", encoding="utf-8")

    result = here("run", "age", "--json")

    assert (result.code, result.json["suite"]) == (0, "age")
    assert statuses(result.json) == {"gravity": "pass", "photosynthesis": "pass"}


def test_a_renamed_case(here: Here, suite: Path) -> None:
    """H57."""
    (suite / "records" / "a-same.json").rename(suite / "records" / "a-renamed.json")

    result = here("run", "suite", "--cases", "a-*")

    assert result.code == 3
    assert "a-renamed" in result.out
    assert "no candidate record" in result.out
    assert "without a baseline: a-same" in result.out


def test_a_failed_baseline_is_warned_about(here: Here, suite: Path) -> None:
    write_record(suite / "records" / "a-same.json", baseline("a-same") | {"status": "failed"})

    for command in ("run", "validate"):
        warnings = [line for line in here(command, "suite").err.splitlines() if "failed run" in line]
        assert len(warnings) == 1
        assert "case a-same" in warnings[0]


# -- again


@pytest.mark.usefixtures("suite")
def test_the_same_command_again_is_a_new_evaluation(here: Here, tmp_path: Path) -> None:
    first, second = (here("run", "suite", "--json").json for _ in range(2))

    assert first["evaluationId"] < second["evaluationId"]
    assert lasting(first) == lasting(second)
    assert len(evaluations_in(tmp_path / ".regress")) == 2


def test_resume_of_a_finished_evaluation_redoes_the_inconclusive(
    regress: Command, suite: Path, tmp_path: Path
) -> None:
    first = regress("run", "suite", "--json").json

    again = regress("run", "--resume", first["evaluationId"], "--json", "--out", "out")

    assert again.code == 1
    assert again.json == first
    assert evaluations_in(tmp_path / ".regress") == [(first["evaluationId"], "finished", 2)]
    assert "4 of them done before" in again.err
    assert (tmp_path / "out" / "results" / "a-same.result.json").is_file()
    assert suite.is_dir()


@pytest.mark.usefixtures("suite")
def test_outputs_replace_earlier_outputs_whole(here: Here, tmp_path: Path) -> None:
    here("run", "suite", "--out", "out")

    here("run", "suite", "--cases", "a-same", "--out", "out")

    assert set(tree(tmp_path / "out")) == {
        "summary.json",
        "candidates/a-same.runrecord.json",
        "comparisons/a-same.comparison.json",
        "results/a-same.result.json",
    }


def test_two_of_the_same_command_at_once(regress: Command, tmp_path: Path) -> None:
    cases = [f"case-{number:03}" for number in range(60)]
    write_suite(tmp_path / "suite", dict.fromkeys(cases, "same"))

    command = ("run", "suite", "--json", "--store", "store")
    with regress.started(*command) as one, regress.started(*command) as two:
        printed = [process.communicate(timeout=120) for process in (one, two)]

    assert (one.returncode, two.returncode) == (0, 0), printed
    summaries = [json.loads(out) for out, _ in printed]
    assert lasting(summaries[0]) == lasting(summaries[1])
    ids = {summary["evaluationId"] for summary in summaries}
    assert {row[0] for row in evaluations_in(tmp_path / "store")} == ids
    counts = regress(
        "sql", "SELECT count(*) n FROM case_results GROUP BY evaluation_id", "--json", "--store", "store"
    )
    assert counts.json == [{"n": 60}] * len(ids)


# -- validate


@pytest.mark.parametrize("command", [("validate",), ("run", "--dry-run")])
@pytest.mark.usefixtures("suite")
def test_validating_says_what_is_there_and_writes_nothing(
    regress: Command, tmp_path: Path, command: tuple[str, ...]
) -> None:
    write_record(tmp_path / "suite" / "new" / "orphan.json", baseline("orphan"))
    before = tree(tmp_path)

    result = regress(*command, "suite")

    assert (result.code, result.err) == (0, "")
    for word in ("suite shop: 5 cases", "shop@2: 5 records", "d-missing", "orphan", "valid"):
        assert word in result.out
    assert "a-same" not in result.out
    assert tree(tmp_path) == before
    assert not (tmp_path / ".regress").exists()


def test_validating_bare_records(here: Here, suite: Path) -> None:
    result = here(
        "validate", "--records", suite / "records", "--candidate-records", suite / "new", "--cases", "a-*"
    )

    assert result.code == 0
    assert "1 cases" in result.out


# -- the terminal


def test_progress_on_a_terminal(regress: Command, suite: Path) -> None:
    """On a terminal a bar is drawn on stderr; stdout keeps to the result."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [REGRESS, "run", str(suite), "--json"],
        cwd=regress.folder,
        env=regress.environment(TERM="xterm", COLUMNS="80"),
        stdout=subprocess.PIPE,
        stderr=follower,
    )
    os.close(follower)
    assert process.stdout is not None
    out = process.stdout.read()
    shown = b""
    try:
        while chunk := os.read(leader, 4096):
            shown += chunk
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(leader)
    process.stdout.close()

    assert process.wait() == 1
    assert json.loads(out)["totals"]["cases"] == 5
    assert b"evaluating" in shown
    assert b"Traceback" not in shown


@pytest.mark.parametrize(
    ("encoding", "command"),
    [
        ("cp1252", ("run", "suite")),
        ("ascii", ("validate", "suite", "--cases", "*❌*", "--allow-empty")),
        ("ascii", ("sql", "SELECT '❌'", "--store", ".")),
    ],
)
@pytest.mark.usefixtures("suite")
def test_a_console_of_few_characters_degrades(
    regress: Command, encoding: str, command: tuple[str, ...]
) -> None:
    """H61: names and reasons hold characters that such a console lacks."""
    write_record(regress.folder / "suite" / "new" / "b-reworded.json", baseline("x") | {"response": "❌ →"})

    result = regress(*command, PYTHONIOENCODING=f"{encoding}:strict")

    assert "Traceback" not in result.err
    assert result.code in {0, 1}
    assert result.out


def test_help_names_the_exit_codes(here: Here) -> None:
    text = " ".join(here("run", "--help").out.split())

    for word in ("--candidate-records", "--fail-on", "--allow-empty", "--resume", "130 interrupted"):
        assert word in text
