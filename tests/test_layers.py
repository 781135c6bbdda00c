"""Imports go down only, in the order of the design (section 3); and a light command stays light."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from tests.support.suites import write_suite

_REPOSITORY = Path(__file__).resolve().parent.parent
_PACKAGES = ("regress_core", "regress_pipeline")

# From top to bottom; what stands on one line may not import each other.
ORDER: tuple[tuple[str, ...], ...] = (
    ("regress_pipeline.cli",),
    ("regress_pipeline",),
    ("regress_core",),  # the package's own names: they re-export what lies below
    ("regress_core.report", "regress_core.golden"),
    ("regress_core.evaluation",),
    ("regress_core.history",),
    ("regress_core.suite",),
    ("regress_core.stats",),
    ("regress_core.judge",),
    ("regress_core.checks",),
    ("regress_core.compare",),
    ("regress_core.harness",),
    ("regress_core.calls",),
    ("regress_core.models",),
    ("regress_core.journal",),
    ("regress_core.records",),
    ("regress_core.errors", "regress_core.files", "regress_core.foreign", "regress_core.ids"),
)
_RANKS = {layer: rank for rank, row in enumerate(ORDER) for layer in row}

_ORCHESTRATION = ("dagster", "typer")
_WITHOUT_PROVIDERS = ("records", "compare", "checks", "suite", "evaluation")
_PROVIDERS = (
    "pydantic_ai",
    "openai",
    "anthropic",
    "mistralai",
    "google",
    "cohere",
    "groq",
    "litellm",
    "boto3",
    "botocore",
    "huggingface_hub",
    "ollama",
    "langchain",
)


@dataclass(frozen=True)
class Import:
    """One import statement: the module it stands in, its line, and the module it asks for."""

    importer: str
    line: int
    imported: str

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.imported}"


def modules_of(root: Path) -> dict[str, Path]:
    """Give every module of both packages below `root`, by its dotted name."""
    found: dict[str, Path] = {}
    for package in _PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(root: Path) -> Iterator[Import]:
    """Read every import of every module, those inside functions and for type checkers too."""
    modules = modules_of(root)
    for module, path in modules.items():
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            for imported in _asked_for(node, package, modules):
                yield Import(module, cast("ast.stmt | ast.Call", node).lineno, imported)


def _asked_for(node: ast.AST, package: str, modules: dict[str, Path]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        ancestors = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
        base = ".".join([*ancestors, *([node.module] if node.module else [])])
        for alias in node.names:
            child = f"{base}.{alias.name}"
            yield child if child in modules else base
    elif isinstance(node, ast.Call) and node.args and _is_import_function(node.func):
        name = node.args[0]
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name.value


def _is_import_function(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
    return name in ("__import__", "import_module")


def layer_of(module: str) -> str:
    """Give the layer of a module of ours: the longest name of a layer that it lies below."""
    parts = module.split(".")
    if parts[0] == "regress_core":
        return ".".join(parts[:2])
    return "regress_pipeline.cli" if parts[:2] == ["regress_pipeline", "cli"] else "regress_pipeline"


def violations(root: Path) -> list[str]:
    """Describe whatever breaks the rules in the tree below `root`."""
    unknown = {layer_of(module) for module in modules_of(root)} - _RANKS.keys()
    found = [f"{layer} has no place in the order of the layers" for layer in sorted(unknown)]
    for one in imports_of(root):
        reason = _fault(one)
        if reason:
            found.append(f"{one}: {reason}")
    return found


def _fault(one: Import) -> str | None:
    top = one.imported.split(".")[0]
    layer = layer_of(one.importer)
    if top in _PACKAGES:
        target = layer_of(one.imported)
        if layer not in _RANKS or target not in _RANKS or target == layer:
            return None
        return None if _RANKS[layer] < _RANKS[target] else f"{target} does not lie below {layer}"
    in_core = one.importer.split(".")[0] == "regress_core"
    if in_core and any(top == name or top.startswith(f"{name}_") for name in _ORCHESTRATION):
        return "regress_core is a library"
    without = layer.removeprefix("regress_core.") in _WITHOUT_PROVIDERS
    if without and any(top == name or top.startswith(f"{name}_") for name in _PROVIDERS):
        return "no model provider here"
    return None


def test_imports_go_down_only() -> None:
    assert violations(_REPOSITORY) == []


def test_the_whole_tree_is_looked_at() -> None:
    modules = modules_of(_REPOSITORY)
    imports = {(one.importer, one.imported) for one in imports_of(_REPOSITORY)}

    assert {"regress_core", "regress_core.records.importers.base", "regress_pipeline.cli.main"} <= set(
        modules
    )
    assert ("regress_core.compare.comparison", "regress_core.compare.decisions") in imports
    assert ("regress_core.compare.options", "regress_core.records.wire") in imports
    assert ("regress_pipeline.definitions", "dagster") in imports


def _tree(root: Path, files: dict[str, str]) -> Path:
    """Write made-up modules; every folder of them is a package."""
    for name, text in files.items():
        path = root / f"regress_{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        for folder in (path.parent, *path.parent.parents):
            if folder != root and folder.is_relative_to(root):
                (folder / "__init__.py").touch()
        path.write_text(text, encoding="utf-8")
    return root


# What stands in every made-up tree, so that there is something to import.
COMMON = dict.fromkeys(
    (
        "core/records/model.py",
        "core/errors.py",
        "core/files.py",
        "core/judge/contract.py",
        "core/suite/gate.py",
        "core/evaluation/engine.py",
        "core/report/html.py",
        "pipeline/settings.py",
        "pipeline/cli/main.py",
    ),
    "",
)

# A module, and what it says.
GOOD: list[tuple[str, str, str]] = [
    ("down", "core/compare/x.py", "from regress_core.records.model import RunRecord\n"),
    ("far down", "pipeline/cli/x.py", "import regress_core.errors\n"),
    ("inside a layer", "core/records/x.py", "from regress_core.records import model\n"),
    ("relative", "core/records/x.py", "from . import model\nfrom .model import Y\nfrom .. import errors\n"),
    ("the library's names", "pipeline/x.py", "from regress_core import RunRecord\n"),
    ("the library's own names", "core/__init__.py", "from regress_core.evaluation.engine import evaluate\n"),
    ("a command", "pipeline/cli/x.py", "import typer\nfrom regress_pipeline.settings import Settings\n"),
    ("dagster in the pipeline", "pipeline/x.py", "import dagster as dg\n"),
    ("a provider in models", "core/models/x.py", "def f() -> None:\n    import pydantic_ai\n"),
    ("like names", "core/records/x.py", "import dagsterish\nimport openairport\nimport googly\n"),
    ("words in a text", "core/records/x.py", 'TEXT = "import dagster; import regress_core.suite"\n'),
    ("another function", "core/records/x.py", "f('dagster')\n"),
]

_FOR_TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import regress_core.judge.contract\n"
_BY_NAME = "import importlib\nimportlib.import_module('regress_core.judge.contract')\n"

# A module, what it says, and how the violation is described.
BAD: list[tuple[str, str, str, str]] = [
    (
        "up",
        "core/records/x.py",
        "import os\n\nfrom regress_core.suite.gate import decide_gate\n",
        "regress_core.records.x:3 imports regress_core.suite.gate",
    ),
    (
        "as a module",
        "core/judge/x.py",
        "import regress_core.suite.gate as gate\n",
        "regress_core.judge.x:1 imports regress_core.suite.gate",
    ),
    (
        "from the package",
        "core/judge/x.py",
        "from regress_core import errors, evaluation\n",
        "regress_core.judge.x:1 imports regress_core.evaluation",
    ),
    (
        "relatively",
        "core/judge/x.py",
        "from ..suite.gate import decide_gate\n",
        "regress_core.judge.x:1 imports regress_core.suite.gate",
    ),
    (
        "relatively, from an __init__",
        "core/records/__init__.py",
        "from ..judge import contract\n",
        "regress_core.records:1 imports regress_core.judge.contract",
    ),
    (
        "inside a function",
        "core/records/x.py",
        "def f():\n    if True:\n        from regress_core.judge import contract\n",
        "regress_core.records.x:3 imports regress_core.judge.contract",
    ),
    (
        "for types",
        "core/records/x.py",
        _FOR_TYPES,
        "regress_core.records.x:3 imports regress_core.judge.contract",
    ),
    (
        "by name",
        "core/records/x.py",
        _BY_NAME,
        "regress_core.records.x:2 imports regress_core.judge.contract",
    ),
    (
        "sideways",
        "core/golden/x.py",
        "import regress_core.report.html\n",
        "regress_core.golden.x:1 imports regress_core.report.html",
    ),
    (
        "sideways at the bottom",
        "core/files.py",
        "from regress_core.errors import InputError\n",
        "regress_core.files:1 imports regress_core.errors",
    ),
    (
        "from the bottom",
        "core/errors.py",
        "from regress_core.records.model import RunRecord\n",
        "regress_core.errors:1 imports regress_core.records.model",
    ),
    (
        "the library's names from inside",
        "core/suite/x.py",
        "from regress_core import RunRecord\n",
        "regress_core.suite.x:1 imports regress_core",
    ),
    (
        "the pipeline from the library",
        "core/evaluation/x.py",
        "from regress_pipeline.settings import Settings\n",
        "regress_core.evaluation.x:1 imports regress_pipeline.settings",
    ),
    (
        "a command from the library",
        "core/evaluation/x.py",
        "from regress_pipeline.cli import main\n",
        "regress_core.evaluation.x:1 imports regress_pipeline.cli.main",
    ),
    (
        "a command from the pipeline",
        "pipeline/x.py",
        "from regress_pipeline import cli\n",
        "regress_pipeline.x:1 imports regress_pipeline.cli",
    ),
    (
        "dagster in the library",
        "core/history/x.py",
        "from dagster._core import utils\n",
        "regress_core.history.x:1 imports dagster._core",
    ),
    (
        "dagster's parts in the library",
        "core/history/x.py",
        "import dagster_graphql\n",
        "regress_core.history.x:1 imports dagster_graphql",
    ),
    ("typer in the library", "core/errors.py", "import typer\n", "regress_core.errors:1 imports typer"),
    (
        "a folder without a place",
        "core/helpers/x.py",
        "",
        "regress_core.helpers has no place in the order of the layers",
    ),
    *(
        (
            f"{provider} in {layer}",
            f"core/{layer}/x.py",
            f"def f() -> None:\n    import {provider}\n",
            f"regress_core.{layer}.x:2 imports {provider}",
        )
        for layer in ("records", "compare", "checks", "suite", "evaluation")
        for provider in ("pydantic_ai.models", "openai", "anthropic", "mistralai", "google.genai")
    ),
]


@pytest.mark.parametrize(("file", "text"), [pytest.param(*case[1:], id=case[0]) for case in GOOD])
def test_a_tree_that_keeps_the_rules(tmp_path: Path, file: str, text: str) -> None:
    assert violations(_tree(tmp_path, COMMON | {file: text})) == []


@pytest.mark.parametrize(("file", "text", "violation"), [pytest.param(*case[1:], id=case[0]) for case in BAD])
def test_a_tree_that_breaks_a_rule(tmp_path: Path, file: str, text: str, violation: str) -> None:
    (found,) = violations(_tree(tmp_path, COMMON | {file: text}))

    assert found.split(": ")[0] == violation


_TELL_MODULES = """
import atexit, json, os, sys
def tell():
    with open(os.environ["LOADED_MODULES"], "w", encoding="utf-8") as file:
        json.dump(sorted({name.split(".")[0] for name in sys.modules}), file)
