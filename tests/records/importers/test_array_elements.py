"""Long arrays taken apart: the same elements as a parser gives, wherever the reading stops in between."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.importers import array_elements as module
from regress_core.records.importers.array_elements import Element, array_elements
from tests.support.strategies import JSON_VALUES

LARGEST = 1000


def elements(text: bytes, *, first: int | None = None) -> list[Element]:
    """Take an array apart, of which so many bytes have been read."""
    begun = text.index(b"[") + 1 if first is None else first
    return list(array_elements(text[:begun], BytesIO(text[begun:]), LARGEST))


@given(st.lists(JSON_VALUES, max_size=5), st.sampled_from([None, 0, 1]), st.integers(1, 9), st.data())
def test_the_elements_are_those_of_a_parser(
    values: list[Any], indent: int | None, at_once: int, data: st.DataObject
) -> None:
    text = b" \n" + json.dumps(values, indent=indent, ensure_ascii=data.draw(st.booleans())).encode(
        "utf-8", "surrogatepass"
    )
    first = data.draw(st.integers(text.index(b"[") + 1, len(text)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_AT_ONCE", at_once)
        patch.setattr(f"{__name__}.LARGEST", 10**6)
        found = elements(text + b"\n\n", first=first)
    assert [json.loads(one.text.decode("utf-8", "surrogatepass")) for one in found] == values
    assert {one.fault for one in found} <= {None}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"[]", []),
        (b"[ \n ]", []),
        (b"[1,2]", [(b"1", 1, 2, None), (b"2", 1, 4, None)]),
        (b'\n[\n  {"a": "]"},\n\n {"b": [1, {"c": "\\""}]} ]', [
            (b'{"a": "]"}', 3, 3, None),
            (b'{"b": [1, {"c": "\\""}]}', 5, 2, None),
        ]),
        # What is no JSON is for the parser to tell; the elements around it are what they are.
        (b"[1, x, 3]", [(b"1", 1, 2, None), (b"x", 1, 5, None), (b"3", 1, 8, None)]),
        (b"[1,]", [(b"1", 1, 2, None), (b"", 1, 4, None)]),
        (b"[,1]", [(b"", 1, 2, None), (b"1", 1, 3, None)]),
        (b"[1", [(b"1", 1, 2, "the array is cut short")]),
        (b"[1, [2, 3]", [(b"1", 1, 2, None), (b"[2, 3]", 1, 5, "the array is cut short")]),
        (b'[1, "2, 3]', [(b"1", 1, 2, None), (b'"2, 3]', 1, 5, "the array is cut short")]),
        (b"[1] \n 2", [(b"1", 1, 2, None), (b"2", 2, 2, "there is more text after the array's end")]),
        (b"[1]]", [(b"1", 1, 2, None), (b"]", 1, 4, "there is more text after the array's end")]),
    ],
)  # fmt: skip
def test_where_they_are_and_what_is_wrong(
    text: bytes, found: list[tuple[bytes, int, int, str | None]]
) -> None:
    assert [(one.text, one.line, one.column, one.fault) for one in elements(text)] == found


def test_what_is_too_large_is_not_read_to_its_end() -> None:
    class Endless(BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return b"x" * (size or 1)

    (found,) = array_elements(b'["', Endless(), LARGEST * LARGEST)
    assert found.fault == f"larger than {LARGEST * LARGEST // 1024**2} MiB"
    assert len(found.text) < 6 * LARGEST * LARGEST
