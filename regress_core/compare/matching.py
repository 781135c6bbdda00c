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
    waiting: defaultdict[Hashable, deque[T]] = defaultdict(deque)
    right_entries = list(right)
    for entry in right_entries:
        waiting[key(entry)].append(entry)
    pairs: list[tuple[T, T]] = []
    left_over: list[T] = []
    for entry in left:
        queue = waiting.get(key(entry))
        if queue:
            pairs.append((entry, queue.popleft()))
        else:
            left_over.append(entry)
    unmatched = {id(entry) for queue in waiting.values() for entry in queue}
    return Matching(pairs, left_over, [entry for entry in right_entries if id(entry) in unmatched])
