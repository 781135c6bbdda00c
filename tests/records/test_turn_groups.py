"""Which calls a model asked for together, and where its turns start in the items (C25)."""

from __future__ import annotations

import pytest
from hypothesis import given

from regress_core.records.json_io import JsonObject
from regress_core.records.model import RunRecord
from regress_core.records.tool_calls import extract_tool_calls
from regress_core.records.turn_groups import input_scope, turn_groups, turn_starts
from tests.compare.strategies import RECORDS, RUNS
from tests.compare.support import Turns, decision, fingerprint, guardrail, prompt, run_of
from tests.support.records import message, record_json, tool_call, tool_output


def _items(notation: str) -> list[JsonObject]:
    """Read items: u and a are messages of user and assistant, c1 a call with that id, o1 its output."""
    items: list[JsonObject] = []
    for word in notation.split():
        kind, call_id = word[0], f"c{word[1:]}"
        if kind == "c":
            items.append(tool_call(call_id, "f"))
        elif kind == "o":
            items.append(tool_output(call_id, output=1))
        else:
            items.append(message(word, role="user" if kind == "u" else "assistant"))
    return items


def _record(items: str, turns: str = "", counts: list[int] | None = None, **more: object) -> RunRecord:
    """Give a record; `turns` such as `c1:1 c2:1` are its decisions, `counts` what turn 1, 2, … sent."""
    decisions = [decision(word.split(":")[0], int(word.split(":")[1])) for word in turns.split()]
    sent = [fingerprint(turn=turn, messageCount=count) for turn, count in enumerate(counts or [], start=1)]
    changes = {"items": _items(items), "policyDecisions": decisions, "requestFingerprints": sent}
    return RunRecord.parse(record_json(**changes) | more)


# Items, decisions, input item count, the group of each call.
GROUPS: list[tuple[str, str, str, int | None, list[int]]] = [
    ("no calls", "u a", "", None, []),
    ("side by side", "u c1 c2 o1 o2 a", "", None, [1, 1]),
    ("one by one", "u c1 o1 c2 o2 a", "", None, [1, 2]),
    ("parted by a message", "u c1 a c2 o1 o2", "", None, [1, 2]),
    ("one by one, of one turn", "u c1 o1 c2 o2 a", "c1:1 c2:1", None, [1, 1]),
    ("one by one, of two turns", "u c1 o1 c2 o2 a", "c1:1 c2:2", None, [1, 2]),
    ("side by side, of two turns", "u c1 c2 o1 o2 a", "c1:1 c2:2", None, [1, 2]),
    ("turns need not count from 1", "u c1 o1 c2 o2 a", "c1:4 c2:9", None, [1, 2]),
    ("undecided amid one turn", "u c1 c2 c3 o1 o2 o3", "c1:1 c3:1", None, [1, 2, 1]),
    ("an id twice", "u c1 o1 c1 o1 a", "c1:1 c1:2", None, [1, 2]),
    ("an orphan output", "u o9 c1 o1", "", None, [1, 2]),
    ("a call of the input bears a decided id", "u c1 o1 u c1 c2 o1 o2", "c1:1 c2:1", 4, [1, 2, 2]),
]


@pytest.mark.parametrize(
    ("items", "turns", "count", "groups"), [pytest.param(*case[1:], id=case[0]) for case in GROUPS]
)
def test_groups(items: str, turns: str, count: int | None, groups: list[int]) -> None:
    record = _record(items, turns, inputItemCount=count)

    assert turn_groups(record, extract_tool_calls(record)) == groups


# Items, inputItemCount, message counts of the requests, scope.
SCOPES: list[tuple[str, str, int | None, list[int], int]] = [
    ("the count", "u a u a", 3, [1], 3),
    ("nothing", "u a", 0, [1], 0),
    ("everything", "u", 1, [], 1),
    ("the first request", "u a u a", None, [3, 4], 3),
    ("more items than there are", "u a u a", 5, [3], 3),
    ("fewer items than none", "u a u a", -1, [3], 3),
    ("a request of more than there is", "u a u a", None, [5], 1),
    ("neither, a question", "u a", None, [], 1),
    ("neither, no question", "c1 o1 a", None, [], 0),
    ("neither, no items", "", None, [], 0),
]


