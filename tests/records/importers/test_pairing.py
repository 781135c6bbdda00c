"""Outputs go to the calls they answer, whatever ids the source gave or left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.importers.pairing import CallEvent, Paired, pair_calls


def call(source_id: str | None, name: str = "t") -> CallEvent:
    return CallEvent(is_output=False, source_id=source_id, name=name)


def output(source_id: str | None, name: str | None = None) -> CallEvent:
    return CallEvent(is_output=True, source_id=source_id, name=name)


@pytest.mark.parametrize(
    ("events", "paired"),
    [
        ([], []),
        ([call("c1"), output("c1")], [("c1", None), ("c1", 0)]),
        (  # C35: outputs in another order
            [call("c1"), call("c2"), output("c2"), output("c1")],
            [("c1", None), ("c2", None), ("c2", 1), ("c1", 0)],
        ),
        (  # C36: an id that repeats
            [call("x"), output("x"), call("x"), output("x"), call("x"), output("x")],
            [("x", None), ("x", 0), ("x#2", None), ("x#2", 2), ("x#3", None), ("x#3", 4)],
        ),
        (
            [call("x"), call("x"), output("x"), output("x")],
            [("x", None), ("x#2", None), ("x", 0), ("x#2", 1)],
        ),
        (  # a new id is no id of the source
            [call("x"), call("x"), call("x#2"), output("x#2")],
            [("x", None), ("x#3", None), ("x#2", None), ("x#2", 2)],
        ),
        (  # C36: no ids at all
            [call(None), call(None), output(None), output(None)],
            [("call-1", None), ("call-2", None), ("call-1", 0), ("call-2", 1)],
        ),
        (
            [call("call-2"), call(None), output(None)],
            [("call-2", None), ("call-2#2", None), ("call-2", 0)],
        ),
        (  # by name where there is one
            [call(None, "a"), call(None, "b"), output(None, "b"), output(None, "a")],
            [("call-1", None), ("call-2", None), ("call-2", 1), ("call-1", 0)],
        ),
        (  # never to a call of another name
            [call(None, "a"), output(None, "b")],
            [("call-1", None), ("orphan-1", None)],
        ),
        (  # a call whose own output comes later is not free
            [call("x"), call(None), output(None), output("x")],
            [("x", None), ("call-2", None), ("call-2", 1), ("x", 0)],
        ),
        (  # orphans keep ids that no call has
            [output("y"), output("y"), call("x"), output("x"), output("x")],
            [("y", None), ("y#2", None), ("x", None), ("x", 2), ("x#2", None)],
        ),
        (  # an output does not answer a call that comes after it
            [output("x"), call("x")],
            [("x#2", None), ("x", None)],
        ),
        (
            [output("orphan-1"), output(None)],
            [("orphan-1", None), ("orphan-2", None)],
        ),
    ],
)
def test_pair_calls(events: list[CallEvent], paired: list[tuple[str, int | None]]) -> None:
    assert pair_calls(events) == [Paired(*pair) for pair in paired]


_IDS = st.sampled_from([None, "x", "y", "x#2", "call-1", "call-2", "orphan-1"])
_NAMES = st.sampled_from(["a", "b"])
_EVENTS = st.lists(
    st.builds(CallEvent, is_output=st.just(value=False), source_id=_IDS, name=_NAMES)
    | st.builds(CallEvent, is_output=st.just(value=True), source_id=_IDS, name=st.none() | _NAMES),
    max_size=12,
)


@given(_EVENTS)
def test_whatever_comes_no_two_calls_are_mixed_up(events: list[CallEvent]) -> None:
    paired = pair_calls(events)
    call_ids = [pair.call_id for event, pair in zip(events, paired, strict=True) if not event.is_output]
    assert len(set(call_ids)) == len(call_ids)
    answered = Counter(pair.call for pair in paired if pair.call is not None)
    assert all(times == 1 for times in answered.values())
    orphans: list[str] = []
    source_ids = {event.source_id for event in events}
    for index, (event, pair) in enumerate(zip(events, paired, strict=True)):
        assert pair.call_id == event.source_id or pair.call_id not in source_ids or pair.call is not None
        if pair.call is not None:
            answers = events[pair.call]
            assert event.is_output
            assert not answers.is_output
            assert pair.call < index
            assert pair.call_id == paired[pair.call].call_id
            assert event.source_id in (None, answers.source_id)
            assert event.source_id is not None or event.name in (None, answers.name)
        elif event.is_output:
            orphans.append(pair.call_id)
    assert len(set(orphans)) == len(orphans)
    assert set(orphans).isdisjoint(call_ids)


@dataclass(frozen=True)
class Run:
    """Events of a run that really took place, and for each output the call it truly answers."""

    events: list[CallEvent]
    truth: dict[int, int]


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Play a run as sources write it: ids may repeat or be missing, outputs come in any order.

    What even a reader could not tell is left out: two open calls with one id are answered in their order, and
    so are two open calls of one name without ids.
    """
    events: list[CallEvent] = []
    truth: dict[int, int] = {}
    waiting: list[int] = []

    def answer(index: int) -> None:
        first = next(
            other
            for other in waiting
            if events[other].source_id == events[index].source_id
            and (events[index].source_id is not None or events[other].name == events[index].name)
        )
        truth[len(events)] = first
        waiting.remove(first)
        asked = events[first]
        events.append(output(asked.source_id, asked.name if asked.source_id is None else None))

    for _ in range(draw(st.integers(0, 10))):
        if waiting and draw(st.booleans()):
            answer(draw(st.sampled_from(waiting)))
        else:
            waiting.append(len(events))
            events.append(call(draw(_IDS), draw(_NAMES)))
    while waiting:
        answer(draw(st.sampled_from(waiting)))
    return Run(events, truth)


@given(runs())
def test_every_output_goes_to_the_call_it_truly_answers(run: Run) -> None:
    paired = pair_calls(run.events)
    assert {index: pair.call for index, pair in enumerate(paired) if pair.call is not None} == run.truth
