"""Old suites against new candidates: rules from the journal, whole records from the history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.evaluation.as_of import suite_as_of
from regress_core.evaluation.engine import run_evaluation
from regress_core.evaluation.entering import begin, join
from regress_core.evaluation.plan import EvaluationPlan, Trigger, build_plan
from regress_core.evaluation.ports import Ports
from regress_core.ids import new_evaluation_id
from regress_core.suite.candidate import CANDIDATE_FILE, load_candidate
from regress_core.suite.loading import Suite, load_suite
from tests.evaluation.support import Log
from tests.support.suites import Kind, baseline, write_record, write_suite

KINDS: dict[str, Kind] = {"a": "same", "b": "reworded", "c": "same"}
MARCH = datetime(2026, 3, 1, 2, tzinfo=UTC)
APRIL = datetime(2026, 4, 1, 2, tzinfo=UTC)


@pytest.fixture
def ports(tmp_path: Path) -> Iterator[Ports]:
    with Ports.open(tmp_path / "store") as ports:
        yield ports


def _plan(root: Path, suite: Suite, when: datetime, *, trigger: Trigger = "night") -> EvaluationPlan:
    candidate = load_candidate(root / CANDIDATE_FILE)
    return build_plan(
        suite, candidate, suite.cases, trigger=trigger, clock=lambda: when, new_id=new_evaluation_id
    )


def _evaluate(root: Path, ports: Ports, when: datetime, *, trigger: Trigger = "night") -> str:
    plan = begin(_plan(root, load_suite(root), when, trigger=trigger), ports.journal)
    run_evaluation(plan, ports, Log())
    return plan.evaluation_id


def _hashes(suite: Suite) -> dict[str, str]:
    return {case.case_id: case.baseline.sha256 for case in suite.cases}


def test_an_unchanged_suite_is_the_same(tmp_path: Path, ports: Ports) -> None:
    root = write_suite(tmp_path / "suite", KINDS)
    evaluation_id = _evaluate(root, ports, MARCH)
    suite, kept = load_suite(root), suite_as_of("shop", evaluation_id, ports)

    assert _hashes(kept) == _hashes(suite)
    assert [case.recorded_at for case in kept.cases] == [case.recorded_at for case in suite.cases]
    assert kept.content_hash == suite.content_hash
    assert _plan(root, kept, APRIL).plan_key == _plan(root, suite, MARCH).plan_key


def test_retired_and_changed_cases_are_as_they_were(tmp_path: Path, ports: Ports) -> None:
    root = write_suite(tmp_path / "suite", KINDS)
    old = _hashes(load_suite(root))
    evaluation_id = _evaluate(root, ports, MARCH)
    (root / "records" / "a.json").unlink()
    write_record(root / "records" / "c.json", baseline("c") | {"response": "It is lost."})
    (root / "suite.yaml").write_text(
        "name: shop\ngate: {signals: {finalOutputChanged: fail}}\n", encoding="utf-8"
    )

    kept = suite_as_of("shop", evaluation_id, ports)
    plan = begin(_plan(root, kept, APRIL), ports.journal)
    summary = run_evaluation(plan, ports, Log())

    assert _hashes(kept) == old
    assert {case.case_id: case.status for case in summary.cases} == {"a": "pass", "b": "warn", "c": "pass"}
    assert [Path(case.baseline.path).parent for case in kept.cases] == [ports.store / "as_of"] * 3
    again = suite_as_of("shop", plan.evaluation_id, ports)
    assert again.cases == kept.cases


def test_further_accepted_runs_are_kept_whole(tmp_path: Path, ports: Ports) -> None:
    root = write_suite(tmp_path / "suite", {"a": "reworded"})
    own = root / "records" / "a.json"
    write_record(root / "records" / "a" / "1.json", baseline("a"))
    write_record(root / "records" / "a" / "2.json", baseline("a") | {"response": "It is on its way."})
    own.unlink()
    evaluation_id = _evaluate(root, ports, MARCH)
    for name in ("1.json", "2.json"):
        (root / "records" / "a" / name).unlink()

    plan = begin(_plan(root, suite_as_of("shop", evaluation_id, ports), APRIL), ports.journal, fresh=True)
    summary = run_evaluation(plan, ports, Log())

    assert [case.status for case in summary.cases] == ["pass"]  # it is equal to the second one


def test_a_byte_order_mark_is_not_kept_and_does_no_harm(tmp_path: Path, ports: Ports) -> None:
    root = write_suite(tmp_path / "suite", {"a": "same"})
    own = root / "records" / "a.json"
    own.write_bytes(b"\xef\xbb\xbf" + own.read_bytes())

    kept = suite_as_of("shop", _evaluate(root, ports, MARCH), ports)
    plan = begin(_plan(root, kept, APRIL), ports.journal, fresh=True)

    assert [case.status for case in run_evaluation(plan, ports, Log()).cases] == ["pass"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-03-01", 0),
        ("2026-03-31", 0),
        ("2026-04-01", 1),
        ("2026-04-01T02:00:00Z", 1),
        ("2026-04-01T01:59:59Z", 0),
        ("2026-04-01T03:30:00+02:00", 0),
        ("9999-12-31", 1),
    ],
)
def test_a_date_is_the_newest_evaluation_up_to_its_end(
    tmp_path: Path, ports: Ports, text: str, found: int
) -> None:
    root = write_suite(tmp_path / "suite", KINDS)
    texts = [_hashes(load_suite(root))]
    _evaluate(root, ports, MARCH)
    write_record(root / "records" / "a.json", baseline("a") | {"response": "It is lost."})
    texts.append(_hashes(load_suite(root)))
    _evaluate(root, ports, APRIL)
    write_record(root / "records" / "b.json", baseline("b") | {"response": "It is lost."})
    _evaluate(root, ports, datetime(2026, 5, 1, tzinfo=UTC), trigger="cases")

    assert _hashes(suite_as_of("shop", text, ports)) == texts[found]


def test_a_date_has_all_cases_that_were_evaluated_of_the_suite(tmp_path: Path, ports: Ports) -> None:
    root = write_suite(tmp_path / "suite", KINDS)
    evaluation_id = _evaluate(root, ports, MARCH)
    before = _hashes(load_suite(root))
    write_record(root / "records" / "b.json", baseline("b") | {"response": "It is lost."})
    after = _hashes(load_suite(root))
    _evaluate(root, ports, APRIL)
    of_one = load_suite(root)
    of_one = replace(of_one, cases=of_one.cases[:1])
    by_hand = begin(_plan(root, of_one, APRIL.replace(day=2), trigger="cli"), ports.journal)
    run_evaluation(by_hand, ports, Log())
    older = suite_as_of("shop", evaluation_id, ports)
    again = begin(_plan(root, older, APRIL.replace(day=3), trigger="backfill"), ports.journal, fresh=True)
    run_evaluation(again, ports, Log())

    assert _hashes(suite_as_of("shop", "2026-03-31", ports)) == before
    assert _hashes(suite_as_of("shop", "2026-04-30", ports)) == after


def test_a_kept_file_that_was_changed_is_written_again(tmp_path: Path, ports: Ports) -> None:
    root = write_suite(tmp_path / "suite", {"a": "same"})
    evaluation_id = _evaluate(root, ports, MARCH)
    [case] = suite_as_of("shop", evaluation_id, ports).cases
    path = Path(case.baseline.path)
    path.write_text("{}", encoding="utf-8")

    assert suite_as_of("shop", evaluation_id, ports).cases == (case,)
    assert path.read_bytes() == (root / "records" / "a.json").read_bytes()


def test_what_cannot_be_found_is_one_line(tmp_path: Path, ports: Ports) -> None:
    root = write_suite(tmp_path / "suite", KINDS)
    evaluation_id = _evaluate(root, ports, MARCH)
    unfinished = join(_plan(root, load_suite(root), APRIL), ports.journal).evaluation_id
    wrong = {
        ("shop", "01a0"): "no evaluation 01a0 in this store",
        ("shop", "2026-02-28"): "no finished evaluation of suite shop up to 2026-02-28",
        ("bank", evaluation_id): f"evaluation {evaluation_id} is of suite shop, not of bank",
        ("shop", unfinished): f"evaluation {unfinished} is not finished",
    }
    for (name, text), message in wrong.items():
        with pytest.raises(InputError, match=message) as raised:
            suite_as_of(name, text, ports)
        assert raised.value.field == "--as-of"


def test_a_record_that_the_history_lost_is_named(tmp_path: Path, ports: Ports) -> None:
    root = write_suite(tmp_path / "suite", KINDS)
    evaluation_id = _evaluate(root, ports, MARCH)
    for path in (ports.store / "history" / "baseline_records").rglob("*.parquet"):
        path.unlink()

    with pytest.raises(InputError, match="case a: the history has no whole record"):
        suite_as_of("shop", evaluation_id, ports)
