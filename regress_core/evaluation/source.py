"""Opening a plan's candidate: records made elsewhere, or a harness that is run."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from regress_core.calls.limits import CallLimits
from regress_core.calls.runner import CallRunner
from regress_core.calls.trouble import Trouble, TroubleError, TroubleStage
from regress_core.compare.effect_rules import EffectsConfig
from regress_core.compare.options import CompareOptions
from regress_core.errors import InputError
from regress_core.evaluation.candidate import CandidateEvidence, CandidateSource, evidence_of
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.spending import Spending
from regress_core.harness.adapter.adapter import AdapterContext, CaseContext
from regress_core.harness.adapter.candidate import CandidateHarness, open_harness
from regress_core.harness.replay.replay import ReplayOptions
from regress_core.harness.replay.start import refuse_multi_turn
from regress_core.harness.run import Runtime
from regress_core.ids import Clock, new_run_id
from regress_core.judge.contract import RunJudge
from regress_core.records.json_io import JsonObject
from regress_core.records.loading import LoadedRecord, RecordFile, load_record
from regress_core.records.model import RunRecord
from regress_core.suite.candidate import read_harness
from regress_core.suite.loading import CaseRef, RecordRef


@dataclass(frozen=True, slots=True)
class RecordedCandidate:
    """Records made elsewhere."""

    records: dict[str, RecordRef]
    options: CompareOptions
    judge: RunJudge | None = None
    descriptor: JsonObject | None = None

    async def run(
        self,
        case: CaseRef,
        baseline: RunRecord,  # noqa: ARG002 - a record is what it is
        trial: int,  # noqa: ARG002 - as above
        spending: Spending,  # noqa: ARG002 - and costs nothing
    ) -> CandidateEvidence:
        """Read the case's record.

        Raises:
            TroubleError: If it is missing, unreadable or not the one that was planned.
        """
        ref = self.records.get(case.case_id)
        if ref is None:
            raise TroubleError(_input_trouble("candidate", "no candidate record", "no candidate record"))
        loaded = load_planned(case.case_id, ref, "candidate")
        return CandidateEvidence(loaded.record, text_of(loaded), loaded.sha256)


@dataclass(frozen=True, slots=True)
class RunCandidate:
    """A harness, run on each case."""

    harness: CandidateHarness
    replay: ReplayOptions
    options: CompareOptions
    judge: RunJudge | None
    descriptor: JsonObject | None

    async def run(
        self, case: CaseRef, baseline: RunRecord, trial: int, spending: Spending
    ) -> CandidateEvidence:
        """Run the harness on the case.

        Raises:
            TroubleError: If the baseline cannot be replayed.
        """
        refuse_multi_turn(baseline)
        context = CaseContext(case.case_id, case.name, trial, baseline, self.harness.context)
        run = await self.harness.run(context, self.replay, spending.meter(case.case_id, trial))
        return evidence_of(run, self.replay.mode, spending.cost_usd(case.case_id, trial))


@asynccontextmanager
async def open_source(
    plan: EvaluationPlan, calls: CallRunner, limits: CallLimits, clock: Clock
) -> AsyncGenerator[CandidateSource]:
    """Open a plan's candidate; nothing has been run before the first case asks.

    Raises:
        InputError: If the harness cannot be opened, or its files are not those that were planned.
    """
    ref = plan.candidate.harness
    if ref is None:
        yield RecordedCandidate(plan.candidate.records, plan.suite.config.comparison)
        return
    files = read_harness(ref)
    effects = files.descriptor.effects if files.descriptor else {}
    if files.candidate_id != plan.candidate.candidate_id or effects != plan.candidate.effects:
        remedy = "begin a new evaluation, without --resume"
        message = "descriptor or adapter changed since the evaluation was planned"
        raise InputError(message, file=ref.descriptor or ref.adapter, remedy=remedy)
    context = AdapterContext(files.descriptor, plan.how.mode, ref.model)
    runtime = Runtime(clock=clock, new_run_id=new_run_id, model=ref.model)
    async with open_harness(
        files.descriptor,
        files.adapter,
        context,
        runtime,
        calls,
        time_out_s=limits.run_time_out_s,
    ) as harness:
        options = await _compare_options(harness, plan)
        judge = await harness.adapter.prepare("create_judge", context)
        if judge is not None and not callable(judge):
            raise InputError("gave no judge", file=harness.adapter.name, field="create_judge")
        yield RunCandidate(
            harness=harness,
            replay=ReplayOptions(
                mode=plan.how.mode,
                input_mode=plan.how.input_mode,
                from_turn=plan.how.from_turn,
                rules=options.arguments,
            ),
            options=options,
            judge=cast("RunJudge | None", judge),
            descriptor=None if files.descriptor is None else files.descriptor.data,
        )


async def _compare_options(harness: CandidateHarness, plan: EvaluationPlan) -> CompareOptions:
    """Give the suite's comparison options, or the adapter's, with the effects that the descriptor declares.

    Where the adapter has some, suite.yaml may have no `compare`; effects that the adapter's do not speak of
    are the suite's.
    """
    options = await _own_options(harness, plan)
    declared = harness.declared_effects()
    if not declared:
        return options
    effects = (options.effects or EffectsConfig()).with_declared(declared)
    return options.model_copy(update={"effects": effects})


async def _own_options(harness: CandidateHarness, plan: EvaluationPlan) -> CompareOptions:
    own = await harness.adapter.prepare("create_comparison_options", harness.context)
    if own is None:
        return plan.suite.config.comparison
    place = {"file": harness.adapter.name, "field": "create_comparison_options"}
    if not isinstance(own, CompareOptions):
        raise InputError("gave no CompareOptions", **place)
    if "compare" in plan.suite.config.model_fields_set:
        raise InputError("suite.yaml says it too, under compare", remedy="say it in one place", **place)
    return own.model_copy(update={"effects": own.effects or plan.suite.config.effects})


def load_planned(case_id: str, ref: RecordRef, stage: TroubleStage) -> LoadedRecord:
    """Read a record again and make sure that it is the one that was planned.

    Raises:
        TroubleError: If it cannot be read or is another one.
    """
    try:
        loaded = load_record(RecordFile(case_id, Path(ref.path)))
    except InputError as error:
        trouble = Trouble("input", stage, "unreadable input", str(error), retryable=True)
        raise TroubleError(trouble) from error
    if loaded.sha256 != ref.sha256:
        message = f"{ref.path}: changed since the evaluation was planned"
        raise TroubleError(_input_trouble(stage, "input changed", message))
    return loaded


def text_of(loaded: LoadedRecord) -> str:
    """Give a record's text as its file has it."""
    return loaded.text.decode("utf-8-sig")


def _input_trouble(stage: TroubleStage, code: str, message: str) -> Trouble:
    return Trouble("input", stage, code, message, retryable=False)
