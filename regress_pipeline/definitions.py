"""Dagster's entry point: every suite below the suites root."""

from __future__ import annotations

import dagster as dg

from regress_core.errors import InputError
from regress_core.suite.loading import load_suite_config
from regress_pipeline.assets import define_suite
from regress_pipeline.care import define_care
from regress_pipeline.schedules import define_night
from regress_pipeline.sensors import define_watch
from regress_pipeline.settings import Settings, load_settings
from regress_pipeline.suites import BrokenSuite, SuiteFolder, find_suites

BROKEN_GROUP = "broken_suites"


def build_definitions(settings: Settings) -> dg.Definitions:
    """Define all suites of a machine; a broken one is an asset that says what is wrong with it."""
    suites = find_suites(settings.suites_root)
    parts: list[dg.Definitions] = []
    broken = list(suites.broken)
    for suite in suites.found:
        try:
            parts.append(_define(suite, settings))
        except (InputError, dg.DagsterInvalidDefinitionError) as error:  # such as a cron that Dagster refuses
            broken.append(BrokenSuite(suite.root, suite.name, InputError(str(error), file=suite.root)))
    for one in broken:
        dg.get_dagster_logger(__name__).warning("a suite cannot be loaded: %s", one.error)
    return dg.Definitions.merge(
        dg.Definitions(assets=[_broken(one) for one in broken], executor=dg.in_process_executor),
        define_care(settings),
        *parts,
    )


def _define(suite: SuiteFolder, settings: Settings) -> dg.Definitions:
    schedule = load_suite_config(suite.root).schedule
    nights = [] if schedule is None else [define_night(suite, schedule, settings)]
    watch = define_watch(suite, settings, running=schedule is not None)
    return dg.Definitions.merge(
        define_suite(suite, settings, schedule=schedule), dg.Definitions(schedules=nights, sensors=[watch])
    )


def _broken(suite: BrokenSuite) -> dg.AssetSpec:
    """Show a broken suite where the others are: its description is the error."""
    name = "".join(char if char.isalnum() or char == "_" else "_" for char in suite.root.name)
    return dg.AssetSpec(
        [BROKEN_GROUP, name],
        group_name=BROKEN_GROUP,
        description=f"This suite cannot be loaded: {suite.error}",
        kinds={"broken"},
    )


defs = build_definitions(load_settings())
