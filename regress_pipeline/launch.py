"""Running a suite through Dagster without its user interface."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from regress_core.errors import InputError, RegressError
from regress_core.evaluation.as_of import suite_as_of
from regress_core.evaluation.contracts import check_candidate
from regress_core.evaluation.entering import begin
from regress_core.evaluation.events import Emit
from regress_core.evaluation.plan import EvaluationPlan, Trigger, build_plan, redaction_warning
from regress_core.evaluation.ports import JOURNAL_FILE, Ports
from regress_core.evaluation.summary import summarize_evaluation
from regress_core.history.results import Only, lacking
from regress_core.history.store import History
from regress_core.ids import new_evaluation_id, utc_now
from regress_core.suite.candidate import CANDIDATE_FILE, load_candidate
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.loading import Suite, Warn, load_suite
from regress_core.suite.selection import Selection, select_cases
from regress_pipeline.assets import define_suite, job_name, op_name
from regress_pipeline.evaluate import InconclusiveCasesFailure
from regress_pipeline.home import dagster_home
from regress_pipeline.partitions import (
    EVALUATION,
    RANGE_END,
    RANGE_START,
    partitions_lock,
    register_cases,
    runs_of,
)
from regress_pipeline.settings import Settings
from regress_pipeline.suites import SuiteFolder
from regress_pipeline.workers import fail_dead_runs

# Dagster's console log is for its own operators; the evaluation tells its own story.
_QUIET = {"console": {"config": {"log_level": "CRITICAL"}}}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person wants evaluated.

    Attributes:
        suite: The suite.
        candidate: Where the candidate is; None for the suite's candidate.yaml.
        selection: Which cases.
        as_of: The evaluation or the date that the suite is taken from; None for the suite as it is.
        only: Only cases on which the candidate has no result yet, or such a one.
    """

    suite: SuiteFolder
    candidate: Path | None
    selection: Selection
    as_of: str | None = None
    only: Only | None = None


@dataclass(frozen=True, slots=True)
class Launched:
    """An evaluation that went through Dagster.

    Attributes:
        evaluation_id: Its id.
        run_ids: Dagster's runs, in order.
        summary: Over all planned cases.
        outputs: Its output folder.
    """

    evaluation_id: str
    run_ids: tuple[str, ...]
    summary: RunRegressionSummary
    outputs: Path


class NothingLackingError(RegressError):
    """Cases are selected, and the candidate has a result on each of them, or none that failed, as asked."""


def plan_wanted(wanted: Wanted, settings: Settings, *, trigger: Trigger, warn: Warn) -> EvaluationPlan | None:
    """Plan what is wanted and open its candidate once; None if no case is selected.

    Raises:
        InputError: If any input is at fault; nothing but records of an earlier evaluation is written.
        NothingLackingError: If cases are selected and `only` leaves none of them.
    """
    loaded = _suite(wanted, settings, warn)
    candidate = load_candidate(wanted.candidate or wanted.suite.root / CANDIDATE_FILE)
    cases = select_cases(loaded, wanted.selection, warn)
    if not cases:
        return None
    if wanted.only is not None:
        history = History.open(settings.store)
        cases = lacking(history, loaded.name, candidate.candidate_id, cases, wanted.only)
        if not cases:
            raise NothingLackingError(f"nothing is {wanted.only}")
    plan = build_plan(loaded, candidate, cases, trigger=trigger, clock=utc_now, new_id=new_evaluation_id)
    warning = redaction_warning(plan)
    if warning is not None:
        warn(warning)
    return check_candidate(plan)


def _suite(wanted: Wanted, settings: Settings, warn: Warn) -> Suite:
    if wanted.as_of is None:
        return load_suite(wanted.suite.root, warn=warn)
    if not (settings.store / JOURNAL_FILE).is_file():
        remedy = "name the store that holds the evaluation with --store"
        raise InputError("no such store", file=settings.store, field="--as-of", remedy=remedy)
    with Ports.open(settings.store) as ports:
        return suite_as_of(wanted.suite.name, wanted.as_of, ports)


def enter(plan: EvaluationPlan, settings: Settings, *, fresh: bool = False) -> EvaluationPlan:
    """Enter a plan in the store's journal, or take up the unfinished evaluation of the same plan."""
    dagster_home(settings.store)
    with Ports.open(settings.store) as ports:
        return begin(plan, ports.journal, fresh=fresh)


def launch(
    plan: EvaluationPlan, suite: SuiteFolder, settings: Settings, *, observe: Emit, warn: Warn
) -> Launched:
    """Evaluate a plan that stands in the journal in this process, as Dagster runs on the store's instance.

    Args:
        plan: The plan.
        suite: Its suite.
        settings: Where the store is.
        observe: Takes the evaluation's events.
        warn: Takes one-line warnings.

    Raises:
        InputError: If the candidate harness cannot be opened.
        KeyboardInterrupt: If interrupted; what is done is kept.
        JudgeTimeUpError: If the judges have taken too long; what is done is kept.
    """
    try:
        run_ids = _run(plan, define_suite(suite, settings, observe, warn), settings)
    except dg.DagsterExecutionInterruptedError as error:  # what Dagster makes of Ctrl-C
        raise KeyboardInterrupt from error
    with Ports.open(settings.store) as ports:
        summary = summarize_evaluation(plan, ports)
        return Launched(plan.evaluation_id, run_ids, summary, ports.outputs_of(plan.evaluation_id))


def _run(plan: EvaluationPlan, suite: dg.Definitions, settings: Settings) -> tuple[str, ...]:
    name = plan.suite.name
    job = suite.resolve_job_def(job_name(name))
    config = {"evaluation_id": plan.evaluation_id}
    case_ids = [case.case_id for case in plan.suite.cases]
    run_ids: list[str] = []
    with dg.DagsterInstance.from_config(str(dagster_home(settings.store))) as instance:
        fail_dead_runs(instance, settings.store, utc_now())
        with partitions_lock(settings.store):
            register_cases(instance, name, case_ids)
        for first, last in runs_of(instance, name, case_ids):
            run_ids.append(str(uuid.uuid4()))
            # The cases that stopped the run are in the summary; any other failure is raised as it is.
            with suppress(InconclusiveCasesFailure):
                job.execute_in_process(
                    instance=instance,
                    run_id=run_ids[-1],
                    run_config={"ops": {op_name(name): {"config": config}}, "loggers": _QUIET},
                    tags={
                        RANGE_START: first,
                        RANGE_END: last,
                        EVALUATION: plan.evaluation_id,
                        "dagster/max_retries": "0",  # it comes from no code location, where a daemon finds it
                    },
                )
    return tuple(run_ids)