@pytest.mark.parametrize(
    ("items", "count", "counts", "scope"), [pytest.param(*case[1:], id=case[0]) for case in SCOPES]
)
def test_the_input_scope(items: str, count: int | None, counts: list[int], scope: int) -> None:
    assert input_scope(_record(items, "", counts, inputItemCount=count)).items == scope


def test_an_absent_count_is_as_good_as_null() -> None:
    assert input_scope(RunRecord.parse(record_json(items=_items("u a")))).items == 1


# Items, decisions, message counts of the requests, starts.
STARTS: list[tuple[str, str, str, list[int], list[int]]] = [
    ("an answer at once", "u a", "", [], [1]),
    ("a call", "u c1 o1 a", "", [], [1, 3]),
    ("parallel calls, one by one, of one turn", "u c1 o1 c2 o2 a", "c1:1 c2:1", [], [1, 5]),
    ("parallel calls, side by side", "u c1 c2 o1 o2 a", "", [], [1, 5]),
    ("outputs in another order", "u c1 c2 o2 o1 c3 o3 a", "", [], [1, 5, 7]),
    ("two turns", "u c1 o1 c2 o2 a", "c1:1 c2:2", [], [1, 3, 5]),
    ("two turns without decisions", "u c1 o1 c2 o2 a", "", [], [1, 3, 5]),
    ("turns of two and one", "u c1 o1 c2 o2 c3 o3 a", "c1:1 c2:1 c3:2", [], [1, 5, 7]),
    ("words before calls", "u a c1 o1 a c2 o2 a", "", [], [1, 4, 7]),
    ("words between call and output", "u c1 a o1 a", "", [], [1, 4]),
    ("a call without output", "u c1 a", "", [], [1, 2]),
    ("undecided amid one turn", "u c1 c2 c3 o1 o2 o3 a", "c1:1 c3:1", [], [1, 7]),
    ("undecided first of one turn", "u c1 c2 o1 o2 a", "c2:1", [], [1, 5]),
    ("undecided amid one turn, one by one", "u c1 o1 c2 o2 c3 o3 a", "c1:1 c3:1", [], [1, 7]),
    ("side by side, whatever the decisions", "u c1 c2 o1 o2 a", "c1:1 c2:2", [], [1, 5]),
    ("an orphan output", "u c1 o1 o9 a", "", [], [1, 4]),
    ("ids twice", "u c1 o1 c1 o1 a", "", [], [1, 3, 5]),
    ("the answer is no item", "u c1 o1", "", [], [1, 3]),
    ("no items at all", "", "", [], [0]),
    ("no question", "c1 o1 a", "", [], [0, 2]),
    ("requests", "u c1 o1 a", "c1:1", [1, 3], [1, 3]),
    ("requests know better than runs of calls", "u c1 o1 c2 o2 a", "", [1, 5], [1, 5]),
    ("requests know better than decisions", "u c1 o1 c2 o2 a", "c1:1 c2:1", [1, 3, 5], [1, 3, 5]),
    ("a conversation before", "u a u c1 o1 a", "", [3, 5], [3, 5]),
    ("calls before", "u c1 o1 a u c2 o2 a", "c2:1", [5, 7], [5, 7]),
    ("the first request only", "u c1 o1 c2 o2 a", "", [1], [1, 3, 5]),
    ("the first request only, the answer is no item", "u c1 o1", "", [1], [1, 3]),
    ("the first requests only", "u c1 o1 c2 o2 a", "", [1, 3], [1, 3, 5]),
    ("two requests of one place", "u a", "", [1, 1], [1, 1]),
    ("counts that fall", "u c1 o1 c2 o2 a", "", [1, 3, 2], [1, 3, 5]),
    ("counts beyond the items", "u c1 o1 a", "", [1, 7], [1, 3]),
    ("a turn without request", "u c1 o1 c2 o2 a", "c1:1 c2:2", [1], [1, 3, 5]),
]


@pytest.mark.parametrize(
    ("items", "turns", "counts", "starts"), [pytest.param(*case[1:], id=case[0]) for case in STARTS]
)
def test_starts(items: str, turns: str, counts: list[int], starts: list[int]) -> None:
    assert turn_starts(_record(items, turns, counts)) == starts


