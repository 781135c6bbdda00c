"""The detection benchmark, run as anyone would: on a few runs made by hand, and on the labelled ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from regress_core.records.json_io import JsonObject

BENCHMARK = Path(__file__).parent.parent / "benchmarks" / "detection.py"


def measure(data: Path, *options: str) -> dict[str, Any]:
    """Give what the benchmark prints, by data set."""
    command = [sys.executable, str(BENCHMARK), "--data", str(data), "--json", *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
    return {one["set"]: one for one in json.loads(done.stdout)["sets"]}


def hits(measured: JsonObject, classifier: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Give of how many regressions how many are detected, and the same of false alarms."""
    found = measured["classifiers"][classifier]
    detected, alarms = found["detected"], found["falseAlarms"]
    return (detected["hits"], detected["of"]), (alarms["hits"], alarms["of"])


def run(task: str, trial: int, reward: float, amount: int, answer: str) -> JsonObject:
    """Make a run of tau-bench that refunds an amount."""
    call = {"id": "c1", "function": {"name": "send_refund", "arguments": json.dumps({"amount": amount})}}
    messages = [
        {"role": "user", "content": "My money back, please."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "assistant", "content": answer},
    ]
    return {"task_id": task, "trial": trial, "reward": reward, "info": {}, "traj": messages}


def test_pairs_of_a_file(tmp_path: Path) -> None:
    """Two trials that passed with other words, and one that refunds too little."""
    runs = [
        run("a", 0, 1.0, 20, "You get it back."),
        run("a", 1, 1.0, 20, "It is on its way."),
        run("a", 2, 0.0, 10, "You get it back."),
        run("b", 0, 0.0, 10, "Nobody compares with a run that failed."),
    ]
    (tmp_path / "shop.json").write_text(json.dumps(runs), encoding="utf-8")
    (tmp_path / "else.json").write_text("[1, 2]", encoding="utf-8")

    measured = measure(tmp_path)

    assert list(measured) == ["shop"]
    assert measured["shop"]["write"] == ["send_refund"]
    assert hits(measured["shop"], "any difference") == ((2, 2), (2, 2))
    assert hits(measured["shop"], "tool names") == ((0, 2), (0, 2))
    assert hits(measured["shop"], "all calls") == ((2, 2), (0, 2))
    assert hits(measured["shop"], "effects") == ((2, 2), (0, 2))
    assert hits(measured["shop"], "recommended") == ((2, 2), (0, 2))


def test_two_harnesses_on_the_same_tasks(tmp_path: Path) -> None:
    for name, amount, reward in (("shop__before", 20, 1.0), ("shop__after", 10, 0.0)):
        rows = [run(task, 0, reward, amount, "Done.") for task in ("a", "b")]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")

    measured = measure(tmp_path)

    assert hits(measured["shop__before → after"], "recommended") == ((2, 2), (0, 0))
    assert hits(measured["shop__after → before"], "recommended") == ((0, 0), (0, 0))


def test_rows_of_messages_with_a_label(tmp_path: Path) -> None:
    def row(answer: str, *, label: str) -> JsonObject:
        messages = [{"role": "user", "content": "How many?"}, {"role": "assistant", "content": answer}]
        return {"task_id": "q1", "label": label, "messages": messages}

    rows = [
        row("There are 4.", label="pass"),
        row("It is 4.", label="pass"),
        row("There are 6.", label="fail"),
    ]
    text = "\n".join(json.dumps(one) for one in rows)
    (tmp_path / "answers.jsonl").write_text(text, encoding="utf-8")

    measured = measure(tmp_path)

    assert hits(measured["answers"], "recommended") == ((2, 2), (0, 2))


def test_declared_effects_win(tmp_path: Path) -> None:
    runs = [run("a", 0, 1.0, 20, "Done."), run("a", 1, 0.0, 10, "Done.")]
    (tmp_path / "shop.json").write_text(json.dumps(runs), encoding="utf-8")
    declared = tmp_path / "effects.yaml"
    declared.write_text("write: []\n", encoding="utf-8")

    measured = measure(tmp_path, "--effects", str(declared))

    assert hits(measured["shop"], "recommended") == ((0, 1), (0, 0))


@pytest.fixture(scope="module")
def real(data_dir: Path) -> dict[str, Any]:
    return measure(data_dir)


def test_tau_bench(real: dict[str, Any]) -> None:
    """At least 97 % of the regressions, at most 4 % false alarms; comparing all calls is far from it."""
    measured = real["tau-bench/airline__gpt-4o_4trials"]

    (detected, regressions), (alarms, unchanged) = hits(measured, "recommended")
    assert (regressions, unchanged) == (88, 164)
    assert detected >= 0.97 * regressions
    assert alarms <= 0.04 * unchanged
    assert hits(measured, "all calls") == ((88, 88), (146, 164))


def test_the_stable_control_gives_no_alarm(real: dict[str, Any]) -> None:
    measured = real["tau2-bench/telecom-no-user__gpt-4.1_4trials_5tasks"]

    assert hits(measured, "recommended") == ((0, 0), (0, 48))
    assert hits(measured, "recommended, or warns") == ((0, 0), (0, 48))
