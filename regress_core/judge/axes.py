"""The axes judge: scores from 1 to 5 of the candidate's answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from regress_core.checks.structure import structure_failed
from regress_core.judge.config import DEFAULT_AXES, AxisConfig, not_blank
from regress_core.judge.data import DATA_RULE, as_data
from regress_core.judge.evidence import evidence_of
from regress_core.judge.outcome import AxisScore, JudgeName, JudgeOutcome
from regress_core.judge.question import JudgeAnswer, JudgedCase, JudgeQuestion
from regress_core.judge.replies import the_one
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path, clean_text

AXES_PROMPT_VERSION = "axes-judge.v1"
"""Changes with the words of `axes_instructions`, the default axes included."""

LOWEST, HIGHEST = 1, 5

_STRUCTURE_AXIS = "format"

_SCORING = f"""\
You score an assistant's answer to a question on the axes below, from {LOWEST} to {HIGHEST}.

{DATA_RULE}

The case holds the `question` and the `answer`. Score the answer as it stands, on each axis for nothing but
what the axis names, so that a weakness is counted once. The anchors say what {LOWEST}, 3 and {HIGHEST} mean;
an answer between two of them gets a number between, fractions such as 3.5 included."""


def axes_instructions(axes: Sequence[AxisConfig]) -> str:
    """Write the instructions of the judge that scores these axes."""
    criteria = [
        "\n".join(
            [
                f"{axis.name}: {axis.description}",
                *(f"  {score}: {text}" for score, text in sorted(axis.anchors.items(), reverse=True)),
            ]
        )
        for axis in axes
    ]
    members = [f'"{axis.name}": number' for axis in axes]
    reply = f'{{{", ".join(members)}, "reasoning": string}}'
    last = f"Reply with one JSON object and nothing else; the reasoning says why, axis by axis:\n{reply}"
    return clean_text("\n\n".join([_SCORING, *criteria, last]))


def axes_prompt_version(axes: Sequence[AxisConfig]) -> str:
    """Name the version of the instructions; a suite's own axes are part of it, by their hash."""
    if tuple(axes) == DEFAULT_AXES:
        return AXES_PROMPT_VERSION
    return f"{AXES_PROMPT_VERSION}+{canonical_hash([axis.model_dump() for axis in axes])[:8]}"


@dataclass(frozen=True, slots=True)
class AxesJudge:
    """Asks one model to score the candidate's answer; it is shown the question and the answer only.

    Attributes:
        model: Who is asked, `provider:model`.
        settings: Settings of the model.
        axes: What is scored.
        prompt_version: The version of the instructions, as `axes_prompt_version` gives it.
    """

    model: str
    settings: JsonObject
    axes: tuple[AxisConfig, ...] = DEFAULT_AXES
    prompt_version: str = AXES_PROMPT_VERSION

    @property
    def name(self) -> JudgeName:
        """Which judge."""
        return "axes"

    def question(self, case: JudgedCase) -> JudgeQuestion:
        """Ask about the candidate's answer."""
        candidate = case.asked.candidate
        return JudgeQuestion(
            judge=self.name,
            model=self.model,
            prompt_version=self.prompt_version,
            system=axes_instructions(self.axes),
            text=as_data({"question": candidate.question, "answer": candidate.response}),
            settings=self.settings,
            input_mode="answer",
            evidence={
                "case": evidence_of(case.asked),
                "axes": [axis.model_dump() for axis in self.axes],
            },
        )

    def verdict(self, case: JudgedCase, answer: JudgeAnswer) -> JudgeOutcome:
        """Read a reply: a score for each axis, and the reasoning.

        A check of the answer's structure that did not pass forces `format` to 1, whatever the judge says.

        Raises:
            JudgeReplyError: If it is anything else.
        """
        marks = [*(axis.name for axis in self.axes), "reasoning"]
        scores, reasoning = the_one(answer.text, self._scores, marks=marks)
        broken = structure_failed(case.checks)
        return JudgeOutcome(
            judge="axes",
            state="verdict",
            axes=[_axis_score(name, score, broken=broken) for name, score in scores.items()],
            reasoning=reasoning,
            advisory=True,
        )

    def is_fail(self, outcome: JudgeOutcome) -> bool:  # noqa: ARG002 - the protocol's
        """Never: a score is not confirmed."""
        return False

    def majority(self, outcomes: Sequence[JudgeOutcome]) -> JudgeOutcome:
        """Give the first verdict, which is the only one, since none is confirmed."""
        return outcomes[0]

    def _scores(self, value: JsonValue) -> tuple[dict[str, float], str]:
        if not isinstance(value, dict):
            raise JsonError("$", "an object with a score for each axis is wanted")
        members = cast("JsonObject", value)
        names = [axis.name for axis in self.axes]
        for key in members:
            if key not in (*names, "reasoning"):
                raise JsonError(child_path("$", key), "no axis of the suite")
        missing = [name for name in (*names, "reasoning") if name not in members]
        if missing:
            raise JsonError("$", f"no {', '.join(missing)}")
        return {name: _score(name, members[name]) for name in names}, _reasoning(members["reasoning"])


def _score(name: str, value: JsonValue) -> float:
    # In Python a bool is an int; as a score it is none.
    if type(value) not in (int, float) or not LOWEST <= value <= HIGHEST:
        raise JsonError(
            child_path("$", name), f"a number from {LOWEST} to {HIGHEST} is wanted, not {value!r}"
        )
    return float(value)


def _reasoning(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise JsonError("$.reasoning", "text is wanted")
    return not_blank(value)


def _axis_score(name: str, score: float, *, broken: bool) -> AxisScore:
    if broken and name == _STRUCTURE_AXIS:
        return AxisScore(axis=name, score=float(LOWEST), judged=score)
    return AxisScore(axis=name, score=score)
