"""Which trial counts for a case, and what the summary says of the others."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from regress_core.calls.trouble import Trouble
from regress_core.compare.model import NO_SIGNALS
from regress_core.records.json_io import JsonObject
from regress_core.suite.outcome import CaseOutcome, case_summary, counted

DOWN = Trouble("outage", "candidate", "503", "the provider is down", retryable=True)

PASS = CaseOutcome(
    case_id="a",
    case_name="a",
    trial=1,
    revision=1,
    status="pass",
    reasons=(),
    signals=NO_SIGNALS,
    equal=True,
    baseline_run_id="old",
    candidate_run_id="new",
    baseline_sha256="a" * 64,
    candidate_sha256="b" * 64,
    replay_miss=False,
    judge=None,
    trouble=None,
    duration_s=0.0,
    cost_usd=0.0,
    finished_at=datetime(2026, 1, 1, tzinfo=UTC),
)
OF_LETTER = {
    "p": PASS,
    "w": replace(PASS, status="warn", reasons=("it differs", "and here")),
    "f": replace(PASS, status="fail", reasons=("it failed",)),
    "i": replace(PASS, status="warn", reasons=("the provider is down",), trouble=DOWN, candidate_run_id=""),
}


def trials(letters: str) -> list[CaseOutcome]:
    """Give the outcomes of a case's trials: pass, warn, fail, inconclusive; run ids tell them apart."""
    return [
        replace(OF_LETTER[letter], trial=number, candidate_run_id=f"new-{number}")
        for number, letter in enumerate(letters, start=1)
    ]


@pytest.mark.parametrize(
    ("letters", "number"),
    [
        ("p", 1),
        ("ppp", 1),
        ("pwp", 2),
        ("pww", 2),
        ("ppf", 3),
        ("fwf", 1),
        ("wif", 3),
        ("piw", 2),
        ("wi", 2),
        ("iii", 1),
        ("pwifwifp", 4),
    ],
)
def test_the_worst_trial_counts_the_first_of_equals(letters: str, number: int) -> None:
    assert counted(trials(letters)).trial == number


@pytest.mark.parametrize(
    ("letters", "entry"),
    [
        ("pp", {"status": "pass", "inconclusive": False, "reasons": [], "candidateRunId": "new-1"}),
        (
            "pwp",
            {
                "status": "warn",
                "inconclusive": False,
                "reasons": ["trial 2 of 3 counts (2 passed, 1 warned)", "it differs", "and here"],
                "candidateRunId": "new-2",
            },
        ),
        (
            "pi",
            {
                "status": "warn",
                "inconclusive": True,
                "reasons": ["trial 2 of 2 counts (1 passed, 1 inconclusive)", "the provider is down"],
                "trouble": {"kind": "outage", "code": "503", "retryable": True},
            },
        ),
        (
            "if",
            {
                "status": "fail",
                "inconclusive": False,
                "reasons": ["trial 2 of 2 counts (1 failed, 1 inconclusive)", "it failed"],
            },
        ),
    ],
)
def test_the_entry_of_the_summary_is_that_trials(letters: str, entry: JsonObject) -> None:
    assert case_summary(trials(letters)).to_json().items() >= entry.items()


@pytest.mark.parametrize(
    ("letters", "totals"),
    [
        ("pp", {"passed": 2, "warned": 0, "failed": 0, "inconclusive": 0, "counted": 1}),
        ("pwifwifp", {"passed": 2, "warned": 2, "failed": 2, "inconclusive": 2, "counted": 4}),
    ],
)
def test_how_the_trials_went(letters: str, totals: JsonObject) -> None:
    assert case_summary(trials(letters)).to_json()["trials"].items() >= totals.items()


@pytest.mark.parametrize(
    ("letters", "pass_rate", "flaky"),
    [
        ("pp", 1.0, False),
        ("pw", 1.0, False),
        ("ff", 0.0, False),
        ("pf", 0.5, True),
        ("wfff", 0.25, True),
        ("pip", 1.0, False),
        ("fi", 0.0, False),
        ("ii", None, False),
        ("pwifwifp", 4 / 6, True),
    ],
)
def test_what_does_not_fail_passes_and_trouble_is_neither(
    letters: str, pass_rate: float | None, *, flaky: bool
) -> None:
    told = case_summary(trials(letters)).trials

    assert told is not None
    assert (told.pass_rate, told.flaky) == (pass_rate, flaky)


@pytest.mark.parametrize("letter", OF_LETTER)
def test_one_trial_is_not_spoken_of(letter: str) -> None:
    (only,) = trials(letter)

    assert case_summary([only]) == only.summary()
    assert "trials" not in case_summary([only]).to_json()
