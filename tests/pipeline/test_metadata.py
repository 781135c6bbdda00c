"""What a person sees in Dagster: small functions that make Markdown of whatever a candidate said."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.history.trends import TrendPoint
from regress_pipeline.metadata import answer_diff, as_list, evaluations_table
from tests.pipeline.bench import Bench
from tests.pipeline.builders import alike, write_suite
from tests.support.records import record_json
from tests.support.suites import write_record


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


def test_the_files_are_where_it_says(bench: Bench) -> None:
    write_suite(bench.suites_root, "shop", alike("old", ["a"]), alike("new", ["a"]))
    bench.register("shop", ["a"])
    metadata = bench.run("shop", "a").of("case_summaries")["a"].metadata
    assert Path(metadata["candidate_file"]).is_file()
    assert Path(metadata["baseline_file"]).is_file()
