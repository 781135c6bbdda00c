"""From an evaluation that stands in the journal to the runs that evaluate it."""

from __future__ import annotations

import dagster as dg

from regress_core.evaluation.plan import EvaluationPlan
from regress_pipeline.assets import op_name
from regress_pipeline.partitions import (
    CASE_ASSETS,
    EVALUATION,
    RANGE_END,
    RANGE_START,
    SUITE_SUMMARY,
    register_cases,
    runs_of,
)


def run_requests(
    plan: EvaluationPlan, instance: dg.DagsterInstance, *, with_baselines: bool
) -> list[dg.RunRequest]:
    """Register an evaluation's cases and ask for its runs.

    A baseline's record is an event of its own only when it is new or changed; a night would write one a case
    and night that says nothing.

    Args:
        plan: The evaluation.
        instance: Dagster's instance.
        with_baselines: Whether the baselines are materialized too; they are where any case is registered just
            now.
    """
    suite = plan.suite.name
    case_ids = [case.case_id for case in plan.suite.cases]
    new = register_cases(instance, suite, case_ids)
    left_out = () if with_baselines or new else ("baseline_records",)
    assets = [dg.AssetKey([suite, name]) for name in (*CASE_ASSETS, SUITE_SUMMARY) if name not in left_out]
    config = {"evaluation_id": plan.evaluation_id}
    return [
        dg.RunRequest(
            run_key=f"{plan.evaluation_id}/{plan.revision}/{first}",
            run_config={"ops": {op_name(suite): {"config": config}}},
            tags={RANGE_START: first, RANGE_END: last, EVALUATION: plan.evaluation_id},
            asset_selection=assets,
        )
        for first, last in runs_of(instance, suite, case_ids)
    ]
