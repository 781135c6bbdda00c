"""Make the baseline's records: run the baseline harness once on each question.

    .venv/bin/python examples/age_adapted_explanation/record_baseline.py [FOLDER]

The model is the scripted one, and clock and run ids are fixed, so that the same version of regress always
writes the same bytes.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import adapter
import scripted_model

from regress_core import RunRecord
from regress_core.harness import AdapterContext, RunOptions
from regress_core.harness.descriptor.build import Harness, build_harness
from regress_core.harness.descriptor.descriptor import load_descriptor
from regress_core.harness.loop import run_agent
from regress_core.harness.run import RunInput, Runtime
from regress_core.models import FunctionClient
from regress_core.records.json_io import dumps

HERE = Path(__file__).parent
BEGIN = datetime(2026, 6, 15, 9, 0, tzinfo=UTC)


def main() -> None:
    """Write a record of each lesson into the folder that is named, else where the suite has them."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "baseline" / "runrecords"
    folder.mkdir(parents=True, exist_ok=True)
    harness, runtime = baseline_harness(), fixed_runtime()
    for lesson in scripted_model.LESSONS:
        record = asyncio.run(run(harness, runtime, lesson))
        (folder / f"{lesson.case}.json").write_bytes(dumps(record.data, indent=2) + b"\n")


def baseline_harness() -> Harness:
    """Put the baseline's descriptor and the adapter's tools together."""
    descriptor = load_descriptor(HERE / "baseline" / "harness.yaml")
    return build_harness(descriptor, adapter.create_tools(AdapterContext(descriptor, "live", None)))


def fixed_runtime() -> Runtime:
    """Give a clock that goes on by 80 ms each time it is asked, and run ids from `run_001` on."""
    ticks, numbers = count(), count(1)
    return Runtime(
        clock=lambda: BEGIN + next(ticks) * timedelta(milliseconds=80),
        new_run_id=lambda: f"run_{next(numbers):03}",
    )


async def run(harness: Harness, runtime: Runtime, lesson: scripted_model.Lesson) -> RunRecord:
    """Run the harness on a lesson's question, with its learner in the run's context."""
    options = RunOptions(
        policies=adapter.POLICIES,
        context={"learner": {"id": lesson.learner_id}},
        max_turns=harness.max_turns,
        record=replace(adapter.RECORD, metadata={"harness": harness.metadata}),
    )
    done = await run_agent(
        harness.entry_agent,
        RunInput.of_text(lesson.question),
        model=FunctionClient(scripted_model.reply),
        runtime=runtime,
        options=options,
    )
    if done.error is not None:
        raise done.error
    return done.record


if __name__ == "__main__":
    main()
