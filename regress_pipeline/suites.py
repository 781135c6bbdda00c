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


def find_suites(suites_root: Path) -> list[SuiteFolder]:
    """List the suites directly below the suites root, by name; none if there is no such folder.

    Raises:
        InputError: If a suite.yaml is at fault, or two suites have one name.
    """
    found: dict[str, SuiteFolder] = {}
    for root in _suite_roots(suites_root):
        suite = suite_folder(root)
        twin = found.setdefault(suite.name, suite)
        if twin is not suite:
            raise _name_taken(twin, root)
    return [found[name] for name in sorted(found)]


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
        InputError: If there is none; the message lists those there are.
    """
    if (Path(text) / SUITE_FILE).is_file():
        return suite_folder(Path(text).resolve())
    suites: list[SuiteFolder] = []
    faults: list[InputError] = []
    for root in _suite_roots(settings.suites_root):
        try:
            suites.append(suite_folder(root))
        except InputError as error:  # no concern of the other suites
            faults.append(error)
    found = [suite for suite in suites if suite.name == text]
    if len(found) == 1:
        return found[0]
    if found:
        raise _name_taken(found[0], found[1].root)
    if faults:
        raise faults[0]
    known = ", ".join(suite.name for suite in suites) or "none"
    message = f"no suite {text!r}: neither a folder with a {SUITE_FILE} nor a suite of the suites root"
    raise InputError(message, file=settings.suites_root, remedy=f"suites there: {known}")
