"""The `import` command: what it prints, and how it exits."""

from __future__ import annotations

import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from regress_core.errors import InputError
from regress_core.records.json_io import JsonObject, dumps
from regress_pipeline.cli.import_ import app
from tests.records.importers.support import write_lines
from tests.support.records import record_json

TALK: JsonObject = {
    "id": "a",
    "score": 1,
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "bye"},
    ],
}


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_openai_chat(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.jsonl", TALK)
    result = invoke("openai-chat", log, "--suite", tmp_path / "s")
    assert result.exit_code == 0
    assert result.stdout == f"records written to {tmp_path / 's' / 'records'}: 1\n"
    assert result.stderr == (
        "warning: multi-turn: 1 of 1 records can be compared with recorded candidates only; "
        "import with --turns each to replay\n"
    )
    again = invoke("openai-chat", log, "--suite", tmp_path / "s")
    assert again.exit_code == 0
    assert again.stdout == f"records written to {tmp_path / 's' / 'records'}: 0 (1 more were there already)\n"


def test_every_option(tmp_path: Path) -> None:
    rows = [{"n": n, "task": {"id": f"t{n}"}, "log": TALK["messages"], "score": n} for n in range(4)]
    log = write_lines(tmp_path / "log.jsonl", *rows)
    options = {
        "--suite": tmp_path / "s",
        "--messages": "log",
        "--id": "task.id",
        "--label": "score",
        "--where": "n > 0",
        "--limit": "2",
        "--turns": "each",
    }
    result = invoke("openai-chat", log, *chain(*options.items()))
    assert result.exit_code == 0
    assert result.stderr == (
        f"{log}: row 2, turn 2: skipped: the turn does not end with an answer of the assistant\n"
        f"{log}: row 3, turn 2: skipped: the turn does not end with an answer of the assistant\n"
    )
    assert sorted(path.name for path in (tmp_path / "s" / "records").iterdir()) == [
        "t1-t1.json",
        "t2-t1.json",
    ]


def test_qa_log(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.jsonl", {"q": "a", "a": "b", "at": 1, "k": "x"})
    options = {
        "--suite": tmp_path / "s",
        "--query": "q",
        "--response": "a",
        "--timestamp": "at",
        "--id": "k",
        "--label": "nope",
        "--where": "k = 'x'",
        "--limit": "5",
    }
    result = invoke("qa-log", log, *chain(*options.items()))
    assert result.exit_code == 0
    assert result.stderr == "warning: --label nope: no imported row has it\n"
    assert (tmp_path / "s" / "records" / "x.json").is_file()


def test_aioc_lists_what_it_skips(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.json").write_bytes(dumps(record_json(status="failed")))
    (source / "index.json").write_text("{}", encoding="utf-8")
    result = invoke("aioc", source, "--suite", tmp_path / "s")
    assert result.exit_code == 0
    assert result.stderr == (
        f"{source}: index.json: skipped: no run record: none of runId, items and question is there\n"
        "warning: status failed: a; replaying a baseline to an equal run needs a completed one\n"
    )


def test_a_rejected_run_is_exit_2_and_the_others_are_there(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.jsonl", {"id": "x\x1b[31m", "messages": 3}, {**TALK, "id": "b"})
    result = invoke("openai-chat", log, "--suite", tmp_path / "s")
    assert result.exit_code == 2
    assert f"{log}: row 1: rejected: $.messages: no list of messages\n" in result.stderr
    assert [path.name for path in (tmp_path / "s" / "records").iterdir()] == ["b.json"]


def test_nothing_imported_is_exit_4(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.jsonl", TALK)
    result = invoke("openai-chat", log, "--suite", tmp_path / "s", "--where", "id = 'z'")
    assert (result.exit_code, result.stdout, result.stderr) == (4, "", "nothing was imported\n")
    assert not (tmp_path / "s").exists()


def test_nothing_but_rejected_runs_is_exit_2(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.jsonl", {})
    assert invoke("openai-chat", log, "--suite", tmp_path / "s").exit_code == 2


def test_escape_characters_are_not_sent_to_the_terminal(tmp_path: Path) -> None:
    source = tmp_path / "a\x1b[31m.json"
    source.write_text("{}", encoding="utf-8")
    result = invoke("aioc", source, "--suite", tmp_path / "s")
    assert "a\\u001b[31m.json: skipped: " in result.stderr
    assert "\x1b" not in result.stderr


def test_input_errors_are_left_to_the_main_command(tmp_path: Path) -> None:
    result = invoke("openai-chat", tmp_path / "none.json", "--suite", tmp_path / "s")
    assert isinstance(result.exception, InputError)


@pytest.mark.parametrize("format_name", ["aioc", "openai-chat", "qa-log"])
def test_help(format_name: str) -> None:
    result = invoke(format_name, "--help")
    assert result.exit_code == 0
    assert "--suite" in result.stdout


def test_the_module_imports_nothing_slow() -> None:
    code = (
        "import sys, regress_pipeline.cli.import_\n"
        "slow = {'pydantic', 'duckdb', 'yaml', 'regress_core', 'pyarrow', 'dagster'}\n"
        "print(sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
