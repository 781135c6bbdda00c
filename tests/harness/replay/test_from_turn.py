"""`--from-turn K`: the first K turns are taken from the record, the candidate makes the rest."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regress_core.calls.trouble import TroubleError
from regress_core.compare.comparison import compare_run_records
from regress_core.harness.agent import Agent, Handoff
from regress_core.harness.policy import Policies, allow_all
from regress_core.harness.replay.replay import ReplayOptions
from regress_core.harness.run_options import RunOptions
from regress_core.harness.tools import RunContext, Tool
from regress_core.records.json_io import JsonValue
from regress_core.records.model import RunRecord
from tests.harness.support import ended, ok, outputs, read_back, run
from tests.support.harness import WatchedClient, agent, asks, call, replay, says, scripted, tool
from tests.support.rebuilt import replay_rebuilt
from tests.support.scripted_runs import ALLOWED, BLOCKED, OUTPUTS, THROWN, TOOL_ERRORS, Script, scripts


@settings(max_examples=60)
@given(
    st.one_of(
        scripts(decisions=ALLOWED | ALLOWED | BLOCKED, results=OUTPUTS | TOOL_ERRORS, handoffs=True),
        scripts(decisions=ALLOWED | THROWN, handoffs=True),
        scripts(end="max turns", handoffs=True),
        scripts(end="guardrail", handoffs=True),
        scripts(end="unknown tool"),
    )
)
def test_going_on_from_any_turn_gives_the_same_record(script: Script) -> None:
    baseline = read_back(script.run())
    for done_turns in range(len(baseline.data["requestFingerprints"])):
        options = ReplayOptions(from_turn=done_turns)
        for done in (script.replay(baseline, options), replay_rebuilt(baseline, options)):
            comparison = compare_run_records(baseline, read_back(done.record))
            assert (comparison.equal, comparison.differences) == (True, [])
        again = script.replay(baseline, options).record
        assert compare_run_records(baseline, again).provenance == []
        assert again.data.get("inputItemCount") == baseline.data.get("inputItemCount")
        assert again.items == baseline.items


def _never(_arguments: JsonValue, _context: RunContext) -> JsonValue:
    raise AssertionError("a strict replay never runs a tool")


def shop(*, live: bool) -> Agent:
    """Give an agent that hands over to another one that hands over to a third."""
    tools = [tool("look", "live") if live else Tool("look", "Tool look.", _never)]
    third = agent(tools, name="Third", instructions="Third.")
    second = agent(tools, name="Second", instructions="Second.", handoffs=[Handoff(third)])
    return agent(tools, name="First", instructions="First.", handoffs=[Handoff(second)])


SCRIPT = [
    asks(call("look", "a", n=1)),
    asks(call("handoff_to_second", "b")),
    asks(call("look", "c", n=1), call("handoff_to_third", "d")),
    says("Done."),
]


@pytest.fixture(scope="module")
def baseline() -> RunRecord:
    return read_back(run(shop(live=True), SCRIPT).record)


@pytest.mark.parametrize(
    ("from_turn", "prompts", "messages"),
    [
        pytest.param(0, ["First.", "First.", "Second.", "Third."], 1, id="from the start"),
        pytest.param(1, ["First.", "Second.", "Third."], 3, id="after the first call"),
        pytest.param(2, ["Second.", "Third."], 5, id="after the first handoff"),
        pytest.param(3, ["Third."], 9, id="after the second"),
    ],
)
def test_the_agent_whose_turn_it_was_goes_on(
    baseline: RunRecord, from_turn: int, prompts: list[str], messages: int
) -> None:
    model = WatchedClient(scripted(*SCRIPT[from_turn:]))

    done = replay(baseline, shop(live=False), model, options=ReplayOptions(from_turn=from_turn))

    assert [request["systemPrompt"] for request in model.requests] == prompts
    assert len(model.requests[0]["messages"]) == messages
    assert [prompt["turn"] for prompt in done.record.data["promptSnapshots"]] == [1, 2, 3, 4]
    assert compare_run_records(baseline, done.record).equal


def test_calls_of_the_turns_that_are_done_are_the_last_to_be_used() -> None:
    counted = iter(range(1, 9))
    first = run(
        agent([Tool("count", "", lambda _arguments, _context: next(counted))]),
        [asks(call("count")), asks(call("count")), says("Done.")],
    ).record
    entry, options = agent([Tool("count", "", _never)]), ReplayOptions(from_turn=1)

    done = replay(read_back(first), entry, [asks(call("count")), says("Done.")], options=options)
    assert outputs(done.record) == [ok(1), ok(2)]
    assert done.replay_stats.to_json() == {
        "recordedToolCalls": 2,
        "replayedFromRecord": 1,
        "missingToolCalls": 0,
        "liveFallbackCalls": 0,
        "inputSource": "inputItemCount",
    }

    once_more = replay(
        read_back(first), entry, [asks(call("count"), call("count")), says("")], options=options
    )
    assert outputs(once_more.record) == [ok(1), ok(2), ok(1)]


def test_a_candidate_that_goes_another_way_from_there_differs_from_there(baseline: RunRecord) -> None:
    candidate = shop(live=False)

    done = replay(baseline, candidate, [says("Enough.")], options=ReplayOptions(from_turn=2))

    assert done.record.response == "Enough."
    assert done.record.data["agentName"] == "Second"
    assert outputs(done.record) == outputs(baseline)[:2]
    differences = compare_run_records(baseline, done.record).differences
    assert {difference.path.split("[")[0] for difference in differences} == {
        "response",
        "toolCalls",
        "toolCalls.length",
        "policyDecisions",
        "policyDecisions.length",
    }


@pytest.mark.parametrize(
    ("max_turns", "error"),
    [(3, "Max turns exceeded: 3"), (2, "Max turns exceeded: 2"), (1, "Max turns exceeded: 1")],
)
def test_turns_that_are_done_count(baseline: RunRecord, max_turns: int, error: str) -> None:
    options = RunOptions(policies=allow_all(), max_turns=max_turns)

    done = replay(
        baseline,
        shop(live=False),
        [SCRIPT[2]] * 9,
        options=ReplayOptions(from_turn=2),
        run_options=options,
    )

    assert (done.record.error_name, done.record.error_message) == ("MaxTurnsExceededError", error)
    assert len(done.record.data["requestFingerprints"]) == max(max_turns, 2)


@pytest.mark.parametrize("from_turn", [4, 5, 100])
def test_a_turn_that_the_record_does_not_have(baseline: RunRecord, from_turn: int) -> None:
    message = f"the baseline has 4 turns, so that none is left to run after {from_turn}"
    with pytest.raises(TroubleError, match=f"^{message}$") as raised:
        replay(baseline, shop(live=False), SCRIPT, options=ReplayOptions(from_turn=from_turn))
    assert (raised.value.trouble.kind, raised.value.trouble.retryable) == ("input", False)


def test_an_agent_that_the_candidate_does_not_have(baseline: RunRecord) -> None:
    without_third = agent(name="First", handoffs=[Handoff(agent(name="Second"))])
    message = '^the candidate has no agent "Third" that could go on with the recorded turns$'

    with pytest.raises(TroubleError, match=message) as raised:
        replay(baseline, without_third, SCRIPT, options=ReplayOptions(from_turn=3))

    assert (raised.value.trouble.kind, raised.value.trouble.code) == ("input", "no such agent")
    done = replay(baseline, without_third, [says("Done.")], options=ReplayOptions(from_turn=2))
    assert done.record.data["agentName"] == "Second"


def test_an_agent_is_found_in_a_circle_of_handoffs(baseline: RunRecord) -> None:
    names = ("First", "Second", "Other", "Third")
    agents = {name: agent({"look": 1}, name=name) for name in names}
    for one, next_one in zip(names, (*names[1:], names[0]), strict=True):
        agents[one].handoffs = [Handoff(agents["First"]), Handoff(agents[next_one])]

    done = replay(baseline, agents["First"], [says("Done.")], options=ReplayOptions(from_turn=3))

    assert done.record.data["agentName"] == "Third"


def test_a_failed_baseline_goes_on_to_the_same_failure() -> None:
    entry = agent({"look": 1})
    script = [asks(call("look")), asks(call("unknown"))]
    first = run(entry, script)

    done = replay(read_back(first.record), entry, script[1:], options=ReplayOptions(from_turn=1))

    assert (done.record.status, done.record.error_name, done.record.error_message) == ended(first)


def test_recorded_blocked_calls_of_done_turns_stay_what_they_were() -> None:
    nothing = RunOptions()
    first = run(agent({"look": 1}), [asks(call("look")), says("Done.")]).record

    done = replay(
        read_back(first),
        agent([Tool("look", "Tool look.", _never)]),
        [says("Done.")],
        options=ReplayOptions(from_turn=1),
        run_options=nothing,
    )

    assert nothing.policies == Policies()
    assert done.record.policy_decisions == first.policy_decisions
    assert compare_run_records(first, done.record).equal
