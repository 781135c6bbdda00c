"""Arguments of a call: JSON text and Python-repr text become values; what is neither stays text."""

from __future__ import annotations

import ast
import warnings

from regress_core.records.json_io import JsonObject, JsonValue, dumps, loads


def parse_arguments(arguments: JsonValue) -> JsonValue:
    """Read the text of arguments strictly; give anything but text, and text that is neither, as it is."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return loads(arguments)
    except ValueError:  # no JSON, or JSON that would lose something: NaN, a key that stands twice
        pass
    try:
        return _python_value(arguments.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # whatever Python's parser may raise
        return arguments


def _python_value(text: str) -> JsonValue:
    """Read the repr of a dict or list, as programs log it that print instead of writing JSON.

    Raises:
        ValueError: If it is no such text, or holds what JSON cannot.
        SyntaxError: If it is no Python.
        RecursionError: If it nests too deeply.
        MemoryError: If it nests too deeply for Python's parser.
    """
    if not text.startswith(("{", "[")):
        raise ValueError("no dict and no list")
    with warnings.catch_warnings(action="ignore"):  # Python's parser warns of odd escapes; it is not our code
        expression = ast.parse(text, mode="eval").body
    value = _literal(expression)
    dumps(value)  # refuses infinities and integers of more digits than can be printed
    return value


def _literal(node: ast.expr) -> JsonValue:
    """Like `ast.literal_eval` for what JSON can hold, but a key that stands twice is refused, not dropped."""
    match node:
        case ast.Dict(keys=keys, values=values):
            return _object(keys, values)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_literal(element) for element in elements]
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)) if (
            not isinstance(value, bool)
        ):
            return -value
        case _:
            raise ValueError("no JSON value")


def _object(keys: list[ast.expr | None], values: list[ast.expr]) -> JsonObject:
    result: JsonObject = {}
    for key, value in zip(keys, values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or key.value in result:
            raise ValueError("a key is no text, or stands twice")
        result[key.value] = _literal(value)
    return result
