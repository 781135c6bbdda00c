"""The command line's frame: commands by group, errors in one line, exit codes."""

from __future__ import annotations

import os
import sys

import typer

from regress_pipeline.cli import demo, import_, pipeline, run, sql

app = typer.Typer(
    name="regress",
    help="Tell what a change to an LLM agent broke: recorded runs in, comparison, summary, history, SQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("run")(run.run)
app.command("validate")(run.validate)
app.add_typer(import_.app, name="import")
app.command("sql")(sql.sql)
app.add_typer(pipeline.app, name="pipeline")
app.command("demo")(demo.demo)


@app.callback()
def _options(
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
) -> None:
    if debug:
        os.environ["REGRESS_DEBUG"] = "1"


def main() -> None:
    """Run the command; an error that a user can cause is one line on stderr and exit code 2."""
    from regress_core.errors import InputError

    try:
        app()
    except InputError as error:
        if os.environ.get("REGRESS_DEBUG"):
            raise
        sys.stderr.write(f"regress: {error}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        if os.environ.get("REGRESS_DEBUG"):
            raise
        sys.stderr.write("regress: interrupted\n")
        sys.exit(130)
