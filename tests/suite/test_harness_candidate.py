"""From files to a candidate harness: a descriptor, an adapter, a model, and what identifies them together."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.harness.descriptor.descriptor import load_descriptor
from regress_core.suite.candidate import HarnessRef, load_candidate
from tests.suite.support import refusal, write_record

DESCRIPTOR = """\
metadata: {name: shop, version: "2"}
runtime: {entry_agent: clerk}
tools: {find: {target: app://find}}
agents:
  clerk: {model: m-small, instructions_sequence: [{file: clerk.md}], tools: [find]}
"""
ADAPTER = "import beside\n\n\ndef create_tools(context):\n    return beside.TOOLS\n"
OWN_AGENT = "def create_harness(context):\n    return lambda request: 'hello'\n"


def write(folder: Path, **texts: str) -> Path:
    """Write files: `harness` is harness.yaml, `clerk` clerk.md, any other name a module."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {"harness": "harness.yaml", "candidate": "candidate.yaml", "clerk": "clerk.md"}
    for name, text in texts.items():
        (folder / names.get(name, f"{name}.py")).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A descriptor with a prompt file, an adapter with a module beside it, and candidate.yaml."""
    return write(
        tmp_path / "shop",
        harness=DESCRIPTOR,
        clerk="Be brief.",
        adapter=ADAPTER,
        beside="TOOLS = {}\n",
        candidate="descriptor: harness.yaml\nadapter: adapter.py\n",
    )


def refused(source: Path | None, **options: str) -> InputError:
    with pytest.raises(InputError) as raised:
        load_candidate(source, **options)
    return refusal(raised)


def test_a_file_names_descriptor_and_adapter(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.parent)

    candidate = load_candidate(Path("shop/candidate.yaml"))

    assert (candidate.kind, candidate.label, candidate.records) == ("harness", "shop@2", {})
    assert candidate.harness == HarnessRef(
        descriptor=str(shop / "harness.yaml"), adapter=str(shop / "adapter.py"), model=None
    )


def _adapter_hash(shop: Path) -> str:
    """SHA-256 over name, NUL and hash of each file, sorted by name."""
    total = hashlib.sha256()
    for name in ("adapter.py", "beside.py"):
        total.update(f"{name}\0".encode() + hashlib.sha256((shop / name).read_bytes()).digest())
    return total.hexdigest()


@pytest.mark.parametrize("model", [None, "openai:m-large"])
def test_the_id_is_the_hash_of_descriptor_hash_adapter_files_and_model(shop: Path, model: str | None) -> None:
    content = [load_descriptor(shop / "harness.yaml").descriptor_hash, _adapter_hash(shop), model]
    text = json.dumps(content, separators=(",", ":"))

    candidate = load_candidate(shop / "candidate.yaml", model=model)

    assert candidate.candidate_id == hashlib.sha256(text.encode()).hexdigest()


def _replaced(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(shop: Path) -> None:
        text = (shop / name).read_text(encoding="utf-8")
        assert old in text
        (shop / name).write_text(text.replace(old, new), encoding="utf-8")

    return change


OTHER: dict[str, Callable[[Path], object]] = {
    "the descriptor": _replaced("harness.yaml", "m-small", "m-large"),
    "a prompt file": _replaced("clerk.md", "brief", "long"),
    "the adapter": _replaced("adapter.py", "TOOLS", "TOOLS or {}"),
    "a module beside it": _replaced("beside.py", "{}", "dict()"),
    "no adapter": _replaced("candidate.yaml", "adapter: adapter.py\n", ""),
    "a model": _replaced("candidate.yaml", "adapter: adapter.py\n", "adapter: adapter.py\nmodel: p:m\n"),
}

THE_SAME: dict[str, Callable[[Path], object]] = {
    "a comment": _replaced("harness.yaml", "runtime:", "# a comment\nruntime:"),
    "the order of keys": _replaced(
        "harness.yaml", '{name: shop, version: "2"}', '{version: "2", name: shop}'
    ),
    "a tool's effect": _replaced(
        "harness.yaml", "{target: app://find}", "{target: app://find, effect: read}"
    ),
    "a module that is not imported": lambda shop: write(shop, unused="X = 1\n"),
    "a label": _replaced("candidate.yaml", "adapter: adapter.py\n", "adapter: adapter.py\nlabel: x@1\n"),
    "its folder's name": write,
}


@pytest.mark.parametrize("change", OTHER.values(), ids=OTHER.keys())
def test_what_makes_another_candidate(shop: Path, change: Callable[[Path], object]) -> None:
    before = load_candidate(shop / "candidate.yaml").candidate_id

    change(shop)

    assert load_candidate(shop / "candidate.yaml").candidate_id != before


@pytest.mark.parametrize("change", THE_SAME.values(), ids=THE_SAME.keys())
def test_what_leaves_it_the_same(shop: Path, change: Callable[[Path], object]) -> None:
    before = load_candidate(shop / "candidate.yaml").candidate_id

    change(shop)
    moved = shop.rename(shop.with_name("moved"))

    assert load_candidate(moved / "candidate.yaml").candidate_id == before


def test_a_descriptor_is_a_candidate_by_itself(shop: Path) -> None:
    candidate = load_candidate(shop / "harness.yaml")

    assert (candidate.kind, candidate.label) == ("harness", "shop@2")
    assert candidate.harness == HarnessRef(str(shop / "harness.yaml"), None, None)


def test_options_win_over_the_file(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shop / "candidate.yaml").write_text(
        "descriptor: harness.yaml\nadapter: gone.py\nmodel: p:file\n", encoding="utf-8"
    )
    monkeypatch.chdir(shop)

    candidate = load_candidate(Path("candidate.yaml"), adapter="adapter.py", model="p:option")

    assert candidate.harness == HarnessRef(str(shop / "harness.yaml"), str(shop / "adapter.py"), "p:option")
    assert candidate.label == "shop@2 with p:option"


@pytest.mark.parametrize("source", ["candidate.yaml", None])
def test_an_adapter_may_bring_its_own_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str | None
) -> None:
    write(tmp_path, my_agent=OWN_AGENT, candidate="adapter: my_agent.py\n")
    monkeypatch.chdir(tmp_path)

    candidate = load_candidate(Path(source) if source else None, adapter=None if source else "my_agent.py")

    assert candidate.kind == "harness"
    assert candidate.harness == HarnessRef(None, str(tmp_path / "my_agent.py"), None)
    assert candidate.label == f"my_agent@{candidate.candidate_id[:8]}"


def test_an_import_path_is_looked_up_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "shop_of_test" / "agents", clerk_adapter=OWN_AGENT, __init__="")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # to which the working folder is added

    candidate = load_candidate(None, adapter="shop_of_test.agents.clerk_adapter")

    assert candidate.harness == HarnessRef(None, "shop_of_test.agents.clerk_adapter", None)
    assert candidate.label == f"clerk_adapter@{candidate.candidate_id[:8]}"


@pytest.mark.parametrize(
    ("metadata", "model", "label"),
    [
        ("{name: shop, version: 3}", None, "shop@3"),
        ("{name: shop}", None, "harness@{id}"),
        ("{version: 3}", None, "harness@{id}"),
        ("{name: shop, version: 3}", "p:m", "shop@3 with p:m"),
        ("{}", "p:m", "harness@{id} with p:m"),
    ],
)
def test_the_default_label(shop: Path, metadata: str, model: str | None, label: str) -> None:
    _replaced("harness.yaml", '{name: shop, version: "2"}', metadata)(shop)

    candidate = load_candidate(shop / "harness.yaml", model=model)

    assert candidate.label == label.format(id=candidate.candidate_id[:8])


def test_a_label_of_the_file_wins(shop: Path) -> None:
    _replaced("candidate.yaml", "adapter: adapter.py", "label: clerk@7")(shop)

    assert load_candidate(shop / "candidate.yaml", model="p:m").label == "clerk@7"


def test_a_missing_adapter_is_named_where_it_was_looked_for(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file's counts from the file, the option's from the working folder."""
    _replaced("candidate.yaml", "adapter.py", "gone.py")(shop)
    monkeypatch.chdir(shop.parent)
    monkeypatch.setattr(sys, "path", [*sys.path])  # to which the working folder is added

    assert refused(Path("shop/candidate.yaml")).file == str(shop / "gone.py")
    assert refused(Path("shop/harness.yaml"), adapter="gone.py").file == str(shop.parent / "gone.py")
    assert "no_such_module_of_test" in str(
        refused(Path("shop/harness.yaml"), adapter="no_such_module_of_test")
    )


@pytest.mark.parametrize(
    ("change", "file", "words"),
    [
        pytest.param(
            _replaced("candidate.yaml", "harness.yaml", "gone.yaml"), "gone.yaml", "", id="no such descriptor"
        ),
        pytest.param(
            _replaced("harness.yaml", "entry_agent: clerk", "entry_agent: nobody"),
            "harness.yaml",
            'entry_agent "nobody" does not exist',
            id="a faulty descriptor",
        ),
        pytest.param(
            _replaced("harness.yaml", "clerk.md", "gone.md"), "harness.yaml", "gone.md", id="no such prompt"
        ),
        pytest.param(
            _replaced("adapter.py", "return", "retur n"), "adapter.py", "not Python", id="a syntax error"
        ),
        pytest.param(
            _replaced("beside.py", "{}", "{"), "beside.py", "not Python", id="a syntax error beside it"
        ),
    ],
)
def test_a_faulty_file_is_named(shop: Path, change: Callable[[Path], None], file: str, words: str) -> None:
    change(shop)

    error = refused(shop / "candidate.yaml")

    assert error.file == str(shop / file)
    assert words in str(error)


@pytest.mark.parametrize(
    ("options", "field"),
    [({"adapter": "adapter.py"}, "--adapter"), ({"model": "p:m"}, "--model")],
)
def test_what_goes_with_a_harness_does_not_go_with_records(
    tmp_path: Path, options: dict[str, str], field: str
) -> None:
    write_record(tmp_path / "v2", "a.json")
    (tmp_path / "candidate.yaml").write_text("records: v2\n", encoding="utf-8")

    for source in (tmp_path / "v2", tmp_path / "candidate.yaml"):
        error = refused(source, **options)
        assert (error.file, error.field) == (str(tmp_path / "v2"), field)
