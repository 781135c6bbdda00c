"""cases/<case>.yaml, and what such a file and suite.yaml together ask of a case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from regress_core.checks.case_checks import CaseChecks, case_checks
from regress_core.errors import InputError, os_error_text
from regress_core.judge.config import RubricDimension, checked_rubric
from regress_core.records.json_io import JsonError
from regress_core.suite.config import SUITE_FILE, CaseConfig, SuiteConfig, load_config

CASES_FOLDER = "cases"
NO_CASE_CONFIG = CaseConfig()


@dataclass(frozen=True, slots=True)
class Requirements:
    """What is asked of one case: its checks, and the questions of its rubric."""

    checks: CaseChecks
    rubric: tuple[RubricDimension, ...]


def requirements_of(suite: SuiteConfig, case: CaseConfig) -> Requirements:
    """Put together what suite.yaml asks of all cases and what a case's own file asks besides.

    Raises:
        JsonError: If they do not go together; the path is one of the case's file.
    """
    checks = case_checks(suite, case)
    try:
        return Requirements(checks, checked_rubric((*suite.rubric, *case.rubric)))
    except ValueError as error:
        raise JsonError("$.rubric", f"with suite.yaml's: {error}") from error


def load_case_configs(root: Path, case_ids: Mapping[str, Path]) -> dict[str, CaseConfig]:
    """Read the files of a suite's cases/ folder, by case id.

    Args:
        root: The suite's folder.
        case_ids: The cases there are, with their records.

    Raises:
        InputError: If a file is at fault, or of no case.
    """
    folder = root / CASES_FOLDER
    if not folder.is_dir():
        return {}
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise InputError(f"cannot be read: {os_error_text(error)}", file=folder) from error
    found: dict[str, CaseConfig] = {}
    for path in paths:
        if path.suffix != ".yaml":
            raise InputError("not a .yaml file", file=path, remedy="call it <case>.yaml, or take it away")
        if path.stem not in case_ids:
            remedy = "name it after a case's record, or take it away"
            raise InputError(f"there is no case {path.stem}", file=path, remedy=remedy)
        found[path.stem] = load_config(CaseConfig, path)
    return found


def check_requirements(root: Path, suite: SuiteConfig, configs: Mapping[str, CaseConfig]) -> None:
    """Make sure that what is asked of each case goes together.

    Args:
        root: The suite's folder.
        suite: Its suite.yaml.
        configs: By case id what the case's own file says.

    Raises:
        InputError: If it does not; names the case's file, also where there is none yet.
    """
    for case_id, config in configs.items():
        own = root / CASES_FOLDER / f"{case_id}.yaml"
        try:
            requirements = requirements_of(suite, config)
        except JsonError as error:
            remedy = f"mend it, or {SUITE_FILE}"
            raise InputError(error.reason, file=own, field=error.path, case=case_id, remedy=remedy) from error
        if requirements.rubric and suite.judge is None:
            remedy = "name who judges it in suite.yaml: judge: {model: provider:model}"
            place = own if config.rubric else root / SUITE_FILE
            raise InputError(
                "a rubric without a judge", file=place, field="rubric", case=case_id, remedy=remedy
            )
