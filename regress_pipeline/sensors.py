"""Cases come and go: new and changed record files are evaluated, the partitions of removed ones retire."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import dagster as dg

from regress_core.errors import InputError, os_error_text
from regress_core.evaluation.entering import join
from regress_core.evaluation.plan import EvaluationPlan, build_plan
from regress_core.evaluation.ports import Ports
from regress_core.ids import derived_evaluation_id, utc_now
from regress_core.journal.journal import Journal
from regress_core.records.json_io import dumps_text, loads_own
from regress_core.records.loading import CaseRecords, list_case_records
from regress_core.suite.candidate import CANDIDATE_FILE, load_candidate
from regress_core.suite.loading import Suite, load_suite, load_suite_config
from regress_pipeline.assets import job_name
from regress_pipeline.partitions import partitions_lock, partitions_name, register_cases, retire_cases
from regress_pipeline.run_requests import run_requests
from regress_pipeline.settings import Settings
from regress_pipeline.suites import SuiteFolder
from regress_pipeline.workers import fail_dead_runs

LOOKS_EVERY_S = 60
SETTLED_AFTER = timedelta(seconds=5)
"""A file that was written later than that may be one of many that are being copied."""


def define_watch(suite: SuiteFolder, settings: Settings, *, running: bool) -> dg.SensorDefinition:
    """Define the sensor that watches a suite's record files.

    Args:
        suite: The suite.
        settings: Where the store is.
        running: Whether it runs from the start. Evaluations may cost money, so that it is for whoever wrote a
            schedule into suite.yaml; others turn it on in the user interface.
    """
    status = dg.DefaultSensorStatus.RUNNING if running else dg.DefaultSensorStatus.STOPPED

    @dg.sensor(
        name=watch_name(suite.name),
        job_name=job_name(suite.name),
        minimum_interval_seconds=LOOKS_EVERY_S,
        default_status=status,
        description=f"Evaluates new and changed cases of {suite.name}, retires removed ones.",
    )
    def tick(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        return look(suite, settings, context.instance, context.cursor, utc_now())

    return tick


def watch_name(suite: str) -> str:
    """Give the name of a suite's sensor."""
    return job_name(suite).replace("job_", "cases_", 1)


@dataclass(frozen=True, slots=True)
class Seen:
    """A case as its files stood.

    Attributes:
        digest: SHA-256 over the accepted runs, in their order.
        marks: Size and time of change (nanoseconds) of each file; a file whose marks stand is not read again.
    """

    digest: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Cursor:
    """What the sensor has seen so far.

    Attributes:
        ticks: How many ticks have found changes.
        cases: What it has seen, by case id.
    """

    ticks: int
    cases: Mapping[str, Seen]

    def to_text(self) -> str:
        return dumps_text(
            {
                "ticks": self.ticks,
                "cases": {name: [seen.digest, seen.marks] for name, seen in self.cases.items()},
            }
        )

    @classmethod
    def from_text(cls, text: str) -> _Cursor:
        value = loads_own(text)
        cases = {
            name: Seen(digest, tuple((size, changed) for size, changed in marks))
            for name, (digest, marks) in value["cases"].items()
        }
        return cls(value["ticks"], cases)


def look(
    suite: SuiteFolder, settings: Settings, instance: dg.DagsterInstance, cursor: str | None, now: datetime
) -> dg.SensorResult:
    """Look at a suite's record files once.

    Args:
        suite: The suite.
        settings: Where the store is.
        instance: Dagster's instance.
        cursor: What the last look gave; None for a first one, which takes what is materialized as seen.
        now: The time.

    Raises:
        InputError: If any file of the suite or the candidate is at fault; nothing has been entered then, and
            the next look sees the same changes.
    """
    fail_dead_runs(instance, settings.store, now)
    records = suite.root / load_suite_config(suite.root).records
    cases = list_case_records(records)
    if not cases:
        return _nothing(cursor, f"no record in {records}; nothing retires while that is so")
    if any(_is_fresh(path, now) for case in cases for path in _paths(case)):
        return _nothing(cursor, "record files are being written; the next look counts")
    before = _Cursor.from_text(cursor) if cursor else _Cursor(0, {})
    seen = {case.case_id: _seen(case, before.cases.get(case.case_id)) for case in cases}
    changed = [case_id for case_id in seen if _digest(before, case_id) != seen[case_id].digest]
    if cursor is None:
        known = instance.get_materialized_partitions(dg.AssetKey([suite.name, "baseline_records"]))
        changed = [case_id for case_id in changed if case_id not in known]
    after = _Cursor(before.ticks + bool(changed), seen)
    with partitions_lock(settings.store), Ports.open(settings.store, limits=settings.limits) as ports:
        requests, told = (
            _evaluate(suite, ports.journal, instance, changed, before.ticks) if changed else ([], "")
        )
        gone = set(instance.get_dynamic_partitions(partitions_name(suite.name))) - seen.keys()
        retired = retire_cases(instance, suite.name, gone, ports.journal)
    if requests:
        return dg.SensorResult(run_requests=requests, cursor=after.to_text())
    words = [told, f"retired: {', '.join(retired)}" if retired else ""]
    return _nothing(after.to_text(), "; ".join(filter(None, words)) or "nothing has changed")


def _nothing(cursor: str | None, why: str) -> dg.SensorResult:
    return dg.SensorResult(skip_reason=why, cursor=cursor)


def _evaluate(
    suite: SuiteFolder, journal: Journal, instance: dg.DagsterInstance, changed: Sequence[str], ticks: int
) -> tuple[list[dg.RunRequest], str]:
    """Enter an evaluation of the changed cases and ask for its runs; or register them only, and say why."""
    loaded = load_suite(suite.root)
    if not (suite.root / CANDIDATE_FILE).exists():
        register_cases(instance, suite.name, changed)
        return [], f"registered {len(changed)}; there is no {CANDIDATE_FILE} to evaluate them against"
    plan = _entered(loaded, changed, ticks, journal)
    return run_requests(plan, instance, with_baselines=True), ""


def _entered(suite: Suite, changed: Sequence[str], ticks: int, journal: Journal) -> EvaluationPlan:
    """Enter the evaluation of the changed cases; a look that is repeated is the same evaluation."""
    candidate = load_candidate(suite.root / CANDIDATE_FILE)
    cases = [case for case in suite.cases if case.case_id in set(changed)]
    plan = build_plan(suite, candidate, cases, trigger="cases", clock=utc_now, new_id=str)
    parts = (suite.name, "cases", plan.plan_key, str(ticks))
    return join(replace(plan, evaluation_id=derived_evaluation_id(*parts)), journal)


def _digest(cursor: _Cursor, case_id: str) -> str | None:
    seen = cursor.cases.get(case_id)
    return None if seen is None else seen.digest


def _paths(case: CaseRecords) -> list[Path]:
    return [file.path for file in case.files]


def _seen(case: CaseRecords, before: Seen | None) -> Seen:
    marks = tuple(_marks(path) for path in _paths(case))
    if before is not None and before.marks == marks:
        return before
    digest = hashlib.sha256()
    for path in _paths(case):
        digest.update(hashlib.sha256(_read(path)).digest())
    return Seen(digest.hexdigest(), marks)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {os_error_text(error)}", file=path) from error


def _marks(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(f"cannot be read: {os_error_text(error)}", file=path) from error
    return found.st_size, found.st_mtime_ns


def _is_fresh(path: Path, now: datetime) -> bool:
    changed = datetime.fromtimestamp(_marks(path)[1] / 10**9, tz=now.tzinfo)
    return timedelta(0) <= now - changed < SETTLED_AFTER
