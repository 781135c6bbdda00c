"""The harness descriptor: the graph of agents as data. YAML and hash as the reference's; `effect` is ours."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from regress_core.errors import InputError
from regress_core.harness.descriptor.agent_specs import AgentSpec, read_agents
from regress_core.harness.descriptor.context_fields import ContextFields, read_fields
from regress_core.harness.descriptor.context_references import declared_references
from regress_core.harness.descriptor.instruction_sources import with_instructions
from regress_core.harness.descriptor.outline import Effect, expect_outline, tool_effects, without_effects
from regress_core.harness.descriptor.prompt_files import PromptFolder, PromptMap, Prompts, expect_inside
from regress_core.harness.descriptor.values import DescriptorError, children, expect_shallow, is_object
from regress_core.records.canonical import canonical_hash, number_text
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.yaml_io import load_yaml, parse_yaml


@dataclass(frozen=True, slots=True)
class HarnessDescriptor:
    """A descriptor that has been checked; made by `load_descriptor` and `parse_descriptor`.

    Attributes:
        data: Its content, the text of prompt files in place; unknown keys are kept.
        descriptor_hash: `sha256:` and the hash of the data, equal to the reference's; effects are left out.
        source: The file, or what else names it in messages.
        agents: The agents, in order.
        context_fields: The defaults of the context.
    """

    data: JsonObject
    descriptor_hash: str
    source: str
    agents: tuple[AgentSpec, ...] = field(repr=False)
    context_fields: ContextFields = field(repr=False)

    @property
    def name(self) -> str | None:
        """The name under `metadata`."""
        return self.data.get("metadata", {}).get("name")

    @property
    def version(self) -> str | None:
        """The version under `metadata`, a number as its text."""
        version = self.data.get("metadata", {}).get("version")
        return version if isinstance(version, str | None) else _number_text(version)

    @property
    def label(self) -> str | None:
        """What people call the candidate: `name@version`; None if one of them is not given."""
        return f"{self.name}@{self.version}" if self.name and self.version else None

    @property
    def entry_agent(self) -> str:
        """The id of the agent that a run begins with."""
        return self.data["runtime"]["entry_agent"]

    @property
    def max_turns(self) -> int | None:
        """Turns before a run fails; None where the descriptor leaves it open."""
        max_turns = self.data["runtime"].get("max_turns")
        return None if max_turns is None else int(max_turns)

    @property
    def effects(self) -> dict[str, Effect]:
        """The effects of the tools that declare one, by the tools' keys in the descriptor."""
        return tool_effects(self.data)

    @property
    def metadata(self) -> JsonObject:
        """What the harness notes about itself in records: name, versions and hash, absent ones left out."""
        own = self.data.get("metadata", {})
        facts = {
            "name": own.get("name"),
            "version": own.get("version"),
            "descriptorVersion": self.data.get("descriptor_version"),
            "descriptorHash": self.descriptor_hash,
        }
        return {key: value for key, value in facts.items() if value is not None}


def load_descriptor(path: Path, *, root_dir: Path | None = None) -> HarnessDescriptor:
    """Read a descriptor and the prompt files it names.

    Args:
        path: The YAML file, or a JSON one where it ends in `.json`.
        root_dir: The folder that the descriptor and its prompts must lie in, links followed; the
            descriptor's own folder when left out.

    Raises:
        InputError: If the file or a prompt file cannot be read, or the descriptor is malformed or names
            something that is not there. The messages are the reference's where it has one.
    """
    value = load_yaml(path)
    folder = Path(os.path.realpath(path.parent))
    root = folder if root_dir is None else Path(os.path.realpath(root_dir))
    with _naming(path):
        expect_inside(folder / path.name, root, "Harness descriptor path")
        expect_inside(Path(os.path.realpath(path)), root, "Harness descriptor path")
        return _descriptor(value, PromptFolder(folder, root), str(path))


def parse_descriptor(
    yaml_text: str, *, prompts: Mapping[str, str] | None = None, source: str = "<inline descriptor>"
) -> HarnessDescriptor:
    """Read a descriptor from its text.

    Args:
        yaml_text: The text, YAML.
        prompts: The texts of the prompt files it names, by path.
        source: What names the descriptor in messages.

    Raises:
        InputError: As `load_descriptor`.
    """
    value = parse_yaml(yaml_text, source=source)
    with _naming(source):
        return _descriptor(value, PromptMap(prompts), source)


@contextmanager
def _naming(source: Path | str) -> Generator[None]:
    """Name the descriptor in the fault of one of its values."""
    try:
        yield
    except DescriptorError as error:
        raise InputError(str(error), file=source, remedy=error.remedy) from error


def _descriptor(value: JsonValue, prompts: Prompts, source: str) -> HarnessDescriptor:
    if not is_object(value):
        raise DescriptorError("Invalid harness descriptor YAML: it is no mapping")
    expect_shallow(value, "Harness descriptor")
    _expect_no_merge_keys(value)
    return descriptor_of(with_instructions(value, prompts), source=source)


def descriptor_of(data: JsonObject, *, source: str) -> HarnessDescriptor:
    """Make a descriptor of its content, such as `HarnessDescriptor.data`, the text of prompt files in place.

    Raises:
        DescriptorError: If it is malformed or names something that is not there.
    """
    expect_outline(data)
    context: JsonObject = data.get("context", {})
    references = declared_references(context.get("references", {}))
    agents = read_agents(data, references)
    entry = data["runtime"]["entry_agent"]
    if entry not in data["agents"]:
        raise DescriptorError(f'Harness descriptor entry_agent "{entry}" does not exist.')
    fields = read_fields(context.get("fields", {}))
    descriptor_hash = f"sha256:{canonical_hash(without_effects(data))}"
    return HarnessDescriptor(data, descriptor_hash, source, agents, fields)


def _expect_no_merge_keys(value: JsonValue) -> None:
    """Refuse what is a key like others in YAML 1.2 and stands for another map's keys in the reference."""
    if is_object(value) and "<<" in value:
        raise DescriptorError('The YAML merge key "<<" is not supported', remedy="write the keys out")
    for child in children(value):
        _expect_no_merge_keys(child)


def _number_text(number: float) -> str:
    return str(number) if isinstance(number, int) else number_text(number)
