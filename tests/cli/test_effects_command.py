"""`regress effects suggest`: YAML to paste, JSON, and what cannot be looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from regress_core.records.json_io import JsonObject
from regress_core.records.yaml_io import parse_yaml
from regress_core.suite.config import SuiteConfig
from tests.cli.support import Here
from tests.support.records import record_json, tool_call, tool_output
from tests.support.suites import write_records

HARNESS = """\
metadata: {name: shop, version: "2"}
runtime: {entry_agent: clerk}
tools:
  find: {target: app://find_order, effect: read}
  twist: {target: app://twist, effect: write}
  cancel: {target: app://cancel_order}
agents:
  clerk: {model: m-small, instructions: Be brief., tools: [find, twist, cancel]}
"""

ADAPTER = """\
from regress_core.harness import Tool
from regress_core.models import FunctionClient

print("set up")


def tool(name, **arguments):
    return Tool(name, "", lambda given, context: "", {"type": "object", "properties": arguments})


def create_tools(context):
    return {
        "app://find_order": tool("find_order"),
        "app://twist": tool("twist", by={"default": 1}),
        "app://cancel_order": tool("cancel_order", reason={"default": "no: reason"}, order={}),
    }


def create_model(case):
    return FunctionClient(lambda request: "")
"""


def _run(*made: tuple[str, object]) -> JsonObject:
    items: list[JsonObject] = []
    for number, (tool, output) in enumerate(made):
        items += [
            tool_call(f"c{number}", tool, arguments={"order": 7}),
            tool_output(f"c{number}", output=output),
        ]
    return record_json(items=items)


RUNS = {
    "a": _run(("find_order", "open"), ("twist", "turned"), ("cancel_order", "ok")),
    "b": _run(("find_order", "open"), ("cancel_order", "Error: too late"), ("ask_user", "yes")),
}


def _suite(root: Path, config: str = "name: shop\n", **records: JsonObject) -> Path:
    write_records(root / "records", records or RUNS)
    (root / "suite.yaml").write_text(config, encoding="utf-8")
    return root


def _harness(root: Path) -> Path:
    (root / "harness.yaml").write_text(HARNESS, encoding="utf-8")
    (root / "adapter.py").write_text(ADAPTER, encoding="utf-8")
    (root / "candidate.yaml").write_text("descriptor: harness.yaml\nadapter: adapter.py\n", encoding="utf-8")
    return root / "candidate.yaml"


def _pasted(printed: str) -> SuiteConfig:
    return SuiteConfig.from_json(parse_yaml(f"name: shop\n{printed}", source="suite.yaml"))


def test_yaml_to_paste(here: Here) -> None:
    _suite(here.folder / "shop")

    because = "2 calls; its name says `cancel`; 1 of 1 calls say that something was done; 1 of 2 calls failed"

    result = here("effects", "suggest", "shop")

    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        "# Proposed from 2 runs with 6 calls of 4 tools.",
        "# Look at each line, then paste it into suite.yaml.",
        "effects:",
        "  write:",
        f"    - cancel_order  # {because}",
        "    # unsure: put those that write into the list above",
        "    # - twist  # 1 calls; its name does not say",
        "    # no writes, so that nothing has to be said of them:",
        "    # - ask_user  # 1 calls; talks to the user, which is no effect outside of the conversation",
        "    # - find_order  # 2 calls; its name says `find`",
    ]
    effects = _pasted(result.out).effects
    assert effects is not None
    assert effects.write == ("cancel_order",)


def test_nothing_is_written(here: Here) -> None:
    root = _suite(here.folder / "shop")
    before = {path: path.read_bytes() for path in here.folder.rglob("*") if path.is_file()}

    here("effects", "suggest", root)

    assert {path: path.read_bytes() for path in here.folder.rglob("*") if path.is_file()} == before


def test_no_writes(here: Here) -> None:
    _suite(here.folder / "shop", a=_run(("find_order", "open")))

    result = here("effects", "suggest", "shop")

    assert result.out.splitlines()[2:5] == [
        "effects:",
        "  write: []",
        "    # no writes, so that nothing has to be said of them:",
    ]
    effects = _pasted(result.out).effects
    assert effects is not None
    assert effects.write == ()


def test_json(here: Here) -> None:
    _suite(here.folder / "shop")

    result = here("effects", "suggest", "shop", "--json")

    assert (result.code, result.err) == (0, "")
    told = result.json
    assert (told["suite"], told["runs"]) == ("shop", 2)
    assert told["effects"] == {"write": ["cancel_order"], "defaults": {}}
    assert [(one["tool"], one["effect"]) for one in told["suggestions"]] == [
        ("cancel_order", "write"),
        ("twist", "unsure"),
        ("ask_user", "read"),
        ("find_order", "read"),
    ]
    assert told["suggestions"][1] == {
        "tool": "twist",
        "effect": "unsure",
        "reasons": ["its name does not say"],
        "calls": 1,
        "evidence": 0,
        "defaults": {},
    }


def test_a_suite_by_its_name(here: Here) -> None:
    _suite(here.folder / "suites" / "folder")

    assert here("effects", "suggest", "shop", "--json").json["suite"] == "shop"


def test_schemas_and_declared_effects_of_a_harness(here: Here) -> None:
    candidate = _harness(_suite(here.folder / "shop"))

    result = here("effects", "suggest", "shop", "--candidate", candidate)

    assert (result.code, result.err) == (0, "set up\n")  # the adapter's own word, beside the YAML
    assert "    - twist  # 1 calls; its descriptor declares it" in result.out.splitlines()
    assert result.out.splitlines()[-5:] == [
        "  defaults:  # what an argument is that a call leaves out, as the tools' schemas say",
        "    cancel_order:",
        '      reason: "no: reason"',
        "    twist:",
        "      by: 1",
    ]
    effects = _pasted(result.out).effects
    assert effects is not None
    assert effects.write == ("cancel_order", "twist")
    assert effects.defaults == {"cancel_order": {"reason": "no: reason"}, "twist": {"by": 1}}


def test_no_adapter_is_run_unless_it_is_named(here: Here) -> None:
    _harness(_suite(here.folder / "shop"))

    assert here("effects", "suggest", "shop").err == ""


def test_accepted_runs_and_recorded_candidates_are_looked_at_too(here: Here) -> None:
    root = _suite(here.folder / "shop", a=_run(("twist", "done")))
    write_records(root / "records" / "b", {"1": _run(("twist", "done")), "2": _run(("twist", "turned"))})
    write_records(root / "new", {"a": _run(("send_note", "sent"))})

    told = here("effects", "suggest", "shop", "--candidate", root / "new", "--json").json

    assert (told["runs"], told["effects"]["write"]) == (4, ["send_note", "twist"])
    assert [one["calls"] for one in told["suggestions"]] == [1, 3]


def test_effects_that_a_suite_has_already(here: Here) -> None:
    root = _suite(here.folder / "shop", "name: shop\neffects: {write: [find_order]}\n")

    result = here("effects", "suggest", "shop")

    assert (
        result.err == f"{root / 'suite.yaml'} has effects already; what is proposed does not look at them\n"
    )
    assert "    - cancel_order  #" in result.out


@pytest.mark.parametrize(
    "tool", ["true", "cancel: it", "send\nmail", "delete[*]", "\x1b[31mcancel", "send 注"]
)
def test_odd_names_survive_pasting_and_do_not_reach_the_terminal(here: Here, tool: str) -> None:
    _suite(here.folder / "shop", a=_run((tool, "done")))

    result = here("effects", "suggest", "shop")

    assert "\x1b" not in result.out
    effects = _pasted(result.out).effects
    assert effects is not None
    assert effects.writes(tool)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["nope"], "no suite 'nope': neither a folder with a suite.yaml nor a suite of the suites root"),
        (
            ["talk"],
            "none of its 1 records holds a tool call; import runs that call tools with `regress import`",
        ),
        (["empty"], "none of its 0 records holds a tool call; import runs that call tools"),
        (["shop", "--candidate", "gone.yaml"], "gone.yaml: no such file; "),
    ],
    ids=["no such suite", "no call", "no record", "no such candidate"],
)
def test_faults(here: Here, arguments: list[str], fault: str) -> None:
    _suite(here.folder / "shop")
    _suite(here.folder / "talk", a=record_json())
    _suite(here.folder / "empty")
    for record in (here.folder / "empty" / "records").iterdir():
        record.unlink()

    assert fault in here("effects", "suggest", *arguments).fault


def test_a_broken_adapter_is_one_line(here: Here) -> None:
    candidate = _harness(_suite(here.folder / "shop"))
    (here.folder / "shop" / "adapter.py").write_text("raise ValueError('no\\nidea')\n", encoding="utf-8")

    fault = here("effects", "suggest", "shop", "--candidate", candidate).fault

    assert "cannot be imported: ValueError: no idea" in fault
