"""A suite whose candidate asks `openai:test-model`, and a provider that misbehaves case by case.

Each run is two requests: three calls at once, then the answer. The provider knows the case by the question,
so what it does to one case does not depend on the others, nor on their order.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from regress_core.records.json_io import JsonObject, dumps_text
from tests.support import openai_server as openai
from tests.support.openai_server import Answer
from tests.support.records import message, record_json, tool_call, tool_output
from tests.support.suites import write_records

MODEL = "openai:test-model"
PARTS = 3
"""Calls of a run, and turns that it may take."""

HANGS_S = 60.0
"""How long a hanging answer takes: longer than any test waits for it; closing the server ends it."""


@dataclass(frozen=True)
class Asked:
    """A request as the provider sees it.

    Attributes:
        case: The case that it is made for.
        number: Which of the case's requests it is, from 1.
        right: The answer that makes the case pass.
    """

    case: str
    number: int
    right: Answer


Fault = Callable[[Asked], Answer]
"""What the provider answers."""


def _always(wrong: Answer) -> Fault:
    return lambda _: wrong


def _first(count: int, wrong: Answer) -> Fault:
    return lambda asked: wrong if asked.number <= count else asked.right


def _one_by_one(asked: Asked) -> Answer:
    """Ask for the recorded calls one after the other, for ever."""
    return _find(asked.case, [(asked.number - 1) % PARTS + 1])


def _find(case: str, parts: Iterable[int]) -> Answer:
    return openai.calls(
        *(
            openai.tool_call(f"call-{part}", "find_order", dumps_text({"id": case, "part": part}))
            for part in parts
        )
    )


FAULTS: Mapping[str, Fault] = {
    "fine": lambda asked: asked.right,
    "500": _always(openai.error(500)),
    "500-later": lambda asked: asked.right if asked.number == 1 else openai.error(500),
    "500-twice": _first(2, openai.error(500)),
    "429": _always(openai.rate_limited()),
    "429-once": _first(1, openai.rate_limited("1")),
    "hangs": lambda asked: openai.after(HANGS_S, asked.right),
    "cut-before": _always(openai.cut("before the answer")),
    "cut-within": _always(openai.cut("within the body")),
    "half-json": _always(openai.broken_json()),
    "bad-arguments": _always(openai.calls(openai.tool_call("call-1", "find_order", '{"id": "bad'))),
    "loops": _one_by_one,
    "unknown-tool": _always(openai.calls(openai.tool_call("call-1", "no_such_tool", "{}"))),
    "quota": _always(openai.out_of_quota()),
    "401": _always(openai.unauthorised()),
}
"""What the provider can do to a case."""


@dataclass(frozen=True)
class Comes:
    """What a fault comes to where a call is attempted three times.

    Attributes:
        status: The status of the case.
        requests: How many of its requests arrive.
        trouble: The code of the trouble that makes it inconclusive.
        error: What its reason names, for a failed one.
    """

    status: str
    requests: int
    trouble: str | None = None
    error: str | None = None


COMES_TO: Mapping[str, Comes] = {
    "fine": Comes("pass", 2),
    "500": Comes("warn", 3, trouble="500"),
    "500-later": Comes("warn", 1 + 3, trouble="500"),
    "500-twice": Comes("pass", 2 + 2),
    "429": Comes("warn", 3, trouble="429"),
    "429-once": Comes("pass", 1 + 2),
    "hangs": Comes("warn", 3, trouble="time-out"),
    "cut-before": Comes("warn", 3, trouble="connection"),
    "cut-within": Comes("warn", 3, trouble="connection"),
    "half-json": Comes("warn", 3, trouble="outage"),
    "bad-arguments": Comes("fail", 1, error="ZodError: "),
    "loops": Comes("fail", PARTS, error=f"MaxTurnsExceededError: Max turns exceeded: {PARTS}"),
    "unknown-tool": Comes("fail", 1, error='ToolCallError: Tool "no_such_tool" is not registered.'),
}
"""What 500, 429, a hang and a cut come to is trouble; what the model asks for is the candidate's doing."""

ATTEMPTS = 3
"""The attempts of a call that `COMES_TO` is about."""


