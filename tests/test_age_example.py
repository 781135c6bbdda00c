"""The RFC's target example: its records are what its baseline harness gives, its summary is as the RFC's."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from regress_core import RunJudge, RunJudgeInput, RunRecord, RunRegressionExpectation, compare_run_records
from regress_core.harness.descriptor.descriptor import load_descriptor
from regress_core.harness.recorder import runtime_version
from regress_core.records.json_io import JsonObject, dumps_text
from regress_core.suite.candidate import CANDIDATE_FILE, load_candidate
from regress_core.suite.loading import load_suite
from tests.cli.support import Command, Result
from tests.support.openai_server import KEY, Answer, Behaviour, OpenAIServer, calls, text, tool_call
from tests.support.records import record_json, tool_output
from tests.support.records import tool_call as call_item

EXAMPLE = Path(__file__).parent.parent / "examples" / "age_adapted_explanation"
PHOTOSYNTHESIS, GRAVITY = "photosynthesis-age-10", "gravity-age-8"

RFC_LINE = (
    *("--records", "./baseline/runrecords"),
    *("--baseline", "./baseline/harness.yaml"),
    *("--candidate", "./candidate/harness.yaml"),
    *("--expectation", "./expectation.yaml"),
    *("--adapter", "./adapter.py"),
    *("--mode", "hybrid"),
)
# The RFC's example summary has these, whatever the gate makes of them.
RFC_SIGNALS = {
    "statusChanged": False,
    "toolsChanged": True,
    "policyChanged": False,
    "finalOutputChanged": True,
}


@pytest.fixture
def regress(tmp_path: Path) -> Command:
    return Command(tmp_path)


def _statuses(result: Result) -> dict[str, str]:
    return {case["name"]: case["status"] for case in result.json["cases"]}


def test_the_files_of_the_rfc_are_there_and_valid() -> None:
    suite, candidate = load_suite(EXAMPLE), load_candidate(EXAMPLE / CANDIDATE_FILE)

    assert suite.name == "age-adapted-explanation"
    assert [case.name for case in suite.cases] == [GRAVITY, PHOTOSYNTHESIS]
    assert suite.expectation is not None
    assert suite.expectation.should_use_tools == ["get_age_range"]
    assert suite.baseline_descriptor == load_descriptor(EXAMPLE / "baseline" / "harness.yaml").data
    assert candidate.label == "study-helper@2"
    assert (EXAMPLE / "README.md").is_file()


@pytest.mark.parametrize(("case", "learner"), [(PHOTOSYNTHESIS, "learner-104"), (GRAVITY, "learner-227")])
def test_a_baseline_records_what_a_run_records(case: str, learner: str) -> None:
    record = json.loads((EXAMPLE / "baseline" / "runrecords" / f"{case}.json").read_text(encoding="utf-8"))

    assert record["status"] == "completed"
    assert record["contextSnapshot"] == {"learner": {"id": learner}}
    assert [decision["decision"] for decision in record["policyDecisions"]] == ["allow"]
    assert [len(record[name]) for name in ("promptSnapshots", "requestFingerprints")] == [2, 2]
    descriptor = load_descriptor(EXAMPLE / "baseline" / "harness.yaml")
    assert record["metadata"]["harness"]["descriptorHash"] == descriptor.descriptor_hash


def test_recording_the_baseline_again_gives_the_same_bytes(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLE / "record_baseline.py"), str(tmp_path)]
    subprocess.run(command, check=True, timeout=60)

    kept = sorted((EXAMPLE / "baseline" / "runrecords").iterdir())
    assert [file.name for file in kept] == sorted(file.name for file in tmp_path.iterdir())
    for file in kept:
        recorded = file.read_bytes()
        recorded_by = json.loads(recorded)["requestFingerprints"][0]["runtimeVersion"]
        # The version of regress is in the record too, and is no reason to record anew.
        now = recorded.replace(recorded_by.encode(), runtime_version().encode())
        assert (tmp_path / file.name).read_bytes() == now


def test_the_baseline_replayed_strictly_on_its_own_harness_passes_without_differences(
    regress: Command, tmp_path: Path
) -> None:
    functions = "create_tools, create_run_options, create_model"  # neither a judge nor what is compared
    (tmp_path / "bare.py").write_text(f"from adapter import {functions}\n", encoding="utf-8")

    result = regress(
        "run",
        *("--records", EXAMPLE / "baseline" / "runrecords"),
        *("--candidate", EXAMPLE / "baseline" / "harness.yaml"),
        *("--adapter", "bare.py", "--mode", "strict", "--out", "out", "--json"),
        PYTHONPATH=str(EXAMPLE),
    )

    assert result.code == 0, result.err
    assert _statuses(result) == {PHOTOSYNTHESIS: "pass", GRAVITY: "pass"}
    for case in (PHOTOSYNTHESIS, GRAVITY):
        file = tmp_path / "out" / "comparisons" / f"{case}.comparison.json"
        comparison = json.loads(file.read_text(encoding="utf-8"))
        differences = [*comparison["differences"], *comparison["provenance"]]
        # A fingerprint names the version of regress, which may be another one by now.
        assert [d for d in differences if not d["path"].startswith("requestFingerprints")] == []


@pytest.mark.parametrize(
    ("arguments", "photosynthesis", "totals"),
    [
        pytest.param((".",), "pass", (1, 1, 0), id="the suite folder"),
        pytest.param(RFC_LINE, "warn", (0, 2, 0), id="the RFC's command line, which has no gate"),
    ],
)
def test_a_run_comes_to_what_the_rfc_shows(
    regress: Command, tmp_path: Path, arguments: tuple[str, ...], photosynthesis: str, totals: tuple[int, ...]
) -> None:
    store, out = str(tmp_path / "store"), tmp_path / "out"

    result = regress("run", *arguments, "--out", out, folder=EXAMPLE, REGRESS_STORE=store)

    assert result.code == 0, result.err
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["status"] == "warn"
    assert tuple(summary["totals"][name] for name in ("passed", "warned", "failed")) == totals
    cases = {case["name"]: case for case in summary["cases"]}
    assert {name: case["signals"] for name, case in cases.items()} == dict.fromkeys(cases, RFC_SIGNALS)
    assert (cases[PHOTOSYNTHESIS]["status"], cases[GRAVITY]["status"]) == (photosynthesis, "warn")
    assert cases[PHOTOSYNTHESIS]["judge"]["verdict"] == "pass"
    assert cases[GRAVITY]["judge"] == {
        "verdict": "warn",
        "summary": "too hard for ages 7 to 9: mass, gravitational",
    }
    for folder in ("candidates", "comparisons", "judges", "results"):
        names = sorted(file.name.split(".")[0] for file in (out / folder).iterdir())
        assert names == [GRAVITY, PHOTOSYNTHESIS]
    stats = json.loads((out / "results" / f"{GRAVITY}.result.json").read_text(encoding="utf-8"))[
        "replayStats"
    ]
    assert (stats["replayedFromRecord"], stats["liveFallbackCalls"]) == (1, 1)


def test_every_trial_comes_to_the_same(regress: Command) -> None:
    result = regress("run", EXAMPLE, "--trials", "3", "--json")

    trials = {case["name"]: case["trials"] for case in result.json["cases"]}
    assert trials[PHOTOSYNTHESIS]["passed"] == trials[GRAVITY]["warned"] == 3


def test_strictly_the_new_tool_has_no_output(regress: Command) -> None:
    result = regress("run", EXAMPLE, "--mode", "strict", "--json")

    assert result.code == 1, result.err
    reasons = [case["reasons"][0] for case in result.json["cases"]]
    assert [reason.split(" argsHash")[0] for reason in reasons] == [
        'diverged: Error: Missing recorded tool output for "get_age_range".'
    ] * 2


def test_strictly_but_for_the_new_tool_as_the_readme_has_it(regress: Command, tmp_path: Path) -> None:
    _, _, rest = (EXAMPLE / "README.md").read_text(encoding="utf-8").partition("```python\n")
    imports = (
        "from adapter import *\nfrom regress_core.harness import MissingToolCall, MissingToolCallResolution\n"
    )
    (tmp_path / "careful.py").write_text(imports + rest.partition("```")[0], encoding="utf-8")
    candidate = EXAMPLE / "candidate" / "harness.yaml"

    result = regress(
        *("run", EXAMPLE, "--candidate", candidate, "--adapter", "careful.py", "--mode", "strict", "--json"),
        PYTHONPATH=str(EXAMPLE),
    )

    assert _statuses(result) == {PHOTOSYNTHESIS: "pass", GRAVITY: "warn"}, result.err


def test_the_old_harness_is_not_what_is_expected(regress: Command) -> None:
    baseline, adapter = EXAMPLE / "baseline" / "harness.yaml", EXAMPLE / "adapter.py"

    result = regress(
        "run", EXAMPLE, "--candidate", baseline, "--adapter", adapter, "--mode", "strict", "--json"
    )

    for case in result.json["cases"]:
        assert case["status"] == "fail"
        assert not any(case["signals"].values())
        assert case["judge"]["summary"].startswith("get_age_range is not called")


@pytest.mark.parametrize("arguments", [(".",), RFC_LINE], ids=["the suite folder", "the RFC's command line"])
def test_a_dry_run_runs_and_writes_nothing(
    regress: Command, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    store, out = tmp_path / "store", tmp_path / "out"

    result = regress("run", *arguments, "--dry-run", "--out", out, folder=EXAMPLE, REGRESS_STORE=str(store))

    assert result.code == 0, result.err
    assert "candidate study-helper@2: a harness; hybrid, recorded input" in result.out
    assert list(tmp_path.iterdir()) == []


ANSWERS = {
    "What is photosynthesis?": "With light, plants make sugar from water and carbon dioxide. Oxygen is left.",
    "What is gravity?": "Gravity is a pull. It makes things fall. On the Moon you weigh only a sixth!",
}


def _model(learners: dict[str, str]) -> Behaviour:
    """Look both things up, then answer in small words; `learners` is whose age is asked, by the question."""

    def behave(request: JsonObject, _: int) -> Answer:
        said = [message for message in request["messages"] if message["role"] == "user"]
        question = said[-1]["content"]
        if any(message["role"] == "tool" for message in request["messages"]):
            return text(ANSWERS[question])
        topic = question.removeprefix("What is ").removesuffix("?")
        return calls(
            tool_call("a", "get_age_range", dumps_text({"learner_id": learners[question]})),
            tool_call("b", "get_topic_facts", dumps_text({"topic": topic})),
        )

    return behave


def _live(regress: Command, server: OpenAIServer) -> Result:
    return regress(
        *("run", EXAMPLE, "--model", "openai:small", "--json"),
        OPENAI_BASE_URL=server.base_url,
        OPENAI_API_KEY=KEY,
    )


def test_a_real_model_answers_with_the_same_tools(regress: Command) -> None:
    learners = {"What is photosynthesis?": "learner-104", "What is gravity?": "learner-227"}

    with OpenAIServer(_model(learners)) as server:
        result = _live(regress, server)

    assert _statuses(result) == {PHOTOSYNTHESIS: "pass", GRAVITY: "pass"}, result.err
    assert result.json["candidate"]["label"] == "study-helper@2 with openai:small"
    assert server.count == 4
    asked = next(request for request in server.requests if "learner-227" in request.messages[0]["content"])
    assert asked.messages[1]["content"] == "What is gravity?"
    told = [m["content"] for request in server.requests for m in request.messages if m["role"] == "tool"]
    assert sum('"data":{"from":7,"to":9}' in content for content in told) == 1


def test_nobody_elses_age_is_told(regress: Command) -> None:
    learners = {"What is photosynthesis?": "learner-104", "What is gravity?": "learner-104"}

    with OpenAIServer(_model(learners)) as server:
        result = _live(regress, server)

    assert result.code == 1, result.err
    assert _statuses(result) == {PHOTOSYNTHESIS: "pass", GRAVITY: "fail"}
    (reason,) = next(case["reasons"] for case in result.json["cases"] if case["name"] == GRAVITY)
    assert reason.startswith("candidate failed: ToolCallPolicyDeniedError")


@pytest.fixture(scope="module")
def judge() -> RunJudge:
    spec = importlib.util.spec_from_file_location("reading_judge", EXAMPLE / "reading_judge.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast("RunJudge", module.judge)


BASELINE_ANSWER = "Gravity pulls all bodies, which therefore fall and have weight, a sixth of it on the Moon."
AGE_RANGE = {"status": "ok", "code": None, "publicReason": None, "data": {"from": 7, "to": 9}}
LONG = "It is a pull that makes all things fall and that makes you weigh a sixth on the Moon"

# The candidate's answer, whether it called the new tool, and what the judge says.
JUDGED = [
    pytest.param(
        "Gravity is a pull. Things fall. On the Moon you weigh a sixth.",
        True,
        ("pass", "get_age_range is called; keeps the facts; its words suit ages 7 to 9; shorter sentences"),
        id="all is well",
    ),
    pytest.param(
        "A mass pulls. Things fall. On the Moon you weigh a sixth.",
        True,
        ("warn", "too hard for ages 7 to 9: mass"),
        id="a hard word",
    ),
    pytest.param(
        "Gravity is a pull. Things fall. On the Moon you weigh less.",
        True,
        ("fail", "says nothing of: sixth"),
        id="a fact is lost",
    ),
    pytest.param(f"{LONG}.", True, ("warn", "no shorter sentences than before"), id="nothing gained"),
    pytest.param(
        "It is a pull that makes things fall and you weigh a sixth on the Moon.",
        True,
        ("warn", "long sentences for ages 7 to 9"),
        id="still too long",
    ),
    pytest.param(
        "Gravity is a pull. Things fall. On the Moon you weigh a sixth.",
        False,
        ("fail", "get_age_range is not called; the learner's age range is not known"),
        id="the tool is not used",
    ),
]


@pytest.mark.parametrize(("answer", "calls_tool", "expected"), JUDGED)
def test_the_judge(judge: RunJudge, answer: str, calls_tool: bool, expected: tuple[str, str]) -> None:  # noqa: FBT001 - a column of the table
    facts = [call_item("f", "get_topic_facts", arguments={"topic": "gravity"}), tool_output("f", output={})]
    age = [call_item("a", "get_age_range", arguments={}), tool_output("a", output=AGE_RANGE)]
    baseline = RunRecord.parse(record_json(response=BASELINE_ANSWER, items=facts))
    candidate = RunRecord.parse(record_json(response=answer, items=facts + (age if calls_tool else [])))

    result = judge(
        RunJudgeInput(
            baseline=baseline,
            candidate=candidate,
            comparison=compare_run_records(baseline, candidate),
            expectation=RunRegressionExpectation(should_use_tools=["get_age_range"]),
        )
    )

    verdict, summary = expected
    assert cast("Any", result).verdict == verdict
    assert cast("Any", result).summary.startswith(summary)
