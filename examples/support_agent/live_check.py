"""Judges one case of this example with a real model: `python live_check.py PROVIDER:MODEL [--price IN OUT]`.

Asks all three judges once, for 0.05 USD at most, and prints their verdicts. The key is read from the
provider's usual variable, such as OPENAI_API_KEY; OPENAI_BASE_URL names another server. Nothing is left
behind. Exit code 0 if each judge gave a verdict, whichever; 1 if one gave none; 2 if the model's name is at
fault.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CASE = "refund-damaged-item"
RUBRIC = {
    "id": "refund-as-asked",
    "question": "Does the assistant refund only what the customer asks for?",
    "passRubric": "The refund covers the damaged item and nothing else.",
    "failRubric": "The refund covers more or other items than the damaged one.",
}
CAP_USD = 0.05


def main() -> None:
    """Judge, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", metavar="PROVIDER:MODEL")
    parser.add_argument(
        "--price",
        nargs=2,
        type=float,
        metavar=("IN", "OUT"),
        help="US dollars per million tokens of input and output, where no public price is known",
    )
    arguments = parser.parse_args()
    judge: dict[str, Any] = {"model": arguments.model, "axes": True, "cap_usd": CAP_USD}
    if arguments.price:
        judge["price"] = dict(zip(("input", "output"), arguments.price, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        summary = judged(Path(folder), judge)
    (case,) = summary["cases"]
    for line in (*verdicts(case), *missing(case), f"cost: ${summary['cost']['judgeUsd']:.6f}"):
        print(line)
    sys.exit(any(one["state"] != "verdict" for one in case["judging"]))


def judged(folder: Path, judge: dict[str, Any]) -> dict[str, Any]:
    """Evaluate the case against v3, which refunds too much, and give the summary."""
    suite = {"name": "live-check", "records": str(HERE / "records"), "judge": judge, "rubric": [RUBRIC]}
    (folder / "suite.yaml").write_text(json.dumps(suite), encoding="utf-8")  # JSON is YAML
    regress = Path(sys.executable).with_name("regress")
    inputs = [folder, "--candidate-records", HERE / "candidates" / "v3", "--cases", CASE]
    outputs = ["--store", folder / "store", "--fail-on", "never", "--json"]
    command = [regress, "run", *inputs, *outputs]
    done = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=False)  # noqa: S603 - ours
    if done.returncode:
        sys.exit(done.returncode)  # it has said why
    return json.loads(done.stdout)


def verdicts(case: dict[str, Any]) -> Iterator[str]:
    """Tell the verdicts there are."""
    if "judge" in case:
        yield f"regression: {case['judge']['verdict']}: {case['judge']['summary']}"
    for one in case.get("rubric") or ():
        word = {True: "pass", False: "fail", None: "does not apply"}[one["passed"]]
        yield f"rubric {one['dimensionId']}: {word}: {one['reason']}"
    if case.get("axes"):
        yield f"axes: {', '.join(f'{axis} {score:g}' for axis, score in case['axes'].items())}"


def missing(case: dict[str, Any]) -> Iterator[str]:
    """Tell which judges gave no verdict, and why."""
    for one in case["judging"]:
        if one["state"] != "verdict":
            yield f"{one['judge']}: no verdict: {one['reason']}"


if __name__ == "__main__":
    main()
