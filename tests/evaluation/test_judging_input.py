"""What is sent to a judge's model and what is not: redaction, input modes, the sample."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regress_core.evaluation.judging import in_sample
from tests.evaluation.judging import Case, evaluated_one, judge
from tests.evaluation.support import by_case
from tests.support.candidates import HARNESS
from tests.support.judges import RUBRIC, JudgeModel, judged_suite, shown_in
from tests.support.suites import baseline, candidate, write_record, write_suite

PHONE = "555-1234"


def write_secrets(root: Path, config: str) -> Path:
    """Write a case whose records hold a secret in every place that a judge may be shown."""
    write_suite(root, {"a": "same"}, config=config)
    for folder, record in (("records", baseline("a")), ("new", candidate("a", "same") or {})):
        texts = json.dumps(record).replace("sent", f"sent to {PHONE}").replace("On its", f"{PHONE}: on its")
        write_record(
            root / folder / "a.json", json.loads(texts) | {"contextSnapshot": {"phone": PHONE, "n": 7}}
        )
    return root


@pytest.mark.parametrize("mode", ["bounded", "arguments", "full"])
def test_the_suites_redaction_reaches_all_that_is_sent(tmp_path: Path, mode: str) -> None:
    redact = "redact: {patterns: [{name: PHONE, pattern: '[0-9]{3}-[0-9]{4}'}]}"
    config = judged_suite(RUBRIC, redact, judge=f"axes: true, regression: {{input_mode: {mode}}}")
    root = write_secrets(tmp_path / "suite", config)
    model = JudgeModel()

    judge(root, tmp_path / "store", model, out=tmp_path / "out")

    assert len(model.requests) == 3
    for request in model.requests:
        assert PHONE not in shown_in(request)
        assert "[PHONE_1]" in shown_in(request)
    kept = (tmp_path / "out" / "candidates" / "a.runrecord.json").read_text(encoding="utf-8")
    assert PHONE in kept  # what is kept here is what was recorded


@pytest.mark.parametrize("mode", ["bounded", "full"])
def test_what_the_team_wrote_is_redacted_too(tmp_path: Path, mode: str) -> None:
    """By patterns; the paths are those of records."""
    redact = "redact: {patterns: [{name: PHONE, pattern: '[0-9]{3}-[0-9]{4}'}], paths: [metadata, intent]}"
    config = judged_suite(
        redact,
        f"expectation: {{intent: 'Give {PHONE}.'}}",
        "baseline: old.yaml",
        judge=f"regression: {{input_mode: {mode}}}",
    )
    root = write_suite(tmp_path / "suite", {"a": "same"}, config=config)
    (root / "old.yaml").write_text(HARNESS.replace("name: shop", f"name: shop {PHONE}"), encoding="utf-8")
    model = JudgeModel()

    judge(root, tmp_path / "store", model)

    (request,) = model.requests
    assert PHONE not in shown_in(request)
    assert "Give [PHONE_1]." in shown_in(request)
    assert "shop [PHONE_1]" in shown_in(request)


def test_without_redaction_everything_is_sent_as_it_is(tmp_path: Path) -> None:
    root = write_secrets(tmp_path / "suite", judged_suite(RUBRIC, judge="axes: true"))
    model = JudgeModel()

    judge(root, tmp_path / "store", model)

    assert all(PHONE in shown_in(request) for request in model.requests)


def test_what_is_hidden_counts_in_no_verdict(tmp_path: Path) -> None:
    """A candidate that differs in nothing but what is redacted needs no new verdict."""
    redact = "redact: {paths: ['items[*].output']}"
    model = JudgeModel()
    for name, output in (("one", "sent"), ("two", "lost")):
        root = write_suite(tmp_path / name, {"a": "same"}, config=judged_suite(redact))
        for folder in ("records", "new"):
            path = root / folder / "a.json"
            path.write_text(path.read_text(encoding="utf-8").replace("sent", output), encoding="utf-8")
        judge(root, tmp_path / "store", model)

    assert model.asked == {("a", "regression"): 1}


def test_a_record_that_redaction_leaves_nothing_of_is_not_judged(tmp_path: Path) -> None:
    reasons = [f"{judge}: no verdict: the redacted record is no run record: " for judge in ("judge", "axes")]
    case = Case("same", {}, "warn", reasons, frozenset())

    evaluated_one(tmp_path, case, judged_suite("redact: {paths: [items]}", judge="axes: true"))


@pytest.mark.parametrize(("mode", "warned"), [("bounded", 0), ("arguments", 0), ("full", 1)])
def test_whole_records_are_sent_only_where_the_suite_says_so_and_the_summary_warns(
    tmp_path: Path, mode: str, warned: int
) -> None:
    """Invariant 7: by default no context, no tool output; in no mode but `full`."""
    config = judged_suite(judge=f"regression: {{input_mode: {mode}}}")
    root = write_secrets(tmp_path / "suite", config)
    model = JudgeModel()

    summary = judge(root, tmp_path / "store", model)

    (request,) = model.requests
    assert ('"phone"' in shown_in(request)) == (mode == "full")
    assert (f"sent to {PHONE}" in shown_in(request)) == (mode == "full")
    assert len(summary.warnings) == warned
    assert all("input_mode is full" in warning for warning in summary.warnings)


def test_the_cases_outside_the_sample_are_left_out(tmp_path: Path) -> None:
    cases = [f"case-{number}" for number in range(20)]
    config = judged_suite(RUBRIC, judge="axes: true, sample: 0.3")
    root = write_suite(tmp_path / "suite", dict.fromkeys(cases, "same"), config=config)
    chosen = {case for case in cases if in_sample(case, 0.3)}
    model = JudgeModel()

    entries = by_case(judge(root, tmp_path / "store", model))

    assert 0 < len(chosen) < len(cases)
    assert {case for case, _ in model.asked} == chosen
    assert {entry["status"] for entry in entries.values()} == {"pass"}
    for case, entry in entries.items():
        told = {(one["state"], one.get("reason"), one.get("intended", False)) for one in entry["judging"]}
        left_out = ("skipped", "not in the sample of 0.3", True)
        assert told == {("verdict", None, False) if case in chosen else left_out}


def test_a_sample_is_the_same_cases_each_time_and_about_its_share() -> None:
    cases = [f"case-{number}" for number in range(2000)]
    shares = (0.1, 0.3, 0.7, 1.0)
    samples = [{case for case in cases if in_sample(case, share)} for share in shares]

    assert samples[3] == set(cases)
    for share, sample, larger in zip(shares, samples, samples[1:], strict=False):
        assert sample < larger or share == 1.0
        # Five standard deviations of a binomial: 5 · √(2000 · 0.5 · 0.5) ≈ 112.
        assert abs(len(sample) - 2000 * share) < 112
