"""Judges as a suite configures them: `judge` and `rubric` in its YAML files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, cast

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from regress_core.judge.instructions import REGRESSION_PROMPT_VERSION
from regress_core.judge.one_sentence import one_sentence
from regress_core.judge.projection import JudgeInputMode
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.wire import ConfigModel

MOST_TOKENS = 100_000_000

MOST_DIMENSIONS = 8
"""A longer rubric fills the judge's context and blurs what it is asked."""

_KEBAB_CASE = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
_AXIS_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)
_MODEL_NAME = re.compile(r"[^\s:]+:\S+")
_OUR_SETTINGS: Mapping[str, str] = {
    "max_tokens": "use max_output_tokens",
    "max_completion_tokens": "use max_output_tokens",
    "model": "use model",
    "n": "one reply is read",
    "stream": "one reply is read",
    "extra_body": "what it changes could cost more than is reserved",
    "extra_headers": "what it changes could cost more than is reserved",
    "timeout": "it is a setting of the machine, call_time_out_s",
}
"""Settings of models that are not for a suite to set, and why or what is instead."""


def not_blank(text: str) -> str:
    """Give a text that says something.

    Raises:
        ValueError: If it is empty or blank.
    """
    if not text.strip():
        raise ValueError("is empty")
    return text


def _dimension_id(text: str) -> str:
    if not _KEBAB_CASE.fullmatch(text):
        raise ValueError(f"{text[:80]!r} is no id; use a-z and 0-9 with single - between, at most 64 in all")
    return text


_Sentence = Annotated[str, AfterValidator(one_sentence)]


class RubricDimension(ConfigModel):
    """One yes-or-no question of a rubric. Each of its texts is one sentence.

    Attributes:
        id: Names the dimension in verdicts and sign-offs, in kebab-case; stays when a text is mended.
        question: What the judge answers.
        pass_rubric: What a pass looks like; `passRubric` in YAML.
        fail_rubric: What a fail looks like; `failRubric` in YAML.
    """

    id: Annotated[str, AfterValidator(_dimension_id)]
    question: _Sentence
    pass_rubric: _Sentence = Field(alias="passRubric")
    fail_rubric: _Sentence = Field(alias="failRubric")


def checked_rubric(dimensions: Sequence[RubricDimension]) -> tuple[RubricDimension, ...]:
    """Give the dimensions of one case, be they the suite's, its own or both.

    Raises:
        ValueError: If there are more than 8, or two with one id; says what to do.
    """
    if len(dimensions) > MOST_DIMENSIONS:
        raise ValueError(
            f"{len(dimensions)} dimensions, and a rubric has at most {MOST_DIMENSIONS}; "
            "prune them, or split the case in two"
        )
    _unique([dimension.id for dimension in dimensions], "dimensions")
    return tuple(dimensions)


Rubric = Annotated[tuple[RubricDimension, ...], Field(strict=False), AfterValidator(checked_rubric)]
"""The rubric of a suite or of a case. An empty one is none."""


def _unique(names: Sequence[str], what: str) -> None:
    for position, name in enumerate(names):
        if name in names[:position]:
            raise ValueError(f"two {what} are called {name}; rename or remove one")


AnchoredScore = Literal["1", "3", "5"]
_ANCHORED_SCORES: tuple[AnchoredScore, ...] = ("1", "3", "5")
_NotBlank = Annotated[str, AfterValidator(not_blank)]


def _axis_name(text: str) -> str:
    if not _AXIS_NAME.fullmatch(text) or text == "reasoning":
        raise ValueError(
            f"{text[:80]!r} is no axis name; use a-z, 0-9, _ and -, a letter first, at most 64, "
            "and not the word reasoning"
        )
    return text


def _anchored(anchors: Mapping[AnchoredScore, str]) -> Mapping[AnchoredScore, str]:
    missing = [score for score in _ANCHORED_SCORES if score not in anchors]
    if missing:
        raise ValueError(f"no anchor for {', '.join(missing)}; say what an answer with that score is like")
    return anchors


class AxisConfig(ConfigModel):
    """One axis of an answer's quality.

    Attributes:
        name: What the axis is called. A failed structure check forces the axis `format` to 1.
        description: What is looked at.
        anchors: What an answer is like that scores 1, 3 and 5.
    """

    name: Annotated[str, AfterValidator(_axis_name)]
    description: _NotBlank
    anchors: Annotated[Mapping[AnchoredScore, _NotBlank], AfterValidator(_anchored)]


DEFAULT_AXES = (
    AxisConfig(
        name="accuracy",
        description="Whether what the answer says is true and consistent, and does what the user asked for.",
        anchors={
            "5": "All of it is right, and nothing that the user asked for is missing.",
            "3": "Right in the main, with a small gap or a slip in the reasoning.",
            "1": "Wrong in what matters, made up, or apt to mislead.",
        },
    ),
    AxisConfig(
        name="tone",
        description="Whether it speaks as a good professional would: helpful, without flattery or disdain.",
        anchors={
            "5": "Sure of itself, direct and helpful, with no word too many.",
            "3": "Acceptable, though wordy, hesitant or more careful than it needs to be.",
            "1": "Full of apologies, dismissive, or unfit for a professional conversation.",
        },
    ),
    AxisConfig(
        name="format",
        description="Whether its structure and length suit its reader, or the program that parses it.",
        anchors={
            "5": "Well built and of the right length, with valid markup that can be parsed as it is.",
            "3": "The content is there, but badly laid out, such as with uneven lists or odd breaks.",
            "1": "One unbroken block, or required parts missing, or broken markup.",
        },
    ),
)
"""The axes of a suite that names none."""


