"""Sessions of Claude Code: branches, sub-agents, blocks on several lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.importers.base import Imported, Outcome
from regress_core.records.importers.claude_code import is_claude_code, read_claude_code
from regress_core.records.importers.conversations import Turns
from regress_core.records.importers.rows import read_rows
from regress_core.records.json_io import JsonObject, JsonValue
from tests.records.importers.support import cases, imported, rejection, rows_of
from tests.support.records import message, tool_call, tool_output
from tests.support.strategies import JSON_VALUES


def user(uuid: str, parent: str | None, content: JsonValue, **more: JsonValue) -> JsonObject:
    said = {"role": "user", "content": content}
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "message": said, **more}


def agent(uuid: str, parent: str | None, *blocks: JsonObject, id: str = "m", **more: JsonValue) -> JsonObject:  # noqa: A002 - the format's name
    said = {
        "role": "assistant",
        "id": id,
        "model": "claude-x",
        "content": list(blocks),
        "usage": {"input_tokens": 5, "output_tokens": 2},
    }
    return {
        "type": "assistant",
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s1",
        "message": said,
        **more,
    }


def text(value: str) -> JsonObject:
    return {"type": "text", "text": value}


def use(call_id: str) -> JsonObject:
    return {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": call_id}}


def result(call_id: str, content: JsonValue = "ok", **more: JsonValue) -> list[JsonObject]:
    return [{"type": "tool_result", "tool_use_id": call_id, "content": content, **more}]


def read(*lines: JsonValue, turns: Turns = "whole") -> list[Outcome]:
    return cases(read_claude_code(rows_of(*lines, file="session.jsonl")), turns=turns)


def items(*lines: JsonValue) -> list[JsonObject]:
    (outcome,) = read(*lines)
    return [
        {key: value for key, value in item.items() if key not in ("rawItem", "reasoning")}
        for item in imported(outcome).record.items
    ]


def test_calls_side_by_side_stand_on_lines_of_their_own() -> None:
    """Each output follows from its own call only, so that it is on no way back from the last line."""
    lines = [
        {"type": "summary", "summary": "x", "leafUuid": "u7"},
        user("u1", None, "List."),
        agent("u2", "u1", use("a"), id="m1"),
        agent("u3", "u2", use("b"), id="m1"),
        user("u4", "u2", result("a")),
        user("u5", "u3", result("b", "denied", is_error=True)),
        agent("u6", "u5", text("Done."), id="m2"),
    ]
    (outcome,) = read(*lines)
    assert items(*lines) == [
        message("List."),
        tool_call("a", "Bash", arguments={"command": "a"}),
        tool_call("b", "Bash", arguments={"command": "b"}),
        tool_output("a", output="ok"),
        {**tool_output("b", output="denied"), "isError": True},
        message("Done.", "assistant"),
    ]
    run = imported(outcome)
    assert (run.name, run.record.data.get("model")) == ("s1", "claude-x")
    assert run.record.regress_metadata["usage"]["inputTokens"] == 10, "m1 is told twice and counts once"


def test_what_the_user_went_back_on_is_left_out() -> None:
    lines = [
        user("u1", None, "Hello"),
        agent("u2", "u1", text("Hi."), id="m1"),
        user("u3", "u2", "Delete it."),
        agent("u4", "u3", text("Deleted."), id="m2"),
        user("u5", "u2", "Keep it."),
        agent("u6", "u5", text("Kept."), id="m3"),
    ]
    assert [item["content"] for item in items(*lines)] == ["Hello", "Hi.", "Keep it.", "Kept."]
    assert imported(read(*lines)[0]).record.regress_metadata["leftOut"] == {"other branches": 2}


def test_sub_agents_and_the_programs_own_lines_are_left_out() -> None:
    lines = [
        user("u0", None, "Caveat: …", isMeta=True),
        user("u1", "u0", "<command-name>/clear</command-name>"),
        user("u2", "u1", "Go."),
        user("s1", None, "Sub task.", isSidechain=True),
        agent("s2", "s1", text("Sub answer."), isSidechain=True),
        agent("u3", "u2", text("Gone.")),
    ]
    assert [item["content"] for item in items(*lines)] == ["Go.", "Gone."]
    assert imported(read(*lines)[0]).record.regress_metadata["leftOut"] == {
        "sub-agents": 2,
        "notes of the program": 1,
        "commands to the program": 1,
    }


def test_a_session_that_was_compacted_goes_on() -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "logicalParentUuid": "u2"}
    lines = [
        user("u1", None, "Hello"),
        agent("u2", "u1", text("Hi.")),
        boundary,
        user("u3", None, "Summary of it all", logicalParentUuid="u2"),
        agent("u4", "u3", text("On we go.")),
    ]
    assert [item["content"] for item in items(*lines)] == ["Hello", "Hi.", "Summary of it all", "On we go."]


def test_an_answer_that_never_came_is_a_failure() -> None:
    lines = [user("u1", None, "Go."), agent("u2", "u1", text("API Error: 529"), isApiErrorMessage=True)]
    record = imported(read(*lines)[0]).record
    assert (record.status, record.error_name, record.error_message) == (
        "failed",
        "ApiError",
        "API Error: 529",
    )


def test_each_turn_is_a_case() -> None:
    lines = [
        user("u1", None, "A"),
        agent("u2", "u1", text("1")),
        user("u3", "u2", "B"),
        agent("u4", "u3", text("2")),
    ]
    assert [imported(one).name for one in read(*lines, turns="each")] == ["s1-t1", "s1-t2"]


def test_a_session_with_a_lost_line_is_rejected() -> None:
    rows = rows_of(user("u1", None, "A"), 3, agent("u2", "u1", text("1")))
    (outcome,) = cases(read_claude_code([rows[0], rows[2]]))
    assert rejection(outcome) == ("", "$: a line of the session cannot be read")


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        (user("u", None, "x"), True),
        ({"type": "summary", "summary": "x", "leafUuid": "u"}, True),
        ({"type": "file-history-snapshot", "messageId": "m"}, True),
        ({"type": "user"}, False),
        ({"type": "message", "role": "assistant"}, False),
        ({"role": "user", "content": "x"}, False),
        (None, False),
    ],
)
def test_what_looks_like_it(line: JsonValue, *, is_one: bool) -> None:
    assert is_claude_code(line) is is_one


def test_a_real_session(data_dir: Path) -> None:
    file = data_dir / "claude-code" / "sample_session.jsonl"
    if not file.exists():
        pytest.skip(f"no real data: {file} is missing")
    (outcome,) = cases(read_claude_code(read_rows(file)))
    record = imported(outcome).record
    kinds = [item["type"] for item in record.items]
    # Counted in the file: two prompts, two calls with their outputs, two texts.
    assert (kinds.count("message"), kinds.count("tool_call_item"), kinds.count("tool_call_output_item")) == (
        4,
        2,
        2,
    )
    assert record.response == "Done! The hello function is ready."


_LINES = JSON_VALUES | st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "summary", "system"]) | JSON_VALUES},
    optional={
        "uuid": st.sampled_from("abc") | JSON_VALUES,
        "parentUuid": st.sampled_from("abc") | JSON_VALUES,
        "isSidechain": st.booleans() | JSON_VALUES,
        "isMeta": st.booleans(),
        "timestamp": JSON_VALUES,
        "sessionId": JSON_VALUES,
        "isApiErrorMessage": st.booleans(),
        "message": JSON_VALUES
        | st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant"]), "content": st.text(max_size=3) | JSON_VALUES},
            optional={"id": JSON_VALUES, "usage": JSON_VALUES, "model": JSON_VALUES},
        ),
    },
)


@given(st.lists(_LINES, max_size=6), st.sampled_from(["whole", "each"]))
def test_any_json_is_a_record_or_a_reason(lines: list[JsonValue], turns: Turns) -> None:
    for line in lines:
        is_claude_code(line)
    for outcome in read(*lines, turns=turns):
        assert isinstance(outcome, Imported) or outcome.reason
