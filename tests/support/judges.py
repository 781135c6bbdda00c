"""A judges' model by script: it knows judge and case by what it is sent, and answers as a table says.

What it answers for a case does not depend on the other cases, nor on their order.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence

from regress_core.judge.outcome import JudgeName
from regress_core.judge.rubric import RUBRIC_INSTRUCTIONS
from regress_core.models.client import ModelError, ModelReply, ModelRequest, Usage
from regress_core.records.json_io import JsonObject, dumps_text
from tests.support.openai_server import Answer, text, usage

Asked = tuple[str, JudgeName]
"""A case, and the judge that asks about it."""

MODEL = "openai:judge-model"
"""Of a name that no list of prices knows."""

PRICE = "{input: 1.0, output: 10.0}"
"""Dollars per million tokens, as suite.yaml states them."""

USAGE = Usage(input_tokens=100, output_tokens=20)
COST_USD = 0.0003
"""What a call costs that uses `USAGE`, at `PRICE`: 100 tokens of $1 and 20 of $10 per million."""

_CASE = re.compile(r"Where is order ([a-z0-9-]+)\?")


def verdict(word: str, *, summary: str = "as it is") -> str:
    """Give a reply of the regression judge."""
    return dumps_text({"verdict": word, "summary": summary, "findings": []})


def grades(**passed: bool | None) -> str:
    """Give a reply of the rubric judge: the grade of each dimension."""
    return dumps_text(
        [
            {"dimensionId": name, "passed": grade, "reason": f"{name} is what it is"}
            for name, grade in passed.items()
        ]
    )


def scores(accuracy: float = 5, tone: float = 5, form: float = 5) -> str:
    """Give a reply of the axes judge."""
    return dumps_text({"accuracy": accuracy, "tone": tone, "format": form, "reasoning": "as it is"})


PASSES: Mapping[JudgeName, str] = {
    "regression": verdict("pass"),
    "rubric": grades(calm=True),
    "axes": scores(),
}
"""Replies that speak for the candidate, where the rubric has the one dimension `calm`."""

RUBRIC = """\
rubric:
  - id: calm
    question: Is it calm?
    passRubric: It is calm.
    failRubric: It is not calm.
"""


def judged_suite(*lines: str, judge: str = "", price: str = PRICE) -> str:
    """Give a suite.yaml whose judges ask `MODEL`.

    Args:
        lines: More of its lines.
        judge: More of its `judge` mapping, such as `axes: true, sample: 0.3`.
        price: What a token costs.
    """
    more = f", {judge}" if judge else ""
    return "\n".join(["name: shop", f'judge: {{model: "{MODEL}", price: {price}{more}}}', *lines, ""])


def judge_of(system: str) -> JudgeName:
    """Tell which judge asks, by its instructions."""
    if system == RUBRIC_INSTRUCTIONS:
        return "rubric"
    return "axes" if system.startswith("You score an assistant's answer") else "regression"


def asked_about(system: str, shown: str) -> Asked:
    """Tell case and judge of a question."""
    found = _CASE.search(shown)
    assert found is not None, "the question names no case"
    return found[1], judge_of(system)


Reply = str | ModelError
Replies = Reply | tuple[Reply, ...]
"""A reply to every question, or one after the other, the last one for ever; an error is how a call ends."""


class JudgeModel:
    """A judges' model.

    Attributes:
        replies: What it answers, by case and judge; where there is nothing it speaks for the candidate.
        requests: What it was sent, in order.
    """

    def __init__(self, replies: Mapping[Asked, Replies] | None = None) -> None:
        self.replies: Mapping[Asked, Replies] = replies or {}
        self.requests: list[ModelRequest] = []
        self._answered = Counter[Asked]()

    @property
    def provider_name(self) -> str:
        """The name that stands for its address."""
        return "ScriptedProvider"

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer as the table says.

        Raises:
            ModelError: Where the table has one.
        """
        self.requests.append(request)
        asked = asked_in(request)
        replies = self.replies.get(asked, PASSES[asked[1]])
        in_turn = replies if isinstance(replies, tuple) else (replies,)
        reply = in_turn[min(self._answered[asked], len(in_turn) - 1)]
        self._answered[asked] += 1
        if isinstance(reply, ModelError):
            raise reply
        return ModelReply(reply, usage=USAGE)

    @property
    def asked(self) -> Mapping[Asked, int]:
        """How often each judge asked about each case."""
        return Counter(asked_in(request) for request in self.requests)


def asked_in(request: ModelRequest) -> Asked:
    """Tell case and judge of a request."""
    return asked_about(request.system_prompt or "", shown_in(request))


def shown_in(request: ModelRequest) -> str:
    """Give what a request shows of the case."""
    (message,) = request.messages
    assert message["type"] == "message"
    return message["content"]


class JudgeServer:
    """A judges' model as the behaviour of an `OpenAIServer`.

    Attributes:
        answers: What it answers, by case and judge, one after the other, the last one for ever; a text is a
            reply, where there is nothing it speaks for the candidate.
        asked: How often each judge has asked about each case.
        arrivals: When each request came, by a clock that never goes back.
    """

    def __init__(self, answers: Mapping[Asked, Sequence[Answer]] | None = None) -> None:
        self.answers: Mapping[Asked, Sequence[Answer]] = answers or {}
        self.asked = Counter[Asked]()
        self.arrivals: list[float] = []
        self._lock = threading.Lock()

    def __call__(self, request: JsonObject, _: int) -> Answer:
        """Answer a request."""
        system, user = (message["content"] for message in request["messages"])
        asked = asked_about(system, user)
        with self._lock:
            self.arrivals.append(time.monotonic())
            number = self.asked[asked]
            self.asked[asked] += 1
        answers = self.answers.get(asked) or [says(PASSES[asked[1]])]
        return answers[min(number, len(answers) - 1)]

    def recover(self) -> None:
        """Speak for the candidate from here on, and forget what came."""
        self.answers = dict[Asked, Sequence[Answer]]()
        self.asked = Counter[Asked]()
        self.arrivals = []


def says(reply: str) -> Answer:
    """Answer with a reply, and the usual tokens."""
    return text(reply, counts=usage(USAGE.input_tokens, USAGE.output_tokens))
