"""From files to a suite; every record is validated here, before the first case runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from regress_core.errors import InputError, os_error_text
from regress_core.harness.descriptor.descriptor import load_descriptor
from regress_core.judge.contract import RunRegressionExpectation
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import JsonObject
from regress_core.records.loading import (
    LoadedRecord,
    RecordFile,
    display_name,
    list_case_records,
    load_record,
)
from regress_core.records.naming import SUITE_NAME, suite_name_of
from regress_core.records.times import utc_time
from regress_core.suite.case_files import (
    NO_CASE_CONFIG,
    Requirements,
    check_requirements,
    load_case_configs,
    requirements_of,
)
from regress_core.suite.config import SUITE_FILE, CaseConfig, SuiteConfig, load_config
from regress_core.suite.overrides import OVERRIDES_FILE, Override, load_overrides
from regress_core.suite.signoffs import SIGNOFFS_FILE, SignOff, load_signoffs


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
        config: What cases/<case>.yaml says.
        accepted: Other runs that are as good: a candidate that is equal to one of them has not changed.
        recorded_at: When the recorded run began, UTC; None where the record does not tell, and where the
            journal gives the case.
        is_redacted: Whether something was hidden of the recorded run; unknown where the journal gives the
            case.
    """

    case_id: str
    name: str
    baseline: RecordRef
    config: CaseConfig = NO_CASE_CONFIG
    accepted: tuple[RecordRef, ...] = ()
    recorded_at: datetime | None = field(default=None, compare=False)
    is_redacted: bool = field(default=False, compare=False)


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
        content_hash: SHA-256 over all that can change an outcome: rules, expectation, accepted runs.
        judge_instructions: The suite's own instructions of the regression judge, where it has some.
        signoffs: What people have decided about verdicts.
        overrides: Which cases do not count for the gate, as far as the gate allows that.
    """

    name: str
    root: Path
    config: SuiteConfig
    baseline_descriptor: JsonObject | None
    expectation: RunRegressionExpectation | None
    cases: tuple[CaseRef, ...]
    content_hash: str
    judge_instructions: str | None = None
    signoffs: tuple[SignOff, ...] = ()
    overrides: tuple[Override, ...] = ()

    def requirements_of(self, case: CaseRef) -> Requirements:
        """Give what is asked of a case."""
        return requirements_of(self.config, case.config)


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
    suite = Suite(
        name=name,
        root=root.absolute(),
        config=config,
        baseline_descriptor=baseline,
        expectation=expectation,
        cases=_with_configs(root, config, tuple(_cases(records, warn))),
        content_hash="",
        judge_instructions=_instructions(root, config),
        signoffs=load_signoffs(root / SIGNOFFS_FILE),
        overrides=_overrides(root, config, warn),
    )
    return replace(suite, content_hash=_content_hash(suite))


def _content_hash(suite: Suite) -> str:
    config = suite.config.model_dump(mode="json", by_alias=True)
    # What these lead to is covered below, or by the plan as it was chosen there.
    for name in ("name", "records", "baseline", "expectation", "mode", "input_mode", "trials"):
        del config[name]
    for name in _OF_NO_OUTCOME:
        del config[name]
    content: JsonObject = {
        "config": config,
        "expectation": None if suite.expectation is None else suite.expectation.to_json(),
        "baseline": suite.baseline_descriptor,
        "cases": [
            [
                case.case_id,
                case.name,
                case.baseline.sha256,
                _case_content(case.config),
                *([[ref.sha256 for ref in case.accepted]] if case.accepted else []),
            ]
            for case in suite.cases
        ],
        "name": suite.name,
        "judgeInstructions": suite.judge_instructions,
        "signoffs": [one.to_json() for one in suite.signoffs],
        "overrides": [one.to_json() for one in suite.overrides],
    }
    return canonical_hash(content)


_OF_NO_OUTCOME = ("tags", "schedule", "trend")
"""Settings that say which cases are evaluated when, and what is made of it later."""


def _case_content(config: CaseConfig) -> JsonObject | None:
    content = config.model_dump(mode="json", by_alias=True, exclude={"tags"})
    return None if config is NO_CASE_CONFIG or (config.tags and content == _NO_CASE_CONTENT) else content


_NO_CASE_CONTENT = NO_CASE_CONFIG.model_dump(mode="json", by_alias=True, exclude={"tags"})


def _with_configs(root: Path, config: SuiteConfig, cases: tuple[CaseRef, ...]) -> tuple[CaseRef, ...]:
    configs = load_case_configs(root, {case.case_id: Path(case.baseline.path) for case in cases})
    check_requirements(
        root, config, {case.case_id: configs.get(case.case_id, NO_CASE_CONFIG) for case in cases}
    )
    return tuple(
        replace(case, config=configs[case.case_id]) if case.case_id in configs else case for case in cases
    )


def _instructions(root: Path, config: SuiteConfig) -> str | None:
    regression = None if config.judge is None else config.judge.regression
    if regression is None or regression.instructions is None:
        return None
    path = root / regression.instructions
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be read: {os_error_text(error)}", file=path) from error
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8", file=path, remedy="save it as UTF-8") from error


def _overrides(root: Path, config: SuiteConfig, warn: Warn) -> tuple[Override, ...]:
    path = root / OVERRIDES_FILE
    overrides = load_overrides(path)
    if overrides and not config.gate.allow_manual_override:
        warn(f"{path}: not applied, since gate.allow_manual_override is false")
        return ()
    return overrides


def _expectation(root: Path, config: SuiteConfig) -> RunRegressionExpectation | None:
    if isinstance(config.expectation, str):
        return load_config(RunRegressionExpectation, root / config.expectation)
    return config.expectation


def _cases(records: Path, warn: Warn) -> Iterable[CaseRef]:
    for case in list_case_records(records):
        baseline = _loaded(case.baseline, warn)
        yield CaseRef(
            case_id=case.case_id,
            name=display_name(case, baseline.record),
            baseline=_ref(case.baseline, baseline),
            accepted=tuple(_ref(file, _loaded(file, warn)) for file in case.files[1:]),
            recorded_at=utc_time(baseline.record.data["startedAt"]),
            is_redacted=baseline.record.is_redacted,
        )


def _loaded(file: RecordFile, warn: Warn) -> LoadedRecord:
    loaded = load_record(file)
    if loaded.record.status == "failed":
        warn(f"{file.path}: case {file.case_id}: a failed run is no good baseline; use a completed one")
    return loaded


def _ref(file: RecordFile, loaded: LoadedRecord) -> RecordRef:
    return RecordRef(path=str(file.path.absolute()), sha256=loaded.sha256)
