"""compare.arguments of suite.yaml: faults at load, the suite's content hash, the reasons in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from regress_core.compare.options import CompareOptions
from regress_core.errors import InputError
from regress_core.records.json_io import JsonObject
from regress_core.records.model import RunRecord
from regress_core.suite.classification import classify
from regress_core.suite.config import GateConfig
from regress_core.suite.loading import load_suite
from tests.compare.support import compare
from tests.suite.support import refusal, write_suite
from tests.support.records import record_json, tool_call, tool_output

RULES = """
compare:
  arguments:
    "*":
      request_id: ignore
    search:
      query: [unicode, spaces, case]
      filters.since: ignore
      items[*].ts: ignore
      "['odd.key']": ignore
"""


def test_a_suite_says_what_does_not_count(tmp_path: Path) -> None:
    rules = load_suite(write_suite(tmp_path / "shop", RULES)).config.compare.arguments

    arguments: JsonObject = {
        "request_id": 1,
        "query": " CAFE\u0301  Nord",
        "filters": {"since": 1, "n": 2},
        "items": [{"ts": 1, "n": 2}],
        "odd.key": 1,
    }
    assert rules.apply("search", arguments) == {
        "query": "caf\u00e9 nord",
        "filters": {"n": 2},
        "items": [{"n": 2}],
    }
    assert rules.apply("refund", arguments) == {
        key: arguments[key] for key in arguments if key != "request_id"
    }


# What stands under compare.arguments, the key that the refusal names, and words of it.
FAULTS: list[tuple[str, str, str]] = [
    ("search: {filters..since: ignore}", "$.compare.arguments.search['filters..since']", "['a.b']"),
    ("search: {'items[last].ts': ignore}", "$.compare.arguments.search['items[last].ts']", "[*]"),
    ("search: {created_*: ignore}", "$.compare.arguments.search['created_*']", "['created_*']"),
    ("search: {'': ignore}", "$.compare.arguments.search['']", "path"),
    ("search: {query: case}", "$.compare.arguments.search.query", "a list out of unicode, "),
    ("search: {query: [lower]}", "$.compare.arguments.search.query", "lower"),
    ("search: {query: []}", "$.compare.arguments.search.query", "ignore"),
    ("search: {query: }", "$.compare.arguments.search.query", "null"),
    ("search: {filters: {since: ignore}}", "$.compare.arguments.search.filters", "since"),
    ("search: ignore", "$.compare.arguments.search", ""),
    ("search:", "$.compare.arguments.search", ""),
    ("'': {query: ignore}", "$.compare.arguments['']", ""),
    ("[search]", "$.compare.arguments", ""),
]


@pytest.mark.parametrize(("text", "field", "words"), FAULTS, ids=[text for text, _, _ in FAULTS])
def test_a_fault_is_named_by_its_key_when_the_suite_is_loaded(
    tmp_path: Path, text: str, field: str, words: str
) -> None:
    root = write_suite(tmp_path / "shop", f"compare:\n  arguments:\n    {text}\n")

    with pytest.raises(InputError) as raised:
        load_suite(root)

    error = refusal(raised)
    assert (error.file, error.field) == (str(root / "suite.yaml"), field)
    assert words in error.message


def test_the_references_rule_takes_no_rules(tmp_path: Path) -> None:
    text = "compare: {ignore_volatile: false, arguments: {search: {id: ignore}}}\n"

    with pytest.raises(InputError) as raised:
        load_suite(write_suite(tmp_path / "shop", text))

    assert refusal(raised).field == "$.compare.arguments"


def test_rules_are_part_of_a_suites_content(tmp_path: Path) -> None:
    texts = [
        "compare: {}\n",
        "compare: {arguments: {search: {query: ignore}}}\n",
        "compare: {arguments: {search: {query: [case]}}}\n",
        "compare: {arguments: {refund: {query: [case]}}}\n",
    ]

    suites = [load_suite(write_suite(tmp_path / str(n) / "shop", text)) for n, text in enumerate(texts)]

    assert len({suite.content_hash for suite in suites}) == len(texts)


def _calling(**arguments: object) -> JsonObject:
    return record_json(
        items=[tool_call("c1", "search", arguments=arguments), tool_output("c1", output="found")]
    )


def _reasons(left: JsonObject, right: JsonObject, **arguments: object) -> tuple[str, ...]:
    options = CompareOptions.from_json({"arguments": {"search": arguments}})
    return classify(RunRecord.parse(right), compare(left, right, options), GateConfig()).reasons


def test_a_reason_names_nothing_that_does_not_count() -> None:
    left, right = _calling(query="a", request_id="7f3a"), _calling(query="b", request_id="b20c")

    (reason,) = _reasons(left, right, request_id="ignore")

    assert reason == 'toolsChanged: toolCalls[0].arguments.query "a" → "b"'


COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"

# Two records that look the same on a screen, and the reason.
ALIKE: list[tuple[str, JsonObject, JsonObject, str]] = [
    (
        "argument",
        _calling(name=COMPOSED),
        _calling(name=DECOMPOSED),
        f'toolsChanged: toolCalls[0].arguments.name "{COMPOSED}" → "{DECOMPOSED}"',
    ),
    (
        "in a list",
        _calling(names=[COMPOSED]),
        _calling(names=[DECOMPOSED]),
        f'toolsChanged: toolCalls[0].arguments.names ["{COMPOSED}"] → ["{DECOMPOSED}"]',
    ),
    (
        "response",
        record_json(response=DECOMPOSED),
        record_json(response=COMPOSED),
        f'finalOutputChanged: response "{DECOMPOSED}" → "{COMPOSED}"',
    ),
]


@pytest.mark.parametrize(("left", "right", "reason"), [pytest.param(*case[1:], id=case[0]) for case in ALIKE])
def test_a_reason_says_that_only_the_unicode_form_differs(
    left: JsonObject, right: JsonObject, reason: str
) -> None:
    assert _reasons(left, right) == (f"{reason} (only the Unicode form differs)",)


def test_a_long_text_is_cut_and_still_says_it() -> None:
    filler = "The quick brown fox. " * 20

    (reason,) = _reasons(
        record_json(response=f"{filler}{COMPOSED}{filler}"),
        record_json(response=f"{filler}{DECOMPOSED}{filler}"),
    )

    assert reason.endswith(" (only the Unicode form differs)")
    assert COMPOSED in reason
    assert DECOMPOSED in reason


@pytest.mark.parametrize("other", [f"{DECOMPOSED}s", "cafe", "CAF\u00c9", f" {DECOMPOSED}"])
def test_nothing_is_said_where_more_differs(other: str) -> None:
    (reason,) = _reasons(_calling(name=COMPOSED), _calling(name=other))

    assert "Unicode" not in reason
