"""Clients of language models: one protocol, a scripted client, and real providers behind an extra."""

from regress_core.models.client import ModelClient, ModelError, ModelReply, ModelRequest, ModelToolCall, Usage
from regress_core.models.scripted import FunctionClient, ScriptedClient

__all__ = [
    "FunctionClient",
    "ModelClient",
    "ModelError",
    "ModelReply",
    "ModelRequest",
    "ModelToolCall",
    "ScriptedClient",
    "Usage",
]
