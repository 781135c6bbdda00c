"""`regress accept --record`: the candidate's record becomes the baseline, or with --also one beside it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from regress_core.records.json_io import JsonObject, dumps_text
from regress_core.suite.loading import load_suite
from tests.cli.reviewed import Trial, no_verdict, publish, regression, rubric, write_reviewed
from tests.cli.support import Here, Result
from tests.support.suites import baseline, candidate, tree, write_record, write_records, write_suite

WHY = ("--reason", "the new words are better", "--by", "Ann")


def _record(**changes: object) -> JsonObject:
    return {**(candidate("a", "reworded") or {}), **changes}


def _accept(here: Here, *options: str) -> Result:
    return here("accept", "--record", "--suite", "suite", "--case", "a", *WHY, *options)


def test_the_baseline_is_replaced_and_archived(here: Here, tmp_path: Path) -> None:
    root = write_reviewed(tmp_path, {"a": [Trial([regression("warn")], record=_record())], "b": [Trial()]})
    before = tree(root)

    result = _accept(here)

    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[:2] == [
        "accepted: case a: the baseline is run candidate of a now",
        "of candidate shop@2, evaluation e1",
    ]
    after = tree(root)
    assert json.loads(after["records/a.json"]) == _record()
    old = before["records/a.json"]
    archived = {name: data for name, data in after.items() if name.startswith("archive/a/")}
    ((name, data),) = archived.items()
    assert data == old
    digest = hashlib.sha256(old).hexdigest()
    assert re.fullmatch(rf"archive/a/\d{{8}}T\d{{6}}Z-{digest[:8]}\.json", name)
    line = json.loads(after["archive/accepted.jsonl"])
    del line["when"]
    assert line == {
        "caseId": "a",
        "reason": "the new words are better",
        "who": "Ann",
        "evaluationId": "e1",
        "runId": "candidate of a",
        "sha256": hashlib.sha256(after["records/a.json"]).hexdigest(),
        "archived": name.removeprefix("archive/"),
    }
    others = before.keys() - {"records/a.json"}
    assert {name: after[name] for name in others} == {name: before[name] for name in others}
    assert after.keys() == before.keys() | {name, "archive/accepted.jsonl"}


def test_twice_is_once(here: Here, tmp_path: Path) -> None:
    root = write_reviewed(tmp_path, {"a": [Trial(record=_record())]})
    _accept(here)
    before = tree(root)

    result = _accept(here)

    assert (result.code, result.out) == (0, "case a: run candidate of a is the baseline already\n")
    assert tree(root) == before


def test_of_several_trials_the_worst(here: Here, tmp_path: Path) -> None:
    trials = [
        Trial(status="pass", record=_record(runId="one")),
        Trial(status="fail", record=_record(runId="two")),
        Trial(status="fail", record=_record(runId="three")),
    ]
    root = write_reviewed(tmp_path, {"a": trials})

    assert _accept(here).code == 0

    assert json.loads((root / "records" / "a.json").read_bytes())["runId"] == "two"


def test_a_case_that_the_suite_left_out_of_the_sample(here: Here, tmp_path: Path) -> None:
    root = write_reviewed(
        tmp_path, {"a": [Trial([no_verdict("rubric", "skipped", intended=True)], record=_record())]}
    )

    assert _accept(here).code == 0
    assert json.loads((root / "records" / "a.json").read_bytes()) == _record()


UNDECIDABLE: list[tuple[str, Trial, Sequence[str], str]] = [
    ("inconclusive", Trial(inconclusive=True, reasons=["timed out"]), (), "inconclusive: timed out"),
    ("failed", Trial(run_status="failed", reasons=["candidate failed: X"]), (), "candidate failed: X"),
    ("diverged", Trial(replay_miss=True, reasons=["diverged: X"]), (), "diverged: X"),
    ("a failed check", Trial(failed_checks=["turns"]), (), "check turns failed"),
    ("an error", Trial([regression("pass"), no_verdict("axes", "error")]), (), "axes judge gave no verdict"),
    ("skipped", Trial([no_verdict("regression", "skipped")]), (), "regression judge gave no verdict"),
    ("a dimension", Trial([rubric(polite=False)]), ("--dimension", "polite"), "--dimension: "),
    ("another case", Trial(), ("--case", "zzz"), "no such case"),
    ("another evaluation", Trial(), ("--evaluation", "e0"), "--evaluation: e0 is not the suite's latest"),
    ("no reason", Trial(), ("--reason", ""), "--reason: says nothing"),
]


@pytest.mark.parametrize("also", [(), ("--also",)], ids=["in its place", "beside it"])
@pytest.mark.parametrize(
    ("trial", "options", "message"), [pytest.param(*case[1:], id=case[0]) for case in UNDECIDABLE]
)
def test_a_record_that_is_refused(
    here: Here, tmp_path: Path, trial: Trial, options: Sequence[str], message: str, also: Sequence[str]
) -> None:
    """H55."""
    write_reviewed(tmp_path, {"a": [trial]})
    before = tree(tmp_path)

    assert message in _accept(here, *options, *also).fault
    assert tree(tmp_path) == before


@pytest.mark.parametrize("also", [(), ("--also",)], ids=["in its place", "beside it"])
def test_a_baseline_that_has_changed_meanwhile(here: Here, tmp_path: Path, also: Sequence[str]) -> None:
    root = write_reviewed(tmp_path, {"a": [Trial()]})
    path = root / "records" / "a.json"
    path.write_bytes(path.read_bytes() + b"\n")
    before = tree(tmp_path)

    assert f"{path}: case a: has changed since the evaluation" in _accept(here, *also).fault
    assert tree(tmp_path) == before


def test_a_baseline_that_is_gone(here: Here, tmp_path: Path) -> None:
    root = write_reviewed(tmp_path, {"a": [Trial()], "b": [Trial()]})
    (root / "records" / "a.json").unlink()

    assert "case a: no baseline of this case" in _accept(here).fault


def test_an_accepted_record_passes(here: Here, tmp_path: Path) -> None:
    """All of the way, with real evaluations."""
    write_suite(tmp_path / "suite", {"a": "reworded", "b": "same"})
    assert here("run", "suite", "--fail-on", "warn").code == 1

    assert _accept(here).code == 0

    result = here("run", "suite", "--fail-on", "warn", "--json")
    assert (result.code, result.json["status"]) == (0, "pass")


# -- several accepted runs


def _file(record: JsonObject) -> bytes:
    """Give an accepted record as its file has it: the text of the history, and a line's end."""
    return f"{dumps_text(record)}\n".encode()


