"""The Dagster home of a store, and the environment in which Dagster's commands find both."""

from __future__ import annotations

import os
from pathlib import Path

from regress_core.errors import InputError
from regress_core.files import write_bytes
from regress_pipeline.settings import Settings

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


def dagster_environment(settings: Settings) -> dict[str, str]:
    """Give the environment in which Dagster's commands find this store and these suites.

    Raises:
        InputError: If the store cannot be used.
    """
    return {
        **os.environ,
        "DAGSTER_HOME": str(dagster_home(settings.store).resolve()),
        "REGRESS_STORE": str(settings.store.resolve()),
        "REGRESS_SUITES_ROOT": str(settings.suites_root.resolve()),
    }
