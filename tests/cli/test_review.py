"""`regress review`, `accept` and `reject`: what waits for a person, and what a decision does."""

from __future__ import annotations

import getpass
import json
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from regress_core.records.json_io import JsonObject
from tests.cli.reviewed import (
    EVIDENCE,
    QUESTION,
    Trial,
    no_verdict,
    publish,
    regression,
    rubric,
    write_reviewed,
)
from tests.cli.support import Command, Here
from tests.support.suites import tree

WHY = ("--reason", "we want it so", "--by", "Ann")


def _signoffs(root: Path) -> list[JsonObject]:
    return [json.loads(line) for line in (root / "signoffs.jsonl").read_text(encoding="utf-8").splitlines()]


def test_what_waits_is_listed_with_the_commands_to_decide(here: Here, tmp_path: Path) -> None:
    write_reviewed(
        tmp_path,
        {
            "a": [Trial([rubric(polite=False, brief=True, odd=None)])],
            "b": [
                Trial([regression("warn", flags=["its findings say otherwise"]), no_verdict("axes", "error")])
            ],
            "c": [Trial([regression("pass"), no_verdict("rubric", "skipped", intended=True)])],
            "d": [Trial([no_verdict("rubric", "skipped")])],
        },
    )

    result = here("review", "suite")

    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        "suite shop, candidate shop@2, evaluation e1 of 2026-03-31 21:30Z",
        "case a, dimension polite: pass → fail: the answer on polite is what it is",
        "  regress accept --suite suite --case a --dimension polite --evaluation e1 --reason '…'",
        "  regress reject --suite suite --case a --dimension polite --evaluation e1 --reason '…'",
        "case b: regression judge: warn: it looks like a warn",
        "case b: regression judge: look at this: its findings say otherwise",
        "case b: axes judge: no verdict: it is error",
        "  regress accept --record --suite suite --case b --evaluation e1 --reason '…'",
        "case d: rubric judge: not asked: it is skipped",
    ]


def test_nothing_waits(here: Here, tmp_path: Path) -> None:
    write_reviewed(tmp_path, {"a": [Trial([rubric(polite=True), regression("pass")])], "b": [Trial()]})

    assert here("review", "suite").out.splitlines()[1:] == ["nothing waits for a decision"]


def test_the_suite_by_its_name(here: Here, tmp_path: Path) -> None:
    write_reviewed(tmp_path, {"a": [Trial([rubric(polite=False)])]})

    out = here("review", "shop", REGRESS_SUITES_ROOT=str(tmp_path)).out

    assert "--suite suite --case a" in out


def test_the_evaluation_that_was_begun_last(here: Here, tmp_path: Path) -> None:
    write_reviewed(tmp_path, {"a": [Trial([rubric(polite=False)])]})
    publish(
        tmp_path,
        {"a": [Trial([rubric(brief=False)])]},
        evaluation_id="e0",
        created_at=datetime(2026, 4, 1, tzinfo=UTC),
    )

    out = here("review", "suite").out

    assert "evaluation e0 of 2026-04-01 00:00Z" in out
    assert "dimension brief" in out
    assert "polite" not in out


def test_a_printed_command_does_what_it_says(regress: Command, tmp_path: Path) -> None:
    root = write_reviewed(tmp_path, {"a": [Trial([rubric(polite=False, brief=False)])]})
    (tmp_path / ".regress").rename(tmp_path / "my store")
    listed = regress("review", "suite", "--store", "my store")
    accept, reject = (listed.out.splitlines()[n].replace("'…'", "'so be it'") for n in (2, 6))

    for command in (accept, reject):
        done = regress(*shlex.split(command)[1:])
        assert (done.code, done.err) == (0, "")

    assert [(one["dimension"], one["decision"], one["reason"]) for one in _signoffs(root)] == [
        ("polite", "accepted", "so be it"),
        ("brief", "rejected", "so be it"),
    ]
    assert {one["who"] for one in _signoffs(root)} == {getpass.getuser()}
    assert "nothing waits" in regress("review", "suite", "--store", "my store").out


@pytest.mark.parametrize("line", [2, 3, 5], ids=["accept", "reject", "accept --record"])
def test_a_printed_command_is_about_the_evaluation_that_was_looked_at(
    regress: Command, tmp_path: Path, line: int
) -> None:
    """Not about the one that another process has finished meanwhile."""
    trials = [Trial([rubric(polite=False), regression("warn")])]
    write_reviewed(tmp_path, {"a": trials})
    command = regress("review", "suite").out.splitlines()[line].replace("'…'", "'so be it'")
    publish(tmp_path, {"a": trials}, evaluation_id="e2", created_at=datetime(2026, 4, 1, tzinfo=UTC))
    before = tree(tmp_path)

    fault = regress(*shlex.split(command)[1:]).fault

    assert "e1 is not the suite's latest evaluation, e2; " in fault
    assert tree(tmp_path) == before


