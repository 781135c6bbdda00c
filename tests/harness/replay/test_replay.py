"""Replaying a record on a harness: whose tools run, whose policies decide, what counts as a miss."""

from __future__ import annotations

import pytest

from regress_core.calls.trouble import Trouble, TroubleError
from regress_core.compare.comparison import compare_run_records
from regress_core.compare.options import CompareOptions
from regress_core.harness.agent import Handoff
from regress_core.harness.policy import Policies, allow, deny, require_approval
from regress_core.harness.replay.replay import ReplayOptions
from regress_core.harness.run_options import RecordOptions, RunOptions
from regress_core.harness.tools import RunContext, Tool
from regress_core.models.client import ModelReply, ModelRequest, Usage
from regress_core.models.scripted import FunctionClient
from regress_core.records.argument_rules import ArgumentRules
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord
from tests.harness.replay.support import DANGEROUS, A, B, baseline, forbidden
from tests.harness.support import allowing, ok, output_items, outputs, read_back, run
from tests.support.harness import MODEL, WatchedClient, agent, asks, call, replay, says, scripted
from tests.support.records import message, record_json, tool_call, tool_output


def test_a_recorded_error_is_an_error_for_the_model_again() -> None:
    items = [
        message("Where is my order?"),
        tool_call("c1", "f", arguments=A),
        tool_output("c1", output="no such order", isError=True),
        message("On its way.", "assistant"),
    ]
    record = RunRecord.parse(record_json(items=items, inputItemCount=1))

    done = replay(record, agent([DANGEROUS]), [asks(call("f", "other-id", q="a")), says("On its way.")])

    assert output_items(done.record) == [{"callId": "other-id", "output": "no such order", "isError": True}]
    assert done.record.status == "completed"


def test_the_candidates_policies_decide_not_the_recorded_ones() -> None:
    record = baseline(("f", A, ok("rec")))

    nothing_allowed = replay(record, agent([DANGEROUS]), [asks(call("f", q="a"))], run_options=RunOptions())
    assert nothing_allowed.record.error_name == "ToolCallPolicyDeniedError"

    told = RunOptions(policies=Policies(tool=lambda _: deny("new_rule", result_mode="tool_result")))
    denied = replay(record, agent([DANGEROUS]), [asks(call("f", q="a")), says("Done.")], run_options=told)
    assert outputs(denied.record) == [
        {"status": "denied", "code": "new_rule", "publicReason": "Action not allowed.", "data": None}
    ]
    assert denied.replay_stats.replayed_from_record == 0


def test_a_call_that_was_blocked_and_is_allowed_now_is_a_miss() -> None:
    envelope = {"status": "approval_required", "code": "manager", "publicReason": "Ask.", "data": None}

    done = replay(baseline(("f", A, envelope)), agent([DANGEROUS]), [asks(call("f", q="a")), says("Done.")])

    assert done.replay_miss
    assert (done.record.error_message or "").endswith("(no output of f is recorded)")


def test_a_schema_that_refuses_recorded_arguments_fails_the_run() -> None:
    strict_tool = Tool("f", "", forbidden, {"type": "object", "required": ["page"]})

    done = replay(baseline(("f", A, "rec")), agent([strict_tool]), [asks(call("f", q="a"))])

    assert (done.record.error_name, done.replay_miss) == ("ZodError", False)


RULES = ArgumentRules.model_validate({"f": {"request_id": "ignore"}})


@pytest.mark.parametrize(("rules", "found"), [(RULES, True), (ArgumentRules(), False)], ids=["rules", "none"])
def test_an_ignored_argument_is_no_miss_and_no_difference(rules: ArgumentRules, *, found: bool) -> None:
    record = baseline(("f", {"q": "a", "request_id": "r-1"}, ok("rec")))
    reply = asks(call("f", q="a", request_id="r-2"))

    done = replay(
        record, agent([DANGEROUS]), [reply, says("On its way.")], options=ReplayOptions(rules=rules)
    )

    assert done.replay_miss is not found
    compared = compare_run_records(
        record, done.record, CompareOptions(arguments=rules, exclude_sections=("policy",))
    )
    assert compared.equal is found


@pytest.mark.parametrize(
    ("given", "snapshot", "expected"),
    [
        pytest.param(None, {"tier": "gold"}, {"tier": "gold"}, id="the baseline's"),
        pytest.param({"tier": "new"}, {"tier": "gold"}, {"tier": "new"}, id="the application's"),
        pytest.param({}, {"tier": "gold"}, {}, id="an empty one of the application's"),
        pytest.param(None, None, {}, id="neither"),
        pytest.param(None, [1], [1], id="a list"),
    ],
)
def test_the_context_of_a_replay(given: JsonValue, snapshot: JsonValue, expected: JsonValue) -> None:
    done = replay(
        baseline(contextSnapshot=snapshot), agent(), [says("Done.")], run_options=allowing(context=given)
    )

    assert done.record.data["contextSnapshot"] == expected


def _spend(_: JsonValue, context: RunContext) -> JsonValue:
    context.context["budget"] -= 1
    return context.context["budget"]


def test_a_tool_that_changes_the_context_changes_neither_baseline_nor_snapshot() -> None:
    record = baseline(contextSnapshot={"budget": 5})

    for _ in range(2):  # nor does one replay change the next
        done = replay(
            record,
            agent([Tool("spend", "", _spend)]),
            [asks(call("spend")), says("Done.")],
            options=ReplayOptions(mode="live"),
        )
        assert outputs(done.record) == [ok(4)]
        assert done.record.data["contextSnapshot"] == {"budget": 5}
    assert record.data["contextSnapshot"] == {"budget": 5}


