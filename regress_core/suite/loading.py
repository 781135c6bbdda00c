"""From files to a suite and a candidate; every record is validated here, before the first case runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from regress_core.errors import InputError
from regress_core.judge.contract import RunRegressionExpectation
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import JsonObject
from regress_core.records.loading import display_name, list_record_files, load_record
from regress_core.records.naming import SUITE_NAME, suite_name_of
from regress_core.suite.config import CandidateConfig, SuiteConfig, load_config

SUITE_FILE = "suite.yaml"
CANDIDATE_FILE = "candidate.yaml"


@dataclass(frozen=True, slots=True)
class RecordRef:
    """A validated record file, by absolute path and by the SHA-256 of its bytes in hexadecimal."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class CaseRef:
    """One case of a suite.

    Attributes:
        case_id: Partition key, file name and column value.
        name: What people call it.
        baseline: Its recorded run.
    """

    case_id: str
    name: str
    baseline: RecordRef


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite as its files stand.

    Attributes:
        name: Its name.
        root: Its folder.
        config: suite.yaml, or the defaults.
        expectation: The expectation, read from its file where it names one.
        cases: Ordered by case id.
        content_hash: SHA-256 over all that can change an outcome: rules, expectation, baselines.
    """

    name: str
    root: Path
    config: SuiteConfig
    expectation: RunRegressionExpectation | None
    cases: tuple[CaseRef, ...]
    content_hash: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """The changed harness, here by the records it made.

    Attributes:
        candidate_id: SHA-256 over the sorted record hashes, in hexadecimal.
        label: What people call it, `name@version`.
        records: Its record of each case, by case id.
    """

    candidate_id: str
    label: str
    records: dict[str, RecordRef]


Warn = Callable[[str], None]
"""Takes a one-line warning for the person at the terminal."""


def ignore_warnings(_: str) -> None:
    """Take a warning and drop it, where nobody reads it."""


def load_suite(root: Path, *, warn: Warn = ignore_warnings) -> Suite:
    """Load a suite folder.

    Raises:
        InputError: If suite.yaml or any record is at fault.
    """
    config = load_suite_config(root)
    return _suite(root, config, root / config.records, suite_name(root, config), warn)


def load_suite_config(root: Path) -> SuiteConfig:
    """Read a folder's suite.yaml.

    Raises:
        InputError: If there is no such folder, it has none, or it is at fault.
    """
    if not root.is_dir():
        raise InputError("no such folder", file=root, remedy="name a suite folder")
    if not (root / SUITE_FILE).is_file():
        remedy = "create it (an empty one will do), or name the records with --records"
        raise InputError(f"no {SUITE_FILE} in this folder", file=root, remedy=remedy)
    return load_config(SuiteConfig, root / SUITE_FILE)


def suite_name(root: Path, config: SuiteConfig) -> str:
    """Give the configured name, or the folder's, slugged."""
    return config.name or suite_name_of(list(root.resolve().parts))


def suite_of_records(
    records: Path, *, name: str | None = None, expectation: Path | None = None, warn: Warn = ignore_warnings
) -> Suite:
    """Make a suite of bare records: a file or folder, with the defaults for all rules.

    Raises:
        InputError: If a record, the name or the expectation is at fault.
    """
    resolved = records.resolve()
    root = resolved if resolved.is_dir() else resolved.parent
    if name is not None and not SUITE_NAME.fullmatch(name):
        remedy = "use a-z, 0-9, _ and -, at most 64, starting with a letter or digit"
        raise InputError(f"{name!r} is no suite name", field="--name", remedy=remedy)
    config = SuiteConfig(expectation=None if expectation is None else str(expectation.resolve()))
    return _suite(root, config, records, name or suite_name_of(list(root.parts)), warn)


def _suite(root: Path, config: SuiteConfig, records: Path, name: str, warn: Warn) -> Suite:
    expectation = _expectation(root, config)
    cases = tuple(_cases(records, warn))
    content: JsonObject = {
        "compare": config.compare.model_dump(mode="json"),
        "gate": config.gate.model_dump(mode="json"),
        "expectation": None if expectation is None else expectation.to_json(),
        "cases": [[case.case_id, case.name, case.baseline.sha256] for case in cases],
        "name": name,
    }
    return Suite(name, root.absolute(), config, expectation, cases, canonical_hash(content))


def _expectation(root: Path, config: SuiteConfig) -> RunRegressionExpectation | None:
    if isinstance(config.expectation, str):
        return load_config(RunRegressionExpectation, root / config.expectation)
    return config.expectation


def _cases(records: Path, warn: Warn) -> Iterable[CaseRef]:
    for file in list_record_files(records):
        loaded = load_record(file)
        if loaded.record.status == "failed":
            warn(f"{file.path}: case {file.case_id}: a failed run is no good baseline; use a completed one")
        yield CaseRef(
            case_id=file.case_id,
            name=display_name(file, loaded.record),
            baseline=RecordRef(path=str(file.path.absolute()), sha256=loaded.sha256),
        )


def load_candidate(source: Path) -> Candidate:
    """Load a candidate: a file like candidate.yaml, or a file or folder of records.

    Raises:
        InputError: If the file or any record is at fault, or there are no records at all.
    """
    if source.suffix not in (".yaml", ".yml"):
        return _candidate(source, None)
    if not source.is_file():
        remedy = "name the candidate with --candidate or --candidate-records"
        raise InputError("no such file", file=source, remedy=remedy)
    config = load_config(CandidateConfig, source)
    return _candidate(source.parent / config.records, config.label)


def _candidate(records: Path, label: str | None) -> Candidate:
    refs = {
        file.case_id: RecordRef(path=str(file.path.absolute()), sha256=load_record(file).sha256)
        for file in list_record_files(records)
    }
    if not refs:
        raise InputError("no candidate records here", file=records, remedy="name a folder that holds some")
    candidate_id = canonical_hash(sorted(ref.sha256 for ref in refs.values()))
    folder = suite_name_of(list(records.resolve().parts))
    return Candidate(candidate_id, label or f"{folder}@{candidate_id[:8]}", refs)


def orphans_of(suite: Suite, candidate: Candidate) -> tuple[str, ...]:
    """Give the case ids of candidate records that have no baseline in the whole suite."""
    known = {case.case_id for case in suite.cases}
    return tuple(case_id for case_id in candidate.records if case_id not in known)


def select_cases(suite: Suite, patterns: Sequence[str]) -> tuple[CaseRef, ...]:
    """Give the cases whose id or name matches any of the globs; all of them when there is no glob."""
    if not patterns:
        return suite.cases
    return tuple(
        case
        for case in suite.cases
        if any(fnmatchcase(text, pattern) for pattern in patterns for text in (case.case_id, case.name))
    )
