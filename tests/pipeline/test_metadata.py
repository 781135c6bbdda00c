"""What a person sees in Dagster: small functions that make Markdown of whatever a candidate said."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.history.store import History, Row
from regress_core.history.trends import TrendPoint
from regress_core.records.json_io import JsonObject
from regress_pipeline.metadata import answer_diff, as_list, evaluations_table, explained
from tests.history.support import AT, evaluation
from tests.pipeline.bench import Bench
from tests.pipeline.builders import alike, failed, write_suite
from tests.support.judges import COST_USD, JudgeServer, judged_suite, says, verdict
from tests.support.openai_server import KEY, OpenAIServer
from tests.support.records import message, record_json, tool_call, tool_output
from tests.support.suites import write_record
from tests.support.suites import write_suite as write_judged_suite


def test_the_difference_of_two_answers() -> None:
    assert answer_diff("It is\non its way.\nBye", "It is\nlost.\nBye") == (
        "```diff\n--- baseline\n+++ candidate\n@@ -1,3 +1,3 @@\n It is\n-on its way.\n+lost.\n Bye\n```"
    )


def test_a_long_difference_is_cut() -> None:
    text = answer_diff("", "\n".join(f"line {number}" for number in range(500)))
    assert text.count("\n") < 70
    assert text.endswith("\n\nand more; the records have it all")
    assert len(answer_diff("a", "b" * 100_000)) < 5000


@given(st.text(), st.text())
def test_nothing_in_an_answer_ends_the_block(old: str, new: str) -> None:
    text = answer_diff(old + "\n```\n````", new + "\n`````\n<script>")
    fence = text[: text.index("diff\n")]
    block = text.removesuffix("\n\nand more; the records have it all")
    assert block.endswith(f"\n{fence}")
    assert fence not in block.removeprefix(fence).removesuffix(fence)
    assert not any(char in block for char in "\x00\x1b\x7f\u202e")


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        ([], "none"),
        (["a", "b"], "- a\n- b"),
        (["two\nlines"], "- two lines"),
        (["<b>*x*</b> | `y`"], r"- \<b\>\*x\*\</b\> \| \`y\`"),
        (["\x1b[31m"], r"- \\u001b\[31m"),
    ],
)
def test_a_list(texts: list[str], shown: str) -> None:
    assert as_list(texts) == shown


def test_the_table_has_the_newest_first_and_keeps_its_columns() -> None:
    points = [
        TrendPoint(
            "e1",
            datetime(2026, 3, day, 2, 30, tzinfo=UTC),
            label,
            "night",
            "warn",
            9,
            5,
            3,
            1,
            1,
            rate,
            None,
            0.25,
        )
        for day, label, rate in ((1, "shop@1", 0.875), (2, "a|b\nc", None))
    ]
    assert evaluations_table(points).splitlines() == [
        "| UTC | candidate | gate | pass rate | passed | warned | failed | inconclusive | USD |",
        "|---|---|---|---|---|---|---|---|---|",
        r"| 2026-03-02 02:30 | a\|b c | warn | - | 5 | 2 | 1 | 1 | 0.2500 |",
        "| 2026-03-01 02:30 | shop@1 | warn | 0.875 | 5 | 2 | 1 | 1 | 0.2500 |",
    ]


def test_a_case_shows_how_its_answer_differs_before_and_after_the_evaluation_has_ended(bench: Bench) -> None:
    folder = write_suite(bench.suites_root, "shop", alike("old", ["a", "b"]), alike("new", ["a", "b"]))
    write_record(folder / "candidate" / "a.json", record_json(runId="new-a", response="It is lost."))
    bench.register("shop", ["a", "b"])
    evaluation_id = bench.enter_plan("shop")

    first = bench.run("shop", "a", "a", config={"evaluation_id": evaluation_id})
    last = bench.run("shop", "a", "b", config={"evaluation_id": evaluation_id})
    after = bench.run("shop", "a", "b", config={"evaluation_id": evaluation_id})

    shown = [run.of("case_summaries")["a"].metadata["answer"] for run in (first, last, after)]
    assert len(set(shown)) == 1
    assert "+It is lost." in shown[0]
    assert "answer" not in last.of("case_summaries")["b"].metadata
    assert after.of("comparisons")["a"].metadata["answer"] == shown[0]


WRITES = {"writes_a": 2, "writes_b": 2, "changed_writes": 0, "missing_writes": 0, "extra_writes": 0}


@pytest.mark.parametrize(
    ("explanation", "shown"),
    [
        ({}, {}),
        ({"trajectory": None, "first_divergence": None, "writes_a": None}, {}),
        (WRITES, {"effects": "2 → 2 writes: the same"}),
        (
            {**WRITES, "writes_b": 3, "changed_writes": 1, "extra_writes": 1},
            {"effects": "2 → 3 writes: 1 changed, 1 extra"},
        ),
        (
            {"trajectory": "subset", "first_divergence": "call 2 (a\x1b) is missing", "writes_a": None},
            {"trajectory": "subset", "first_divergence": "call 2 (a\\u001b) is missing"},
        ),
    ],
)
def test_what_explains_a_difference(explanation: Row, shown: dict[str, str]) -> None:
    assert explained(explanation) == shown


def refunding(run_id: str, *amounts: int) -> JsonObject:
    items = [message("Where is my order?")]
    for number, amount in enumerate(amounts):
        items += [tool_call(f"c{number}", "refund", arguments={"amount": amount}), tool_output(f"c{number}")]
    return record_json(runId=run_id, items=items)


def test_a_case_that_differs_shows_how_before_and_after_the_evaluation_has_ended(bench: Bench) -> None:
    write_suite(
        bench.suites_root,
        "shop",
        {case: refunding(f"old-{case}", 5, 6) for case in "ab"},
        {"a": refunding("new-a", 5), "b": refunding("new-b", 5, 6)},
        more="effects: {write: [refund]}\n",
    )
    bench.register("shop", ["a", "b"])
    evaluation_id = bench.enter_plan("shop")

    first = bench.run("shop", "a", "a", config={"evaluation_id": evaluation_id})
    last = bench.run("shop", "a", "b", config={"evaluation_id": evaluation_id})
    after = bench.run("shop", "a", "b", config={"evaluation_id": evaluation_id})

    names = ("trajectory", "first_divergence", "effects")
    for run in (first, last, after):
        for asset in ("comparisons", "case_summaries"):
            metadata = run.of(asset)["a"].metadata
            assert [metadata[name] for name in names] == [
                "subset",
                "call 2 (refund) is missing",
                "2 → 1 writes: 1 missing",
            ]
    assert not set(names) & set(last.of("case_summaries")["b"].metadata)


def test_what_a_suite_hides_is_not_shown(bench: Bench) -> None:
    more = "redact: {patterns: [{name: ORDER, pattern: 'order [0-9]+'}]}\n"
    folder = write_suite(bench.suites_root, "shop", alike("old", ["a"]), alike("new", ["a"]), more=more)
    write_record(folder / "candidate" / "a.json", record_json(runId="new-a", response="Lost: order 4711."))
    bench.register("shop", ["a"])

    shown = bench.run("shop", "a").of("case_summaries")["a"].metadata["answer"]

    assert "+Lost: [ORDER_1]." in shown
    assert "4711" not in shown


def test_a_suite_shows_its_last_evaluations_as_table_and_plot(bench: Bench) -> None:
    folder = write_suite(bench.suites_root, "shop", alike("old", ["a", "b"]), alike("new", ["a", "b"]))
    bench.register("shop", ["a", "b"])
    good = bench.run("shop", "a", "b")
    write_record(
        folder / "candidate" / "a.json", record_json(status="failed", errorName="E", errorMessage="m")
    )

    bad = bench.run("shop", "a", "b")

    metadata = bad.of("suite_summary")[None].metadata
    assert metadata["last_evaluations"].count("| shop@2 |") == 2
    picture = base64.b64decode(metadata["plot"].partition("base64,")[2].rstrip(")")).decode()
    assert picture.startswith("<svg")
    assert (metadata["trigger"], metadata["complete"]) == ("pipeline", True)
    assert [metadata[name] for name in ("planned", "cases", "passed", "failed")] == [2, 2, 1, 1]
    assert metadata["trend"] == "pass rate 0.500 is 0.500 below the best of the last 2 (1.000)"
    assert (good.check("gate").passed, good.check("trend").passed) == (True, True)
    gate, trend = bad.check("gate"), bad.check("trend")
    assert (gate.passed, gate.severity, gate.partition) == (False, "ERROR", None)
    assert gate.metadata["reasons"] == "- 1 of 2 cases failed"
    assert (trend.passed, trend.severity) == (False, "WARN")


def test_the_gate_is_told_once_all_cases_are_done(bench: Bench) -> None:
    write_suite(bench.suites_root, "shop", alike("old", ["a", "b"]), alike("new", ["a", "b"]))
    bench.register("shop", ["a", "b"])
    evaluation_id = bench.enter_plan("shop")

    half = bench.run("shop", "a", config={"evaluation_id": evaluation_id})

    assert [check.name for check in half.checks] == ["no_regression"]
    assert "outputs" not in half.of("suite_summary")[None].metadata
    whole = bench.run("shop", "b", config={"evaluation_id": evaluation_id})
    assert {check.name for check in whole.checks} == {"no_regression", "gate", "trend"}


def test_table_and_plot_show_14_evaluations_whatever_the_window_of_the_alarm(bench: Bench) -> None:
    more = "trend: {evaluations: 365}\n"
    write_suite(bench.suites_root, "shop", alike("old", ["a"]), {"a": failed("new-a")}, more=more)
    bench.register("shop", ["a"])
    history = History.open(bench.store)
    for number in range(20):
        row = evaluation(
            f"e{number:02}",
            trigger="pipeline",
            pass_rate=0.5 if number else 1.0,
            created_at=AT + timedelta(hours=number),
        )
        with history.writer("shop", "2026-03", row["evaluation_id"], 1) as writer:
            writer.write("evaluations", [row])

    metadata = bench.run("shop", "a").of("suite_summary")[None].metadata

    assert len(metadata["last_evaluations"].splitlines()) == 2 + 14
    assert metadata["trend"] == "pass rate 0.000 is 1.000 below the best of the last 21 (1.000)"


def test_a_judge_is_shown_with_its_words_and_what_it_cost(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_judged_suite(bench.suites_root / "shop", {"a": "same"}, config=judged_suite(judge="cap_usd: 0.5"))
    bench.register("shop", ["a"])
    reply = says(verdict("warn", summary="Curt.\x1b[31m"))
    with OpenAIServer(JudgeServer({("a", "regression"): [reply]})) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        run = bench.run("shop", "a")

    case = run.of("case_summaries")["a"].metadata
    assert (case["verdict"], case["verdict_summary"]) == ("warn", r"Curt.\u001b[31m")
    assert run.of("judge_results")["a"].metadata["summary"] == case["verdict_summary"]
    money = {
        name: usd for name, usd in run.of("suite_summary")[None].metadata.items() if name.endswith("usd")
    }
    assert money == {
        "candidate_usd": 0.0,
        "judge_usd": pytest.approx(COST_USD),
        "judge_cap_usd": 0.5,
        "saved_by_cache_usd": 0.0,
    }


def test_the_files_are_where_it_says(bench: Bench) -> None:
    write_suite(bench.suites_root, "shop", alike("old", ["a"]), alike("new", ["a"]))
    bench.register("shop", ["a"])
    metadata = bench.run("shop", "a").of("case_summaries")["a"].metadata
    assert Path(metadata["candidate_file"]).is_file()
    assert Path(metadata["baseline_file"]).is_file()
