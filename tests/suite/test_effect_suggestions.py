"""Which tools are proposed as writes: from names, from what recorded calls show, and from schemas."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.records.importers.tau import tau_runs
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord
from regress_core.records.tool_calls import ExtractedToolCall, extract_tool_calls
from regress_core.suite.effect_names import effect_of_name
from regress_core.suite.effect_suggestions import Suggestion, as_config, suggest_effects
from tests.support.records import record_json, tool_call, tool_output

WRITES = """
    book_reservation cancel_reservation send_certificate update_reservation_flights
    cancel_pending_order exchange_delivered_order_items modify_pending_order_address modify_user_address
    return_delivered_order_items enable_roaming disable_roaming refuel_data resume_line suspend_line
    send_payment_request toggle_data reseat_sim_card make_payment pay create_task submit reset
    delete_search_history bulk_update_orders order_cancel memory_save ticket_create
    sendMessage SlackSendMessage fundAccount GoogleCalendarCreateEvent HTTPServerRestart
    create-calendar-event orders.update calendar/create_event mcp__github__create_issue cart.add
    order_pizza file_claim transfer_money transfer_to_savings_account initiate_return process_refund
    turn_on_wifi top_up_balance get_or_create_user find_and_replace provide_refund_and_update_order
    submit_form return_item reply_to_email
"""
READS = """
    get_reservation_details search_direct_flight list_all_airports calculate think find_user_id_by_email
    list_all_product_types get_details_by_id check_status_bar can_send_mms lookup look_up_order
    get_update_history preview_order validate_create_order is_refundable getURL HTTPGetURL
    API-post-search web_search WebFetch knowledge_base_search gmail_search_emails orders.list AmazonViewCart
    CustomerDataQuery flight_status account_balance current_time
"""
SPEECH = """
    transfer_to_human_agents transferToBilling transfer_to_sales handoff_to_billing hand_off
    escalate_to_human escalate_ticket switch_to_agent connect_to_agent delegate
    ask_user respond final_answer submit_answer return_result message_user send_message_to_user finish
