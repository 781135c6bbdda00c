"""The rubric judge: yes-or-no questions about one run, all of them in one call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, TypeAdapter, ValidationError

from regress_core.judge.config import RubricDimension, not_blank
from regress_core.judge.data import DATA_RULE, as_data
from regress_core.judge.evidence import evidence_of
from regress_core.judge.outcome import JudgeName, JudgeOutcome, RubricVerdict, TokensUsed
from regress_core.judge.question import JudgeAnswer, JudgedCase, JudgeQuestion
from regress_core.judge.replies import the_one
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path, clean_text
from regress_core.records.model import Item, RunRecord
from regress_core.records.turn_groups import input_scope
from regress_core.records.wire import WireModel, first_fault

RUBRIC_PROMPT_VERSION = "rubric-judge.v1"
"""Changes with `RUBRIC_INSTRUCTIONS`, so that verdicts of one version were asked for in the same words."""

RUBRIC_INSTRUCTIONS = f"""\
You grade one recorded run of an assistant on a few dimensions. Each is a question with two rules: what a pass
looks like, and what a fail looks like.

{DATA_RULE}

The case holds: `systemPrompt`, the assistant's own instructions, where they were recorded; `given`, the
conversation that the run started from; `run`, what then was said and done, in order. Grade what the assistant
does in `run`; the rest is there to understand it. An entry with `tool` is a call by the assistant, the entry
with `outputOfCall` of the same number is what the call gave back. What is not in the case did not happen.

For each dimension decide by its two rules alone, whatever the other dimensions come to:
- true if the run is as the pass rule says,
- false if it is as the fail rule says, or if you cannot find what the pass rule asks for,
- null only if the question cannot arise in this run at all.
Give the reason in one sentence that names what in the run you rely on; do not repeat the rubric in it.

Answer each dimension that is listed, once, under its own id, and no others. Reply with a JSON list and
nothing else:
[{{"dimensionId": "...", "passed": true, "reason": "..."}}]"""

NOTHING_APPLIES = "no dimension of the rubric applies"
"""The flag of a verdict that says nothing, and is no pass."""


class _Grade(WireModel):
    """The answer to one dimension, as the model is asked to give it."""

    model_config = ConfigDict(strict=True, extra="ignore", validate_by_name=False)

    dimension_id: str
    passed: bool | None
    reason: Annotated[str, AfterValidator(not_blank)]


_GRADES = TypeAdapter(list[_Grade])


@dataclass(frozen=True, slots=True)
class RubricJudge:
    """Asks one model about all dimensions of a case at once.

    Attributes:
        model: Who is asked, `provider:model`.
        settings: Settings of the model.
        dimensions: The rubric of the case, one dimension at least.
        prompt_version: The version of the instructions.

    Raises:
        ValueError: If there is no dimension: without a rubric there is nothing to ask.
    """

    model: str
    settings: JsonObject
    dimensions: tuple[RubricDimension, ...]
    prompt_version: str = RUBRIC_PROMPT_VERSION

    def __post_init__(self) -> None:
        if not self.dimensions:
            raise ValueError("a rubric judge without a dimension")

    @property
    def name(self) -> JudgeName:
        """Which judge."""
        return "rubric"

    def question(self, case: JudgedCase) -> JudgeQuestion:
        """Ask about the candidate's run."""
        text = f"{as_data(_shown(case.asked.candidate))}\n\n{clean_text(_listed(self.dimensions))}"
        return JudgeQuestion(
            judge=self.name,
            model=self.model,
            prompt_version=self.prompt_version,
            system=RUBRIC_INSTRUCTIONS,
            text=text,
            settings=self.settings,
            input_mode="transcript",
            evidence={
                "case": evidence_of(case.asked),
                "rubric": [dimension.model_dump(by_alias=True) for dimension in self.dimensions],
            },
        )

    def verdict(self, case: JudgedCase, answer: JudgeAnswer) -> JudgeOutcome:  # noqa: ARG002 - the protocol's
        """Read a reply: one grade for each dimension, in the rubric's order.

        Raises:
            JudgeReplyError: If it is anything else.
        """
        grades = the_one(answer.text, self._grades, marks=["dimensionId", "passed"])
        tokens = None if answer.usage is None else TokensUsed.of(answer.usage)
        return _outcome(
            [
                RubricVerdict(
                    dimension_id=dimension.id,
                    passed=grades[dimension.id].passed,
                    reason=grades[dimension.id].reason,
                    judge_model=self.model,
                    judge_tokens_used=tokens,
                    dimension_hash=_hash_of(dimension),
                )
                for dimension in self.dimensions
            ]
        )

    def is_fail(self, outcome: JudgeOutcome) -> bool:
        """Tell whether any dimension failed."""
        return any(verdict.passed is False for verdict in outcome.dimensions or ())

    def majority(self, outcomes: Sequence[JudgeOutcome]) -> JudgeOutcome:
        """Give each dimension what most verdicts say of it; without such a majority it stays failed."""
        by_dimension = zip(*(outcome.dimensions or () for outcome in outcomes), strict=True)
        return _outcome([_voted(votes) for votes in by_dimension])

    def _grades(self, value: JsonValue) -> dict[str, _Grade]:
        try:
            listed = _GRADES.validate_python(value)
        except ValidationError as error:
            raise first_fault(error, value) from error
        ids = [dimension.id for dimension in self.dimensions]
        grades: dict[str, _Grade] = {}
        for position, grade in enumerate(listed):
            place = child_path(child_path("$", position), "dimensionId")
            if grade.dimension_id not in ids:
                raise JsonError(place, f"{grade.dimension_id!r} is no dimension of the rubric")
            if grade.dimension_id in grades:
                raise JsonError(place, f"{grade.dimension_id} is answered twice")
            grades[grade.dimension_id] = grade
        missing = [dimension for dimension in ids if dimension not in grades]
        if missing:
            raise JsonError("$", f"no answer for {', '.join(missing)}")
        return grades


