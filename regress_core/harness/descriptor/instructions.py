"""Instructions with `{{context.a.b}}` and `where`: checked when loaded, rendered in a run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from json.encoder import encode_basestring

from regress_core.harness.descriptor.context_references import (
    MISSING,
    Condition,
    ContextReference,
    References,
    declared_boolean,
    normal_path,
    where_path,
)
from regress_core.harness.descriptor.values import DescriptorError, is_array, is_object, json_object, string
from regress_core.harness.errors import HarnessError
from regress_core.records.canonical import number_text
from regress_core.records.json_io import JsonValue, escape_lone_surrogates

_PLACEHOLDER = re.compile(r"\{\{\s*context\.([^}]+?)\s*\}\}")
_INTEGER_KEY = re.compile(r"0|[1-9][0-9]{0,9}", re.ASCII)
_LAST_INTEGER_KEY = 2**32 - 2  # ECMA-262, 6.1.7: the last key that an object lists by number


@dataclass(frozen=True, slots=True)
class Template:
    """Text with places for values of the run's context."""

    pieces: tuple[str | ContextReference, ...]

    def render(self, context: JsonValue) -> str:
        """Fill the values in.

        Raises:
            HarnessError: If a value that is not optional is not there, or has no JSON text.
        """
        return "".join(
            piece if isinstance(piece, str) else _rendered(piece, context) for piece in self.pieces
        )


def _rendered(reference: ContextReference, context: JsonValue) -> str:
    value = reference.find(context)
    if value is MISSING:
        if reference.optional:
            return ""
        raise HarnessError(
            f'Harness descriptor instruction could not resolve required context path "{reference.path}".'
        )
    try:
        return value if isinstance(value, str) else escape_lone_surrogates(_json_text(value))
    except (TypeError, ValueError) as error:
        raise HarnessError(
            f'Harness descriptor instruction context path "{reference.path}" has no JSON text: {error}'
        ) from error


def _json_text(value: JsonValue) -> str:  # noqa: PLR0911 - one return a JSON type
    """Print as `JSON.stringify` does: compact, keys in the order an ECMAScript object lists them."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number_text(value)
    if is_array(value):
        return "[" + ",".join([_json_text(child) for child in value]) + "]"
    if is_object(value):
        members = sorted(value.items(), key=lambda member: _listing_order(member[0]))
        return (
            "{" + ",".join([f"{encode_basestring(key)}:{_json_text(child)}" for key, child in members]) + "}"
        )
    raise TypeError(f"it holds an object of type {type(value).__name__}")


def _listing_order(key: str) -> int:
    """Order integer-like keys by number and before all others, which stay as they stand."""
    is_integer = _INTEGER_KEY.fullmatch(key) and int(key) <= _LAST_INTEGER_KEY
    return int(key) if is_integer else _LAST_INTEGER_KEY + 1


@dataclass(frozen=True, slots=True)
class InstructionPart:
    """A paragraph of instructions, and when it belongs to them; always, where there is no condition."""

    template: Template
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class InstructionTemplate:
    """Instructions that depend on the run's context."""

    parts: tuple[InstructionPart, ...]

    def render(self, context: JsonValue) -> str:
        """Give the instructions for a context: the parts whose condition holds, as paragraphs.

        Raises:
            HarnessError: If the context lacks what a template or a condition needs.
        """
        return "\n\n".join(
            part.template.render(context)
            for part in self.parts
            if part.condition is None or part.condition.holds(context)
        )


def read_instructions(
    value: JsonValue, agent_id: str, references: References
) -> str | InstructionTemplate | None:
    """Read an agent's instructions: plain text stays text.

    Raises:
        DescriptorError: If they are malformed or read a context path that is not declared.
    """
    if value is None:
        return None
    if isinstance(value, str):
        template = _template(value, agent_id, references)
        has_places = any(not isinstance(piece, str) for piece in template.pieces)
        return InstructionTemplate((InstructionPart(template),)) if has_places else value
    if not is_array(value):
        raise DescriptorError(f'Agent "{agent_id}" instructions must be a string or an array.')
    parts = [_part(part, f'Agent "{agent_id}" instructions[{i}]') for i, part in enumerate(value)]
    templates = [_template(text, agent_id, references) for text, _ in parts]
    conditions = [_condition(path, agent_id, references) for _, path in parts]
    return InstructionTemplate(tuple(map(InstructionPart, templates, conditions)))


def _part(value: JsonValue, label: str) -> tuple[str, str | None]:
    part = json_object(value, label)
    return string(part.get("text"), f"{label}.text"), where_path(part, label)


def _condition(path: str | None, agent_id: str, references: References) -> Condition | None:
    if path is None:
        return None
    reference = declared_boolean(
        path,
        references,
        path_label="Instruction where.context path",
        label=f'Agent "{agent_id}" instruction where',
    )
    return Condition(reference, "Harness descriptor instruction where")


def _template(text: str, agent_id: str, references: References) -> Template:
    pieces: list[str | ContextReference] = []
    done = 0
    for placeholder in _PLACEHOLDER.finditer(text):
        path = normal_path(placeholder[1], f'Context prompt placeholder "{placeholder[0]}"')
        if path not in references:
            raise DescriptorError(
                f'Agent "{agent_id}" instruction references undeclared context path "{path}".'
            )
        pieces += [text[done : placeholder.start()], references[path]]
        done = placeholder.end()
    return Template((*pieces, text[done:]))
