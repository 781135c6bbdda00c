"""The tool calls of a run against the reference's."""

from __future__ import annotations

import pytest

from regress_core.records.model import RunRecord
from regress_core.records.tool_calls import extract_tool_calls
from tests.support.conformance import Row, row_params
from tests.support.json_compare import json_difference
from tests.support.records import record_json


def _counts(row: Row) -> str:
    return f"{len(row['items'])}items-{len(row['calls'])}calls"


@pytest.mark.parametrize("row", row_params("extract_tool_calls", _counts))
def test_items_give_the_references_calls(row: Row) -> None:
    calls = [call.to_json() for call in extract_tool_calls(row["items"])]

    assert json_difference(row["calls"], calls) is None


@pytest.mark.parametrize("row", row_params("extract_tool_calls", _counts))
def test_a_record_gives_the_calls_of_its_items(row: Row) -> None:
    record = RunRecord.parse(record_json(items=row["items"]))

    calls = [call.to_json() for call in extract_tool_calls(record)]

    assert json_difference(row["calls"], calls) is None
