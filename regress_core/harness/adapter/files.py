"""Finding an adapter and the files it consists of, without running any of them."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regress_core.errors import InputError, os_error_text

_INSTALLED = {"site-packages", "dist-packages"}
"""What folders are called in which packages of all kinds lie side by side."""


@dataclass(frozen=True, slots=True)
class AdapterLocation:
    """Where an adapter is.

    Attributes:
        text: An absolute path of a `.py` file, or `package.module`, or `package.module:name`.
        file: The module's file.
        root: The folder that its own imports are looked up in.
        package: The top-level package or module of an import path; empty for a file that was named by its
            path.
    """

    text: str
    file: Path
    root: Path
    package: str

    @property
    def module(self) -> str:
        """The import path of the module; empty for a file that was named by its path."""
        return self.text.partition(":")[0] if self.package else ""

    @property
    def attribute(self) -> str:
        """The name of the object that is the adapter; empty for the module itself."""
        return self.text.partition(":")[2] if self.package else ""


def locate_adapter(text: str, base: Path) -> AdapterLocation:
    """Find an adapter.

    Args:
        text: A path of a `.py` file, relative to `base`, or an import path, `package.module` or
            `package.module:name`; modules are looked up in the working folder too.
        base: The folder relative paths count from.

    Raises:
        InputError: If there is none.
    """
    if text.endswith(".py") or "/" in text:
        file = (base / text).absolute()
        if not file.is_file():
            raise InputError("no such adapter", file=file, remedy="name a .py file or an import path")
        return AdapterLocation(str(file), file, file.parent, "")
    module = text.partition(":")[0]
    top, *inner = module.split(".")
    root = _root_of(top, text)
    file = _module_file(root, (top, *inner))
    if file is None:
        raise InputError(
            f"no module {module!r}", field=f"adapter {text}", remedy="name a .py file or a module"
        )
    return AdapterLocation(text, file, root, top)


def _root_of(top: str, text: str) -> Path:
    working = str(Path.cwd())
    if working not in sys.path:
        sys.path.append(working)
    importlib.invalidate_caches()  # a file may be younger than the last look into its folder
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):  # such as an empty name
        spec = None
    if spec is None or not (spec.origin or spec.submodule_search_locations):
        remedy = "name a .py file, or a module that can be imported from the working folder"
        raise InputError(f"no module {top!r}", field=f"adapter {text}", remedy=remedy)
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations))).parent
    return Path(spec.origin or "").parent


def adapter_hash(location: AdapterLocation) -> str:
    """Give the SHA-256, in hexadecimal, over an adapter's module and the modules beside it that it imports.

    Raises:
        InputError: If one of them cannot be read or is no Python.
    """
    total = hashlib.sha256()
    for file in sorted({location.file, *imported_files(location)}):
        total.update(f"{file.relative_to(location.root).as_posix()}\0".encode())
        total.update(hashlib.sha256(_read(file)).digest())
    return total.hexdigest()


def imported_files(location: AdapterLocation) -> dict[Path, str]:
    """Give the modules beside an adapter that it imports, and those that they import: files and their names.

    Beside it are those below its root; of a root that packages are installed in, its own package only. They
    are found by their import statements, wherever these stand. Files that are read or imported in other ways
    are not found.

    Raises:
        InputError: If one of them cannot be read or is no Python.
    """
    only = location.package if _INSTALLED & set(location.root.parts) else ""
    found: dict[Path, str] = {}
    waiting = [_imported_names(location.file, location.root)]
    if location.module:  # its packages run before it does
        waiting.append(iter([tuple(location.module.split("."))]))
    while waiting:
        for name in waiting.pop():
            if only and name[0] != only:
                continue
            for length in range(1, len(name) + 1):  # importing a.b.c runs a and a.b too
                file = _module_file(location.root, name[:length])
                if file is not None and file not in found:
                    found[file] = ".".join(name[:length])
                    waiting.append(_imported_names(file, location.root))
    return found


def _imported_names(file: Path, root: Path) -> Iterator[tuple[str, ...]]:
    try:
        tree = ast.parse(_read(file), filename=str(file))
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        place = None if line is None else f"line {line}"
        raise InputError(f"not Python: {error.args[0]}", file=file, field=place) from error
    here = file.relative_to(root).parts[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level <= len(here):  # beyond, Python refuses it
            base = here[: len(here) - node.level + 1] if node.level else ()
            module = (*base, *(node.module.split(".") if node.module else ()))
            yield from ((*module, alias.name) for alias in node.names)


def _module_file(root: Path, name: tuple[str, ...]) -> Path | None:
    place = root.joinpath(*name)
    for file in (place / "__init__.py", place.with_name(f"{place.name}.py")):  # in Python's own order
        if file.is_file():
            return file
    return None


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {os_error_text(error)}", file=file) from error