# Failed runs. What the last turn left, if anything, tells whether it is known.
BROKEN: list[tuple[str, str, str, list[int], list[int]]] = [
    ("in the first turn", "u", "", [], [1]),
    ("in the first turn, by its request", "u", "", [1], [1]),
    ("in a tool", "u c1", "c1:1", [], [1]),
    ("in a tool, by its request", "u c1", "c1:1", [1], [1]),
    ("in the second tool of a turn", "u c1 o1 c2", "c1:1 c2:1", [], [1]),
    ("in a tool of the second turn", "u c1 o1 c2", "c1:1 c2:2", [], [1, 3]),
    ("after a tool", "u c1 o1 c2 o2", "", [], [1, 3]),
    ("after a tool, by its request", "u c1 o1", "c1:1", [1, 3], [1, 3]),
    ("at the turn's end that turns ran out", "u c1 o1 c2 o2", "c1:1 c2:2", [1, 3], [1, 3]),
    ("after the answer, the first request only", "u c1 o1 a", "", [1], [1, 3]),
    ("with words before the calls, by its request", "u a c1 o1", "c1:1", [1], [1]),
    ("after the answer", "u c1 o1 a", "", [], [1, 3]),
]


@pytest.mark.parametrize(
    ("items", "turns", "counts", "starts"), [pytest.param(*case[1:], id=case[0]) for case in BROKEN]
)
def test_starts_of_a_run_that_broke_off(items: str, turns: str, counts: list[int], starts: list[int]) -> None:
    assert turn_starts(_record(items, turns, counts, status="failed")) == starts


def test_a_handoff_is_a_turn_like_any_other() -> None:
    resource = {"kind": "handoff", "name": "handoff_to_returns"}
    items = [
        message("Hi"),
        tool_call("c1", "handoff_to_returns", arguments={}),
        tool_output("c1", output="ok"),
        tool_call("c2", "refund"),
        tool_output("c2", output="done"),
        message("Done.", role="assistant"),
    ]
    decisions = [decision("c1", 1, resource=resource), decision("c2", 2)]
    sent = [fingerprint(turn=1, messageCount=1), fingerprint(turn=2, agentName="returns", messageCount=3)]
    last = fingerprint(turn=3, agentName="returns", messageCount=5)

    for requests in ([], sent, [*sent, last]):
        record = record_json(items=items, policyDecisions=decisions, requestFingerprints=requests)
        prompts = [prompt(turn=turn) for turn in (1, 2, 3)]
        assert turn_starts(RunRecord.parse(record | {"promptSnapshots": prompts})) == [1, 3, 5]


def test_a_scope_that_the_requests_contradict_leaves_the_groups_to_say() -> None:
    # A harness that sends its system message among the others counts one more than there are items.
    record = _record("u c1 o1 a", "", [2, 4], inputItemCount=1)

    assert turn_starts(record) == [1, 3]


@pytest.mark.parametrize(
    "more",
    [
        {"promptSnapshots": [prompt(turn=1), prompt(turn=2), prompt(turn=3)]},
        {"guardrailDecisions": [guardrail(turn=3)]},
        {"requestFingerprints": [fingerprint(turn=1, messageCount=1), fingerprint(turn=3, messageCount=3)]},
        {"requestFingerprints": [fingerprint(turn=2, messageCount=1), fingerprint(turn=1, messageCount=1)]},
        {"requestFingerprints": [fingerprint(turn=0, messageCount=1)]},
        {"promptSnapshots": [prompt(turn=10**12)]},
    ],
    ids=["prompt", "guardrail", "gap", "order", "from 0", "far away"],
)
def test_a_turn_that_sent_nothing_known_leaves_the_groups_to_say(more: JsonObject) -> None:
    record = _record("u c1 o1 c2 o2 a", "", [1, 1], **more)

    assert turn_starts(record) == [1, 3, 5]


@given(calls=RUNS)
def test_decided_or_not_the_calls_of_a_turn_are_one_group(calls: Turns) -> None:
    expected = [number for number, turn in enumerate(calls, start=1) for _ in turn]

    for decided in (True, False):
        record = RunRecord.parse(run_of(calls, decided=decided))
        assert turn_groups(record, extract_tool_calls(record)) == expected


@given(value=RECORDS)
def test_starts_rise_from_the_scope_and_stay_within_the_items(value: JsonObject) -> None:
    record = RunRecord.parse(value)

    starts = turn_starts(record)

    assert starts == sorted(starts)
    assert starts[0] == input_scope(record).items
    assert starts[-1] <= len(record.items)
