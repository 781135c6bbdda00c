"""Asking the judges that a suite configures: within the cap, nothing twice, a fail again where wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from regress_core.calls.prices import NANOUSD, Price
from regress_core.calls.purse import CallPayload, PaidCall, Purse
from regress_core.calls.runner import CallRunner
from regress_core.calls.trouble import CapExceededError, TroubleError
from regress_core.foreign import error_text
from regress_core.journal.ledger import CallEntry, Ledger
from regress_core.judge.config import PriceConfig
from regress_core.judge.outcome import JudgeOutcome, no_verdict, skipped
from regress_core.judge.question import (
    JudgeAnswer,
    JudgedCase,
    JudgeQuestion,
    JudgeReplyError,
    ModelJudge,
)
from regress_core.models.client import ModelClient, ModelError, ModelReply, ModelRequest, checked_reply
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import dumps, loads_own

_MONEY = "decides whether a question is paid for, not what is answered"

IRRELEVANT_TO_VERDICTS: Mapping[str, str] = {
    "JudgeQuestion.text": "is made of the evidence, and has the runs' ids, which no verdict may depend on",
    "JudgeConfig.sample": "decides which cases are judged",
    "JudgeConfig.confirm_fail": "decides how many replies count; each is found by its number",
    "JudgeConfig.cap_usd": _MONEY,
    "JudgeConfig.price": _MONEY,
    "JudgeConfig.timeout_minutes": "decides how long replies are waited for",
    "JudgeConfig.max_input_tokens": "decides whether a question is sent, which is always sent whole",
    **dict.fromkeys([f"PriceConfig.{name}" for name in PriceConfig.model_fields], _MONEY),
}
"""What the cache's key leaves out, field by field, and why. All else that a judge is made of is in it."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks a model in the name of judges.

    Attributes:
        evaluation_id: The evaluation that pays.
        revision: Its revision.
        client: Sends one request at a time, without retries of its own.
        endpoint: Where the client sends them: the same model's name may mean another model elsewhere.
        runner: Limits, retries and tells trouble.
        ledger: Where calls are entered, and found again.
        purse: Pays for them.
        price: What the model costs; None where nobody knows.
        confirm_fail: Of how many verdicts the majority counts where the first one is a fail.
        max_input_tokens: What a question may take at most, counted as one token for each UTF-8 byte.
    """

    evaluation_id: str
    revision: int
    client: ModelClient
    endpoint: str
    runner: CallRunner
    ledger: Ledger
    purse: Purse
    price: Price | None
    confirm_fail: int
    max_input_tokens: int

    async def ask(self, judge: ModelJudge, case: JudgedCase) -> JudgeOutcome:
        """Ask a judge about a case.

        Returns:
            The verdict, or why there is none: whatever keeps the judge from one is no verdict, never a fail.
        """
        question = judge.question(case)
        evidence_hash = canonical_hash(question.evidence)
        entry = self._entry(question, case, evidence_hash)
        outcome, cached = await self._outcome(judge, case, question, entry)
        calls, cost_nanousd = self.ledger.made(entry)
        facts = {
            "model": question.model,
            "prompt_version": question.prompt_version,
            "input_mode": question.input_mode,
            "evidence_hash": evidence_hash,
            "cached": cached,
            "calls": calls,
            "cost_usd": cost_nanousd / NANOUSD,
        }
        return outcome.model_copy(update=facts)

    async def _outcome(
        self, judge: ModelJudge, case: JudgedCase, question: JudgeQuestion, entry: CallEntry
    ) -> tuple[JudgeOutcome, bool]:
        """Get a verdict, or as many as confirm a fail; and tell whether all are of earlier evaluations."""
        size = len((question.system + question.text).encode("utf-8"))
        if size > self.max_input_tokens:
            counted = f"{size} UTF-8 bytes, each counted as a token"
            reason = f"too long: {counted}, and max_input_tokens is {self.max_input_tokens}"
            return JudgeOutcome(judge=judge.name, state="skipped", reason=reason, advisory=True), False
        outcomes: list[JudgeOutcome] = []
        cached = True
        for number in range(1, self.confirm_fail + 1):
            one = await self._answered(judge, case, question, replace(entry, number=number))
            outcomes.append(one.outcome)
            cached = cached and one.cached
            if one.outcome.state != "verdict" or (number == 1 and not judge.is_fail(one.outcome)):
                break
        return _confirmed(judge, outcomes), cached

    async def _answered(
        self, judge: ModelJudge, case: JudgedCase, question: JudgeQuestion, entry: CallEntry
    ) -> _Answered:
        found = await self.ledger.find(entry)
        if found is None:
            outcome = await self._fresh(judge, case, question, entry)
            # The money that is missing here may have bought just this, by another process.
            found = await self.ledger.find(entry) if outcome.trouble == "cap" else None
            if found is None:
                return _Answered(outcome, cached=False)
        payload = CallPayload.from_json(loads_own(found.payload))
        own = found.entry.evaluation_id == self.evaluation_id
        if not own:
            await self.ledger.note_cached(entry, found, payload=found.payload)
        answer = JudgeAnswer(payload.text or "", payload.usage, payload.cut)
        return _Answered(_read(judge, case, answer), cached=not own)

    async def _fresh(
        self, judge: ModelJudge, case: JudgedCase, question: JudgeQuestion, entry: CallEntry
    ) -> JudgeOutcome:
        request = ModelRequest(
            model=question.model,
            system_prompt=question.system,
            messages=[{"type": "message", "role": "user", "content": question.text}],
            tools=(),
            settings=question.settings,
        )
        call = PaidCall(
            entry=entry,
            model=question.model,
            price=self.price,
            input_bytes=len(dumps([question.model, question.system, *request.messages, question.settings])),
            output_tokens=question.settings["max_tokens"],
            prompt_version=question.prompt_version,
            usable=lambda reply: _read(judge, case, _answer(reply)).state == "verdict",
        )

        async def send() -> ModelReply:
            return checked_reply(await self.client.complete(request))

        try:
            reply = await self.runner.run(send, stage="judge", charge=partial(self.purse.charge, call))
        except CapExceededError as error:
            return skipped(judge.name, error.trouble, trouble="cap")
        except TroubleError as error:
            return skipped(judge.name, error.trouble)
        except (ModelError, TypeError) as error:
            return no_verdict(judge.name, error_text(error))
        return _read(judge, case, _answer(reply))

    def _entry(self, question: JudgeQuestion, case: JudgedCase, evidence_hash: str) -> CallEntry:
        return CallEntry(
            evaluation_id=self.evaluation_id,
            purpose="judge",
            case_id=case.case_id,
            trial=case.trial,
            revision=self.revision,
            judge=question.judge,
            cache_key=cache_key(question, evidence_hash, case.case_id, case.trial, self.endpoint),
        )


@dataclass(frozen=True, slots=True)
class _Answered:
    outcome: JudgeOutcome
    cached: bool


def cache_key(question: JudgeQuestion, evidence_hash: str, case_id: str, trial: int, endpoint: str) -> str:
    """Give the SHA-256 of all that can change a verdict, case and trial included.

    Args:
        question: The question.
        evidence_hash: SHA-256 of its evidence.
        case_id: The case.
        trial: Counts from 1.
        endpoint: Where it is asked.
    """
    return canonical_hash(
        {
            "judge": question.judge,
            "model": question.model,
            "endpoint": endpoint,
            "prompt_version": question.prompt_version,
            "system": question.system,
            "settings": question.settings,
            "input_mode": question.input_mode,
            "evidence": evidence_hash,
            "case_id": case_id,
            "trial": trial,
        }
    )


def _answer(reply: ModelReply) -> JudgeAnswer:
    return JudgeAnswer(reply.text, reply.usage, reply.cut)


def _read(judge: ModelJudge, case: JudgedCase, answer: JudgeAnswer) -> JudgeOutcome:
    if answer.cut is not None:
        refused = answer.cut == "refusal"
        reason = "the model refused to answer" if refused else f"the reply was cut off ({answer.cut})"
        return no_verdict(judge.name, reason)
    try:
        return judge.verdict(case, answer)
    except JudgeReplyError as error:
        return no_verdict(judge.name, str(error))


def _confirmed(judge: ModelJudge, outcomes: list[JudgeOutcome]) -> JudgeOutcome:
    if len(outcomes) == 1:
        return outcomes[0]
    if outcomes[-1].state == "verdict":
        return judge.majority(outcomes)
    reason = f"it says fail, which could not be confirmed: {outcomes[-1].reason}"
    return outcomes[-1].model_copy(update={"reason": reason})