def _digits(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:8]


def _with_folder(tmp_path: Path, *names: str) -> Path:
    """Write a suite whose case a has a folder: its baseline, which was evaluated, and others."""
    root = write_reviewed(tmp_path, {"a": [Trial(record=_record())]})
    (root / "records" / "a").mkdir()
    (root / "records" / "a.json").rename(root / "records" / "a" / names[0])
    for name in names[1:]:
        write_record(root / "records" / "a" / name, baseline("a") | {"response": name})
    return root


def test_a_record_is_accepted_beside_the_baseline(here: Here, tmp_path: Path) -> None:
    root = write_reviewed(tmp_path, {"a": [Trial(record=_record())], "b": [Trial()]})
    before = tree(root)

    result = _accept(here, "--also")

    old, new = before.pop("records/a.json"), _file(_record())
    added = f"records/a/2-{_digits(new)}.json"
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "accepted: case a: run candidate of a is as good as the baseline now\n"
        "of candidate shop@2, evaluation e1\n"
        f"it is in suite/{added}\n"
    )
    after = tree(root)
    line = json.loads(after.pop("archive/accepted.jsonl"))
    del line["when"]
    assert line == {
        "caseId": "a",
        "reason": "the new words are better",
        "who": "Ann",
        "evaluationId": "e1",
        "runId": "candidate of a",
        "sha256": hashlib.sha256(new).hexdigest(),
    }
    assert after == before | {"records/a/1.json": old, added: new}


@pytest.mark.parametrize(
    ("names", "added"),
    [
        (["1-x.json"], "2-{}.json"),
        (["1-x.json", "2-y.json"], "3-{}.json"),
        (["1-x.json", "10-y.json", "2-z.json"], "11-{}.json"),
        (["01.json", "notes.json"], "3-{}.json"),
        (["9-x.json"], "9-x_10-{}.json"),
        (["alt.runrecord.json", "main.json"], "alt_3-{}.json"),
    ],
    ids=str,
)
def test_one_more_comes_after_the_baseline_whatever_the_files_are_called(
    here: Here, tmp_path: Path, names: Sequence[str], added: str
) -> None:
    root = _with_folder(tmp_path, *names)
    before = tree(root / "records")

    assert _accept(here, "--also").code == 0

    new = _file(_record())
    assert tree(root / "records") == before | {f"a/{added.format(_digits(new))}": new}
    (case,) = load_suite(root).cases
    assert Path(case.baseline.path).name == names[0]


