"""Old suites against a new candidate: planned whole, then evaluated by a daemon or in this process."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dagster as dg
from dagster._core.execution.backfill import BULK_ACTION_TERMINAL_STATUSES, BulkActionsFilter

from regress_core.calls.prices import NANOUSD
from regress_core.errors import InputError
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.ports import Ports
from regress_core.ids import utc_now
from regress_core.suite.loading import Warn
from regress_pipeline.assets import op_name
from regress_pipeline.home import dagster_environment, dagster_home
from regress_pipeline.launch import NothingLackingError, Wanted, enter, plan_wanted
from regress_pipeline.partitions import (
    CASE_ASSETS,
    EVALUATION,
    RETRY_WHOLE,
    SUITE_SUMMARY,
    UNDER_WAY,
    partitions_lock,
    register_cases,
    unfinished_runs,
)
from regress_pipeline.settings import Settings
from regress_pipeline.suites import SuiteFolder, find_suites
from regress_pipeline.workers import fail_dead_runs

_BEATS_WITHIN = timedelta(seconds=60)  # it beats every 30 s
_DAEMONS = ("BACKFILL", "QUEUED_RUN_COORDINATOR")
_LOOKS_EVERY_S = 1.0

_LAUNCH = """
  {alias}: launchPartitionBackfill(backfillParams: ${alias}) {{
    __typename
    ... on LaunchBackfillSuccess {{ backfillId }}
    ... on PythonError {{ message }}
    ... on PartitionKeysNotFoundError {{ message }}
    ... on UnauthorizedError {{ message }}
    ... on InvalidSubsetError {{ message }}
    ... on InvalidStepError {{ invalidStepKey }}
    ... on PipelineNotFoundError {{ message }}
    ... on RunConflict {{ message }}
  }}"""


@dataclass(frozen=True, slots=True)
class Backfill:
    """One suite's part of a backfill: an evaluation that stands in the journal."""

    suite: SuiteFolder
    plan: EvaluationPlan


