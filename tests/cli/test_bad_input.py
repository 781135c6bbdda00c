"""Bad input: one line that names file, field, case and remedy, exit 2, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.support import Command, Here, evaluations_in
from tests.support.records import record_json
from tests.support.suites import Kind, baseline, tree, write_record, write_suite

KINDS: dict[str, Kind] = {"a": "same", "b": "same"}
RECORD_REMEDY = "mend the file or take it out of the records"
BARE = ("--records", "suite/records", "--candidate-records", "suite/new")


@dataclass(frozen=True)
class Bad:
    """What is spoilt in the suite folder, how the command names its input, and what the line must say."""

    spoil: Callable[[Path], object]
    words: Sequence[str]
    arguments: Sequence[str] = ("suite",)


def text(path: str, content: str) -> Callable[[Path], object]:
    """Write a text file, relative to the suite."""

    def spoil(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content, encoding="utf-8")

    return spoil


def without(path: str) -> Callable[[Path], object]:
    return lambda root: (root / path).unlink()


def record(path: str, **changes: object) -> Callable[[Path], object]:
    return lambda root: write_record(root / path, baseline("a") | changes)


def record_without(path: str, field: str) -> Callable[[Path], object]:
    kept = {key: value for key, value in record_json().items() if key != field}
    return lambda root: write_record(root / path, kept)


def both(*spoils: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda root: [spoil(root) for spoil in spoils]


def replaced(path: str, old: str, new: str) -> Callable[[Path], object]:
    def spoil(root: Path) -> None:
        content = (root / path).read_text(encoding="utf-8")
        assert old in content
        (root / path).write_text(content.replace(old, new, 1), encoding="utf-8")

    return spoil


def nothing(_: Path) -> None:
    """Spoil nothing: the arguments are at fault."""


OF_SUITE_YAML = {
    "broken YAML": Bad(text("suite.yaml", "gate: [1,\n"), ["suite/suite.yaml: ", "YAML", "line"]),
    "a key twice": Bad(text("suite.yaml", "name: a\nname: b\n"), ["suite/suite.yaml: ", "name"]),
    "no mapping": Bad(text("suite.yaml", "- a\n"), ["suite/suite.yaml: $: "]),
    "an unknown key": Bad(
        text("suite.yaml", "colour: red\n"),
        ["suite/suite.yaml: $.colour: unknown key; known keys: ", "records", "gate"],
    ),
    "an unknown key further down": Bad(
        text("suite.yaml", "gate: {signal: {}}\n"), ["suite/suite.yaml: $.gate.signal: unknown key"]
    ),
    "an unknown section": Bad(
        text("suite.yaml", "compare: {exclude_sections: [nope]}\n"),
        ["suite/suite.yaml: $.compare.exclude_sections[0]: ", "toolCalls"],
    ),
    "an unknown severity": Bad(
        text("suite.yaml", "gate: {signals: {toolsChanged: block}}\n"),
        ["suite/suite.yaml: $.gate.signals.toolsChanged: "],
    ),
    "a rate above 1": Bad(
        text("suite.yaml", "gate: {min_pass_rate: 1.5}\n"), ["suite/suite.yaml: $.gate.min_pass_rate: "]
    ),
    "a preset that is none": Bad(
        text("suite.yaml", "gate: strict\n"), ["suite/suite.yaml: $.gate: ", "reference"]
    ),
    "a name that is none": Bad(text("suite.yaml", "name: My Shop\n"), ["suite/suite.yaml: $.name: "]),
    "an unknown key of the expectation": Bad(
        text("suite.yaml", "expectation: {intend: x}\n"), ["suite/suite.yaml: $.expectation.intend: "]
    ),
    "an expectation file that is missing": Bad(
        text("suite.yaml", "expectation: nope.yaml\n"), ["suite/nope.yaml: "]
    ),
    "a baseline's descriptor that is missing": Bad(
        text("suite.yaml", "baseline: nope.yaml\n"), ["suite/nope.yaml: cannot be read: No such file"]
    ),
    "a mode that is none": Bad(
        text("suite.yaml", "mode: dead\n"), ["suite/suite.yaml: $.mode: ", "strict", "hybrid", "live"]
    ),
    "no trials": Bad(text("suite.yaml", "trials: 0\n"), ["suite/suite.yaml: $.trials: "]),
    "no suite.yaml": Bad(without("suite.yaml"), ["suite: no suite.yaml", "--records"]),
    "records that are missing": Bad(text("suite.yaml", "records: nope\n"), ["suite/nope: no such"]),
}

OF_CANDIDATE = {
    "no candidate.yaml": Bad(
        without("candidate.yaml"), ["suite/candidate.yaml: no such file; ", "--candidate"]
    ),
    "an unknown key": Bad(
        text("candidate.yaml", "records: new\nmodels: x\n"),
        [
            "suite/candidate.yaml: $.models: unknown key; ",
            "known keys: records, descriptor, adapter, model, ",
        ],
    ),
    "no candidate in it": Bad(
        text("candidate.yaml", "label: x\n"), ["suite/candidate.yaml: $: names no candidate; give records"]
    ),
    "records that are missing": Bad(text("candidate.yaml", "records: nope\n"), ["suite/nope: no such"]),
    "records and a harness": Bad(
        text("candidate.yaml", "records: new\nadapter: adapter.py\n"),
        ["suite/candidate.yaml: $: records and adapter exclude each other"],
    ),
    "a descriptor that is missing": Bad(
        text("candidate.yaml", "descriptor: nope.yaml\n"), ["suite/nope.yaml: cannot be read: No such file"]
    ),
    "an adapter that is missing": Bad(
        text("candidate.yaml", "adapter: nope.py\n"), ["suite/nope.py: no such adapter"]
    ),
    "an empty folder": Bad(
        lambda root: (root / "none").mkdir(),
        ["suite/none: no candidate records here; "],
        ("suite", "--candidate-records", "suite/none"),
    ),
    "a folder that is missing": Bad(
        nothing,
        ["nowhere: no such file or folder; "],
        ("--records", "suite/records", "--candidate-records", "nowhere"),
    ),
    "none named": Bad(
        nothing, ["--candidate: no candidate named; ", "--adapter"], ("--records", "suite/records")
    ),
    "named twice": Bad(nothing, ["candidate once"], (*BARE, "--candidate", "suite/candidate.yaml")),
    "a NaN": Bad(
        replaced("new/a.json", '"contextSnapshot": null', '"contextSnapshot": [1, NaN]'),
        ["suite/new/a.json: $.contextSnapshot[1]: case a: NaN", RECORD_REMEDY],
    ),
}

OF_RECORDS = {
    "a missing field": Bad(
        record_without("records/b.json", "items"),
        ["suite/records/b.json: $.items: case b: the field is missing; ", RECORD_REMEDY],
    ),
    "a NaN": Bad(
        replaced("records/a.json", '"contextSnapshot": null', '"contextSnapshot": {"score": NaN}'),
        ["suite/records/a.json: $.contextSnapshot.score: case a: NaN", RECORD_REMEDY],
    ),
    "an infinity": Bad(
        replaced("records/a.json", '"contextSnapshot": null', '"contextSnapshot": -Infinity'),
        ["suite/records/a.json: $.contextSnapshot: case a: ", RECORD_REMEDY],
    ),
    "a field of another kind": Bad(
        record("records/a.json", items=[{"type": "message", "role": "robot", "content": "x"}]),
        ["suite/records/a.json: $.items[0].role: case a: ", RECORD_REMEDY],
    ),
    "no JSON": Bad(
        text("records/a.json", '{"runId": '), ["suite/records/a.json: $: case a: not JSON at line 1"]
    ),
    "an empty file": Bad(text("records/a.json", ""), ["suite/records/a.json: $: case a: not JSON"]),
    "a list": Bad(text("records/a.json", "[]"), ["suite/records/a.json: $: case a: "]),
    "not UTF-8": Bad(
        lambda root: (root / "records" / "a.json").write_bytes(b'{"runId": "caf\xe9"}'),
        ["suite/records/a.json: $: case a: not UTF-8"],
    ),
    "two names of one case": Bad(
        record("records/a.runrecord.json"), ["suite/records/a", "case a: ", "the same case as a", "rename"]
    ),
    "two names but for letter case": Bad(
        record("records/A.json"), ["suite/records/", "the same case as ", "rename or remove"]
    ),
    "a sub-folder": Bad(
        record("records/more/deeper/c.json"), ["suite/records/more/deeper: a sub-folder among the records; "]
    ),
    "a folder without records": Bad(
        text("records/c/.gitkeep", ""), ["suite/records/c: case c: an empty folder among the records; "]
    ),
    "a file and a folder of one case": Bad(
        record("records/a/1.json", response="x"), ["suite/records/a.json: case a: the same case as a "]
    ),
    "a fault in the second accepted run": Bad(
        both(record("records/c/1.json"), record_without("records/c/2.json", "status")),
        ["suite/records/c/2.json: $.status: case c: "],
    ),
    "a sub-folder among the candidate's": Bad(
        record("new/c/1.json"), ["suite/new/c: a sub-folder among the records; "]
    ),
    "a file of another kind": Bad(
        text("records/notes.txt", "x"), ["suite/records/notes.txt: not a .json file; "]
    ),
    "a missing field, bare records": Bad(
        record_without("records/b.json", "status"), ["suite/records/b.json: $.status: case b: "], BARE
    ),
}

OF_ARGUMENTS = {
    "SUITE and --records": Bad(nothing, ["SUITE: ", "--records"], ("suite", *BARE)),
    "neither": Bad(nothing, ["SUITE: ", "--records"], ()),
    "a suite that is missing": Bad(nothing, ["nowhere: no such folder"], ("nowhere",)),
    "--name with a suite": Bad(nothing, ["--name: "], ("suite", "--name", "x")),
    "a name that is none": Bad(nothing, ["--name: 'My Shop'"], (*BARE, "--name", "My Shop")),
    "an unknown key of --expectation": Bad(
        text("e.yaml", "intend: x\n"),
        ["suite/e.yaml: $.intend: unknown key; known keys: intent"],
        (*BARE, "--expectation", "suite/e.yaml"),
    ),
    "an unknown --resume": Bad(nothing, [".regress: --store: no such store; "], ("--resume", "x")),
    "--resume with --fresh": Bad(nothing, ["--fresh: "], ("--resume", "x", "--fresh")),
    "--out that holds the store": Bad(
        nothing, ["--out: it overlaps the store"], ("suite", "--store", "out/st")
    ),
    "--resume with a suite": Bad(nothing, ["--resume: ", "SUITE"], ("suite", "--resume", "x")),
    "a store below a file": Bad(
        nothing,
        ["suite/suite.yaml/store: the store cannot be created: ", "--store"],
        ("suite", "--store", "suite/suite.yaml/store"),
    ),
    "a store that is a file": Bad(
        nothing,
        ["suite/suite.yaml: the store cannot be created: ", "--store"],
        ("suite", "--store", "suite/suite.yaml"),
    ),
    "a store whose journal is none": Bad(
        text("store/journal.sqlite", "x" * 10_000),
        ["suite/store/journal.sqlite: not a usable journal: "],
        ("suite", "--store", "suite/store"),
    ),
}

TABLE = {
    f"{part}: {name}": bad
    for part, table in (
        ("suite.yaml", OF_SUITE_YAML),
        ("candidate", OF_CANDIDATE),
        ("records", OF_RECORDS),
        ("arguments", OF_ARGUMENTS),
    )
    for name, bad in table.items()
}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A good suite, and the outputs of an earlier evaluation in `out`."""
    text("../out/summary.json", '{"evaluationId": "earlier"}')(write_suite(tmp_path / "suite", KINDS))
    text("../out/results/old.result.json", "{}")(tmp_path / "suite")
    return tmp_path / "suite"


