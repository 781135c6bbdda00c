"""From files to a suite; every record is validated here, before the first case runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from regress_core.errors import InputError
from regress_core.harness.descriptor.descriptor import load_descriptor
from regress_core.judge.contract import RunRegressionExpectation
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import JsonObject
from regress_core.records.loading import display_name, list_record_files, load_record
from regress_core.records.naming import SUITE_NAME, suite_name_of
from regress_core.suite.config import SuiteConfig, load_config

SUITE_FILE = "suite.yaml"


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
        baseline_descriptor: What the baseline's descriptor holds, where suite.yaml names one.
        expectation: The expectation, read from its file where it names one.
        cases: Ordered by case id.
        content_hash: SHA-256 over all that can change an outcome: rules, expectation, baselines.
    """

    name: str
    root: Path
    config: SuiteConfig
    baseline_descriptor: JsonObject | None
    expectation: RunRegressionExpectation | None
    cases: tuple[CaseRef, ...]
    content_hash: str


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
    records: Path,
    *,
    name: str | None = None,
    expectation: Path | None = None,
    baseline: Path | None = None,
    warn: Warn = ignore_warnings,
) -> Suite:
    """Make a suite of bare records: a file or folder, with the defaults for all rules.

    Raises:
        InputError: If a record, the name, the expectation or the baseline's descriptor is at fault.
    """
    resolved = records.resolve()
    root = resolved if resolved.is_dir() else resolved.parent
    if name is not None and not SUITE_NAME.fullmatch(name):
        remedy = "use a-z, 0-9, _ and -, at most 64, starting with a letter or digit"
        raise InputError(f"{name!r} is no suite name", field="--name", remedy=remedy)
    files = {"expectation": expectation, "baseline": baseline}
    named = {key: str(path.resolve()) for key, path in files.items() if path is not None}
    config = SuiteConfig.model_validate(named)
    return _suite(root, config, records, name or suite_name_of(list(root.parts)), warn)


def _suite(root: Path, config: SuiteConfig, records: Path, name: str, warn: Warn) -> Suite:
    expectation = _expectation(root, config)
    baseline = None if config.baseline is None else load_descriptor(root / config.baseline).data
    cases = tuple(_cases(records, warn))
    content: JsonObject = {
        "compare": config.compare.model_dump(mode="json"),
        "gate": config.gate.model_dump(mode="json"),
        "expectation": None if expectation is None else expectation.to_json(),
        "baseline": baseline,
        "cases": [[case.case_id, case.name, case.baseline.sha256] for case in cases],
        "name": name,
    }
    return Suite(name, root.absolute(), config, baseline, expectation, cases, canonical_hash(content))


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


def select_cases(suite: Suite, patterns: Sequence[str]) -> tuple[CaseRef, ...]:
    """Give the cases whose id or name matches any of the globs; all of them when there is no glob."""
    if not patterns:
        return suite.cases
    return tuple(
        case
        for case in suite.cases
        if any(fnmatchcase(text, pattern) for pattern in patterns for text in (case.case_id, case.name))
    )