@dataclass(frozen=True, slots=True)
class Planned:
    """What a backfill comes to, suite by suite.

    Attributes:
        backfills: The suites with cases to evaluate.
        unselected: The suites of which no case is selected.
        settled: The suites of which cases are selected, and none of them is missing, failed or inconclusive.
    """

    backfills: tuple[Backfill, ...]
    unselected: tuple[SuiteFolder, ...]
    settled: tuple[SuiteFolder, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a backfill of one suite is.

    Attributes:
        suite: The suite's name.
        trials: How many trials there are of all its cases.
        done: How many of them have an outcome.
        spent_usd: What its calls have cost so far, those in flight with their upper bound.
    """

    suite: str
    trials: int
    done: int
    spent_usd: float


def plan_backfills(wanted: Sequence[Wanted], settings: Settings, warn: Warn) -> Planned:
    """Plan every suite before the first one starts, then enter those that have something to evaluate.

    An unfinished evaluation of the same plan is taken up.

    Raises:
        InputError: If any input of any suite is at fault; no evaluation has been entered then.
    """
    plans: list[tuple[SuiteFolder, EvaluationPlan]] = []
    unselected: list[SuiteFolder] = []
    settled: list[SuiteFolder] = []
    for one in wanted:
        try:
            plan = plan_wanted(one, settings, trigger="backfill", warn=warn)
        except NothingLackingError:
            settled.append(one.suite)
            continue
        if plan is None:
            unselected.append(one.suite)
        else:
            plans.append((one.suite, plan))
    backfills = tuple(Backfill(suite, enter(plan, settings)) for suite, plan in plans)
    return Planned(backfills, tuple(unselected), tuple(settled))


def daemon_runs(settings: Settings, now: datetime) -> bool:
    """Tell whether a Dagster daemon works on this store: one that takes backfills and starts runs."""
    if not (settings.store / "dagster" / "dagster.yaml").is_file():
        return False
    with dg.DagsterInstance.from_config(str(dagster_home(settings.store))) as instance:
        return _beats(instance, now)


def _beats(instance: dg.DagsterInstance, now: datetime) -> bool:
    beats = instance.get_daemon_heartbeats()
    last = [beats[name].timestamp if name in beats else 0.0 for name in _DAEMONS]
    return all(now - datetime.fromtimestamp(beat, UTC) < _BEATS_WITHIN for beat in last)


def is_known_to_daemon(backfills: Sequence[Backfill], settings: Settings) -> bool:
    """Tell whether all suites lie below the suites root, which a daemon has loaded."""
    known = {suite.root.resolve() for suite in find_suites(settings.suites_root).found}
    return all(backfill.suite.root.resolve() in known for backfill in backfills)


def submit(backfills: Sequence[Backfill], settings: Settings) -> list[str]:
    """Hand backfills over to the daemon, through Dagster's GraphQL; give their ids.

    An evaluation that a backfill is at work on already is left to that one, for a second would make the calls
    in flight once more.

    Raises:
        InputError: If Dagster refuses one; the others have been handed over.
    """
    home = dagster_home(settings.store)
    with partitions_lock(settings.store):
        with dg.DagsterInstance.from_config(str(home)) as instance:
            fail_dead_runs(instance, settings.store, utc_now())
            ids = [_under_way(instance, backfill.plan.evaluation_id) for backfill in backfills]
            new = [backfill for backfill, known in zip(backfills, ids, strict=True) if known is None]
            for backfill in new:
                cases = [case.case_id for case in backfill.plan.suite.cases]
                register_cases(instance, backfill.suite.name, cases)
        answers = iter(_ask(new, settings) if new else [])
    return [known or _id_of(next(answers), one) for known, one in zip(ids, backfills, strict=True)]


def _under_way(instance: dg.DagsterInstance, evaluation_id: str) -> str | None:
    filters = BulkActionsFilter(statuses=UNDER_WAY, tags={EVALUATION: evaluation_id})
    return next((one.backfill_id for one in instance.get_backfills(filters=filters)), None)


def _id_of(answer: dict[str, Any], backfill: Backfill) -> str:
    if "backfillId" in answer:
        return answer["backfillId"]
    message = f"Dagster refuses the backfill: {answer.get('message', answer['__typename'])}"
    remedy = "reload the code location, or stop the daemon to evaluate in this process"
    raise InputError(message, field=f"--suite {backfill.suite.name}", remedy=remedy)


def _ask(backfills: Sequence[Backfill], settings: Settings) -> list[dict[str, Any]]:
    aliases = [f"b{number}" for number, _ in enumerate(backfills)]
    head = ", ".join(f"${alias}: LaunchBackfillParams!" for alias in aliases)
    parts = "".join(_LAUNCH.format(alias=alias) for alias in aliases)
    variables = {alias: _params(one) for alias, one in zip(aliases, backfills, strict=True)}
    program = str(Path(sys.executable).with_name("dagster-graphql"))
    document = f"mutation({head}) {{{parts}\n}}"
    with TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"  # its standard output holds the log of the code server too
        command = [program, "-m", "regress_pipeline.definitions", "-o", str(answer)]
        done = subprocess.run(  # noqa: S603 - no shell: the program beside this interpreter
            [*command, "-t", document, "-v", json.dumps(variables)],
            env=dagster_environment(settings),
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        text = answer.read_text(encoding="utf-8") if answer.exists() else ""
    try:
        data = json.loads(text)["data"]
        return [data[alias] for alias in aliases]
    except (ValueError, KeyError, TypeError) as error:
        told = (text or done.stderr or done.stdout).strip().splitlines() or ["it says nothing"]
        raise InputError(f"Dagster does not take the backfill: {told[-1][:500]}") from error


def _params(backfill: Backfill) -> dict[str, Any]:
    plan, suite = backfill.plan, backfill.suite.name
    config = {"ops": {op_name(suite): {"config": {"evaluation_id": plan.evaluation_id}}}}
    tags = {EVALUATION: plan.evaluation_id, **RETRY_WHOLE}
    return {
        "assetSelection": [{"path": [suite, asset]} for asset in (*CASE_ASSETS, SUITE_SUMMARY)],
        "partitionNames": [case.case_id for case in plan.suite.cases],
        "runConfigData": config,
        "tags": [{"key": key, "value": value} for key, value in tags.items()],
        "title": f"{suite} against {plan.candidate.label}"[:200],
    }


def wait(
    backfills: Sequence[Backfill],
    backfill_ids: Sequence[str],
    settings: Settings,
    show: Callable[[Sequence[Progress]], None],
) -> None:
    """Wait until each evaluation is finished, or will not be: its backfill has ended, or the daemon has.

    A run that the daemon has started goes on without it, so that this is waited for.

    Args:
        backfills: What was handed over.
        backfill_ids: Under which ids.
        settings: Where the store is.
        show: Takes how far they are, now and then.
    """
    home = dagster_home(settings.store)
    with Ports.open(settings.store) as ports, dg.DagsterInstance.from_config(str(home)) as instance:
        waiting = dict(zip(backfill_ids, backfills, strict=True))
        while waiting:
            time.sleep(_LOOKS_EVERY_S)
            # Of a suite without a schedule no sensor does.
            fail_dead_runs(instance, settings.store, utc_now())
            ended = {one for one in waiting if _has_ended(instance, one)}  # before the journal is asked
            waiting = {
                backfill_id: one
                for backfill_id, one in waiting.items()
                if backfill_id not in ended and not _is_finished(one, ports)
            }
            show([progress_of(one.plan, ports) for one in backfills])
            if not _beats(instance, utc_now()):
                waiting = {key: one for key, one in waiting.items() if _is_at_work(instance, one)}


def progress_of(plan: EvaluationPlan, ports: Ports) -> Progress:
    """Tell how far an evaluation is, and what it has spent."""
    cases, done = ports.journal.progress(plan.evaluation_id)
    spent = sum(row.spent_nanousd for row in ports.journal.ledger().totals(plan.evaluation_id))
    return Progress(plan.suite.name, cases * plan.how.trials, done, spent / NANOUSD)


def _has_ended(instance: dg.DagsterInstance, backfill_id: str) -> bool:
    backfill = instance.get_backfill(backfill_id)
    return backfill is None or backfill.status in BULK_ACTION_TERMINAL_STATUSES


def _is_at_work(instance: dg.DagsterInstance, backfill: Backfill) -> bool:
    runs = unfinished_runs(instance, backfill.suite.name, backfill.plan.evaluation_id)
    return any(run.status in (dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED) for run in runs)


def _is_finished(backfill: Backfill, ports: Ports) -> bool:
    row = ports.journal.evaluation(backfill.plan.evaluation_id)
    return row is not None and row.state == "finished" and row.revision >= backfill.plan.revision
