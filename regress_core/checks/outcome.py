"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from regress_core.records.wire import WireModel

CheckOutcome = Literal["pass", "warn", "fail", "noted"]
"""`noted` is a finding of no account for the status: a hint of the expectation that was not followed."""

Severity = Literal["warn", "fail"]
"""What a check comes to that does not hold."""


class CheckResult(WireModel):
    """The result of one check on one candidate's run.

    Attributes:
        check_id: Names the check within its case.
        kind: What sort of check, such as `tool_called`.
        outcome: What it came to.
        looked_for: What the check wants, in words.
        found: What there is, in words.
        where: The place in the run record, as a JSON path such as `items[3].arguments.amount`; None where the
            whole run is meant.
    """

    check_id: str
    kind: str
    outcome: CheckOutcome
    looked_for: str
    found: str
    where: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What there is of what a check wants; as yet nobody's result.

    Attributes:
        looked_for: As in `CheckResult`, as are the next two.
        holds: Whether the run is as the check wants it.
    """

    looked_for: str
    found: str
    where: str | None = None
    holds: bool = field(kw_only=True)

    def result(self, check_id: str, kind: str, otherwise: CheckOutcome = "fail") -> CheckResult:
        """Make it the result of a check, which comes to `otherwise` if the run is not as it wants."""
        return CheckResult(
            check_id=check_id,
            kind=kind,
            outcome="pass" if self.holds else otherwise,
            looked_for=self.looked_for,
            found=self.found,
            where=self.where,
        )
