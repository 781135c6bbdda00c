"""Finding the suites of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from regress_core.errors import InputError
from regress_core.suite.config import SUITE_FILE
from regress_core.suite.loading import load_suite_config, suite_name
from regress_pipeline.settings import Settings


@dataclass(frozen=True, slots=True)
class SuiteFolder:
    """A folder with a suite.yaml, by the suite's name."""

    name: str
    root: Path


@dataclass(frozen=True, slots=True)
class BrokenSuite:
    """A folder with a suite.yaml that cannot be used, the name it would have if it is known, and why."""

    root: Path
    name: str | None
    error: InputError


@dataclass(frozen=True, slots=True)
class Suites:
    """The suites below a suites root, by name, and the folders that hold none that can be used."""

    found: tuple[SuiteFolder, ...]
    broken: tuple[BrokenSuite, ...]


def find_suites(suites_root: Path) -> Suites:
    """List the suites directly below the suites root; none if there is no such folder.

    A broken one does not keep the others. Of several with one name none is found, for nothing tells which of
    them the history of that name belongs to.
    """
    folders: dict[str, list[SuiteFolder]] = {}
    broken: list[BrokenSuite] = []
    for root in _suite_roots(suites_root):
        try:
            suite = suite_folder(root)
        except InputError as error:
            broken.append(BrokenSuite(root, None, error))
        else:
            folders.setdefault(suite.name, []).append(suite)
    for twins in folders.values():
        if len(twins) > 1:
            for twin in twins:
                other = next(one for one in twins if one is not twin)
                broken.append(BrokenSuite(twin.root, twin.name, _name_taken(other, twin.root)))
    found = [folders[name][0] for name in sorted(folders) if len(folders[name]) == 1]
    return Suites(tuple(found), tuple(sorted(broken, key=lambda one: one.root)))


def _name_taken(suite: SuiteFolder, root: Path) -> InputError:
    message = f"the suite name {suite.name} is taken by {suite.root}"
    return InputError(message, file=root / SUITE_FILE, field="$.name", remedy="rename one of them")


def _suite_roots(suites_root: Path) -> list[Path]:
    return sorted(path.parent for path in suites_root.glob(f"*/{SUITE_FILE}"))


def suite_folder(root: Path) -> SuiteFolder:
    """Name the suite of a folder.

    Raises:
        InputError: If its suite.yaml is missing or at fault.
    """
    return SuiteFolder(suite_name(root, load_suite_config(root)), root)


def find_suite(text: str, settings: Settings) -> SuiteFolder:
    """Find a suite by its folder's path or by its name.

    Raises:
        InputError: If there is none; the message lists those there are. Or if another suite of the suites
            root has its name: their histories would be one.
    """
    suites = find_suites(settings.suites_root)
    if (Path(text) / SUITE_FILE).is_file():
        suite = suite_folder(Path(text).resolve())
        for one in (*suites.found, *suites.broken):
            if one.name == suite.name and one.root.resolve() != suite.root:
                raise _name_taken(SuiteFolder(suite.name, one.root), suite.root)
        return suite
    for suite in suites.found:
        if suite.name == text:
            return suite
    own = [one for one in suites.broken if text in (one.name, one.root.name)]
    for one in (*own, *suites.broken):
        raise one.error
    known = ", ".join(suite.name for suite in suites.found) or "none"
    message = f"no suite {text!r}: neither a folder with a {SUITE_FILE} nor a suite of the suites root"
    raise InputError(message, file=settings.suites_root, remedy=f"suites there: {known}")