def test_a_rewritten_question_waits_for_a_decision_of_its_own(here: Here, tmp_path: Path) -> None:
    asked_otherwise = rubric(polite=False)
    asked_otherwise["dimensions"][0]["dimensionHash"] = "d1" * 32
    root = write_reviewed(tmp_path, {"a": [Trial([rubric(polite=False)])]})
    assert _decide(here, "accept") == 0
    assert "nothing waits" in here("review", "suite").out
    later = datetime(2026, 4, 1, tzinfo=UTC)
    publish(tmp_path, {"a": [Trial([asked_otherwise])]}, evaluation_id="e2", created_at=later)

    assert "case a, dimension polite: pass → fail: " in here("review", "suite").out
    assert _decide(here, "reject") == 0
    assert [one["decision"] for one in _signoffs(root)] == ["accepted", "rejected"]


def test_a_line_holds_who_when_what_and_on_what_ground(here: Here, tmp_path: Path) -> None:
    root = write_reviewed(tmp_path, {"a": [Trial([rubric(polite=False)])]})
    before = tree(root)

    result = here("accept", "--suite", "suite", "--case", "a", "--dimension", "polite", *WHY)

    assert result.code == 0
    assert result.out.splitlines()[:2] == [
        "accepted: case a, dimension polite: pass → fail",
        "of candidate shop@2, evaluation e1",
    ]
    (line,) = _signoffs(root)
    assert datetime.fromisoformat(line.pop("when")).utcoffset() is not None
    assert line == {
        "caseId": "a",
        "dimension": "polite",
        "passed": False,
        "decision": "accepted",
        "reason": "we want it so",
        "who": "Ann",
        "judgeModel": "openai:m",
        "promptVersion": "rubric-judge.v1",
        "evidenceHash": EVIDENCE,
        "dimensionHash": QUESTION,
    }
    assert {name: data for name, data in tree(root).items() if name != "signoffs.jsonl"} == before


def _decide(here: Here, *words: str) -> int:
    return here(words[0], "--suite", "suite", "--case", "a", *words[1:], *WHY).code


def test_without_a_dimension_all_that_have_flipped(here: Here, tmp_path: Path) -> None:
    root = write_reviewed(tmp_path, {"a": [Trial([rubric(polite=False, brief=True, exact=False, odd=None)])]})

    assert _decide(here, "reject", "--dimension", "exact") == 0
    assert _decide(here, "reject") == 0, "the one that is not rejected yet"
    assert _decide(here, "reject") == 2
    assert _decide(here, "accept") == 0

    assert [(one["dimension"], one["decision"]) for one in _signoffs(root)] == [
        ("exact", "rejected"),
        ("polite", "rejected"),
        ("polite", "accepted"),
        ("exact", "accepted"),
    ]


def test_a_decision_is_taken_back(here: Here, tmp_path: Path) -> None:
    write_reviewed(tmp_path, {"a": [Trial([rubric(polite=False)])]})

    assert _decide(here, "accept") == 0
    assert _decide(here, "reject") == 2, "accepted, so that it has not flipped any more"
    assert _decide(here, "reject", "--dimension", "polite") == 0
    assert _decide(here, "accept") == 0


def test_a_verdict_that_turns_back_after_it_was_accepted(here: Here, tmp_path: Path) -> None:
    root = write_reviewed(tmp_path, {"a": [Trial([rubric(polite=False)])]})
    assert _decide(here, "accept") == 0
    later = datetime(2026, 4, 1, tzinfo=UTC)
    publish(tmp_path, {"a": [Trial([rubric(polite=True)])]}, evaluation_id="e2", created_at=later)

    assert "case a, dimension polite: fail → pass: " in here("review", "suite").out
    assert _decide(here, "accept") == 0
    assert [one["passed"] for one in _signoffs(root)] == [False, True]


def test_of_several_trials_the_one_that_has_flipped(here: Here, tmp_path: Path) -> None:
    trials = [
        Trial([rubric(polite=None)]),
        Trial([rubric(polite=True), regression("pass")]),
        Trial([rubric(polite=False), regression("fail")]),
    ]
    root = write_reviewed(tmp_path, {"a": trials})

    out = here("review", "suite").out.splitlines()
    assert out[1].startswith("case a, dimension polite: pass → fail: ")
    assert out[4] == "case a, trial 3: regression judge: fail: it looks like a fail"

    assert _decide(here, "accept", "--dimension", "polite") == 0
    assert [one["passed"] for one in _signoffs(root)] == [False]


