"""The event log that keeps its connections answers as Dagster's own does, and takes what processes do to it."""

# Dagster's own annotations leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.context import ForkContext, SpawnContext
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import sqlalchemy as sa
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluation
from dagster._core.event_api import RunStatusChangeRecordsFilter
from dagster._core.events import AssetMaterializationPlannedData, StepMaterializationData
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from hypothesis import given, settings
from hypothesis import strategies as st

from regress_pipeline.dagster_storage import KeptSqliteEventLogStorage, RegressInstance
from regress_pipeline.launch import dagster_home

A_RUN, B_RUN = "0000000a", "0000000b"
_RUNS = (A_RUN, B_RUN)
_ASSETS = (dg.AssetKey(["orders", "comparisons"]), dg.AssetKey(["orders", "suite_summary"]))
_CASES = ("case-1", "case-2", None)
_GIVE_UP_AFTER_S = 60


def entry(run_id: str, event: dg.DagsterEvent | None = None, *, at: float = 1.0) -> EventLogEntry:
    """Make an entry of the event log; a plain message without an event."""
    return EventLogEntry(
        error_info=None,
        level=20,
        user_message="",
        run_id=run_id,
        timestamp=at,
        job_name="job",
        dagster_event=event,
    )


def made(run_id: str, asset: dg.AssetKey, case: str | None, *, at: float = 1.0) -> EventLogEntry:
    """Make the entry of a materialization with a data version."""
    materialization = dg.AssetMaterialization(
        asset, partition=case, metadata={"at": at}, tags={"dagster/data_version": f"v{at}"}
    )
    event = dg.DagsterEvent(
        dg.DagsterEventType.ASSET_MATERIALIZATION.value,
        "job",
        event_specific_data=StepMaterializationData(materialization),
    )
    return entry(run_id, event, at=at)


def planned(run_id: str, asset: dg.AssetKey, case: str | None, *, at: float = 1.0) -> EventLogEntry:
    """Make the entry of a planned materialization."""
    event = dg.DagsterEvent(
        dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED.value,
        "job",
        event_specific_data=AssetMaterializationPlannedData(asset, partition=case),
    )
    return entry(run_id, event, at=at)


def checked(run_id: str, asset: dg.AssetKey, case: str | None, *, at: float = 1.0) -> EventLogEntry:
    """Make the entry of an evaluated check."""
    evaluation = AssetCheckEvaluation(asset_key=asset, check_name="gate", passed=True, metadata={})
    event = dg.DagsterEvent(
        dg.DagsterEventType.ASSET_CHECK_EVALUATION.value,
        "job",
        event_specific_data=evaluation._replace(partition=case),
    )
    return entry(run_id, event, at=at)


def started(run_id: str, _: dg.AssetKey, __: str | None, *, at: float = 1.0) -> EventLogEntry:
    """Make the entry of a run's start."""
    return entry(run_id, dg.DagsterEvent(dg.DagsterEventType.RUN_START.value, "job"), at=at)


def said(run_id: str, _: dg.AssetKey, __: str | None, *, at: float = 1.0) -> EventLogEntry:
    """Make the entry of a message."""
    return entry(run_id, at=at)
