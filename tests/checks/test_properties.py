"""Any checks on any record: nothing raises, results are the same each time, ids are unique."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from regress_core.checks.case_checks import case_checks
from regress_core.checks.config import CheckKeys
from regress_core.checks.run import run_checks
from regress_core.checks.texts import excerpt, holds_text
from regress_core.records.json_io import JsonObject, dumps, loads
from regress_core.records.model import RunRecord
from regress_core.records.patterns import holds_pattern
from tests.compare.strategies import RECORDS
from tests.support.strategies import JSON_VALUES, TEXTS

_TOOLS = st.sampled_from(["f", "g", "?", "*", "h"])
_SCHEMAS = st.sampled_from(
    [
        {},
        {"type": "object"},
        {"required": ["a"]},
        {"$ref": "#"},
        {"items": {"$ref": "#"}},
        {"multipleOf": 0.1},
    ]
)
_PATTERNS = st.sampled_from(["way", "^$", r"\bway\b", "(a|b)*", r"\s+$", "."])
_WORDS = st.sampled_from(["way", "O", "\U0001f600", "Error", "ß"])


def _assertion(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[JsonObject]:
    return st.fixed_dictionaries({"kind": st.just(kind), **fields})


_ASSERTIONS = st.one_of(
    _assertion("tool_called", tool=_TOOLS),
    _assertion("tool_not_called", tool=_TOOLS),
    _assertion("call_count", tool=_TOOLS, min=st.integers(0, 2), max=st.integers(2, 3)),
    _assertion("call_order", tools=st.lists(_TOOLS, min_size=2, unique=True)),
    _assertion("arguments", tool=_TOOLS, schema=_SCHEMAS),
    _assertion("max_turns", turns=st.integers(0, 3)),
    _assertion("text_contains", text=_WORDS, ignore_case=st.booleans()),
    _assertion("text_not_contains", text=_WORDS, **{"in": st.sampled_from(["response", "transcript"])}),
    _assertion("text_matches", pattern=_PATTERNS, ignore_case=st.booleans()),
    _assertion("json", schema=_SCHEMAS),
    _assertion("markdown", require=st.lists(st.sampled_from(["list", "table"]))),
)

_DIMENSIONS = st.fixed_dictionaries(
    {"quality": st.just("good"), "required": st.lists(_WORDS), "forbidden": st.lists(_WORDS, min_size=1)}
)


@st.composite
def _keys(draw: st.DrawFn) -> JsonObject:
    dimensions = draw(st.lists(_DIMENSIONS, max_size=2))
    severity = st.sampled_from(["warn", "fail", None])
    anomalies = {"repeated_calls": draw(severity), "blind_retries": draw(severity), "stall": {"turns": 1}}
    return {
        "assertions": draw(st.lists(_ASSERTIONS, max_size=6)),
        "semanticRubric": [{"id": f"d-{number}", **entry} for number, entry in enumerate(dimensions)],
        "checks": {"anomalies": anomalies},
    }


@st.composite
def _records(draw: st.DrawFn) -> JsonObject:
    """Give any record, whose messages are also the assistant's, with any answer."""
    record = draw(RECORDS)
    items: list[JsonObject] = record["items"]
    spoken = [
        {**item, "role": draw(st.sampled_from(["user", "assistant"]))} if item["type"] == "message" else item
        for item in items
    ]
    answer = draw(TEXTS | JSON_VALUES.map(lambda value: dumps(value).decode("utf-8")))
    return {**record, "items": spoken, "response": answer, "inputItemCount": draw(st.integers(0, 3))}


@given(keys=_keys(), value=_records(), tools=st.lists(_TOOLS))
def test_any_checks_on_any_record(keys: JsonObject, value: JsonObject, tools: list[str]) -> None:
    checks = case_checks(CheckKeys.from_json(keys))
    before = dumps(value)

    results = run_checks(checks, RunRecord.parse(value), should_use=tools, should_avoid=tools)

    copy = RunRecord.parse(loads(before))
    again = run_checks(case_checks(CheckKeys.from_json(keys)), copy, should_use=tools, should_avoid=tools)
    assert results == again
    assert dumps(value) == before
    ids = [result.check_id for result in results]
    assert len(set(ids)) == len(ids)
    assert all(result.found and result.looked_for for result in results)
    assert all("\n" not in result.found for result in results)
    dumps([result.to_json() for result in results])


@given(
    text=st.text("abß \n", max_size=300), wanted=st.text("abß", min_size=1, max_size=4), fold=st.booleans()
)
def test_an_excerpt_holds_what_was_looked_for(text: str, wanted: str, *, fold: bool) -> None:
    for holds in (
        holds_text(wanted, ignore_case=fold),
        holds_pattern(wanted, ignore_case=fold),
        holds_pattern(f"{wanted}+$"),
    ):
        if holds(text):
            shown = loads(excerpt(text, holds))
            assert len(shown) < 100
            assert holds_text(wanted, ignore_case=fold)(shown) or holds(shown)
