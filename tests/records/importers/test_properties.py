"""Whatever a source holds: a valid record, or a reason why not; never a crash, and the same every time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.importers.aioc import read_aioc
from regress_core.records.importers.base import Imported, Outcome, SourceRow
from regress_core.records.importers.conversations import Turns
from regress_core.records.importers.qa_log import read_qa_log
from regress_core.records.json_io import JsonObject, JsonValue, dumps, loads
from regress_core.records.model import RunRecord
from tests.records.importers.support import cases, chat, rows_of
from tests.support.records import record_json
from tests.support.strategies import JSON_VALUES, TEXTS

_ODD = JSON_VALUES
_PARTS = st.lists(
    st.fixed_dictionaries({"type": st.sampled_from(["text", "image_url", "refusal"])},
                          optional={"text": TEXTS, "refusal": TEXTS | _ODD}) | TEXTS | _ODD,
    max_size=3,
)  # fmt: skip
_CONTENTS = TEXTS | st.none() | _PARTS | _ODD
_IDS = st.sampled_from(["c1", "c2", "c1#2", "call-1", "", None, 7]) | _ODD
_FUNCTIONS = st.fixed_dictionaries({}, optional={"name": st.sampled_from(["a", "b"]), "arguments": _CONTENTS})
_CALLS = st.fixed_dictionaries(
    {}, optional={"id": _IDS, "function": _FUNCTIONS, "name": TEXTS, "arguments": TEXTS, "type": _ODD}
)
_MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "function", "system", "developer"])},
    optional={
        "content": _CONTENTS,
        "tool_calls": st.none() | st.lists(_CALLS, max_size=3),
        "function_call": st.none() | _FUNCTIONS,
        "tool_call_id": _IDS,
        "name": st.sampled_from(["a", "b"]) | _ODD,
        "refusal": st.none() | TEXTS,
        "reasoning_content": TEXTS,
        "error": _ODD,
        "id": _IDS,
    },
)
_TALKS = st.lists(_MESSAGES, max_size=6) | st.lists(_MESSAGES | _ODD, max_size=3) | _ODD
_ROWS = _ODD | st.fixed_dictionaries(
    {},
    optional={
        "messages": _TALKS,
        "id": _ODD,
        "label": _ODD,
        "timestamp": _ODD,
        "created": _ODD,
        "model": _ODD,
        "query": _ODD,
        "response": _ODD,
    },
)
_LABELS = st.sampled_from([None, "label"])
_TURNS: st.SearchStrategy[Turns] = st.sampled_from(["whole", "each"])


def check(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        if not isinstance(outcome, Imported):
            assert outcome.reason
            continue
        text = dumps(outcome.record.data)
        again = RunRecord.parse(loads(text))
        assert dumps(again.data) == text


@given(st.lists(_ROWS, max_size=3), _LABELS, _TURNS)
def test_openai_chat(values: list[JsonValue], label: str | None, turns: Turns) -> None:
    outcomes = chat(rows_of(*values), label=label, turns=turns)
    check(outcomes)
    assert len(outcomes) >= len(values)
    assert chat(rows_of(*values), label=label, turns=turns) == outcomes


@given(st.lists(_MESSAGES, max_size=6))
def test_ids_of_calls_are_unique_and_answered_once(messages: list[JsonValue]) -> None:
    talk = [{"role": "user", "content": "hi"}, *messages]
    for outcome in chat(rows_of({"messages": talk})):
        if isinstance(outcome, Imported):
            items = outcome.record.items
            calls = [item["callId"] for item in items if item["type"] == "tool_call_item"]
            outputs = [item["callId"] for item in items if item["type"] == "tool_call_output_item"]
            assert len(set(calls)) == len(calls)
            assert len(set(outputs)) == len(outputs)


@given(st.lists(_MESSAGES, max_size=6))
def test_the_turns_are_beginnings_of_the_whole(messages: list[JsonValue]) -> None:
    rows = rows_of({"messages": [{"role": "user", "content": "hi"}, *messages]})
    whole = chat(rows)[0]
    for turn in chat(rows, turns="each"):
        if isinstance(turn, Imported):
            assert isinstance(whole, Imported)
            assert turn.record.items == whole.record.items[: len(turn.record.items)]


@given(st.lists(_ROWS, max_size=3))
def test_qa_log(values: list[JsonValue]) -> None:
    outcomes = cases(read_qa_log(rows_of(*values)), label="label")
    check(outcomes)
    assert len(outcomes) == len(values)


@given(
    _ODD | st.dictionaries(st.sampled_from(sorted(record_json())), _ODD).map(lambda more: record_json(**more))
)
def test_aioc(value: JsonValue) -> None:
    (outcome,) = cases(read_aioc([SourceRow("a.json", 1, value, alone=True)]))
    check([outcome])
    if isinstance(outcome, Imported):
        assert outcome.record.data == value


def test_the_same_row_gives_the_same_bytes_wherever_it_lies() -> None:
    row: JsonObject = {"messages": [{"role": "user", "content": "hi"}]}
    first, second = (chat([SourceRow("log.json", 3, row)]) for _ in range(2))
    assert first == second
