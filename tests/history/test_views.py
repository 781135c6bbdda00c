"""What the views over trials say: small histories counted by hand."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regress_core.history.store import History, Row
from regress_core.stats.paired import mcnemar
from regress_core.stats.trials import Trials, pass_at_k, pass_hat_k
from tests.history.support import AT, asked, case_result, evaluation, write

WORDS = {"p": "pass", "w": "warn", "f": "fail", "i": "warn"}


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.open(tmp_path / "store")


def enter(history: History, number: int, cases: Mapping[str, str], trigger: str = "night") -> None:
    """Enter an evaluation; a case's letters are its trials: pass, warn, fail, inconclusive."""
    name = f"e{number:02}"
    rows: list[Row] = [
        case_result(case, evaluation_id=name, trial=trial, status=WORDS[letter], inconclusive=letter == "i")
        for case, letters in cases.items()
        for trial, letter in enumerate(letters, start=1)
    ]
    entered = evaluation(name, created_at=AT + timedelta(days=number), trigger=trigger)
    write(history, {"evaluations": [entered], "case_results": rows}, evaluation_id=name)


def test_trial_rates(history: History) -> None:
    enter(history, 1, {"a": "ppwf", "b": "pi", "c": "i", "d": "ff"})

    assert asked(
        history, "SELECT case_id, passed, trials, pass_rate, flaky FROM trial_rates ORDER BY case_id"
    ) == [
        ("a", 3, 4, 0.75, True),
        ("b", 1, 1, 1.0, False),
        ("c", 0, 0, None, False),
        ("d", 0, 2, 0.0, False),
    ]


def test_pass_k(history: History) -> None:
    """Of a, 3 of 4 passed: any two both pass in 3 of 6 pairs, and one does in all; b has no second trial."""
    enter(history, 1, {"a": "pppf", "b": "f", "c": "pp"})

    rows = asked(history, "SELECT k, cases, pass_hat_k, pass_at_k FROM pass_k ORDER BY k")
    assert rows == [
        (1, 3, pytest.approx((3 / 4 + 0 + 1) / 3), pytest.approx((3 / 4 + 0 + 1) / 3)),
        (2, 2, pytest.approx((3 / 6 + 1) / 2), pytest.approx(1.0)),
        (3, 1, pytest.approx(1 / 4), pytest.approx(1.0)),
        (4, 1, pytest.approx(0.0), pytest.approx(1.0)),
    ]


def test_flakiness(history: History) -> None:
    for number, letters in enumerate(["pp", "pf", "pf", "pp", "ii", "pp"], start=1):
        enter(history, number, {"a": letters, "b": "pp"})
    enter(history, 7, {"a": "ff"}, trigger="cli")  # beside no other night

    assert asked(
        history,
        "SELECT case_id, evaluations, trials, passed, flaky_evaluations, flips, flip_rate "
        "FROM flakiness ORDER BY case_id",
    ) == [
        ("a", 6, 12, 8, 2, 2, 0.5),
        ("b", 6, 12, 12, 0, 0, 0.0),
    ]


def test_paired_evaluations(history: History) -> None:
    before = dict.fromkeys("abcdefgh", "p")
    enter(history, 1, {**before, "gone": "p", "down": "p"})
    enter(history, 2, {**before, "down": "p"}, trigger="cli")
    enter(history, 3, {**dict.fromkeys("abcdef", "f"), "g": "p", "h": "w", "down": "i", "new": "f"})
    enter(history, 4, {**before, "a": "pf"})

    assert asked(
        history,
        "SELECT evaluation_id, previous_id, cases, regressed, fixed, drop, p_value, smallest_drop "
        "FROM paired_evaluations ORDER BY evaluation_id",
    ) == [
        ("e03", "e01", 8, 6, 0, 0.75, pytest.approx(2 / 2**6), 0.75),
        ("e04", "e03", 8, 0, 5, -0.625, pytest.approx(2 / 2**5), 0.75),
    ]


def test_with_five_cases_no_drop_can_be_seen(history: History) -> None:
    for number, letter in ((1, "p"), (2, "f")):
        enter(history, number, dict.fromkeys("abcde", letter))
    assert asked(history, "SELECT drop, p_value, smallest_drop FROM paired_evaluations") == [
        (1.0, pytest.approx(2 / 2**5), None)
    ]


_LETTERS = st.text("pwfi", min_size=1, max_size=4)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.dictionaries(st.sampled_from("abcdefghij"), st.tuples(_LETTERS, _LETTERS), min_size=1),
    st.integers(0, 10**9),
)
def test_they_agree_with_the_statistics(
    tmp_path_factory: pytest.TempPathFactory, cases: dict[str, tuple[str, str]], number: int
) -> None:
    history = History.open(tmp_path_factory.mktemp(f"store-{number}"))
    for side in (0, 1):
        enter(history, side + 1, {case: both[side] for case, both in cases.items()})
    counts = {
        case: [Trials(sum(x in "pw" for x in one), sum(x != "i" for x in one)) for one in both]
        for case, both in cases.items()
    }

    for evaluation_id, k, hat, at in asked(
        history, "SELECT evaluation_id, k, pass_hat_k, pass_at_k FROM pass_k"
    ):
        of_evaluation = [both[int(evaluation_id[1:]) - 1] for both in counts.values()]
        for value, function in ((hat, pass_hat_k), (at, pass_at_k)):
            known = [one for trials in of_evaluation if (one := function(trials, k)) is not None]
            assert value == pytest.approx(sum(known) / len(known))
    both_times = [(a, b) for a, b in counts.values() if a.of and b.of]
    regressed = sum(a.passed == a.of and b.passed < b.of for a, b in both_times)
    fixed = sum(a.passed < a.of and b.passed == b.of for a, b in both_times)
    assert asked(history, "SELECT regressed, fixed, p_value FROM paired_evaluations") == (
        [(regressed, fixed, pytest.approx(mcnemar(regressed, fixed)))] if both_times else []
    )
