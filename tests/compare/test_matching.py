"""Matching two lists whose order does not count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.compare.matching import Matching, match

# What stands on the left, on the right, and what is to come out; entries are equal by their first letter.
CASES: list[tuple[str, str, Matching[str]]] = [
    ("", "", Matching([], [], [])),
    ("a1", "", Matching([], ["a1"], [])),
    ("", "a1", Matching([], [], ["a1"])),
    ("a1", "a2", Matching([("a1", "a2")], [], [])),
    ("a1", "b1", Matching([], ["a1"], ["b1"])),
    ("a1 b1", "b2 a2", Matching([("a1", "a2"), ("b1", "b2")], [], [])),
    ("a1 a2", "a3 a4", Matching([("a1", "a3"), ("a2", "a4")], [], [])),
    ("a1 a2 a3", "a4", Matching([("a1", "a4")], ["a2", "a3"], [])),
    ("a1", "a2 a3 a4", Matching([("a1", "a2")], [], ["a3", "a4"])),
    ("c1 a1 b1", "b2 d2 a2 e2", Matching([("a1", "a2"), ("b1", "b2")], ["c1"], ["d2", "e2"])),
]


@pytest.mark.parametrize(("left", "right", "matching"), CASES)
def test_entries_of_one_key_are_paired_first_come_first_served(
    left: str, right: str, matching: Matching[str]
) -> None:
    assert match(left.split(), right.split(), lambda entry: entry[0]) == matching


@pytest.mark.parametrize(
    ("left", "right", "matching"),
    [
        ("a", "a a", Matching([("a", "a")], [], ["a"])),
        ("a a", "a", Matching([("a", "a")], ["a"], [])),
        ("a a", "a a a b", Matching([("a", "a"), ("a", "a")], [], ["a", "b"])),
    ],
)
def test_one_object_may_stand_several_times(left: str, right: str, matching: Matching[str]) -> None:
    objects = {"a": "a", "b": "b"}

    found = match([objects[e] for e in left.split()], [objects[e] for e in right.split()], str)

    assert found == matching


_ENTRIES = st.lists(st.integers(0, 3), max_size=8).map(lambda keys: list(enumerate(keys)))


@given(_ENTRIES, _ENTRIES)
def test_against_a_search_through_all_entries(
    left: list[tuple[int, int]], right: list[tuple[int, int]]
) -> None:
    free, pairs, alone = list(right), list[tuple[tuple[int, int], tuple[int, int]]](), list[tuple[int, int]]()
    for entry in left:
        partner = next((other for other in free if other[1] == entry[1]), None)
        if partner is None:
            alone.append(entry)
        else:
            pairs.append((entry, partner))
            free.remove(partner)

    found = match(left, right, lambda entry: entry[1])

    assert found == Matching(pairs, alone, free)