@pytest.mark.parametrize("bad", TABLE.values(), ids=list(TABLE))
def test_one_line_and_nothing_written(here: Here, suite: Path, bad: Bad) -> None:
    assert_refused(here, suite, bad)


@pytest.mark.parametrize(
    "name",
    [
        "suite.yaml: broken YAML",
        "suite.yaml: an unknown key",
        "candidate: no candidate.yaml",
        "candidate: a folder that is missing",
        "records: a missing field",
        "records: a NaN",
        "records: two names of one case",
        "records: a sub-folder",
        "arguments: SUITE and --records",
        "arguments: an unknown --resume",
        "arguments: a store below a file",
    ],
)
def test_the_same_in_a_process(regress: Command, suite: Path, name: str) -> None:
    assert_refused(regress, suite, TABLE[name])


def assert_refused(command: Command | Here, suite: Path, bad: Bad) -> None:
    bad.spoil(suite)
    before = tree(suite.parent)

    fault = command("run", *bad.arguments, "--out", "out").fault

    assert all(word in fault for word in bad.words), fault
    assert evaluations_in(suite.parent / ".regress") == []
    after = tree(suite.parent)
    assert {name: data for name, data in after.items() if not name.startswith(".regress/journal.")} == before


@pytest.mark.parametrize("command", [("validate",), ("run", "--dry-run")])
@pytest.mark.parametrize(
    "name", ["suite.yaml: an unknown key", "records: a NaN", "candidate: no candidate.yaml"]
)
def test_validating_finds_the_same(here: Here, suite: Path, command: Sequence[str], name: str) -> None:
    TABLE[name].spoil(suite)

    fault = here(*command, *TABLE[name].arguments).fault

    assert all(word in fault for word in TABLE[name].words), fault
    assert not (suite.parent / ".regress").exists()


