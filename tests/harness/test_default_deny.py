"""What no policy allows is denied: no policy, one that raises, one that answers nonsense."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from regress_core.harness.policy import (
    Policies,
    PolicyResult,
    allow_all,
)
from regress_core.harness.run_options import RunOptions
from tests.harness.governed import DENIED, PLACES, both_kinds, harness, replies
from tests.harness.support import ended, outputs, policies_answering, run


@both_kinds
def test_without_a_policy_everything_is_denied(kind: str) -> None:
    done = run(harness(), replies(kind), RunOptions())

    message = f"{PLACES[kind]} denied by policy: policy_not_configured"
    assert ended(done) == ("failed", DENIED[kind], message)
    (decision,) = done.record.policy_decisions
    assert (decision["decision"], decision["reason"], decision.get("resultMode")) == (
        "deny",
        "policy_not_configured",
        "throw",
    )
    assert outputs(done.record) == []


@both_kinds
def test_a_policy_of_the_other_kind_allows_nothing(kind: str) -> None:
    everything = allow_all()
    one = Policies(handoff=everything.handoff) if kind == "tool" else Policies(tool=everything.tool)

    done = run(harness(), replies(kind), RunOptions(policies=one))

    assert done.record.error_name == DENIED[kind]


class _OddError(Exception):
    pass


@both_kinds
@pytest.mark.parametrize(
    ("raised", "name", "message"),
    [
        (ValueError("boom"), "ValueError", "boom"),
        (_OddError(), "_OddError", ""),
        (KeyError("user"), "KeyError", "'user'"),
    ],
)
def test_a_policy_that_raises_denies(kind: str, raised: Exception, name: str, message: str) -> None:
    done = run(harness(), replies(kind), RunOptions(policies=policies_answering(raised)))

    assert ended(done) == ("failed", DENIED[kind], f"{PLACES[kind]} denied by policy: policy_error")
    (decision,) = done.record.policy_decisions
    assert decision.get("resultMode") == "throw"
    assert decision.get("metadata") == {"errorName": name, "errorMessage": message}


def test_an_async_policy_that_raises_denies() -> None:
    async def policy(_: object) -> PolicyResult:
        await asyncio.sleep(0)
        raise ValueError("later")

    done = run(harness(), replies("tool"), RunOptions(policies=Policies(tool=policy)))

    assert done.record.policy_decisions[0]["reason"] == "policy_error"


def result(**fields: Any) -> PolicyResult:  # noqa: ANN401 - also what a result may not hold
    all_fields: dict[str, Any] = {"decision": "allow", "reason": "fine", **fields}
    return PolicyResult(**all_fields)


@both_kinds
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(None, id="nothing"),
        pytest.param(True, id="true"),
        pytest.param("allow", id="text"),
        pytest.param({"decision": "allow", "reason": "fine"}, id="dict"),
        pytest.param(PolicyResult, id="class"),
        pytest.param(result(decision="maybe"), id="unknown decision"),
        pytest.param(result(decision=None), id="no decision"),
        pytest.param(result(decision=["allow"]), id="list of decisions"),
        pytest.param(result(reason=""), id="empty reason"),
        pytest.param(result(reason=" \n"), id="blank reason"),
        pytest.param(result(reason=None), id="no reason"),
        pytest.param(result(reason=5), id="reason no text"),
        pytest.param(result(result_mode="loud"), id="unknown result mode"),
        pytest.param(result(public_reason=5), id="public reason no text"),
        pytest.param(result(policy_version=2), id="version no text"),
        pytest.param(result(expires_at=datetime(2026, 4, 1, tzinfo=UTC)), id="time no text"),
        pytest.param(result(metadata={"limit": float("inf")}), id="metadata no JSON"),
        pytest.param(result(metadata=object()), id="metadata an object"),
    ],
)
def test_an_answer_that_is_no_decision_denies(kind: str, answer: object) -> None:
    done = run(harness(), replies(kind), RunOptions(policies=policies_answering(answer)))

    message = f"{PLACES[kind]} denied by policy: invalid_policy_result"
    assert ended(done) == ("failed", DENIED[kind], message)
    (decision,) = done.record.policy_decisions
    assert (decision["decision"], decision.get("resultMode")) == ("deny", "throw")
