"""How well regressions are told from harmless changes: `python benchmarks/detection.py --data DIR [--json]`.

Every labelled file below DIR gives pairs of runs of one task: passed → failed is a regression, passed →
passed is unchanged, whatever else differs. A classifier looks at the two runs, never at labels or the right
actions, and flags the pair or not:

- any difference: the comparison is not equal;
- tool names, all calls: the sequence of names, or of names with arguments, differs;
- unordered: so does the multiset of calls; superset: the candidate lacks a call of the baseline;
- effects: the signal effectsChanged;
- recommended: the recommended gate fails the case; or warns: it at least warns;
- agentevals (strict, unordered, subset, superset): its matchers, where the package is installed.

Which tools write is what `regress effects suggest` proposes from the same runs, unedited, or what
`--effects FILE` declares. Rates come with 95 % Wilson intervals, as if pairs were independent, which pairs of
one task are not.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelled_runs import Pair, PairSet, find_labelled, pair_sets

from regress_core.compare.comparison import compare_run_records
from regress_core.compare.effect_rules import EffectsConfig
from regress_core.compare.model import Comparison
from regress_core.compare.options import CompareOptions
from regress_core.records.json_io import dumps_text
from regress_core.records.model import RunRecord
from regress_core.records.tool_calls import ExtractedToolCall, extract_tool_calls
from regress_core.stats.intervals import Rate, rate
from regress_core.suite.classification import classify
from regress_core.suite.config import GATE_PRESETS, load_config
from regress_core.suite.effect_suggestions import as_config, suggest_effects


@dataclass(frozen=True, slots=True)
class Seen:
    """A pair with what the classifiers look at."""

    pair: Pair
    comparison: Comparison
    left: Sequence[ExtractedToolCall]
    right: Sequence[ExtractedToolCall]


Classifier = Callable[[Seen], bool]
"""Tells whether a pair is flagged."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--effects", type=Path, help="An effects mapping, for every data set.")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    declared = None if arguments.effects is None else load_config(EffectsConfig, arguments.effects)
    sets = list(pair_sets(find_labelled(arguments.data)))
    if not sets:
        sys.exit(f"{arguments.data}: no labelled runs of one task in it")
    classifiers = {**CLASSIFIERS, **_agentevals()}
    results = [_measured(one, declared or _suggested(one), classifiers) for one in sets]
    if arguments.json:
        print(json.dumps({"sets": results}, ensure_ascii=False))
        return
    for result in results:
        _show(result)


def _measured(
    pairs: PairSet, effects: EffectsConfig, classifiers: Mapping[str, Classifier]
) -> dict[str, Any]:
    options = CompareOptions(effects=effects)
    regressions = [_seen(pair, options) for pair in pairs.regressions]
    unchanged = [_seen(pair, options) for pair in pairs.unchanged]
    return {
        "set": pairs.name,
        "regressions": len(regressions),
        "unchanged": len(unchanged),
        "write": list(effects.write),
        "classifiers": {
            name: {
                "detected": _flagged(flags, regressions).to_json(),
                "falseAlarms": _flagged(flags, unchanged).to_json(),
            }
            for name, flags in classifiers.items()
        },
    }


def _flagged(flags: Classifier, pairs: Sequence[Seen]) -> Rate:
    return rate(sum(map(flags, pairs)), len(pairs))


def _seen(pair: Pair, options: CompareOptions) -> Seen:
    return Seen(
        pair,
        compare_run_records(pair.baseline, pair.candidate, options),
        extract_tool_calls(pair.baseline),
        extract_tool_calls(pair.candidate),
    )


def _suggested(pairs: PairSet) -> EffectsConfig:
    calls = [extract_tool_calls(run.record) for file in pairs.files for run in file.runs]
    schemas = {name: schema for file in pairs.files for name, schema in file.tools.items()}
    return as_config(suggest_effects(calls, schemas))


def _names(calls: Sequence[ExtractedToolCall]) -> list[str]:
    return [call.name for call in calls]


def _calls(calls: Sequence[ExtractedToolCall]) -> list[tuple[str, str]]:
    return [(call.name, call.args_canonical_json) for call in calls]


def _recommended(seen: Seen) -> str:
    return classify(seen.pair.candidate, seen.comparison, GATE_PRESETS["recommended"]).status


CLASSIFIERS: Mapping[str, Classifier] = {
    "any difference": lambda seen: not seen.comparison.equal,
    "tool names": lambda seen: _names(seen.left) != _names(seen.right),
    "all calls": lambda seen: _calls(seen.left) != _calls(seen.right),
    "unordered": lambda seen: Counter(_calls(seen.left)) != Counter(_calls(seen.right)),
    "superset": lambda seen: not Counter(_calls(seen.left)) <= Counter(_calls(seen.right)),
    "effects": lambda seen: seen.comparison.signals.effects_changed,
    "recommended": lambda seen: _recommended(seen) == "fail",
    "recommended, or warns": lambda seen: _recommended(seen) != "pass",
}


def _agentevals() -> dict[str, Classifier]:
    """Give the trajectory matchers of agentevals; none where it is not installed."""
    try:
        matching: Any = importlib.import_module("agentevals.trajectory.match")
    except ImportError:
        return {}

    def matcher(mode: str) -> Classifier:
        evaluate = matching.create_trajectory_match_evaluator(trajectory_match_mode=mode)

        def flags(seen: Seen) -> bool:
            sides = {"outputs": seen.pair.candidate, "reference_outputs": seen.pair.baseline}
            return not evaluate(**{name: _messages(record) for name, record in sides.items()})["score"]

        return flags

    return {f"agentevals {mode}": matcher(mode) for mode in ("strict", "unordered", "subset", "superset")}


def _messages(record: RunRecord) -> list[dict[str, Any]]:
    """Write a run as OpenAI chat messages, each call as a message of its own."""
    messages: list[dict[str, Any]] = []
    for item in record.items:
        if item["type"] == "message":
            messages.append({"role": item["role"], "content": item["content"]})
        elif item["type"] == "tool_call_item":
            arguments = item.get("arguments", {})
            text = arguments if isinstance(arguments, str) else dumps_text(arguments)
            function = {"name": item["name"], "arguments": text}
            call = {"id": item["callId"], "type": "function", "function": function}
            messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        else:
            content = dumps_text(item.get("output"))
            messages.append({"role": "tool", "tool_call_id": item["callId"], "content": content})
    return messages


def _show(result: Mapping[str, Any]) -> None:
    print(f"{result['set']}: {result['regressions']} regressions, {result['unchanged']} unchanged pairs")
    print(f"  writing tools: {', '.join(result['write']) or 'none'}")
    print(f"  {'':<23} {'detected':<34} false alarms")
    for name, measured in result["classifiers"].items():
        detected, alarms = (_rate_text(measured[key]) for key in ("detected", "falseAlarms"))
        print(f"  {name:<23} {detected:<34} {alarms}")
    print()


def _rate_text(measured: Mapping[str, Any]) -> str:
    if measured["value"] is None:
        return "none to look at"
    low, high = (100 * measured["interval"][end] for end in ("low", "high"))
    counts = f"{measured['hits']}/{measured['of']}"
    return f"{counts:>8} {100 * measured['value']:5.1f} % ({low:.1f} to {high:.1f})"


if __name__ == "__main__":
    main()
