"""A suites root, a store and its Dagster instance; and what Dagster has written down about a run."""

# Dagster's own annotations leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import time
import uuid
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.definitions.reconstruct import ReconstructableJob
from dagster._core.execution.backfill import PartitionBackfill

from regress_core.evaluation.entering import join
from regress_core.evaluation.events import Emit, Event
from regress_core.evaluation.plan import build_plan
from regress_core.evaluation.ports import Ports
from regress_core.ids import new_evaluation_id, utc_now
from regress_core.suite.candidate import load_candidate
from regress_core.suite.loading import load_suite
from regress_core.suite.selection import Selection, select_cases
from regress_pipeline.assets import define_suite, job_name, op_name
from regress_pipeline.definitions import build_definitions
from regress_pipeline.home import dagster_home
from regress_pipeline.partitions import partitions_name, register_cases
from regress_pipeline.settings import Settings, load_settings
from regress_pipeline.suites import suite_folder

CASE_ASSETS = ("baseline_records", "candidate_records", "comparisons", "judge_results", "case_summaries")
RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
BACKFILL = "dagster/backfill"

_QUIET = {"console": {"config": {"log_level": "CRITICAL"}}}


def suite_job(suite: str, store: str, suites_root: str) -> dg.JobDefinition:
    """Give a suite's job, in whatever process Dagster asks for it."""
    settings = replace(load_settings(store=Path(store)), suites_root=Path(suites_root))
    return build_definitions(settings).resolve_job_def(job_name(suite))


def reconstructable_suite_job(suite: str, store: str, suites_root: str) -> ReconstructableJob:
    """Give a suite's job in the form that Dagster can carry into another process."""
    where = {"suite": suite, "store": store, "suites_root": suites_root}
    return dg.build_reconstructable_job(__name__, suite_job.__name__, reconstructable_kwargs=where)


def everything_of(cases: Iterable[str]) -> dict[str, set[str | None]]:
    """Give what a run of all assets materializes when every case is conclusive, as `Run.partitions` does."""
    partitions: set[str | None] = set(cases)
    return {**dict.fromkeys(CASE_ASSETS, partitions), "suite_summary": {None}}


@dataclass(frozen=True)
class Materialization:
    """A materialization in Dagster's event log."""

    asset: str
    partition: str | None
    metadata: Mapping[str, Any]
    data_version: str | None


@dataclass(frozen=True)
class Check:
    """An evaluation of an asset check in Dagster's event log."""

    name: str
    asset: str
    partition: str | None
    passed: bool
    severity: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class Run:
    """A run in Dagster's event log.

    Attributes:
        status: `SUCCESS` or `FAILURE`.
        failure: What the failed step says, and the metadata it says it with; empty for a run that succeeded.
    """

    run_id: str
    status: str
    materializations: tuple[Materialization, ...]
    checks: tuple[Check, ...]
    failure: str
    failure_metadata: Mapping[str, Any]

    def of(self, asset: str) -> dict[str | None, Materialization]:
        """Give an asset's materializations by partition; each may have one."""
        found = [event for event in self.materializations if event.asset == asset]
        by_partition = {event.partition: event for event in found}
        assert len(by_partition) == len(found), f"{asset}: materialized twice in one run"
        return by_partition

    def partitions(self) -> dict[str, set[str | None]]:
        """Give the materialized partitions by asset; an asset without any is left out."""
        return {event.asset: set(self.of(event.asset)) for event in self.materializations}

    @property
    def case_checks(self) -> tuple[Check, ...]:
        """The evaluated checks of cases, `no_regression`; those of the suite are left out."""
        return tuple(check for check in self.checks if check.partition is not None)

    def check(self, name: str) -> Check:
        """Give the evaluation of a check of the suite."""
        [found] = [check for check in self.checks if check.name == name]
        return found

    def evaluation_id(self) -> str:
        """Give the one evaluation that the run's materializations name."""
        [evaluation_id] = {event.metadata["evaluation_id"] for event in self.materializations}
        return evaluation_id


def _ignore(_: Event) -> None:
    pass


