"""From labelled verdicts to a judge's figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.stats.calibration import (
    Calibration,
    Gap,
    GapCount,
    JudgeVersion,
    LabelledVerdict,
    calibrate,
    items_in_common,
)
from regress_core.stats.intervals import wilson

TRIAGE = JudgeVersion("triage", "m-1", "v1")

# A row by two letters: what the judge says, and what is true; p for pass, f for fail.
_MEANING = {"p": True, "f": False}


def verdicts(cells: str, version: JudgeVersion = TRIAGE, first: int = 1) -> list[LabelledVerdict]:
    return [
        LabelledVerdict(f"i{number}", version, _MEANING[said], _MEANING[truly])
        for number, (said, truly) in enumerate(cells.split(), start=first)
    ]


def gap(item: str, gap: Gap, version: JudgeVersion = TRIAGE) -> LabelledVerdict:
    return LabelledVerdict(item, version, None, None, gap)


def test_the_figures_of_one_judge() -> None:
    (found,) = calibrate(verdicts("pp pp pf fp ff pf ff pf"))

    assert (found.judge, found.model, found.prompt_version) == TRIAGE
    assert (found.rows, found.compared, found.gaps) == (8, 8, [])
    assert found.confusion.model_dump() == {"true_pass": 2, "false_pass": 3, "false_fail": 1, "true_fail": 2}
    assert (found.agreement.hits, found.agreement.of, found.agreement.value) == (4, 8, 0.5)
    assert found.agreement.interval == wilson(4, 8)
    assert (found.false_pass_rate.hits, found.false_pass_rate.of) == (3, 5)
    assert (found.false_fail_rate.hits, found.false_fail_rate.of) == (1, 3)
    assert (found.false_passes, found.false_fails) == (["i3", "i6", "i8"], ["i4"])
    # po = 4/8; judged pass 5/8, truly pass 3/8: pe = 15/64 + 15/64; (32 - 30) / (64 - 30).
    assert found.kappa.value == pytest.approx(2 / 34)


def test_what_cannot_be_compared_is_counted_and_in_no_figure() -> None:
    """J6: no verdict is no fail."""
    rows = [
        *verdicts("pp ff"),
        gap("a", Gap("unmapped verdict", "refuse")),
        gap("b", Gap("unreadable verdict", "the reply holds no JSON")),
        gap("c", Gap("unmapped verdict", "maybe")),
        gap("d", Gap("unmapped verdict", "refuse")),
        gap("e", Gap("no label")),
    ]

    (found,) = calibrate(rows)

    assert (found.rows, found.compared, found.agreement.of) == (7, 2, 2)
    assert found.gaps == [
        GapCount(kind="no label", text="", rows=1),
        GapCount(kind="unreadable verdict", text="the reply holds no JSON", rows=1),
        GapCount(kind="unmapped verdict", text="refuse", rows=2),
        GapCount(kind="unmapped verdict", text="maybe", rows=1),
    ]


def test_nothing_to_compare_gives_no_number() -> None:
    (found,) = calibrate([gap("a", Gap("no verdict"))])

    figures = (found.agreement, found.kappa, found.false_pass_rate, found.false_fail_rate)
    assert [figure.value for figure in figures] == [None] * 4
    assert [figure.interval for figure in figures] == [None] * 4


def test_judges_are_told_apart_by_model_and_prompt_version_too() -> None:
    others = [
        JudgeVersion("triage", "m-1", "v2"),
        JudgeVersion("triage", "m-0", "v1"),
        JudgeVersion("rubric", "m-1", "v1"),
        JudgeVersion(None, None, None),
    ]
    rows = [row for version in [TRIAGE, *others] for row in verdicts("pp pf", version)]

    found = calibrate(rows)

    assert [(it.judge, it.model, it.prompt_version) for it in found] == [
        (None, None, None),
        ("rubric", "m-1", "v1"),
        ("triage", "m-0", "v1"),
        ("triage", "m-1", "v1"),
        ("triage", "m-1", "v2"),
    ]
    assert {it.compared for it in found} == {2}


OTHER = JudgeVersion("triage", "m-2", "v1")


@pytest.mark.parametrize(
    ("rows", "common"),
    [
        pytest.param([], (0, 0), id="nothing"),
        pytest.param(verdicts("pp pp"), (2, 2), id="one judge"),
        pytest.param([*verdicts("pp pf ff"), *verdicts("pp pp ff", OTHER)], (3, 3), id="the same items"),
        pytest.param([*verdicts("pp pf"), *verdicts("pp ff", OTHER, first=2)], (1, 3), id="some the same"),
        pytest.param(
            [
                *verdicts("pp"),
                gap("i2", Gap("no verdict")),
                gap("i3", Gap("no verdict")),
                *verdicts("pp pf ff", OTHER),
            ],
            (1, 3),
            id="J10",
        ),
        pytest.param([gap("i1", Gap("no verdict")), *verdicts("pp", OTHER)], (0, 1), id="one without any"),
    ],
)
def test_items_that_all_judges_share(rows: list[LabelledVerdict], common: tuple[int, int]) -> None:
    assert items_in_common(rows) == common


_ROWS = st.lists(st.sampled_from(["pp", "pf", "fp", "ff"])).map(lambda cells: verdicts(" ".join(cells)))


@given(_ROWS)
def test_json_reads_back(rows: list[LabelledVerdict]) -> None:
    for found in calibrate(rows):
        assert Calibration.from_json(found.to_json()) == found
        assert found.confusion.count == found.compared == len(rows)
