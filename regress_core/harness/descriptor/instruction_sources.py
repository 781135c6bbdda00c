"""Where instructions come from: files and sequences, replaced by the `instructions` they mean."""

from __future__ import annotations

from regress_core.harness.descriptor.prompt_files import Prompts, prompt_path
from regress_core.harness.descriptor.values import (
    DescriptorError,
    filled_string,
    is_array,
    is_object,
    json_object,
    string,
)
from regress_core.records.json_io import JsonObject, JsonValue

_SOURCES = ("instructions_file", "instructions_files", "instructions_sequence")
_ITEM_KINDS = ("file", "ref", "text")


def with_instructions(data: JsonObject, prompts: Prompts) -> JsonObject:
    """Give a descriptor in which the defaults and every agent have their instructions in `instructions`.

    The content of prompt files thus becomes part of the descriptor and of its hash. What has another shape
    than a descriptor stays as it is, for the checks that come after.

    Raises:
        DescriptorError: If sources exclude each other, are malformed, or name a text that is not there.
    """
    catalog = data.get("instruction_parts")
    result = dict(data)
    if "agent_defaults" in data:
        label = "Harness descriptor agent_defaults"
        result["agent_defaults"] = _resolved(data["agent_defaults"], label, catalog, prompts)
    agents = data.get("agents")
    if is_object(agents):
        result["agents"] = {
            agent_id: _resolved(agent, f'Harness descriptor agent "{agent_id}"', catalog, prompts)
            for agent_id, agent in agents.items()
        }
    return result


def _resolved(owner: JsonValue, label: str, catalog: JsonValue, prompts: Prompts) -> JsonValue:
    if not is_object(owner):
        return owner
    if "instructions_file" in owner or "instructions_files" in owner:
        instructions = _of_files(owner, label, prompts)
    elif "instructions_sequence" in owner:
        instructions = _of_sequence(owner, label, catalog, prompts)
    else:
        return owner
    kept = {key: value for key, value in owner.items() if key not in _SOURCES}
    return kept | {"instructions": instructions}


def _of_files(owner: JsonObject, label: str, prompts: Prompts) -> str:
    _expect_exclusive_files(owner, label)
    if "instructions_file" in owner:
        field = f"{label}.instructions_file"
        return prompts.read(prompt_path(owner["instructions_file"], field), field=field, owner=label)
    field = f"{label}.instructions_files"
    paths = owner["instructions_files"]
    if not is_array(paths) or not paths:
        raise DescriptorError(f"{field} must be a non-empty array of strings.")
    checked = [(prompt_path(path, f"{field}[{i}]"), f"{field}[{i}]") for i, path in enumerate(paths)]
    texts = [prompts.read(path, field=item, owner=label) for path, item in checked]
    inline = owner.get("instructions")
    return "\n\n".join([*texts, inline] if inline else texts)


def _expect_exclusive_files(owner: JsonObject, label: str) -> None:
    if "instructions_file" in owner and "instructions_files" in owner:
        raise DescriptorError(
            f"{label}.instructions_file and {label}.instructions_files are mutually exclusive."
        )
    if "instructions_file" in owner and "instructions" in owner:
        raise DescriptorError(f"{label}.instructions and {label}.instructions_file are mutually exclusive.")
    if "instructions_sequence" in owner:
        raise DescriptorError(
            f"{label}.instructions_sequence is mutually exclusive with "
            f"{label}.instructions_file/instructions_files."
        )
    if not isinstance(owner.get("instructions", ""), str):
        raise DescriptorError(
            f"{label}.instructions must be a string when used with {label}.instructions_files."
        )


def _of_sequence(owner: JsonObject, label: str, catalog: JsonValue, prompts: Prompts) -> list[JsonObject]:
    field = f"{label}.instructions_sequence"
    if "instructions" in owner:
        raise DescriptorError(f"{field} is mutually exclusive with {label}.instructions.")
    items = owner["instructions_sequence"]
    if not is_array(items) or not items:
        raise DescriptorError(f"{field} must be a non-empty array.")
    return [_part(item, f"{field}[{i}]", label, catalog, prompts) for i, item in enumerate(items)]


def _part(item: JsonValue, label: str, owner: str, catalog: JsonValue, prompts: Prompts) -> JsonObject:
    item = json_object(item, label)
    kinds = [kind for kind in _ITEM_KINDS if kind in item]
    if len(kinds) != 1:
        raise DescriptorError(f"{label} must define exactly one of file, ref, or text.")
    where = _where(item, label)
    field, value = f"{label}.{kinds[0]}", item[kinds[0]]
    if kinds == ["file"]:
        text = prompts.read(prompt_path(value, field), field=field, owner=owner)
    elif kinds == ["ref"]:
        text = _catalog_text(catalog, filled_string(string(value, field), field), field)
    else:
        text = string(value, field)
    return {"text": text} | where


def _where(item: JsonObject, label: str) -> JsonObject:
    if "where" not in item:
        return {}
    path = json_object(item["where"], f"{label}.where").get("context")
    field = f"{label}.where.context"
    return {"where": {"context": filled_string(string(path, field), field)}}


def _catalog_text(catalog: JsonValue, ref: str, label: str) -> str:
    if not is_object(catalog):
        raise DescriptorError(
            f'{label} references instruction part "{ref}", but descriptor.instruction_parts is not defined.'
        )
    if ref not in catalog:
        raise DescriptorError(f'{label} references unknown instruction part "{ref}".')
    return string(catalog[ref], f"descriptor.instruction_parts.{ref}")
