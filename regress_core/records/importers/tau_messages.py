"""Messages of the tau benchmarks as chat messages: what the agent saw, said and did.

In tau2-bench the simulated user has tools of its own, which the agent never sees. The user's calls, their
outputs and what the user then says are one message of the user, with the originals in its `messages`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from regress_core.records.importers.chat_messages import read_transcript
from regress_core.records.importers.transcripts import Transcript
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path


@dataclass(frozen=True, slots=True)
class _Placed:
    """A message, and where it stands in the source."""

    path: str
    value: JsonValue

    @property
    def members(self) -> JsonObject:
        """The members of the message; none when it is no object."""
        value: JsonValue = self.value
        return cast("JsonObject", value) if isinstance(value, dict) else {}

    @property
    def is_of_users_tools(self) -> bool:
        """Whether it is a call of the user's, the output of one, or a user's message that says nothing."""
        message = self.members
        match message.get("role"):
            case "user":
                return bool(message.get("tool_calls")) or message.get("content") is None
            case "tool":
                return message.get("requestor") == "user"
            case _:
                return False


def read_tau_messages(messages: JsonValue, path: str, *, ticket: str | None) -> Transcript:
    """Read the messages of a run.

    Args:
        messages: The messages.
        path: Where they stand in the run.
        ticket: What an agent without a user is asked to do: the first item where no user says anything.

    Raises:
        JsonError: If it is no list, or a message in it has an unknown role or lacks what is needed.
    """
    if not isinstance(messages, list):
        raise JsonError(path, "no list of messages")
    placed = list(_as_the_agent_saw(_flat(cast("list[JsonValue]", messages), path)))
    try:
        transcript = read_transcript([message.value for message in placed], path)
    except JsonError as error:
        raise _at_the_source(error, placed, path) from error
    if transcript.user_items or ticket is None:
        return transcript
    asked: JsonObject = {"type": "message", "role": "user", "content": ticket}
    return replace(transcript, items=[asked, *transcript.items], user_items=[0])


def _flat(messages: list[JsonValue], path: str) -> Iterator[_Placed]:
    """Take groups of tool messages apart; what a group has, each message in it has unless it says other."""
    for index, value in enumerate(messages):
        message = _Placed(child_path(path, index), value)
        if "tool_messages" not in message.members:
            yield message
            continue
        group = {key: child for key, child in message.members.items() if key != "tool_messages"}
        outputs, outputs_path = message.members["tool_messages"], child_path(message.path, "tool_messages")
        if not isinstance(outputs, list):
            raise JsonError(outputs_path, "no list of messages")
        for number, output in enumerate(cast("list[JsonValue]", outputs)):
            whole = {**group, **cast("JsonObject", output)} if isinstance(output, dict) else output
            yield _Placed(child_path(outputs_path, number), whole)


def _as_the_agent_saw(messages: Iterator[_Placed]) -> Iterator[_Placed]:
    """Put what the user does with tools together with what the user says next."""
    unseen: list[_Placed] = []
    for message in messages:
        if message.is_of_users_tools:
            unseen.append(message)
        elif unseen and message.members.get("role") == "user":
            yield _one_message([*unseen, message])
            unseen = []
        else:
            if unseen:
                yield _one_message(unseen)
                unseen = []
            yield message
    if unseen:
        yield _one_message(unseen)


def _one_message(messages: list[_Placed]) -> _Placed:
    texts: list[str] = []
    for message in messages:
        content = message.members.get("content")
        if message.members.get("role") != "user" or content is None:
            continue
        if not isinstance(content, str):
            raise JsonError(child_path(message.path, "content"), "no text")
        texts.append(content)
    value = {
        "role": "user",
        "content": "\n".join(text for text in texts if text),
        "messages": [message.value for message in messages],
    }
    return _Placed(messages[0].path, value)


def _at_the_source(error: JsonError, placed: list[_Placed], path: str) -> JsonError:
    """Name the message of the source, since those that were read may stand elsewhere in their list."""
    for index, message in enumerate(placed):
        read = child_path(path, index)
        if error.path.startswith(read):
            return JsonError(message.path + error.path.removeprefix(read), error.reason)
    return error
