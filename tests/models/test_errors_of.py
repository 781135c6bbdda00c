"""Which exceptions are provider trouble, by the look of them."""

from __future__ import annotations

import asyncio
import http.client
import socket
import ssl
import urllib.error
from collections.abc import Mapping
from datetime import UTC, datetime
from email.message import Message

import httpx2
import pytest
from pydantic_ai.exceptions import ModelHTTPError, UnexpectedModelBehavior, UserError

from regress_core.models.client import ModelError, ModelErrorKind
from regress_core.models.errors_of import model_error_of, one_line

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _class(name: str, *bases: type[Exception]) -> type[Exception]:
    """Make an exception class of a library that is not there."""
    return type(name, bases or (Exception,), {})


def _with(error: Exception, **attributes: object) -> Exception:
    for name, value in attributes.items():
        setattr(error, name, value)
    return error


class _Response:
    def __init__(self, status_code: int, headers: Mapping[str, str] | None = None) -> None:
        self.status_code = status_code
        self.headers = headers or {}


def _status(status: int, **more: object) -> Exception:
    return _with(_class("SomeStatusError")("it went wrong"), status_code=status, **more)


BY_LOOK: list[tuple[str, Exception, ModelErrorKind, int | None]] = [
    ("401", _status(401), "configuration", 401),
    ("402", _status(402), "quota", 402),
    ("403", _status(403), "configuration", 403),
    ("404", _status(404), "configuration", 404),
    ("408", _status(408), "time-out", 408),
    ("400", _status(400), "refused request", 400),
    ("409", _status(409), "refused request", 409),
    ("422", _status(422), "refused request", 422),
    ("429", _status(429), "rate limit", 429),
    ("500", _status(500), "outage", 500),
    ("529", _status(529), "outage", 529),
    ("599", _status(599), "outage", 599),
    ("the response's", _with(Exception(), response=_Response(503)), "outage", 503),
    ("aiohttp's", _with(Exception(), status=429), "rate limit", 429),
    (
        "botocore's",
        _with(Exception(), response={"ResponseMetadata": {"HTTPStatusCode": 429}, "Error": {}}),
        "rate limit",
        429,
    ),
    ("quota by code", _status(429, code="insufficient_quota"), "quota", 429),
    ("quota by body", _status(429, body={"error": {"code": "insufficient_quota"}}), "quota", 429),
    ("quota by type", _status(400, body={"type": "billing_error"}), "quota", 400),
    ("unknown model by code", _status(400, code="model_not_found"), "configuration", 400),
    ("a wrong key by code", _status(400, body={"code": "invalid_api_key"}), "configuration", 400),
    ("a code without a status", _with(Exception(), code="rate_limit_exceeded"), "rate limit", None),
    ("a class of pydantic-ai's", _class("X", _class("ModelServerError"))(), "outage", None),
    ("its class beats the status", _with(_class("ModelQuotaExceededError")(), status_code=400), "quota", 400),
    ("the most special class", _class("APITimeoutError", _class("APIConnectionError"))(), "time-out", None),
    ("a base class", _with(_class("ModelAPIError")(), status_code=418), "refused request", 418),
    ("only a base class", _class("ModelAPIError")("no JSON"), "outage", None),
    ("Python's time-out", TimeoutError(), "time-out", None),
    ("refused", ConnectionRefusedError(111, "Connection refused"), "connection", None),
    ("reset", ConnectionResetError(), "connection", None),
    ("no such host", socket.gaierror(-2, "Name or service not known"), "connection", None),
    ("a certificate", ssl.SSLCertVerificationError(), "connection", None),
    ("http.client", http.client.IncompleteRead(b""), "connection", None),
    ("urllib", urllib.error.URLError("no route"), "connection", None),
    ("urllib's status", urllib.error.HTTPError("http://x", 503, "no", Message(), None), "outage", 503),
    ("requests", _class("ConnectTimeout", _class("ConnectionError"))(), "time-out", None),
    ("httpx", httpx2.ReadTimeout("slow"), "time-out", None),
    ("httpx's connection", httpx2.RemoteProtocolError("cut"), "connection", None),
    ("pydantic-ai", ModelHTTPError(429, "m", {"code": "x"}), "rate limit", 429),
]


@pytest.mark.parametrize(
    ("raised", "kind", "status"), [pytest.param(*case[1:], id=case[0]) for case in BY_LOOK]
)
def test_trouble_is_told_by_its_look(raised: Exception, kind: ModelErrorKind, status: int | None) -> None:
    found = model_error_of(raised)

    assert found is not None
    assert (found.kind, found.status) == (kind, status)
    assert found.message.isprintable()


