"""Which side a record stands on changes what a difference is called, not whether there is one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given

from regress_core.compare.model import Comparison, Difference
from regress_core.compare.options import CompareOptions
from regress_core.records.json_io import JsonObject
from tests.compare.strategies import RECORDS, RUNS
from tests.compare.support import REFERENCE, Turns, compare, run_of, text_of

_MIRRORED = {"mismatch": "mismatch", "missing_left": "missing_right", "missing_right": "missing_left"}
_OPTIONS = [CompareOptions(), REFERENCE]
_OPTION_IDS = ["default", "reference"]


def _facts(differences: Iterable[Difference], *, mirrored: bool) -> Counter[tuple[str, str, str, str]]:
    """Count differences without their indexes, which count in the left record."""
    facts: Counter[tuple[str, str, str, str]] = Counter()
    for difference in differences:
        path = re.sub(r"\[\d+\]", "[]", difference.path)
        left, right = text_of(difference.left), text_of(difference.right)
        if mirrored:
            facts[path, _MIRRORED[difference.kind], right, left] += 1
        else:
            facts[path, difference.kind, left, right] += 1
    return facts


def _assert_mirrored(one: Comparison, other: Comparison) -> None:
    assert one.equal is other.equal
    for a, b in ((one.differences, other.differences), (one.provenance, other.provenance)):
        assert _facts(a, mirrored=False) == _facts(b, mirrored=True)
    assert one.sections == other.sections
    assert one.signals == other.signals
    assert one.summary == other.summary
    assert one.metrics.missing_tool_calls == other.metrics.extra_tool_calls
    assert one.metrics.matched_tool_calls == other.metrics.matched_tool_calls


@pytest.mark.parametrize("options", _OPTIONS, ids=_OPTION_IDS)
@given(left=RECORDS, right=RECORDS)
def test_records(options: CompareOptions, left: JsonObject, right: JsonObject) -> None:
    _assert_mirrored(compare(left, right, options), compare(right, left, options))


@pytest.mark.parametrize("options", _OPTIONS, ids=_OPTION_IDS)
@pytest.mark.parametrize("decided", [True, False], ids=["decided", "undecided"])
@given(left=RUNS, right=RUNS)
def test_runs(options: CompareOptions, left: Turns, right: Turns, *, decided: bool) -> None:
    a, b = run_of(left, decided=decided), run_of(right, decided=decided)

    _assert_mirrored(compare(a, b, options), compare(b, a, options))


@given(left=RECORDS, right=RECORDS)
def test_a_difference_has_the_sides_its_kind_says(left: JsonObject, right: JsonObject) -> None:
    comparison = compare(left, right)

    assert comparison.equal is (not comparison.differences)
    for difference in (*comparison.differences, *comparison.provenance):
        sides = set(difference.to_json()) - {"path", "kind"}
        assert (
            sides
            == {
                "mismatch": {"left", "right"},
                "missing_left": {"right"},
                "missing_right": {"left"},
            }[difference.kind]
        )
