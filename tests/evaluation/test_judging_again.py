"""Judged again, taken up again, in another order: nothing is paid for twice, and it comes to the same."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regress_core.history.sql import query
from regress_core.history.store import History
from regress_core.judge.outcome import JudgeName
from regress_core.judge.time_limit import JudgeTimeUpError
from regress_core.models.client import ModelError, ModelErrorKind, ModelReply, ModelRequest
from regress_core.records.json_io import JsonObject, dumps
from tests.evaluation.judging import judge
from tests.evaluation.support import Log, by_case
from tests.support.candidates import asked as candidate_asked
from tests.support.candidates import write_candidate_suite
from tests.support.judges import (
    COST_USD,
    RUBRIC,
    Asked,
    JudgeModel,
    Replies,
    grades,
    judged_suite,
    scores,
    shown_in,
    verdict,
)
from tests.support.suites import Kind, as_json, lasting, tree, write_suite

JUDGES: tuple[JudgeName, ...] = ("regression", "rubric", "axes")
DOWN = ModelError("outage", "it is down", status=503)
KINDS: dict[str, Kind] = {"a": "same", "b": "reworded", "c": "same", "d": "failed", "e": "missing"}
REPLIES: Mapping[Asked, Replies] = {
    ("a", "regression"): (verdict("fail"), verdict("pass"), verdict("pass")),
    ("b", "regression"): (verdict("fail"), verdict("fail"), verdict("warn")),
    ("b", "rubric"): (grades(calm=False), grades(calm=False), grades(calm=True)),
    ("c", "axes"): "I cannot evaluate this.",
    ("c", "regression"): verdict("warn"),
}
TIMES: Mapping[Asked, int] = {
    ("a", "regression"): 3,
    ("a", "rubric"): 1,
    ("a", "axes"): 1,
    ("b", "regression"): 3,
    ("b", "rubric"): 3,
    ("b", "axes"): 1,
    ("c", "regression"): 1,
    ("c", "rubric"): 1,
    ("c", "axes"): 1,
}
"""How often each judge asks in all, where a fail is confirmed by two more verdicts."""
CONFIG = judged_suite(RUBRIC, judge="axes: true, confirm_fail: 3")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_suite(tmp_path / "suite", KINDS, config=CONFIG)


def test_the_same_again_asks_nothing_and_costs_nothing(tmp_path: Path) -> None:
    config = judged_suite(RUBRIC, judge="axes: true")
    root = write_suite(tmp_path / "suite", {"a": "same", "b": "reworded"}, config=config)
    first = judge(root, tmp_path / "store", JudgeModel(), out=tmp_path / "one")
    again = JudgeModel()

    second = judge(root, tmp_path / "store", again, out=tmp_path / "two")

    assert again.requests == []
    assert second.evaluation_id != first.evaluation_id
    assert [(one.verdicts, one.cached) for one in second.judges] == [(2, 2)] * 3
    assert second.cost is not None
    assert (second.cost.judge_usd, second.cost.saved_by_cache_usd) == (0, pytest.approx(6 * COST_USD))
    assert without_cache(as_json(second)) == without_cache(as_json(first))


def without_cache(summary: JsonObject) -> JsonObject:
    """Give a summary without what tells whether its verdicts are new."""
    told = {key: value for key, value in lasting(summary).items() if key not in ("judges", "cost")}
    for case in told["cases"]:
        for one in case["judging"]:
            one.pop("cached", None)
            one.pop("costUsd", None)
    return told


def test_what_was_no_verdict_is_asked_for_again(tmp_path: Path) -> None:
    """R49."""
    root = write_suite(tmp_path / "suite", {"a": "same", "b": "same"}, config=judged_suite())
    judge(root, tmp_path / "store", JudgeModel({("a", "regression"): "no idea"}))
    again = JudgeModel()

    summary = judge(root, tmp_path / "store", again)

    assert again.asked == {("a", "regression"): 1}
    assert {case.status for case in summary.cases} == {"pass"}


@pytest.mark.parametrize("how", ["the same command", "--resume"])
def test_a_judge_that_met_trouble_is_asked_again_and_no_other(tmp_path: Path, how: str) -> None:
    config = judged_suite(RUBRIC, judge="axes: true")
    root = write_suite(tmp_path / "suite", {"a": "same", "b": "same"}, config=config)
    store = tmp_path / "store"
    first = judge(root, store, JudgeModel({("a", "rubric"): DOWN}))
    again, log = JudgeModel(), Log()

    resumed = first.evaluation_id if how == "--resume" else None
    second = judge(None if resumed else root, store, again, emit=log, resumed=resumed)

    assert (first.evaluation_id, log.started, log.resumed) == (second.evaluation_id, ["a"], ["b"])
    assert again.asked == {("a", "rubric"): 1}
    assert [case.status for case in first.cases] == ["warn", "pass"]
    assert [case.status for case in second.cases] == ["pass", "pass"]
    assert second.cost is not None
    assert second.cost.judge_usd == pytest.approx(6 * COST_USD)  # a refused request costs nothing
    assert second.cost.saved_by_cache_usd == 0, "what this evaluation has paid for itself is no saving"
    costs = History.open(store).table("case_results").to_pylist()
    assert [row["cost_usd"] for row in costs if row["revision"] == 2] == [pytest.approx(3 * COST_USD)]
    sql = "SELECT state, revision, count(*)::INT n FROM judge_calls GROUP BY ALL ORDER BY ALL"
    assert query(History.open(store), sql).table.to_pylist() == [
        {"state": "settled", "revision": 1, "n": 5},
        {"state": "settled", "revision": 2, "n": 1},
        {"state": "unbilled", "revision": 1, "n": 1},
    ]


def test_what_the_cap_kept_from_a_judge_is_judged_by_the_next_evaluation(tmp_path: Path) -> None:
    """$0.001 may be spent, which is one reservation; a call costs $0.0002."""
    price, cap = "{input: 0.0, output: 10.0}", "max_output_tokens: 100, cap_usd: 0.001"
    cases = ["a", "b", "c"]
    config = judged_suite(judge=cap, price=price)
    root = write_suite(tmp_path / "suite", dict.fromkeys(cases, "same"), config=config)
    model = JudgeModel()
    skipped = [judge(root, tmp_path / "store", model).cost for _ in cases]

    assert [cost and cost.skipped_by_cap for cost in skipped] == [2, 1, 0]
    assert model.asked == {(case, "regression"): 1 for case in cases}


def test_an_interrupt_at_any_event_has_nothing_asked_twice(tmp_path: Path, root: Path) -> None:
    """Invariants 3 and 6."""
    whole, undisturbed = Log(), JudgeModel(REPLIES)
    expected = judge(root, tmp_path / "store", undisturbed, emit=whole, concurrency=1)
    assert undisturbed.asked == TIMES

    for at in range(len(whole.events) - 1):  # with the last one everything is done
        store, model = tmp_path / f"store{at}", JudgeModel(REPLIES)
        with suppress(KeyboardInterrupt):
            judge(root, store, model, emit=Log(interrupt_at=at), concurrency=1)
        summary = judge(root, store, model, concurrency=1)

        assert lasting(as_json(summary)) == lasting(as_json(expected)), at
        assert model.asked == TIMES, at


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("order", ["abcde", "edcba", "cadeb"])
def test_order_and_concurrency_change_nothing(
    tmp_path: Path, root: Path, order: str, concurrency: int
) -> None:
    """Invariant 3."""
    plain = judge(root, tmp_path / "plain", JudgeModel(REPLIES), concurrency=2)
    model = JudgeModel(REPLIES)

    summary = judge(root, tmp_path / "store", model, cases=list(order), concurrency=concurrency)

    assert lasting(as_json(summary)) == lasting(as_json(plain))
    assert model.asked == TIMES


EVERYTHING = judged_suite(
    RUBRIC,
    "expectation: {intent: be brief}",
    "redact: {patterns: [{name: NO, pattern: 'find_[a-z]+'}], paths: ['items[*].output']}",
    "assertions:",
    "  - {kind: text_matches, pattern: '[Oo]n its way', severity: warn}",
    "  - {kind: json, schema: {type: object}, severity: warn}",
    "semanticRubric: [{id: news, quality: it tells where, required: [way]}]",
    "gate: {signals: {toolsChanged: fail}, judge_clears: [finalOutputChanged], axis_minimum: 1}",
    judge=(
        "axes: true, confirm_fail: 3, regression: {input_mode: arguments, instructions: own.md}, "
        "settings: {top_p: 0.5}"
    ),
)
MORE = """\
rubric:
  - {id: brief, question: 'Is it brief?', passRubric: It is brief., failRubric: It is long.}
