"""What `regress sql` does once its options are read."""

from __future__ import annotations

import csv
import math
import sys
from datetime import date, datetime
from decimal import Decimal
from itertools import chain, count
from pathlib import Path
from typing import cast

from regress_core.errors import InputError
from regress_core.evaluation.ports import JOURNAL_FILE
from regress_core.history.sql import query
from regress_core.history.store import History
from regress_core.journal.journal import Journal
from regress_core.records.json_io import JsonValue, dumps, dumps_text
from regress_pipeline.cli.render import note, printable
from regress_pipeline.settings import load_settings

_WIDTH_OF_A_FILE = 200  # columns for a table that goes to no terminal


def ask(statement: str, *, store: Path | None, as_json: bool, as_csv: bool) -> None:
    """Run a statement and print its rows; say on stderr what is missing from them.

    Raises:
        InputError: If there is no such store, or DuckDB refuses the statement.
    """
    if as_json and as_csv:
        raise InputError("choose one of --json and --csv", field="--json")
    if not statement.strip():
        raise InputError("the statement is empty", field="SQL")
    folder = load_settings(store=store).store
    if not folder.is_dir():
        raise InputError(
            "no such store", file=folder, remedy="run `regress run` first, or name it with --store"
        )
    answer = query(History.open(folder), statement)
    for bad in answer.bad:
        note(f"warning: left out {bad.path}: {bad.reason}")
    _mention_unfinished(folder)
    names = _distinct(answer.table.column_names)
    rows = list(zip(*(column.to_pylist() for column in answer.table.columns), strict=True))
    if as_json:
        values = [{name: _jsonable(value) for name, value in zip(names, row, strict=True)} for row in rows]
        sys.stdout.buffer.write(dumps(values, indent=2) + b"\n")
    elif as_csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(names)
        writer.writerows([_cell(value) for value in row] for row in rows)
    else:
        _print_table(names, rows)


def _distinct(names: list[str]) -> list[str]:
    """Number the columns whose name came before: `status`, `status_1`."""
    distinct: list[str] = []
    for name in names:
        numbered = (f"{name}_{number}" for number in count(1))
        distinct.append(next(text for text in chain([name], numbered) if text not in distinct))
    return distinct


def _mention_unfinished(folder: Path) -> None:
    if not (folder / JOURNAL_FILE).is_file():
        return
    try:
        with Journal.open(folder / JOURNAL_FILE) as journal:
            rows = journal.unfinished()
    except InputError as error:  # the history has answered without it
        note(f"warning: whether any evaluation is unfinished cannot be told: {error}")
        return
    for row in rows:
        note(
            f"note: evaluation {row.evaluation_id} of suite {row.suite} is unfinished (revision "
            f"{row.revision}) and not in these tables; `regress run --resume {row.evaluation_id}` ends it"
        )


def _jsonable(value: object) -> JsonValue:
    """Give a value as JSON: whole decimals as integers, times as ISO text, what is no number as null."""
    if isinstance(value, dict):
        return {str(key): _jsonable(child) for key, child in cast("dict[object, object]", value).items()}
    if isinstance(value, list):
        return [_jsonable(child) for child in cast("list[object]", value)]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    return value.isoformat() if isinstance(value, date | datetime) else str(value)


def _cell(value: object) -> str:
    """Give a value as text, lists and structures as JSON."""
    if value is None:
        return ""
    if isinstance(value, list | dict):
        return dumps_text(_jsonable(cast("object", value)))
    return value.isoformat() if isinstance(value, date | datetime) else str(value)


def _print_table(names: list[str], rows: list[tuple[object, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_lines=False)
    for name in names:
        table.add_column(printable(name), overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(_shown(value))) for value in row))
    Console(width=None if sys.stdout.isatty() else _WIDTH_OF_A_FILE).print(table)


def _shown(value: object) -> str:
    """Show a cell to a person: times to the second."""
    return f"{value:%Y-%m-%d %H:%M:%S}Z" if isinstance(value, datetime) else _cell(value)
