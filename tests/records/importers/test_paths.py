"""Dotted paths inside a row."""

from __future__ import annotations

from typing import Any

import pytest

from regress_core.records.importers.paths import Found, find, require
from regress_core.records.json_io import JsonError

ROW: Any = {
    "id": 7,
    "info": {"task": {"user_id": "u1"}, "0": "zero"},
    "list": [{"x": None}, [10, 20]],
    "odd key": 1,
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("id", Found("$.id", 7)),
        ("info.task.user_id", Found("$.info.task.user_id", "u1")),
        ("info.0", Found("$.info['0']", "zero")),
        ("list.0.x", Found("$.list[0].x", None)),
        ("list.1.1", Found("$.list[1][1]", 20)),
        ("odd key", Found("$['odd key']", 1)),
    ],
)
def test_found(path: str, found: Found) -> None:
    assert require(ROW, path) == found
    assert find(ROW, path) == found


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("nope", "$.nope: the field is missing"),
        ("info.task.nope.more", "$.info.task.nope: the field is missing"),
        ("id.x", "$.id.x: the field is missing"),
        ("list.2", "$.list[2]: the list is too short"),
        ("list.-1", "$.list['-1']: the field is missing"),
        ("list.²", "$.list['²']: the field is missing"),
        ("", "$['']: the field is missing"),
    ],
)
def test_missing(path: str, fault: str) -> None:
    assert find(ROW, path) is None
    with pytest.raises(JsonError) as caught:
        require(ROW, path)
    assert str(caught.value) == fault
