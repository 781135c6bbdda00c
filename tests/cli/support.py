"""The command in a process of its own, as a person or a CI job starts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection, OperationalError, connect
from typing import Any

import pytest

from regress_pipeline.cli.main import main

REGRESS = Path(sys.executable).with_name("regress")
_AT_MOST_S = 120  # so that a hanging command fails its test; nothing is told from it


@dataclass(frozen=True)
class Result:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - JSON
        """What was printed on stdout, read as JSON."""
        return json.loads(self.out)

    @property
    def fault(self) -> str:
        """The one line that an error of the user's is told in."""
        assert (self.code, self.out) == (2, "")
        (line,) = self.err.splitlines()
        assert line.startswith("regress: ")
        return line


@dataclass(frozen=True)
class Command:
    """`regress`, in a working folder and an environment without settings of this machine."""

    folder: Path

    def environment(self, **more: str) -> dict[str, str]:
        """Give the environment, with our command on the path."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("REGRESS_")}
        return kept | {"PATH": f"{REGRESS.parent}{os.pathsep}{kept.get('PATH', '')}"} | more

    def __call__(self, *arguments: str | Path, folder: Path | None = None, **environment: str) -> Result:
        """Run to the end."""
        done = subprocess.run(
            [REGRESS, *map(str, arguments)],
            cwd=folder or self.folder,
            env=self.environment(**environment),
            capture_output=True,
            check=False,
            timeout=_AT_MOST_S,
        )
        return Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    @contextmanager
    def started(self, *arguments: str | Path) -> Generator[subprocess.Popen[str]]:
        """Start and give the process, to be read by `communicate`; it is killed at the latest at the end."""
        before = signal.getsignal(signal.SIGINT)
        # A process that is started while SIGINT is ignored, as in a shell's background, ignores it too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            process = subprocess.Popen(
                [REGRESS, *map(str, arguments)],
                cwd=self.folder,
                env=self.environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
        finally:
            signal.signal(signal.SIGINT, before)
        with process:
            try:
                yield process
            finally:
                process.kill()


@dataclass(frozen=True)
class Here:
    """The same entry point in this process: many times faster, for tables of many rows."""

    folder: Path
    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str | Path, folder: Path | None = None, **environment: str) -> Result:
        """Run to the end."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder or self.folder)
            patch.setattr(sys, "path", [*sys.path])  # to which the folders of adapters are added
            patch.setattr(sys, "argv", ["regress", *map(str, arguments)])
            for name in [name for name in os.environ if name.startswith("REGRESS_")]:
                patch.delenv(name)
            for name, value in environment.items():
                patch.setenv(name, value)
            self.capture.readouterr()
            with pytest.raises(SystemExit) as ended:
                main()
        out, err = self.capture.readouterr()
        return Result(int(ended.value.code or 0), out, err)


def _reading(store: Path) -> Connection:
    return connect(f"file:{store / 'journal.sqlite'}?mode=ro", uri=True)


def outcomes_in(store: Path) -> dict[tuple[Any, ...], str]:
    """Give the payload of every outcome in the journal, by its key, read by sqlite3 alone."""
    with closing(_reading(store)) as connection:
        rows = connection.execute(
            "SELECT evaluation_id, case_id, trial, revision, payload FROM steps WHERE stage = 'outcome'"
        ).fetchall()
    return {row[:4]: row[4] for row in rows}


def count_outcomes(store: Path) -> int:
    """Count the outcomes in the journal; none while there is no journal yet."""
    try:
        with closing(_reading(store)) as connection:
            (count,) = connection.execute("SELECT count(*) FROM steps WHERE stage = 'outcome'").fetchone()
    except OperationalError:
        return 0
    return count


def evaluations_in(store: Path) -> list[tuple[Any, ...]]:
    """Give (id, state, revision) of every evaluation in the journal; none where there is no journal."""
    if not (store / "journal.sqlite").exists():
        return []
    with closing(_reading(store)) as connection:
        return connection.execute("SELECT evaluation_id, state, revision FROM evaluations").fetchall()
