"""The tools of a candidate harness, read by opening it; nothing is run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from regress_core.calls.limits import CallLimits
from regress_core.calls.runner import CallRunner
from regress_core.harness.adapter.adapter import AdapterContext
from regress_core.harness.adapter.candidate import open_harness
from regress_core.harness.descriptor.outline import Effect
from regress_core.harness.run import Runtime
from regress_core.ids import new_run_id, utc_now
from regress_core.records.json_io import JsonObject
from regress_core.suite.candidate import HarnessRef, read_harness


@dataclass(frozen=True, slots=True)
class CandidateTools:
    """What a candidate harness tells of its tools, by the names that models call.

    Attributes:
        schemas: JSON Schemas of their arguments.
        effects: The effects that its descriptor declares.
    """

    schemas: Mapping[str, JsonObject]
    effects: Mapping[str, Effect]


def read_candidate_tools(ref: HarnessRef) -> CandidateTools:
    """Open a harness, read its tools and close it again, for callers without an event loop.

    Raises:
        InputError: If the harness cannot be opened.
    """

    async def read() -> CandidateTools:
        files = read_harness(ref)
        limits = CallLimits()
        async with open_harness(
            files.descriptor,
            files.adapter,
            AdapterContext(files.descriptor, "strict", ref.model),
            Runtime(clock=utc_now, new_run_id=new_run_id, model=ref.model),
            CallRunner(limits),
            time_out_s=limits.run_time_out_s,
        ) as harness:
            schemas = {tool.name: tool.parameters for tool in harness.tools.values()}
            return CandidateTools(schemas, harness.declared_effects())

    return asyncio.run(read())
