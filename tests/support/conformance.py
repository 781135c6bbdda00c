"""Rows of the conformance vectors, as test parameters."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

Row = dict[str, Any]

_COPIED_ROWS = Path(__file__).resolve().parent.parent / "conformance" / "rows"


def conformance_file(name: str) -> Path:
    """Give the file of the vectors called `name`: in `REGRESS_CONFORMANCE_DIR` when set, else our copy."""
    return Path(os.environ.get("REGRESS_CONFORMANCE_DIR") or _COPIED_ROWS) / f"{name}.jsonl"


def read_rows(name: str) -> list[Row]:
    """Read the rows called `name`, in order.

    Raises:
        OSError: If the file is missing.
    """
    text = conformance_file(name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]  # splitlines would split at U+2028 too


def row_params(name: str, describe: Callable[[Row], str]) -> list[ParameterSet]:
    """Give one parameter a row, with an id such as `line7-object`.

    A missing file gives one skipped parameter, so that collection goes on.
    """
    try:
        rows = read_rows(name)
    except OSError:
        reason = f"no conformance rows: {conformance_file(name)} is missing"
        return [pytest.param({}, id="missing", marks=pytest.mark.skip(reason=reason))]
    return [pytest.param(row, id=f"line{number}-{describe(row)}") for number, row in enumerate(rows, start=1)]