class Provider:
    """The faulty provider's behaviour. It may be changed between evaluations, not during one.

    Attributes:
        faults: What it does to each case; nothing to those left out.
        arrivals: When each request of a case came, by a clock that never goes back.
    """

    def __init__(self, faults: Mapping[str, Fault]) -> None:
        self.faults: Mapping[str, Fault] = faults
        self.arrivals: dict[str, list[float]] = {}
        self._lock = threading.Lock()

    def __call__(self, request: JsonObject, _: int) -> Answer:
        """Answer, as the behaviour of an `OpenAIServer`."""
        case = case_of(request)
        with self._lock:
            arrivals = self.arrivals.setdefault(case, [])
            arrivals.append(time.monotonic())
            number = len(arrivals)
        answered = any(one["role"] == "tool" for one in request["messages"])
        right = openai.text("On its way.") if answered else _find(case, range(1, PARTS + 1))
        return self.faults.get(case, FAULTS["fine"])(Asked(case, number, right))

    def recover(self) -> None:
        """Do nothing wrong from here on, and forget what came."""
        self.faults = dict[str, Fault]()
        self.arrivals = {}

    @property
    def requests(self) -> dict[str, int]:
        """How many requests of each case came; of cases without any nothing."""
        return {case: len(arrivals) for case, arrivals in self.arrivals.items()}


def case_of(request: JsonObject) -> str:
    """Give the case that a request is made for."""
    (question,) = [one["content"] for one in request["messages"] if one["role"] == "user"]
    return question.removeprefix("Where is order ").removesuffix("?")


_HARNESS = f"""\
metadata: {{name: shop, version: "2"}}
runtime: {{entry_agent: clerk, max_turns: {PARTS}}}
tools:
  find_order: {{target: app://find_order}}
agents:
  clerk: {{model: "{MODEL}", instructions: Be brief., tools: [find_order]}}
"""

_ADAPTER = """\
from regress_core.harness import RunOptions, Tool, allow_all

ARGUMENTS = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "part": {"type": "integer"}},
    "required": ["id", "part"],
    "additionalProperties": False,
}


def never(arguments, context):
    raise RuntimeError("strict mode runs no tool")


def create_tools(context):
    return {"app://find_order": Tool("find_order", "Finds an order.", never, ARGUMENTS)}


def create_run_options(case):
    return RunOptions(policies=allow_all())
"""


def recorded(case: str) -> JsonObject:
    """Give the baseline of a case: three calls in one turn, then the answer."""
    question = f"Where is order {case}?"
    parts = range(1, PARTS + 1)
    return record_json(
        runId=f"baseline of {case}",
        agentName="clerk",
        question=question,
        items=[
            message(question),
            *(tool_call(f"b{part}", "find_order", arguments={"id": case, "part": part}) for part in parts),
            *(tool_output(f"b{part}", output="sent") for part in parts),
            message("On its way.", "assistant"),
        ],
        inputItemCount=1,
        policyDecisions=[
            {
                "timestamp": "2026-01-01T00:00:00.500Z",
                "turn": 1,
                "callId": f"b{part}",
                "decision": "allow",
                "reason": "allowed",
                "resource": {"kind": "tool", "name": "find_order"},
            }
            for part in parts
        ],
    )


def write_live_suite(root: Path, cases: Iterable[str], *, config: str = "name: shop\n") -> Path:
    """Write a suite folder with records/, candidate.yaml, harness.yaml and adapter.py."""
    write_records(root / "records", {case: recorded(case) for case in cases})
    for name, text in (
        ("suite.yaml", config),
        ("candidate.yaml", "descriptor: harness.yaml\nadapter: adapter.py\n"),
        ("harness.yaml", _HARNESS),
        ("adapter.py", _ADAPTER),
    ):
        (root / name).write_text(text, encoding="utf-8")
    return root


def expected_case(case: str, fault: str = "fine") -> JsonObject:
    """Give the entry of the summary that a fault comes to, its reasons and candidate's run id aside."""
    comes = COMES_TO[fault]
    signals = ("statusChanged", "toolsChanged", "policyChanged", "finalOutputChanged")
    trouble = {"kind": "outage", "code": comes.trouble, "retryable": True}
    return {
        **({"trouble": trouble} if comes.trouble else {}),
        "name": case,
        "caseId": case,
        "status": comes.status,
        "inconclusive": comes.trouble is not None,
        "baselineRunId": f"baseline of {case}",
        "signals": dict.fromkeys(
            signals, comes.status == "fail"
        ),  # a failed run answers nothing, and calls less
    }
