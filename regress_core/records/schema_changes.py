"""What changed between two JSON Schemas of a tool's arguments, and whether old calls still fit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from regress_core.records.canonical import same_json
from regress_core.records.json_io import JsonObject, JsonValue, child_path, dumps_text

SchemaPart = Literal["schema", "description"]
"""Which values fit, or only what is said about them."""


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One change.

    Attributes:
        path: The argument, as `compare.arguments` writes it (`items[*].id`); empty for all arguments.
        detail: What changed.
        breaking: Whether arguments that did fit may not fit any more, or mean something else; None where
            that cannot be told.
        part: What it is about.
    """

    path: str
    detail: str
    breaking: bool | None
    part: SchemaPart = "schema"


@dataclass(frozen=True, slots=True)
class _Node:
    """A schema inside another, to whose places its references lead; `ref` is the one that led here."""

    schema: JsonObject
    root: JsonObject
    ref: str | None = None

    def at(self, inner: JsonValue) -> _Node:
        """Give a schema inside this one; `true` and what is no schema allow anything."""
        if inner is False:
            return _Node({"not": {}}, self.root)
        schema = cast("JsonObject", inner) if isinstance(inner, dict) else {}
        ref, met = None, set[str]()
        while isinstance(schema.get("$ref"), str) and schema["$ref"] not in met:
            found = _place(self.root, schema["$ref"])
            if found is None:
                break
            ref = schema["$ref"]
            met.add(ref)
            schema = found | {key: value for key, value in schema.items() if key != "$ref"}
        return _Node(schema, self.root, ref)

    def members(self, key: str) -> Mapping[str, JsonValue]:
        """Give the object at a key; an empty one where there is none."""
        value = self.schema.get(key)
        return cast("JsonObject", value) if isinstance(value, dict) else {}

    def names(self, key: str) -> list[JsonValue]:
        """Give the list at a key; an empty one where there is none."""
        value = self.schema.get(key)
        return cast("list[JsonValue]", value) if isinstance(value, list) else []


def _place(root: JsonObject, reference: str) -> JsonObject | None:
    """Follow a reference such as `#/$defs/Order`."""
    if not reference.startswith("#"):
        return None
    here: JsonValue = root
    for step in reference[1:].split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        here = cast("JsonObject", here).get(key) if isinstance(here, dict) else None
    return cast("JsonObject", here) if isinstance(here, dict) else None


_SAID = ("description", "title", "examples", "deprecated")
_OF_NO_ACCOUNT = {"$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "readOnly", "writeOnly"}
_LOWER = {
    **dict.fromkeys(("minimum", "exclusiveMinimum"), -math.inf),
    **dict.fromkeys(("minLength", "minItems", "minProperties"), 0.0),
}
_UPPER = dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), math.inf)
_LOOKED_AT = {
    *_SAID,
    *_OF_NO_ACCOUNT,
    *_LOWER,
    *_UPPER,
    *("type", "enum", "const", "default", "properties", "required", "additionalProperties", "items"),
}

_NEW = "new, optional"
"""Of an argument: no call of before is about it, but one that had it all the same may not fit its schema."""

_Met = frozenset[tuple[str, str]]


def schema_changes(before: JsonObject, after: JsonObject) -> list[SchemaChange]:
    """Compare two schemas that `schema_fault` finds nothing wrong with.

    Types, choices, bounds, arguments and list elements are followed, through `anyOf`, `oneOf` and references.
    Of any other keyword it is only said that it changed.
    """
    if same_json(before, after):
        return []
    try:
        return list(_changes("$", _Node({}, before).at(before), _Node({}, after).at(after), frozenset()))
    except RecursionError:
        return [_change("$", "changed; it nests too deeply, or refers to itself without end", breaking=None)]


