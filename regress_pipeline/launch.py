"""Running a suite through Dagster without its user interface."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from regress_core.errors import InputError
from regress_core.evaluation.entering import begin
from regress_core.evaluation.events import Emit
from regress_core.evaluation.plan import EvaluationPlan, build_plan
from regress_core.evaluation.ports import Ports
from regress_core.evaluation.source import check_candidate
from regress_core.evaluation.summary import summarize_evaluation
from regress_core.files import write_bytes
from regress_core.ids import new_evaluation_id, utc_now
from regress_core.suite.candidate import CANDIDATE_FILE, load_candidate
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.loading import Selection, Warn, load_suite, select_cases
from regress_pipeline.assets import define_suite, job_name, op_name
from regress_pipeline.evaluate import InconclusiveCasesFailure
from regress_pipeline.partitions import register_cases, runs_of
from regress_pipeline.settings import Settings
from regress_pipeline.suites import SuiteFolder

# Dagster's console log is for its own operators; the evaluation tells its own story.
_QUIET = {"console": {"config": {"log_level": "CRITICAL"}}}

_SUPERSEDED = (
    b"# The Dagster instance of a regress store. Nothing is sent anywhere.\ntelemetry:\n  enabled: false\n",
)
"""What earlier versions wrote there."""


def dagster_home(store: Path) -> Path:
    """Give the Dagster home of a store, created where it is missing.

    A dagster.yaml that a person has changed stays as it is.

    Raises:
        InputError: If the folder cannot be made.
    """
    home = store / "dagster"
    if set("?%") & set(str(home)):
        remedy = "name another folder with --store"
        raise InputError("Dagster takes no path with ? or % in it", file=store, remedy=remedy)
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the store cannot be created: {error.strerror}"
        raise InputError(message, file=store, remedy="name another folder with --store") from error
    config = home / "dagster.yaml"
    if not config.exists() or config.read_bytes() in _SUPERSEDED:
        write_bytes(config, Path(__file__).with_name("dagster.yaml").read_bytes())
    return home


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


def launch(
    suite: SuiteFolder,
    settings: Settings,
    *,
    candidate: Path | None,
    cases: Sequence[str],
    fresh: bool,
    observe: Emit,
    warn: Warn,
) -> Launched | None:
    """Evaluate a suite in this process, as Dagster runs on the store's instance; None if no case is selected.

    The same call takes up an unfinished evaluation, whether a command or a run left it so.

    Raises:
        InputError: If any input is at fault; nothing is written then.
        KeyboardInterrupt: If interrupted; what is done is kept.
        JudgeTimeUpError: If the judges have taken too long; what is done is kept.
    """
    loaded = load_suite(suite.root, warn=warn)
    chosen = load_candidate(candidate or suite.root / CANDIDATE_FILE)
    selected = select_cases(loaded, Selection(tuple(cases)))
    if not selected:
        return None
    plan = build_plan(loaded, chosen, selected, trigger="pipeline", clock=utc_now, new_id=new_evaluation_id)
    check_candidate(plan)
    home = dagster_home(settings.store)
    with Ports.open(settings.store) as ports:
        plan = begin(plan, ports.journal, fresh=fresh)
        try:
            run_ids = _run(plan, suite, settings, home, observe)
        except dg.DagsterExecutionInterruptedError as error:  # what Dagster makes of Ctrl-C
            raise KeyboardInterrupt from error
        summary = summarize_evaluation(plan, ports)
        return Launched(plan.evaluation_id, run_ids, summary, ports.outputs_of(plan.evaluation_id))


def _run(
    plan: EvaluationPlan, suite: SuiteFolder, settings: Settings, home: Path, observe: Emit
) -> tuple[str, ...]:
    job = define_suite(suite, settings, observe).resolve_job_def(job_name(suite.name))
    config = {"evaluation_id": plan.evaluation_id}
    case_ids = [case.case_id for case in plan.suite.cases]
    run_ids: list[str] = []
    with dg.DagsterInstance.from_config(str(home)) as instance:
        register_cases(instance, suite.name, case_ids)
        for first, last in runs_of(instance, suite.name, case_ids):
            run_ids.append(str(uuid.uuid4()))
            # The cases that stopped the run are in the summary; any other failure is raised as it is.
            with suppress(InconclusiveCasesFailure):
                job.execute_in_process(
                    instance=instance,
                    run_id=run_ids[-1],
                    run_config={"ops": {op_name(suite.name): {"config": config}}, "loggers": _QUIET},
                    tags={
                        "dagster/asset_partition_range_start": first,
                        "dagster/asset_partition_range_end": last,
                        "regress/evaluation_id": plan.evaluation_id,
                    },
                )
    return tuple(run_ids)