NO_TROUBLE: list[tuple[str, BaseException]] = [
    ("a fault of the agent", KeyError("order")),
    ("a file", FileNotFoundError("order.json")),
    ("no rights to a file", PermissionError("order.json")),
    ("a status that is none", _with(Exception(), status_code=200)),
    ("a status that is a text", _with(Exception(), status_code="500")),
    ("a flag", _with(Exception(), status=True)),
    ("an exit code", _with(Exception(), code=500)),
    ("another code", _with(Exception(), code="e3q8")),
    ("a hint to wait", _with(Exception(), retry_after=3)),
    ("a model that misbehaves", UnexpectedModelBehavior("no tool of that name")),
    ("a misuse", UserError("no such tool")),
    ("a cancellation", asyncio.CancelledError()),
    ("an interrupt", KeyboardInterrupt()),
]


@pytest.mark.parametrize("raised", [pytest.param(case[1], id=case[0]) for case in NO_TROUBLE])
def test_what_is_no_trouble(raised: BaseException) -> None:
    assert model_error_of(raised) is None


def _linked(
    *, cause: BaseException | None = None, context: BaseException | None = None, suppressed: bool = False
) -> Exception:
    """Give an exception of the agent's own that was raised from, or while handling, another one."""
    error = ValueError("the agent gave up")
    error.__cause__, error.__context__, error.__suppress_context__ = cause, context, suppressed
    return error


def _circle() -> Exception:
    first = _linked()
    first.__cause__ = _linked(cause=first)
    return first


CHAINS: list[tuple[str, Exception, ModelErrorKind | None]] = [
    ("no chain", _linked(), None),
    ("a cause", _linked(cause=_status(503)), "outage"),
    ("a cause of a cause", _linked(cause=_linked(cause=_status(503))), "outage"),
    ("while handling", _linked(context=_status(503)), "outage"),
    ("suppressed", _linked(context=_status(503), suppressed=True), None),
    ("another cause", _linked(cause=KeyError("a"), context=_status(503), suppressed=True), None),
    ("a group", ExceptionGroup("tasks", [KeyError("a"), _status(503)]), "outage"),
    ("a group in a group", ExceptionGroup("a", [ExceptionGroup("b", [_status(503)])]), "outage"),
    ("a cause in a group", ExceptionGroup("a", [_linked(cause=_status(503))]), "outage"),
    ("a group without", ExceptionGroup("a", [KeyError("a"), ValueError("b")]), None),
    ("a circle", _circle(), None),
    ("the outermost", _with(_status(429), __cause__=_status(503)), "rate limit"),
    ("the first of a group", ExceptionGroup("a", [_status(503), _status(429)]), "outage"),
    (
        "members before causes",
        _with(ExceptionGroup("a", [_status(429)]), __cause__=_status(503)),
        "rate limit",
    ),
]


@pytest.mark.parametrize(("raised", "kind"), [pytest.param(*case[1:], id=case[0]) for case in CHAINS])
def test_trouble_behind_another_exception(raised: Exception, kind: ModelErrorKind | None) -> None:
    found = model_error_of(raised)

    assert (found and found.kind) == kind


# Whether it is certain that no request was sent.
NEVER_SENT: list[tuple[str, Exception, bool]] = [
    ("refused", ConnectionRefusedError(111, "Connection refused"), True),
    ("no such host", socket.gaierror(-2, "Name or service not known"), True),
    ("a certificate", ssl.SSLCertVerificationError(), True),
    ("some TLS error", ssl.SSLError(), False),
    ("httpx cannot connect", httpx2.ConnectError("refused"), True),
    ("httpx cannot connect in time", httpx2.ConnectTimeout("slow"), True),
    ("httpx finds no free connection", httpx2.PoolTimeout("busy"), True),
    ("httpx waits for an answer", httpx2.ReadTimeout("slow"), False),
    ("httpx is cut off", httpx2.ReadError("cut"), False),
    ("requests", _class("ConnectTimeout", _class("ConnectionError"))(), True),
    ("Python's time-out", TimeoutError(), False),
    ("reset", ConnectionResetError(), False),
    ("an answer with a status", _status(503, __cause__=ConnectionRefusedError()), False),
    ("a wrapper says nothing", _class("APIConnectionError")(), False),
    (
        "a wrapper's cause does",
        _with(_class("APIConnectionError")(), __cause__=httpx2.ConnectError("refused")),
        True,
    ),
    (
        "a wrapper's cause's cause does",
        _with(
            _class("ModelConnectionError")(),
            __cause__=_with(_class("APITimeoutError")(), __cause__=httpx2.ConnectTimeout("slow")),
        ),
        True,
    ),
    (
        "the outer one does, of two attempts",
        _with(httpx2.ReadTimeout("slow"), __context__=httpx2.ConnectError("refused")),
        False,
    ),
    (
        "while it was being cut off a host was not found",
        _with(
            _class("APIConnectionError")(), __cause__=_with(BrokenPipeError(), __cause__=socket.gaierror())
        ),
        False,
    ),
]


