"""The search for the best script: which turn groups of two trajectories go together, in order.

A dynamic program over groups, as for a longest common subsequence, in a band around the diagonals that is
widened until no better script can lie outside of it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from typing import NamedTuple

MOST_CELLS = 8_000_000
"""How many cells of the dynamic program are filled at most: about two seconds and 100 MB."""

_FIRST_SLACK = 4
_UNREACHABLE = -(1 << 62)

# A call is a plain tuple where speed matters: its group, tool, arguments' canonical text and index, in the
# order in which calls are listed.
Call = tuple[int, str, str, int]


class Group(NamedTuple):
    """The calls of a turn group, and what two groups that are equal have in common."""

    calls: list[Call]
    what: list[tuple[str, str]]


def best_pairs(left: list[Group], right: list[Group], most_cells: int) -> list[tuple[int, int]]:
    """Choose the pairs of groups, by their positions.

    Where the first groups of both sides are equal, some best script pairs them, so that only the rest is
    searched. For in any script at most one of the two has another partner, since two such pairs would cross.
    Their own pair can take the place of that one: it crosses nothing, and saves and keeps no less, since no
    pair of a group saves or keeps more than that with its equal. The same holds for the last groups.
    """
    shorter = min(len(left), len(right))
    start = end = 0
    while start < shorter and left[start].what == right[start].what:
        start += 1
    while end < shorter - start and left[-1 - end].what == right[-1 - end].what:
        end += 1
    middle = _pairs_between(left[start : len(left) - end], right[start : len(right) - end], most_cells)
    return [
        *[(k, k) for k in range(start)],
        *[(start + i, start + j) for i, j in middle],
        *[(len(left) - k, len(right) - k) for k in range(end, 0, -1)],
    ]


def _pairs_between(left: list[Group], right: list[Group], most_cells: int) -> list[tuple[int, int]]:
    """Choose pairs of groups that save most, where the first groups differ.

    The rows of the program are the groups of the side that sorts first, so that ties are broken alike
    whichever side is the baseline.
    """
    if not left or not right:
        return []
    if right[0].what < left[0].what:
        return [(i, j) for j, i in _searched(right, left, most_cells)]
    return _searched(left, right, most_cells)


def _searched(left: list[Group], right: list[Group], most_cells: int) -> list[tuple[int, int]]:
    """Fill a band around the diagonals of both corners, wide enough for every script as short as the best.

    After Ukkonen (1985), "Algorithms for approximate string matching": a script that leaves the band has
    `slack + 1` groups without a partner on one side more than it must, and as many on the other side.
    """
    calls = sum(len(group.calls) for group in (*left, *right))
    must = abs(len(left) - len(right))
    clip = max(most_cells // (2 * len(left)), len(right) // len(left) + 1)
    table = _Table(left, right, unit=calls)
    slack = _FIRST_SLACK
    while True:
        rows = table.rows(slack, clip)
        cost = calls - rows[-1].best[-1] // calls
        needed = (cost - must) // 2
        if slack >= min(needed, clip):
            return _traced(rows)
        slack = min(needed, 4 * slack)


class _Row(NamedTuple):
    """What the first groups of one side save with the first `first`, `first + 1`, … groups of the other."""

    first: int
    best: array[int]


_Token = tuple[str, int] | tuple[str, str, int]


class _Table:
    """What each pair of groups saves, found by the tokens that both groups have.

    The n-th call of a tool in its group is a token, which saves 1 if both groups have it; the n-th call of a
    tool with the same arguments is another one, which saves 1 more and keeps a call. A saving counts `unit`,
    which is more than all kept calls, and a kept call 1, so that kept calls decide between equal savings.
    """

    def __init__(self, left: list[Group], right: list[Group], *, unit: int) -> None:
        self._left = [_tokens(group, unit) for group in left]
        self._columns = len(right)
        self._at: defaultdict[_Token, list[int]] = defaultdict(list)
        for column, group in enumerate(right):
            for token, _ in _tokens(group, unit):
                self._at[token].append(column)

    def rows(self, slack: int, clip: int) -> list[_Row]:
        """Fill the band: the diagonals between the corners with `slack` more on either side.

        Of these, only the `clip` columns on either side of the straight line between the corners. The line
        lies in the band, and from row to row it goes `clip` columns at most, so that each row has a cell
        below the one before.
        """
        count = len(self._left)
        down, across = max(0, count - self._columns) + slack, max(0, self._columns - count) + slack
        last = min(self._columns, across, clip)
        rows = [_Row(0, array("q", bytes(8 * (last + 1))))]
        for row, tokens in enumerate(self._left, start=1):
            centre = row * self._columns // count
            first = max(0, row - down, centre - clip)
            last = min(self._columns, row + across, centre + clip)
            rows.append(self._following(rows[-1], tokens, first, last))
        return rows

    def _following(self, above: _Row, tokens: list[tuple[_Token, int]], first: int, last: int) -> _Row:
        saved = [0] * (last - first + 1)  # by the pair that ends in that column; none ends in column 0
        for token, worth in tokens:
            columns = self._at.get(token, ())
            for column in columns[bisect_left(columns, first - 1) : bisect_left(columns, last)]:
                saved[column + 1 - first] += worth
        missing = last - above.first - len(above.best) + 1
        values = [_UNREACHABLE, *above.best, *[_UNREACHABLE] * missing]
        shift = first - above.first
        best: list[int] = []
        before, diagonal = _UNREACHABLE, values[shift]
        for up, worth in zip(values[shift + 1 :], saved, strict=True):
            diagonal += worth
            if before < diagonal:  # noqa: PLR1730 (a call of max costs more than all else here)
                before = diagonal
            if before < up:  # noqa: PLR1730 (as above)
                before = up
            best.append(before)
            diagonal = up
        return _Row(first, array("q", best))


def _tokens(group: Group, unit: int) -> list[tuple[_Token, int]]:
    """Give the tokens of a group, and what each is worth."""
    tokens: list[tuple[_Token, int]] = []
    seen: defaultdict[str | tuple[str, str], int] = defaultdict(int)
    for what in group.what:
        tool, arguments = what
        tokens += [((tool, seen[tool]), unit), ((tool, arguments, seen[what]), unit + 1)]
        seen[tool] += 1
        seen[what] += 1
    return tokens


def _traced(rows: list[_Row]) -> list[tuple[int, int]]:
    """Find the pairs from the end: a group stays alone where that loses nothing, so that pairs are early."""
    pairs: list[tuple[int, int]] = []
    row, column = len(rows) - 1, rows[-1].first + len(rows[-1].best) - 1
    while row and column:
        here, above = rows[row], rows[row - 1]
        value = here.best[column - here.first]
        up = column - above.first
        if up < len(above.best) and above.best[up] == value:
            row -= 1
        elif column > here.first and here.best[column - 1 - here.first] == value:
            column -= 1
        else:
            row, column = row - 1, column - 1
            pairs.append((row, column))
    return pairs[::-1]
