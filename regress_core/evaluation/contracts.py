"""What a plan's candidate changed of the contracts of its tools, found out before the first case."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from regress_core.calls.limits import CallLimits
from regress_core.calls.runner import CallRunner
from regress_core.calls.trouble import TroubleError
from regress_core.errors import InputError
from regress_core.evaluation.cancellation import cancelled_by_candidate
from regress_core.evaluation.candidate import CandidateSource
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.source import RecordedCandidate, RunCandidate, load_planned, open_source
from regress_core.harness.adapter.candidate import CandidateHarness
from regress_core.harness.contracts import (
    ContractChange,
    Told,
    baseline_contract,
    candidate_contract,
    compare_contracts,
    compare_told,
    told_by,
    told_in,
)
from regress_core.harness.descriptor.build import build_harness
from regress_core.harness.descriptor.descriptor import HarnessDescriptor, descriptor_of
from regress_core.ids import utc_now
from regress_core.records.model import RunRecord
from regress_core.suite.loading import RecordRef

MOST_RECORDS = 100
"""How many records a side are read for their fingerprints: one would do where all are of one version."""


def check_candidate(plan: EvaluationPlan) -> EvaluationPlan:
    """Open a plan's candidate and close it again, for callers without an event loop.

    Returns:
        The plan, with what changed of the contracts of tools.

    Raises:
        InputError: As `open_source`; or if the candidate's code cancels the task that opens it.
    """

    async def check() -> EvaluationPlan:
        limits = CallLimits()
        async with open_source(plan, CallRunner(limits), limits, utc_now) as source:
            return with_contracts(plan, source)

    try:
        return asyncio.run(check())
    except asyncio.CancelledError as error:  # nobody else could have
        raise cancelled_by_candidate() from error


def with_contracts(plan: EvaluationPlan, source: CandidateSource) -> EvaluationPlan:
    """Give a plan with what changed of the contracts of tools, as far as both sides are known.

    Nothing of it decides: it is there to explain what does.

    Args:
        plan: The plan.
        source: Its candidate, opened.
    """
    if isinstance(source, RunCandidate):
        return replace(plan, contracts=tuple(_of_harness(plan, source.harness)))
    if isinstance(source, RecordedCandidate):
        refs = ((case.case_id, source.records.get(case.case_id)) for case in plan.suite.cases)
        return replace(plan, contracts=tuple(compare_told(_told_before(plan), told_in(_records(refs)))))
    return plan


def _of_harness(plan: EvaluationPlan, harness: CandidateHarness) -> Iterator[ContractChange]:
    data, candidate = plan.suite.baseline_descriptor, harness.context.descriptor
    baseline = None if data is None else descriptor_of(data, source=str(plan.suite.config.baseline))
    if baseline is not None and candidate is not None:
        before = baseline_contract(baseline, harness.tools)
        yield from compare_contracts(before, candidate_contract(candidate, harness.tools))
    if harness.entry_agent is not None:
        explained = None if baseline is None else _told_now(baseline, harness)
        yield from compare_told(_told_before(plan), told_by(harness.entry_agent), explained)


def _told_before(plan: EvaluationPlan) -> Told:
    return told_in(_records((case.case_id, case.baseline) for case in plan.suite.cases))


def _told_now(baseline: HarnessDescriptor, harness: CandidateHarness) -> Told | None:
    """Give what the baseline's agents would be told; None where the adapter lacks one of their tools."""
    try:
        return told_by(build_harness(baseline, harness.tools).entry_agent)
    except InputError:
        return None


def _records(refs: Iterable[tuple[str, RecordRef | None]]) -> Iterator[RunRecord]:
    there = ((case_id, ref) for case_id, ref in refs if ref is not None)
    for case_id, ref in islice(there, MOST_RECORDS):
        try:
            yield load_planned(case_id, ref, "baseline").record
        except TroubleError:
            continue  # its case meets the same trouble, and tells it
