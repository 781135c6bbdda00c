"""The structure of the answer: JSON and Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from regress_core.checks.kinds import JsonAnswer, MarkdownAnswer
from regress_core.checks.markdown import outline
from regress_core.checks.outcome import CheckResult, Finding
from regress_core.checks.own_part import Said
from regress_core.checks.texts import cut, quoted
from regress_core.records.json_io import JsonError, JsonValue, loads
from regress_core.records.json_schema import schema_violation

_FENCED = re.compile(r"(?P<mark>`{3,}+|~{3,}+)[^`\r\n]*\r?\n(?P<body>.*)\r?\n[ \t]*(?P=mark)[`~]*", re.DOTALL)
_SHOWN_FAULTS = 3
LONGEST_FAULT = 200
"""Characters of what a schema's validator says that are shown."""


def structure_failed(results: Iterable[CheckResult]) -> bool:
    """Tell whether a check of the answer's structure did not hold: then no format is good, whoever judges."""
    return any(result.kind in ("json", "markdown") and result.outcome != "pass" for result in results)


def find_json(assertion: JsonAnswer, response: Said) -> Finding:
    """Look for JSON: the whole answer, or all that is in it but for one fence around and blanks."""
    looked_for = "JSON" if assertion.validator is None else "JSON that fits the schema"
    try:
        value = _read(response.text)
    except JsonError as error:
        found = f"{error.path}: {error.reason}; the answer is {quoted(response.text)}"
        return Finding(looked_for, found, response.where, holds=False)
    fault = None if assertion.validator is None else schema_violation(assertion.validator, value)
    found = quoted(value) if fault is None else f"{fault.path}: {cut(fault.reason, LONGEST_FAULT)}"
    return Finding(looked_for, found, response.where, holds=fault is None)


def _read(text: str) -> JsonValue:
    bare = text.strip()
    fenced = _FENCED.fullmatch(bare)
    return loads(fenced["body"] if fenced else bare)


def find_markdown(assertion: MarkdownAnswer, response: Said) -> Finding:
    """Look for well-formed Markdown with the headings and elements that are wanted."""
    read = outline(response.text)
    missing = [f"no heading {quoted(text)}" for text in assertion.headings if text not in read.headings]
    missing += [f"no {element}" for element in assertion.require if element not in read.elements]
    faults = [*missing, *read.faults]
    wanted = [f"a heading {quoted(text)}" for text in assertion.headings]
    wanted += [f"a {element}" for element in assertion.require]
    shown = faults[:_SHOWN_FAULTS]
    if len(faults) > _SHOWN_FAULTS:
        shown.append(f"{len(faults) - _SHOWN_FAULTS} more")
    return Finding(
        holds=not faults,
        looked_for="well-formed Markdown" + (f" with {', '.join(wanted)}" if wanted else ""),
        found="; ".join(shown) or ", ".join(sorted(read.elements)) or "plain text",
        where=response.where,
    )