def test_validating_finds_a_cron_that_is_none(here: Here, suite: Path) -> None:
    (suite / "suite.yaml").write_text("name: shop\nschedule: {cron: '61 2 * * *'}\n", encoding="utf-8")

    fault = here("validate", suite).fault

    assert fault.endswith(
        "suite.yaml: $.schedule.cron: '61 2 * * *' is no cron; write minute, hour, day, month and weekday, "
        "such as 0 2 * * *"
    )


OUT = {
    "a foreign folder": (text("../out/mine.txt", "mine"), ["out: --out: ", "mine.txt", "empty it"]),
    "a folder without summary.json": (without("../out/summary.json"), ["out: --out: ", "summary.json"]),
    "a file": (text("../out2", "mine"), ["out2: --out: not a folder; name another folder"]),
    "below a file": (text("../out2", "mine"), ["out2: --out: not a folder; name another folder"]),
}


@pytest.mark.parametrize("name", OUT)
def test_an_output_folder_that_is_not_ours(regress: Command, suite: Path, name: str) -> None:
    spoil, words = OUT[name]
    spoil(suite)
    out = {"a file": "out2", "below a file": "out2/a/b"}.get(name, "out")
    before = tree(suite.parent)

    fault = regress("run", "suite", "--out", out).fault

    assert all(word in fault for word in words), fault
    assert tree(suite.parent) == before
    assert not (suite.parent / ".regress").exists()


