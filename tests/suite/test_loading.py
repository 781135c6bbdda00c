"""From files to a suite: its layouts, names, warnings, and the hash of what can change an outcome."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from regress_core.compare.options import CompareOptions
from regress_core.errors import InputError
from regress_core.judge.contract import RunRegressionExpectation
from regress_core.records.json_io import JsonObject
from regress_core.suite.config import GateConfig
from regress_core.suite.loading import (
    RecordRef,
    Suite,
    load_suite,
    load_suite_config,
    suite_name,
    suite_of_records,
)
from regress_core.suite.selection import Selection, select_cases
from tests.suite.support import refusal, write_record, write_suite


def _refused(load: Callable[[], object]) -> InputError:
    with pytest.raises(InputError) as raised:
        load()
    return refusal(raised)


def test_a_suite_folder(tmp_path: Path) -> None:
    root = tmp_path / "airline"
    sha_b = write_record(root / "records", "b.json", runId="run-b")
    sha_a = write_record(root / "records", "a.runrecord.json", runId="run-a")
    (root / "suite.yaml").write_text(
        "name: airline-2\ngate: {min_pass_rate: 0.9}\ncompare: {deciding: [metadata]}\n", encoding="utf-8"
    )

    suite = load_suite(root)

    assert (suite.name, suite.root) == ("airline-2", root)
    assert suite.config.gate == GateConfig(min_pass_rate=0.9)
    assert suite.config.compare == CompareOptions(deciding=("metadata",))
    assert suite.expectation is None
    assert [(case.case_id, case.name, case.baseline.sha256) for case in suite.cases] == [
        ("a", "a", sha_a),
        ("b", "b", sha_b),
    ]
    assert [Path(case.baseline.path).name for case in suite.cases] == ["a.runrecord.json", "b.json"]


def test_the_rfcs_layout(tmp_path: Path) -> None:
    root = tmp_path / "regression-age-adapted-explanation"
    write_record(root / "baseline" / "runrecords", "photosynthesis-age-10.json")
    write_record(root / "baseline" / "runrecords", "gravity-age-8.json")
    (root / "baseline" / "harness.yaml").write_text("agents: {}\n", encoding="utf-8")
    (root / "expectation.yaml").write_text("intent: Adapt to the age.\n", encoding="utf-8")
    (root / "suite.yaml").write_text(
        "records: baseline/runrecords\nexpectation: expectation.yaml\n", encoding="utf-8"
    )

    suite = load_suite(root)

    assert suite.name == "regression-age-adapted-explanation"
    assert [case.case_id for case in suite.cases] == ["gravity-age-8", "photosynthesis-age-10"]
    assert suite.expectation == RunRegressionExpectation(intent="Adapt to the age.")


def test_bare_records(tmp_path: Path) -> None:
    records = tmp_path / "My Airline" / "baseline" / "runrecords"
    write_record(records, "a.json")

    suite = suite_of_records(records)

    assert suite.name == "my-airline"
    assert [case.case_id for case in suite.cases] == ["a"]
    assert suite.config.gate == GateConfig()
    assert suite.config.compare == CompareOptions()
    assert suite.expectation is None


def test_bare_records_with_a_name_and_an_expectation(tmp_path: Path) -> None:
    write_record(tmp_path / "records", "a.json")
    (tmp_path / "expectation.json").write_text('{"shouldPreserve": ["links"]}', encoding="utf-8")

    suite = suite_of_records(tmp_path / "records", name="airline", expectation=tmp_path / "expectation.json")

    assert suite.name == "airline"
    assert suite.expectation == RunRegressionExpectation(should_preserve=["links"])


def test_one_bare_record(tmp_path: Path) -> None:
    sha256 = write_record(tmp_path / "airline" / "records", "a.runrecord.json")
    write_record(tmp_path / "airline" / "records", "b.json")

    suite = suite_of_records(tmp_path / "airline" / "records" / "a.runrecord.json")

    assert suite.name == "airline"
    assert [(case.case_id, case.baseline.sha256) for case in suite.cases] == [("a", sha256)]


def test_bare_records_named_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_record(tmp_path / "airline" / "records", "a.json")
    (tmp_path / "airline" / "expectation.yaml").write_text("intent: x\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "airline")

    for records in (Path("records"), Path("./records/"), Path("records/a.json")):
        suite = suite_of_records(records, expectation=Path("expectation.yaml"))
        assert suite.name == "airline"
        assert suite.expectation == RunRegressionExpectation(intent="x")


@pytest.mark.parametrize(
    ("folder", "yaml", "name"),
    [
        ("airline", "", "airline"),
        ("Airline Bot 2", "", "airline-bot-2"),
        ("airline", "name: other_1\n", "other_1"),
        ("records", "", "nearest"),
        ("\u65e5\u672c", "", "nearest"),
        ("x" * 90, "", "x" * 64),
    ],
)
def test_the_name_of_a_suite_folder(tmp_path: Path, folder: str, yaml: str, name: str) -> None:
    root = write_suite(tmp_path / "nearest" / folder, yaml)

    assert load_suite(root).name == name
    assert suite_name(root, load_suite_config(root)) == name


def test_a_suite_folder_named_as_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_suite(tmp_path / "airline"))

    assert load_suite(Path()).name == "airline"


@pytest.mark.parametrize("name", ["Airline", "a b", "-a", "", "a/b", "x" * 65, "\u00e9"])
def test_a_name_that_is_no_suite_name_is_refused(tmp_path: Path, name: str) -> None:
    root = write_suite(tmp_path / "airline", f'name: "{name}"\n')

    in_file = _refused(lambda: load_suite(root))
    assert (in_file.file, in_file.field) == (str(root / "suite.yaml"), "$.name")
    as_option = _refused(lambda: suite_of_records(root / "records", name=name))
    assert as_option.field == "--name"
    assert repr(name) in str(as_option)


def test_an_inline_expectation_and_one_of_a_file_are_the_same(tmp_path: Path) -> None:
    inline = write_suite(
        tmp_path / "a", "name: s\nexpectation:\n  intent: Be brief.\n  shouldUseTools: [f]\n"
    )
    by_path = write_suite(tmp_path / "b", "name: s\nexpectation: hints/e.yaml\n")
    (by_path / "hints").mkdir()
    (by_path / "hints" / "e.yaml").write_text("shouldUseTools:\n  - f\nintent: Be brief.\n", encoding="utf-8")

    expectation = RunRegressionExpectation(intent="Be brief.", should_use_tools=["f"])
    assert load_suite(inline).expectation == expectation
    assert load_suite(by_path).expectation == expectation
    assert load_suite(inline).content_hash == load_suite(by_path).content_hash


def test_a_fault_in_an_expectations_file_names_that_file(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "a", "expectation: e.yaml\n")
    (root / "e.yaml").write_text("shouldUseTool: [f]\n", encoding="utf-8")

    error = _refused(lambda: load_suite(root))

    assert (error.file, error.field) == (str(root / "e.yaml"), "$.shouldUseTool")
    assert "shouldUseTools" in (error.remedy or "")


def test_an_expectations_file_that_is_missing_is_named(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "a", "expectation: Be brief.\n")

    assert _refused(lambda: load_suite(root)).file == str(root / "Be brief.")


def test_a_folder_without_suite_yaml_is_no_suite(tmp_path: Path) -> None:
    write_record(tmp_path / "records", "a.json")

    for root, fault in ((tmp_path, "no suite.yaml"), (tmp_path / "gone", "no such folder")):
        error = _refused(lambda root=root: load_suite(root))
        assert error.file == str(root)
        assert fault in str(error)


def test_records_that_are_missing_are_named(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "a", "records: baseline\n")

    assert _refused(lambda: load_suite(root)).file == str(root / "baseline")
    assert _refused(lambda: suite_of_records(tmp_path / "gone")).file == str(tmp_path / "gone")


def test_a_suite_may_be_empty(tmp_path: Path) -> None:
    root = tmp_path / "a"
    (root / "records").mkdir(parents=True)
    (root / "suite.yaml").touch()

    assert load_suite(root).cases == ()


def test_a_faulty_record_is_named_by_file_field_and_case(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "a", "", good={}, bad={"status": "running"})

    error = _refused(lambda: load_suite(root))

    assert (error.file, error.field, error.case) == (
        str(root / "records" / "bad.json"),
        "$.status",
        "bad",
    )


def test_two_cases_of_one_name_are_refused_whatever_their_letter_case(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "s", "", Refund={}, refund={})

    error = _refused(lambda: load_suite(root))

    assert error.file == str(root / "records" / "refund.json")
    assert "Refund.json" in str(error)


def _sha8(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:8]


WEIRD_NAMES = [
    ("https://x/y", "https-x-y"),
    ("a:b", "a-b"),
    ("CON", "CON"),
    ("..", "case"),
    ("x" * 300, "x" * 71),
    ("\u00fcn\u00efcode/\U0001f600", "n-code"),
]


@pytest.mark.parametrize(("name", "slug"), WEIRD_NAMES, ids=[slug[:20] for _, slug in WEIRD_NAMES])
def test_a_case_keeps_the_name_that_no_file_could_bear(tmp_path: Path, name: str, slug: str) -> None:
    case_id = f"{slug}-{_sha8(name)}"
    write_record(tmp_path / "records", f"{case_id}.json", metadata={"regress": {"name": name}})

    (case,) = suite_of_records(tmp_path / "records", name="s").cases

    assert (case.case_id, case.name) == (case_id, name)


def test_two_names_that_look_alike_are_two_cases(tmp_path: Path) -> None:
    for name in ("a:b", "a/b", "a b"):
        write_record(tmp_path / "records", f"a-b-{_sha8(name)}.json", metadata={"regress": {"name": name}})

    suite = suite_of_records(tmp_path / "records", name="s")

    assert {case.name for case in suite.cases} == {"a:b", "a/b", "a b"}
    assert len({case.case_id for case in suite.cases}) == 3


@pytest.mark.parametrize("yaml", ["", "records: records\n"])
def test_a_failed_baseline_is_warned_about_and_kept(tmp_path: Path, yaml: str) -> None:
    root = write_suite(tmp_path / "a", yaml, good={}, bad={"status": "failed", "errorName": "Error"})
    warnings: list[str] = []

    suite = load_suite(root, warn=warnings.append)

    assert [case.case_id for case in suite.cases] == ["bad", "good"]
    (warning,) = warnings
    assert "\n" not in warning
    assert str(root / "records" / "bad.json") in warning
    assert "case bad" in warning
    assert "failed" in warning


def test_a_failed_bare_baseline_is_warned_about_too(tmp_path: Path) -> None:
    write_record(tmp_path / "records", "a.json", status="failed")
    write_record(tmp_path / "records", "b.json", status="failed")
    warnings: list[str] = []

    suite_of_records(tmp_path / "records", name="s", warn=warnings.append)

    assert len(warnings) == 2
    assert "case a" in warnings[0]
    assert "case b" in warnings[1]


def test_completed_baselines_are_warned_about_in_no_way(tmp_path: Path) -> None:
    warnings: list[str] = []

    load_suite(write_suite(tmp_path / "a"), warn=warnings.append)

    assert warnings == []


def _write_accepted(root: Path, case: str, *names: str) -> list[str]:
    """Write a folder of accepted runs whose answers are `answer 1`, `answer 2`; give their hashes."""
    folder = root / "records" / case
    return [
        write_record(folder, name, runId=f"run-{number}", response=f"answer {number}")
        for number, name in enumerate(names, start=1)
    ]


def test_a_folder_of_accepted_runs_is_one_case(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "s", "", b={})
    first, second, third = _write_accepted(root, "a", "1.json", "2.json", "3.json")

    suite = load_suite(root)

    assert [(case.case_id, case.name) for case in suite.cases] == [("a", "a"), ("b", "b")]
    a, b = suite.cases
    assert a.baseline == RecordRef(str(root / "records" / "a" / "1.json"), first)
    assert a.accepted == (
        RecordRef(str(root / "records" / "a" / "2.json"), second),
        RecordRef(str(root / "records" / "a" / "3.json"), third),
    )
    assert b.accepted == ()


def test_bare_records_may_have_folders_too(tmp_path: Path) -> None:
    _write_accepted(tmp_path, "a", "1.json", "2.json")

    (case,) = suite_of_records(tmp_path / "records", name="s").cases

    assert (case.case_id, len(case.accepted)) == ("a", 1)


def test_each_accepted_run_that_failed_is_warned_about(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "s")
    write_record(root / "records" / "b", "1.json")
    write_record(root / "records" / "b", "2.json", status="failed")
    warnings: list[str] = []

    load_suite(root, warn=warnings.append)

    (warning,) = warnings
    assert warning.startswith(f"{root / 'records' / 'b' / '2.json'}: case b: ")


def test_accepted_runs_change_the_hash_and_their_files_names_do_not(tmp_path: Path) -> None:
    def content_hash(place: str, *names: str) -> str:
        root = write_suite(tmp_path / place, "name: s\n", b={})
        _write_accepted(root, "a", *names)
        return load_suite(root).content_hash

    one, two = content_hash("one", "1.json"), content_hash("two", "1.json", "2.json")
    turned = content_hash("turned", "2.json", "1.json")
    single = write_suite(tmp_path / "single", "name: s\n", b={})
    write_record(single / "records", "a.json", runId="run-1", response="answer 1")

    assert len({one, two, turned, content_hash("three", "1.json", "2.json", "3.json")}) == 4
    assert content_hash("named", "first.json", "second.json") == two
    assert load_suite(single).content_hash == one


PLAIN_YAML = "name: s\nexpectation: {intent: Be brief.}\ngate: {min_pass_rate: 0.9}\n"
PLAIN_RECORDS: dict[str, JsonObject] = {"a": {}, "b": {"response": "x"}}

# Another suite of the same content.
SAME: list[tuple[str, str, dict[str, JsonObject]]] = [
    ("comments", "# hello\n" + PLAIN_YAML, PLAIN_RECORDS),
    (
        "another style",
        'gate:\n  min_pass_rate: 9.0e-1\nexpectation:\n  intent: "Be brief."\nname: "s"\n',
        PLAIN_RECORDS,
    ),
    ("defaults said", PLAIN_YAML + "records: records\ncompare: {}\n", PLAIN_RECORDS),
    ("more defaults said", PLAIN_YAML + "compare: {ignore_volatile: true}\n", PLAIN_RECORDS),
]

# Another suite, of which a case may come to another status or land elsewhere.
CHANGED: list[tuple[str, str, dict[str, JsonObject]]] = [
    ("name", PLAIN_YAML.replace("name: s", "name: t"), PLAIN_RECORDS),
    ("expectation", PLAIN_YAML.replace("brief", "kind"), PLAIN_RECORDS),
    ("no expectation", PLAIN_YAML.replace("expectation: {intent: Be brief.}\n", ""), PLAIN_RECORDS),
    ("gate", PLAIN_YAML.replace("0.9", "0.8"), PLAIN_RECORDS),
    ("gate preset", PLAIN_YAML.replace("{min_pass_rate: 0.9}", "reference"), PLAIN_RECORDS),
    (
        "signals",
        PLAIN_YAML.replace("0.9}", "0.9, signals: {toolsChanged: fail}}"),
        PLAIN_RECORDS,
    ),
    ("excluded section", PLAIN_YAML + "compare: {exclude_sections: [policy]}\n", PLAIN_RECORDS),
    ("included sections", PLAIN_YAML + "compare: {include_sections: [policy]}\n", PLAIN_RECORDS),
    ("deciding section", PLAIN_YAML + "compare: {deciding: [metadata]}\n", PLAIN_RECORDS),
    ("moved section", PLAIN_YAML + "compare: {provenance: [policy]}\n", PLAIN_RECORDS),
    ("reference's rule", PLAIN_YAML + "compare: {ignore_volatile: false}\n", PLAIN_RECORDS),
    ("case more", PLAIN_YAML, PLAIN_RECORDS | {"c": {}}),
    ("case less", PLAIN_YAML, {"a": {}}),
    ("renamed case", PLAIN_YAML, {"a": {}, "c": {"response": "x"}}),
    ("swapped cases", PLAIN_YAML, {"a": {"response": "x"}, "b": {}}),
    ("another record", PLAIN_YAML, {"a": {}, "b": {"response": "y"}}),
    ("another run id", PLAIN_YAML, {"a": {"runId": "run-2"}, "b": {"response": "x"}}),
]


def _plain(tmp_path: Path) -> Suite:
    return load_suite(write_suite(tmp_path / "plain", PLAIN_YAML, **PLAIN_RECORDS))


@pytest.mark.parametrize(("yaml", "records"), [pytest.param(*case[1:], id=case[0]) for case in SAME])
def test_how_a_suite_is_written_leaves_its_hash(
    tmp_path: Path, yaml: str, records: dict[str, JsonObject]
) -> None:
    other = load_suite(write_suite(tmp_path / "elsewhere" / "other", yaml, **records))

    assert other.content_hash == _plain(tmp_path).content_hash


@pytest.mark.parametrize(("yaml", "records"), [pytest.param(*case[1:], id=case[0]) for case in CHANGED])
def test_what_can_change_an_outcome_changes_the_hash(
    tmp_path: Path, yaml: str, records: dict[str, JsonObject]
) -> None:
    other = load_suite(write_suite(tmp_path / "elsewhere" / "other", yaml, **records))

    assert other.content_hash != _plain(tmp_path).content_hash


def test_every_change_gives_a_hash_of_its_own(tmp_path: Path) -> None:
    hashes = {
        load_suite(write_suite(tmp_path / name, yaml, **records)).content_hash
        for name, yaml, records in CHANGED
    }

    assert len(hashes) == len(CHANGED)


def test_a_preset_is_the_mapping_it_stands_for(tmp_path: Path) -> None:
    preset = write_suite(tmp_path / "a", "name: s\ngate: reference\n")
    mapping = write_suite(tmp_path / "b", "name: s\ngate: {signals: {}}\n")
    nothing = write_suite(tmp_path / "c", "name: s\n")

    assert len({load_suite(root).content_hash for root in (preset, mapping, nothing)}) == 1


def test_bare_records_are_the_suite_of_the_same_records(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "a", "name: s\n")

    assert suite_of_records(root / "records", name="s").content_hash == load_suite(root).content_hash


def test_other_files_beside_the_records_leave_the_hash(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "a", "name: s\n")
    before = load_suite(root).content_hash
    (root / "README.md").write_text("hello\n", encoding="utf-8")
    (root / "candidate.yaml").write_text("records: v2\n", encoding="utf-8")
    (root / "records" / ".DS_Store").write_bytes(b"x")

    assert load_suite(root).content_hash == before


SELECTIONS: list[tuple[list[str], list[str]]] = [
    ([], ["Refund", "phone", "refund-1", "refund-2", "https://x/y"]),
    (["refund-1"], ["refund-1"]),
    (["refund-*"], ["refund-1", "refund-2"]),
    (["refund-[2-9]"], ["refund-2"]),
    (["refund-?"], ["refund-1", "refund-2"]),
    (["refund"], []),
    (["REFUND-1"], []),
    (["R*"], ["Refund"]),
    (["*"], ["Refund", "phone", "refund-1", "refund-2", "https://x/y"]),
    (["https://*"], ["https://x/y"]),
    (["https-x-y-*"], ["https://x/y"]),
    (["phone", "refund-2"], ["phone", "refund-2"]),
    (["refund-2", "phone", "*-2"], ["phone", "refund-2"]),
    (["nothing", "phone"], ["phone"]),
    (["nothing"], []),
    ([""], []),
]


@pytest.mark.parametrize(("patterns", "names"), SELECTIONS)
def test_cases_are_picked_by_id_or_name(tmp_path: Path, patterns: list[str], names: list[str]) -> None:
    for name in ("Refund", "phone", "refund-1", "refund-2"):
        write_record(tmp_path / "records", f"{name}.json")
    url = "https://x/y"
    write_record(tmp_path / "records", f"https-x-y-{_sha8(url)}.json", metadata={"regress": {"name": url}})
    suite = suite_of_records(tmp_path / "records", name="s")

    picked = select_cases(suite, Selection(tuple(patterns)))

    assert sorted(case.name for case in picked) == sorted(names)
    assert [case.case_id for case in picked] == sorted(case.case_id for case in picked)
