"""Two processes on one journal file lose nothing and lock nobody up."""

from __future__ import annotations

import asyncio
import multiprocessing
from pathlib import Path
from threading import Barrier

from regress_core.journal.journal import Journal
from tests.journal.support import row, step

OWN, SHARED = 150, 50
WRITERS = ("x", "y")


def write(path: Path, name: str, together: Barrier) -> None:
    """Open the journal at the same moment as the other, then write own steps and steps both write."""
    together.wait()
    with Journal.open(path) as journal:
        journal.create_evaluation(row(plan=f'"{name}"'))

        async def commit_all() -> None:
            for number in range(OWN):
                await journal.steps.commit([step(f"{name}{number:03}", payload=f'"{name}"')])
                if number < SHARED:
                    await journal.steps.commit(
                        [
                            step(f"shared{number:03}", payload=f'"{name}"'),
                            step(f"shared{number:03}", "baseline", f'"{name}"'),
                        ]
                    )

        asyncio.run(commit_all())


def test_two_writers(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    spawn = multiprocessing.get_context("spawn")
    together = spawn.Barrier(len(WRITERS))
    processes = [spawn.Process(target=write, args=(path, name, together)) for name in WRITERS]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert [process.exitcode for process in processes] == [0, 0]
    with Journal.open(path) as journal:
        entry = journal.evaluation("e1")
        assert entry is not None
        assert entry.plan in {'"x"', '"y"'}
        found = {(s.case_id, s.stage): s.payload for s in journal.steps.of_revision("e1", 1)}
    own = {(f"{name}{n:03}", "outcome"): f'"{name}"' for name in WRITERS for n in range(OWN)}
    assert {key: payload for key, payload in found.items() if not key[0].startswith("shared")} == own
    for n in range(SHARED):
        pair = {found.pop((f"shared{n:03}", stage)) for stage in ("baseline", "outcome")}
        assert len(pair) == 1, "steps that are committed together come from one writer"
    assert len(found) == len(own)
