"""Call ids of a run: every call gets one of its own, and every output the id of the call it answers."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True, slots=True)
class CallEvent:
    """A call or an output, as the source has it.

    Attributes:
        is_output: Whether it is an output.
        source_id: The call id in the source; None where there is none.
        name: The tool's name; None where an output does not say it.
    """

    is_output: bool
    source_id: str | None
    name: str | None


@dataclass(frozen=True, slots=True)
class Paired:
    """The id for a call or an output.

    Attributes:
        call_id: The id.
        call: For an output that answers a call, the index of that call among the events; else None.
    """

    call_id: str
    call: int | None = None


def pair_calls(events: Sequence[CallEvent]) -> list[Paired]:
    """Give each event its id, in the order of the events.

    An output goes to the earliest unanswered call before it that has its id; one without an id to the
    earliest unanswered call of its name, or, without a name too, to the earliest unanswered call. A call
    keeps its id unless an earlier one has it (then `<id>#2`) or it has none (then `call-<n>`, the n-th call
    of the run). An output that answers nothing gets an id that no call has. No new id is one of the source.
    """
    answers = _answers(events)
    source_ids = frozenset(event.source_id for event in events if event.source_id is not None)
    ids: dict[int, str] = {}
    used: set[str] = set()
    calls = [index for index, event in enumerate(events) if not event.is_output]
    orphans = [index for index, event in enumerate(events) if event.is_output and index not in answers]
    for prefix, indexes in (("call", calls), ("orphan", orphans)):
        for number, index in enumerate(indexes, start=1):
            source_id = events[index].source_id
            if source_id is not None and source_id not in used:
                ids[index] = source_id
            else:
                ids[index] = _new_id(source_id or f"{prefix}-{number}", used | source_ids)
            used.add(ids[index])
    return [
        Paired(ids[answers[index]], answers[index]) if index in answers else Paired(ids[index])
        for index in range(len(events))
    ]


def _answers(events: Sequence[CallEvent]) -> dict[int, int]:
    """Say which call each output answers, by index.

    Outputs with an id choose first: a call whose own output comes later is not free for one without an id.
    """
    answers: dict[int, int] = {}
    waiting: defaultdict[str, deque[int]] = defaultdict(deque)
    for index, event in enumerate(events):
        if event.source_id is None:
            continue
        if not event.is_output:
            waiting[event.source_id].append(index)
        elif waiting[event.source_id]:
            answers[index] = waiting[event.source_id].popleft()
    answered = frozenset(answers.values())
    free: list[int] = []
    for index, event in enumerate(events):
        if not event.is_output:
            free += [index] if index not in answered else []
        elif event.source_id is None:
            match = next((call for call in free if event.name in (None, events[call].name)), None)
            if match is not None:
                free.remove(match)
                answers[index] = match
    return answers


def _new_id(base: str, taken: AbstractSet[str]) -> str:
    if base not in taken:
        return base
    return next(name for number in count(2) if (name := f"{base}#{number}") not in taken)
