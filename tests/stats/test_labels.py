"""Rows of verdicts and labels, of any form, to what a judge said and what is true."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.records.json_io import JsonObject, JsonValue, dumps
from regress_core.stats.calibration import Gap, JudgeVersion
from regress_core.stats.labels import LabelFields, Named, read_labelled

FIELDS = LabelFields(
    verdict="verdict",
    verdicts={"pass": True, "fail": False},
    label="label",
    labels={"1": True, "0": False},
    id=None,
    judge=Named("--judge"),
    model=Named("--model"),
    prompt_version=Named("--prompt-version"),
)
GOOD: JsonObject = {"verdict": "pass", "label": 1}


def write(file: Path, *rows: JsonValue) -> Path:
    file.write_bytes(b"".join(dumps(row) + b"\n" for row in rows))
    return file


@pytest.mark.parametrize("label", [1, 1.0, "1", "1.0", " 1 "])
@pytest.mark.parametrize(("verdict", "predicted"), [("pass", True), ("fail", False), (" fail\n", False)])
def test_words_that_are_mapped(tmp_path: Path, label: JsonValue, verdict: str, predicted: bool) -> None:  # noqa: FBT001 - a row of the table
    verdicts = read_labelled(write(tmp_path / "x.jsonl", {"verdict": verdict, "label": label}), FIELDS)

    assert [(it.predicted, it.actual, it.gap) for it in verdicts] == [(predicted, True, None)]


@pytest.mark.parametrize(
    ("row", "gap"),
    [
        pytest.param({"verdict": "refuse", "label": 1}, Gap("unmapped verdict", "refuse"), id="verdict"),
        pytest.param({"verdict": "PASS", "label": 1}, Gap("unmapped verdict", "PASS"), id="letter case"),
        pytest.param(
            {"verdict": "passed", "label": 1}, Gap("unmapped verdict", "passed"), id="a longer word"
        ),
        pytest.param({"verdict": True, "label": 1}, Gap("unmapped verdict", "true"), id="boolean"),
        pytest.param({"verdict": {}, "label": 1}, Gap("unmapped verdict", "{}"), id="object"),
        pytest.param(
            {"verdict": "x" * 99, "label": 1}, Gap("unmapped verdict", "x" * 80 + "…"), id="a whole text"
        ),
        pytest.param({"verdict": None, "label": 1}, Gap("no verdict"), id="null"),
        pytest.param({"label": 1}, Gap("no verdict"), id="absent"),
        pytest.param({"verdict": "pass", "label": 0.5}, Gap("unmapped label", "0.5"), id="label"),
        pytest.param({"verdict": "pass", "label": None}, Gap("no label"), id="null label"),
        pytest.param({"verdict": "refuse"}, Gap("no label"), id="nothing to compare with"),
    ],
)
def test_what_is_not_mapped_is_counted_never_guessed(tmp_path: Path, row: JsonObject, gap: Gap) -> None:
    # The good row keeps each field from being nowhere.
    verdicts = read_labelled(write(tmp_path / "x.jsonl", GOOD, row), FIELDS)

    assert [it.gap for it in verdicts] == [None, gap]


@pytest.mark.parametrize(
    ("reply", "predicted"),
    [
        pytest.param('{"verdict": "fail"}', False, id="bare"),
        pytest.param('```json\n{"verdict": "fail"}\n```', False, id="J1"),
        pytest.param('<think>{"verdict":"fail"}</think>{"verdict":"pass"}', True, id="J3"),
        pytest.param('Reasoning: []{"verdict": "pass"}', True, id="J5"),
    ],
)
def test_a_path_goes_on_inside_a_reply(tmp_path: Path, reply: str, predicted: object) -> None:
    file = write(tmp_path / "x.jsonl", {"judge": {"reply": reply}, "label": 1})

    (found,) = read_labelled(file, replace(FIELDS, verdict="judge.reply.verdict"))

    assert (found.predicted, found.gap) == (predicted, None)


@pytest.mark.parametrize(
    ("reply", "kind", "text"),
    [
        pytest.param(
            '{"verdict": "pass"} or {"verdict": "fail"}', "unreadable verdict", "the reply holds 2", id="J5"
        ),
        pytest.param("I cannot evaluate this", "unreadable verdict", "the reply holds no JSON", id="J6"),
        pytest.param(
            '{"result": {"verdict": "fail"}} or {"verdict": "pass"}',
            "unreadable verdict",
            "the reply holds a verdict, and beside it",
            id="another, inside",
        ),
        pytest.param('{"verdict": "pa', "unreadable verdict", "the reply breaks off", id="J8"),
        pytest.param('{"score": 1}', "unreadable verdict", "the reply holds no verdict", id="no field"),
        pytest.param('{"verdict": "maybe"}', "unmapped verdict", "maybe", id="another word"),
        pytest.param('{"verdict": null}', "no verdict", "", id="null"),
    ],
)
def test_a_reply_without_one_known_verdict(tmp_path: Path, reply: str, kind: str, text: str) -> None:
    file = write(tmp_path / "x.jsonl", {"reply": reply, "label": 1})

    (found,) = read_labelled(file, replace(FIELDS, verdict="reply.verdict"))

    assert found.predicted is None
    assert found.gap is not None
    assert found.gap.kind == kind
    assert found.gap.text.startswith(text)


ROWS = [{"verdict": "pass", "label": "1"}, {"verdict": "fail", "label": "0"}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", b"verdict,label\npass,1\nfail,0\n"),
        ("x.jsonl", b"".join(dumps(row) + b"\n" for row in ROWS)),
        ("x.json", dumps(ROWS)),
    ],
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_files(tmp_path: Path, name: str, text: bytes, packed: bool) -> None:  # noqa: FBT001 - a row of the table
    file = tmp_path / (f"{name}.gz" if packed else name)
    file.write_bytes(gzip.compress(text) if packed else text)

    found = read_labelled(file, FIELDS)

    assert [(it.item, it.predicted, it.actual) for it in found] == [
        (f"{file.name} row 1", True, True),
        (f"{file.name} row 2", False, False),
    ]


def test_a_folder_is_all_its_files(tmp_path: Path) -> None:
    write(tmp_path / "b.jsonl", GOOD)
    (tmp_path / "a.csv").write_text("verdict,label\nfail,0\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("no labels", encoding="utf-8")

    assert [it.item for it in read_labelled(tmp_path, FIELDS)] == ["a.csv row 1", "b.jsonl row 1"]


def test_a_column_may_have_dots_in_its_name(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('out.reply,info.label\n"{""verdict"": ""fail""}",1\n', encoding="utf-8")

    (found,) = read_labelled(
        tmp_path / "x.csv", replace(FIELDS, verdict="out.reply.verdict", label="info.label")
    )

    assert (found.predicted, found.actual) == (False, True)


def test_who_judged_is_said_once_or_by_the_rows(tmp_path: Path) -> None:
    file = write(
        tmp_path / "x.jsonl",
        {**GOOD, "id": 7, "by": {"model": "m-1"}, "v": 2.0},
        {**GOOD, "id": "b", "by": {"model": "m-2"}},
    )
    fields = replace(
        FIELDS,
        id="id",
        judge=Named("--judge", "triage"),
        model=Named("--model", path="by.model"),
        prompt_version=Named("--prompt-version", path="v"),
    )

    assert [(it.item, it.version) for it in read_labelled(file, fields)] == [
        ("7", JudgeVersion("triage", "m-1", "2")),
        ("b", JudgeVersion("triage", "m-2", None)),
    ]


def test_one_item_twice_would_count_twice(tmp_path: Path) -> None:
    file = write(tmp_path / "x.jsonl", *({**GOOD, "id": 7, "m": model} for model in ("a", "b", "a")))
    fields = replace(FIELDS, id="id", model=Named("--model", path="m"))

    with pytest.raises(InputError) as raised:
        read_labelled(file, fields)

    assert str(raised.value).startswith(f"{file}: --id id: item 7 comes more than once for one judge, ")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        pytest.param({"verdict": "nope"}, "--verdict nope: no row has it", id="verdict"),
        pytest.param({"label": "nope"}, "--label nope: no row has it", id="label"),
        pytest.param({"id": "nope"}, "--id nope: no row has it", id="id"),
        pytest.param(
            {"model": Named("--model", path="nope")}, "--model-field nope: no row has it", id="model"
        ),
        pytest.param({"verdict": None}, "3 labels (2 times 1, 1 times 0), but no verdict; ", id="no verdict"),
    ],
)
def test_paths_that_lead_nowhere(tmp_path: Path, changes: dict[str, JsonValue], fault: str) -> None:
    file = write(tmp_path / "x.jsonl", GOOD, {"label": "1.0"}, {"label": 0}, {})

    with pytest.raises(InputError) as raised:
        read_labelled(file, replace(FIELDS, **changes))

    assert str(raised.value).startswith(f"{file}: {fault}")


@pytest.mark.parametrize(
    ("rows", "fault"),
    [pytest.param([], "holds no rows", id="none"), pytest.param([GOOD, 3], "row 2: no JSON object", id="3")],
)
def test_rows_that_are_none(tmp_path: Path, rows: list[JsonValue], fault: str) -> None:
    file = write(tmp_path / "x.jsonl", *rows)

    with pytest.raises(InputError) as raised:
        read_labelled(file, FIELDS)

    assert str(raised.value).startswith(f"{file}: {fault}; ")


def test_a_folder_without_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no rows"):
        read_labelled(tmp_path, FIELDS)


def test_a_name_or_a_field_not_both() -> None:
    with pytest.raises(InputError, match="choose one of --model and --model-field"):
        Named("--model", "m-1", "model")
