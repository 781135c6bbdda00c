"""Hashes of prompts and requests, equal to the reference's, at a price that does not grow with the run.

The reference hashes the canonical JSON of the whole request each turn. Canonical JSON sorts keys, so that a
request's text begins with its messages; they only grow, so their hash is kept and fed the new ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from regress_core.models.client import ToolSpec
from regress_core.records.canonical import canonical_json, hash_text
from regress_core.records.json_io import JsonObject, clean_text
from regress_core.records.model import Item

SCHEMA_VERSION = "request-fingerprint.v1"


@lru_cache(maxsize=1024)
def prompt_hash(text: str) -> str:
    """Give the SHA-256 of a prompt's UTF-8 bytes, in hexadecimal; lone surrogates count as U+FFFD."""
    return hash_text(clean_text(text))


@dataclass(frozen=True, slots=True)
class Hashed:
    """A part of a request: its canonical text and that text's SHA-256."""

    text: str
    sha256: str


@lru_cache(maxsize=1024)
def hashed_text(text: str) -> Hashed:
    """Hash a text as a JSON string."""
    return _hashed(canonical_json(text))


def hashed_settings(settings: JsonObject | None) -> Hashed:
    """Hash model settings; none are as good as empty ones."""
    return _hashed(canonical_json(settings or {}))


def hashed_tools(tools: Sequence[ToolSpec]) -> Hashed:
    """Hash what the model is told of its tools."""
    entries = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools
    ]
    return _hashed(canonical_json(entries))


def _hashed(text: str) -> Hashed:
    return Hashed(text, hash_text(text))


class MessageHashes:
    """The hashes of a conversation that grows."""

    def __init__(self, messages: Sequence[Item]) -> None:
        self._messages = hashlib.sha256(b"[")
        self._request = hashlib.sha256(b'{"messages":[')
        self._count = 0
        for item in messages:
            self.add(item)

    def add(self, item: Item) -> None:
        """Take in the next item.

        Raises:
            ValueError: If it holds NaN or an infinity.
            TypeError: If it holds what JSON does not.
        """
        text = canonical_json(item).encode("utf-8")
        if self._count:
            text = b"," + text
        self._messages.update(text)
        self._request.update(text)
        self._count += 1

    def messages_hash(self) -> str:
        """Give the hash of the messages so far."""
        whole = self._messages.copy()
        whole.update(b"]")
        return whole.hexdigest()

    def request_hash(self, model: str, settings: Hashed, system_prompt: Hashed, tools: Hashed) -> str:
        """Give the hash of a request with the messages so far."""
        whole = self._request.copy()
        rest = (
            f'],"model":{hashed_text(model).text},"modelSettings":{settings.text},'
            f'"systemPrompt":{system_prompt.text},"tools":{tools.text}}}'
        )
        whole.update(rest.encode("utf-8"))
        return whole.hexdigest()