"""
DEPENDS = "bash execute_sql run_query http_request make_http_request python_repl puppeteer_click call_api"
UNCLEAR = "order_status refund_status return_policy exchange_rate file_search book_lookup"
NOTHING = "weather frobnicate login sign_in check_in log_out phone_book take_note bucheFlug 42 注文 _"


@pytest.mark.parametrize(
    ("says", "names"),
    [
        ("write", WRITES),
        ("read", READS),
        ("speech", SPEECH),
        ("depends", DEPENDS),
        ("unclear", UNCLEAR),
        ("nothing", NOTHING),
    ],
)
def test_what_a_name_says(says: str, names: str) -> None:
    assert {name: effect_of_name(name).says for name in names.split()} == dict.fromkeys(names.split(), says)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("cancel_order", "its name says `cancel`"),
        ("get_or_create_user", "its name says `get … create`"),
        ("process_refund", "its name says `process … refund`"),
        ("order_status", "its name says `order`, but `status` too"),
        ("run_query", "its name says `run`: what it changes depends on what it is called with"),
        ("escalate", "a hand-off, which changes who speaks and nothing else"),
        ("ask_user", "talks to the user, which is no effect outside of the conversation"),
        ("phone_book", "its name says `book`, which may be a thing or what is done"),
        ("weather", "its name does not say"),
    ],
)
def test_why(name: str, reason: str) -> None:
    assert effect_of_name(name).reason == reason


_NO_OUTPUT = object()
NONE: JsonObject = {}
Made = tuple[str, Any, Any]
"""A call: tool, arguments, output."""


def _run(*made: Made) -> list[ExtractedToolCall]:
    items: list[JsonObject] = []
    for number, (tool, arguments, output) in enumerate(made):
        items.append(tool_call(f"c{number}", tool, arguments=arguments))
        if output is not _NO_OUTPUT:
            items.append(tool_output(f"c{number}", output=output))
    return extract_tool_calls(RunRecord.parse(record_json(items=items)))


def _only(tool: str, suggestions: Sequence[Suggestion]) -> Suggestion:
    (found,) = [one for one in suggestions if one.tool == tool]
    return found


@pytest.mark.parametrize(
    ("output", "done"),
    [
        ("ok", True),
        ("Done.", True),
        ("Success!", True),
        ("Transfer successful", True),
        ("Successfully added 2.0 GB", True),
        ("Added line 7", True),
        ("Data Roaming is now ON.", True),
        ({"success": True}, True),
        ({"status": "success", "order_id": "W7", "error": None}, True),
        ({"message": "Successfully added 2.0 GB", "charge": 4.0}, True),
        ('{"success": true}', True),
        ({"status": "ok", "code": None, "publicReason": None, "data": "done"}, True),
        ("", False),
        (None, False),
        (True, False),
        ("It was not successful", False),
        ("unsuccessful", False),
        ("The order is now in transit", False),
        ("cancelled", False),
        ("added", False),
        ("Search successful: 3 results", False),
        ("Successfully retrieved the order", False),
        ("A success story. " * 20, False),
        ({"success": True, "balance": 100}, False),
        ({"success": True, "data": {"a": 1}}, False),
        ({"status": "cancelled"}, False),
        ({"order_id": "W7"}, False),
        (["ok"], False),
    ],
)
def test_outputs_that_say_no_more_than_that_it_was_done(output: JsonValue, *, done: bool) -> None:
    (found,) = suggest_effects([_run(("frob", NONE, output))])

    assert found.effect == ("write" if done else "unsure")


def test_a_name_that_says_nothing_is_decided_by_most_of_what_its_calls_say() -> None:
    done, told = ("frob", {"a": 1}, "done"), ("frob", {"a": 2}, "7 pieces")

    assert _only("frob", suggest_effects([_run(done, told)])).effect == "unsure"
    found = _only("frob", suggest_effects([_run(done, told), _run(done)]))
    assert (found.effect, found.calls, found.evidence) == ("write", 3, 2)
    assert found.reasons == ("its name does not say", "2 of 3 calls say that something was done")


def test_failed_calls_tell_nothing() -> None:
    found = _only("frob", suggest_effects([_run(("frob", NONE, "Error: not done"), ("frob", NONE, "done"))]))

    assert (found.effect, found.calls, found.evidence) == ("write", 2, 1)
    assert found.reasons[1:] == ("1 of 1 calls say that something was done", "1 of 2 calls failed")


LOOKUP = ("get_order", {"id": 7})


@pytest.mark.parametrize(
    ("between", "effect"),
    [
        ([("frob", {"id": 7}, "noted")], "write"),
        ([("frob", {"id": 7}, _NO_OUTPUT)], "write"),
        ([("frob", {"id": 7}, "noted"), ("get_user", NONE, "Mia"), ("ask_user", NONE, "yes")], "write"),
        ([("frob", {"id": 7}, "noted"), ("cancel_order", {"id": 7}, "noted")], "unsure"),
        ([("frob", {"id": 7}, "noted"), ("twist", {"id": 7}, "noted")], "unsure"),
        ([("frob", {"id": 7}, "Error: no such order")], "unsure"),
    ],
    ids=["alone", "no output", "beside lookups and talk", "beside a write", "beside another", "failed"],
)
def test_a_lookup_that_gives_another_output_afterwards(between: Sequence[Made], effect: str) -> None:
    before, after = (*LOOKUP, "open"), (*LOOKUP, "closed")

    found = _only("frob", suggest_effects([_run(before, *between, after)]))

    assert found.effect == effect
    if effect == "write":
        assert found.reasons[1] == "after 1 of 1 calls `get_order` gave another output than before"


@pytest.mark.parametrize(
    "run",
    [
        pytest.param([(*LOOKUP, "a"), ("frob", NONE, "x"), (*LOOKUP, "a")], id="the same output"),
        pytest.param([(*LOOKUP, "a"), ("frob", NONE, "x"), ("get_order", {"id": 8}, "b")], id="others"),
        pytest.param([("frob", NONE, "x"), (*LOOKUP, "a"), (*LOOKUP, "b")], id="not in between"),
        pytest.param(
            [(*LOOKUP, "a"), ("frob", NONE, "x"), (*LOOKUP, "b"), (*LOOKUP, "c")], id="it changes by itself"
        ),
    ],
)
def test_a_lookup_that_shows_nothing(run: Sequence[Made]) -> None:
    assert _only("frob", suggest_effects([_run(*run)])).effect == "unsure"


def test_runs_are_apart() -> None:
    runs = [_run((*LOOKUP, "a"), ("frob", NONE, "x")), _run((*LOOKUP, "b"))]

    assert _only("frob", suggest_effects(runs)).effect == "unsure"


FLAT = {"street": "Main St 1", "city": "Ulm"}


@pytest.mark.parametrize(
    ("earlier", "arguments", "output", "effect"),
    [
        ((), FLAT, {**FLAT, "flat_id": "F-9"}, "write"),
        ((), FLAT, {**FLAT, "number": 9}, "write"),
        ((), FLAT, {"id": "F-9", "city": "Ulm"}, "unsure"),
        ((), FLAT, {**FLAT, "rooms": 9}, "unsure"),
        ((), FLAT | {"flat_id": "F-9"}, {**FLAT, "flat_id": "F-9"}, "unsure"),
        ([("get_flats", NONE, ["F-9"])], FLAT, {**FLAT, "flat_id": "F-9"}, "unsure"),
        ((), FLAT, [{**FLAT, "flat_id": "F-9"}], "unsure"),
    ],
    ids=["new", "a number", "one argument", "no id", "its own argument", "named before", "a list"],
)
def test_a_new_id(earlier: Sequence[Made], arguments: JsonValue, output: JsonValue, effect: str) -> None:
    found = _only("frob", suggest_effects([_run(*earlier, ("frob", arguments, output))]))

    assert found.effect == effect
    if effect == "write":
        assert found.reasons[1] == "1 of 1 calls give a new id to what they were called with"


def test_repeats_with_the_same_output_speak_for_a_read() -> None:
    same, other = ("weather", {"in": "Ulm"}, "rain"), ("weather", {"in": "Ulm"}, "sun")

    assert _only("weather", suggest_effects([_run(same, same)])).effect == "unsure"
    found = _only("weather", suggest_effects([_run(same, same, same)]))
    assert (found.effect, found.calls, found.evidence) == ("read", 3, 2)
    assert found.reasons[1] == "2 calls repeat one of their run, always with the same output"
    assert _only("weather", suggest_effects([_run(same, same, same, other)])).effect == "unsure"


def test_calls_do_not_overrule_a_name() -> None:
    cancel, bash = ("cancel", NONE, "7 pieces"), ("bash", {"command": "rm x"}, "done")
    suggestions = suggest_effects([_run(cancel, cancel, cancel, bash, bash, ("get_x", NONE, "done"))])

    assert [(one.tool, one.effect, one.evidence) for one in suggestions] == [
        ("cancel", "write", 0),
        ("bash", "unsure", 2),
        ("get_x", "read", 0),
    ]
    assert suggestions[0].reasons[1] == "2 calls repeat one of their run, always with the same output"


def test_a_hand_off_that_is_given_an_amount_moves_it() -> None:
    assert _only("transfer_to_bob", suggest_effects([_run(("transfer_to_bob", NONE, "hi"))])).effect == "read"
    for suggestions in (
        suggest_effects([_run(("transfer_to_bob", {"amount": 5}, "hi"))]),
        suggest_effects([], {"transfer_to_bob": {"properties": {"amount": {"type": "number"}}}}),
    ):
        found = _only("transfer_to_bob", suggestions)
        assert found.effect == "write"
        assert found.reasons[0] == "it is given an argument `amount`, so that it moves something"


def test_schemas_name_tools_and_defaults_of_writes() -> None:
    schemas: dict[str, JsonObject] = {
        "book_flight": {
            "properties": {"insurance": {"default": "no"}, "note": {"default": None}, "seat": {}, "any": True}
        },
        "get_flight": {"properties": {"details": {"default": False}}},
        "cancel_flight": {"type": "object"},
    }
    suggestions = suggest_effects([], schemas)

    assert [(one.tool, one.effect, one.reasons[1]) for one in suggestions] == [
        ("book_flight", "write", "no call of it is recorded"),
        ("cancel_flight", "write", "no call of it is recorded"),
        ("get_flight", "read", "no call of it is recorded"),
    ]
    assert as_config(suggestions) == EffectsConfig(
        write=("book_flight", "cancel_flight"), defaults={"book_flight": {"insurance": "no", "note": None}}
    )


def test_what_a_descriptor_declares_is_taken() -> None:
    run = _run(("update_view", NONE, "a"), ("frob", NONE, "b"))

    suggestions = suggest_effects([run], declared={"update_view": "read", "frob": "write", "other": "write"})

    assert [(one.tool, one.effect, *one.reasons) for one in suggestions] == [
        ("frob", "write", "its descriptor declares it"),
        ("update_view", "read", "its descriptor declares it"),
    ]


def test_the_config_means_the_tools_and_no_others() -> None:
    config = as_config(suggest_effects([_run(("delete[*]", NONE, "a"), ("cancel?", NONE, "b"))]))

    assert [config.writes(tool) for tool in ("delete[*]", "cancel?", "delete*", "delete", "cancels")] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_outputs_without_a_call_and_arguments_that_are_text() -> None:
    orphan = extract_tool_calls(RunRecord.parse(record_json(items=[tool_output("x", output="done")])))

    (found,) = suggest_effects([orphan, _run(("frob", "not JSON", "done"))])

    assert (found.tool, found.effect) == ("frob", "write")


def test_nothing_gives_nothing() -> None:
    assert suggest_effects([]) == []
    assert as_config([]) == EffectsConfig()


REAL: dict[str, set[str]] = {
    "tau-bench/airline__gpt-4o_4trials.json.gz": {
        "book_reservation",
        "cancel_reservation",
        "send_certificate",
        "update_reservation_baggages",
        "update_reservation_flights",
        "update_reservation_passengers",
    },
    "tau2-bench/telecom-no-user__gpt-4.1_4trials_5tasks.json.gz": {
        "refuel_data",
        "toggle_airplane_mode",
        "toggle_data",
        "toggle_roaming",
    },
}


@pytest.mark.parametrize("file", REAL)
def test_real_runs(data_dir: Path, file: str) -> None:
    path = data_dir / file
    if not path.is_file():
        pytest.skip(f"no real data: {path} is missing")

    suggestions = suggest_effects([extract_tool_calls(run.record) for run in tau_runs(path)])

    assert set(as_config(suggestions).write) == REAL[file]
    assert {one.tool for one in suggestions if one.effect == "unsure"} <= {"run_speed_test"}
