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
from regress_pipeline.cli.main import app
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
    return CliRunner().invoke(app, ["import", *(str(argument) for argument in arguments)])


def test_openai_chat(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.jsonl", TALK)
    result = invoke("openai-chat", log, "--suite", tmp_path / "s")
    assert result.exit_code == 0
    records = tmp_path / "s" / "records"
    held = "1 cases: 0 calls of tools, 0 outputs\n"
    assert result.stdout == f"{held}records written to {records}: 1\n"
    assert result.stderr == (
        "warning: multi-turn: 1 of 1 records can be compared with recorded candidates only; "
        "import with --turns each to replay\n"
    )
    again = invoke("openai-chat", log, "--suite", tmp_path / "s")
    assert again.exit_code == 0
    assert again.stdout == f"{held}records written to {records}: 0 (1 more were there already)\n"


def test_every_option(tmp_path: Path) -> None:
    rows = [{"n": n, "task": {"id": f"t{n}"}, "log": TALK["messages"], "score": n} for n in range(4)]
    log = write_lines(tmp_path / "log.jsonl", *rows)
    options = {
        "--suite": tmp_path / "s",
        "--messages": "log",
        "--name": "{task.id}",
        "--label": "score",
        "--where": "n > 0",
        "--limit": "2",
        "--turns": "each",
    }
    result = invoke("openai-chat", log, *chain(*options.items()))
    assert result.exit_code == 0
    assert result.stderr == (
        "log.jsonl: row 2, turn 2: skipped: the turn does not end with an answer of the assistant\n"
        "log.jsonl: row 3, turn 2: skipped: the turn does not end with an answer of the assistant\n"
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
        "--name": "{k}",
        "--label": "nope",
        "--where": "k = 'x'",
        "--limit": "5",
    }
    result = invoke("qa-log", log, *chain(*options.items()))
    assert result.exit_code == 0
    assert result.stderr == "warning: --label nope: no imported run has it\n"
    assert (tmp_path / "s" / "records" / "x.json").is_file()


def test_aioc_lists_what_it_skips(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.json").write_bytes(dumps(record_json(status="failed")))
    (source / "index.json").write_text("{}", encoding="utf-8")
    result = invoke("aioc", source, "--suite", tmp_path / "s")
    assert result.exit_code == 0
    assert result.stderr == (
        "index.json: skipped: no run record: none of runId, items and question is there\n"
        "warning: status failed: a; replaying a baseline to an equal run needs a completed one\n"
    )


def test_a_rejected_run_is_exit_2_and_the_others_are_there(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.jsonl", {"id": "x\x1b[31m", "messages": 3}, {**TALK, "id": "b"})
    result = invoke("openai-chat", log, "--suite", tmp_path / "s")
    assert result.exit_code == 2
    assert "log.jsonl: row 1: rejected: $.messages: no list of messages\n" in result.stderr
    rejects = tmp_path / "s" / "import-rejects.jsonl"
    assert result.stderr.endswith(f"1 rejected; all are listed in {rejects}\n")
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


def test_help() -> None:
    result = invoke("--help")
    assert result.exit_code == 0
    assert "--suite" in result.stdout


@pytest.mark.parametrize(("rejects", "code"), [(0, 2), (1, 2), (2, 0), (9, 0)])
def test_so_many_rejects_are_fine(tmp_path: Path, rejects: int, code: int) -> None:
    log = write_lines(tmp_path / "log.jsonl", {"id": 1}, TALK, {"id": 2})
    result = invoke("openai-chat", log, "--suite", tmp_path / "s", "--max-rejects", str(rejects))
    assert result.exit_code == code
    assert [path.name for path in (tmp_path / "s" / "records").iterdir()] == ["a.json"]


def test_a_dry_run_counts_and_writes_nothing(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.jsonl", TALK, {**TALK, "id": "b"})
    result = invoke("auto", log, "--suite", tmp_path / "s", "--dry-run")
    assert result.exit_code == 0
    assert result.stdout == "2 cases: 0 calls of tools, 0 outputs\nnothing was written: --dry-run\n"
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("nope", "log.jsonl"), "FORMAT: no format 'nope'; name one of aioc, tau, "),
        (("tau", "log.jsonl", "--messages", "x"), "--messages: goes with the format openai-chat"),
        (("openai-chat", "log.jsonl", "--trial", "1"), "--trial: goes with the format tau"),
        (("aioc", "log.jsonl", "--query", "q"), "--query: goes with the format qa-log"),
    ],
)
def test_options_that_do_not_go_together(tmp_path: Path, arguments: tuple[str, ...], fault: str) -> None:
    result = invoke(*arguments, "--suite", tmp_path / "s")
    assert isinstance(result.exception, InputError)
    assert str(result.exception).startswith(fault)


def test_auto_takes_each_file_for_what_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    write_lines(folder / "chat.jsonl", TALK)
    write_lines(folder / "qa.jsonl", {"id": "q", "query": "a", "response": "b"})
    (folder / "run.json").write_bytes(dumps(record_json()))
    write_lines(folder / "what.jsonl", {"who": "knows"})
    result = invoke("auto", folder, "--suite", tmp_path / "s", "--max-rejects", "1")
    assert result.exit_code == 0
    assert "what.jsonl: row 1: rejected: looks like none of aioc, tau, " in result.stderr
    names = sorted(path.name for path in (tmp_path / "s" / "records").iterdir())
    assert names == ["a.json", "q.json", "run.json"]


def test_the_module_imports_nothing_slow() -> None:
    code = (
        "import sys, regress_pipeline.cli.import_\n"
        "slow = {'pydantic', 'duckdb', 'yaml', 'regress_core', 'pyarrow', 'dagster'}\n"
        "print(sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
