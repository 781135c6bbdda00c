"""Recording a run: the run record, entry by entry, in the reference's shape."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, cast

from regress_core.foreign import error_text, passes_through, settled
from regress_core.harness.errors import name_in_record
from regress_core.harness.fingerprints import (
    SCHEMA_VERSION,
    MessageHashes,
    hashed_text,
    prompt_hash,
)
from regress_core.harness.policy import PolicyResult
from regress_core.harness.run_options import RecordOptions
from regress_core.harness.toolbox import Toolbox
from regress_core.harness.tools import as_json
from regress_core.ids import Clock
from regress_core.models.client import ModelRequest
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import Item, RunRecord, RunRecordJson

_log = logging.getLogger(__name__)

RECORDED_LISTS = (
    "promptSnapshots",
    "requestFingerprints",
    "policyDecisions",
    "suspendedProposals",
    "guardrailDecisions",
)
"""The lists of a record whose entries belong to a turn."""

_OPTIONAL_LISTS = ("suspendedProposals", "guardrailDecisions")


@cache
def runtime_version() -> str:
    """Give the name and version of this program, for request fingerprints."""
    try:
        return f"regress-{version('regress')}"
    except PackageNotFoundError:  # run from a source tree that is not installed
        return "regress"


def iso_time(moment: datetime) -> str:
    """Write a UTC time as the reference does: milliseconds and a Z."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def question_of(items: Sequence[Item]) -> str:
    """Give the question of an input: its user messages, trimmed, as paragraphs."""
    texts = (
        item["content"].strip() for item in items if item["type"] == "message" and item["role"] == "user"
    )
    return "\n\n".join(text for text in texts if text)


class Recorder:
    """Collects what one run does.

    Args:
        options: What to record.
        run_id: The run's id.
        question: What the run is asked.
        provider_name: The model client's name.
        clock: Gives the time.
        recorded: Entries of turns that the run does not make itself, by the name of their list.
    """

    def __init__(
        self,
        options: RecordOptions,
        run_id: str,
        question: str,
        provider_name: str,
        clock: Clock,
        recorded: dict[str, list[JsonObject]] | None = None,
    ) -> None:
        self.run_id = run_id
        self.response = ""
        self._options = options
        self._metadata: JsonValue = None
        self._question = question
        self._provider_name = provider_name
        self._clock = clock
        self._started_at = self.now()
        self._lists = {name: list((recorded or {}).get(name, ())) for name in RECORDED_LISTS}
        self._context: JsonValue = None
        self._context_redacted = options.context_redactor is not None

    def now(self) -> str:
        """Give the present time as records have it."""
        return iso_time(self._clock())

    async def begin(self, context: object) -> None:
        """Keep the metadata, and the context as it is at the start, redacted where the options say so.

        Raises:
            Exception: What the redactor raises, or that one of them is no JSON value; it is not kept then.
        """
        self._metadata = as_json(self._options.metadata)
        if self._options.context_redactor is not None:
            # Of a copy: what the redactor takes away the tools still need.
            context = await settled(self._options.context_redactor(as_json(context)))
        self._context = as_json(context)

    def prompt(
        self, *, turn: int, agent_name: str, model: str, prompt_version: str | None, text: str
    ) -> None:
        """Record the system prompt of a turn."""
        entry: JsonObject = {
            "timestamp": self.now(),
            "turn": turn,
            "agentName": agent_name,
            "model": model,
            "promptVersion": prompt_version,
            "promptHash": prompt_hash(text),
            "promptText": text if self._options.include_prompt_text else None,
        }
        self._add("promptSnapshots", entry)

    def request(
        self, *, turn: int, agent_name: str, request: ModelRequest, toolbox: Toolbox, messages: MessageHashes
    ) -> None:
        """Record the hashes of what is sent to the model in a turn."""
        prompt = hashed_text(request.system_prompt or "")
        settings, tools = toolbox.settings, toolbox.hashed
        self._lists["requestFingerprints"].append(
            {
                "timestamp": self.now(),
                "turn": turn,
                "agentName": agent_name,
                "providerName": self._provider_name,
                "model": request.model,
                "runtimeVersion": runtime_version(),
                "fingerprintSchemaVersion": SCHEMA_VERSION,
                "requestHash": messages.request_hash(request.model, settings, prompt, tools),
                "systemPromptHash": prompt.sha256,
                "messagesHash": messages.messages_hash(),
                "toolsHash": tools.sha256,
                "modelSettingsHash": settings.sha256,
                "messageCount": len(request.messages),
                "toolCount": len(request.tools),
            }
        )

    def policy(self, *, turn: int, call_id: str, kind: str, name: str, result: PolicyResult) -> None:
        """Record a policy's decision about a call or handoff."""
        entry: JsonObject = {
            "timestamp": self.now(),
            "turn": turn,
            "callId": call_id,
            "decision": result.decision,
            "reason": result.reason,
            "publicReason": result.public_reason,
            "resultMode": None if result.decision == "allow" else result.result_mode,
            "policyVersion": result.policy_version,
            "resource": {"kind": kind, "name": name},
            "expiresAt": result.expires_at,
            "metadata": result.metadata,
        }
        self._add("policyDecisions", entry)

    def proposal(self, entry: JsonObject) -> None:
        """Record a proposal that waits for approval."""
        self._lists["suspendedProposals"].append(entry)

    def guardrail(
        self, *, turn: int, name: str, triggered: bool, reason: str | None, metadata: JsonObject | None
    ) -> None:
        """Record what an output guardrail found."""
        entry: JsonObject = {
            "timestamp": self.now(),
            "turn": turn,
            "guardrailName": name,
            "decision": "triggered" if triggered else "pass",
            "reason": reason,
            "metadata": as_json(metadata),
        }
        self._add("guardrailDecisions", entry)

    def _add(self, name: str, entry: JsonObject) -> None:
        self._lists[name].append({key: value for key, value in entry.items() if value is not None})

    async def finish(
        self,
        *,
        agent_name: str,
        model: str | None,
        items: list[Item],
        input_item_count: int,
        error: Exception | None,
    ) -> RunRecord:
        """Give the record, after handing it to the application's sink."""
        record: dict[str, Any] = {
            "runId": self.run_id,
            "startedAt": self._started_at,
            "completedAt": self.now(),
            "status": "failed" if error else "completed",
            "agentName": agent_name,
            "providerName": self._provider_name,
            "model": model,
            "question": self._question,
            "response": self.response,
            "contextSnapshot": self._context,
            "contextRedacted": self._context_redacted,
            "items": items,
            "inputItemCount": input_item_count,
            **{
                name: None if name in _OPTIONAL_LISTS and not entries else entries
                for name, entries in self._lists.items()
            },
            "errorName": name_in_record(error) if error else None,
            "errorMessage": error_text(error) if error else None,
            "metadata": self._metadata,
        }
        nullable = ("contextSnapshot",)
        kept = {key: value for key, value in record.items() if value is not None or key in nullable}
        finished = RunRecord(cast("RunRecordJson", kept))
        await self._tell_sink(finished)
        return finished

    async def _tell_sink(self, record: RunRecord) -> None:
        if self._options.sink is None:
            return
        try:
            await settled(self._options.sink(record))
        except BaseException as error:
            if passes_through(error):
                raise
            _log.exception("the record sink failed; the run of %s is not affected", record.run_id)
