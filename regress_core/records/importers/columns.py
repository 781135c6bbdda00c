"""SQL columns for the values of JSON rows, so that `--where` sees the same types whatever rows there are.

DuckDB's own detection turns texts into dates and UUIDs, and gives up on rows whose keys differ in letter
case only; a condition would then work or not by accident.
"""

from __future__ import annotations

from collections import defaultdict
from typing import cast

from regress_core.records.json_io import JsonObject, JsonValue, clean_text

_DEEPEST = 12  # what lies deeper is reached with DuckDB's JSON functions
_MOST_FIELDS = 500  # an object with more is a dictionary, not a record
_LARGEST_BIGINT = 2**63 - 1


class Shape:
    """What values a column, field or list element has in the rows seen so far."""

    def __init__(self, depth: int = 0) -> None:
        self._depth = depth
        self._scalars: set[str] = set()
        self._has_object = False
        self._fields: dict[str, Shape] = {}
        self._element: Shape | None = None

    def add(self, value: JsonValue) -> None:
        """Take one more value into account."""
        if isinstance(value, dict):
            self._has_object = True
            self._add_fields(cast("JsonObject", value))
        elif isinstance(value, list):
            self._element = self._element or Shape(self._depth + 1)
            if self._depth < _DEEPEST:
                for element in cast("list[JsonValue]", value):
                    self._element.add(element)
        elif value is not None:
            self._scalars.add(_scalar_type(value))

    def _add_fields(self, value: JsonObject) -> None:
        if self._depth == _DEEPEST:
            return
        for key, child in value.items():
            field = self._fields.get(key)
            if field is None:
                if len(self._fields) > _MOST_FIELDS:
                    return
                field = self._fields[key] = Shape(self._depth + 1)
            field.add(child)

    def sql_type(self) -> str:
        """Give the type: mixed scalars are text, anything else that is mixed is JSON."""
        kinds = (bool(self._scalars), self._has_object, self._element is not None)
        if kinds == (True, False, False):
            return self._scalar()
        if kinds == (False, False, True) and self._element is not None:
            return f"{self._element.sql_type()}[]"
        return self._struct() if kinds == (False, True, False) else "JSON"

    def _scalar(self) -> str:
        if len(self._scalars) == 1:
            return next(iter(self._scalars))
        return "DOUBLE" if self._scalars <= {"BIGINT", "DOUBLE"} else "VARCHAR"

    def _struct(self) -> str:
        names = {clean_text(key).casefold() for key in self._fields}
        # A struct's fields need names, which SQL tells apart without regard to letter case.
        if "" in names or not 0 < len(names) == len(self._fields) <= _MOST_FIELDS:
            return "JSON"
        fields = [f"{_quoted(key)} {shape.sql_type()}" for key, shape in self._fields.items()]
        return f"STRUCT({', '.join(fields)})"


def _scalar_type(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "BOOLEAN"
    if isinstance(value, int):
        return "BIGINT" if abs(value) <= _LARGEST_BIGINT else "DOUBLE"
    return "DOUBLE" if isinstance(value, float) else "VARCHAR"


def _quoted(name: str) -> str:
    return '"' + clean_text(name).replace('"', '""') + '"'


class Columns:
    """The columns of the rows seen so far, of those that a condition mentions."""

    def __init__(self, condition: str) -> None:
        self._condition = condition.casefold()
        self._spellings: dict[str, str] = {}
        self._shapes: defaultdict[str, Shape] = defaultdict(Shape)
        self.names: dict[str, None] = {}

    def cells(self, row: JsonObject) -> JsonObject:
        """Give the mentioned cells of one more row, under the names of their columns."""
        cells: JsonObject = {}
        for key, value in row.items():
            name = clean_text(key)
            self.names[name] = None
            if name and name.casefold().replace('"', '""') in self._condition:
                # Keys that differ in letter case only are one column, as in SQL; the first of a row counts.
                column = self._spellings.setdefault(name.casefold(), name)
                if column not in cells:
                    cells[column] = value
                    self._shapes[column].add(value)
        return cells

    def sql_types(self) -> dict[str, str]:
        """Give each mentioned column its type."""
        return {name: shape.sql_type() for name, shape in self._shapes.items()}