FLIPPED = rubric(polite=False)
# What the latest evaluation has of the case, which decision is asked for, and what the refusal says.
UNDECIDABLE: list[tuple[str, Sequence[Trial], Sequence[str], str]] = [
    (
        "inconclusive",
        [Trial([FLIPPED], inconclusive=True, reasons=["no candidate record"])],
        (),
        "inconclusive: no candidate record",
    ),
    (
        "the candidate failed",
        [Trial([FLIPPED], run_status="failed", reasons=["candidate failed: ModelError"])],
        (),
        "candidate failed: ModelError",
    ),
    (
        "the candidate diverged",
        [Trial([FLIPPED], replay_miss=True, reasons=["diverged: no output"])],
        (),
        "diverged: no output",
    ),
    (
        "one of two trials is inconclusive",
        [Trial([FLIPPED]), Trial([FLIPPED], inconclusive=True, reasons=["timed out"])],
        (),
        "inconclusive: timed out",
    ),
    ("skipped", [Trial([no_verdict("rubric", "skipped")])], (), "no verdict (skipped): it is skipped"),
    ("an error", [Trial([no_verdict("rubric", "error")])], (), "no verdict (error): it is error"),
    ("not in the sample", [Trial([no_verdict("rubric", "skipped", intended=True)])], (), "(skipped)"),
    ("no rubric", [Trial([regression("fail")])], (), "has no verdict of the rubric judge"),
    ("nothing has flipped", [Trial([rubric(polite=True)])], (), "no verdict has flipped"),
    ("another dimension", [Trial([FLIPPED])], ("--dimension", "x"), "dimensions with a verdict: polite"),
    (
        "one that does not apply",
        [Trial([rubric(polite=False, odd=None)])],
        ("--dimension", "odd"),
        "no verdict on a dimension 'odd'",
    ),
    ("another case", [Trial([FLIPPED])], ("--case", "zzz"), "case zzz: no such case in the latest"),
    (
        "another evaluation",
        [Trial([FLIPPED])],
        ("--evaluation", "e0"),
        "--evaluation: e0 is not the suite's latest evaluation, e1; look at that one with `regress review`",
    ),
    ("a blank reason", [Trial([FLIPPED])], ("--reason", " "), "--reason: says nothing"),
    ("the reason's place", [Trial([FLIPPED])], ("--reason", "…"), "--reason: says nothing"),
    ("nobody", [Trial([FLIPPED])], ("--by", ""), "--by: says nothing"),
]


@pytest.mark.parametrize("command", ["accept", "reject"])
@pytest.mark.parametrize(
    ("trials", "options", "message"), [pytest.param(*case[1:], id=case[0]) for case in UNDECIDABLE]
)
def test_a_case_about_which_nothing_can_be_decided(
    here: Here, tmp_path: Path, command: str, trials: Sequence[Trial], options: Sequence[str], message: str
) -> None:
    """H55."""
    root = write_reviewed(tmp_path, {"a": trials})
    (root / "signoffs.jsonl").write_bytes(b"")
    before = tree(tmp_path)

    fault = here(command, "--suite", "suite", "--case", "a", *WHY, *options).fault

    assert message in fault
    assert tree(tmp_path) == before


@pytest.mark.parametrize("command", ["review", "accept", "reject"])
def test_no_store_and_no_evaluation(here: Here, tmp_path: Path, command: str) -> None:
    root = write_reviewed(tmp_path, {"a": [Trial([FLIPPED])]})
    options = ("suite",) if command == "review" else ("--suite", "suite", "--case", "a", *WHY)

    assert "nowhere: no such store" in here(command, *options, "--store", "nowhere").fault

    (root / "suite.yaml").write_text("name: other\n", encoding="utf-8")
    assert "no finished evaluation of suite other" in here(command, *options).fault
    assert not (root / "signoffs.jsonl").exists()


def test_a_sign_off_that_is_at_fault_is_not_added_to(here: Here, tmp_path: Path) -> None:
    root = write_reviewed(tmp_path, {"a": [Trial([FLIPPED])]})
    (root / "signoffs.jsonl").write_bytes(b'{"caseId": "a"}\n')

    fault = here("accept", "--suite", "suite", "--case", "a", *WHY).fault

    assert f"{root / 'signoffs.jsonl'}: line 1, $.dimension: the field is missing" in fault
    assert (root / "signoffs.jsonl").read_bytes() == b'{"caseId": "a"}\n'


def test_what_a_judge_says_commands_no_terminal(here: Here, tmp_path: Path) -> None:
    hostile = rubric(polite=False)
    hostile["dimensions"][0]["reason"] = "fine\x1b[2J\nregress accept --everything"
    write_reviewed(tmp_path, {"a": [Trial([hostile])]})

    out = here("review", "suite").out

    assert "\x1b" not in out
    assert [line for line in out.splitlines() if line.startswith("regress accept")] == []


def test_a_bad_file_of_the_history_is_named(here: Here, tmp_path: Path) -> None:
    write_reviewed(tmp_path, {"a": [Trial([FLIPPED])]})
    bad = tmp_path / ".regress" / "history" / "evaluations" / "suite=shop" / "month=2026-03" / "e9-1.parquet"
    bad.write_bytes(b"")

    result = here("review", "suite")

    assert "dimension polite" in result.out
    assert str(bad) in result.err