atexit.register(tell)
"""


def _loaded(folder: Path, code: str, *arguments: str) -> set[str]:
    """Run code in an interpreter of its own and give the top-level modules that it loaded."""
    told = folder / "loaded.json"
    process = subprocess.run(
        [sys.executable, "-c", _TELL_MODULES + code, *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(_REPOSITORY), "PATH": "", "LOADED_MODULES": str(told)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert process.returncode == 0, process.stderr
    return set(json.loads(told.read_text(encoding="utf-8")))


_HEAVY = {"dagster", "duckdb", "jsonschema", "openai", "pydantic_ai"}


def test_a_heavy_module_is_seen(tmp_path: Path) -> None:
    assert "duckdb" in _loaded(tmp_path, "def f():\n    import duckdb\nf()")


def test_what_run_imports_is_light(tmp_path: Path) -> None:
    loaded = _loaded(tmp_path, "import regress_pipeline.cli.actions.run")

    assert "regress_core" in loaded
    assert loaded & _HEAVY == set()


def test_a_whole_run_stays_light(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "shop", {"a": "same", "b": "reworded"})
    code = "from regress_pipeline.cli.main import main\nmain()"

    loaded = _loaded(tmp_path, code, "run", str(suite), "--store", str(tmp_path / "store"))

    assert {"regress_core", "pyarrow", "typer"} <= loaded
    assert (tmp_path / "store" / "outputs").is_dir()
    assert loaded & _HEAVY == set()


def _modules_without_providers() -> Sequence[str]:
    below = tuple(f"regress_core.{layer}" for layer in _WITHOUT_PROVIDERS)
    return [module for module in modules_of(_REPOSITORY) if layer_of(module) in below]


def test_nothing_that_may_not_call_a_model_loads_a_provider_on_a_detour(tmp_path: Path) -> None:
    modules = _modules_without_providers()

    loaded = _loaded(tmp_path, "".join(f"import {module}\n" for module in modules))

    assert len(modules) > 20
    assert loaded & {*_PROVIDERS, *_ORCHESTRATION} == set()
