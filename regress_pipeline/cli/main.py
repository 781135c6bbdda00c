"""The command line's frame: commands by group, errors in one line, exit codes."""

from __future__ import annotations

import sys
import traceback
from io import TextIOWrapper

import typer

from regress_pipeline.cli import (
    calibrate,
    compare_evaluations,
    demo,
    effects,
    history,
    import_,
    pipeline,
    review,
    run,
    sql,
)

app = typer.Typer(
    name="regress",
    help="Tell what a change to an LLM agent broke: recorded runs in, comparison, summary, history, SQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("run")(run.run)
app.command("validate")(run.validate)
app.command("import")(import_.import_)
app.command("calibrate")(calibrate.calibrate)
app.command("compare-evaluations")(compare_evaluations.compare_evaluations)
app.add_typer(effects.app, name="effects")
app.command("review")(review.review)
app.command("accept")(review.accept)
app.command("reject")(review.reject)
app.command("override")(review.override)
app.command("sql")(sql.sql)
app.add_typer(history.app, name="history")
app.add_typer(pipeline.app, name="pipeline")
app.command("demo")(demo.demo)


_DEBUG = "--debug"


@app.callback()
def _options(
    debug: bool = typer.Option(False, _DEBUG, help="Show the traceback of an error."),
) -> None:
    """Take the options that stand before the command."""


def main() -> None:
    """Run the command; an error that a user can cause is one line on stderr and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a console that lacks a character shows its escape
    try:
        app()
    except Exception as error:
        line = _in_one_line(error)
        if line is None:
            raise
        if _DEBUG in sys.argv:
            traceback.print_exc()
        from regress_pipeline.cli.render import note

        note(f"regress: {line}")
        sys.exit(2)


def _in_one_line(error: Exception) -> str | None:
    """Say an error that is no fault of ours in one line; None for any other."""
    from regress_core.errors import InputError, os_error_text

    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, OSError):  # a full disk, a folder that may not be written
        return f"{error.filename or 'a file'}: {os_error_text(error)}"
    return None
