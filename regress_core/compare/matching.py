"""Matching two lists whose order does not count, and telling what is left over."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Matching(Generic[T]):
    """Pairs of entries, and the entries of either side that found no partner, in their order."""

    pairs: list[tuple[T, T]]
    left: list[T]
    right: list[T]


def match(left: Iterable[T], right: Iterable[T], key: Callable[[T], Hashable]) -> Matching[T]:
    """Pair entries of equal key, first come, first served."""
    right_entries = list(right)
    waiting: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for position, entry in enumerate(right_entries):
        waiting[key(entry)].append(position)
    pairs: list[tuple[T, T]] = []
    left_over: list[T] = []
    for entry in left:
        queue = waiting.get(key(entry))
        if queue:
            pairs.append((entry, right_entries[queue.popleft()]))
        else:
            left_over.append(entry)
    unmatched = sorted(position for queue in waiting.values() for position in queue)
    return Matching(pairs, left_over, [right_entries[position] for position in unmatched])
