"""The status of a case that has a candidate record, and the reasons in words."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from regress_core.compare.model import Comparison, Difference, SignalName
from regress_core.judge.contract import Status
from regress_core.records.canonical import same_json
from regress_core.records.json_io import JsonObject, JsonValue, child_path
from regress_core.records.model import RunRecord
from regress_core.suite.config import GateConfig
from regress_core.suite.judged import NOT_JUDGED, Judged
from regress_core.suite.severity import Weight, weigh, weigh_silent, weigh_told
from regress_core.suite.summary import worst
from regress_core.suite.wording import window

_PATHS: dict[SignalName, tuple[str, ...]] = {
    "statusChanged": ("status",),
    "toolsChanged": ("toolCalls",),
    "policyChanged": ("policyDecisions",),
    "finalOutputChanged": ("response",),
    "effectsChanged": ("effects",),
}
_CLEARED = Weight("pass", "cleared by the judge")
_SHOWN_DIFFERENCES = 3
_ERROR_CHARACTERS = 400  # an error says what to do about it


@dataclass(frozen=True, slots=True)
class Classification:
    """A status and why, most serious reason first."""

    status: Status
    reasons: tuple[str, ...]


def classify(
    candidate: RunRecord,
    comparison: Comparison,
    gate: GateConfig,
    *,
    replay_miss: bool = False,
    judged: Judged = NOT_JUDGED,
) -> Classification:
    """Decide a case.

    A failed candidate fails, and so does one that asked for a tool output the baseline does not have. Else
    the worst of these counts: each raised signal as the gate weighs it (see `severity`), and nothing where
    the gate lets a pass of the regression judge clear it; what was told before the answer, which is weighed
    and cleared as finalOutputChanged is; a deciding section that differs without raising a signal; what
    checks and judges say, where no verdict warns.
    """
    if candidate.status == "failed" or replay_miss:
        return Classification("fail", (_failure(candidate, replay_miss=replay_miss),))
    found: list[tuple[Status, str]] = []
    verdict = judged.verdict
    cleared = gate.judge_clears if verdict is not None and verdict.verdict == "pass" else ()
    for signal in comparison.signals.raised():
        text = f"{signal}: {_described(comparison, signal)}"
        weight = _CLEARED if signal in cleared else weigh(signal, comparison, gate)
        found.append((weight.status, _with_why(text, weight)))
    told = weigh_told(comparison, gate)
    if told is not None:
        weight = _CLEARED if "finalOutputChanged" in cleared else told
        found.append((weight.status, _with_why("told before the answer", weight)))
    silent = _silent_differences(comparison)
    if silent:
        weight = weigh_silent(silent, comparison, gate)
        found.append((weight.status, _with_why(f"differs: {_shown(silent)}", weight)))
    found += judged.weights(gate)
    status = worst(severity for severity, _ in found)
    order: tuple[Status, ...] = ("fail", "warn", "pass")
    found.sort(key=lambda entry: order.index(entry[0]))
    return Classification(status, tuple(reason for _, reason in found))


def _with_why(text: str, weight: Weight) -> str:
    return f"{text} ({weight.why})" if weight.why else text


def _failure(candidate: RunRecord, *, replay_miss: bool) -> str:
    known = (candidate.error_name, candidate.error_message)
    error = ": ".join(" ".join(text.split()) for text in known if text)
    shown = window(error, 0, _ERROR_CHARACTERS)
    if replay_miss:
        return f"diverged: {shown}" if error else "diverged: an output is missing"
    return f"candidate failed: {shown}" if error else "candidate failed"


def _silent_differences(comparison: Comparison) -> list[Difference]:
    """Deciding differences that raise no signal: outputs, guardrails, proposals, errors."""
    raised = comparison.signals.raised()
    signalled = tuple(prefix for signal in raised for prefix in _PATHS[signal])
    return [d for d in comparison.differences if not d.path.startswith(signalled)]


def _described(comparison: Comparison, signal: SignalName) -> str:
    found = [
        d for d in (*comparison.differences, *comparison.provenance) if d.path.startswith(_PATHS[signal])
    ]
    if not found:  # the status is a signal even where it is no section; a failed candidate is decided before
        return "status failed → completed"
    return _shown(found)


def _shown(differences: list[Difference]) -> str:
    """Show the first few differences in words."""
    texts = [_in_words(difference) for difference in differences[:_SHOWN_DIFFERENCES]]
    rest = len(differences) - len(texts)
    return "; ".join(texts) + (f"; and {rest} more" if rest > 0 else "")


def _in_words(difference: Difference) -> str:
    path, left, right = difference.path, difference.left, difference.right
    if difference.kind == "missing_left":
        return f"{path} is new: {window(_entry(path, right), 0)}"
    if difference.kind == "missing_right":
        return f"{path} is gone: {window(_entry(path, left), 0)}"
    return ", ".join(_changes(path, left, right))


def _entry(path: str, value: JsonValue) -> str:
    """Show a whole call, decision or proposal by what it is about, anything else as JSON."""
    kind, _, index = path.partition("[")
    entry = cast("JsonObject", value)
    if not index.removesuffix("]").isdecimal():
        return _json(value)
    if kind in ("toolCalls", "effects"):
        return f"{entry['name']}({entry['argsCanonicalJson']})"
    if kind == "policyDecisions":
        resource = entry["resource"]
        return f"{entry['decision']} {resource['kind']} {resource['name']} ({entry['reason']})"
    if kind == "suspendedProposals":
        what = entry.get("toolName") or entry.get("toAgentName")
        return f"{entry['kind']} {what} ({entry['reason']})"
    return _json(value)


def _changes(path: str, left: JsonValue, right: JsonValue) -> Iterator[str]:
    """Name the members in which two values differ; the values themselves where they are of another shape."""
    if isinstance(left, dict) and isinstance(right, dict):
        a, b = cast("JsonObject", left), cast("JsonObject", right)
        for key in (*a, *(key for key in b if key not in a)):
            here = child_path(path, key)
            if key not in a or key not in b:
                side, value = ("is new", b[key]) if key in b else ("is gone", a[key])
                yield f"{here} {side}: {window(_json(value), 0)}"
            elif not same_json(a[key], b[key]):
                yield from _changes(here, a[key], b[key])
        return
    x, y = _json(left), _json(right)
    start = _common_start(x, y)
    yield f"{path} {window(x, start)} → {window(y, start)}{_why_alike(x, y)}"


def _why_alike(a: str, b: str) -> str:
    """Say why two texts differ that look the same on a screen."""
    same = unicodedata.normalize("NFC", a) == unicodedata.normalize("NFC", b)
    return " (only the Unicode form differs)" if same else ""


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def _common_start(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
