"""What `regress sql` does once its options are read."""

from __future__ import annotations

import csv
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from regress_core.errors import InputError
from regress_core.evaluation.ports import JOURNAL_FILE
from regress_core.history.sql import Answer, query
from regress_core.history.store import History
from regress_core.journal.journal import Journal
from regress_core.records.json_io import dumps
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
    folder = load_settings(store=store).store
    if not folder.is_dir():
        raise InputError(
            "no such store", file=folder, remedy="run `regress run` first, or name it with --store"
        )
    answer = query(History.open(folder), statement)
    for bad in answer.bad:
        note(f"warning: left out {bad.path}: {bad.reason}")
    _mention_unfinished(folder)
    rows = answer.table.to_pylist()
    if as_json:
        sys.stdout.buffer.write(dumps([_jsonable(row) for row in rows], indent=2) + b"\n")
    elif as_csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(answer.table.column_names)
        writer.writerows([_cell(value) for value in row.values()] for row in rows)
    else:
        _print_table(answer, rows)


def _mention_unfinished(folder: Path) -> None:
    if not (folder / JOURNAL_FILE).is_file():
        return
    with Journal.open(folder / JOURNAL_FILE) as journal:
        for row in journal.unfinished():
            note(
                f"note: evaluation {row.evaluation_id} of suite {row.suite} is unfinished (revision "
                f"{row.revision}) and not in these tables; `regress run --resume {row.evaluation_id}` ends it"
            )


def _jsonable(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value if _is_json(value) else _cell(value) for name, value in row.items()}


def _is_json(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool | list | dict)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    return dumps(value).decode("utf-8") if isinstance(value, list | dict) else str(value)


def _print_table(answer: Answer, rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_lines=False)
    for name in answer.table.column_names:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(_shown(value))) for value in row.values()))
    Console(width=None if sys.stdout.isatty() else _WIDTH_OF_A_FILE).print(table)


def _shown(value: object) -> str:
    """Show a cell to a person: times to the second."""
    return f"{value:%Y-%m-%d %H:%M:%S}Z" if isinstance(value, datetime) else _cell(value)
