"""The documents' files and commands, run as they stand there, and what they say is printed."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from regress_core.records.json_io import JsonObject, JsonValue
from tests.support.commands import run_in_process
from tests.support.openai_server import KEY, Answer, Behaviour, OpenAIServer, text

DOCS = Path(__file__).parent.parent / "docs"
_BIN = Path(sys.executable).parent
_FENCE = re.compile(r"^```(?P<info>[^`\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILES = {"csv", "json", "markdown", "python", "yaml"}


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        kind: The language it is in.
        options: The words after that, `name=value`.
        text: What stands in it.
        line: Where it begins.
    """

    kind: str
    options: dict[str, str]
    text: str
    line: int


def blocks_of(text: str) -> list[Block]:
    """Find the fenced blocks of a document, in order."""
    return list(_blocks(text))


def _blocks(text: str) -> Iterator[Block]:
    for match in _FENCE.finditer(text):
        kind, *words = match["info"].split() or [""]
        options = dict(word.split("=", 1) for word in words)
        yield Block(kind, options, match["text"], text.count("\n", 0, match.start()) + 1)


def follow(blocks: Sequence[Block], folder: Path, environment: Mapping[str, str] | None = None) -> None:
    """Do in a folder what the blocks of a document say, its commands with these variables besides.

    A block with a `title` is a file of that name. One of `sh` is commands, each of which ends with the exit
    code of the block's `exit`, or 0. One of `text` is what the command before it printed; `…` stands for
    anything, on a line of its own for any number of lines. There are no others.
    """
    printed: str | None = None
    for block in blocks:
        place = f"line {block.line}"
        if block.kind == "text":
            assert printed is not None, f"{place}: no command before it"
            assert re.fullmatch(_pattern(block.text), printed), f"{place}:\n{block.text}\nis not\n{printed}"
            printed = None
        elif block.kind == "sh":
            for command in block.text.splitlines():
                printed = _run(command, folder, environment or {}, int(block.options.get("exit", "0")), place)
        else:
            assert block.kind in _FILES, f"{place}: nothing is done with {block.kind or 'a bare block'}"
            _write(folder / block.options["title"], block.text)


def _run(command: str, folder: Path, environment: Mapping[str, str], code: int, place: str) -> str:
    words = shlex.split(command)
    if words[0] == "regress":  # in this process, which need not load everything anew
        here = run_in_process(words, folder, {**environment, "PATH": os.environ.get("PATH", "")})
        assert here.returncode == code, f"{place}: {command} ended with {here.returncode}:\n{here.stderr}"
        return here.stdout
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("REGRESS_", "OPENAI_"))}
    done = subprocess.run(
        words,
        cwd=folder,
        env={**kept, "PATH": f"{_BIN}{os.pathsep}{kept.get('PATH', '')}", **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert done.returncode == code, f"{place}: {command} ended with {done.returncode}:\n{done.stderr}"
    return done.stdout


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _pattern(text: str) -> str:
    lines = (
        r"(?:.*\n)*" if line == "…" else re.escape(line).replace("…", r".*") + r"\n"
        for line in text.splitlines()
    )
    return "".join(lines)


def judging(request: JsonObject, _: int) -> Answer:
    """Stand in for the model that the judges of judges.md ask: it dislikes promises."""
    system, user = (message["content"] for message in request["messages"])
    promises = "will arrive" in user
    said: JsonValue
    if system.startswith("You grade"):
        reason = "It promises that the order will arrive." if promises else "It says what the tool said."
        said = [{"dimensionId": "promises-nothing", "passed": not promises, "reason": reason}]
    elif system.startswith("You score"):
        said = {"accuracy": 2.5 if promises else 5, "tone": 5, "format": 5, "reasoning": "As it is."}
    else:
        verdict, summary = ("warn", "It promises what no tool said.") if promises else ("pass", "Warmer.")
        said = {"verdict": verdict, "summary": summary, "findings": []}
    return text(json.dumps(said))


_MODELS: dict[str, Behaviour] = {"judges.md": judging}
"""What answers, by document, in place of the model that its commands ask."""


@contextmanager
def _environment_of(document: Path) -> Generator[dict[str, str]]:
    if document.name not in _MODELS:
        yield {}
        return
    with OpenAIServer(_MODELS[document.name]) as server:
        yield {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}


@pytest.mark.parametrize("document", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_a_document_does_what_it_says(document: Path, tmp_path: Path) -> None:
    with _environment_of(document) as environment:
        follow(blocks_of(document.read_text(encoding="utf-8")), tmp_path, environment)


FAULTY = [
    pytest.param("```python\nx = 1\n```\n", KeyError, "title", id="a file without a name"),
    pytest.param(
        "```\nx\n```\n", AssertionError, "line 1: nothing is done with a bare block", id="a bare block"
    ),
    pytest.param(
        "```text\nx\n```\n", AssertionError, "line 1: no command before it", id="an output of nothing"
    ),
    pytest.param("```sh\nfalse\n```\n", AssertionError, "line 1: false ended with 1", id="a command fails"),
    pytest.param(
        "```sh exit=1\ntrue\n```\n", AssertionError, "true ended with 0", id="a command should fail"
    ),
    pytest.param("\n```sh\necho a\n```\n```text\nb\n```\n", AssertionError, "line 5:", id="another output"),
    pytest.param("```sh\necho a\n```\n```text\na\nb\n```\n", AssertionError, "line 4:", id="less output"),
    pytest.param(
        "```sh\nprintf 'a\\nb\\n'\n```\n```text\na\n```\n", AssertionError, "line 4:", id="more output"
    ),
]


@pytest.mark.parametrize(("document", "kind", "message"), FAULTY)
def test_what_a_document_says_wrongly_is_seen(
    document: str, kind: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=message):
        follow(blocks_of(document), tmp_path)


def test_a_document_that_is_right(tmp_path: Path) -> None:
    document = """\
        ```json title=a/b.json
        {"x": 1}
        ```
        Some `code` in between.
        ```sh
        cat a/b.json
        ```
        ```text
        {"x"…}
        ```
        ```sh exit=2
        sh -c "cat a/b.json; echo end; exit 2"
        ```
        ```text
        …
        end
        ```
        """
    follow(blocks_of(re.sub("^ {8}", "", document, flags=re.MULTILINE)), tmp_path)
