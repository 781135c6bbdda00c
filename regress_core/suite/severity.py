"""How heavily a signal weighs under a gate, and why: what broke, apart from what only changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from regress_core.compare.answers import AnswerComparison, ToldFact
from regress_core.compare.facts import VALUES, FactKind
from regress_core.compare.model import Comparison, Difference, SignalName
from regress_core.judge.contract import Status
from regress_core.suite.config import GateConfig
from regress_core.suite.wording import SHOWN_CHARACTERS, in_one_line

_SHOWN_FACTS = 4


@dataclass(frozen=True, slots=True)
class Weight:
    """What a signal does to the status of a case, and why, in words; no words where the gate says it."""

    status: Status
    why: str = ""


def weigh(signal: SignalName, comparison: Comparison, gate: GateConfig) -> Weight:
    """Weigh a raised signal.

    What the gate says of it counts. Else, with the reference's rules, it warns. The recommended rules look at
    what has changed:

    - effectsChanged fails: something else was done than the baseline did.
    - toolsChanged passes where the effects decide or are the same, since they are what calls are for, and
      where the same calls came in another order; else it warns.
    - finalOutputChanged passes if the answer is the same up to Markdown and white space, or told the same
      facts. It fails if the answer contradicts the baseline's, and neither run changed anything: then the
      answer is all there is. It warns where facts are lost or added, and where there are none to compare.
    - statusChanged and policyChanged warn; a candidate that failed fails whatever its signals are.
    """
    if signal in gate.signals:
        return Weight(gate.signals[signal])
    if gate.rules == "reference":
        return Weight("warn")
    return _RECOMMENDED[signal](comparison)


def weigh_told(comparison: Comparison, gate: GateConfig) -> Weight | None:
    """Weigh what was told before an answer that is the same; None where that needs no word.

    So it is where the gate names finalOutputChanged, and where the answers differ but only explain.
    """
    answer = comparison.answer
    if gate.rules == "reference" or "finalOutputChanged" in gate.signals:
        return None
    if answer is None or not answer.altered or not comparison.summary.same_final_response:
        return None
    return _answer(comparison)


def weigh_silent(differences: Sequence[Difference], comparison: Comparison, gate: GateConfig) -> Weight:
    """Weigh deciding differences that raise no signal: a warning, but for outputs where effects tell more."""
    only_outputs = all(difference.path.startswith("toolCalls") for difference in differences)
    known = _weighed_by_effects(comparison) if gate.rules == "recommended" and only_outputs else None
    return known or Weight("warn")


def _effects(_: Comparison) -> Weight:
    return Weight("fail", "something else was changed than in the baseline")


def _weighed_by_effects(comparison: Comparison) -> Weight | None:
    """Let calls pass whose effects are weighed, or are the same; effects that only explain weigh nothing."""
    effects = comparison.effects
    if comparison.signals.effects_changed:
        return Weight("pass", "weighed by its effects")
    if effects is None or effects.changed or effects.missing or effects.extra:
        return None
    return Weight("pass", "the effects are the same")


def _tools(comparison: Comparison) -> Weight:
    known = _weighed_by_effects(comparison)
    if known is not None:
        return known
    if comparison.trajectory is not None and comparison.trajectory.trajectory in ("same", "reordered"):
        return Weight("pass", "the same calls in another order")
    if comparison.effects is None:
        return Weight("warn", "effects are not compared: see effects in suite.yaml")
    return Weight("warn", "the effects differ too, and only explain here")


def _answer(comparison: Comparison) -> Weight:
    answer = comparison.answer
    if answer is None:
        return Weight("warn")
    if answer.altered:
        return _contradiction(answer, comparison)
    if answer.change == "same text":
        return Weight("pass", "the same but for Markdown and white space")
    lost, added = (_list(facts, VALUES) for facts in (answer.lost, answer.added))
    if lost or added:
        told = " and ".join(f"{what} {facts}" for what, facts in (("lost", lost), ("added", added)) if facts)
        return Weight("warn", f"facts {told}")
    if answer.change == "same facts":
        return Weight("pass", "other words, the same facts")
    return Weight("warn", "other words, and no value tells them apart")


def _contradiction(answer: AnswerComparison, comparison: Comparison) -> Weight:
    kinds = frozenset(answer.altered)
    facts = f"{_list(answer.lost, kinds)} → {_list(answer.added, kinds)}"
    if _changes_nothing(comparison):
        return Weight("fail", f"the answer is all there is, and contradicts the baseline's: {facts}")
    return Weight("warn", f"the answer contradicts the baseline's: {facts}")


def _changes_nothing(comparison: Comparison) -> bool:
    """Tell whether neither run has changed anything, as far as is known."""
    effects, metrics = comparison.effects, comparison.metrics
    if effects is None:
        return metrics.tool_calls_a == metrics.tool_calls_b == 0
    return effects.writes_a == effects.writes_b == 0


def _list(facts: Sequence[ToldFact], kinds: AbstractSet[FactKind]) -> str:
    """Show the first few facts of some kinds."""
    texts = [in_one_line(fact.text, SHOWN_CHARACTERS) for fact in facts if fact.kind in kinds]
    rest = len(texts) - _SHOWN_FACTS
    return ", ".join(texts[:_SHOWN_FACTS]) + (f" and {rest} more" if rest > 0 else "")


def _warns(why: str) -> Callable[[Comparison], Weight]:
    return lambda _: Weight("warn", why)


_RECOMMENDED: Mapping[SignalName, Callable[[Comparison], Weight]] = {
    "effectsChanged": _effects,
    "toolsChanged": _tools,
    "finalOutputChanged": _answer,
    "policyChanged": _warns("a policy decided otherwise"),
    "statusChanged": _warns("the baseline had failed"),
}
