"""Which evaluation a command takes up, and which of its cases it does again."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.evaluation.entering import join
from regress_core.evaluation.ports import Ports
from regress_core.history.store import History
from regress_core.suite.contract import RunRegressionSummary
from tests.evaluation.support import (
    Log,
    Place,
    by_case,
    evaluated,
    interrupted,
    plan_of,
    resumed,
    run,
    taken_up,
)
from tests.support.suites import (
    MIXED,
    as_json,
    baseline,
    candidate,
    lasting,
    write_record,
    write_suite,
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    root = write_suite(tmp_path / "suite", {"a": "same", "b": "same", "c": "reworded", "d": "missing"})
    return Place(root, tmp_path / "store")


def with_candidate_away(place: Place, case: str = "b") -> RunRegressionSummary:
    """Evaluate while a candidate record is away; it is back afterwards."""
    plan = taken_up(plan_of(place.root), place.store)
    path = place.root / "new" / f"{case}.json"
    path.rename(place.root / "away")
    summary = run(plan, place.store)
    (place.root / "away").rename(path)
    return summary


# -- begin


def test_the_same_command_takes_up_an_unfinished_evaluation(mixed: Place) -> None:
    begun = interrupted(mixed.root, mixed.store, 8)

    again = taken_up(plan_of(mixed.root), mixed.store)

    assert again.evaluation_id == begun.evaluation_id
    assert (again.revision, again.created_at) == (1, begun.created_at)


def test_a_finished_one_without_trouble_is_followed_by_a_new_one(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", {"a": "same", "b": "failed"})
    first, second = (evaluated(root, tmp_path / "store") for _ in range(2))

    assert first.evaluation_id != second.evaluation_id
    assert lasting(as_json(first)) == lasting(as_json(second))
    assert History.open(tmp_path / "store").table("evaluations").num_rows == 2


def test_trouble_that_will_not_pass_does_not_reopen(mixed: Place) -> None:
    first = evaluated(mixed.root, mixed.store)

    again = taken_up(plan_of(mixed.root), mixed.store)

    assert by_case(first)["d-missing"]["inconclusive"]
    assert again.evaluation_id != first.evaluation_id
    assert again.revision == 1


def test_fresh_leaves_an_unfinished_one_alone(mixed: Place) -> None:
    begun = interrupted(mixed.root, mixed.store, 8)
    log = Log()

    fresh = taken_up(plan_of(mixed.root), mixed.store, fresh=True)
    run(fresh, mixed.store, log)

    assert fresh.evaluation_id != begun.evaluation_id
    assert log.started == list(MIXED)
    with Ports.open(mixed.store) as ports:
        assert [row.evaluation_id for row in ports.journal.unfinished()] == [begun.evaluation_id]


def test_retryable_trouble_reopens_and_redoes_exactly_that(place: Place) -> None:
    first = with_candidate_away(place)
    assert {case: entry["inconclusive"] for case, entry in by_case(first).items()} == {
        "a": False,
        "b": True,
        "c": False,
        "d": True,
    }
    log = Log()

    second = evaluated(place.root, place.store, log)

    assert second.evaluation_id == first.evaluation_id
    assert log.opening.revision == 2
    assert log.started == ["b"]
    assert sorted(log.resumed) == ["a", "c", "d"]
    assert {case: entry["status"] for case, entry in by_case(second).items()} == {
        "a": "pass",
        "b": "pass",
        "c": "warn",
        "d": "warn",
    }
    assert by_case(second)["d"]["inconclusive"]
    third = evaluated(place.root, place.store)
    assert third.evaluation_id != first.evaluation_id, "nothing is left that may pass"


def test_the_history_shows_each_case_of_its_newest_revision(place: Place) -> None:
    with_candidate_away(place)
    evaluated(place.root, place.store)

    history = History.open(place.store)
    rows = history.table("case_results").select(["case_id", "revision", "inconclusive"]).to_pylist()
    assert sorted((r["case_id"], r["revision"], r["inconclusive"]) for r in rows) == [
        ("a", 1, False),
        ("b", 1, True),
        ("b", 2, False),
        ("c", 1, False),
        ("d", 1, True),
    ]
    evaluations = history.table("evaluations").select(["revision", "passed", "inconclusive"]).to_pylist()
    assert [tuple(row.values()) for row in evaluations] == [(1, 1, 2), (2, 2, 1)]


def test_outputs_of_a_later_revision_are_whole(place: Place, tmp_path: Path) -> None:
    with_candidate_away(place)

    evaluated(place.root, place.store, out=tmp_path / "out")

    names = {f"candidates/{case}.runrecord.json" for case in "abc"}
    names |= {f"comparisons/{case}.comparison.json" for case in "abc"}
    names |= {f"results/{case}.result.json" for case in "abcd"} | {"summary.json"}
    found = {str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert found == names


def test_trouble_that_lasts_is_met_again_each_time(place: Place) -> None:
    ids = {with_candidate_away(place).evaluation_id for _ in range(3)}

    assert len(ids) == 1
    log = Log()
    assert by_case(evaluated(place.root, place.store, log))["b"]["status"] == "pass"
    assert log.opening.revision == 4


def test_a_reopened_one_that_is_interrupted_goes_on_in_its_revision(place: Place) -> None:
    evaluation_id = with_candidate_away(place).evaluation_id
    interrupted(place.root, place.store, 4)  # start, three resumed, the start of case b
    log = Log()

    summary = evaluated(place.root, place.store, log)

    assert summary.evaluation_id == evaluation_id
    assert (log.opening.revision, log.started) == (2, ["b"])
    assert by_case(summary)["b"]["status"] == "pass"


@pytest.mark.parametrize(("by_id", "again"), [(False, ["b"]), (True, ["b", "d"])])
def test_an_unfinished_one_redoes_trouble_as_a_finished_one_does(
    place: Place, *, by_id: bool, again: list[str]
) -> None:
    """Case b lost its candidate record for a while, case d never had one; e has not been evaluated yet."""
    write_record(place.root / "records" / "e.json", baseline("e"))
    plan = taken_up(plan_of(place.root), place.store)
    path = place.root / "new" / "b.json"
    path.rename(place.root / "away")
    with pytest.raises(KeyboardInterrupt):
        run(plan, place.store, Log(interrupt_at=1 + 6 + 4 + 6 + 4), concurrency=1)
    (place.root / "away").rename(path)
    log = Log()

    once_more = (
        resumed(plan.evaluation_id, place.store) if by_id else taken_up(plan_of(place.root), place.store)
    )
    summary = run(once_more, place.store, log)

    assert (summary.evaluation_id, log.opening.revision) == (plan.evaluation_id, 1)
    assert log.started == [*again, "e"]
    assert by_case(summary)["b"]["status"] == "pass"


# -- resume


def test_resuming_redoes_exactly_the_inconclusive_ones(place: Place) -> None:
    first = with_candidate_away(place)
    log = Log()

    summary = run(resumed(first.evaluation_id or "", place.store), place.store, log)

    assert log.opening.revision == 2
    assert log.started == ["b", "d"]
    assert log.resumed == ["a", "c"]
    assert by_case(summary)["b"]["status"] == "pass"
    assert by_case(summary)["d"]["reasons"] == ["no candidate record"]


def test_resuming_what_has_no_trouble_evaluates_nothing(tmp_path: Path) -> None:
    root, store = write_suite(tmp_path / "suite", {"a": "same", "b": "failed"}), tmp_path / "store"
    first = evaluated(root, store)
    shutil.rmtree(store / "outputs")
    log = Log()

    again = run(resumed(first.evaluation_id or "", store), store, log)

    assert again == first
    assert (log.started, log.resumed, log.opening.revision) == ([], ["a", "b"], 1)
    assert (store / "outputs" / str(first.evaluation_id) / "summary.json").is_file()
    assert History.open(store).table("evaluations").num_rows == 1


def test_resuming_an_unknown_id_is_refused(mixed: Place) -> None:
    evaluated(mixed.root, mixed.store)

    with pytest.raises(InputError) as raised:
        resumed("01234567-89ab-7def-8123-456789abcdef", mixed.store)

    assert str(raised.value).startswith("--resume: no evaluation 01234567-89ab-7def-8123-456789abcdef ")
    assert "\n" not in str(raised.value)


def test_resuming_takes_rules_and_cases_from_the_journal(tmp_path: Path) -> None:
    """The suite's own files have gone; the records are where they were."""
    config = (
        "name: shop\nexpectation: intent.yaml\n"
        "gate: {signals: {toolsChanged: fail}, min_pass_rate: 0.9}\ncompare: {exclude_sections: [response]}\n"
    )
    root, store = tmp_path / "suite", tmp_path / "store"
    root.mkdir()
    (root / "intent.yaml").write_text("intent: shorter\n", encoding="utf-8")
    write_suite(root, MIXED, config=config, orphans=["z"])
    undisturbed = evaluated(root, tmp_path / "other")
    begun = interrupted(root, store, 8)
    for name in ("suite.yaml", "candidate.yaml", "intent.yaml"):
        (root / name).unlink()

    summary = run(resumed(begun.evaluation_id, store), store, out=tmp_path / "out")

    assert lasting(as_json(summary)) == lasting(as_json(undisturbed))
    assert by_case(summary)["e-other-tool"]["status"] == "fail"
    assert by_case(summary)["b-reworded"]["status"] == "pass"
    assert '"intent": "shorter"' in _spaced(tmp_path / "out" / "results" / "a-same.result.json")


