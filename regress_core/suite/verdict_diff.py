"""How a flipped verdict is shown to the person who decides about it, with the commands to do so."""

from __future__ import annotations

import shlex
from typing import Literal

from regress_core.suite.wording import in_one_line

PLACE_OF_THE_REASON = "…"
"""What stands in a ready-made command where the person has to say why."""


def verdict_diff(
    case_id: str,
    dimension: str,
    *,
    passed: bool,
    reason: str,
    suite: str,
    evaluation_id: str,
    store: str | None = None,
) -> list[str]:
    """Give the lines that show a flipped verdict, each command on one of its own.

    Args:
        case_id: The case.
        dimension: The dimension of the rubric.
        passed: The verdict; the other one was expected.
        reason: The judge's reason.
        suite: The suite, as commands name it.
        evaluation_id: The evaluation that the verdict is from.
        store: The store, where it is not the one that the settings name.
    """
    change = f"case {case_id}, dimension {dimension}: {change_of(passed=passed)}"
    words = ["--suite", suite, "--case", case_id, "--dimension", dimension]
    accept, reject = (decision_command(word, words, evaluation_id, store) for word in ("accept", "reject"))
    return [
        f"{change}: {in_one_line(reason)}",
        f"  {accept}",
        f"  {reject}",
    ]


def change_of(*, passed: bool) -> str:
    """Say how a flipped verdict differs from the expected one."""
    return "fail → pass" if passed else "pass → fail"


def decision_command(
    decision: Literal["accept", "reject"], words: list[str], evaluation_id: str, store: str | None
) -> str:
    """Give a command that takes down a decision about an evaluation, ready for a shell but for the reason."""
    ending = [] if store is None else ["--store", store]
    where = ["--evaluation", evaluation_id]
    return shlex.join(["regress", decision, *words, *where, "--reason", PLACE_OF_THE_REASON, *ending])
