"""Between a run's event loop and the threads and loops in which an agent of your own may work."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

from regress_core.foreign import settled

T = TypeVar("T")


class _Outcome:
    """What a function came to. Raised in a coroutine only: no future takes a StopIteration."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._value: Any = None
        self._error: BaseException | None = None
        try:
            self._value = function()
        except BaseException as error:  # noqa: BLE001 - passed on to the thread that waits for it
            self._error = error

    async def give(self) -> Any:  # noqa: ANN401 - the function's own
        """Give what the function gave, or raise what it raised."""
        if self._error is not None:
            raise self._error
        return self._value


async def in_own_thread(function: Callable[[], T]) -> T:
    """Run a function in a thread that is made for it, and wait for it.

    Not in the loop's pool of threads: a function that hangs would hold a place there for good, and the end of
    the program would wait for it.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_Outcome] = loop.create_future()
    context = contextvars.copy_context()

    def finish(outcome: _Outcome) -> None:
        if not done.done():
            done.set_result(outcome)

    def work() -> None:
        outcome = _Outcome(lambda: context.run(function))
        with suppress(RuntimeError):  # the loop is closed, so that nobody waits any more
            loop.call_soon_threadsafe(finish, outcome)
        _close_loop_of_thread()

    threading.Thread(target=work, name="agent", daemon=True).start()
    return await (await done).give()


async def call_apart(function: Callable[..., object], *arguments: object) -> object:
    """Call a function that may be async or not; one that is not runs in a thread of its own."""
    if inspect.iscoroutinefunction(function):
        return await settled(function(*arguments))
    return await settled(await in_own_thread(lambda: function(*arguments)))


def _close_loop_of_thread() -> None:
    """Close the event loop that a library may have made for this thread to run something to its end."""
    try:
        loop = asyncio.get_event_loop()
    except RuntimeError:  # there is none
        return
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def post(loop: asyncio.AbstractEventLoop, make: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
    """Run a coroutine in the event loop of another thread.

    Raises:
        RuntimeError: If the loop is closed.
    """
    coroutine = make()
    try:
        return asyncio.run_coroutine_threadsafe(coroutine, loop)
    except RuntimeError:
        coroutine.close()
        raise


async def in_loop(loop: asyncio.AbstractEventLoop, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine in an event loop, this one or another thread's, and wait for it."""
    if asyncio.get_running_loop() is loop:
        return await make()
    return await asyncio.wrap_future(post(loop, make))


def from_thread(
    loop: asyncio.AbstractEventLoop,
    make: Callable[[Callable[[], Coroutine[Any, Any, Any]]], Coroutine[Any, Any, T]],
    function: Callable[[], Any],
) -> T:
    """Run a coroutine in the event loop of another thread; this thread waits for it.

    Args:
        loop: The event loop.
        make: Gives the coroutine. It gets something to await that runs `function` in this thread, where it
            may hold on to what belongs to the thread.
        function: The function.
    """
    asked: SimpleQueue[Future[_Outcome] | None] = SimpleQueue()

    async def run_function() -> Any:  # noqa: ANN401 - the function's own
        answer = Future[_Outcome]()
        asked.put(answer)
        return await (await asyncio.wrap_future(answer)).give()

    call = post(loop, lambda: make(run_function))
    call.add_done_callback(lambda _: asked.put(None))
    while (answer := asked.get()) is not None:
        if answer.set_running_or_notify_cancel():
            answer.set_result(_Outcome(function))
    return call.result()
