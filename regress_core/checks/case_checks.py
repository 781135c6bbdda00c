"""The checks that hold for one case: those of its suite and its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from regress_core.checks.config import Anomalies, CheckKeys, SemanticDimension, repeated
from regress_core.checks.kinds import Assertion
from regress_core.records.json_io import JsonError

_LONGEST_ID = 60


@dataclass(frozen=True, slots=True)
class CaseChecks:
    """What holds for one case.

    Attributes:
        assertions: By check id.
        rubric: The dimensions of the semantic rubric.
        anomalies: What is looked out for.
    """

    assertions: Mapping[str, Assertion]
    rubric: tuple[SemanticDimension, ...]
    anomalies: Anomalies


def case_checks(suite: CheckKeys, case: CheckKeys | None = None) -> CaseChecks:
    """Put the checks of a case together: the suite's, then its own.

    An anomaly that the case names, be it as null, replaces the suite's.

    Raises:
        JsonError: If the case gives an id that the suite has given, or has no semantic dimension although
            one is required. The path is one of the case's file.
    """
    own = CheckKeys() if case is None else case
    twice = repeated((*suite.given_ids, *own.given_ids))
    if twice is not None:
        raise JsonError("$", f"the id {twice} is one of suite.yaml's already")
    rubric = (*suite.semantic_rubric, *own.semantic_rubric)
    if (suite.checks.require_rubric or own.checks.require_rubric) and not rubric:
        reason = "the case has no semantic rubric, and checks.require_rubric wants one of every case"
        raise JsonError("$.semanticRubric", reason)
    anomalies = own.checks.anomalies
    return CaseChecks(
        assertions=dict(_named((*suite.assertions, *own.assertions), [entry.id for entry in rubric])),
        rubric=rubric,
        anomalies=suite.checks.anomalies.model_copy(
            update={name: getattr(anomalies, name) for name in anomalies.model_fields_set}
        ),
    )


def _named(assertions: Iterable[Assertion], taken: Iterable[str]) -> Iterator[tuple[str, Assertion]]:
    """Give each assertion its id; where none is given, one of its kind and subject that nothing else has."""
    listed = tuple(assertions)
    ids = {*taken, *(entry.id for entry in listed if entry.id is not None)}
    for assertion in listed:
        name = assertion.id
        if name is None:
            name = _free(_default_id(assertion), ids)
            ids.add(name)
        yield name, assertion


def _default_id(assertion: Assertion) -> str:
    words = f"{assertion.kind} {assertion.subject}".lower()
    return re.sub(r"[^a-z0-9]+", "-", words)[:_LONGEST_ID].strip("-")


def _free(name: str, ids: set[str]) -> str:
    number, candidate = 1, name
    while candidate in ids:
        number += 1
        candidate = f"{name}-{number}"
    return candidate
