"""The support agent comes to what its README says, by `regress demo` and by its files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "support_agent"
REGRESS = Path(sys.executable).with_name("regress")

V3_BREAKS = {
    "refund-damaged-item": (True, False, True),
    "return-wrong-size": (True, True, False),
}


def _regress(*words: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [str(REGRESS), *map(str, words)]
    return subprocess.run(command, check=False, capture_output=True, encoding="utf-8", cwd=cwd, timeout=180)


def test_demo_shows_every_evaluation_and_the_trend(tmp_path: Path) -> None:
    store = tmp_path / "store"

    done = _regress("demo", "--store", store)

    assert done.returncode == 0, done.stderr
    assert "12 cases: 10 passed, 2 warned, 0 failed" in done.stdout
    assert "12 cases: 9 passed, 0 warned, 3 failed" in done.stdout
    assert "toolCalls[1].arguments.amount 24.95 → 124.85" in done.stdout
    assert "FROM evaluations" in done.stdout
    assert "2 cases: 1 passed, 1 warned, 0 failed" in done.stdout
    assert "judge: too hard for ages 7 to 9: mass, gravitational" in done.stdout
    assert "SELECT case_name" in done.stdout
    assert f"export DAGSTER_HOME={store / 'dagster'}" in done.stdout
    answer = _regress(
        "sql", "SELECT suite, gate_status FROM evaluations ORDER BY created_at", "--store", store, "--json"
    )
    assert [tuple(row.values()) for row in json.loads(answer.stdout)] == [
        ("support-agent", "warn"),
        ("support-agent", "fail"),
        ("age-adapted-explanation", "warn"),
    ]


@pytest.mark.parametrize(
    ("candidate", "code", "totals"),
    [("candidate.yaml", 0, (10, 2, 0)), ("candidates/v3.yaml", 1, (9, 0, 3))],
)
def test_the_command_line_comes_to_the_same(
    tmp_path: Path, candidate: str, code: int, totals: tuple[int, int, int]
) -> None:
    done = _regress(
        "run", EXAMPLE, "--candidate", EXAMPLE / candidate, "--store", tmp_path / "store", "--json"
    )

    summary = json.loads(done.stdout)
    assert done.returncode == code, done.stderr
    assert (
        summary["totals"]["passed"],
        summary["totals"]["warned"],
        summary["totals"]["failed"],
    ) == totals


def test_the_bad_candidate_breaks_three_cases_for_three_reasons(tmp_path: Path) -> None:
    candidate = EXAMPLE / "candidates/v3.yaml"

    done = _regress("run", EXAMPLE, "--candidate", candidate, "--store", tmp_path / "store", "--json")

    broken = {case["name"]: case for case in json.loads(done.stdout)["cases"] if case["status"] == "fail"}
    assert broken.keys() == {*V3_BREAKS, "delivery-delay-italian"}
    assert broken["delivery-delay-italian"]["reasons"] == [
        "candidate failed: MaxTurnsExceededError: Max turns exceeded: 6"
    ]
    for name, (tools, policy, output) in V3_BREAKS.items():
        assert broken[name]["signals"] == {
            "statusChanged": False,
            "toolsChanged": tools,
            "policyChanged": policy,
            "finalOutputChanged": output,
        }
