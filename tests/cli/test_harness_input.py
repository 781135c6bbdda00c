"""What cannot be run as a candidate harness: one line that names adapter and function, or the option."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import Here, evaluations_in
from tests.support.candidates import ADAPTER, asked, write_candidate_suite


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_candidate_suite(tmp_path / "suite", {"a": "same", "b": "same"})


# What is appended to the adapter, and what the line says after the adapter's name.
FAULTS = {
    "setup": ("def setup(context):\n    raise OSError('no net')\n", "setup: raised OSError: no net"),
    "setup, async": (
        "async def setup(context):\n    raise OSError('no net')\n",
        "setup: raised OSError: no net",
    ),
    "create_tools": (
        "def create_tools(context):\n    return undefined\n",
        "create_tools: raised NameError: name 'undefined' is not defined",
    ),
    "create_tools: no tools": (
        "def create_tools(context):\n    return {'app://find_order': print}\n",
        "create_tools: 'app://find_order' is no Tool",
    ),
    "create_tools: no schema": (
        "def create_tools(context):\n    return {'app://find_order': Tool('f', '', print, {'type': 'x'})}\n",
        "create_tools: 'app://find_order': its parameters are no JSON Schema: $.type: 'x' is not valid",
    ),
    "create_tools: parameters that are no object": (
        "def create_tools(context):\n    return {'app://find_order': Tool('f', '', print, 'object')}\n",
        "create_tools: 'app://find_order': its parameters are a JSON Schema, an object",
    ),
    "create_tools: nothing to call": (
        "def create_tools(context):\n    return {'app://find_order': Tool('f', '', None)}\n",
        "create_tools: 'app://find_order': its execute cannot be called",
    ),
    "create_tools: no name": (
        "def create_tools(context):\n    return {'app://find_order': Tool(5, '', print)}\n",
        "create_tools: 'app://find_order': its name and description are texts",
    ),
    "a generator": (
        "async def setup(context):\n    yield\n",
        "setup: is a generator, which nobody would run",
    ),
    "the end of Python": (
        "def setup(context):\n    raise SystemExit(0)\n",
        "setup: raised BrokenOffError: SystemExit: 0",
    ),
    "an error of a kind of its own": (
        "class Panic(BaseException):\n    pass\n\n\ndef setup(context):\n    raise Panic('lost')\n",
        "setup: raised BrokenOffError: Panic: lost",
    ),
    "create_judge": (
        "def create_judge(context):\n    return {}['x']\n",
        "create_judge: raised KeyError: 'x'",
    ),
    "create_judge: no judge": ("def create_judge(context):\n    return 5\n", "create_judge: gave no judge"),
    "create_comparison_options": (
        "def create_comparison_options(context):\n    raise ValueError('which?')\n",
        "create_comparison_options: raised ValueError: which?",
    ),
    "create_comparison_options: none": (
        "def create_comparison_options(context):\n    return {}\n",
        "create_comparison_options: gave no CompareOptions",
    ),
    "create_harness": (
        "def create_harness(context):\n    raise RuntimeError('two\\nlines')\n",
        "create_harness: raised RuntimeError: two lines",
    ),
    "create_harness: none": (
        "def create_harness(context):\n    return 'agent'\n",
        "create_harness: gave builtins.str, neither a regress Agent nor a function",
    ),
    "a function that is none": ("create_model = 5\n", "create_model: not a function"),
    "importing": ("import no_such_module_of_test\n", "cannot be imported: ModuleNotFoundError: "),
    "importing, an error of its own": ("1 / 0\n", "cannot be imported: ZeroDivisionError: division by zero"),
    "no Python": ("def create_model(:\n", "not Python: "),
}


@pytest.mark.parametrize("command", ["run", "validate"])
@pytest.mark.parametrize("fault", FAULTS)
def test_an_adapter_that_cannot_be_opened(here: Here, suite: Path, fault: str, command: str) -> None:
    more, words = FAULTS[fault]
    (suite / "adapter.py").write_text(f"{ADAPTER}\n\n{more}", encoding="utf-8")

    line = here(command, "suite").fault

    assert f"suite/adapter.py: {words}" in line or (fault == "no Python" and words in line)
    assert asked(suite) == []
    assert evaluations_in(suite.parent / ".regress") == []


def test_an_adapter_without_any_function(here: Here, suite: Path) -> None:
    (suite / "adapter.py").write_text("X = 1\n", encoding="utf-8")

    assert "suite/adapter.py: no adapter: it has none of the functions; define any of setup" in (
        here("run", "suite").fault
    )


REFUSED = {
    "--model": (("--model", "openai:m"), "--model: goes with a harness"),
    "--adapter": (("--adapter", "suite/adapter.py"), "--adapter: goes with a harness"),
    "--mode": (("--mode", "live"), "--mode: goes with a harness"),
    "--input-mode": (("--input-mode", "question"), "--input-mode: goes with a harness"),
    "--trials": (("--trials", "2"), "--trials: goes with a harness"),
    "--from-turn": (("--from-turn", "1"), "--from-turn: goes with a harness"),
}


@pytest.mark.parametrize("option", REFUSED)
def test_what_goes_with_a_harness_only(here: Here, suite: Path, option: str) -> None:
    options, words = REFUSED[option]

    for source in (("suite", "--candidate-records", "suite/records"), ("--records", "suite/records")):
        more = () if source[0] == "suite" else ("--candidate-records", "suite/records")
        assert words in here("run", *source, *more, *options).fault
    assert not (suite.parent / ".regress").exists()


@pytest.mark.parametrize("model", ["", "gpt-4.1-mini", "openai:", ":gpt-4.1-mini", " : "])
@pytest.mark.parametrize("where", ["option", "candidate.yaml"])
def test_a_model_is_named_with_its_provider(here: Here, suite: Path, where: str, model: str) -> None:
    named = suite / "candidate.yaml"
    if where == "candidate.yaml":
        named.write_text(f"{named.read_text(encoding='utf-8')}model: '{model}'\n", encoding="utf-8")
    options = ("--model", model) if where == "option" else ()

    fault = here("run", "suite", "--dry-run", *options).fault

    assert ("--model: " if where == "option" else "suite/candidate.yaml: $.model: ") in fault
    assert asked(suite) == []


@pytest.mark.parametrize("where", ["option", "suite.yaml"])
def test_from_turn_does_not_go_with_the_question_alone(here: Here, suite: Path, where: str) -> None:
    (suite / "suite.yaml").write_text(
        f"name: shop\n{'input_mode: question' if where == 'suite.yaml' else ''}\n", encoding="utf-8"
    )
    options = ("--input-mode", "question") if where == "option" else ()

    fault = here("run", "suite", "--from-turn", "1", *options).fault

    assert "--from-turn: goes with the recorded input" in fault


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--mode", "dead"),
        ("--input-mode", "none"),
        ("--trials", "0"),
        ("--trials", "1001"),
        ("--from-turn", "0"),
    ],
)
def test_a_value_that_an_option_does_not_take(here: Here, suite: Path, option: str, value: str) -> None:
    result = here("run", suite, option, value)

    assert result.code == 2
    assert option in result.err
    assert "Traceback" not in result.err


@pytest.mark.usefixtures("suite")
def test_resume_takes_no_options_of_the_run(here: Here) -> None:
    evaluation_id = here("run", "suite", "--json").json["evaluationId"]

    fault = here("run", "--resume", evaluation_id, "--mode", "live", "--trials", "2").fault

    assert "--resume: takes its plan from the store; leave out --mode, --trials" in fault
