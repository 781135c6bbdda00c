"""The assignment problem: pairing two lists so that the pairs cost the least in all."""

from __future__ import annotations

from collections.abc import Sequence


def cheapest_pairs(costs: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Pair rows with columns so that the sum of their costs is the smallest; as many pairs as there can be.

    The Hungarian method with potentials, in O(n² m): H. W. Kuhn, "The Hungarian method for the assignment
    problem", Naval Research Logistics Quarterly 2 (1955), 83-97; it augments along shortest paths, as R.
    Jonker and A. Volgenant do, Computing 38 (1987), 325-340.

    Args:
        costs: A row for each entry of one list, with a cost for each entry of the other.

    Returns:
        Row and column of each pair, by row.
    """
    if not costs or not costs[0]:
        return []
    if len(costs) > len(costs[0]):
        turned = [[row[column] for row in costs] for column in range(len(costs[0]))]
        return sorted((row, column) for column, row in cheapest_pairs(turned))
    width = len(costs[0])
    row_of = [-1] * (width + 1)  # the last column is no real one: a row starts there
    row_potential, column_potential = [0.0] * len(costs), [0.0] * (width + 1)
    for row in range(len(costs)):
        _augment(row, costs, row_of, row_potential, column_potential)
    return sorted((row, column) for column, row in enumerate(row_of[:width]) if row >= 0)


def _augment(
    start: int,
    costs: Sequence[Sequence[float]],
    row_of: list[int],
    row_potential: list[float],
    column_potential: list[float],
) -> None:
    """Take one more row in, along the cheapest way of moving rows that have a column."""
    width = len(row_of) - 1
    row_of[width] = start
    distance = [float("inf")] * width
    came_from = [width] * width
    settled: list[int] = []
    open_columns = set(range(width))
    column = width
    while row_of[column] >= 0:
        settled.append(column)
        open_columns.discard(column)
        row = row_of[column]
        for other in open_columns:
            cost = costs[row][other] - row_potential[row] - column_potential[other]
            if cost < distance[other]:
                distance[other], came_from[other] = cost, column
        column = min(open_columns, key=lambda other: (distance[other], other))
        step = distance[column]
        for one in settled:
            row_potential[row_of[one]] += step
            column_potential[one] -= step
        for one in open_columns:
            distance[one] -= step
    while column != width:
        row_of[column] = row_of[came_from[column]]
        column = came_from[column]
    row_of[width] = -1
