"""How fast a long log is imported, and in how much memory: `python benchmarks/import_memory.py [--mb N]`.

The log is of OpenAI chat messages, some 30 KB a conversation with ten calls of tools, as JSON lines and as
one JSON array. Each is imported as `regress import openai-chat` does, in a fresh process: reading, pairing,
validating and writing every record. The last line is JSON: seconds, MB a second, peak of memory in MiB.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from itertools import chain
from pathlib import Path

from measuring import in_fresh_process, peak_rss_mb

from regress_core.records.importers.formats import FormatOptions, known_formats
from regress_core.records.importers.importing import Choice, imported_cases
from regress_core.records.importers.sources import open_sources
from regress_core.records.importers.writing import write_imported

_CALLS = 10
_WORDS = "The order of the 3rd of May was sent with the evening's post and is expected on Tuesday. "


def main() -> None:
    """Write the logs, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mb", type=int, default=1_000, help="size of the log, in millions of bytes")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(_measure(arguments.measure)))
        return
    results: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, begin, between, end in (("lines.jsonl", "", "\n", "\n"), ("array.json", "[", ",\n", "]")):
            log = Path(folder) / name
            _write(log, arguments.mb * 1_000_000, begin, between, end)
            results[log.stem] = in_fresh_process("--measure", str(log))
            log.unlink()
    print(json.dumps(results))


def _write(log: Path, size: int, begin: str, between: str, end: str) -> None:
    with log.open("w", encoding="utf-8") as stream:
        stream.write(begin)
        written = number = 0
        while written < size:
            text = json.dumps(_conversation(number))
            stream.write(text if number == 0 else between + text)
            written, number = written + len(text), number + 1
        stream.write(end)


def _conversation(number: int) -> dict[str, object]:
    calls = [
        (
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": f"c{call}",
                        "type": "function",
                        "function": {"name": "find", "arguments": json.dumps({"order": call, "why": _WORDS})},
                    }
                ],
            },
            {
                "role": "tool",
                "tool_call_id": f"c{call}",
                "content": json.dumps({"order": call, "lines": [_WORDS] * 30}),
            },
        )
        for call in range(_CALLS)
    ]
    messages = [
        {"role": "system", "content": _WORDS * 5},
        {"role": "user", "content": f"Where are the orders of customer {number}?"},
        *chain(*calls),
        {"role": "assistant", "content": _WORDS},
    ]
    return {"id": f"talk-{number}", "messages": messages}


def _measure(log: Path) -> dict[str, float]:
    formats = [known_formats(FormatOptions())["openai-chat"]]
    started = time.perf_counter()
    with open_sources(log) as (files, _):
        report = write_imported(
            imported_cases(files, formats, Choice(), log), log.parent / f"{log.stem}-suite"
        )
    seconds = time.perf_counter() - started
    return {
        "cases": report.counts.cases,
        "seconds": round(seconds, 2),
        "mb_per_s": round(log.stat().st_size / 1e6 / seconds, 1),
        "peak_rss_mb": peak_rss_mb(),
    }


if __name__ == "__main__":
    main()
