"""Dagster's entry point: every suite below the suites root."""

from __future__ import annotations

import dagster as dg

from regress_pipeline.assets import define_suite
from regress_pipeline.settings import Settings, load_settings
from regress_pipeline.suites import find_suites


def build_definitions(settings: Settings) -> dg.Definitions:
    """Define all suites of a machine.

    Raises:
        InputError: If a suite.yaml is at fault.
    """
    return dg.Definitions.merge(
        *(define_suite(suite, settings) for suite in find_suites(settings.suites_root))
    )


defs = build_definitions(load_settings())
