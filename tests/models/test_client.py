"""What a client's replies and errors say of tokens and money."""

from __future__ import annotations

from typing import Any

import pytest

from regress_core.models.client import ModelError, ModelErrorKind, ModelReply, Usage, checked_reply

# The kind, the HTTP status, whether nothing was sent for certain, and whether it may have cost.
COSTS: list[tuple[ModelErrorKind, int | None, bool, bool]] = [
    ("time-out", None, False, True),
    ("connection", None, False, True),
    ("outage", None, False, True),
    ("time-out", 408, False, False),
    ("outage", 503, False, False),
    ("time-out", None, True, False),
    ("connection", None, True, False),
    ("rate limit", None, False, False),
    ("quota", None, False, False),
    ("configuration", None, False, False),
    ("refused request", None, False, False),
]


@pytest.mark.parametrize(("kind", "status", "never_sent", "may"), COSTS)
def test_what_may_have_cost(kind: ModelErrorKind, status: int | None, *, never_sent: bool, may: bool) -> None:
    assert ModelError(kind, "no", status=status, never_sent=never_sent).may_have_cost is may


def test_an_error_may_have_been_sent_unless_it_says_not() -> None:
    assert ModelError("connection", "no").never_sent is False


@pytest.mark.parametrize("usage", [None, Usage(), Usage(1, 2, 3, 4)])
def test_a_reply_may_tell_its_usage(usage: Usage | None) -> None:
    assert checked_reply(ModelReply("a", usage=usage)) == ModelReply("a", (), usage)


@pytest.mark.parametrize("cut", [None, "length", "content filter", "refusal"])
def test_a_reply_may_be_cut(cut: str | None) -> None:
    assert checked_reply(ModelReply("a", cut=cut)) == ModelReply("a", cut=cut)


def test_why_a_reply_is_cut_is_a_text() -> None:
    odd: Any = 5

    with pytest.raises(TypeError, match="int in place of a text"):
        checked_reply(ModelReply("a", cut=odd))


def test_a_reply_without_usage_is_unmeasured() -> None:
    assert ModelReply("a").usage is None
