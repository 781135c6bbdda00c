from __future__ import annotations

from collections.abc import Iterator

import pytest

from regress_core.calls.circuit import Circuit
from regress_core.models.client import ModelError
from tests.calls.support import VirtualTime

# Three failures in a row open it, for ten seconds. A history reads from left to right: F a call failed, A one
# was answered, X opened for good, . a second passes, p asks for call p, q for call q, - call p is over.
# Beside it what p and q were told, in the order of asking: + go, or the number of the failure that is named.
HISTORIES: list[tuple[str, str, str]] = [
    ("closed at first", "pq", "++"),
    ("closed after two failures", "FFp", "+"),
    ("open after three, and the third is named", "FFFp", "3"),
    ("an answer between them resets", "FFAFFp", "+"),
    ("open until the cool-down is over", "FFF.........p.p", "3+"),
    ("one probe at a time", "FFF..........pqqp", "+33+"),
    ("the next may probe when the probe is over", "FFF..........pq-q", "+3+"),
    ("an answer closes", "FFF..........pAqp", "+++"),
    ("a closed one needs three failures again", "FFF..........pAFFqFq", "++6"),
    ("a probe's failure opens it again", "FFF..........pF-qp.........q.q", "+333+"),
    ("a failure while open begins the cool-down again", "FFF.....F.....p.....p", "3+"),
    ("an answer while open closes", "FFF.Ap", "+"),
    ("for good at once", "Xpq", "11"),
    ("for good is for ever", "X....................p", "1"),
    ("for good whatever is answered", "XAp", "1"),
    ("for good whatever fails", "XFFF....................p", "1"),
    ("for good names its first cause", "XXp", "1"),
    ("for good beats for now", "FFFXp", "4"),
    ("for good beats the probe", "FFF..........pXp", "+4"),
]


def _told(history: str) -> Iterator[str]:
    time = VirtualTime()
    circuit = Circuit(failures_to_open=3, cool_down_s=10, clock=time.clock)
    calls = {"p": object(), "q": object()}
    errors = 0
    for event in history:
        if event in "FX":
            errors += 1
            error = ModelError("outage" if event == "F" else "quota", str(errors))
            (circuit.failed if event == "F" else circuit.open_for_good)(error)
        elif event == "A":
            circuit.answered()
        elif event == ".":
            time.now += 1
        elif event == "-":
            circuit.over(calls["p"])
        else:
            refusal = circuit.refusal_of(calls[event])
            yield "+" if refusal is None else refusal.message


@pytest.mark.parametrize(("history", "told"), [pytest.param(*case[1:], id=case[0]) for case in HISTORIES])
def test_histories(history: str, told: str) -> None:
    assert "".join(_told(history)) == told
