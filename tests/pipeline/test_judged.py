"""A suite with judges in one Dagster run: what it shows of them, what the history holds, what it cost."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regress_core.history.store import History
from regress_core.suite.gate import ExitCode
from regress_pipeline.cli.main import app
from tests.pipeline.bench import Bench, everything_of
from tests.pipeline.builders import read_json
from tests.support import openai_server as openai
from tests.support.judges import COST_USD, JudgeServer, judged_suite, says, verdict
from tests.support.openai_server import KEY, OpenAIServer
from tests.support.suites import Kind, write_suite

CASES = ("curt", "fine", "lost", "worse")
REPLIES = {
    ("curt", "regression"): [says(verdict("warn"))],
    ("worse", "regression"): [says(verdict("fail"))],
    ("lost", "regression"): [openai.error(400, "too odd")],
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Generator[JudgeServer]:
    server = JudgeServer({(case, "regression"): answers for (case, _), answers in REPLIES.items()})
    with OpenAIServer(server) as listening:
        monkeypatch.setenv("OPENAI_BASE_URL", listening.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield server


@pytest.fixture
def suite(bench: Bench) -> Path:
    kinds: dict[str, Kind] = dict.fromkeys(CASES, "same")
    root = write_suite(bench.suites_root / "shop", kinds, config=judged_suite(judge="axes: true"))
    bench.register("shop", CASES)
    return root


@pytest.mark.usefixtures("suite")
def test_a_run_with_judges(bench: Bench, server: JudgeServer) -> None:
    run = bench.run("shop", "curt", "worse")

    assert run.status == "SUCCESS"
    assert run.partitions() == everything_of(CASES)
    shown = {case: event.metadata for case, event in run.of("judge_results").items()}
    assert {case: one["judge"] for case, one in shown.items()} == {
        "curt": "warn",
        "fine": "pass",
        "lost": "error",
        "worse": "fail",
    }
    assert {case: one["cost_usd"] for case, one in shown.items()} == {
        case: pytest.approx((1 if case == "lost" else 2) * COST_USD) for case in CASES
    }
    assert {check.partition: (check.passed, check.severity) for check in run.case_checks} == {
        "curt": (False, "WARN"),
        "fine": (True, "WARN"),
        "lost": (False, "WARN"),
        "worse": (False, "ERROR"),
    }
    assert run.of("suite_summary")[None].metadata["gate"] == "fail"
    assert server.asked.total() == 8


def test_judges_that_take_too_long_are_interrupted_and_go_on(
    bench: Bench, suite: Path, server: JudgeServer
) -> None:
    config = judged_suite(judge="timeout_minutes: 0.03")
    (suite / "suite.yaml").write_text(config, encoding="utf-8")
    server.answers = {("lost", "regression"): [openai.after(60, says(verdict("pass")))]}
    arguments = ["pipeline", "run", "shop"]

    stopped = CliRunner().invoke(app, arguments)
    server.recover()
    gone_on = CliRunner().invoke(app, arguments)

    assert stopped.exit_code == ExitCode.INTERRUPTED
    assert "the judges took longer than timeout_minutes (0.03)" in stopped.stderr
    assert "the same command goes on" in stopped.stderr
    assert gone_on.exit_code == 0
    assert len(list((bench.store / "outputs").iterdir())) == 1


@pytest.mark.usefixtures("suite", "server")
def test_what_it_leaves_in_the_store(bench: Bench) -> None:
    run = bench.run("shop", "curt", "worse")

    history = History.open(bench.store)
    results = history.table("judge_results").to_pylist()
    assert sorted((row["case_id"], row["judge"], row["state"], row["verdict"]) for row in results) == [
        ("curt", "axes", "verdict", None),
        ("curt", "regression", "verdict", "warn"),
        ("fine", "axes", "verdict", None),
        ("fine", "regression", "verdict", "pass"),
        ("lost", "axes", "verdict", None),
        ("lost", "regression", "error", None),
        ("worse", "axes", "verdict", None),
        ("worse", "regression", "verdict", "fail"),
    ]
    assert [history.table(table).num_rows for table in ("judge_calls", "judge_dimensions")] == [8, 12]
    (row,) = history.table("evaluations").to_pylist()
    assert (row["trigger"], row["judge_usd"]) == ("pipeline", pytest.approx(7 * COST_USD))
    summary = read_json(bench.store / "outputs" / run.evaluation_id() / "summary.json")
    assert summary["cost"]["judgeUsd"] == row["judge_usd"]
    assert [one["verdicts"] for one in summary["judges"]] == [3, 4]


@pytest.mark.usefixtures("suite")
def test_a_second_run_asks_for_nothing_but_what_was_no_verdict(bench: Bench, server: JudgeServer) -> None:
    bench.run("shop", "curt", "worse")
    server.recover()

    run = bench.run("shop", "curt", "worse")

    assert server.asked == {("lost", "regression"): 1}
    assert [run.of("judge_results")[case].metadata["cost_usd"] for case in CASES] == [
        0,
        0,
        pytest.approx(COST_USD),
        0,
    ]
