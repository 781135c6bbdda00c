"""Adapters: the executable parts of a candidate, which a descriptor only names.

An adapter is a Python module, or an object in one, with any of the functions of `FUNCTIONS`. It is code that
the user trusts: it is imported and run in this process.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from regress_core.errors import InputError
from regress_core.foreign import error_text, passes_through, settled
from regress_core.harness.adapter.files import AdapterLocation
from regress_core.harness.adapter.importing import imported
from regress_core.harness.descriptor.descriptor import HarnessDescriptor
from regress_core.harness.errors import failure_of
from regress_core.harness.replay.recorded_tools import ReplayMode
from regress_core.records.model import RunRecord


@dataclass(frozen=True, slots=True)
class AdapterContext:
    """What an adapter's functions are told of the evaluation.

    Attributes:
        descriptor: The candidate's descriptor; None for an agent of your own without one.
        mode: Where tool outputs come from.
        model: The model that `--model` or candidate.yaml names in place of the agents' own; None for none.
    """

    descriptor: HarnessDescriptor | None
    mode: ReplayMode
    model: str | None


@dataclass(frozen=True, slots=True)
class CaseContext:
    """What an adapter's functions are told of one run.

    Attributes:
        case_id: The case.
        case_name: What people call it.
        trial: Counts from 1.
        baseline: The recorded run. Not to be changed.
        evaluation: What is the same for every run.
    """

    case_id: str
    case_name: str
    trial: int
    baseline: RunRecord
    evaluation: AdapterContext


FUNCTIONS: Mapping[str, str] = {
    "setup": "once, before anything else",
    "create_tools": "once: the tools, by the targets of the descriptor",
    "create_run_options": "for each run: policies, context, what is recorded",
    "create_model": "for each run: the model client",
    "create_harness": "once: an agent of your own, built in code, in place of a descriptor",
    "create_judge": "once: the judge",
    "create_comparison_options": "once: how runs are compared",
    "on_missing_tool_call": "for each call that has no recorded output",
}
"""The functions an adapter may have, each with when it is called and what it gives. Sync or async."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """A loaded adapter.

    Attributes:
        name: Where it is, for messages.
        functions: Those of `FUNCTIONS` that it has.
    """

    name: str
    functions: Mapping[str, Callable[..., Any]]

    def has(self, function: str) -> bool:
        """Tell whether it has a function."""
        return function in self.functions

    async def call(self, function: str, argument: AdapterContext | CaseContext) -> Any:  # noqa: ANN401 - its own
        """Call a function; None if the adapter has none of that name. What it raises passes through.

        Raises:
            BrokenOffError: In place of SystemExit and the like.
        """
        if function not in self.functions:
            return None
        try:
            return await settled(self.functions[function](argument))
        except Exception:
            raise
        except BaseException as error:  # which would end all the other cases too
            if passes_through(error):
                raise
            raise failure_of(error) from error

    async def prepare(self, function: str, context: AdapterContext) -> Any:  # noqa: ANN401 - its own
        """Call a function before the first case.

        Raises:
            InputError: If it raises anything; names adapter and function.
        """
        try:
            return await self.call(function, context)
        except InputError:
            raise
        except Exception as error:
            message = f"raised {type(error).__name__}: {error_text(error)}"
            raise InputError(message, file=self.name, field=function, remedy="mend the adapter") from error


NO_ADAPTER = Adapter("", {})


@contextmanager
def loaded_adapter(location: AdapterLocation) -> Generator[Adapter]:
    """Import an adapter, for as long as the context lasts.

    Raises:
        InputError: If importing it raises, or it has none of the functions.
    """
    with ExitStack() as stack:
        try:
            found = stack.enter_context(imported(location))
        except InputError:
            raise
        except BaseException as error:
            if passes_through(error):
                raise
            message = f"cannot be imported: {type(error).__name__}: {error_text(error)}"
            raise InputError(message, file=location.text, remedy="mend the adapter") from error
        yield _adapter(location.text, found)


def _adapter(name: str, found: object) -> Adapter:
    functions: dict[str, Any] = {key: getattr(found, key) for key in FUNCTIONS if hasattr(found, key)}
    for key, function in functions.items():
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise InputError("is a generator, which nobody would run", file=name, field=key)
        if not callable(function):
            raise InputError("not a function", file=name, field=key)
    if not functions:
        remedy = f"define any of {', '.join(FUNCTIONS)}"
        raise InputError("no adapter: it has none of the functions", file=name, remedy=remedy)
    return Adapter(name, functions)