def _hash_of(dimension: RubricDimension) -> str:
    """Give what changes with the words of a dimension, but not with its id."""
    return canonical_hash(dimension.model_dump(by_alias=True, exclude={"id"}))


def _outcome(verdicts: list[RubricVerdict]) -> JudgeOutcome:
    applies = any(verdict.passed is not None for verdict in verdicts)
    return JudgeOutcome(
        judge="rubric",
        state="verdict",
        dimensions=verdicts,
        flags=[] if applies else [NOTHING_APPLIES],
        advisory=True,
    )


def _voted(votes: Sequence[RubricVerdict]) -> RubricVerdict:
    """Give the first of the verdicts that win; its reason and tokens stay its own."""
    passed, count = Counter(vote.passed for vote in votes).most_common(1)[0]
    winning = passed if 2 * count > len(votes) else False
    return next(vote for vote in votes if vote.passed is winning)


def _listed(dimensions: Sequence[RubricDimension]) -> str:
    entries = [
        f"{number}. {dimension.id}: {dimension.question}\n"
        f"   Pass if: {dimension.pass_rubric}\n"
        f"   Fail if: {dimension.fail_rubric}"
        for number, dimension in enumerate(dimensions, start=1)
    ]
    return "\n".join(["Dimensions to grade:", *entries])


def _shown(record: RunRecord) -> JsonObject:
    """Give what the judge sees of a run: no ids and times, which differ between equal runs."""
    given = input_scope(record).items
    entries = _entries(record.items)
    before, after = entries[:given], entries[given:]
    if not any(entry.get("role") == "user" for entry in entries):
        before.append(_said("user", record.question))
    last = _said("assistant", record.response)
    if record.response and after[-1:] != [last]:
        after.append(last)
    snapshots = record.data["promptSnapshots"]
    prompt = snapshots[0].get("promptText") if snapshots else None
    system: JsonObject = {} if prompt is None else {"systemPrompt": prompt}
    return {**system, "given": before, "run": after}


def _entries(items: Sequence[Item]) -> list[JsonObject]:
    entries: list[JsonObject] = []
    calls = 0
    numbers: dict[str, int] = {}
    for item in items:
        if item["type"] == "message":
            entries.append(_said(item["role"], item["content"]))
        elif item["type"] == "tool_call_item":
            calls += 1
            numbers[item["callId"]] = calls
            entries.append({"call": calls, "tool": item["name"], "arguments": item.get("arguments", {})})
        else:
            entry = {"outputOfCall": numbers.get(item["callId"]), "output": item.get("output")}
            entries.append({**entry, "isError": True} if item.get("isError") else entry)
    return entries


def _said(role: str, text: str) -> JsonObject:
    return {"role": role, "text": text}
