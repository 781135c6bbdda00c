"""Importing an adapter, calling its functions, and what it leaves behind: nothing."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Generator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.harness.adapter.adapter import FUNCTIONS, Adapter, AdapterContext, loaded_adapter
from regress_core.harness.adapter.files import adapter_hash, locate_adapter
from regress_core.records.json_io import JsonValue
from tests.harness.adapter.support import write_modules

CONTEXT = AdapterContext(None, "strict", None)


@pytest.fixture(autouse=True)
def working(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """Give a working folder of the test's own; what Python is like afterwards is as it was."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("regr_")]:
        del sys.modules[name]


def _setup(adapter: Adapter) -> JsonValue:
    return asyncio.run(adapter.call("setup", CONTEXT))


def _load_and_set_up(folder: Path, text: str = "adapter.py") -> JsonValue:
    with loaded_adapter(locate_adapter(text, folder)) as adapter:
        return _setup(adapter)


SET_UP = "def setup(context):\n    return {}\n"

# What is named, the files, and what its `setup` gives.
LOADED = [
    pytest.param("a.py", {"a.py": SET_UP.format("context.mode")}, "strict", id="a function"),
    pytest.param("a.py", {"a.py": "async " + SET_UP.format("1")}, 1, id="an async function"),
    pytest.param("a.py", {"a.py": "setup = lambda context: 1"}, 1, id="a lambda"),
    pytest.param(
        "a.py", {"a.py": "import b\n" + SET_UP.format("b.x"), "b.py": "x = 2"}, 2, id="a module beside"
    ),
    pytest.param(
        "a.py",
        {"a.py": SET_UP.format("__import__('b').x"), "b.py": "x = 2"},
        2,
        id="imported only when called",
    ),
    pytest.param(
        "a.py",
        {
            "a.py": "import b\nx = []\n" + SET_UP.format("b.of() is x"),
            "b.py": "def of():\n    import a\n    return a.x",
        },
        True,
        id="imported back by a module beside it",
    ),
    pytest.param(
        "a.py",
        {
            "a.py": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: 'int'\n"
            + SET_UP.format("A(3).x")
        },
        3,
        id="a dataclass looks its module up",
    ),
    pytest.param("my-a.py", {"my-a.py": SET_UP.format("1")}, 1, id="no module's name"),
    pytest.param("regr_m", {"regr_m.py": SET_UP.format("1")}, 1, id="a module"),
    pytest.param(
        "regr_p.m:A.it",
        {
            "regr_p/__init__.py": "",
            "regr_p/m.py": "from .n import f\nclass A:\n    class it:\n        setup = f",
            "regr_p/n.py": "f = lambda _: 4",
        },
        4,
        id="an attribute of an attribute",
    ),
    pytest.param(
        "regr_o:it",
        {"regr_o.py": "class A:\n    x = 5\n    def setup(self, context):\n        return self.x\nit = A()"},
        5,
        id="an object's methods",
    ),
]


@pytest.mark.parametrize(("text", "files", "given"), LOADED)
def test_an_adapter_is_loaded(working: Path, text: str, files: Mapping[str, str], given: JsonValue) -> None:
    assert _load_and_set_up(write_modules(working, files), text) == given


def test_only_the_known_functions_are_taken(working: Path) -> None:
    text = "\n".join(
        f"def {name}(_): return '{name}'" for name in (*FUNCTIONS, "create_order", "createTools")
    )
    write_modules(working, {"adapter.py": text})

    with loaded_adapter(locate_adapter("adapter.py", working)) as adapter:
        assert adapter.functions.keys() == FUNCTIONS.keys()
        assert all(adapter.has(name) for name in FUNCTIONS)
        assert not adapter.has("createTools")
        assert asyncio.run(adapter.call("create_order", CONTEXT)) is None


# What is named, the files, and what the one line says.
REFUSED = [
    pytest.param(
        "a.py",
        {"a.py": ""},
        "a.py: no adapter: it has none of the functions; define any of setup, ",
        id="empty",
    ),
    pytest.param("a.py", {"a.py": "setup = 1"}, "a.py: setup: not a function", id="no function"),
    pytest.param(
        "a.py",
        {"a.py": "1 / 0"},
        "a.py: cannot be imported: ZeroDivisionError: division by zero",
        id="raises",
    ),
    pytest.param(
        "a.py", {"a.py": "raise SystemExit(3)"}, "a.py: cannot be imported: SystemExit: 3", id="ends Python"
    ),
    pytest.param(
        "a.py", {"a.py": "import regr_none"}, "No module named 'regr_none'", id="imports what is not there"
    ),
    pytest.param(
        "a.py",
        {"a.py": "from . import b", "b.py": ""},
        "ImportError: attempted relative import with no known parent package",
        id="a relative import from a file",
    ),
    pytest.param(
        "in/plain",
        {"in/plain": "setup = print"},
        "ImportError: Python has no loader for it",
        id="no Python's ending",
    ),
    pytest.param(
        "regr_q:none",
        {"regr_q.py": ""},
        "AttributeError: module 'regr_q' has no attribute 'none'",
        id="no attribute",
    ),
    pytest.param(
        "regr_r:it",
        {"regr_r.py": "it = 1"},
        "regr_r:it: no adapter: it has none of the functions",
        id="no adapter",
    ),
    pytest.param(
        "a.py",
        {"a.py": "import json\nsetup = print", "json.py": ""},
        "json.py: `import json` gives another module, ",
        id="Python has a module of that name",
    ),
]


