"""`regress calibrate`: a judge's verdicts set against the truth."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Command, Here

# Judged and true, by two letters: 20 right passes, 5 false ones, 10 false fails, 15 right fails.
CELLS = ["pp"] * 20 + ["pf"] * 5 + ["fp"] * 10 + ["ff"] * 15
_WORDS = {"p": "pass", "f": "fail"}
NAMED = ("--judge", "triage", "--model", "m-1", "--prompt-version", "v1")


def write_labels(file: Path, cells: list[str], *more: str) -> Path:
    """Write a CSV file: an id, a verdict, a label, and rows as they are."""
    rows = [f"i{n},{_WORDS[said]},{_WORDS[truly]}" for n, (said, truly) in enumerate(cells)]
    file.write_text("\n".join(["id,verdict,label", *rows, *more, ""]), encoding="utf-8")
    return file


def test_what_is_printed(here: Here) -> None:
    labels = write_labels(here.folder / "labels.csv", CELLS, "x,refuse,pass", "y,,fail")

    result = here("calibrate", labels, "--verdict", "verdict", "--id", "id", *NAMED)

    assert (result.code, result.err) == (0, "")
    # Wilson for 35 of 50, 5 of 20 and 10 of 30; kappa 0.4 with a standard error of sqrt(0.016128).
    assert result.out.splitlines()[:-1] == [
        "judge triage, model m-1, prompt version v1",
        "  50 of 52 rows compared",
        "    not compared: 1 with no verdict",
        "    not compared: 1 with unmapped verdict: refuse (1)",
        "                   truly pass  truly fail",
        "    judged pass            20           5",
        "    judged fail            10          15",
        "  agreement        0.700 (35 of 50), 95 % interval 0.562 to 0.809",
        "  Cohen's kappa    0.400, 95 % interval 0.151 to 0.649",
        "  false-pass rate  0.250 (5 of 20), 95 % interval 0.112 to 0.469",
        "  false-fail rate  0.333 (10 of 30), 95 % interval 0.192 to 0.512",
        "  false passes: i20, i21, i22, i23, i24",
        "  false fails: i25, i26, i27, i28, i29, i30, i31, i32, i33, i34",
    ]
    kept = here("sql", "SELECT calibration_id AS id, judge, kappa FROM calibrations", "--json").json
    assert kept == [
        {"id": result.out.split()[-1], "judge": "triage", "kappa": pytest.approx(0.4)},
    ]


def test_json(here: Here) -> None:
    labels = write_labels(here.folder / "labels.csv", CELLS)

    result = here("calibrate", labels, "--verdict", "verdict", *NAMED, "--json")

    assert (result.code, result.err) == (0, "")
    told = result.json
    assert list(told) == ["calibrationId", "source", "createdAt", "calibrations"]
    assert told["source"] == "labels.csv"
    (found,) = told["calibrations"]
    assert (found["judge"], found["model"], found["promptVersion"]) == ("triage", "m-1", "v1")
    assert found["confusion"] == {"truePass": 20, "falsePass": 5, "falseFail": 10, "trueFail": 15}
    assert found["falsePassRate"]["value"] == 0.25
    assert found["kappa"]["reason"] is None
    assert len(found["falseFails"]) == 10


@pytest.mark.parametrize(
    ("table", "cells"),
    [
        ("pass=pass,fail=fail", [20, 5, 10, 15]),
        ("pass=fail,fail=pass", [10, 15, 20, 5]),
        ("pass=pass", [20, 5, 0, 0]),
    ],
)
def test_the_words_of_verdicts(here: Here, table: str, cells: list[int]) -> None:
    labels = write_labels(here.folder / "labels.csv", CELLS)

    result = here("calibrate", labels, "--verdict", "verdict", "--map-verdict", table, *NAMED, "--json")

    (found,) = result.json["calibrations"]
    assert list(found["confusion"].values()) == cells
    assert found["rows"] == 50


def test_judges_of_unequal_coverage_are_not_ranked(here: Here) -> None:
    """J10."""
    rows = [
        ("a", 1, "pass"),
        ("a", 2, "?"),
        ("a", 3, "?"),
        ("b", 1, "pass"),
        ("b", 2, "fail"),
        ("b", 3, "pass"),
    ]
    lines = [json.dumps({"m": m, "id": i, "verdict": v, "label": "pass"}) for m, i, v in rows]
    (here.folder / "labels.jsonl").write_text("\n".join(lines), encoding="utf-8")
    who = ("--judge", "triage", "--prompt-version", "v1", "--model-field", "m", "--id", "id")

    result = here("calibrate", "labels.jsonl", "--verdict", "verdict", *who)

    assert "1 of 3 rows compared" in result.out
    assert "agreement        1.000 (1 of 1)" in result.out
    assert "agreement        0.667 (2 of 3)" in result.out
    assert "Cohen's kappa    none (every label is pass)" in result.out
    assert "false-pass rate  none (no such row)" in result.out
    (line,) = result.err.splitlines()
    assert line.startswith("warning: of 3 compared items, 1 are compared for every judge; ")


def test_a_judge_without_a_name_is_kept_and_told(here: Here) -> None:
    labels = write_labels(here.folder / "labels.csv", CELLS)

    result = here("calibrate", labels, "--verdict", "verdict")

    assert result.code == 0
    assert result.out.startswith("judge (not named), model (not named), prompt version (not named)\n")
    assert "name them with --judge, --model and --prompt-version" in result.err


def test_the_store_is_the_one_that_is_named(here: Here) -> None:
    labels = write_labels(here.folder / "labels.csv", CELLS)

    here("calibrate", labels, "--verdict", "verdict", *NAMED, "--store", "elsewhere")

    assert not (here.folder / ".regress").exists()
    count = "SELECT count(*) AS n FROM calibrations"
    assert here("sql", count, "--store", "elsewhere", "--json").json == [{"n": 1}]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ([], "labels.csv: 50 labels (30 times pass, 20 times fail), but no verdict; name its field"),
        (["--verdict", "nope"], "labels.csv: --verdict nope: no row has it; "),
        (["--verdict", "verdict", "--map-label", "1=pass"], "none of 50 rows can be compared: 50 with "),
        (["--verdict", "verdict", "--map-label", "1"], "--map-label: '1' gives no word a meaning; "),
        (["--model", "m", "--model-field", "f"], "--model: choose one of --model and --model-field"),
    ],
)
def test_faults(here: Here, options: list[str], fault: str) -> None:
    labels = write_labels(here.folder / "labels.csv", CELLS)

    assert fault in here("calibrate", labels, *options).fault
    assert not (here.folder / ".regress").exists()


def test_labels_that_are_missing(regress: Command) -> None:
    assert "nowhere.csv: cannot be read: " in regress("calibrate", "nowhere.csv", "--verdict", "v").fault


def test_hostile_words_do_not_reach_the_terminal(here: Here) -> None:
    labels = write_labels(here.folder / "labels.csv", CELLS, "x,\x1b[31mred,pass")

    result = here("calibrate", labels, "--verdict", "verdict", *NAMED)

    assert "unmapped verdict: \\u001b[31mred (1)" in result.out
    assert "\x1b" not in result.out


def real_rows(folder: Path) -> list[dict[str, Any]]:
    (file,) = folder.glob("*.jsonl.gz")
    return [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]


def test_a_real_judge(here: Here, data_dir: Path) -> None:
    folder = data_dir / "tau2-judge"
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is missing")
    fields = ("--verdict", "judge_response.verdict", "--label", "tau2_reward", "--id", "task_id")
    who = ("--judge", "triage", "--model-field", "judge_model", "--prompt-version-field", "judge_prompt_name")

    result = here("calibrate", folder, *fields, *who, "--map-label", "1=pass,0=fail", "--json")

    assert (result.code, result.err) == (0, "")
    (found,) = result.json["calibrations"]
    # Counted as text: which words stand in the reply, and the reward as the file has it.
    rows = real_rows(folder)
    said = [('"verdict": "pass"' in it["judge_response"], it["tau2_reward"] == 1) for it in rows]
    assert sum('"verdict": "fail"' in it["judge_response"] for it in rows) == 50 - sum(a for a, _ in said)
    assert found["confusion"] == {
        "truePass": said.count((True, True)),
        "falsePass": said.count((True, False)),
        "falseFail": said.count((False, True)),
        "trueFail": said.count((False, False)),
    }
    assert (found["rows"], found["compared"], found["gaps"]) == (50, 50, [])
    assert found["agreement"]["hits"] == sum(judged == truly for judged, truly in said)
    assert (found["model"], found["promptVersion"]) == ("azure/gpt-4o-2024-11-20", "quick_triage_v1")


def test_real_pairs(here: Here, data_dir: Path) -> None:
    """A preference between two answers is a label like any other."""
    file = data_dir / "llmbar" / "LLMBar__Natural__dataset.json"
    if not file.is_file():
        pytest.skip(f"no real data: {file} is missing")
    text = file.read_text(encoding="utf-8")
    first, second = text.count('"label": 1'), text.count('"label": 2')
    assert first + second == 100

    assert f"100 labels ({second} times 2, {first} times 1), but no verdict" in here("calibrate", file).fault

    words = "1=pass,2=fail"
    result = here(
        "calibrate",
        file,
        "--verdict",
        "label",
        "--map-verdict",
        words,
        "--map-label",
        words,
        *NAMED,
        "--json",
    )
    (found,) = result.json["calibrations"]
    assert found["confusion"] == {"truePass": first, "falsePass": 0, "falseFail": 0, "trueFail": second}
    assert (found["kappa"]["value"], found["kappa"]["interval"]) == (1.0, None)
