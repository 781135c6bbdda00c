"""Which exceptions mean that a provider gave no answer, and why.

The clients' libraries are not imported for it: an application's own agent may use any of them. What decides
are an exception's HTTP status, its error codes, and the names of its classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from regress_core.ids import Clock, utc_now
from regress_core.models.client import ModelError, ModelErrorKind
from regress_core.models.retry_after import retry_after_s

_KIND_OF_NAME: Mapping[str, ModelErrorKind] = {
    # pydantic-ai, which knows the error codes of every provider it has
    "ModelQuotaExceededError": "quota",
    "ModelRateLimitError": "rate limit",
    "ModelAuthenticationError": "configuration",
    "ModelNotFoundError": "configuration",
    "ModelRequestRejectedError": "refused request",
    "ModelUnavailableError": "outage",
    "ModelServerError": "outage",
    "ModelRequestTimeout": "time-out",
    "ModelTimeoutError": "time-out",
    "ModelConnectionError": "connection",
    # openai, anthropic, groq
    "APITimeoutError": "time-out",
    "APIConnectionError": "connection",
    "APIResponseValidationError": "outage",
    # Python, httpx, httpx2, requests, urllib, urllib3, aiohttp, botocore
    "TimeoutError": "time-out",
    "Timeout": "time-out",
    "ConnectTimeout": "time-out",
    "ReadTimeout": "time-out",
    "WriteTimeout": "time-out",
    "PoolTimeout": "time-out",
    "ConnectTimeoutError": "time-out",
    "ReadTimeoutError": "time-out",
    "ConnectionError": "connection",
    "gaierror": "connection",
    "SSLError": "connection",
    "ConnectError": "connection",
    "ReadError": "connection",
    "WriteError": "connection",
    "CloseError": "connection",
    "ProxyError": "connection",
    "RemoteProtocolError": "connection",
    "ProtocolError": "connection",
    "IncompleteRead": "connection",
    "ClientConnectionError": "connection",
    "ClientPayloadError": "connection",
    "EndpointConnectionError": "connection",
}

# Whether a request may have reached the provider, as far as a class tells; first that of the outermost.
_MAY_HAVE_BEEN_SENT: Mapping[str, bool] = {
    # No connection was made. Python, httpx, httpx2, requests, urllib3, aiohttp, botocore
    "gaierror": False,
    "ConnectionRefusedError": False,
    "SSLCertVerificationError": False,
    "ConnectError": False,
    "ConnectTimeout": False,
    "PoolTimeout": False,
    "ConnectTimeoutError": False,
    "NewConnectionError": False,
    "ClientConnectorError": False,
    "ConnectionTimeoutError": False,
    "EndpointConnectionError": False,
    # One was.
    "ConnectionResetError": True,
    "ConnectionAbortedError": True,
    "BrokenPipeError": True,
    "ReadError": True,
    "ReadTimeout": True,
    "ReadTimeoutError": True,
    "WriteError": True,
    "WriteTimeout": True,
    "CloseError": True,
    "RemoteProtocolError": True,
    "IncompleteRead": True,
    "ClientPayloadError": True,
    "ServerDisconnectedError": True,
}

_KIND_OF_CODE: Mapping[str, ModelErrorKind] = {
    # https://platform.openai.com/docs/guides/error-codes; `billing_error` is Anthropic's
    "insufficient_quota": "quota",
    "billing_hard_limit_reached": "quota",
    "billing_error": "quota",
    "rate_limit_exceeded": "rate limit",
    "invalid_api_key": "configuration",
    "model_not_found": "configuration",
}

_KIND_OF_STATUS: Mapping[int, ModelErrorKind] = {
    401: "configuration",
    402: "quota",  # Payment Required: how several providers say that the balance is used up
    403: "configuration",
    404: "configuration",
    408: "time-out",  # Request Timeout: the server's own
    429: "rate limit",
}

# What is left of these when neither a status nor a code says more: an answer that could not be read.
_KIND_OF_BASE_NAME: Mapping[str, ModelErrorKind] = {"URLError": "connection", "ModelAPIError": "outage"}

_WORDS: Mapping[ModelErrorKind, str] = {
    "rate limit": "the provider limits the rate of requests",
    "quota": "the account at the provider has no quota left",
    "outage": "the provider failed to answer",
    "time-out": "the provider did not answer in time",
    "connection": "the connection to the provider failed",
    "configuration": "the provider does not know this key, model or address",
    "refused request": "the provider refused the request",
}

_REMEDY = "check the API key, its rights, the model's name and the base URL"

_LONGEST = 300
"""Characters of a provider's own words in a message; some answer with a whole web page."""

# What keys look like, half masked ones too, and where they stand in addresses and headers.
_KEY_LIKE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|r8)[-_][\w*.-]{4,}"
    r"|\bAIza[\w-]{8,}"
    r"|\bBearer\s+\S+"
    r"|(?:(?<=[?&]key=)|(?<=[?&]api_key=)|(?<=[?&]api-key=))[^&\s'\"]+",
    re.IGNORECASE,
)


