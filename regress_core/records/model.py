"""The run record: the audit of one run of an agent, in the reference's JSON shape.

The JSON value itself is what is kept, so that unknown fields and the order of keys survive; the TypedDicts
below are both its static types and the schema that it is validated against, once, at the edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, cast

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict  # pydantic asks for this one before Python 3.12

from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.wire import first_fault

# Unknown fields stay; types are not bent.
_open_to_more = with_config(ConfigDict(extra="allow", strict=True))

RunStatus = Literal["completed", "failed"]
Turn = Annotated[int, Field(ge=0)]


@_open_to_more
class MessageItem(TypedDict):
    """What somebody said."""

    type: Literal["message"]
    role: Literal["user", "assistant", "system"]
    content: str
    rawItem: NotRequired[Any]


@_open_to_more
class ToolCallItem(TypedDict):
    """A call that the model asked for; `arguments` as parsed, or the provider's text where it was kept."""

    type: Literal["tool_call_item"]
    callId: str
    name: str
    arguments: NotRequired[Any]
    rawItem: NotRequired[Any]


@_open_to_more
class ToolCallOutputItem(TypedDict):
    """What a call gave back: bare data or a tool result envelope. `isError`, ours, flags a tool error."""

    type: Literal["tool_call_output_item"]
    callId: str
    output: NotRequired[Any]
    isError: NotRequired[bool | None]
    rawItem: NotRequired[Any]


Item = MessageItem | ToolCallItem | ToolCallOutputItem


@_open_to_more
class PolicyResource(TypedDict):
    """What a policy decided about."""

    kind: Literal["tool", "handoff"]
    name: str
    action: NotRequired[str | None]
    resourceId: NotRequired[str | None]


@_open_to_more
class PolicyDecision(TypedDict):
    """One decision of a policy about one call."""

    timestamp: str
    turn: Turn
    callId: str
    decision: Literal["allow", "deny", "require_approval"]
    reason: str
    publicReason: NotRequired[str | None]
    resultMode: NotRequired[Literal["throw", "tool_result"] | None]
    policyVersion: NotRequired[str | None]
    resource: PolicyResource
    expiresAt: NotRequired[str | None]
    metadata: NotRequired[Any]


@_open_to_more
class GuardrailDecision(TypedDict):
    """One decision of an output guardrail."""

    timestamp: str
    turn: Turn
    guardrailName: str
    decision: Literal["pass", "triggered"]
    reason: NotRequired[str | None]
    metadata: NotRequired[Any]


@_open_to_more
class PromptSnapshot(TypedDict):
    """The system prompt of one turn, by hash, with its text where the record keeps it."""

    timestamp: str
    turn: Turn
    agentName: str
    model: NotRequired[str | None]
    promptVersion: NotRequired[str | None]
    promptHash: str
    promptText: NotRequired[str | None]


@_open_to_more
class RequestFingerprint(TypedDict):
    """Hashes of what was sent to the model in one turn."""

    timestamp: str
    turn: Turn
    agentName: str
    providerName: str
    model: str
    runtimeVersion: str
    fingerprintSchemaVersion: str
    requestHash: str
    systemPromptHash: str
    messagesHash: str
    toolsHash: str
    modelSettingsHash: str
    messageCount: Turn
    toolCount: Turn


@_open_to_more
class SuspendedProposal(TypedDict):
    """A call or handoff that waits for a person's approval; each kind has more fields of its own."""

    timestamp: str
    runId: str
    turn: Turn
    callId: str
    agentName: str
    proposalHash: str
    reason: str
    kind: Literal["tool", "handoff"]
    publicReason: NotRequired[str | None]
    policyVersion: NotRequired[str | None]
    expiresAt: NotRequired[str | None]
    metadata: NotRequired[Any]


@_open_to_more
class RunRecordJson(TypedDict):
    """A run record as JSON. Optional fields may be absent or null alike."""

    runId: str
    startedAt: str
    completedAt: str
    status: RunStatus
    agentName: str
    providerName: NotRequired[str | None]
    model: NotRequired[str | None]
    question: str
    response: str
    contextSnapshot: Any
    contextRedacted: NotRequired[bool | None]
    items: list[Annotated[Item, Field(discriminator="type")]]
    inputItemCount: NotRequired[int | None]
    promptSnapshots: list[PromptSnapshot]
    requestFingerprints: list[RequestFingerprint]
    policyDecisions: list[PolicyDecision]
    suspendedProposals: NotRequired[list[SuspendedProposal] | None]
    guardrailDecisions: NotRequired[list[GuardrailDecision] | None]
    errorName: NotRequired[str | None]
    errorMessage: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any] | None]


_SCHEMA = TypeAdapter(RunRecordJson)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One recorded run: a typed view on its JSON value, which is kept as it came.

    Make one with `RunRecord.parse`, which validates; the constructor trusts its caller.

    Attributes:
        data: The JSON value with every field that came, in the order it came. Not to be changed.
    """

    data: RunRecordJson

    @classmethod
    def parse(cls, value: JsonValue) -> RunRecord:
        """Validate a JSON value as a run record.

        Raises:
            JsonError: At the first field that is missing or of the wrong kind.
        """
        try:
            _SCHEMA.validate_python(value)
        except ValidationError as error:
            raise first_fault(error, value) from error
        return cls(cast("RunRecordJson", value))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> CoreSchema:
        """Let pydantic models hold records: validated from JSON values, written as they came."""
        return core_schema.no_info_plain_validator_function(
            lambda value: value if isinstance(value, cls) else cls.parse(value),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda record: record.data),
        )

    @property
    def run_id(self) -> str:
        """The id of the run."""
        return self.data["runId"]

    @property
    def status(self) -> RunStatus:
        """Whether the run came to its end."""
        return self.data["status"]

    @property
    def question(self) -> str:
        """What the user asked."""
        return self.data["question"]

    @property
    def response(self) -> str:
        """The final output."""
        return self.data["response"]

    @property
    def error_name(self) -> str | None:
        """The name of the error that ended a failed run."""
        return self.data.get("errorName")

    @property
    def error_message(self) -> str | None:
        """The message of the error that ended a failed run."""
        return self.data.get("errorMessage")

    @property
    def items(self) -> list[Item]:
        """Messages, tool calls and tool outputs, in order."""
        return self.data["items"]

    @property
    def policy_decisions(self) -> list[PolicyDecision]:
        """Every decision of a policy, in order."""
        return self.data["policyDecisions"]

    @property
    def metadata(self) -> JsonObject:
        """The application's metadata; empty when the record has none."""
        return self.data.get("metadata") or {}

    @property
    def regress_metadata(self) -> JsonObject:
        """What an importer noted (name, label, source, row, unrecorded). Never compared."""
        value = self.metadata.get("regress")
        return cast("JsonObject", value) if isinstance(value, dict) else {}

    @property
    def is_redacted(self) -> bool:
        """Whether something was hidden of it when it was imported: placeholders stand in its place."""
        return bool(self.regress_metadata.get("redacted"))

    @property
    def unrecorded(self) -> frozenset[str]:
        """The comparison sections that the source of this record cannot know."""
        names = self.regress_metadata.get("unrecorded")
        if not isinstance(names, list):
            return frozenset()
        return frozenset(name for name in cast("list[Any]", names) if isinstance(name, str))
