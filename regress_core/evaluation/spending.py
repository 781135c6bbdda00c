"""The money of an evaluation: what models cost, and who pays for the candidate's calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from regress_core.calls.meter import Meter
from regress_core.calls.prices import NANOUSD, Price, listed_price
from regress_core.calls.purse import Purse
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.ids import Clock
from regress_core.journal.ledger import CallEntry, Ledger
from regress_core.judge.config import PriceConfig


def purse_of(ledger: Ledger, cap_usd: float | None) -> Purse:
    """Give a purse with a cap as a suite states it."""
    return Purse(ledger, None if cap_usd is None else Decimal(str(cap_usd)))


@dataclass(frozen=True, slots=True)
class Prices:
    """What models cost: as the suite states it, else as they are listed when first asked for.

    Attributes:
        stated: The suite's price, which holds for every model.
        clock: Gives the time: some prices change with it.
    """

    stated: PriceConfig | None
    clock: Clock
    _found: dict[str, Price | None] = field(default_factory=dict[str, Price | None])

    def of(self, model: str) -> Price | None:
        """Give the price of a model, `provider:model`; None where nobody knows."""
        if model not in self._found:
            self._found[model] = self._stated() or listed_price(model, self.clock())
        return self._found[model]

    def _stated(self) -> Price | None:
        stated = self.stated
        if stated is None:
            return None
        caches = (stated.cache_read, stated.cache_write)
        read, write = (None if usd is None else Decimal(str(usd)) for usd in caches)
        return Price(Decimal(str(stated.input)), Decimal(str(stated.output)), read, write)


@dataclass(frozen=True, slots=True)
class Spending:
    """Pays for the calls of the candidate's runs.

    Attributes:
        evaluation_id: The evaluation.
        revision: Its revision.
        ledger: Where calls are entered.
        purse: Pays, within the suite's cap.
        prices: What models cost.
    """

    evaluation_id: str
    revision: int
    ledger: Ledger
    purse: Purse
    prices: Prices

    def meter(self, case_id: str, trial: int) -> Meter:
        """Give what one run is charged with."""
        return Meter(self.purse, self._entry(case_id, trial), self.prices.of)

    def cost_usd(self, case_id: str, trial: int) -> float:
        """Give what a run's calls have cost, US dollars, those of an attempt that met trouble included."""
        _, cost_nanousd = self.ledger.made(self._entry(case_id, trial))
        return cost_nanousd / NANOUSD

    def _entry(self, case_id: str, trial: int) -> CallEntry:
        return CallEntry(self.evaluation_id, "candidate", case_id, trial, self.revision)


def spending_of(plan: EvaluationPlan, ledger: Ledger, clock: Clock) -> Spending:
    """Give what pays for a plan's candidate."""
    config = plan.suite.config
    purse = purse_of(ledger, config.candidate_cap_usd)
    return Spending(plan.evaluation_id, plan.revision, ledger, purse, Prices(config.candidate_price, clock))