def _axes(axes: tuple[AxisConfig, ...]) -> tuple[AxisConfig, ...]:
    if not axes:
        raise ValueError("no axis; name one, or leave the key out for the usual three")
    _unique([axis.name for axis in axes], "axes")
    return axes


class AxesConfig(ConfigModel):
    """The judge that scores the candidate's answer.

    Attributes:
        axes: What is scored, in place of accuracy, tone and format.
    """

    axes: Annotated[tuple[AxisConfig, ...], Field(strict=False), AfterValidator(_axes)] = DEFAULT_AXES


class RegressionConfig(ConfigModel):
    """The judge that compares two runs.

    Attributes:
        input_mode: How much of the records it is shown.
        prompt_version: The version of the suite's own instructions.
        instructions: The file of the suite's own instructions, relative to the suite's folder.
    """

    input_mode: JudgeInputMode = "bounded"
    prompt_version: _NotBlank | None = None
    instructions: _NotBlank | None = None

    @model_validator(mode="after")
    def _named_instructions(self) -> RegressionConfig:
        if self.prompt_version is not None and self.instructions is None:
            raise ValueError("prompt_version names own instructions; give these too, or leave it out")
        if self.prompt_version == REGRESSION_PROMPT_VERSION:
            raise ValueError(
                f"{REGRESSION_PROMPT_VERSION} is the version of other instructions; choose another"
            )
        return self


class PriceConfig(ConfigModel):
    """What a model costs, US dollars per million tokens.

    Attributes:
        input: Input tokens that no cache served.
        output: Output tokens.
        cache_read: Input tokens read from the provider's cache; as `input` when left out.
        cache_write: Input tokens written to it; as `input` when left out.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    cache_read: Annotated[float, Field(ge=0)] | None = None
    cache_write: Annotated[float, Field(ge=0)] | None = None


def _model_name(text: str) -> str:
    if not _MODEL_NAME.fullmatch(text):
        raise ValueError(f"{text[:80]!r} names no provider; write provider:model")
    return text


def _switched(value: JsonValue) -> JsonValue:
    """Read what may be a mapping, `true` for its defaults or `false` for none."""
    if isinstance(value, bool):
        return {} if value else None
    if value is None or isinstance(value, dict | ConfigModel):
        return cast("JsonValue", value)
    raise ValueError("give true, false or a mapping")


def _odd(count: int) -> int:
    if count % 2 == 0:
        raise ValueError(f"{count} is even, and verdicts could tie; give an odd number")
    return count


def _settings(settings: JsonObject) -> JsonObject:
    for name, reason in _OUR_SETTINGS.items():
        if name in settings:
            raise ValueError(f"{name} is not set here: {reason}")
    return settings


class JudgeConfig(ConfigModel):
    """`judge` of suite.yaml. The rubric judge is asked where there is a rubric.

    Attributes:
        model: Who judges, `provider:model`.
        regression: The judge that compares two runs; None (`false` in YAML) for none.
        axes: The judge that scores the answer; None for none, `true` in YAML for the usual axes.
        sample: Share of the cases that these judges are asked about, above 0 and up to 1.
        confirm_fail: Of how many verdicts the majority counts where the first one is a fail, an odd number.
        cap_usd: What the judges of one evaluation may cost, US dollars.
        price: What the model costs, where no public price is known or another one was agreed.
        timeout_minutes: After how long an evaluation is interrupted, to be resumed.
        max_output_tokens: Tokens of one reply at most.
        max_input_tokens: Tokens of one question at most, counted before it is sent: one for each byte of its
            UTF-8 text, since no tokenizer makes more of it.
        settings: More settings of the model; `temperature` is 0 unless given here, null leaves it out.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    model: Annotated[str, AfterValidator(_model_name)]
    regression: Annotated[RegressionConfig | None, BeforeValidator(_switched)] = RegressionConfig()
    axes: Annotated[AxesConfig | None, BeforeValidator(_switched)] = None
    sample: Annotated[float, Field(gt=0, le=1)] = 1.0
    confirm_fail: Annotated[int, Field(ge=1, le=9), AfterValidator(_odd)] = 1
    cap_usd: Annotated[float, Field(ge=0, le=1_000_000)] = 2.0
    price: PriceConfig | None = None
    timeout_minutes: Annotated[float, Field(gt=0)] = 10.0
    max_output_tokens: Annotated[int, Field(ge=1, le=MOST_TOKENS)] = 1024
    max_input_tokens: Annotated[int, Field(ge=1, le=MOST_TOKENS)] = 100_000
    settings: Annotated[JsonObject, AfterValidator(_settings)] = Field(default_factory=dict[str, JsonValue])

    @property
    def call_settings(self) -> JsonObject:
        """The settings of every call."""
        return {"temperature": 0, **self.settings, "max_tokens": self.max_output_tokens}
