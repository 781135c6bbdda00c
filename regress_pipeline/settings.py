"""Facts of the machine: where the store and the suites are, and how hard providers may be pressed.

They come from `regress.toml`, or `[tool.regress]` of `pyproject.toml`, whichever is met first from the
working folder upward; environment variables `REGRESS_*` win over the file, command line options over both.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from regress_core.calls.limits import CallLimits
from regress_core.errors import InputError, os_error_text

_PATHS = {"store": ".regress", "suites_root": "suites"}
_NUMBERS: Mapping[str, tuple[str, type[int | float]]] = {
    "concurrency": ("concurrency", int),
    "call_attempts": ("attempts", int),
    "call_time_out_s": ("time_out_s", float),
    "requests_per_second": ("requests_per_second", float),
    "run_time_out_s": ("run_time_out_s", float),
}
"""Settings that are limits of calls: the field of `CallLimits`, and of what kind it is."""

_KEEP_DAYS, _DAYS = "keep_days", 30
_KEYS = (*_PATHS, *_NUMBERS, _KEEP_DAYS)


@dataclass(frozen=True, slots=True)
class Settings:
    """Where things are on this machine.

    Attributes:
        store: The folder of journal, history, Dagster home and outputs.
        suites_root: The folder whose sub-folders are the suites.
        limits: How many calls go out at a time, how often one is tried, how long it may take.
        keep_days: Of how many days Dagster's own event log is kept.
        webhook_url: Where summaries of complete evaluations are posted to; from the environment alone, for it
            may hold a secret.
    """

    store: Path
    suites_root: Path
    limits: CallLimits = field(default_factory=CallLimits)
    keep_days: int = _DAYS
    webhook_url: str | None = field(default=None, repr=False)


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
    variables = os.environ if environment is None else environment
    paths = {name: base / values.get(name, default) for name, default in _PATHS.items()}
    numbers = {name: float(values[name]) for name in (*_NUMBERS, _KEEP_DAYS) if name in values}
    for name in _KEYS:
        text = variables.get(_variable(name))
        if text and name in _PATHS:
            paths[name] = Path.cwd() / text
        elif text:
            numbers[name] = _number(text, _variable(name))
    if store is not None:
        paths["store"] = Path.cwd() / store
    keep_days = _days(numbers.pop(_KEEP_DAYS, float(_DAYS)))
    webhook_url = _webhook(variables.get(_WEBHOOK) or None)
    return Settings(**paths, limits=_limits(numbers), keep_days=keep_days, webhook_url=webhook_url)


_WEBHOOK = "REGRESS_WEBHOOK_URL"


def _days(number: float) -> int:
    if not (number >= 1 and number.is_integer()):
        field = f"{_KEEP_DAYS} or {_variable(_KEEP_DAYS)}"
        raise InputError(f"{number:g} is no whole number of days, 1 or more", field=field)
    return int(number)


def _webhook(url: str | None) -> str | None:
    if url is None:
        return None
    if not _is_web_address(url):
        raise InputError("no address of a web server", field=_WEBHOOK, remedy="begin it with https://")
    return url


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that do not match, a port beyond 65535
        return False


def _variable(name: str) -> str:
    return f"REGRESS_{name.upper()}"


def _number(text: str, variable: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError("not a number", field=variable) from error


def _limits(numbers: Mapping[str, float]) -> CallLimits:
    limits = CallLimits()
    for name, number in numbers.items():
        limit, kind = _NUMBERS[name]
        try:
            value = kind(number)
            if value != number:
                raise ValueError("not a whole number")  # noqa: TRY301 - told like the limits' own errors
            limits = replace(limits, **{limit: value})
        except (ValueError, OverflowError) as error:
            raise InputError(str(error), field=f"{name} or {_variable(name)}") from error
    # A blip that hits every call in flight once may not open the circuit.
    return replace(limits, failures_to_open=max(limits.failures_to_open, limits.concurrency + 2))


def _from_files(folder: Path) -> tuple[Path, dict[str, Any]]:
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


def _checked(table: dict[str, Any], path: Path, prefix: str) -> dict[str, Any]:
    for key, value in table.items():
        if key not in _KEYS:
            remedy = f"known keys: {', '.join(_KEYS)}"
            raise InputError("unknown key", file=path, field=prefix + key, remedy=remedy)
        if key in _PATHS and not isinstance(value, str):
            raise InputError("not a text", file=path, field=prefix + key)
        if (key in _NUMBERS or key == _KEEP_DAYS) and (
            isinstance(value, bool) or not isinstance(value, int | float)
        ):
            raise InputError("not a number", file=path, field=prefix + key)
    return table
