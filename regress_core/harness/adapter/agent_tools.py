"""The tools that an agent of your own is given: each call is answered by the replay, and noted."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from regress_core.foreign import error_text
from regress_core.harness.adapter.seen_calls import SeenCall, items_of
from regress_core.harness.adapter.tool_arguments import CallArguments, ToolParameters
from regress_core.harness.errors import MissingToolOutputError, ToolCallError
from regress_core.harness.replay.recorded_tools import Answer, ReplayingTools
from regress_core.harness.threads import from_thread, in_loop, post
from regress_core.harness.tools import RunContext, Tool, ToolError, as_json, call_tool
from regress_core.records.argument_rules import ArgumentRules
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import Item, RunRecord
from regress_core.records.turn_groups import turn_groups

Function = TypeVar("Function", bound=Callable[..., Any])

_Live = Callable[[], Coroutine[Any, Any, JsonValue]]


class RunOverError(RuntimeError):
    """A call that comes after the end of the run."""


class AgentTools:
    """The tools of one run of an agent of your own.

    Args:
        replaying: Answers the calls.
        baseline: The recorded run.
        rules: What of the arguments does not count.
        tools: The adapter's tools by name, which live and hybrid runs call.
        context: The run's context, for these tools.

    Attributes:
        miss: The first call that had no recorded output, if any.
    """

    def __init__(
        self,
        replaying: ReplayingTools,
        baseline: RunRecord,
        *,
        rules: ArgumentRules,
        tools: Mapping[str, Tool],
        context: RunContext,
    ) -> None:
        self.miss: MissingToolOutputError | None = None
        self._replaying = replaying
        self._rules = rules
        groups = turn_groups(baseline, replaying.calls)
        self._groups = {id(call): group for call, group in zip(replaying.calls, groups, strict=True)}
        self._unused = list(replaying.calls)
        self._tools = tools
        self._context = context
        self._seen: list[SeenCall] = []
        self._unanswered = 0
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    async def call(self, name: str, arguments: JsonObject) -> JsonValue:
        """Call one of the adapter's tools; in strict mode, any tool that the record knows.

        Raises:
            ToolError: If the tool's answer is an error that is meant for the model.
            MissingToolOutputError: If the record has no output left for the call.
            ToolCallError: If a live call is for a tool that the adapter does not have.
        """
        return await in_loop(self._loop, lambda: self._call_tool(name, arguments))

    def call_from_thread(self, name: str, arguments: JsonObject) -> JsonValue:
        """Do as `call`, for code that is not async, in another thread than the run's event loop.

        An agent that is a plain function runs in such a thread.

        Raises:
            RuntimeError: If this is the event loop's own thread, which may not wait.
        """
        if threading.get_ident() == self._thread:
            raise RuntimeError("in the event loop's own thread: use `await tools.call(…)` here")
        return post(self._loop, lambda: self._call_tool(name, arguments)).result()

    def wrap(self, function: Function, *, leave_out: Sequence[str] = ()) -> Function:
        """Give a function of the same name and signature whose calls the replay answers.

        Its name is the tool's, its parameters the arguments; it gives JSON values. An argument that equals
        its default counts as left out, unless the recorded call gives it. In live and hybrid runs the
        function itself is called, where the call came from: in the same thread and event loop. A function
        that is not async can be called from any thread.

        Args:
            function: The function, async or not.
            leave_out: Parameters that are no arguments of the tool, such as a framework's context.

        Raises:
            TypeError: If it is no function with a name, or has no such parameters.
        """
        name: object = getattr(function, "__name__", None)
        if not isinstance(name, str) or not name.isidentifier():
            raise TypeError(f"{function!r} has no name that could be the tool's; define it with def")
        parameters = ToolParameters(function, leave_out)

        @functools.wraps(function)
        async def wrapped_async(*args: Any, **named: Any) -> JsonValue:  # noqa: ANN401 - the function's own
            here = asyncio.get_running_loop()
            arguments = parameters.arguments(args, named)

            async def run() -> JsonValue:
                return as_json(await function(*args, **named))

            return await in_loop(
                self._loop, lambda: self._call(name, arguments, lambda: in_loop(here, run), waits=True)
            )

        @functools.wraps(function)
        def wrapped(*args: Any, **named: Any) -> JsonValue:  # noqa: ANN401 - the function's own
            arguments = parameters.arguments(args, named)

            def run() -> JsonValue:
                return as_json(function(*args, **named))

            if threading.get_ident() == self._thread:
                return self._at_once(name, arguments, run)
            return from_thread(self._loop, lambda live: self._call(name, arguments, live, waits=True), run)

        return cast("Function", wrapped_async if inspect.iscoroutinefunction(function) else wrapped)

    def items(self, taken: Iterable[str] = ()) -> list[Item]:
        """Give the calls made so far as record items, under call ids that are not `taken` by others."""
        return items_of(self._seen, taken)

    def close(self) -> None:
        """End the run: what an agent that was given up may still call is refused."""
        self._closed = True

    async def _call_tool(self, name: str, arguments: JsonObject) -> JsonValue:
        tool = self._tools.get(name)
        values = as_json(arguments)
        if not isinstance(values, dict):
            raise TypeError(f"arguments of {name}: {type(arguments).__name__} in place of a mapping")
        given = CallArguments(cast("JsonObject", values))

        async def live() -> JsonValue:
            if tool is None:
                raise ToolCallError(f'Tool "{name}" is not registered.')
            return await call_tool(tool.execute, given.values, self._context)

        return await self._call(name, given, live, waits=True)

    async def _call(self, name: str, arguments: CallArguments, live: _Live, *, waits: bool) -> JsonValue:
        if self._closed:
            raise RunOverError("the run is over, its tools give no more answers")
        of_tool = [call.arguments for call in self._unused if call.name == name]
        written = arguments.written(of_tool, lambda value: self._rules.key(name, value))
        seen = SeenCall(name, written, together=self._unanswered > 0)
        self._seen.append(seen)
        self._unanswered += 1
        try:
            if waits:  # for a turn of the loop, so that calls that are made together are all seen
                await asyncio.sleep(0)
            answer = await self._replaying.call(name, written, live)
            output = as_json(answer.output)
        except MissingToolOutputError as error:
            self.miss = self.miss or error
            raise
        except Exception as error:
            seen.answer = Answer(_error_output(error), is_error=True)
            raise
        finally:
            self._unanswered -= 1
        seen.answer = replace(answer, output=output)
        if answer.recorded is not None:
            seen.group = self._groups[id(answer.recorded)]
            self._unused = [call for call in self._unused if call is not answer.recorded]
        own = as_json(output)  # a copy: the record stays as it is, whatever the agent does with its answer
        if answer.is_error:
            raise ToolError(own)
        return own

    def _at_once(self, name: str, arguments: CallArguments, run: Callable[[], JsonValue]) -> JsonValue:
        """Make a call for code in the event loop's thread that cannot wait for it."""

        async def live() -> JsonValue:
            return run()

        call = self._call(name, arguments, live, waits=False)
        try:
            call.send(None)
        except StopIteration as done:
            return done.value
        call.close()
        raise RuntimeError(
            "the tool's answer takes waiting, which only an async function can do in this thread"
        )


def _error_output(error: Exception) -> JsonValue:
    """Give what the record notes as the output of a call that raised."""
    if isinstance(error, ToolError):
        return as_json(error.output)
    return error_text(error) or type(error).__name__
