"""Importing an adapter, and what lies beside it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

from regress_core.errors import InputError
from regress_core.harness.adapter.files import AdapterLocation, imported_files
from regress_core.records.canonical import hash_text


@contextmanager
def imported(location: AdapterLocation) -> Generator[object]:
    """Import an adapter: the module, or the object in it that is named.

    A file that was named by its path is run anew each time, and what it imports from beside it is forgotten
    when the context ends, so that the next adapter with a `tools.py` gets its own one. A module that was
    named by its import path is imported once per process, like any other.

    Raises:
        InputError: If one of the modules beside it is not what Python gives under its name.
        Exception: What importing it raises.
    """
    if location.module:
        found: object = importlib.import_module(location.module)
        _check_origins(location)
        for name in location.attribute.split(".") if location.attribute else ():
            found = getattr(found, name)
        yield found
        return
    with _importing_from(location.root):
        module = _run(location)
        _check_origins(location)
        yield module


@contextmanager
def _importing_from(folder: Path) -> Generator[None]:
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()  # a file may be younger than the last look into its folder
    try:
        yield
    finally:
        beside = list(_modules_beside(folder))  # first: a package without __init__.py follows sys.path
        with suppress(ValueError):  # if the adapter took it out
            sys.path.remove(str(folder))
        for name in beside:
            if name not in before:
                del sys.modules[name]


def _modules_beside(folder: Path) -> Iterator[str]:
    """Name the loaded modules that were found in a folder, and all modules in such packages."""
    tops = {name for name, module in sys.modules.items() if "." not in name and _is_beside(module, folder)}
    return (name for name in list(sys.modules) if name.partition(".")[0] in tops)


def _is_beside(module: ModuleType, folder: Path) -> bool:
    spec = getattr(module, "__spec__", None)
    if spec is None:
        return False
    # Only what lies in the folder itself: below it there may be an environment with everything installed.
    places = spec.submodule_search_locations or [spec.origin or ""]
    return any(Path(place).parent == folder for place in places)


def _run(location: AdapterLocation) -> ModuleType:
    name = f"regress_adapter_{hash_text(location.text)[:16]}"
    spec = importlib.util.spec_from_file_location(name, location.file)
    if spec is None or spec.loader is None:
        raise ImportError("Python has no loader for it")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look their module up there
    sys.modules.setdefault(location.file.stem, module)  # for a module beside it that imports it in turn
    written = sys.dont_write_bytecode
    # Compiled files tell versions apart by size and second only; and a suite's folder stays as it is.
    sys.dont_write_bytecode = True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = written
    return module


def _check_origins(location: AdapterLocation) -> None:
    """Make sure that what the adapter imported from beside it is what its hash was made of."""
    for file, name in imported_files(location).items():
        spec = getattr(sys.modules.get(name), "__spec__", None)
        if spec is None or spec.origin is None or Path(spec.origin).resolve() == file.resolve():
            continue
        message = f"`import {name}` gives another module, {spec.origin}"
        raise InputError(message, file=file, remedy="give the file a name of its own")
