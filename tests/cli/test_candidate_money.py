"""What a candidate's real model costs, and the cap on it: a real server, the real client library."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from regress_core.history.store import History
from regress_core.records.json_io import JsonObject
from tests.cli.support import Command, Result
from tests.cli.test_provider_faults import serving
from tests.support.provider_faults import FAULTS, Provider, write_live_suite

PRICE = "candidate_price: {input: 1.0, output: 10.0}\n"
"""US dollars per million tokens: $0.00006 for a request of 10 tokens in and 5 out; a run is two requests."""

RUN_USD = 0.00012
LIMITED = "modelSettings: {max_tokens: 100}, "


def evaluated(
    regress: Command, root: Path, config: str, *, settings: str = "", faults: Mapping[str, str] | None = None
) -> tuple[Result, Provider]:
    """Evaluate two cases, one after the other."""
    write_live_suite(root / "suite", ["a", "b"], config=f"name: shop\n{config}")
    harness = root / "suite" / "harness.yaml"
    text = harness.read_text(encoding="utf-8").replace("instructions:", f"{settings}instructions:")
    harness.write_text(text, encoding="utf-8")
    provider = Provider({case: FAULTS[fault] for case, fault in (faults or {}).items()})
    with serving(provider):
        command = ("run", "suite", "--json", "--store", root / "store")
        result = regress(*command, REGRESS_CONCURRENCY="1", REGRESS_CALL_ATTEMPTS="1")
    return result, provider


def rows(root: Path, table: str) -> list[JsonObject]:
    found = History.open(root / "store").table("case_results" if table == "cases" else "candidate_records")
    return sorted(found.to_pylist(), key=lambda row: row["case_id"])


def test_what_the_runs_cost_is_in_summary_and_history(regress: Command, tmp_path: Path) -> None:
    result, _ = evaluated(regress, tmp_path, PRICE)

    assert result.code == 0
    assert result.json["cost"]["candidateUsd"] == pytest.approx(2 * RUN_USD)
    assert [row["cost_usd"] for row in rows(tmp_path, "cases")] == [pytest.approx(RUN_USD)] * 2
    assert [row["cost_usd"] for row in rows(tmp_path, "records")] == [pytest.approx(RUN_USD)] * 2


def test_a_model_without_a_known_price_costs_nothing_that_is_known(regress: Command, tmp_path: Path) -> None:
    result, provider = evaluated(regress, tmp_path, "")

    assert (result.code, result.json["cost"]["candidateUsd"]) == (0, 0)
    assert provider.requests == {"a": 2, "b": 2}


def test_a_run_in_trouble_has_cost_what_its_calls_did(regress: Command, tmp_path: Path) -> None:
    result, _ = evaluated(regress, tmp_path, PRICE, faults={"b": "500-later"})

    assert result.json["totals"]["inconclusive"] == 1
    assert result.json["cost"]["candidateUsd"] == pytest.approx(1.5 * RUN_USD)
    assert rows(tmp_path, "cases")[1]["cost_usd"] == pytest.approx(RUN_USD / 2)


def test_a_cap_that_is_reached_leaves_the_rest_inconclusive(regress: Command, tmp_path: Path) -> None:
    """A call reserves $0.001 for its 100 tokens and less than $0.0015 for its text."""
    config = f"{PRICE}candidate_cap_usd: 0.00255\n"

    result, provider = evaluated(regress, tmp_path, config, settings=LIMITED)

    cases = {case["caseId"]: case for case in result.json["cases"]}
    assert result.json["cost"]["candidateUsd"] <= 0.00255
    assert sum(provider.requests.values()) < 4
    (reason,) = cases["b"]["reasons"]
    assert reason.startswith("cost cap exceeded: ")
    assert (cases["b"]["inconclusive"], cases["b"]["trouble"]["kind"]) == (True, "quota")
    assert (result.code, result.json["cost"]["candidateCapUsd"]) == (3, 0.00255)


@pytest.mark.parametrize(
    ("config", "settings", "words"),
    [
        pytest.param(f"{PRICE}candidate_cap_usd: 5\n", "", "set max_tokens", id="no limit of the answer"),
        pytest.param("candidate_cap_usd: 5\n", LIMITED, "is not known", id="no price"),
    ],
)
def test_with_a_cap_nothing_is_sent_that_has_no_bound(
    regress: Command, tmp_path: Path, config: str, settings: str, words: str
) -> None:
    result, provider = evaluated(regress, tmp_path, config, settings=settings)

    assert result.code == 3
    assert provider.requests == {}
    assert all(words in case["reasons"][0] for case in result.json["cases"])