"""


def write_everything(root: Path) -> Path:
    """Write a suite that says something in every place where it can say something about judges."""
    write_suite(root, {"a": "same", "b": "reworded"}, config=EVERYTHING)
    (root / "own.md").write_text("Be harsh.", encoding="utf-8")
    (root / "cases").mkdir()
    (root / "cases" / "b.yaml").write_text(MORE, encoding="utf-8")
    when = "2026-01-01T00:00:00+00:00"
    signed: JsonObject = {
        "caseId": "b",
        "dimension": "brief",
        "passed": False,
        "decision": "accepted",
        "reason": "seen",
        "who": "ann",
        "when": when,
    }
    (root / "signoffs.jsonl").write_bytes(dumps(signed) + b"\n")
    override: JsonObject = {
        "caseId": "a",
        "reason": "known",
        "owner": "ann",
        "expires": "2999-12-31",
        "createdAt": when,
    }
    (root / "overrides.jsonl").write_bytes(dumps(override) + b"\n")
    return root


def sent(model: JudgeModel) -> list[tuple[str | None, str, JsonObject]]:
    """Give what a model was sent, in an order of its own."""
    found = [(request.system_prompt, shown_in(request), request.settings) for request in model.requests]
    return sorted(found, key=str)


def test_an_evaluation_goes_on_as_it_was_planned_whatever_became_of_its_suite(tmp_path: Path) -> None:
    root, store = write_everything(tmp_path / "suite"), tmp_path / "store"
    replies: Mapping[Asked, Replies] = {("b", "rubric"): grades(calm=True, brief=False)}
    plain = JudgeModel(replies)
    expected = judge(root, tmp_path / "plain", plain)
    down = judge(root, store, JudgeModel({(case, name): DOWN for case in "ab" for name in JUDGES}))
    for name in ("own.md", "cases/b.yaml", "signoffs.jsonl", "overrides.jsonl"):
        (root / name).unlink()
    (root / "suite.yaml").write_text("name: shop\n", encoding="utf-8")
    model = JudgeModel(replies)

    summary = judge(None, store, model, resumed=down.evaluation_id)

    assert sent(model) == sent(plain)
    assert not any("find_order" in text for _, text, _ in sent(model))
    assert len(model.requests) == 6 + 2  # the rubric's fail on b is confirmed
    assert lasting(as_json(summary)) == lasting(as_json(expected))
    assert [case.status for case in summary.cases] == ["warn", "warn"]
    assert summary.cases[0].override is not None
    assert [one.decision for one in summary.cases[1].rubric or ()] == [None, "accepted"]


class Hanging(JudgeModel):
    """Gives no answer."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Wait for longer than any judge may take."""
        await asyncio.sleep(3600)
        return await super().complete(request)