@pytest.mark.parametrize("part", ["history", "outputs", "publish.lock"])
def test_a_file_in_the_place_of_a_part_of_the_store(regress: Command, suite: Path, part: str) -> None:
    """Found before the first case or after the last, it is a line and not a traceback."""
    store = suite.parent / "store"
    store.mkdir()
    if part == "publish.lock":
        (store / part).mkdir()
    else:
        (store / part).write_text("mine", encoding="utf-8")

    result = regress("run", "suite", "--store", "store")

    assert (result.code, result.out) == (2, "")
    assert "Traceback" not in result.err
    assert f"store/{part}" in result.err.splitlines()[-1]


def test_debug_shows_the_traceback(regress: Command, suite: Path) -> None:
    (suite / "candidate.yaml").unlink()

    result = regress("--debug", "run", "suite")

    assert result.code != 0
    assert "Traceback (most recent call last)" in result.err
    assert "suite/candidate.yaml: no such file" in result.err


def test_an_unknown_resume_beside_evaluations(regress: Command, suite: Path) -> None:
    regress("run", "suite")
    before = evaluations_in(suite.parent / ".regress")

    fault = regress("run", "--resume", "01234567-89ab-7def-8123-456789abcdef").fault

    assert "01234567-89ab-7def-8123-456789abcdef" in fault
    assert evaluations_in(suite.parent / ".regress") == before


@pytest.mark.parametrize("fail_on", ["always", ""])
def test_a_value_that_an_option_does_not_take(here: Here, suite: Path, fail_on: str) -> None:
    result = here("run", suite, "--fail-on", fail_on)

    assert result.code == 2
    assert "--fail-on" in result.err
    assert "Traceback" not in result.err


def test_an_unknown_resume_id_names_the_id(regress: Command, suite: Path) -> None:
    regress("run", suite, "--store", "store")

    fault = regress("run", "--resume", "x", "--store", "store").fault

    assert "--resume: no evaluation x in this store" in fault
