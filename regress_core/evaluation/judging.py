"""The judge step of a trial: checks first, then the judges there are reasons to ask."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

from regress_core.calls.runner import CallRunner
from regress_core.checks.outcome import CheckResult
from regress_core.checks.run import run_checks
from regress_core.compare.comparison import compare_run_records
from regress_core.compare.model import Comparison
from regress_core.errors import InputError
from regress_core.evaluation.candidate import CandidateSource
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.ports import Ports
from regress_core.evaluation.spending import Prices, purse_of
from regress_core.judge.asker import Asker
from regress_core.judge.asking import ask_judge
from regress_core.judge.config import JudgeConfig, RubricDimension
from regress_core.judge.contract import RunJudgeInput, RunRegressionExpectation
from regress_core.judge.judges import model_judges
from regress_core.judge.outcome import JudgeName, JudgeOutcome, left_out, no_verdict
from regress_core.judge.question import JudgedCase, ModelJudge
from regress_core.judge.time_limit import JudgeTime
from regress_core.models.client import ModelClient, ModelError
from regress_core.models.pydantic_ai import PydanticAIClient
from regress_core.records.json_io import JsonError, JsonValue
from regress_core.records.model import RunRecord
from regress_core.records.redact import RedactConfig, Redactor
from regress_core.suite.config import SUITE_FILE
from regress_core.suite.judged import Judged
from regress_core.suite.loading import CaseRef
from regress_core.suite.signoffs import signed


@dataclass(frozen=True, slots=True)
class Pair:
    """What is judged.

    Attributes:
        baseline: The accepted record that the candidate's was compared with.
        candidate: The candidate's record.
        comparison: How they compare.
        replay_miss: Whether the candidate asked for an output that the baseline does not have.
    """

    baseline: RunRecord
    candidate: RunRecord
    comparison: Comparison
    replay_miss: bool = False


class Judging:
    """Checks and judges of one evaluation.

    Args:
        plan: The plan.
        source: The candidate, which may bring an application's judge.
        asker: Asks the judges that suite.yaml configures; None where it configures none.
        time_out_s: Seconds that an application's judge may take for a case.
    """

    def __init__(
        self, plan: EvaluationPlan, source: CandidateSource, asker: Asker | None, time_out_s: float
    ) -> None:
        self._suite = plan.suite
        self._source = source
        self._asker = asker
        self._time_out_s = time_out_s
        config = plan.suite.config.judge
        self._time = JudgeTime(60 * config.timeout_minutes if config else 0)

    async def of(self, case: CaseRef, trial: int, pair: Pair) -> Judged:
        """Check a candidate's run, and have it judged unless it has failed already.

        Raises:
            JudgeTimeUpError: If the judges of the evaluation have taken too long.
        """
        expectation = self._suite.expectation
        requirements = self._suite.requirements_of(case)
        checks = run_checks(
            requirements.checks,
            pair.candidate,
            should_use=(expectation and expectation.should_use_tools) or (),
            should_avoid=(expectation and expectation.should_avoid_tools) or (),
        )
        judges = self._model_judges(requirements.rubric)
        outcomes = await self._judged(case, trial, pair, checks, judges)
        verdicts = next((one.dimensions for one in outcomes if one.dimensions is not None), None)
        rubric = None if verdicts is None else signed(verdicts, case.case_id, self._suite.signoffs)
        return Judged(checks, tuple(outcomes), rubric)

    async def _judged(
        self,
        case: CaseRef,
        trial: int,
        pair: Pair,
        checks: tuple[CheckResult, ...],
        judges: Sequence[ModelJudge],
    ) -> list[JudgeOutcome]:
        application = self._source.judge
        names: list[JudgeName] = [*(["regression"] if application else []), *(one.name for one in judges)]
        if not names:
            return []
        failure = _failure(pair, checks)
        if failure is not None:
            return [left_out(name, failure) for name in names]
        try:
            asked = self._input(pair)
        except JsonError as error:
            reason = f"the redacted record is no run record: {error}"
            return [no_verdict(name, reason) for name in names]
        outcomes = [] if application is None else [await ask_judge(application, asked, self._time_out_s)]
        if self._asker is not None:
            judged = JudgedCase(case.case_id, trial, asked, checks)
            outcomes += [await self._asked(self._asker, judge, judged) for judge in judges]
        return outcomes

    async def _asked(self, asker: Asker, judge: ModelJudge, case: JudgedCase) -> JudgeOutcome:
        sample = self._suite.config.judge.sample if self._suite.config.judge else 1.0
        if not in_sample(case.case_id, sample):
            return left_out(judge.name, f"not in the sample of {sample:g}")
        async with self._time.counted():
            return await asker.ask(judge, case)

    def _model_judges(self, rubric: tuple[RubricDimension, ...]) -> list[ModelJudge]:
        """Give the judges that suite.yaml configures; an application's judge takes the place of ours."""
        config = self._suite.config.judge
        if config is None:
            return []
        judges = model_judges(config, rubric, self._suite.judge_instructions)
        return [one for one in judges if one.name != "regression" or self._source.judge is None]

    def _input(self, pair: Pair) -> RunJudgeInput:
        """Give what a judge may look at, redacted as the suite says.

        Raises:
            JsonError: If the suite hides so much that no run record is left.
        """
        # Without validation, which would walk through both records.
        asked = RunJudgeInput.model_construct(
            baseline=pair.baseline,
            candidate=pair.candidate,
            comparison=pair.comparison,
            expectation=self._suite.expectation,
            baseline_descriptor=self._suite.baseline_descriptor,
            candidate_descriptor=self._source.descriptor,
        )
        config = self._suite.config.redact
        return asked if config is None else self._redacted(asked, config)

    def _redacted(self, asked: RunJudgeInput, config: RedactConfig) -> RunJudgeInput:
        records = [asked.baseline.data, asked.candidate.data]
        expectation = None if asked.expectation is None else asked.expectation.to_json()
        # In lists, into which no path leads: paths are those of records.
        besides = [[expectation], [asked.baseline_descriptor], [asked.candidate_descriptor]]
        # One for all, so that equal values stay equal.
        redactor = Redactor(config, ahead=[*records, *besides])
        baseline, candidate = (RunRecord.parse(redactor.redact(value)) for value in records)
        wanted, old, new = (cast("list[JsonValue]", redactor.redact(value))[0] for value in besides)
        return RunJudgeInput.model_construct(
            baseline=baseline,
            candidate=candidate,
            # Compared anew: the comparison's own values stand at other paths than the record's.
            comparison=compare_run_records(baseline, candidate, self._source.options),
            expectation=None if wanted is None else RunRegressionExpectation.from_json(wanted),
            baseline_descriptor=old,
            candidate_descriptor=new,
        )


