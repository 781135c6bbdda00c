"""The gate over the cases of an evaluation, and the exit code."""

from __future__ import annotations

import pytest

from regress_core.judge.contract import Status
from regress_core.suite.config import GateConfig
from regress_core.suite.contract import GateSummary, RunRegressionSummary
from regress_core.suite.gate import ExitCode, FailOn, decide_gate, exit_code, pass_rate
from regress_core.suite.summary import totals, worst
from tests.suite.support import cases_of

# Cases by letter (p passed, w warned, f failed, i inconclusive), floor of the pass rate, status of the gate.
GATES: list[tuple[str, float | None, Status]] = [
    ("", None, "pass"),
    ("p", None, "pass"),
    ("ppp", None, "pass"),
    ("ppw", None, "warn"),
    ("ppi", None, "warn"),
    ("iii", None, "warn"),
    ("ppf", None, "fail"),
    ("wif", None, "fail"),
    # H52: one of ten fails, and nine tenths are asked for.
    ("pppppppppf", 0.9, "warn"),
    ("ppppppppff", 0.9, "fail"),
    ("pppppppppp", 0.9, "pass"),
    ("pppppppppw", 0.9, "warn"),
    # A case that warns has not failed.
    ("wwwwwwwwwf", 0.9, "warn"),
    ("wwww", 1, "warn"),
    ("pppp", 1, "pass"),
    ("pppf", 1, "fail"),
    ("ffff", 0, "warn"),
    ("f", 0.1, "fail"),
    ("pf", 0.5, "warn"),
    ("pf", 0.51, "fail"),
    # R39: what we could not know is outside the rate.
    ("pppppiiiii", 1, "warn"),
    ("pppppppppfiiiii", 0.9, "warn"),
    ("pfiiii", 0.5, "warn"),
    ("pfiiii", 0.6, "fail"),
    ("fi", 0.5, "fail"),
    ("iiii", 0.9, "warn"),
    ("iiii", 0, "warn"),
    ("", 0.9, "pass"),
]


@pytest.mark.parametrize(("letters", "floor", "status"), GATES)
def test_the_gate_of_some_cases(letters: str, floor: float | None, status: Status) -> None:
    assert decide_gate(cases_of(letters), GateConfig(min_pass_rate=floor)).status == status


@pytest.mark.parametrize("failed", range(101))
def test_a_floor_is_held_by_exactly_its_share(failed: int) -> None:
    letters = "f" * failed + "p" * (100 - failed)
    floor = float(f"{(100 - failed) / 100:.2f}")

    assert decide_gate(cases_of(letters), GateConfig(min_pass_rate=floor)).status == (
        "warn" if failed else "pass"
    )
    if floor < 1:
        above = GateConfig(min_pass_rate=min(1, floor + 0.001))
        assert decide_gate(cases_of(letters), above).status == "fail"


@pytest.mark.parametrize("signal", ["toolsChanged", "finalOutputChanged"])
def test_severities_of_signals_are_the_cases_affair(signal: str) -> None:
    gate = GateConfig.from_json({"signals": {signal: "fail"}})

    assert decide_gate(cases_of("ppw"), gate).status == "warn"


@pytest.mark.parametrize(
    ("letters", "hits", "of"),
    [("pwf", 2, 3), ("pwfii", 2, 3), ("ii", 0, 0), ("", 0, 0), ("ff", 0, 2)],
)
def test_the_pass_rate_is_over_conclusive_cases(letters: str, hits: int, of: int) -> None:
    found = pass_rate(cases_of(letters))

    assert (found.hits, found.of) == (hits, of)
    assert found.value == (hits / of if of else None)


# Cases, floor, and what the reasons have to say.
REASONS: list[tuple[str, float | None, list[str]]] = [
    ("ppp", None, []),
    ("ppf", None, ["1 of 3 cases failed"]),
    ("pwfi", None, ["1 of 4 cases failed", "1 of 4 cases warned", "1 of 4 cases inconclusive"]),
    ("pppppppppf", 0.9, ["pass rate 0.900", "10 conclusive", "floor 0.9", "1 of 10 cases failed"]),
    ("pfiiii", 0.6, ["pass rate 0.500", "2 conclusive", "floor 0.6", "1 of 6", "4 of 6"]),
]


