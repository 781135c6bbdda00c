"""Tokens, counted one way whatever way a format counts them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from regress_core.records.json_io import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of a run's model calls.

    Attributes:
        input: Of the input, without those of the two caches.
        output: Of the output, reasoning among it.
        cache_read: Of the input, read from the provider's cache.
        cache_write: Of the input, written to it.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )

    def to_json(self) -> JsonObject:
        """Give the JSON object a record's provenance keeps."""
        return {
            "inputTokens": self.input,
            "outputTokens": self.output,
            "cacheReadTokens": self.cache_read,
            "cacheWriteTokens": self.cache_write,
        }


def with_cache_inside(
    input_tokens: JsonValue, output: JsonValue, cache_read: JsonValue = None, cache_write: JsonValue = None
) -> TokenUsage | None:
    """Read counts whose input tokens hold those of the caches, as OpenAI's do; None without any count."""
    found = with_cache_apart(input_tokens, output, cache_read, cache_write)
    if found is None:
        return None
    apart = max(0, found.input - found.cache_read - found.cache_write)
    return TokenUsage(apart, found.output, found.cache_read, found.cache_write)


def with_cache_apart(
    input_tokens: JsonValue, output: JsonValue, cache_read: JsonValue = None, cache_write: JsonValue = None
) -> TokenUsage | None:
    """Read counts that have the caches apart, as Anthropic's do; None without any count."""
    counts = [_count(value) for value in (input_tokens, output, cache_read, cache_write)]
    if all(count is None for count in counts):
        return None
    return TokenUsage(*(count or 0 for count in counts))


def total(usages: Iterable[TokenUsage | None]) -> TokenUsage | None:
    """Add up what is known; None where nothing is."""
    known = [usage for usage in usages if usage is not None]
    return sum(known[1:], known[0]) if known else None


def _count(value: JsonValue) -> int | None:
    """Read a count of tokens; these are notes, so an odd value is no fault."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and value >= 0 else None


def with_cache_by_total(
    input_tokens: JsonValue,
    output: JsonValue,
    cache_read: JsonValue = None,
    cache_write: JsonValue = None,
    *,
    total_tokens: JsonValue,
) -> TokenUsage | None:
    """Read counts of a format that has it both ways: the total says which, inside where it does not."""
    apart = with_cache_apart(input_tokens, output, cache_read, cache_write)
    if apart is None:
        return None
    in_all = _count(total_tokens)
    cached = apart.cache_read + apart.cache_write
    if cached and in_all == apart.input + apart.output + cached:
        return apart
    return with_cache_inside(input_tokens, output, cache_read, cache_write)
