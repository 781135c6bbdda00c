"""How often each case has passed before."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from regress_core.history.earlier_trials import earlier_trials
from regress_core.history.store import History, Row
from regress_core.stats.trials import Trials
from tests.history.support import AT, case_result, evaluation, write

SHA = "a" * 64
NOW = AT + timedelta(days=30)


def entered(
    history: History,
    number: int,
    statuses: str,
    *,
    case: str = "a",
    gate: str = "pass",
    baseline_sha256: str = SHA,
) -> None:
    """Enter an evaluation of a day, with trials that pass, warn, fail, or come to nothing."""
    words = {"p": "pass", "w": "warn", "f": "fail", "i": "warn"}
    rows: list[Row] = [
        case_result(
            case,
            trial=trial,
            evaluation_id=f"e{number}",
            status=words[letter],
            inconclusive=letter == "i",
            baseline_sha256=baseline_sha256,
        )
        for trial, letter in enumerate(statuses, start=1)
    ]
    created = evaluation(f"e{number}", created_at=AT + timedelta(days=number), gate_status=gate)
    write(history, {"evaluations": [created], "case_results": rows}, evaluation_id=f"e{number}")


def found(history: History, *, most: int = 14, days: int = 30) -> dict[str, Trials]:
    baselines = {"a": SHA, "b": SHA}
    return earlier_trials(history, "shop", before=AT + timedelta(days=days), most=most, baselines=baselines)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.open(tmp_path / "store")


def test_without_a_history_nothing_is_known(history: History) -> None:
    assert found(history) == {}


def test_conclusive_trials_are_counted_and_a_warning_passes(history: History) -> None:
    entered(history, 1, "pwfi")
    entered(history, 2, "pp")
    assert found(history) == {"a": Trials(4, 5)}


def test_each_case_has_its_own(history: History) -> None:
    entered(history, 1, "pf")
    entered(history, 2, "ppp", case="b")
    assert found(history) == {"a": Trials(1, 2), "b": Trials(3, 3)}


def test_an_evaluation_that_the_gate_failed_is_no_measure(history: History) -> None:
    entered(history, 1, "pp")
    entered(history, 2, "ff", gate="fail")
    entered(history, 3, "pf", gate="warn")
    assert found(history) == {"a": Trials(3, 4)}


@pytest.mark.parametrize(("most", "trials"), [(1, Trials(1, 3)), (2, Trials(1, 4)), (9, Trials(2, 5))])
def test_the_last_ones_count(history: History, most: int, trials: Trials) -> None:
    for number, statuses in ((1, "p"), (2, "f"), (3, "pff")):
        entered(history, number, statuses)
    assert found(history, most=most) == {"a": trials}


def test_only_what_was_before(history: History) -> None:
    entered(history, 1, "p")
    entered(history, 5, "f")
    assert found(history, days=5) == {"a": Trials(1, 1)}
    assert found(history, days=1) == {}


def test_trials_against_another_baseline_do_not_count(history: History) -> None:
    entered(history, 1, "ff", baseline_sha256="b" * 64)
    entered(history, 2, "p")
    assert found(history) == {"a": Trials(1, 1)}


def test_the_newest_revision_counts(history: History) -> None:
    entered(history, 1, "ip")
    again = case_result(
        "a", 2, evaluation_id="e1", trial=1, status="fail", inconclusive=False, baseline_sha256=SHA
    )
    revised = evaluation("e1", 2, created_at=AT + timedelta(days=1), gate_status="warn")
    write(history, {"evaluations": [revised], "case_results": [again]}, evaluation_id="e1", number=2)
    assert found(history) == {"a": Trials(1, 2)}
