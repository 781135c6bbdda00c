"""Living with code that is not ours: what adapters, tools and judges may raise, and what their errors say."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable
from typing import TypeVar, cast

T = TypeVar("T")


def passes_through(error: BaseException) -> bool:
    """Tell whether an error is not the foreign code's own: Ctrl-C, or a cancellation that was asked for.

    Anything else that foreign code raises is a fact about it, SystemExit and the like included, which would
    otherwise end the program and all the other cases with it.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    return isinstance(error, KeyboardInterrupt | GeneratorExit)


async def settled(value: Awaitable[T] | T) -> T:
    """Give what a function came to that may be async or not."""
    return await value if inspect.isawaitable(value) else cast("T", value)


def error_text(error: BaseException) -> str:
    """Give an error's message; the name of its type where it cannot even say that."""
    try:
        return str.__str__(str(error))  # of a class of its own a plain text
    except Exception:  # noqa: BLE001 - the error's own __str__ is foreign code too
        return type(error).__name__