def test_beside_it_twice_is_once(here: Here, tmp_path: Path) -> None:
    root = write_reviewed(tmp_path, {"a": [Trial(record=_record())]})
    _accept(here, "--also")
    before = tree(root)

    result = _accept(here, "--also")

    assert (result.code, result.out) == (0, "case a: run candidate of a is accepted already\n")
    assert tree(root) == before


def test_of_several_accepted_runs_the_baseline_is_replaced(here: Here, tmp_path: Path) -> None:
    root = _with_folder(tmp_path, "1.json", "2.json")
    before = tree(root)

    assert _accept(here).code == 0

    after = tree(root)
    (archived,) = [data for name, data in after.items() if name.startswith("archive/a/")]
    assert archived == before.pop("records/a/1.json")
    assert after.pop("records/a/1.json") == _file(_record())
    assert {name: data for name, data in after.items() if not name.startswith("archive/")} == before


@pytest.mark.parametrize("also", [(), ("--also",)], ids=["in its place", "beside it"])
def test_what_an_interrupted_command_left_goes_with_the_next(
    here: Here, tmp_path: Path, also: Sequence[str]
) -> None:
    root = _with_folder(tmp_path, "1.json", "2.json")
    old = (root / "records" / "a" / "1.json").read_bytes()
    (root / "records" / "a.json").write_bytes(old)

    assert _accept(here, *also).code == 0

    (case,) = load_suite(root).cases
    new = hashlib.sha256(_file(_record())).hexdigest()
    assert case.baseline.sha256 == (hashlib.sha256(old).hexdigest() if also else new)
    assert not (root / "records" / "a.json").exists()


def test_no_name_tells_of_another_content(here: Here, tmp_path: Path) -> None:
    """A baseline that became the first of a folder, and is replaced then."""
    root = write_reviewed(tmp_path, {"a": [Trial(record=_record())]})
    assert _accept(here, "--also").code == 0
    later = datetime(2026, 4, 1, tzinfo=UTC)
    trials = [Trial(record=_record(runId="later"), baseline="a/1.json")]
    publish(tmp_path, {"a": trials}, evaluation_id="e2", created_at=later)

    assert _accept(here, "--evaluation", "e2").code == 0

    files = tree(root / "records")
    new = _file(_record())
    assert files == {"a/1.json": _file(_record(runId="later")), f"a/2-{_digits(new)}.json": new}


def test_beside_it_goes_with_record(here: Here, tmp_path: Path) -> None:
    write_reviewed(tmp_path, {"a": [Trial([rubric(polite=False)])]})
    before = tree(tmp_path)

    fault = here("accept", "--also", "--suite", "suite", "--case", "a", *WHY).fault

    assert "--also: goes with --record; " in fault
    assert tree(tmp_path) == before


def test_a_case_that_no_folder_may_be_named_after(here: Here, tmp_path: Path) -> None:
    root = write_reviewed(tmp_path, {"baseline": [Trial(record=_record())]})
    before = tree(tmp_path)

    fault = _accept(here, "--also", "--case", "baseline").fault

    assert (
        f"{root / 'records' / 'baseline.json'}: case baseline: no folder of a case may have its name" in fault
    )
    assert tree(tmp_path) == before


def test_records_that_are_one_file(here: Here, tmp_path: Path) -> None:
    root = write_reviewed(tmp_path, {"a": [Trial(record=_record())]})
    (root / "suite.yaml").write_text("name: shop\nrecords: records/a.json\n", encoding="utf-8")
    before = tree(tmp_path)

    fault = _accept(here, "--also").fault

    assert f"{root / 'suite.yaml'}: $.records: is one file, which cannot become a folder; " in fault
    assert tree(tmp_path) == before


def test_both_of_two_accepted_runs_pass(here: Here, tmp_path: Path) -> None:
    """All of the way, with real evaluations; and other commands know such a case."""
    root = write_suite(tmp_path / "suite", {"a": "reworded", "b": "same"})
    assert here("run", "suite", "--fail-on", "warn").code == 1

    assert _accept(here, "--also").code == 0

    assert here("run", "suite", "--fail-on", "warn", "--json").json["status"] == "pass"
    write_records(root / "new", {"a": candidate("a", "same")})
    assert here("run", "suite", "--fail-on", "warn", "--json").json["status"] == "pass"
    write_records(root / "new", {"a": candidate("a", "other_tool")})
    assert here("run", "suite", "--fail-on", "warn", "--json").json["status"] == "warn"
    override = ("--reason", "known", "--owner", "Ann", "--expires", "2999-12-31")
    assert here("override", "--suite", "suite", "--case", "a", *override).code == 0
