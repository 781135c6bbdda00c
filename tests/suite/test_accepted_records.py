"""Accepting a record, killed at any step: the suite loads, and no accepted run is lost."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from regress_core.suite.loading import load_suite
from tests.suite.support import write_record, write_suite

KILLED_AT_EACH_STEP = """
import os, shutil, sys
from pathlib import Path

from regress_core.records.loading import list_case_records
from regress_core.suite import accepted_records

place, act = Path(sys.argv[1]), getattr(accepted_records, sys.argv[2])
record = (place / "record").read_bytes()
accepted = accepted_records.AcceptedRecord(
    case_id="a",
    reason="it is as good",
    who="Ann",
    when="2026-01-01T00:00:00+00:00",
    evaluation_id="e1",
    run_id="r1",
    sha256="0" * 64,
)


def work(root, steps):
    def step(event, arguments):
        nonlocal steps
        writes = event == "open" and arguments[1] is not None and "r" not in arguments[1]
        if writes or event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir"):
            steps -= 1
            if steps < 0:
                os._exit(1)

    (case,) = list_case_records(root / "records")
    sys.addaudithook(step)
    act(root, case, record, accepted)
    os._exit(0)


for steps in range(100):
    root = Path(shutil.copytree(place / "suite", place / f"killed-{steps}"))
    child = os.fork()
    if not child:
        work(root, steps)
    if os.waitpid(child, 0)[1] == 0:
        break
"""
"""Does it again and again, each time killed one change of a file later, until it comes to its end."""


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no os.fork")
@pytest.mark.parametrize("act", ["add_beside", "replace_baseline"])
@pytest.mark.parametrize("names", [["a.json"], ["a/1.json", "a/2.json"], ["a.json", "a/1.json"]], ids=str)
def test_killed_at_any_step(tmp_path: Path, act: str, names: list[str]) -> None:
    root = write_suite(tmp_path / "suite", "name: s\n")
    (root / "records" / "a.json").unlink()
    for name in names:
        answer = "second" if name == "a/2.json" else "first"
        folder = (root / "records" / name).parent
        write_record(folder, Path(name).name, response=answer)
    (before,) = load_suite(root).cases
    write_record(tmp_path, "record", response="new")
    new = _sha256((tmp_path / "record").read_bytes())
    old = before.baseline.sha256
    others = [ref.sha256 for ref in before.accepted]
    command = [sys.executable, "-c", KILLED_AT_EACH_STEP, str(tmp_path), act]

    subprocess.run(command, check=True)

    steps = sorted(tmp_path.glob("killed-*"), key=lambda path: int(path.name.removeprefix("killed-")))
    assert len(steps) > 3
    seen: list[tuple[str, list[str]]] = []
    for killed in steps:
        (case,) = load_suite(killed).cases
        seen.append((case.baseline.sha256, [ref.sha256 for ref in case.accepted]))
        kept = {_sha256(path.read_bytes()) for path in killed.rglob("*.json")}
        assert kept >= {old, *others}
    after = (old, [*others, new]) if act == "add_beside" else (new, others)
    assert [state for state in seen if state not in ((old, others), after)] == []
    assert seen[0] == (old, others)
    assert seen[-1] == after
    still_one_file = (act, names) == ("replace_baseline", ["a.json"])
    assert (steps[-1] / "records" / "a.json").exists() == still_one_file