def model_error_of(
    error: BaseException, *, secrets: Iterable[str] = (), clock: Clock = utc_now
) -> ModelError | None:
    """Find the provider trouble in an exception, if there is any.

    The exception itself is looked at first, then the members of a group, then what it was raised from, or
    while handling (unless `from None` suppressed that).

    Args:
        error: What was raised.
        secrets: Texts that must not get into the message; what looks like an API key never does.
        clock: Gives the time that a Retry-After date is counted from.

    Returns:
        The same trouble as a `ModelError` with a one-line message; None if no provider is to blame, and for
        what is no `Exception`, such as a cancellation.
    """
    if not isinstance(error, Exception):
        return None
    for one in _with_causes(error):
        if isinstance(one, ModelError):
            return one
        kind = _kind_of(one)
        if kind is not None:
            return ModelError(
                kind,
                _message(kind, one, secrets),
                status=_status_of(one),
                retry_after_s=_retry_after_of(one, clock()),
                never_sent=_never_sent(one),
            )
    return None


def one_line(text: str, secrets: Iterable[str] = ()) -> str:
    """Put somebody else's words on one line of bounded length, without secrets and what looks like a key."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):  # a longer one may hold a shorter one
        text = text.replace(secret, "[key]")
    text = " ".join(_KEY_LIKE.sub("[key]", text).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if one.__cause__ is not None:
            waiting.append(one.__cause__)
        elif one.__context__ is not None and not one.__suppress_context__:
            waiting.append(one.__context__)
        if isinstance(one, BaseExceptionGroup):
            waiting.extend(reversed(cast("BaseExceptionGroup[BaseException]", one).exceptions))


def _kind_of(error: BaseException) -> ModelErrorKind | None:
    status = _status_of(error)
    names = [cls.__name__ for cls in type(error).__mro__]  # the most special first
    return (
        _first(_KIND_OF_NAME, names)
        or _first(_KIND_OF_CODE, _codes_of(error))
        or _kind_of_status(status)
        or _first(_KIND_OF_BASE_NAME, names)
    )


def _first(kinds: Mapping[str, ModelErrorKind], names: Iterable[str]) -> ModelErrorKind | None:
    return next((kinds[name] for name in names if name in kinds), None)


def _kind_of_status(status: int | None) -> ModelErrorKind | None:
    if status is None:
        return None
    return _KIND_OF_STATUS.get(status) or ("outage" if status >= 500 else "refused request")


def _status_of(error: BaseException) -> int | None:
    response: object = getattr(error, "response", None)
    candidates: list[object] = [
        getattr(error, "status_code", None),
        getattr(error, "status", None),
        getattr(response, "status_code", None),
        _member(_member(response, "ResponseMetadata"), "HTTPStatusCode"),  # botocore
    ]
    if type(error).__module__.partition(".")[0] == "google":  # elsewhere an integer `code` is no HTTP status
        candidates.append(getattr(error, "code", None))
    return next((one for one in candidates if isinstance(one, int) and 400 <= one <= 599), None)


def _never_sent(error: BaseException) -> bool:
    """Tell whether certainly no request was sent; a library's own class often leaves that to its causes."""
    for one in _with_causes(error):
        if _status_of(one) is not None:
            return False
        for cls in type(one).__mro__:
            if cls.__name__ in _MAY_HAVE_BEEN_SENT:
                return not _MAY_HAVE_BEEN_SENT[cls.__name__]
    return False


def _codes_of(error: BaseException) -> list[str]:
    body: object = getattr(error, "body", None)
    codes: list[object] = [
        getattr(error, name, None) for name in ("provider_error_code", "provider_error_type", "code", "type")
    ]
    for part in (body, _member(body, "error")):
        codes += [_member(part, "code"), _member(part, "type")]
    return [code for code in codes if isinstance(code, str)]


def _member(value: object, key: str) -> object:
    return cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None


def _retry_after_of(error: BaseException, now: datetime) -> float | None:
    for holder in (error, getattr(error, "response", None)):
        headers: object = getattr(holder, "headers", None)
        if isinstance(headers, Mapping):
            wait = retry_after_s(cast("Mapping[str, str]", headers), now)
            if wait is not None:
                return wait
    wait = getattr(error, "retry_after", None)  # pydantic-ai: read from the body where there is no header
    return float(wait) if isinstance(wait, int | float) else None


def _message(kind: ModelErrorKind, error: BaseException, secrets: Iterable[str]) -> str:
    status = _status_of(error)
    code = next((code for code in _codes_of(error) if code in _KIND_OF_CODE), None)
    facts = " ".join(str(fact) for fact in (status, code) if fact is not None)
    text = f"{_WORDS[kind]} ({facts})" if facts else _WORDS[kind]
    if kind == "configuration":
        # Not the provider's own words: it may repeat the key, in whatever shape.
        return f"{text}; {_REMEDY}"
    said = one_line(_said_by(error, with_status=status is not None), secrets)
    return f"{text}: {said}" if said else text


def _said_by(error: BaseException, *, with_status: bool) -> str:
    """Give the provider's words, or where no provider spoke those of the innermost cause."""
    if not with_status:
        return next((text for text in map(str, reversed([*_with_causes(error)])) if text.strip()), "")
    body: object = getattr(error, "body", None)
    inner = _member(body, "error")
    words = (_member(inner, "message"), inner, _member(body, "message"), _member(body, "detail"), body)
    return next((text for text in words if isinstance(text, str)), "")