def test_judges_that_take_too_long_interrupt_the_evaluation_and_no_live_run_is_repeated(
    tmp_path: Path,
) -> None:
    config = judged_suite(judge="timeout_minutes: 0.05")
    root = write_candidate_suite(tmp_path / "suite", {"a": "same", "b": "same"}, config=config)
    store = tmp_path / "store"
    with pytest.raises(JudgeTimeUpError, match=r"timeout_minutes \(0.05\)"):
        judge(root, store, Hanging())
    model = JudgeModel()

    summary = judge(root, store, model)

    assert [case.status for case in summary.cases] == ["pass", "pass"]
    assert candidate_asked(root) == ["a/1", "a/1", "b/1", "b/1"]  # two turns each
    assert model.asked == {("a", "regression"): 1, ("b", "regression"): 1}


def test_judging_changes_no_file_of_the_suite(tmp_path: Path, root: Path) -> None:
    """Invariant 7."""
    before = tree(root)

    judge(root, tmp_path / "store", JudgeModel(REPLIES))

    assert tree(root) == before


@dataclass(frozen=True)
class Said:
    """A reply, and the verdict in it; None where there is none."""

    reply: str | ModelError
    word: str | None


def wrapped(word: str, around: str) -> Said:
    return Said(around.replace("{}", verdict(word)), word)


