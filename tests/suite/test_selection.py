"""Picking cases by pattern, tag and age; what is said of tags, schedule and trend leaves the hash alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.errors import InputError
from regress_core.evaluation.plan import build_plan
from regress_core.ids import new_evaluation_id, utc_now
from regress_core.records.json_io import JsonObject
from regress_core.suite.candidate import load_candidate
from regress_core.suite.case_files import NO_CASE_CONFIG
from regress_core.suite.config import SuiteConfig
from regress_core.suite.loading import CaseRef, RecordRef, Suite, load_suite
from regress_core.suite.nightly import ScheduleConfig, TrendConfig
from regress_core.suite.selection import Selection, select_cases
from tests.suite.support import refusal, write_suite

ALL = ["jan", "march", "none", "refund"]


def _write(root: Path, suite_yaml: str = "name: shop\n", case_yaml: Mapping[str, str] | None = None) -> Path:
    records: dict[str, JsonObject] = {
        "jan": {"startedAt": "2026-01-31T23:30:00-02:00"},  # 1 February in UTC
        "march": {"startedAt": "2026-03-01T00:00:00Z"},
        "none": {"startedAt": "last spring"},
        "refund": {"startedAt": "2026-03-02"},
    }
    write_suite(root, suite_yaml, **records)
    (root / "cases").mkdir()
    for case, text in (case_yaml or {}).items():
        (root / "cases" / f"{case}.yaml").write_text(text, encoding="utf-8")
    return root


TAGGED = {"jan": "tags: [smoke, slow]\n", "march": "tags: [slow]\n", "none": "tags: []\n"}


def _picked(suite: Suite, selection: Selection) -> list[str]:
    return [case.case_id for case in select_cases(suite, selection)]


def _utc(month: int, day: int, hour: int = 0) -> datetime:
    return datetime(2026, month, day, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    ("selection", "cases"),
    [
        pytest.param(Selection(), ALL, id="nothing said"),
        pytest.param(Selection(tags=("smoke",)), ["jan"], id="one tag"),
        pytest.param(Selection(tags=("slow",)), ["jan", "march"], id="a tag of two"),
        pytest.param(Selection(tags=("smoke", "slow")), ["jan", "march"], id="one of two tags"),
        pytest.param(Selection(tags=("Smoke",)), [], id="a tag has its case"),
        pytest.param(Selection(tags=("s*",)), [], id="a tag is no pattern"),
        pytest.param(Selection(tags=("",)), [], id="an empty tag"),
        pytest.param(Selection(("m*",), ("slow",)), ["march"], id="pattern and tag"),
        pytest.param(Selection(("refund",), ("slow",)), [], id="pattern without the tag"),
        pytest.param(Selection(since=_utc(1, 1)), ["jan", "march", "refund"], id="since, but for no time"),
        pytest.param(Selection(since=_utc(2, 1, 1)), ["jan", "march", "refund"], id="since in UTC"),
        pytest.param(Selection(since=_utc(2, 1, 2)), ["march", "refund"], id="since a bit later"),
        pytest.param(Selection(since=_utc(3, 1)), ["march", "refund"], id="since that very moment"),
        pytest.param(Selection(since=_utc(3, 2)), ["refund"], id="a date begins its day"),
        pytest.param(Selection(since=_utc(3, 3)), [], id="since too late"),
        pytest.param(Selection(("*n*",), ("slow",), _utc(2, 1)), ["jan"], id="all three"),
    ],
)
def test_each_field_narrows(tmp_path: Path, selection: Selection, cases: list[str]) -> None:
    suite = load_suite(_write(tmp_path / "shop", case_yaml=TAGGED))

    assert _picked(suite, selection) == cases


def test_a_tag_of_the_suite_is_one_of_every_case(tmp_path: Path) -> None:
    suite = load_suite(_write(tmp_path / "shop", "name: shop\ntags: [nightly]\n", TAGGED))

    assert _picked(suite, Selection(tags=("nightly",))) == ALL
    assert _picked(suite, Selection(tags=("smoke",))) == ["jan"]


NAMES = st.sampled_from(["a", "b", "ab"])
CASES = st.lists(
    st.tuples(NAMES, st.lists(NAMES, max_size=2), st.none() | st.integers(1, 4)),
    unique_by=lambda case: case[0],
)


@given(
    cases=CASES,
    patterns=st.lists(st.sampled_from(["a", "b", "a*", "*"]), max_size=2),
    tags=st.lists(NAMES, max_size=2),
    day=st.none() | st.integers(1, 4),
)
def test_all_fields_together_are_each_after_the_other(
    cases: list[tuple[str, list[str], int | None]], patterns: list[str], tags: list[str], day: int | None
) -> None:
    suite = _suite_of(
        [
            CaseRef(
                case_id=name,
                name=name,
                baseline=RecordRef(f"{name}.json", "0"),
                config=NO_CASE_CONFIG.model_copy(update={"tags": tuple(own)}),
                recorded_at=None if recorded is None else _utc(1, recorded),
            )
            for name, own, recorded in cases
        ]
    )
    by_pattern = Selection(patterns=tuple(patterns))
    by_tag = Selection(tags=tuple(tags))
    by_age = Selection(since=None if day is None else _utc(1, day))

    together = select_cases(suite, Selection(by_pattern.patterns, by_tag.tags, by_age.since))

    each = [_picked(suite, selection) for selection in (by_pattern, by_tag, by_age)]
    assert together == tuple(case for case in suite.cases if all(case.case_id in picked for picked in each))


def _suite_of(cases: list[CaseRef]) -> Suite:
    return Suite("shop", Path("shop"), SuiteConfig(), None, None, tuple(cases), "")


PLAIN = "name: shop\n"
SAME: dict[str, tuple[str, dict[str, str]]] = {
    "tags of the suite": (PLAIN + "tags: [nightly]\n", {}),
    "tags of a case": (PLAIN, {"jan": "tags: [smoke]\n"}),
    "schedule": (PLAIN + "schedule: {cron: '30 2 * * *', timezone: Europe/Berlin}\n", {}),
    "trend": (PLAIN + "trend: {evaluations: 30, max_drop: 0.1}\n", {}),
    "all of them": (
        PLAIN + "tags: [a]\nschedule: {cron: '0 1 * * 1-5'}\ntrend: {max_drop: 0.2}\n",
        {"march": "tags: [b, c]\n"},
    ),
}


def _hashes(root: Path) -> tuple[str, str]:
    suite = load_suite(root)
    candidate = load_candidate(root / "records")
    plan = build_plan(suite, candidate, suite.cases, trigger="cli", clock=utc_now, new_id=new_evaluation_id)
    return suite.content_hash, plan.plan_key


@pytest.mark.parametrize(("suite_yaml", "case_yaml"), SAME.values(), ids=SAME.keys())
def test_what_changes_no_outcome_leaves_hash_and_plan(
    tmp_path: Path, suite_yaml: str, case_yaml: dict[str, str]
) -> None:
    plain = _write(tmp_path / "plain" / "shop", PLAIN)

    assert _hashes(_write(tmp_path / "other" / "shop", suite_yaml, case_yaml)) == _hashes(plain)


def test_tags_beside_a_check_leave_hash_and_plan(tmp_path: Path) -> None:
    check = "checks: {anomalies: {blind_retries: warn}}\n"
    plain = _write(tmp_path / "plain" / "shop", PLAIN, {"jan": check})
    tagged = _write(tmp_path / "other" / "shop", PLAIN, {"jan": check + "tags: [smoke]\n"})
    without = _write(tmp_path / "without" / "shop", PLAIN)

    assert _hashes(tagged) == _hashes(plain)
    assert _hashes(tagged) != _hashes(without)


def test_the_defaults_of_the_night(tmp_path: Path) -> None:
    config = load_suite(_write(tmp_path / "shop", PLAIN + "schedule: {cron: '0 1 * * *'}\n")).config

    assert config.schedule == ScheduleConfig(cron="0 1 * * *", timezone="UTC")
    assert config.trend == TrendConfig(evaluations=14, max_drop=0.05)
    assert load_suite(_write(tmp_path / "other", PLAIN)).config.schedule is None


REFUSED: dict[str, tuple[str, str, str]] = {
    "no such time zone": ("schedule: {cron: 0 1 * * *, timezone: Mars/Base}", "$.schedule.timezone", "Mars"),
    "a path for a time zone": ("schedule: {cron: 0 1 * * *, timezone: ../x}", "$.schedule.timezone", "../x"),
    "an empty time zone": ("schedule: {cron: 0 1 * * *, timezone: ''}", "$.schedule.timezone", "''"),
    "a time zone and no cron": ("schedule: {timezone: UTC}", "$.schedule.cron", "missing"),
    "too few fields": ("schedule: {cron: 0 1 * *}", "$.schedule.cron", ""),
    "seconds too": ("schedule: {cron: 0 0 1 * * *}", "$.schedule.cron", ""),
    "an alias": ("schedule: {cron: '@daily'}", "$.schedule.cron", ""),
    "an unknown key": ("schedule: {cron: 0 1 * * *, zone: UTC}", "$.schedule.zone", "unknown key"),
    "a schedule in one word": ("schedule: daily", "$.schedule", ""),
    "one evaluation is no trend": ("trend: {evaluations: 1}", "$.trend.evaluations", ""),
    "more than a year": ("trend: {evaluations: 366}", "$.trend.evaluations", ""),
    "no drop at all": ("trend: {max_drop: 0}", "$.trend.max_drop", ""),
    "more than everything": ("trend: {max_drop: 1.01}", "$.trend.max_drop", ""),
    "an empty tag": ("tags: ['']", "$.tags[0]", ""),
    "a number for a tag": ("tags: [1]", "$.tags[0]", ""),
    "one tag without a list": ("tags: smoke", "$.tags", ""),
}


@pytest.mark.parametrize(("line", "field", "word"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_wrong_in_suite_yaml_is_one_line(tmp_path: Path, line: str, field: str, word: str) -> None:
    root = write_suite(tmp_path / "shop", f"name: shop\n{line}\n")

    with pytest.raises(InputError) as raised:
        load_suite(root)

    error = refusal(raised)
    assert (error.file, error.field) == (str(root / "suite.yaml"), field)
    assert word in str(error)


def test_a_wrong_tag_of_a_case_names_its_file(tmp_path: Path) -> None:
    root = _write(tmp_path / "shop", case_yaml={"jan": "tags: [[smoke]]\n"})

    with pytest.raises(InputError) as raised:
        load_suite(root)

    error = refusal(raised)
    assert (error.file, error.field) == (str(root / "cases" / "jan.yaml"), "$.tags[0]")


def _plain(*cases: str) -> dict[str, JsonObject]:
    return {case: {} for case in cases}


@pytest.mark.parametrize(
    ("patterns", "warned"),
    [
        ([], []),
        (["a*", "b-2"], []),
        (["a*", "x", "list.txt"], ["x", "list.txt"]),
        (["x"], []),
    ],
)
def test_a_pattern_beside_others_that_meets_no_case_is_told(
    tmp_path: Path, patterns: list[str], warned: list[str]
) -> None:
    write_suite(tmp_path, "name: shop\n", **_plain("a-1", "b-2"))
    told: list[str] = []

    select_cases(load_suite(tmp_path), Selection(tuple(patterns)), told.append)

    assert told == [f"suite shop: no case matches {pattern}" for pattern in warned]


def test_an_id_of_what_globs_are_made_of_is_met_by_itself(tmp_path: Path) -> None:
    write_suite(tmp_path, "name: shop\n", **_plain("a[1]", "a1"))

    picked = select_cases(load_suite(tmp_path), Selection(("a[1]",)))

    assert sorted(case.name for case in picked) == ["a1", "a[1]"]