def test_handoff_conditions_see_the_recorded_context() -> None:
    target = agent(name="Target")
    entry = agent(handoffs=[Handoff(target, lambda context: context.context["actor"] == "actor-1")])
    for actor, tools in (("actor-1", ["handoff_to_target"]), ("actor-2", [])):
        model = WatchedClient(scripted(says("Done.")))
        replay(baseline(contextSnapshot={"actor": actor}), entry, model)
        assert model.requests[0]["tools"] == tools


def test_the_question_alone_is_asked_in_question_mode() -> None:
    record = RunRecord.parse(
        record_json(
            question="Now?",
            items=[
                message("Earlier?"),
                tool_call("c1", "f", arguments=A),
                tool_output("c1", output="first"),
                message("Now?"),
                tool_call("c2", "f", arguments=A),
                tool_output("c2", output="second"),
                message("Yes.", "assistant"),
            ],
            inputItemCount=4,
        )
    )
    model = WatchedClient(scripted(asks(call("f", q="a")), says("Yes.")))

    question = replay(record, agent([DANGEROUS]), model, options=ReplayOptions(input_mode="question"))

    assert model.requests[0]["messages"] == [message("Now?")]
    assert outputs(question.record) == [ok("first")]  # no call of the record is input here
    assert question.replay_stats.input_source == "question"

    whole = replay(record, agent([DANGEROUS]), [asks(call("f", q="a")), says("Yes.")])
    assert [item["output"] for item in output_items(whole.record)] == ["first", ok("second")]


def test_usage_time_and_record_options_come_through() -> None:
    told: list[RunRecord] = []
    options = allowing(record=RecordOptions(run_id="mine", metadata={"scenario": "x"}, sink=told.append))
    replies = [
        ModelReply(tool_calls=(call("f", q="a"),), usage=Usage(10, 5)),
        ModelReply(text="Done.", usage=Usage(20, 7, 3)),
    ]

    done = replay(baseline(("f", A, 1)), agent([DANGEROUS]), replies, run_options=options)

    assert done.usage == Usage(30, 12, 3)
    assert done.duration_s > 0
    assert told == [done.record]
    assert (done.record.run_id, done.record.metadata) == ("mine", {"scenario": "x"})


def test_trouble_of_the_model_is_told_apart_from_a_candidates_failure() -> None:
    trouble = Trouble("outage", "candidate", "503", "the provider is down", retryable=True)

    def answer(_: ModelRequest) -> ModelReply:
        raise TroubleError(trouble)

    in_trouble = replay(baseline(), agent(), FunctionClient(answer))
    assert in_trouble.trouble == trouble
    assert in_trouble.record.status == "failed"

    failed = replay(baseline(), agent(), [asks(call("unknown"))])
    assert (failed.record.error_name, failed.trouble) == ("ToolCallError", None)


def test_the_baseline_stays_as_it_was() -> None:
    record = baseline(("f", A, ok({"list": [1]})), contextSnapshot={"a": [1]})
    before = read_back(record)

    replay(record, agent([DANGEROUS]), [asks(call("f", q="a")), says("Done.")])

    assert record.data == before.data


def test_a_candidate_that_hands_over_replays_the_tools_of_both_agents() -> None:
    target = agent([Tool("g", "", forbidden)], name="Target")
    entry = agent([DANGEROUS], name="Source", handoffs=[Handoff(target)])
    script = [
        asks(call("f", q="a")),
        asks(call("handoff_to_target")),
        asks(call("g", q="b")),
        says("On its way."),
    ]
    record = baseline(("f", A, "of f"), ("g", B, "of g"))

    done = replay(record, entry, script)

    assert outputs(done.record)[0::2] == [ok("of f"), ok("of g")]
    assert done.record.data["agentName"] == "Target"


APPROVAL: JsonObject = {"status": "approval_required", "code": "m", "publicReason": "Ask.", "data": None}


def test_a_call_that_waits_for_approval_waits_again() -> None:
    options = RunOptions(
        policies=Policies(
            tool=lambda _: require_approval("m", public_reason="Ask.", result_mode="tool_result")
        )
    )
    script = [asks(call("f", q="a")), says("Waiting.")]
    first = run(agent([DANGEROUS], model=MODEL), script, options).record
    assert outputs(first) == [APPROVAL]

    done = replay(read_back(first), agent([DANGEROUS]), script, run_options=options)

    comparison = compare_run_records(first, done.record)
    assert (comparison.equal, comparison.differences, comparison.provenance) == (True, [], [])
    assert done.record.data.get("suspendedProposals") is not None


def test_a_run_and_its_replay_are_equal() -> None:
    """C17: timestamps, run ids and decisions' times are no differences."""
    entry = agent({"look": {"n": 1}, "other": [2]})
    script = [
        asks(call("look", "x", q="a"), call("other", "y")),
        asks(call("look", "z", q="b")),
        says("Done."),
    ]
    options = RunOptions(policies=Policies(tool=lambda asked: allow(f"fine_in_turn_{asked.turn}")))
    first = run(entry, script, options).record

    replayed_entry = agent([Tool(name, f"Tool {name}.", forbidden) for name in ("look", "other")])
    done = replay(read_back(first), replayed_entry, script, run_options=options)

    comparison = compare_run_records(first, done.record)
    assert (comparison.equal, comparison.differences, comparison.provenance) == (True, [], [])
    assert done.replay_stats.replayed_from_record == 3