def _changes(path: str, before: _Node, after: _Node, met: _Met) -> Iterator[SchemaChange]:
    if before.ref is not None and after.ref is not None:
        pair = (before.ref, after.ref)
        if pair in met:  # both schemas come back to where they were
            return
        met |= {pair}
    for key in _SAID:
        old, new = before.schema.get(key), after.schema.get(key)
        if not same_json(old, new):
            yield _change(path, f"{key} {_shown(old)} → {_shown(new)}", breaking=False, part="description")
    yield from _default(path, before.schema, after.schema)
    olds, news = _kinds(before), _kinds(after)
    if len(olds) == len(news) == 1:
        yield from _of_one_kind(path, olds[0], news[0], met)
        return
    lost = [old for old in olds if not any(_takes(new, old, met) for new in news)]
    gained = [new for new in news if not any(_takes(old, new, met) for old in olds)]
    for old, new in _alike(olds, news):
        if old in lost or new in gained:
            yield from _of_one_kind(path, old, new, met)
            lost, gained = [one for one in lost if one is not old], [one for one in gained if one is not new]
    for old in lost:
        yield _change(path, f"no longer takes {_named(old)}", breaking=True)
    for new in gained:
        yield _change(path, f"also takes {_named(new)}", breaking=False)


def _alike(olds: Sequence[_Node], news: Sequence[_Node]) -> Iterator[tuple[_Node, _Node]]:
    """Pair the schemas that are the only ones of their type on either side."""
    for old in olds:
        kind = old.schema.get("type")
        same, others = ([one for one in side if one.schema.get("type") == kind] for side in (olds, news))
        if kind is not None and len(same) == len(others) == 1:
            yield old, others[0]


def _kinds(node: _Node) -> list[_Node]:
    """Give the schemas one of which a value has to fit: those of `anyOf`, or one for each type."""
    for key in ("anyOf", "oneOf"):
        if node.names(key) and not node.schema.keys() - {key, "default", *_SAID, *_OF_NO_ACCOUNT}:
            return [kind for inner in node.names(key) for kind in _kinds(node.at(inner))]
    types = node.schema.get("type")
    if not isinstance(types, list):
        return [node]
    return [_Node({**node.schema, "type": one}, node.root) for one in cast("list[JsonValue]", types)]


def _takes(taker: _Node, given: _Node, met: _Met) -> bool:
    """Tell whether what fits one schema is sure to fit another."""
    changes = _of_one_kind("$", given, taker, met)
    return all(change.breaking is False and change.detail != _NEW for change in changes)


def _of_one_kind(path: str, before: _Node, after: _Node, met: _Met) -> Iterator[SchemaChange]:
    old, new = before.schema.get("type"), after.schema.get("type")
    if old != new:
        widened = new is None or (old, new) == ("integer", "number")
        yield _change(path, f"type {_word(old)} → {_word(new)}", breaking=not widened)
        if not widened and old is not None and (old, new) != ("number", "integer"):
            return  # of nothing that did fit more can be said
    yield from _choices(path, before.schema, after.schema)
    yield from _bounds(path, before.schema, after.schema)
    yield from _arguments(path, before, after, met)
    if "items" in before.schema or "items" in after.schema:
        inner = before.at(before.schema.get("items")), after.at(after.schema.get("items"))
        yield from _changes(f"{path}[*]", *inner, met)
    yield from _others(path, before.schema, after.schema)


def _default(path: str, before: JsonObject, after: JsonObject) -> Iterator[SchemaChange]:
    old, new = ([schema["default"]] if "default" in schema else [] for schema in (before, after))
    if not same_json(old, new):
        # Where there was one, calls that leave the argument out mean something else now.
        yield _change(path, f"default {_first(old)} → {_first(new)}", breaking=bool(old))


def _choices(path: str, before: JsonObject, after: JsonObject) -> Iterator[SchemaChange]:
    old, new = _enum(before), _enum(after)
    if old is None and new is not None:
        yield _change(path, f"takes only {_listed(new)}", breaking=True)
    elif old is not None and new is None:
        yield _change(path, f"no longer only {_listed(old)}", breaking=False)
    elif old is not None and new is not None:
        lost = [value for value in old if not any(same_json(value, one) for one in new)]
        gained = [value for value in new if not any(same_json(value, one) for one in old)]
        if lost:
            yield _change(path, f"no longer takes {_listed(lost)}", breaking=True)
        if gained:
            yield _change(path, f"also takes {_listed(gained)}", breaking=False)


