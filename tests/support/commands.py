"""The command in this process: many times faster than one of its own, which loads everything anew."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from regress_pipeline.cli.main import main


def run_in_process(
    command: Sequence[str], folder: Path | None, environment: Mapping[str, str]
) -> CompletedProcess[str]:
    """Run `regress` with its arguments to the end.

    Args:
        command: The command, `regress` the first word.
        folder: The working folder; None for the one there is.
        environment: Variables; none of regress and of OpenAI are set besides.
    """
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", [*command])
        patch.setattr(sys, "path", [*sys.path])  # to which the folders of adapters are added
        if folder is not None:
            patch.chdir(folder)
        for name in [name for name in os.environ if name.startswith(("REGRESS_", "OPENAI_"))]:
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            main()
    for stream in (out, err):
        stream.seek(0)
    return CompletedProcess([*command], int(ended.value.code or 0), out.read(), err.read())