def _spaced(path: Path) -> str:
    return path.read_text(encoding="utf-8").replace('":"', '": "')


def test_resuming_works_from_any_working_folder(
    mixed: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    undisturbed = evaluated(mixed.root, tmp_path / "other")
    monkeypatch.chdir(mixed.root.parent)
    begun = interrupted(Path("suite"), mixed.store, 8)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    summary = run(resumed(begun.evaluation_id, mixed.store), mixed.store)

    assert lasting(as_json(summary)) == lasting(as_json(undisturbed))


def test_a_suite_that_moved_is_taken_up_where_it_is_now(mixed: Place, tmp_path: Path) -> None:
    undisturbed = evaluated(mixed.root, tmp_path / "other")
    begun = interrupted(mixed.root, mixed.store, 8)
    moved = mixed.root.rename(tmp_path / "moved")

    summary = evaluated(moved, mixed.store)

    assert summary.evaluation_id == begun.evaluation_id
    assert lasting(as_json(summary)) == lasting(as_json(undisturbed))


# -- join


def test_joining_takes_up_what_stands_under_the_id(mixed: Place) -> None:
    plan = plan_of(mixed.root)
    other = replace(plan_of(mixed.root, cases=["a-same"]), evaluation_id=plan.evaluation_id)

    with Ports.open(mixed.store) as ports:
        first, second = (join(p, ports.journal) for p in (plan, other))

    assert first == second
    assert [case.case_id for case in second.suite.cases] == list(MIXED)
    assert first.evaluation_id == plan.evaluation_id
    assert first.plan_key == plan.plan_key


def test_each_part_of_a_plan_is_evaluated_apart_and_the_last_one_publishes(mixed: Place) -> None:
    with Ports.open(mixed.store) as ports:
        plan = join(plan_of(mixed.root), ports.journal)
    cases = list(MIXED)
    log = Log()

    first = run(replace(plan, portion=frozenset(cases[:2])), mixed.store)
    published = History.open(mixed.store).table("evaluations").num_rows
    last = run(replace(plan, portion=frozenset(cases[2:])), mixed.store, log)

    assert (first.complete, first.suite, list(by_case(first))) == (False, "shop", cases[:2])
    assert published == 0
    assert (last.complete, list(by_case(last))) == (True, cases)
    assert log.started == cases[2:]
    assert (log.opening.cases, log.opening.settled) == (3, 0)
    assert History.open(mixed.store).table("evaluations").num_rows == 1


# -- the key of a plan


def _append(path: str, text: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        with (root / path).open("a", encoding="utf-8") as file:
            file.write(text)

    return change


def _swap_candidates(root: Path) -> None:
    a, b, aside = root / "new" / "a-same.json", root / "new" / "b-reworded.json", root / "aside"
    a.rename(aside)
    b.rename(a)
    aside.rename(b)


def _rename_case(root: Path) -> None:
    for side in ("records", "new"):
        (root / side / "a-same.json").rename(root / side / "a-renamed.json")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a candidate record": lambda root: write_record(
        root / "new" / "a-same.json", candidate("a-same", "reworded")
    ),
    "one more candidate record": lambda root: write_record(
        root / "new" / "d-missing.json", candidate("d-missing", "same")
    ),
    "one candidate record less": lambda root: (root / "new" / "a-same.json").unlink(),
    "candidate records under each other's names": _swap_candidates,
    "a baseline": lambda root: write_record(
        root / "records" / "a-same.json", baseline("a-same") | {"response": "x"}
    ),
    "one more baseline": lambda root: write_record(root / "records" / "f.json", baseline("f")),
    "the name of a case": _rename_case,
    "the gate": _append("suite.yaml", "gate: {signals: {toolsChanged: fail}}\n"),
    "the pass rate": _append("suite.yaml", "gate: {min_pass_rate: 0.5}\n"),
    "what is compared": _append("suite.yaml", "compare: {exclude_sections: [response]}\n"),
    "the expectation": _append("suite.yaml", "expectation: {intent: x}\n"),
    "the suite's name": lambda root: (root / "suite.yaml").write_text("name: other\n", "utf-8"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_whatever_can_change_an_outcome_is_another_plan(
    mixed: Place, change: Callable[[Path], object]
) -> None:
    before = plan_of(mixed.root).plan_key

    change(mixed.root)

    assert plan_of(mixed.root).plan_key != before


def test_other_cases_are_another_plan(mixed: Place) -> None:
    keys = {plan_of(mixed.root, cases=some).plan_key for some in (None, ["a-same"], ["b-reworded"], [])}

    assert len(keys) == 4


def _copied(root: Path) -> Path:
    return Path(shutil.copytree(root, root.parent / "copy"))


def _comments(root: Path) -> Path:
    _append("suite.yaml", "# a comment, and the defaults written out\ngate: reference\n")(root)
    _append("candidate.yaml", "# another\n")(root)
    return root


def _other_label(root: Path) -> Path:
    (root / "candidate.yaml").write_text("records: new\nlabel: shop@3\n", encoding="utf-8")
    return root


@pytest.mark.parametrize("change", [_copied, _comments, _other_label])
def test_what_changes_no_outcome_is_the_same_plan(mixed: Place, change: Callable[[Path], Path]) -> None:
    before = plan_of(mixed.root).plan_key

    assert plan_of(change(mixed.root)).plan_key == before


def test_outcomes_of_other_candidate_files_are_not_kept(mixed: Place, tmp_path: Path) -> None:
    """Two candidate records change places while the evaluation stands still."""
    interrupted(mixed.root, mixed.store, 12)  # both of them are done
    _swap_candidates(mixed.root)

    summary = evaluated(mixed.root, mixed.store)

    assert lasting(as_json(summary)) == lasting(as_json(evaluated(mixed.root, tmp_path / "other")))
