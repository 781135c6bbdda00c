"""What `regress effects` does once its options are read."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.errors import InputError
from regress_core.evaluation.candidate_tools import CandidateTools, read_candidate_tools
from regress_core.records.json_io import JsonObject, dumps, dumps_text
from regress_core.records.loading import RecordFile, load_record
from regress_core.records.tool_calls import ExtractedToolCall, extract_tool_calls
from regress_core.suite.candidate import Candidate, load_candidate
from regress_core.suite.config import SUITE_FILE
from regress_core.suite.effect_suggestions import Suggestion, as_config, suggest_effects
from regress_core.suite.gate import ExitCode
from regress_core.suite.loading import RecordRef, Suite, load_suite
from regress_pipeline.cli.render import note, say
from regress_pipeline.settings import load_settings
from regress_pipeline.suites import find_suite

_PLAIN = re.compile(r"(?!(?:true|false|null)$)[a-z_][\w.-]*", re.ASCII | re.IGNORECASE)


def suggest(suite: str, candidate: Path | None, *, as_json: bool) -> ExitCode:
    """Propose the effects of a suite's tools, and print what there is to paste.

    Raises:
        InputError: If a file is at fault, or no record holds a call.
    """
    folder = find_suite(suite, load_settings()).root
    loaded = load_suite(folder, warn=note)
    other = None if candidate is None else load_candidate(candidate)
    tools = _tools(other)
    runs = _Runs(_records(loaded, other))
    suggestions = suggest_effects(runs, tools.schemas, tools.effects)
    if not any(one.calls for one in suggestions):
        remedy = "import runs that call tools with `regress import`, or name other records in suite.yaml"
        raise InputError(f"none of its {runs.count} records holds a tool call", file=folder, remedy=remedy)
    if loaded.config.effects is not None:
        note(f"{folder / SUITE_FILE} has effects already; what is proposed does not look at them")
    config = as_config(suggestions)
    if as_json:
        told: JsonObject = {
            "suite": loaded.name,
            "runs": runs.count,
            "effects": config.model_dump(mode="json", include={"write", "defaults"}),
            "suggestions": [one.to_json() for one in suggestions],
        }
        sys.stdout.buffer.write(dumps(told, indent=2) + b"\n")
    else:
        for line in _lines(suggestions, config, runs.count):
            say(line)
    return ExitCode.OK


@dataclass(slots=True)
class _Runs:
    """The calls of records, read one after the other, and how many have been read."""

    refs: Sequence[tuple[str, RecordRef]]
    count: int = 0

    def __iter__(self) -> Iterator[Sequence[ExtractedToolCall]]:
        for case_id, ref in self.refs:
            self.count += 1
            yield extract_tool_calls(load_record(RecordFile(case_id, Path(ref.path))).record)


def _records(suite: Suite, candidate: Candidate | None) -> list[tuple[str, RecordRef]]:
    own = [(case.case_id, ref) for case in suite.cases for ref in (case.baseline, *case.accepted)]
    return [*own, *(candidate.records.items() if candidate is not None else ())]


def _tools(candidate: Candidate | None) -> CandidateTools:
    if candidate is None or candidate.harness is None:
        return CandidateTools({}, {})
    with redirect_stdout(sys.stderr):
        return read_candidate_tools(candidate.harness)


def _lines(suggestions: Sequence[Suggestion], config: EffectsConfig, runs: int) -> Iterator[str]:
    """Write the mapping as YAML, each tool with its reasons as a comment."""
    calls = sum(one.calls for one in suggestions)
    yield f"# Proposed from {runs} runs with {calls} calls of {len(suggestions)} tools."
    yield f"# Look at each line, then paste it into {SUITE_FILE}."
    by_effect = {
        effect: [one for one in suggestions if one.effect == effect] for effect in ("write", "unsure", "read")
    }
    writes = by_effect["write"]
    yield "effects:"
    yield "  write:" if writes else "  write: []"
    for one, tool in zip(writes, config.write, strict=True):
        yield f"    - {_scalar(tool)}  # {_because(one)}"
    if by_effect["unsure"]:
        yield "    # unsure: put those that write into the list above"
        yield from _comments(by_effect["unsure"])
    if by_effect["read"]:
        yield "    # no writes, so that nothing has to be said of them:"
        yield from _comments(by_effect["read"])
    if config.defaults:
        yield "  defaults:  # what an argument is that a call leaves out, as the tools' schemas say"
        for tool, defaults in config.defaults.items():
            yield f"    {_scalar(tool)}:"
            yield from (f"      {_scalar(name)}: {dumps_text(value)}" for name, value in defaults.items())


def _comments(suggestions: Sequence[Suggestion]) -> Iterator[str]:
    for one in suggestions:
        yield f"    # - {_scalar(one.tool)}  # {_because(one)}"


def _because(suggestion: Suggestion) -> str:
    return "; ".join((f"{suggestion.calls} calls", *suggestion.reasons))


def _scalar(text: str) -> str:
    """Write a text as YAML does, in quotes where it might be read as something else."""
    return text if _PLAIN.fullmatch(text) else dumps_text(text)
