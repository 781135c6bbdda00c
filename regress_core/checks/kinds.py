"""The kinds of assertions, as suite.yaml and cases/<case>.yaml write them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from regress_core.checks.markdown import Element
from regress_core.checks.outcome import Severity
from regress_core.checks.wanted import CheckId, ContainedText, MatchedPattern, Schema, Words
from regress_core.records.json_schema import schema_validator
from regress_core.records.wire import ConfigModel

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


class _Assertion(ConfigModel):
    """Attributes of every assertion.

    Attributes:
        id: Names it within its case; made of its kind and subject when left out.
        severity: What the case comes to where it does not hold. A case that fails is shown to no judge.
    """

    id: CheckId | None = None
    severity: Severity = "fail"

    @property
    def subject(self) -> str:
        """What tells it from others of its kind."""
        return ""


class _AboutTool(_Assertion):
    """An assertion about the calls of a tool: its name, or a glob with regard to letter case."""

    tool: Words

    @property
    def subject(self) -> str:
        """The tool."""
        return self.tool

    def is_about(self, tool_name: str) -> bool:
        """Tell whether the tool is one of those that are meant."""
        return fnmatchcase(tool_name, self.tool)


class ToolCalled(_AboutTool):
    """The tool is called at least once."""

    kind: Literal["tool_called"]


class ToolNotCalled(_AboutTool):
    """The tool is not called."""

    kind: Literal["tool_not_called"]


class CallCount(_AboutTool):
    """The tool is called so often; both bounds are included, and one of them may be left out."""

    kind: Literal["call_count"]
    min: Annotated[int, Field(ge=0)] | None = None
    max: Annotated[int, Field(ge=0)] | None = Field(default=None, validate_default=True)

    @field_validator("max")
    @classmethod
    def _bounded(cls, most: int | None, info: ValidationInfo) -> int | None:
        least = info.data.get("min")
        if least is None and most is None:
            raise ValueError("give min, max or both")
        if least is not None and most is not None and least > most:
            raise ValueError(f"min, {least}, is above max, {most}")
        return most


class CallOrder(_Assertion):
    """Each of these tools is called, the first time after the first call of the one before it."""

    kind: Literal["call_order"]
    tools: Annotated[tuple[Words, ...], Field(min_length=2, strict=False)]

    @field_validator("tools")
    @classmethod
    def _each_once(cls, tools: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(tools)) < len(tools):
            raise ValueError("a tool stands twice; its first call cannot come after itself")
        return tools

    @property
    def subject(self) -> str:
        """The tools."""
        return "-".join(self.tools)


class Arguments(_AboutTool):
    """The arguments of every call of the tool fit a schema; no call at all is fine."""

    kind: Literal["arguments"]
    schema_: Schema = Field(alias="schema")

    @cached_property
    def validator(self) -> Validator:
        """Checks arguments against the schema."""
        return schema_validator(self.schema_)


class MaxTurns(_Assertion):
    """Tools are called in no more turns than this. The turn of the answer is none of them."""

    kind: Literal["max_turns"]
    turns: Annotated[int, Field(ge=0)]


class _AboutText(_Assertion):
    """An assertion about the response, or about all that the candidate said.

    Attributes:
        place: Where to look; `in` in the file.
    """

    place: Literal["response", "transcript"] = Field(default="response", alias="in")


class TextContains(_AboutText, ContainedText):
    """The text is there."""

    kind: Literal["text_contains"]

    @property
    def subject(self) -> str:
        """The text."""
        return self.text


class TextNotContains(_AboutText, ContainedText):
    """The text is not there."""

    kind: Literal["text_not_contains"]

    @property
    def subject(self) -> str:
        """The text."""
        return self.text


class TextMatches(_AboutText, MatchedPattern):
    """A regular expression matches."""

    kind: Literal["text_matches"]

    @property
    def subject(self) -> str:
        """The expression."""
        return self.pattern


class JsonAnswer(_Assertion):
    """The response is JSON, bare or in one fence, and fits the schema if there is one."""

    kind: Literal["json"]
    schema_: Schema | None = Field(default=None, alias="schema")

    @cached_property
    def validator(self) -> Validator | None:
        """Checks the value against the schema."""
        return None if self.schema_ is None else schema_validator(self.schema_)


class MarkdownAnswer(_Assertion):
    """The response is well-formed Markdown.

    Attributes:
        headings: Texts of headings that it has, of any level.
        require: Elements that it has.
    """

    kind: Literal["markdown"]
    headings: Annotated[tuple[Words, ...], Field(strict=False)] = ()
    require: Annotated[tuple[Element, ...], Field(strict=False)] = ()


Assertion = Annotated[
    ToolCalled
    | ToolNotCalled
    | CallCount
    | CallOrder
    | Arguments
    | MaxTurns
    | TextContains
    | TextNotContains
    | TextMatches
    | JsonAnswer
    | MarkdownAnswer,
    Field(discriminator="kind"),
]
"""What must hold of a run."""
