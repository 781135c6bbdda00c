"""`regress pipeline backfill` without a daemon: suites, old ones too, against another candidate."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from regress_core.evaluation.plan_rows import trigger_of
from regress_core.evaluation.ports import Ports
from regress_core.history.store import History
from regress_pipeline.cli.main import app
from regress_pipeline.partitions import EVALUATION, RANGE_END, RANGE_START, partitions_name
from tests.pipeline.bench import Bench
from tests.pipeline.builders import alike, evaluation_states, failed, write_suite
from tests.pipeline.processes import run_here
from tests.support.records import record_json
from tests.support.suites import write_record, write_records

CASES = [f"case-{number:02}" for number in range(1, 25)]
GAPPED = ["case-01", "case-02", "case-03", "case-07", "case-10", "case-20", "case-21"]


def backfill(*arguments: str | Path) -> Result:
    """Run the command in this process; an input error is raised as it is."""
    result = CliRunner().invoke(app, ["pipeline", "backfill", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(autouse=True)
def shop(bench: Bench) -> Path:
    return write_suite(bench.suites_root, "shop", alike("old", CASES), alike("new", CASES))


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """Give another candidate: its third case fails, its seventh answers otherwise."""
    records = alike("newer", CASES)
    records["case-03"] = failed("newer-case-03")
    records["case-07"] |= {"response": "It is lost."}
    return write_records(tmp_path / "newer", records)


def _rows(bench: Bench, evaluation_id: str) -> list[str]:
    return [row["case_id"] for row in History.open(bench.store).rows_of("case_results", evaluation_id)]


def _only_new(bench: Bench, before: set[str]) -> str:
    (evaluation_id,) = evaluation_states(bench.store).keys() - before
    return evaluation_id


def test_a_selection_with_gaps_is_one_evaluation(bench: Bench, newer: Path, tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["pipeline", "run", "shop"]).exit_code == 0
    before = evaluation_states(bench.store).keys()
    listed = tmp_path / "cases.txt"
    listed.write_text("# the ones that customers asked about\n" + "\n".join(GAPPED) + "\n", encoding="utf-8")

    result = backfill("--suite", "shop", "--candidate", newer, "--cases", listed)

    assert result.exit_code == 1  # case-03 fails
    evaluation_id = _only_new(bench, set(before))
    assert evaluation_states(bench.store)[evaluation_id] == ("finished", 1)
    assert _rows(bench, evaluation_id) == GAPPED
    assert f"evaluation {evaluation_id}" in result.stdout
    assert "7 cases: 5 passed, 1 warned, 1 failed" in result.stdout
    runs = [run for run in bench.instance.get_runs() if run.tags[EVALUATION] == evaluation_id]
    assert sorted((run.tags[RANGE_START], run.tags[RANGE_END]) for run in runs) == [
        ("case-01", "case-03"),
        ("case-07", "case-07"),
        ("case-10", "case-10"),
        ("case-20", "case-21"),
    ]
    with Ports.open(bench.store) as ports:
        row = ports.journal.evaluation(evaluation_id)
        assert row is not None
        assert trigger_of(row) == "backfill"
    assert bench.statuses("shop", "case_summaries")["case-07"] == "MATERIALIZED"


def test_by_glob_and_tag(bench: Bench, shop: Path, newer: Path) -> None:
    (shop / "cases").mkdir()
    for case in ("case-05", "case-15", "case-19"):
        (shop / "cases" / f"{case}.yaml").write_text("tags: [smoke]\n", encoding="utf-8")

    backfill("--suite", "shop", "--candidate", newer, "--cases", "case-1?", "--tag", "smoke")

    assert _rows(bench, _only_new(bench, set())) == ["case-15", "case-19"]


def test_since_is_when_the_recorded_run_began(bench: Bench, shop: Path, newer: Path) -> None:
    times = {
        "case-01": "2026-05-31T23:59:59Z",
        "case-02": "2026-06-01T00:00:00Z",
        "case-03": "2026-06-01T01:00:00+02:00",
    }
    for case, time in times.items():
        write_record(shop / "records" / f"{case}.json", record_json(startedAt=time, completedAt=time))

    backfill("--suite", "shop", "--candidate", newer, "--since", "2026-06-01")

    assert _rows(bench, _only_new(bench, set())) == ["case-02"]


def test_only_asks_the_history_about_that_candidate(bench: Bench, newer: Path) -> None:
    assert CliRunner().invoke(app, ["pipeline", "run", "shop"]).exit_code == 0  # another candidate's results
    (newer / "case-24.json").unlink()
    seen = set(evaluation_states(bench.store))
    for only, cases, code in [
        ("failed", [], 4),
        ("missing", CASES, 1),
        ("missing", [], 0),
        ("failed", ["case-03"], 1),
        ("inconclusive", ["case-24"], 3),
    ]:
        result = backfill("--suite", "shop", "--candidate", newer, "--only", only)

        new = evaluation_states(bench.store).keys() - seen
        assert [_rows(bench, one) for one in new] == ([cases] if cases else []), only
        assert result.exit_code == code, only
        if not cases:
            assert f"nothing is {only}; nothing is evaluated there" in result.stderr
        seen |= new


def test_retired_cases_come_back_as_of_an_evaluation(bench: Bench, shop: Path, newer: Path) -> None:
    CliRunner().invoke(app, ["pipeline", "run", "shop"])
    (old,) = evaluation_states(bench.store)
    for case in ("case-01", "case-02", "case-09"):
        (shop / "records" / f"{case}.json").unlink()
        bench.instance.delete_dynamic_partition(partitions_name("shop"), case)

    now = backfill("--suite", "shop", "--candidate", newer, "--cases", "case-0?")
    result = backfill("--suite", "shop", "--candidate", newer, "--cases", "case-0?", "--as-of", old)

    assert "6 cases: 4 passed, 1 warned, 1 failed" in now.stdout
    assert "9 cases: 7 passed, 1 warned, 1 failed" in result.stdout
    assert bench.materialized("shop", "comparisons") == set(CASES)


def test_an_unfinished_backfill_is_taken_up_by_the_same_command(bench: Bench, newer: Path) -> None:
    (bench.store / "history").write_text("in the way", encoding="utf-8")
    with pytest.raises(OSError, match="history"):
        backfill("--suite", "shop", "--candidate", newer)
    (unfinished,) = evaluation_states(bench.store)
    (bench.store / "history").unlink()

    result = backfill("--suite", "shop", "--candidate", newer)

    assert f"evaluation {unfinished}: 24 cases, 24 of them done before" in result.stderr
    assert evaluation_states(bench.store) == {unfinished: ("finished", 1)}


def test_several_suites_have_an_evaluation_each(bench: Bench, newer: Path) -> None:
    write_suite(bench.suites_root, "bank", alike("old", ["case-01"]))
    write_suite(bench.suites_root, "post", alike("old", ["else"]))

    result = backfill(
        "--suite", "bank", "--suite", "shop", "--suite", "post", "--candidate", newer, "--cases", "case-0[12]"
    )

    assert result.exit_code == 0
    states = evaluation_states(bench.store)
    assert sorted(_rows(bench, one) for one in states) == [["case-01"], ["case-01", "case-02"]]
    assert (
        f"{bench.suites_root / 'post'}: no case matches case-0[12]; nothing is evaluated there"
        in result.stderr
    )


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (["--suite", "shop", "--suite", "nowhere"], "no suite 'nowhere'"),
        (["--suite", "shop", "--since", "June"], "--since: 'June' is no date"),
        (["--suite", "shop", "--as-of", "2020-01-01"], "--as-of: no such store"),
        (["--suite", "shop", "--suite", "broken"], "broken/records/x.json"),
        (["--suite", "shop", "--cases", "{empty}"], "--cases: names no case"),
        (["--suite", "shop", "--candidate", "nowhere.yaml"], "nowhere.yaml: no such file"),
    ],
)
def test_wrong_input_is_one_line_and_nothing_is_entered(
    bench: Bench, newer: Path, tmp_path: Path, wrong: list[str], told: str
) -> None:
    write_suite(bench.suites_root, "broken", alike("old", ["y"]))
    (bench.suites_root / "broken" / "records" / "x.json").write_text("{", encoding="utf-8")
    empty = tmp_path / "empty.txt"
    empty.write_text("# none yet\n", encoding="utf-8")
    arguments = [text.format(empty=empty) for text in wrong]

    done = run_here(bench, "pipeline", "backfill", "--candidate", newer, *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert told in line
    assert evaluation_states(bench.store) == {}


@pytest.mark.parametrize(
    ("more", "code"),
    [
        pytest.param([], 4, id="nothing is selected"),
        pytest.param(["--only", "missing"], 4, id="nothing is selected that could be missing"),
        pytest.param(["--allow-empty"], 0, id="which is fine"),
    ],
)
def test_no_case_at_all(newer: Path, more: list[str], code: int) -> None:
    result = backfill("--suite", "shop", "--candidate", newer, "--cases", "nothing*", *more)
    assert (result.exit_code, result.stdout) == (code, "")
    assert "no case matches nothing*; nothing is evaluated there" in result.stderr