@pytest.mark.parametrize(("raised", "never"), [pytest.param(*case[1:], id=case[0]) for case in NEVER_SENT])
def test_what_was_never_sent(raised: Exception, *, never: bool) -> None:
    found = model_error_of(raised)

    assert found is not None
    assert found.never_sent is never


def test_our_own_error_is_given_back() -> None:
    ours = ModelError("quota", "no money")

    assert model_error_of(ours) is ours
    assert model_error_of(ExceptionGroup("tasks", [ours])) is ours


WAITS: list[tuple[str, Exception, float | None]] = [
    ("none", _status(429), None),
    ("its own header", _status(429, headers={"retry-after": "7"}), 7),
    ("the response's header", _status(429, response=_Response(429, {"Retry-After": "8"})), 8),
    (
        "a date",
        _status(503, response=_Response(503, {"Retry-After": "Thu, 01 Jan 2026 00:00:09 GMT"})),
        9,
    ),
    ("milliseconds", _status(429, headers={"retry-after-ms": "1500"}), 1.5),
    ("from the body", _status(429, retry_after=14.5), 14.5),
    ("a header before the body", _status(429, retry_after=14.5, headers={"retry-after": "7"}), 7),
    ("headers that are none", _status(429, headers=["retry-after", "7"]), None),
]


@pytest.mark.parametrize(("raised", "seconds"), [pytest.param(*case[1:], id=case[0]) for case in WAITS])
def test_the_wait_that_is_asked_for(raised: Exception, seconds: float | None) -> None:
    found = model_error_of(raised, clock=lambda: NOW)

    assert found is not None
    assert found.retry_after_s == seconds


# The exception, and the whole message.
MESSAGES: list[tuple[str, Exception, str]] = [
    (
        "the provider's words",
        _status(500, body={"error": {"message": "The server\nhad an  error"}}),
        "the provider failed to answer (500): The server had an error",
    ),
    (
        "words of another shape",
        _status(429, body={"message": "Slow down"}),
        "the provider limits the rate of requests (429): Slow down",
    ),
    ("a page", _status(502, body="<h1>Bad</h1>"), "the provider failed to answer (502): <h1>Bad</h1>"),
    ("no words", _status(500), "the provider failed to answer (500)"),
    (
        "a code",
        _status(429, code="insufficient_quota", body={"code": "insufficient_quota"}),
        "the account at the provider has no quota left (429 insufficient_quota)",
    ),
    (
        "never the words about a key",
        _status(401, body={"error": {"message": "Incorrect key hunter2"}}),
        (
            "the provider does not know this key, model or address (401); "
            "check the API key, its rights, the model's name and the base URL"
        ),
    ),
    (
        "no provider spoke",
        ConnectionRefusedError(111, "Connection refused"),
        "the connection to the provider failed: [Errno 111] Connection refused",
    ),
    ("silence", TimeoutError(), "the provider did not answer in time"),
]


@pytest.mark.parametrize(("raised", "message"), [pytest.param(*case[1:], id=case[0]) for case in MESSAGES])
def test_the_message(raised: Exception, message: str) -> None:
    found = model_error_of(raised)

    assert found is not None
    assert str(found) == message


def test_a_secret_never_gets_into_a_message() -> None:
    raised = _status(
        400, body={"message": "header Authorization: hunter2-and-more is no key, nor is hunter2"}
    )

    found = model_error_of(raised, secrets=["hunter2", "", "hunter2-and-more"])

    assert found is not None
    assert found.message.endswith(": header Authorization: [key] is no key, nor is [key]")


LINES: list[tuple[str, str, str]] = [
    ("white space", " a\n\tb  c\r\n", "a b c"),
    ("an OpenAI key", "the key sk-proj-AbC123_x is wrong", "the key [key] is wrong"),
    ("a masked key", "provided: sk-ab****************wxyz.", "provided: [key]"),
    ("a Google key", "AIzaSyA-1234567890 is wrong", "[key] is wrong"),
    ("a header", "Authorization: Bearer abc.def", "Authorization: [key]"),
    ("an address", "http://x/v1?key=abc123&a=1", "http://x/v1?key=[key]&a=1"),
    ("no key", "the task-list and api_key=... stay", "the task-list and api_key=... stay"),
    ("as long as may be", "x" * 300, "x" * 300),
    ("too long", "x" * 301, "x" * 299 + "…"),
]


@pytest.mark.parametrize(("words", "line"), [pytest.param(*case[1:], id=case[0]) for case in LINES])
def test_words_on_one_line(words: str, line: str) -> None:
    assert one_line(words) == line