@pytest.mark.parametrize(("text", "files", "message"), REFUSED)
def test_what_cannot_be_loaded_is_one_line(
    working: Path, text: str, files: Mapping[str, str], message: str
) -> None:
    write_modules(working, files)

    with pytest.raises(InputError) as raised, loaded_adapter(locate_adapter(text, working)):
        pass

    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(
            "raise ValueError('no\\nkey')",
            "setup: raised ValueError: no key; mend the adapter",
            id="an error",
        ),
        pytest.param(
            "import sys; sys.exit(4)",
            "setup: raised BrokenOffError: SystemExit: 4",
            id="ends Python",
        ),
    ],
)
def test_what_a_function_raises_before_the_first_case_is_one_line(
    working: Path, body: str, message: str
) -> None:
    write_modules(working, {"adapter.py": f"async def setup(_):\n    {body}"})

    with (
        loaded_adapter(locate_adapter("adapter.py", working)) as adapter,
        pytest.raises(InputError) as raised,
    ):
        asyncio.run(adapter.prepare("setup", CONTEXT))

    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_input_error_of_a_function_stays_as_it_is(working: Path) -> None:
    text = "from regress_core.errors import InputError\ndef setup(_): raise InputError('no key', field='KEY')"
    write_modules(working, {"adapter.py": text})

    with (
        loaded_adapter(locate_adapter("adapter.py", working)) as adapter,
        pytest.raises(InputError, match=r"^KEY: no key$"),
    ):
        asyncio.run(adapter.prepare("setup", CONTEXT))


USING = (
    "import tools, shop.prices\ndef setup(_):\n    import late\n    return tools.x + shop.prices.x + late.x\n"
)


def _using(x: int) -> Mapping[str, str]:
    return {
        "adapter.py": USING,
        "tools.py": f"x = {x}",
        "shop/prices.py": f"x = {x}0",
        "late.py": f"x = {x}00",
    }


def test_adapters_after_each_other_have_modules_of_one_name(working: Path) -> None:
    for x in (1, 2):
        write_modules(working / f"suite {x}", _using(x))

    assert [_load_and_set_up(working / f"suite {x}") for x in (1, 2, 1)] == [111, 222, 111]


def test_what_changed_between_two_evaluations_is_seen(working: Path) -> None:
    # Within one second and of one length, so that a compiled file would look as good as new.
    seen: list[tuple[str, JsonValue]] = []
    for x in (1, 2):
        write_modules(working, {**_using(x), "late.py": "x = 0"})
        seen.append((adapter_hash(locate_adapter("adapter.py", working)), _load_and_set_up(working)))

    assert [given for _, given in seen] == [11, 22]
    assert seen[0][0] != seen[1][0]


def test_adapters_at_the_same_time_never_run_each_others_modules(working: Path) -> None:
    for x in (1, 2):
        write_modules(working / f"suite {x}", _using(x))

    with loaded_adapter(locate_adapter("adapter.py", working / "suite 1")) as first:
        with (
            pytest.raises(InputError) as raised,
            loaded_adapter(locate_adapter("adapter.py", working / "suite 2")),
        ):
            pass
        assert _setup(first) == 111

    assert "gives another module" in str(raised.value)
    assert "give the file a name of its own" in str(raised.value)


def test_adapters_at_the_same_time_with_modules_of_other_names(working: Path) -> None:
    for x in (1, 2):
        text = f"import regr_t{x}\ndef setup(_): return regr_t{x}.x"
        write_modules(working / str(x), {"adapter.py": text, f"regr_t{x}.py": f"x = {x}"})

    with ExitStack() as stack:
        adapters = [
            stack.enter_context(loaded_adapter(locate_adapter("adapter.py", working / str(x))))
            for x in (1, 2)
        ]
        assert [_setup(adapter) for adapter in adapters] == [1, 2]


def test_nothing_is_left_behind(working: Path) -> None:
    write_modules(working, _using(1))
    location = locate_adapter("adapter.py", working)
    before = (set(sys.modules), list(sys.path), sys.dont_write_bytecode)

    with loaded_adapter(location) as adapter:
        _setup(adapter)
    (working / "tools.py").write_text("1 / 0", encoding="utf-8")
    with pytest.raises(InputError), loaded_adapter(location):
        pass

    assert (set(sys.modules), list(sys.path), sys.dont_write_bytecode) == before
    compiled = [path.name for path in working.rglob("*.pyc")]
    assert [name for name in compiled if not name.startswith("late.")] == []
