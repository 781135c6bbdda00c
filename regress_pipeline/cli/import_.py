"""`regress import`: make the records of a suite from logs and run records."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from regress_core.records.importers.base import Outcome
    from regress_core.records.importers.writing import ImportReport

# Imports of the core stand inside the functions: `regress --help` must not wait for pydantic.

app = typer.Typer(
    name="import", no_args_is_help=True, help="Make the records of a suite from logs and run records."
)

_INVALID_INPUT = 2
_NOTHING_IMPORTED = 4

_Rows = Annotated[
    Path, typer.Argument(metavar="SRC", help="A JSON array, JSON lines or one JSON object; each also .gz.")
]
_Suite = Annotated[Path, typer.Option(metavar="DIR", help="The suite; the records go to DIR/records.")]
_Id = Annotated[
    str | None, typer.Option(metavar="PATH", help="What names the case; without it, the row's id or number.")
]
_Label = Annotated[str | None, typer.Option(metavar="PATH", help="A label to note.")]
_Where = Annotated[
    str | None,
    typer.Option(metavar="SQL", help='A DuckDB condition that picks rows, such as "trial = 0".'),
]
_Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Take at most so many rows.")]


@app.command("aioc")
def import_aioc(
    source: Annotated[
        Path, typer.Argument(metavar="SRC", help="A file of run records, or a folder of such files.")
    ],
    *,
    suite: _Suite,
) -> None:
    """Import run records of aioc as they are."""
    from regress_core.records.importers import IMPORTERS
    from regress_core.records.importers.aioc import list_sources, read_sources

    files, skipped = list_sources(source)
    _write(chain(skipped, IMPORTERS["aioc"](read_sources(files), None)), source, suite)


@app.command("openai-chat")
def import_openai_chat(
    source: _Rows,
    *,
    suite: _Suite,
    messages: Annotated[str, typer.Option(metavar="PATH", help="Where the messages are.")] = "messages",
    id: _Id = None,  # noqa: A002 - the option's name
    label: _Label = None,
    where: _Where = None,
    limit: _Limit = None,
    turns: Annotated[
        Literal["whole", "each"],
        typer.Option(help="One record a conversation, or one a user turn, which can be replayed."),
    ] = "whole",
) -> None:
    """Import rows of OpenAI chat messages. A PATH is dotted, such as info.task.user_id."""
    from regress_core.records.importers import IMPORTERS
    from regress_core.records.importers.chat import ChatOptions
    from regress_core.records.importers.selection import Selection, select_rows

    rows = select_rows(source, Selection(where, limit))
    options = ChatOptions(messages=messages, id=id, label=label, turns=turns)
    _write(IMPORTERS["openai-chat"](rows, options), source, suite, label=label)


@app.command("qa-log")
def import_qa_log(
    source: _Rows,
    *,
    suite: _Suite,
    query: Annotated[str, typer.Option(metavar="PATH", help="Where the question is.")] = "query",
    response: Annotated[str, typer.Option(metavar="PATH", help="Where the answer is.")] = "response",
    timestamp: Annotated[str, typer.Option(metavar="PATH", help="Where the time is.")] = "timestamp",
    id: _Id = None,  # noqa: A002 - the option's name
    label: _Label = None,
    where: _Where = None,
    limit: _Limit = None,
) -> None:
    """Import rows of a question and its answer. A PATH is dotted, such as info.task.user_id."""
    from regress_core.records.importers import IMPORTERS
    from regress_core.records.importers.qa_log import QaLogOptions
    from regress_core.records.importers.selection import Selection, select_rows

    rows = select_rows(source, Selection(where, limit))
    options = QaLogOptions(query=query, response=response, timestamp=timestamp, id=id, label=label)
    _write(IMPORTERS["qa-log"](rows, options), source, suite, label=label)


@app.command("tau")
def import_tau(
    source: Annotated[
        Path, typer.Argument(metavar="SRC", help="A results file of tau-bench or tau2-bench, also .gz.")
    ],
    *,
    suite: _Suite,
    trial: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Take this trial of each task; all without it.")
    ] = None,
) -> None:
    """Import results of tau-bench and tau2-bench. A run's label is pass or fail, by its reward."""
    from regress_core.records.importers import IMPORTERS
    from regress_core.records.importers.rows import read_rows
    from regress_core.records.importers.tau import TauOptions

    _write(IMPORTERS["tau"](read_rows(source), TauOptions(trial)), source, suite)


def _write(outcomes: Iterable[Outcome], source: Path, suite: Path, *, label: str | None = None) -> None:
    """Write the runs and say what became of them.

    Raises:
        typer.Exit: With 2 when runs were rejected, 4 when there was nothing to import.
    """
    from regress_core.files import relative_to_working_folder
    from regress_core.records.importers.writing import write_imported
    from regress_pipeline.cli.render import note, say

    report = write_imported(outcomes, suite, source)
    _list_on_stderr(report, source)
    if label is not None and report.imported and not report.labelled:
        note(f"warning: --label {label}: no imported row has it")
    if report.imported:
        there = f" ({report.unchanged} more were there already)" if report.unchanged else ""
        folder = relative_to_working_folder(report.folder)
        say(f"records written to {folder}: {report.written}{there}")
    else:
        note("nothing was imported")
    if report.rejected:
        raise typer.Exit(_INVALID_INPUT)
    if not report.imported:
        raise typer.Exit(_NOTHING_IMPORTED)


def _list_on_stderr(report: ImportReport, source: Path) -> None:
    from regress_pipeline.cli.render import note

    for skipped in report.skipped:
        note(f"{source}: {skipped.position}: skipped: {skipped.reason}")
    for rejected in report.rejected:
        note(f"{source}: {rejected.position}: rejected: {rejected.reason}")
    for warning in report.warnings:
        note(f"warning: {warning}")
