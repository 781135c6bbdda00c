"""What is imported with --redact holds nothing of what is to be hidden, wherever it stood."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regress_core.records.importers.base import Imported, Rejected, Skipped
from regress_core.records.importers.redaction import everything_of, redacted
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord
from regress_core.records.redact import RedactConfig, Redactor
from regress_pipeline.cli.main import app
from tests.records.importers.support import write_lines
from tests.support.records import message, record_json, tool_call, tool_output

MAIL, OTHER, KEY, CARD = (
    "jane@example.org",
    "joe@example.org",
    "sk-proj-abcdefghij0123456789",
    "4111 1111 1111 1111",
)


def hidden(
    run: Imported | Rejected | Skipped, config: RedactConfig | None = None
) -> tuple[object, Counter[str]]:
    counts: Counter[str] = Counter()
    (found,) = redacted([run], everything_of(config), counts)
    return found, counts


def test_the_same_value_has_the_same_placeholder_everywhere_in_a_record() -> None:
    """H75."""
    record = RunRecord.parse(
        record_json(
            question=f"I am {MAIL}",
            response=f"{MAIL}, not {OTHER}",
            items=[
                message(f"I am {MAIL}"),
                tool_call("c", "find", arguments={"to": MAIL, "cc": [OTHER], MAIL: 1}),
                tool_output("c", output=json.dumps({"mail": MAIL, "card": CARD})),
            ],
            contextSnapshot={"key": f"Bearer {KEY}"},
        )
    )
    found, counts = hidden(Imported("a", record, "row 1"))

    assert isinstance(found, Imported)
    data = found.record.data
    assert (data["question"], data["response"]) == ("I am [EMAIL_1]", "[EMAIL_1], not [EMAIL_2]")
    assert data["items"][1].get("arguments") == {"to": "[EMAIL_1]", "cc": ["[EMAIL_2]"], "[EMAIL_1]": 1}
    assert data["items"][2].get("output") == '{"mail": "[EMAIL_1]", "card": "[CARD_1]"}'
    assert data["contextSnapshot"] == {"key": "Bearer [SECRET_1]"}
    assert counts == {"EMAIL": 8, "CARD": 1, "SECRET": 1}
    assert found.record.regress_metadata["redacted"] == {"CARD": 1, "EMAIL": 8, "SECRET": 1}
    assert found.record.is_redacted


def test_a_record_with_nothing_to_hide_stays_as_it_is() -> None:
    record = RunRecord.parse(record_json())
    found, counts = hidden(Imported("a", record, "row 1"))
    assert isinstance(found, Imported)
    assert found.record.data == record.data
    assert not counts
    assert not found.record.is_redacted


def test_a_name_becomes_a_hash_so_that_two_stay_two() -> None:
    names: list[str] = []
    for mail in (MAIL, OTHER, MAIL):
        found, _ = hidden(Imported(f"session {mail}", RunRecord.parse(record_json()), "row 1"))
        assert isinstance(found, Imported)
        names.append(found.name)
    # printf 'session jane@example.org' | sha256sum
    assert names == ["case-5fc459b684cb", names[1], "case-5fc459b684cb"]
    assert names[0] != names[1]


@pytest.mark.parametrize("kind", [Rejected, Skipped])
def test_what_is_said_of_the_others_is_redacted_too(kind: type[Rejected | Skipped]) -> None:
    found, counts = hidden(kind("row 1", f"$['{MAIL}']: bad", MAIL))
    assert found == kind("row 1", "$['[EMAIL_1]']: bad", "[EMAIL_1]")
    assert not counts


def test_paths_patterns_and_hashes_of_the_suite() -> None:
    config = RedactConfig.from_json(
        {
            "patterns": [{"name": "ORDER", "pattern": "W[0-9]+"}],
            "paths": ["contextSnapshot"],
            "hashes": ["agentName"],
        }
    )
    record = RunRecord.parse(record_json(response="W17", contextSnapshot={"a": 1}, agentName="ann"))
    found, counts = hidden(Imported("a", record, "row 1"), config)
    assert isinstance(found, Imported)
    data = found.record.data
    assert (data["response"], data["contextSnapshot"]) == ("[ORDER_1]", "[REDACTED_1]")
    # printf '"ann"' | sha256sum
    assert data["agentName"] == "hash-cec78459472eed8b"
    assert counts == {"ORDER": 1, "REDACTED": 1, "HASH": 1}


@pytest.mark.parametrize(
    ("value", "other", "alike"),
    [("a", "a", True), ("a", "b", False), (1, 1.0, True), (1, "1", False), ({"a": 1}, {"a": 1}, True)],
)
def test_a_hash_is_the_same_in_every_record(value: JsonValue, other: JsonValue, *, alike: bool) -> None:
    config = RedactConfig.from_json({"hashes": ["id"]})
    first, second = (Redactor(config).redact({"id": one}) for one in (value, other))
    assert (first == second) is alike


def test_the_command(tmp_path: Path) -> None:
    canaries = [MAIL, KEY, CARD, "+49 30 901820", "DE89 3704 0044 0532 0130 00", "203.0.113.7"]
    row: JsonObject = {
        "id": f"talk with {MAIL}",
        "timestamp": "2026-03-01T10:00:00Z",
        "messages": [
            {"role": "system", "content": f"Be kind to {MAIL}."},
            {"role": "user", "content": " ".join(canaries), "name": MAIL},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": f"call-{MAIL}", "function": {"name": "f", "arguments": json.dumps({MAIL: canaries})}},
            ]},
            {"role": "tool", "tool_call_id": f"call-{MAIL}", "content": json.dumps(canaries), "x": {MAIL: 1}},
            {"role": "assistant", "content": f"Sent to {MAIL}."},
        ],
        "model": KEY,
        "tag": MAIL,
    }  # fmt: skip
    bad: JsonObject = {"id": MAIL, "messages": [{"role": MAIL}]}
    log = write_lines(tmp_path / f"{MAIL}.jsonl", row, bad)

    result = CliRunner().invoke(
        app, ["import", "auto", str(log), "--suite", str(tmp_path / "s"), "--label", "tag", "--redact"]
    )

    assert result.exit_code == 2, "the second one is rejected"
    told = result.stdout.splitlines()[-1].removeprefix("redacted: ").split(", ")
    assert [part.split()[1] for part in told] == ["CARD", "EMAIL", "IBAN", "IP", "PHONE", "SECRET"]
    written = "\n".join(
        f"{path.name}\n{path.read_text(encoding='utf-8')}"
        for path in (tmp_path / "s").rglob("*")
        if path.is_file()
    )
    for canary in canaries:
        assert canary not in written, canary
        assert canary not in result.output, canary
    assert "2026-03-01T10:00:00.000Z" in written