def broken_off(word: str, end: int) -> Said:
    return Said(verdict(word)[:end], None)


def nothing(reply: str | ModelError) -> Said:
    return Said(reply, None)


KINDS_OF_TROUBLE: list[ModelErrorKind] = ["outage", "time-out", "connection", "refused request"]
WORDS = st.sampled_from(["pass", "warn", "fail"])
AROUND = st.sampled_from(["{}", "```json\n{}\n```", "<think>pass</think>{}", "I think: {} So be it."])
NO_VERDICTS: list[str | ModelError] = [
    *(verdict(word) for word in ("Pass", "passed", "", "ok", "null")),
    *(2 * verdict(word) for word in ("pass", "fail")),
    verdict("pass") + verdict("fail"),
    f"<think>{verdict('pass')}</think>",
    scores(),
    grades(calm=True),
    "[]",
    "{}",
    '{"score": NaN}',
    *(ModelError(kind, "no") for kind in KINDS_OF_TROUBLE),
]
SAID = st.one_of(
    st.builds(wrapped, WORDS, AROUND),
    st.builds(broken_off, WORDS, st.integers(0, 40)),
    st.text(max_size=40).map(nothing),
    st.sampled_from(NO_VERDICTS).map(nothing),
)


@settings(max_examples=20)
@given(st.lists(SAID, min_size=6, max_size=6))
def test_nothing_but_a_verdict_clears_a_case_and_nothing_at_all_an_inconclusive_one(said: list[Said]) -> None:
    """Invariant 4: each reply is given for a case that is the same, one that is reworded, one unknown."""
    kinds: dict[str, Kind] = {}
    replies: dict[Asked, Replies] = {}
    for number, one in enumerate(said):
        for kind in ("same", "reworded", "missing"):
            kinds[f"{kind}-{number}"] = kind
            replies[f"{kind}-{number}", "regression"] = one.reply
    with TemporaryDirectory() as folder:
        place = Path(folder)
        config = judged_suite("gate: {judge_clears: [finalOutputChanged]}")
        root = write_suite(place / "suite", kinds, config=config)
        summary = judge(root, place / "store", JudgeModel(replies))

    for number, one in enumerate(said):
        entries = {kind: by_case(summary)[f"{kind}-{number}"] for kind in ("same", "reworded", "missing")}
        for kind in ("same", "reworded"):
            assert entries[kind]["status"] == (one.word or "warn"), (kind, one)
            found = entries[kind]["judge"]["verdict"] if "judge" in entries[kind] else None
            assert found == one.word
        assert (entries["missing"]["status"], entries["missing"]["inconclusive"]) == ("warn", True)
        assert "judging" not in entries["missing"]


@settings(max_examples=20)
@given(
    st.lists(
        st.one_of(
            st.floats().map(repr),
            st.sampled_from(["0", "6", "-1", "1e999", '"5"', "true", "null", "[5]", "5.0000001", "0.999"]),
        ),
        min_size=6,
        max_size=6,
    )
)
def test_a_number_that_is_no_score_is_none(numbers: list[str]) -> None:
    """Invariant 4, J7."""
    cases = [f"case-{number}" for number in range(len(numbers))]
    replies: dict[Asked, Replies] = {
        (case, "axes"): scores().replace("5", number, 1) for case, number in zip(cases, numbers, strict=True)
    }
    with TemporaryDirectory() as folder:
        place = Path(folder)
        config = judged_suite(judge="regression: false, axes: true")
        root = write_suite(place / "suite", dict.fromkeys(cases, "same"), config=config)
        summary = judge(root, place / "store", JudgeModel(replies))

    valid = {
        case: float(number)
        for case, number in zip(cases, numbers, strict=True)
        if number[0].isdigit() and 1 <= float(number) <= 5
    }
    assert {
        case: entry["axes"]["accuracy"] for case, entry in by_case(summary).items() if "axes" in entry
    } == valid
    assert summary.axes is not None
    assert (summary.axes.total, summary.axes.not_judged) == (len(valid), len(cases) - len(valid))
    assert all(entry["status"] == "warn" for case, entry in by_case(summary).items() if case not in valid)