@dataclass(frozen=True)
class Bench:
    """Suites, a store, and the Dagster instance in it."""

    settings: Settings
    instance: dg.DagsterInstance

    @property
    def store(self) -> Path:
        return self.settings.store

    @property
    def suites_root(self) -> Path:
        return self.settings.suites_root

    def register(self, suite: str, cases: Sequence[str]) -> None:
        register_cases(self.instance, suite, cases)

    def enter_plan(self, suite: str, cases: Sequence[str] = ()) -> str:
        """Plan an evaluation of a suite's cases, all if left out, without evaluating any; give its id."""
        root = self.suites_root / suite
        loaded = load_suite(root)
        plan = build_plan(
            loaded,
            load_candidate(root / "candidate.yaml"),
            select_cases(loaded, Selection(tuple(cases))),
            trigger="library",
            clock=utc_now,
            new_id=new_evaluation_id,
        )
        with Ports.open(self.store) as ports:
            return join(plan, ports.journal).evaluation_id

    def run(
        self,
        suite: str,
        first: str | None = None,
        last: str | None = None,
        *,
        config: Mapping[str, str] | None = None,
        assets: Sequence[str] | None = None,
        tags: Mapping[str, str] | None = None,
        observe: Emit = _ignore,
    ) -> Run:
        """Run the suite's job on a range of partitions in this process, as the user interface would.

        Args:
            suite: The suite's name, which is its folder's too.
            first: First partition; None for a run without partitions.
            last: Last partition; the first if left out.
            config: Config of the op; `evaluation_id`, `candidate`.
            assets: The selected assets; all of them if left out.
            tags: More tags of the run.
            observe: Sees the evaluation's events.
        """
        job = define_suite(suite_folder(self.suites_root / suite), self.settings, observe)
        ranged = {} if first is None else {RANGE_START: first, RANGE_END: last or first}
        result = job.resolve_job_def(job_name(suite)).execute_in_process(
            instance=self.instance,
            raise_on_error=False,
            run_config={"ops": {op_name(suite): {"config": dict(config or {})}}, "loggers": _QUIET},
            tags={**ranged, **(tags or {})},
            asset_selection=None if assets is None else [self.key(suite, asset) for asset in assets],
        )
        return self.read(result.run_id)

    def reexecute(self, suite: str, run_id: str, *, without: Sequence[str] = ()) -> Run:
        """Re-execute a whole run.

        Args:
            suite: The run's suite.
            run_id: The run.
            without: Tags of the run that the new one does not get.
        """
        parent = self.instance.get_run_by_id(run_id)
        assert parent is not None
        with dg.execute_job(
            reconstructable_suite_job(suite, str(self.store), str(self.suites_root)),
            self.instance,
            run_config=parent.run_config,
            tags={
                name: value
                for name, value in parent.tags.items()
                if name in (RANGE_START, RANGE_END, BACKFILL) and name not in without
            },
            reexecution_options=dg.ReexecutionOptions(parent_run_id=run_id),
        ) as result:
            return self.read(result.run_id)

    def announce_termination(self, run_id: str) -> None:
        """Note that a run is to be cancelled, as Dagster does before it interrupts the run's process."""
        run = self.instance.get_run_by_id(run_id)
        assert run is not None
        self.instance.report_run_canceling(run)

    def add_backfill(
        self,
        suite: str,
        partitions: Sequence[str],
        *,
        assets: Sequence[str] = (*CASE_ASSETS, "suite_summary"),
    ) -> str:
        """Enter a backfill as the user interface does, without a daemon that would launch its runs."""
        definitions = define_suite(suite_folder(self.suites_root / suite), self.settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Dagster uses what it deprecates
            backfill = PartitionBackfill.from_asset_partitions(
                backfill_id=str(uuid.uuid4()),
                asset_graph=definitions.resolve_asset_graph(),
                partition_names=partitions,
                asset_selection=[self.key(suite, asset) for asset in assets],
                backfill_timestamp=time.time(),
                tags={},
                dynamic_partitions_store=self.instance,
                all_partitions=False,
                title=None,
                description=None,
                run_config=None,
            )
        self.instance.add_backfill(backfill)
        return backfill.backfill_id

    def read(self, run_id: str) -> Run:
        """Read a run back from Dagster's event log."""
        run = self.instance.get_run_by_id(run_id)
        assert run is not None
        failure, failure_metadata = "", {}
        for event in self._events(run_id, dg.DagsterEventType.STEP_FAILURE):
            data = event.step_failure_data
            said = data.user_failure_data
            failure = (said and said.description) or (data.error.message if data.error else "")
            failure_metadata = _plain(said.metadata) if said else {}
        return Run(
            run_id=run_id,
            status=run.status.value,
            materializations=tuple(
                _materialization(event.step_materialization_data.materialization)
                for event in self._events(run_id, dg.DagsterEventType.ASSET_MATERIALIZATION)
            ),
            checks=tuple(
                _check(event.asset_check_evaluation_data)
                for event in self._events(run_id, dg.DagsterEventType.ASSET_CHECK_EVALUATION)
            ),
            failure=failure,
            failure_metadata=failure_metadata,
        )

    def run_ids(self) -> list[str]:
        """List the runs, oldest first."""
        return [run.run_id for run in reversed(self.instance.get_runs())]

    def materialized(self, suite: str, asset: str) -> set[str]:
        """Give the partitions of an asset that Dagster holds for materialized."""
        return self.instance.get_materialized_partitions(self.key(suite, asset))

    def statuses(self, suite: str, asset: str) -> dict[str, str | None]:
        """Give the status that Dagster shows for each registered partition of an asset."""
        definition = dg.DynamicPartitionsDefinition(name=partitions_name(suite))
        keys = self.instance.get_dynamic_partitions(partitions_name(suite))
        found = self.instance.get_status_by_partition(self.key(suite, asset), keys, definition)
        assert found is not None
        return {key: None if found.get(key) is None else str(found[key].value) for key in keys}  # pyright: ignore[reportOptionalMemberAccess]

    @staticmethod
    def key(suite: str, asset: str) -> dg.AssetKey:
        return dg.AssetKey([suite, asset])

    def _events(self, run_id: str, kind: dg.DagsterEventType) -> list[dg.DagsterEvent]:
        records = self.instance.get_records_for_run(run_id, of_type=kind).records
        events = [record.event_log_entry.dagster_event for record in records]
        return [event for event in events if event is not None]


def open_bench(folder: Path) -> Bench:
    """Make a suites root and a store with its Dagster home in a folder; close the instance when done."""
    settings = Settings(store=folder / "store", suites_root=folder / "suites")
    settings.suites_root.mkdir(exist_ok=True)
    return Bench(settings, dg.DagsterInstance.from_config(str(dagster_home(settings.store))))


def _materialization(event: dg.AssetMaterialization) -> Materialization:
    return Materialization(
        asset=event.asset_key.path[-1],
        partition=event.partition,
        metadata=_plain(event.metadata),
        data_version=(event.tags or {}).get("dagster/data_version"),
    )


def _check(event: dg.AssetCheckEvaluation) -> Check:
    return Check(
        name=event.check_name,
        asset=event.asset_key.path[-1],
        partition=event.partition,
        passed=event.passed,
        severity=event.severity.value,
        metadata=_plain(event.metadata),
    )


def _plain(metadata: Mapping[str, dg.MetadataValue[Any]]) -> dict[str, Any]:
    return {name: value.value for name, value in metadata.items()}
