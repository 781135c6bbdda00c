"""Finding an adapter, and the hash over what it consists of."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.harness.adapter.files import adapter_hash, imported_files, locate_adapter
from tests.harness.adapter.support import write_modules


@pytest.fixture
def working(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a working folder of the test's own, with Python's search path as it was afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


# What is named, the files there are, and (file, root, package, module, attribute) of what is found.
LOCATED = [
    pytest.param("./a.py", {"a.py": ""}, ("a.py", ".", "", "", ""), id="a path"),
    pytest.param("a.py", {"a.py": ""}, ("a.py", ".", "", "", ""), id="a file's bare name"),
    pytest.param("in/my-a.py", {"in/my-a.py": ""}, ("in/my-a.py", "in", "", "", ""), id="no module's name"),
    pytest.param("in/plain", {"in/plain": ""}, ("in/plain", "in", "", "", ""), id="another ending"),
    pytest.param("regr_a", {"regr_a.py": ""}, ("regr_a.py", ".", "regr_a", "regr_a", ""), id="a module"),
    pytest.param(
        "regr_b.c",
        {"regr_b/__init__.py": "", "regr_b/c.py": ""},
        ("regr_b/c.py", ".", "regr_b", "regr_b.c", ""),
        id="a module of a package",
    ),
    pytest.param(
        "regr_b.c:Shop.adapter",
        {"regr_b/__init__.py": "", "regr_b/c.py": ""},
        ("regr_b/c.py", ".", "regr_b", "regr_b.c", "Shop.adapter"),
        id="an attribute of an attribute",
    ),
    pytest.param(
        "regr_d",
        {"regr_d/__init__.py": ""},
        ("regr_d/__init__.py", ".", "regr_d", "regr_d", ""),
        id="a package",
    ),
    pytest.param(
        "regr_e",
        {"regr_e/__init__.py": "", "regr_e.py": ""},
        ("regr_e/__init__.py", ".", "regr_e", "regr_e", ""),
        id="a package goes before a module",
    ),
    pytest.param(
        "regr_f.g.h",
        {"regr_f/g/h.py": ""},
        ("regr_f/g/h.py", ".", "regr_f", "regr_f.g.h", ""),
        id="packages without __init__",
    ),
]


@pytest.mark.parametrize(("text", "files", "expected"), LOCATED)
def test_an_adapter_is_found(
    working: Path, text: str, files: Mapping[str, str], expected: tuple[str, ...]
) -> None:
    write_modules(working, files)

    found = locate_adapter(text, working)

    file, root, package, module, attribute = expected
    assert (found.file, found.root) == (working / file, working / root)
    assert (found.package, found.module, found.attribute) == (package, module, attribute)


def test_a_path_counts_from_the_base(working: Path) -> None:
    write_modules(working, {"suite/adapter.py": ""})

    found = locate_adapter("adapter.py", Path("suite"))

    assert found.file == working / "suite" / "adapter.py"
    assert found.text == str(found.file)
    assert locate_adapter(found.text, Path("elsewhere")) == found


NOT_FOUND = [
    pytest.param("./none.py", "none.py: no such adapter; name a .py file or an import path", id="no file"),
    pytest.param("none/", "none: no such adapter; name a .py file or an import path", id="a folder"),
    pytest.param("regr_none", "adapter regr_none: no module 'regr_none'", id="no module"),
    pytest.param("regr_x.none", "adapter regr_x.none: no module 'regr_x.none'", id="no sub-module"),
    pytest.param("regr_x..y", "adapter regr_x..y: no module 'regr_x..y'", id="two dots"),
    pytest.param("sys", "adapter sys: no module 'sys'", id="built into Python"),
    pytest.param("adapter.mjs", "adapter adapter.mjs: no module 'adapter'", id="the reference's own kind"),
    pytest.param("", "adapter : no module ''", id="nothing"),
    pytest.param(":name", "adapter :name: no module ''", id="no module before the colon"),
]


@pytest.mark.parametrize(("text", "message"), NOT_FOUND)
def test_no_adapter_is_one_line(working: Path, text: str, message: str) -> None:
    write_modules(working, {"regr_x/__init__.py": "", "none/x.py": ""})

    with pytest.raises(InputError) as raised:
        locate_adapter(text, working)

    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


# The adapter's text, and the modules beside it that its hash is over; `other.py` is never one of them.
PATHS = [
    pytest.param("", (), id="nothing imported"),
    pytest.param("import tools", ("tools.py",), id="import"),
    pytest.param("import tools as t, json", ("tools.py",), id="import as"),
    pytest.param("from tools import x", ("tools.py",), id="from import"),
    pytest.param("from tools import *", ("tools.py",), id="from import star"),
    pytest.param("def f():\n    import tools", ("tools.py",), id="in a function"),
    pytest.param("if 0:\n    import tools", ("tools.py",), id="under a condition"),
    pytest.param(
        "import shop.deep.inner",
        ("shop/__init__.py", "shop/deep/__init__.py", "shop/deep/inner.py", "shop/prices.py"),
        id="a package runs all the way down",
    ),
    pytest.param(
        "from shop import prices", ("shop/__init__.py", "shop/prices.py"), id="a module from a package"
    ),
    pytest.param("import shop", ("shop/__init__.py",), id="a package without its modules"),
    pytest.param("import space.far", ("space/far.py",), id="a package without __init__"),
    pytest.param("import circle_a", ("circle_a.py", "circle_b.py"), id="a circle"),
    pytest.param("import back", ("back.py",), id="back to the adapter"),
    pytest.param("from both import x", ("both/__init__.py",), id="a package goes before a module"),
    pytest.param("import json, pydantic, not_there", (), id="what is installed"),
]
_BESIDE = {
    "tools.py": "x = 1",
    "other.py": "",
    "shop/__init__.py": "",
    "shop/prices.py": "",
    "shop/deep/__init__.py": "from .. import prices",
    "shop/deep/inner.py": "from . import inner\nfrom ...tools import x",  # the last one leads nowhere
    "space/far.py": "",
    "circle_a.py": "import circle_b",
    "circle_b.py": "import circle_a",
    "back.py": "import adapter",
    "both.py": "",
    "both/__init__.py": "",
}


def _hash(folder: Path, adapter: str = "adapter.py") -> str:
    return adapter_hash(locate_adapter(adapter, folder))


@pytest.mark.parametrize(("text", "covered"), PATHS)
def test_the_hash_covers_what_is_imported_from_beside(
    tmp_path: Path, text: str, covered: tuple[str, ...]
) -> None:
    write_modules(tmp_path, {**_BESIDE, "adapter.py": text})
    before = _hash(tmp_path)

    changed: list[str] = []
    for name, content in _BESIDE.items():
        (tmp_path / name).write_text(content + "\n# changed", encoding="utf-8")
        if _hash(tmp_path) != before:
            changed.append(name)
        (tmp_path / name).write_text(content, encoding="utf-8")

    assert sorted(changed) == sorted(covered)
    assert _hash(tmp_path) == before
    write_modules(tmp_path, {"adapter.py": text + "\n"})
    assert _hash(tmp_path) != before


def test_the_hash_does_not_depend_on_where_it_lies(tmp_path: Path) -> None:
    files = {"adapter.py": "import tools", "tools.py": ""}
    for place in ("here", "there/far away"):
        write_modules(tmp_path / place, files)
    write_modules(tmp_path / "there", {"tools.py": "x = 2"})

    assert _hash(tmp_path / "here") == _hash(tmp_path / "there/far away")
    assert _hash(tmp_path / "here") == _hash(tmp_path, "here/../here/adapter.py")


def test_a_renamed_module_is_another_adapter(tmp_path: Path) -> None:
    write_modules(
        tmp_path, {"a/adapter.py": "from b import *\nfrom c import *", "a/b.py": "", "a/c.py": "x = 1"}
    )
    write_modules(
        tmp_path, {"b/adapter.py": "from b import *\nfrom c import *", "b/c.py": "", "b/b.py": "x = 1"}
    )

    assert _hash(tmp_path / "a") != _hash(tmp_path / "b")


PACKAGE = {
    "regr_shop/__init__.py": "",
    "regr_shop/adapter.py": "from . import tools\nimport regr_common",
    "regr_shop/tools.py": "from .data import prices",
    "regr_shop/data/__init__.py": "",
    "regr_shop/data/prices.py": "",
    "regr_shop/unused.py": "",
    "regr_common.py": "",
}
_OWN = {name for name in PACKAGE if name not in ("regr_shop/unused.py", "regr_common.py")}


def test_an_import_path_covers_its_packages_and_what_lies_beside_them(working: Path) -> None:
    write_modules(working, PACKAGE)

    found = imported_files(locate_adapter("regr_shop.adapter", working))

    names = {path.relative_to(working).as_posix(): name for path, name in found.items()}
    assert names.keys() == _OWN | {"regr_common.py"}
    assert names["regr_shop/data/prices.py"] == "regr_shop.data.prices"
    assert names["regr_shop/__init__.py"] == "regr_shop"


@pytest.mark.parametrize("kind", ["site-packages", "dist-packages"])
def test_of_what_is_installed_only_its_own_package_is_covered(working: Path, kind: str) -> None:
    installed = write_modules(working / "lib" / kind, PACKAGE)
    sys.path.append(str(installed))  # the fixture puts it back

    found = imported_files(locate_adapter("regr_shop.adapter", working))

    assert {path.relative_to(installed).as_posix() for path in found} == _OWN


BROKEN = [
    pytest.param(b"def f(:\n", "adapter.py: line 1: not Python: ", id="a syntax error"),
    pytest.param(b"x = 1\n'\xff'", "adapter.py: ", id="not UTF-8"),
    pytest.param(b"\x7fELF\x00\x01", "adapter.py: ", id="binary"),
    pytest.param(b"export default { setup }\n", "adapter.py: line 1: not Python: ", id="JavaScript"),
    pytest.param(b"import broken\n", "broken.py: line 2: not Python: ", id="a module beside it"),
]


@pytest.mark.parametrize(("content", "message"), BROKEN)
def test_what_is_no_python_is_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "adapter.py").write_bytes(content)
    write_modules(tmp_path, {"broken.py": "\n)"})

    with pytest.raises(InputError) as raised:
        _hash(tmp_path)

    assert message in str(raised.value)
    assert "not Python" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_gone_is_one_line(tmp_path: Path) -> None:
    location = locate_adapter("adapter.py", write_modules(tmp_path, {"adapter.py": ""}))
    location.file.unlink()

    with pytest.raises(InputError, match=r"adapter\.py: cannot be read: No such file or directory$"):
        adapter_hash(location)
