"""Facts of the machine: where the store and the suites are.

They come from `regress.toml`, or `[tool.regress]` of `pyproject.toml`, whichever is met first from the
working folder upward; environment variables `REGRESS_*` win over the file, command line options over both.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regress_core.errors import InputError, os_error_text

_DEFAULTS = {"store": ".regress", "suites_root": "suites"}
_ENVIRONMENT = {"store": "REGRESS_STORE", "suites_root": "REGRESS_SUITES_ROOT"}


@dataclass(frozen=True, slots=True)
class Settings:
    """Where things are on this machine.

    Attributes:
        store: The folder of journal, history, Dagster home and outputs.
        suites_root: The folder whose sub-folders are the suites.
    """

    store: Path
    suites_root: Path


def load_settings(
    *, folder: Path | None = None, environment: Mapping[str, str] | None = None, store: Path | None = None
) -> Settings:
    """Find the settings.

    Args:
        folder: Where to start looking for a file; the working folder by default. Relative paths of a file
            count from that file, those of the environment from the working folder.
        environment: Environment variables; the process's by default.
        store: What a command line option says; wins.

    Raises:
        InputError: If the file cannot be read, is no TOML, or holds an unknown key or a value of the wrong
            kind.
    """
    base, values = _from_files(folder or Path.cwd())
    found = {name: base / values.get(name, default) for name, default in _DEFAULTS.items()}
    for name, variable in _ENVIRONMENT.items():
        text = (os.environ if environment is None else environment).get(variable)
        if text:
            found[name] = Path.cwd() / text
    if store is not None:
        found["store"] = Path.cwd() / store
    return Settings(**found)


def _from_files(folder: Path) -> tuple[Path, dict[str, str]]:
    for place in (folder, *folder.resolve().parents):
        own = place / "regress.toml"
        if own.is_file():
            return place, _checked(_toml(own), own, "")
        shared = place / "pyproject.toml"
        if shared.is_file():
            table: Any = _toml(shared).get("tool", {}).get("regress")
            if table is not None:
                return place, _checked(table, shared, "tool.regress.")
    return Path.cwd(), {}


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {os_error_text(error)}", file=path) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not TOML: {error}", file=path) from error


def _checked(table: dict[str, Any], path: Path, prefix: str) -> dict[str, str]:
    for key, value in table.items():
        if key not in _DEFAULTS:
            remedy = f"known keys: {', '.join(_DEFAULTS)}"
            raise InputError("unknown key", file=path, field=prefix + key, remedy=remedy)
        if not isinstance(value, str):
            raise InputError("not a text", file=path, field=prefix + key)
    return table
