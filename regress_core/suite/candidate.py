"""The candidate: records made elsewhere, or a harness to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from regress_core.errors import InputError
from regress_core.harness.adapter.files import AdapterLocation, adapter_hash, locate_adapter
from regress_core.harness.descriptor.descriptor import HarnessDescriptor, load_descriptor
from regress_core.harness.descriptor.outline import Effect
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.loading import list_record_files, load_record
from regress_core.records.naming import suite_name_of
from regress_core.records.yaml_io import load_yaml
from regress_core.suite.config import CandidateConfig, parse_config
from regress_core.suite.loading import RecordRef, Suite

CANDIDATE_FILE = "candidate.yaml"

CandidateKind = Literal["records", "harness", "application"]
"""`records` made elsewhere, a `harness` of files, or what an `application` hands over as an object."""

_DESCRIPTOR_KEYS = {"agents", "runtime", "descriptor_version"}


@dataclass(frozen=True, slots=True)
class HarnessRef:
    """Where a candidate harness is, as the plan keeps it.

    Attributes:
        descriptor: Absolute path of the descriptor; None for an adapter that brings its own agent.
        adapter: Absolute path or import path of the adapter; None without one.
        model: The model in place of the agents' own; None for none.
    """

    descriptor: str | None
    adapter: str | None
    model: str | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """The changed harness.

    Attributes:
        candidate_id: SHA-256, in hexadecimal: of the sorted record hashes, or of descriptor hash, adapter
            files and model.
        label: What people call it, `name@version`.
        kind: What there is of it.
        records: Its record of each case, by case id; of a harness none.
        harness: Where the harness is, for a harness of files.
        effects: What its descriptor declares of the effects of its tools, by their keys: no part of what it
            is, but of how its outcomes are decided.
    """

    candidate_id: str
    label: str
    kind: CandidateKind
    records: dict[str, RecordRef] = field(default_factory=dict[str, RecordRef])
    harness: HarnessRef | None = None
    effects: Mapping[str, Effect] = field(default_factory=dict[str, Effect])


@dataclass(frozen=True, slots=True)
class HarnessFiles:
    """A candidate harness as its files stand now.

    Attributes:
        candidate_id: The id that these files give.
        descriptor: The descriptor, if there is one.
        adapter: Where the adapter is, if there is one.
    """

    candidate_id: str
    descriptor: HarnessDescriptor | None
    adapter: AdapterLocation | None


def load_candidate(source: Path | None, *, adapter: str | None = None, model: str | None = None) -> Candidate:
    """Load a candidate.

    Args:
        source: A file like candidate.yaml, a descriptor, or a file or folder of records; None for an adapter
            that brings its own agent.
        adapter: An adapter, relative to the working folder; wins over the file's.
        model: A model in place of the agents' own; wins over the file's.

    Raises:
        InputError: If any file is at fault, or there is nothing to evaluate.
    """
    if model is not None:
        _check_model(model, "--model", None)
    if source is None:
        return _harness(None, adapter, model, None)
    if source.suffix not in (".yaml", ".yml"):
        return _of_records(source, None, adapter, model)
    if not source.is_file():
        remedy = "name the candidate with --candidate or --candidate-records"
        raise InputError("no such file", file=source, remedy=remedy)
    value: JsonValue = load_yaml(source)
    if isinstance(value, dict) and _DESCRIPTOR_KEYS & cast("JsonObject", value).keys():
        return _harness(source, adapter, model, None)
    config = parse_config(CandidateConfig, {} if value is None else value, source)
    folder = source.parent
    if config.records is not None:
        return _of_records(folder / config.records, config.label, adapter, model)
    if config.model is not None:
        _check_model(config.model, "$.model", source)
    descriptor = None if config.descriptor is None else folder / config.descriptor
    if adapter is None and config.adapter is not None:
        adapter = locate_adapter(config.adapter, folder).text
    return _harness(descriptor, adapter, model or config.model, config.label)


def _check_model(model: str, field: str, file: Path | None) -> None:
    provider, _, name = model.partition(":")
    if not (provider.strip() and name.strip()):
        remedy = "name it provider:model, such as openai:gpt-4.1-mini"
        raise InputError(f"{model!r} names no model of a provider", file=file, field=field, remedy=remedy)


def _harness(descriptor: Path | None, adapter: str | None, model: str | None, label: str | None) -> Candidate:
    location = None if adapter is None else locate_adapter(adapter, Path.cwd())
    ref = HarnessRef(
        descriptor=None if descriptor is None else str(descriptor.absolute()),
        adapter=None if location is None else location.text,
        model=model,
    )
    files = read_harness(ref)
    return Candidate(
        candidate_id=files.candidate_id,
        label=label or _label(files, model),
        kind="harness",
        harness=ref,
        effects=files.descriptor.effects if files.descriptor else {},
    )


def read_harness(ref: HarnessRef) -> HarnessFiles:
    """Read a candidate harness's files and give them with the id they make.

    Raises:
        InputError: If any of them is at fault.
    """
    descriptor = None if ref.descriptor is None else load_descriptor(Path(ref.descriptor))
    location = None if ref.adapter is None else locate_adapter(ref.adapter, Path.cwd())
    content: list[Any] = [
        None if descriptor is None else descriptor.descriptor_hash,
        None if location is None else adapter_hash(location),
        ref.model,
    ]
    return HarnessFiles(canonical_hash(content), descriptor, location)


def _label(files: HarnessFiles, model: str | None) -> str:
    name = files.descriptor.label if files.descriptor else None
    if name is None:
        source = files.adapter.file if files.descriptor is None and files.adapter else None
        path = Path(files.descriptor.source) if files.descriptor else source or Path("agent")
        name = f"{suite_name_of([path.stem])}@{files.candidate_id[:8]}"
    return name if model is None else f"{name} with {model}"


def _of_records(records: Path, label: str | None, adapter: str | None, model: str | None) -> Candidate:
    if adapter is not None or model is not None:
        option = "--adapter" if adapter is not None else "--model"
        raise InputError("goes with a harness; this candidate is records", file=records, field=option)
    refs = {
        file.case_id: RecordRef(path=str(file.path.absolute()), sha256=load_record(file).sha256)
        for file in list_record_files(records)
    }
    if not refs:
        raise InputError("no candidate records here", file=records, remedy="name a folder that holds some")
    candidate_id = canonical_hash(sorted(ref.sha256 for ref in refs.values()))
    folder = suite_name_of(list(records.resolve().parts))
    return Candidate(candidate_id, label or f"{folder}@{candidate_id[:8]}", "records", refs)


def orphans_of(suite: Suite, candidate: Candidate) -> tuple[str, ...]:
    """Give the case ids of candidate records that have no baseline in the whole suite."""
    known = {case.case_id for case in suite.cases}
    return tuple(case_id for case_id in candidate.records if case_id not in known)
