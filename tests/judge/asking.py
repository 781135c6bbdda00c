"""Judges that are asked: about one case, with a real ledger, on virtual time."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from regress_core.calls.limits import CallLimits
from regress_core.calls.prices import Price
from regress_core.calls.purse import Purse
from regress_core.calls.runner import CallRunner
from regress_core.journal.ledger import CallRow, Ledger
from regress_core.judge.asker import Asker
from regress_core.judge.axes import AxesJudge
from regress_core.judge.config import RubricDimension
from regress_core.judge.contract import RunRegressionExpectation
from regress_core.judge.outcome import JudgeOutcome
from regress_core.judge.question import JudgedCase, ModelJudge
from regress_core.judge.regression import RegressionJudge
from regress_core.judge.rubric import RubricJudge
from regress_core.models.client import ModelClient, ModelError
from regress_core.records.json_io import JsonObject
from tests.calls.support import VirtualTime
from tests.judge.asked import judge_input
from tests.support.judges import MODEL, JudgeModel, Replies
from tests.support.records import record_json, tool_call, tool_output

ENDPOINT = "http://one.example/v1"
LISTED = Price(Decimal(1), Decimal(10))
SETTINGS: JsonObject = {"temperature": 0, "max_tokens": 100}
CALM = RubricDimension(
    id="calm", question="Is it calm?", passRubric="It is calm.", failRubric="It is not calm."
)
BRIEF = RubricDimension(
    id="brief", question="Is it brief?", passRubric="It is brief.", failRubric="It is long."
)
REGRESSION = RegressionJudge(MODEL, SETTINGS)
RUBRIC = RubricJudge(MODEL, SETTINGS, (CALM,))
AXES = AxesJudge(MODEL, SETTINGS)

OUTPUT_ONLY = Price(Decimal(0), Decimal(10))
"""A call may cost $0.001, for the 100 tokens that it may answer, and costs $0.0002."""

GARBAGE = "I cannot evaluate this."
DOWN = ModelError("outage", "it is down", status=503)


def run_record(**changes: Any) -> JsonObject:  # noqa: ANN401 - any field of a record
    items = [tool_call("c1", "find_order", arguments={"id": "a"}), tool_output("c1", output="sent")]
    return record_json(question="Where is order a?", items=items) | changes


def case_of(
    candidate: JsonObject | None = None,
    *,
    case_id: str = "a",
    trial: int = 1,
    expectation: RunRegressionExpectation | None = None,
) -> JudgedCase:
    asked = judge_input(run_record(), candidate or run_record(), expectation=expectation)
    return JudgedCase(case_id, trial, asked)


CASE = case_of()


@dataclass
class Place:
    """A ledger that all evaluations share, and the time they take."""

    ledger: Ledger
    time: VirtualTime = field(default_factory=VirtualTime)

    def asker(self, client: ModelClient, evaluation_id: str = "e1", **changes: Any) -> Asker:  # noqa: ANN401 - any field of an asker
        cap_usd = Decimal(str(changes.pop("cap_usd", 2)))
        facts: dict[str, Any] = {
            "evaluation_id": evaluation_id,
            "revision": 1,
            "client": client,
            "endpoint": ENDPOINT,
            "runner": CallRunner(CallLimits(attempts=1), clock=self.time.clock, random=lambda: 0.0),
            "ledger": self.ledger,
            "purse": Purse(self.ledger, cap_usd),
            "price": LISTED,
            "confirm_fail": 1,
            "max_input_tokens": 100_000,
        }
        return Asker(**(facts | changes))

    def ask(
        self,
        replies: Replies | ModelClient,
        evaluation_id: str = "e1",
        *,
        judge: ModelJudge = REGRESSION,
        case: JudgedCase = CASE,
        **changes: Any,  # noqa: ANN401 - any field of an asker
    ) -> JudgeOutcome:
        """Ask as a process of its own would."""
        client = replies if isinstance(replies, ModelClient) else JudgeModel({("a", judge.name): replies})
        return self.time.run(self.asker(client, evaluation_id, **changes).ask(judge, case))

    def calls(self, evaluation_id: str = "e1", revision: int = 1) -> list[CallRow]:
        return list(self.ledger.calls_of(evaluation_id, revision))
