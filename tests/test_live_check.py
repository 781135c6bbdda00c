"""`make live-check` judges a case with whatever speaks the protocol, and says clearly what is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from regress_core.records.json_io import JsonObject
from tests.support.openai_server import KEY, Answer, OpenAIServer, text, unauthorised

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "examples" / "support_agent" / "live_check.py"

REGRESSION: JsonObject = {"verdict": "fail", "summary": "It refunds the whole order.", "findings": []}
RUBRIC = [{"dimensionId": "refund-as-asked", "passed": False, "reason": "It pays back 124.85 EUR."}]
AXES = {"accuracy": 2, "tone": 5, "format": 4.5, "reasoning": "The amount is wrong."}


def judging(request: JsonObject, _: int) -> Answer:
    """Answer as each of the judges wants it."""
    instructions = request["messages"][0]["content"]
    if instructions.startswith("You score"):
        return text(json.dumps(AXES))
    if instructions.startswith("You grade"):
        return text(json.dumps(RUBRIC))
    return text(json.dumps(REGRESSION))


def live_check(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script with these variables and no other ones of providers."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("REGRESS_", "OPENAI_"))}
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments],
        env=kept | environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


def test_every_judge_is_asked_once() -> None:
    with OpenAIServer(judging) as server:
        done = live_check("openai:gpt-4.1-mini", OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY=KEY)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "regression: fail: It refunds the whole order.",
        "rubric refund-as-asked: fail: It pays back 124.85 EUR.",
        "axes: accuracy 2, tone 5, format 4.5",
        "cost: $0.000036",  # three times 10 tokens at 0.4 and 5 at 1.6 USD per million
    ]
    assert {request.json["model"] for request in server.requests} == {"gpt-4.1-mini"}
    assert server.count == 3


def test_a_model_without_a_public_price() -> None:
    with OpenAIServer(judging) as server:
        where = {"OPENAI_BASE_URL": server.base_url}
        unpriced = live_check("openai:one-of-our-own", **where)
        asked = server.count
        priced = live_check("openai:one-of-our-own", "--price", "0", "0", **where)

    assert (unpriced.returncode, asked) == (1, 0)
    assert "the price of openai:one-of-our-own is not known" in unpriced.stdout
    assert priced.returncode == 0, priced.stderr
    assert priced.stdout.endswith("cost: $0.000000\n")


def test_a_wrong_key() -> None:
    with OpenAIServer(unauthorised()) as server:
        done = live_check("openai:gpt-4.1-mini", OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY=KEY)

    assert done.returncode == 1
    assert "regression: no verdict: openai:gpt-4.1-mini: " in done.stdout
    assert KEY not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(["openai:gpt-4.1-mini"], 1, "no API key for OpenAI; set OPENAI_API_KEY", id="no key"),
        pytest.param(["gpt-4.1-mini"], 2, "names no provider; write provider:model", id="no provider"),
        pytest.param([], 2, "the following arguments are required: PROVIDER:MODEL", id="no model"),
    ],
)
def test_what_is_missing_is_said(arguments: list[str], code: int, message: str) -> None:
    done = live_check(*arguments)

    assert done.returncode == code
    assert message in done.stdout + done.stderr


def test_make_says_how_to_name_a_model() -> None:
    done = subprocess.run(
        ["make", "live-check", "MODEL="],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )

    assert done.returncode != 0
    assert "make live-check MODEL=provider:model" in done.stderr
