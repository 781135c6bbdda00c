"""The comparison of two records against the reference's, by its own rule and its five sections."""

from __future__ import annotations

from typing import Any

import pytest

from regress_core.compare.comparison import compare_run_records
from regress_core.compare.options import CompareOptions
from regress_core.records.json_io import dumps, loads
from regress_core.records.model import RunRecord
from tests.support.conformance import Row, row_params
from tests.support.json_compare import json_difference

_OURS = ("provenance", "sections", "signals")


def _finding(row: Row) -> str:
    return "equal" if row["comparison"]["equal"] else f"{len(row['comparison']['differences'])}differences"


def _options(row: Row) -> CompareOptions:
    options: dict[str, Any] = row.get("options") or {}
    include = options.get("includeSections")
    return CompareOptions(
        ignore_volatile=False,
        include_sections=None if include is None else tuple(include),
        exclude_sections=tuple(options.get("excludeSections") or ()),
    )


@pytest.mark.parametrize("row", row_params("compare", _finding))
def test_two_records_give_the_references_comparison(row: Row) -> None:
    baseline, candidate = RunRecord.parse(row["baseline"]), RunRecord.parse(row["candidate"])

    found = compare_run_records(baseline, candidate, _options(row)).to_json()

    got = loads(dumps({key: value for key, value in found.items() if key not in _OURS}))
    assert json_difference(row["comparison"], got) is None
