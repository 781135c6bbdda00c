"""The formats that are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from regress_core.records.importers.aioc import is_aioc, read_aioc
from regress_core.records.importers.anthropic_messages import is_anthropic_messages, read_anthropic_messages
from regress_core.records.importers.chat import MESSAGES, is_openai_chat, read_openai_chat
from regress_core.records.importers.claude_code import is_claude_code, read_claude_code
from regress_core.records.importers.importing import Format
from regress_core.records.importers.inspect_ai import is_inspect, read_inspect
from regress_core.records.importers.openai_responses import is_openai_responses, read_openai_responses
from regress_core.records.importers.pydantic_ai_messages import is_pydantic_ai, read_pydantic_ai
from regress_core.records.importers.qa_log import QA_PATHS, QaPaths, is_qa_log, read_qa_log
from regress_core.records.importers.tau import is_tau, read_tau


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """What only some formats ask.

    Attributes:
        messages: Where the messages of `openai-chat` are, a dotted path.
        qa: Where the parts of `qa-log` are.
        trial: The one trial of each task of `tau`; all of them without it.
    """

    messages: str = MESSAGES
    qa: QaPaths = QA_PATHS
    trial: int | None = None


def known_formats(options: FormatOptions) -> Mapping[str, Format]:
    """Give the formats by name; of those that a file looks like, the first is what it is."""
    formats = (
        Format("aioc", read_aioc, is_aioc),
        Format("tau", partial(read_tau, trial=options.trial), is_tau),
        Format("inspect", read_inspect, is_inspect),
        Format("pydantic-ai", read_pydantic_ai, is_pydantic_ai),
        Format("claude-code", read_claude_code, is_claude_code),
        Format("openai-responses", read_openai_responses, is_openai_responses),
        Format("anthropic-messages", read_anthropic_messages, is_anthropic_messages),
        Format("openai-chat", partial(read_openai_chat, messages=options.messages), is_openai_chat),
        Format("qa-log", partial(read_qa_log, paths=options.qa), is_qa_log),
    )
    return {one.name: one for one in formats}
