"""The one YAML loader: safe, YAML 1.2 core types, duplicate keys refused, aliases bounded.

PyYAML resolves plain scalars by YAML 1.1 (`yes`, `012`, `1:30` and dates become other types). The core schema
of YAML 1.2 (section 10.3.2) is what the reference's loader uses, and a descriptor's hash depends on it.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from regress_core.errors import InputError, os_error_text
from regress_core.records.json_io import JsonError, JsonValue, loads

_MOST_NODES = 100_000  # what aliases may expand to; a descriptor or suite has some hundreds

_TAG = "tag:yaml.org,2002:"
_CORE_SCALARS = {
    "null": re.compile(r"(?:~|null|Null|NULL|)\Z"),
    "bool": re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"),
    "int": re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z"),
    "float": re.compile(
        r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
    ),
}


class _Loader(yaml.SafeLoader):
    """Resolves plain scalars by the core schema; `_Builder` makes the values."""


_Loader.yaml_implicit_resolvers = {}
for _name, _pattern in _CORE_SCALARS.items():
    # The stub of PyYAML gives this method no types.
    _Loader.add_implicit_resolver(_TAG + _name, _pattern, None)  # pyright: ignore[reportUnknownMemberType]


def load_yaml(path: Path) -> JsonValue:
    """Read a YAML file, or a JSON one where it ends in `.json`, as a JSON value; an empty YAML file is None.

    Raises:
        InputError: If the file cannot be read, is no YAML, gives a key twice, or holds something JSON has
            no value for. The message names line and column.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read: {os_error_text(error)}", file=path) from error
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start}", file=path, remedy="save it as UTF-8") from error
    if path.suffix != ".json":
        return parse_yaml(text, source=path)
    try:
        return loads(text)
    except JsonError as error:
        raise InputError(error.reason, file=path, field=error.path) from error


def parse_yaml(text: str, *, source: Path | str) -> JsonValue:
    """Read YAML text as a JSON value; `source` names it in errors.

    Raises:
        InputError: As `load_yaml`.
    """
    try:
        guarded, guards = _guard_line_breaks(text)
        node = yaml.compose(guarded, Loader=_Loader)
        return None if node is None else _Builder(source, guards).value(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else None
        raise InputError(f"not YAML: {error.problem or error.context}", file=source, field=place) from error
    except yaml.YAMLError as error:
        raise InputError(f"not YAML: {error}", file=source) from error
    except (
        ValueError,
        OverflowError,
    ) as error:  # an escape beyond Unicode, an integer of thousands of digits
        raise InputError(f"not YAML: {error}", file=source) from error
    except RecursionError as error:
        raise InputError("nests too deeply, or an alias holds itself", file=source) from error


_YAML_11_LINE_BREAKS = "\x85\u2028\u2029"


def _guard_line_breaks(text: str) -> tuple[str, dict[int, str]]:
    """Stand other characters in for what YAML 1.1 takes for line breaks and 1.2 does not (section 5.4).

    Returns:
        The text, and the table that puts the right characters back.
    """
    breaks = [char for char in _YAML_11_LINE_BREAKS if char in text]
    unused = (char for char in map(chr, range(0xE000, 0xF900)) if char not in text)
    stand_ins = dict(zip(breaks, unused, strict=False))
    return text.translate(str.maketrans(stand_ins)), {ord(b): a for a, b in stand_ins.items()}


class _Builder:
    def __init__(self, source: Path | str, guards: dict[int, str]) -> None:
        self._source = source
        self._guards = guards
        self._nodes = 0

    def value(self, node: Node) -> JsonValue:
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise self._fault(node, f"aliases expand to more than {_MOST_NODES} values")
        if isinstance(node, MappingNode):
            return self._mapping(node)
        if isinstance(node, SequenceNode):
            self._expect_tag(node, "seq")
            return [self.value(child) for child in cast("list[Node]", node.value)]
        return self._scalar(cast("ScalarNode", node))

    def _mapping(self, node: MappingNode) -> dict[str, Any]:
        self._expect_tag(node, "map")
        result: dict[str, Any] = {}
        for key_node, value_node in cast("list[tuple[Node, Node]]", node.value):
            if not isinstance(key_node, ScalarNode):
                raise self._fault(key_node, "a key must be plain text")
            key = self._text(key_node)
            if key in result:
                raise self._fault(key_node, f"the key {key!r} stands twice")
            result[key] = self.value(value_node)
        return result

    def _scalar(self, node: ScalarNode) -> JsonValue:
        text = self._text(node)
        kind = node.tag.removeprefix(_TAG)
        if kind in ("str", "!"):
            return text
        if kind not in _CORE_SCALARS:
            raise self._fault(node, f"the tag {node.tag} is not supported")
        if not _CORE_SCALARS[kind].match(text) and not (kind == "float" and _CORE_SCALARS["int"].match(text)):
            raise self._fault(node, f"{text!r} is no {kind}")
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        return self._integer(text) if kind == "int" else self._float(node, text)

    def _text(self, node: ScalarNode) -> str:
        """Give the characters meant: stand-ins put back, two escaped halves of a surrogate pair made one."""
        text = cast("str", node.value).translate(self._guards)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    def _integer(self, text: str) -> int:
        bases = {"0o": 8, "0x": 16}
        return int(text[2:], bases[text[:2]]) if text[:2] in bases else int(text)

    def _float(self, node: ScalarNode, text: str) -> float:
        if text.lower().endswith((".inf", ".nan")) or math.isinf(float(text)):
            raise self._fault(node, "NaN, infinities and numbers beyond a double are no JSON values")
        return float(text)

    def _expect_tag(self, node: Node, kind: str) -> None:
        if node.tag != _TAG + kind:
            raise self._fault(node, f"the tag {node.tag} is not supported")

    def _fault(self, node: Node, message: str) -> InputError:
        mark = node.start_mark
        return InputError(message, file=self._source, field=f"line {mark.line + 1}, column {mark.column + 1}")
