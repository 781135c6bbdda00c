"""Dagster's entry point: every suite below the suites root."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, count

import dagster as dg

from regress_core.errors import InputError
from regress_core.suite.config import SUITE_FILE
from regress_core.suite.loading import load_suite_config
from regress_pipeline.assets import define_suite
from regress_pipeline.care import define_care
from regress_pipeline.partitions import CASE_ASSETS, SUITE_SUMMARY
from regress_pipeline.schedules import define_night
from regress_pipeline.sensors import define_watch
from regress_pipeline.settings import Settings, load_settings
from regress_pipeline.suites import BrokenSuite, SuiteFolder, find_suites
from regress_pipeline.ticks import check_schedule

BROKEN_GROUP = "broken_suites"


def build_definitions(settings: Settings) -> dg.Definitions:
    """Define all suites of a machine; a broken one is an asset that says what is wrong with it."""
    suites = find_suites(settings.suites_root)
    parts: list[dg.Definitions] = []
    broken = list(suites.broken)
    for suite in suites.found:
        try:
            parts.append(_define(suite, settings))
        except InputError as error:
            broken.append(BrokenSuite(suite.root, suite.name, error))
        except dg.DagsterInvalidDefinitionError as error:
            broken.append(BrokenSuite(suite.root, suite.name, _fault(suite, error)))
    for one in broken:
        dg.get_dagster_logger(__name__).warning("a suite cannot be loaded: %s", one.error)
    return dg.Definitions.merge(
        dg.Definitions(assets=_shown(broken), executor=dg.in_process_executor),
        define_care(settings),
        *parts,
    )


def _define(suite: SuiteFolder, settings: Settings) -> dg.Definitions:
    schedule = load_suite_config(suite.root).schedule
    if schedule is not None:
        check_schedule(schedule, suite.root / SUITE_FILE)
    defined = define_suite(suite, settings, schedule=schedule)
    nights = [] if schedule is None else [define_night(suite, schedule, settings)]
    watch = define_watch(suite, settings, running=schedule is not None)
    return dg.Definitions.merge(defined, dg.Definitions(schedules=nights, sensors=[watch]))


def _fault(suite: SuiteFolder, error: Exception) -> InputError:
    return InputError(" ".join(str(error).split()), file=suite.root / SUITE_FILE)


def _shown(broken: Iterable[BrokenSuite]) -> list[dg.AssetSpec]:
    """Show broken suites where the others are: the description of each is its error."""
    taken = {*CASE_ASSETS, SUITE_SUMMARY}  # a sound suite may be called like the group
    shown: list[dg.AssetSpec] = []
    for suite in broken:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", suite.root.name)
        numbered = chain([plain], (f"{plain}_{number}" for number in count(2)))
        name = next(one for one in numbered if one not in taken)
        taken.add(name)
        description = f"This suite cannot be loaded: {suite.error}"
        spec = dg.AssetSpec(
            [BROKEN_GROUP, name], group_name=BROKEN_GROUP, description=description, kinds={"broken"}
        )
        shown.append(spec)
    return shown


defs = build_definitions(load_settings())