def _enum(schema: JsonObject) -> Sequence[JsonValue] | None:
    if "const" in schema:
        return [schema["const"]]
    enum = schema.get("enum")
    return cast("list[JsonValue]", enum) if isinstance(enum, list) else None


def _bounds(path: str, before: JsonObject, after: JsonObject) -> Iterator[SchemaChange]:
    for bounds, sign in ((_LOWER, 1), (_UPPER, -1)):
        for key, none in bounds.items():
            old, new = before.get(key, none), after.get(key, none)
            if old != new:
                shown = (_shown(before.get(key)), _shown(after.get(key)))
                yield _change(path, f"{key} {shown[0]} → {shown[1]}", breaking=sign * new > sign * old)


def _arguments(path: str, before: _Node, after: _Node, met: _Met) -> Iterator[SchemaChange]:
    old, new = before.members("properties"), after.members("properties")
    needed, needs = before.names("required"), after.names("required")
    names = dict.fromkeys(name for name in (*old, *needed, *new, *needs) if isinstance(name, str))
    for name in names:
        place = child_path(path, name)
        if name not in old and name not in needed:
            required = name in needs
            yield _change(place, "new and required" if required else _NEW, breaking=required)
        elif name not in new and name not in needs:
            yield _change(place, "removed", breaking=True)
        else:
            if (name in needed) != (name in needs):
                required = name in needs
                yield _change(place, "now required" if required else "now optional", breaking=required)
            yield from _changes(place, before.at(old.get(name)), after.at(new.get(name)), met)
    closed, closes = (node.schema.get("additionalProperties") is False for node in (before, after))
    if closed != closes:
        detail = "takes no others any more" if closes else "takes others too"
        yield _change(path, detail, breaking=closes)
    elif any("additionalProperties" in node.schema for node in (before, after)):
        old_others, new_others = (
            node.at(node.schema.get("additionalProperties")) for node in (before, after)
        )
        yield from _changes(f"{path}.*", old_others, new_others, met)


def _others(path: str, before: JsonObject, after: JsonObject) -> Iterator[SchemaChange]:
    """Tell of the keywords that are not followed: a new one takes some values away, a dropped one none.

    Not so `patternProperties`, which allows as well as forbids, and `format`, which few hold values to.
    """
    for key in dict.fromkeys((*before, *after)):
        if key in _LOOKED_AT or same_json([before.get(key)], [after.get(key)]):
            continue
        open_to_doubt = key in ("patternProperties", "format") or (key in before and key in after)
        what = "changed" if key in before and key in after else "added" if key in after else "dropped"
        yield _change(path, f"{key} {what}", breaking=None if open_to_doubt else key in after)


def _change(path: str, detail: str, *, breaking: bool | None, part: SchemaPart = "schema") -> SchemaChange:
    return SchemaChange(path.removeprefix("$").removeprefix("."), detail, breaking, part)


_MOST_CHARACTERS = 60


def _shown(value: JsonValue) -> str:
    if value is None:
        return "none"
    text = dumps_text(value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"


def _first(values: list[JsonValue]) -> str:
    return dumps_text(values[0]) if values else "none"


def _listed(values: Sequence[JsonValue]) -> str:
    text = ", ".join(map(dumps_text, values))
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"


def _word(kind: JsonValue) -> str:
    return "any" if kind is None else str(kind)


def _named(node: _Node) -> str:
    schema: dict[str, Any] = {k: v for k, v in node.schema.items() if k not in {*_SAID, *_OF_NO_ACCOUNT}}
    return str(schema["type"]) if list(schema) == ["type"] else _shown(schema)