@pytest.mark.parametrize(("letters", "floor", "fragments"), REASONS)
def test_the_reasons_count_what_did_not_pass(letters: str, floor: float | None, fragments: list[str]) -> None:
    reasons = decide_gate(cases_of(letters), GateConfig(min_pass_rate=floor)).reasons

    text = "; ".join(reasons)
    for fragment in fragments:
        assert fragment in text
    if not fragments:
        assert reasons == []


def _summary(letters: str, gate: GateSummary | None, *, complete: bool = True) -> RunRegressionSummary:
    cases = cases_of(letters)
    counted = totals(cases).model_copy(update={"inconclusive": letters.count("i")})
    return RunRegressionSummary(
        status=worst(case.status for case in cases), totals=counted, cases=cases, gate=gate, complete=complete
    )


def _gate(status: Status) -> GateSummary:
    return GateSummary(status=status, reasons=[])


def _code(summary: RunRegressionSummary, fail_on: FailOn = "fail", *, allow_empty: bool = False) -> int:
    return int(exit_code(summary, fail_on=fail_on, allow_empty=allow_empty))


# --fail-on, status of the gate, exit code where something is known, exit code where nothing is.
CODES: list[tuple[FailOn, Status, int, int]] = [
    ("fail", "pass", 0, 3),
    ("fail", "warn", 0, 3),
    ("fail", "fail", 1, 1),
    ("warn", "pass", 0, 3),
    ("warn", "warn", 1, 1),
    ("warn", "fail", 1, 1),
    ("never", "pass", 0, 3),
    ("never", "warn", 0, 3),
    ("never", "fail", 0, 3),
]


@pytest.mark.parametrize("allow_empty", [False, True])
@pytest.mark.parametrize(("fail_on", "status", "known", "nothing_known"), CODES)
def test_the_exit_code(
    fail_on: FailOn, status: Status, known: int, nothing_known: int, *, allow_empty: bool
) -> None:
    gate = _gate(status)

    for letters in ("p", "w", "pwf", "fi", "pi", "iiiiw"):
        assert _code(_summary(letters, gate), fail_on, allow_empty=allow_empty) == known
    for letters in ("i", "iii"):
        assert _code(_summary(letters, gate), fail_on, allow_empty=allow_empty) == nothing_known


@pytest.mark.parametrize("fail_on", ["fail", "warn", "never"])
@pytest.mark.parametrize("status", ["pass", "warn", "fail"])
def test_no_cases_are_never_fine_unless_that_is_allowed(fail_on: FailOn, status: Status) -> None:
    summary = _summary("", _gate(status))

    assert _code(summary, fail_on) == 4
    assert _code(summary, fail_on, allow_empty=True) == 0


@pytest.mark.parametrize(("fail_on", "status", "known", "_nothing_known"), CODES)
def test_without_a_gate_the_status_counts(
    fail_on: FailOn, status: Status, known: int, _nothing_known: int
) -> None:
    letters = {"pass": "pp", "warn": "pw", "fail": "pf"}[status]

    assert _code(_summary(letters, None), fail_on) == known


@pytest.mark.parametrize("fail_on", ["fail", "warn", "never"])
def test_an_evaluation_that_is_not_complete_is_never_fine(fail_on: FailOn) -> None:
    assert _code(_summary("pp", _gate("pass"), complete=False), fail_on) == 3
    assert _code(_summary("", _gate("pass"), complete=False), fail_on, allow_empty=True) == 3


@pytest.mark.parametrize(
    ("code", "number"),
    [
        (ExitCode.OK, 0),
        (ExitCode.GATE, 1),
        (ExitCode.INVALID_INPUT, 2),
        (ExitCode.NOTHING_KNOWN, 3),
        (ExitCode.NO_CASES, 4),
        (ExitCode.INTERRUPTED, 130),
    ],
)
def test_the_numbers_of_the_exit_codes(code: ExitCode, number: int) -> None:
    assert code == number


def test_one_of_ten_fails_and_nine_tenths_are_asked_for() -> None:
    # H52: exit 0, and the failure still shown.
    gate = decide_gate(cases_of("pppppppppf"), GateConfig(min_pass_rate=0.9))
    summary = _summary("pppppppppf", gate)

    assert _code(summary) == 0
    assert _code(summary, "warn") == 1
    assert summary.status == "fail"
    assert (summary.totals.passed, summary.totals.failed) == (9, 1)
    assert any("1 of 10" in reason for reason in gate.reasons)
