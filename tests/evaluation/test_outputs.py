"""The RFC's output folder: its layout, its content, and what it may replace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regress_core.errors import InputError
from regress_core.evaluation.outputs import check_out
from tests.evaluation.support import Place, evaluated, plan_of, run, taken_up
from tests.support.json_compare import json_difference
from tests.support.suites import (
    MIXED,
    as_json,
    baseline,
    candidate,
    expected_case,
    tree,
    without_reasons,
    write_record,
    write_suite,
)

CONFIG = "name: shop\nexpectation: {intent: shorter answers, shouldUseTools: [find_order]}\n"


def check(out: Path, place: Path | None = None) -> None:
    """Check a folder against a store and a suite that lie beside it."""
    beside = (place or out).parent / "beside"
    root = write_suite(beside / "suite", {"a": "same"})
    check_out(out, beside / "store", plan_of(root))


def read(path: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    root = write_suite(tmp_path / "suite", MIXED, config=CONFIG)
    evaluated(root, tmp_path / "store", out=tmp_path / "out")
    return tmp_path / "out"


def test_layout(out: Path) -> None:
    with_candidate = [case for case, kind in MIXED.items() if kind != "missing"]
    assert set(tree(out)) == {
        "summary.json",
        *(f"candidates/{case}.runrecord.json" for case in with_candidate),
        *(f"comparisons/{case}.comparison.json" for case in with_candidate),
        *(f"results/{case}.result.json" for case in MIXED),
    }
    assert sorted(entry.name for entry in out.iterdir()) == [
        "candidates",
        "comparisons",
        "judges",
        "results",
        "summary.json",
    ]


def test_summary(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", MIXED)

    summary = evaluated(root, tmp_path / "store", out=tmp_path / "out")

    written = read(tmp_path / "out" / "summary.json")
    assert json_difference(as_json(summary), written) is None
    assert (written["suite"], written["status"]) == ("shop", "fail")
    assert [without_reasons(case) for case in written["cases"]] == [
        expected_case(case, kind) for case, kind in MIXED.items()
    ]


@pytest.mark.parametrize("case", [case for case, kind in MIXED.items() if kind != "missing"])
def test_candidates_are_the_records_as_they_came(out: Path, case: str) -> None:
    written = read(out / "candidates" / f"{case}.runrecord.json")

    assert written == candidate(case, MIXED[case])
    assert list(written) == list(candidate(case, MIXED[case]) or {})


def test_a_comparison(out: Path) -> None:
    comparison = read(out / "comparisons" / "b-reworded.comparison.json")

    assert comparison["equal"] is False
    assert comparison["summary"] == {
        "sameFinalResponse": False,
        "sameToolCallShape": True,
        "samePolicyDecisions": True,
        "sameGuardrailDecisions": True,
    }
    assert comparison["metrics"] == {
        "responseLengthA": len("On its way."),
        "responseLengthB": len("It is on its way."),
        "toolCallsA": 1,
        "toolCallsB": 1,
        "matchedToolCalls": 1,
        "missingToolCalls": 0,
        "extraToolCalls": 0,
    }
    assert comparison["differences"] == [
        {"path": "response", "kind": "mismatch", "left": "On its way.", "right": "It is on its way."}
    ]


def test_an_equal_comparison(out: Path) -> None:
    comparison = read(out / "comparisons" / "a-same.comparison.json")

    assert (comparison["equal"], comparison["differences"]) == (True, [])


@pytest.mark.parametrize("case", MIXED)
def test_results_keep_their_artifacts_and_the_expectation(out: Path, case: str) -> None:
    result = read(out / "results" / f"{case}.result.json")

    has_candidate = MIXED[case] != "missing"
    assert result["name"] == case
    assert result["baseline"] == baseline(case)
    assert result.get("candidate") == candidate(case, MIXED[case])
    assert ("candidate" in result, "comparison" in result) == (has_candidate, has_candidate)
    if has_candidate:
        assert result["comparison"] == read(out / "comparisons" / f"{case}.comparison.json")
    assert result["expectation"] == {"intent": "shorter answers", "shouldUseTools": ["find_order"]}
    assert "judge" not in result
    entry = expected_case(case, MIXED[case])
    assert {key: result[key] for key in ("status", "inconclusive")} == {
        key: entry[key] for key in ("status", "inconclusive")
    }


def test_without_an_expectation_there_is_none(mixed: Place, tmp_path: Path) -> None:
    evaluated(mixed.root, mixed.store, out=tmp_path / "out")

    assert "expectation" not in read(tmp_path / "out" / "results" / "a-same.result.json")


def test_names_that_are_no_file_names(tmp_path: Path) -> None:
    """H59. A slug and a hash name the files; the summary has the name itself."""
    root = write_suite(tmp_path / "suite", {"a": "same"})
    names = {"a:b": "a-b", "ünïcode": "n-code", "x" * 200: "x" * 71}
    for name in names:
        write_record(root / "records" / f"{name}.json", baseline(name))
        write_record(root / "new" / f"{name}.json", candidate(name, "same"))

    summary = evaluated(root, tmp_path / "store", out=tmp_path / "out")

    found = {case.name: case.case_id or "" for case in summary.cases}
    assert found.keys() == {"a", *names}
    for name, slug in names.items():
        assert found[name].startswith(f"{slug}-")
        assert len(found[name]) == len(slug) + 9
        assert (tmp_path / "out" / "results" / f"{found[name]}.result.json").is_file()


def test_the_default_place_is_below_the_store(mixed: Place) -> None:
    summary = evaluated(mixed.root, mixed.store)

    assert (mixed.store / "outputs" / str(summary.evaluation_id) / "summary.json").is_file()


def test_an_earlier_output_is_replaced_whole(tmp_path: Path, out: Path) -> None:
    check(out)
    root = write_suite(tmp_path / "small", {"only": "same"})

    summary = evaluated(root, tmp_path / "store", out=out)

    assert set(tree(out)) == {
        "summary.json",
        "candidates/only.runrecord.json",
        "comparisons/only.comparison.json",
        "results/only.result.json",
    }
    assert read(out / "summary.json")["evaluationId"] == summary.evaluation_id
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_outputs_of_zero_cases_may_be_replaced_too(mixed: Place, tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder" / "out"
    check(out, tmp_path / "new")

    run(taken_up(plan_of(mixed.root, cases=[]), mixed.store), mixed.store, out=out)

    assert set(tree(out)) == {"summary.json"}
    assert read(out / "summary.json")["cases"] == []
    check(out)


def _with(name: str, text: str = "mine") -> Callable[[Path], None]:
    def act(out: Path) -> None:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, encoding="utf-8")

    return act


def _file(out: Path) -> None:
    for entry in sorted(out.rglob("*"), reverse=True):
        entry.rmdir() if entry.is_dir() else entry.unlink()
    out.rmdir()
    out.write_text("mine", encoding="utf-8")


STRANGE: dict[str, Callable[[Path], None]] = {
    "a file of mine beside the outputs": _with("notes.txt"),
    "a folder of mine beside the outputs": _with("mine/notes.txt"),
    "a hidden file beside the outputs": _with(".gitkeep"),
    "a summary of another program": _with("summary.json", '{"status": "pass"}'),
    "a summary that is a list": _with("summary.json", '["evaluationId"]'),
    "a summary that is no JSON": _with("summary.json", '{"evaluationId"'),
    "no summary": lambda out: (out / "summary.json").unlink(),
    "a file": _file,
}


@pytest.mark.parametrize("act", STRANGE.values(), ids=STRANGE.keys())
def test_what_is_not_ours_is_refused_and_left_alone(out: Path, act: Callable[[Path], None]) -> None:
    act(out)
    check(out.with_name("another"))
    before = tree(out.parent)

    with pytest.raises(InputError) as raised:
        check(out)

    message = str(raised.value)
    assert message.startswith(f"{out}: --out: ")
    assert "name another folder" in message
    assert "\n" not in message
    assert tree(out.parent) == before


def test_a_folder_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")

    with pytest.raises(InputError, match=r"file: --out: not a folder; name another folder"):
        check(tmp_path / "file" / "a" / "out", tmp_path / "file")


@pytest.mark.parametrize("exists", [False, True])
def test_a_new_or_empty_folder_will_do(tmp_path: Path, *, exists: bool) -> None:
    if exists:
        (tmp_path / "out").mkdir()

    check(tmp_path / "out")


OVERLAPS = [
    "store",
    ".",
    "store/history",
    "store/outputs",
    "suite/records",
    "suite",
    "suite/new",
    "suite/records/out",
]


@pytest.mark.parametrize("place", OVERLAPS)
def test_an_overlap_with_store_or_records_is_refused_and_left_alone(tmp_path: Path, place: str) -> None:
    root = write_suite(tmp_path / "all" / "suite", {"a": "same"})
    plan = plan_of(root)
    before = tree(tmp_path)

    with pytest.raises(InputError, match=r": --out: .*; name another folder"):
        check_out(tmp_path / "all" / place, tmp_path / "all" / "store", plan)

    assert tree(tmp_path) == before


def test_a_folder_below_the_outputs_of_the_store_will_do(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", {"a": "same"})

    check_out(tmp_path / "store" / "outputs" / "mine", tmp_path / "store", plan_of(root))


def test_the_working_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_suite(tmp_path / "suite", {"a": "same"})
    (tmp_path / "out" / "deeper").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "out" / "deeper")

    for out in (Path(), Path("..")):
        with pytest.raises(
            InputError, match="the working folder cannot be replaced; name a folder inside it"
        ):
            check_out(out, tmp_path / "store", plan_of(root))


def test_what_comes_into_the_folder_meanwhile_stays(mixed: Place, tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = taken_up(plan_of(mixed.root), mixed.store)
    out.mkdir()
    (out / "mine.txt").write_text("mine", encoding="utf-8")

    with pytest.raises(InputError, match=r"it holds mine\.txt"):
        run(plan, mixed.store, out=out)

    assert tree(out).keys() == {"mine.txt"}
    run(plan, mixed.store, out=tmp_path / "another")
    assert (tmp_path / "another" / "summary.json").is_file()