def _failure(pair: Pair, checks: Sequence[CheckResult]) -> str | None:
    """Say why a case fails already, so that no verdict could mend it; None if it does not."""
    if pair.candidate.status == "failed":
        return "the candidate failed"
    if pair.replay_miss:
        return "the candidate diverged"
    return "a check has failed" if any(check.outcome == "fail" for check in checks) else None


def in_sample(case_id: str, share: float) -> bool:
    """Tell whether a case is in a sample of that share; the same cases each time, whatever else there is."""
    place = int.from_bytes(hashlib.sha256(case_id.encode("utf-8")).digest()[:8], "big") / 2**64
    return place < share


@asynccontextmanager
async def open_judging(
    plan: EvaluationPlan, ports: Ports, source: CandidateSource
) -> AsyncGenerator[Judging]:
    """Open the judges of an evaluation; no model has been asked before the first case.

    Raises:
        InputError: If suite.yaml and the adapter both bring a regression judge, or a model is to be asked and
            what asks it is not installed.
    """
    config = plan.suite.config.judge
    time_out_s = ports.limits.run_time_out_s
    if config is None:
        yield Judging(plan, source, None, time_out_s)
        return
    if source.judge is not None and config.regression is not None and "regression" in config.model_fields_set:
        message = "the adapter's create_judge gives a regression judge too"
        raise InputError(message, file=SUITE_FILE, field="judge.regression", remedy="name one of them")
    if ports.judge_client is not None:
        client = ports.judge_client
        yield Judging(plan, source, _asker(plan, ports, config, client, client.provider_name), time_out_s)
        return
    async with PydanticAIClient() as client:
        check_model(client, config)
        yield Judging(plan, source, _asker(plan, ports, config, client, client.base_url or ""), time_out_s)


def _asker(
    plan: EvaluationPlan, ports: Ports, config: JudgeConfig, client: ModelClient, endpoint: str
) -> Asker:
    ledger = ports.journal.ledger(ports.clock)
    return Asker(
        evaluation_id=plan.evaluation_id,
        revision=plan.revision,
        client=client,
        endpoint=endpoint,
        # Not the candidate's: trouble of one model's provider says nothing of the other's.
        runner=CallRunner(ports.limits),
        ledger=ledger,
        purse=purse_of(ledger, config.cap_usd),
        price=Prices(config.price, ports.clock).of(config.model),
        confirm_fail=config.confirm_fail,
        max_input_tokens=config.max_input_tokens,
    )


def check_model(client: PydanticAIClient, config: JudgeConfig) -> str | None:
    """Make sure that the settings of a suite's judges can be sent to their model.

    Returns:
        Why the model cannot be asked as things are, such as a missing key; that is no fault of the suite.

    Raises:
        InputError: If a setting is at fault.
    """
    try:
        client.check(config.model, config.call_settings)
    except ModelError as error:
        if error.kind == "configuration":
            return error.message
        raise InputError(error.message, file=SUITE_FILE, field="judge.settings") from error
    return None
