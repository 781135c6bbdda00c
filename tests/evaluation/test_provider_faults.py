"""Invariants 2 and 4 with a real client: what a provider does to some cases is no other case's affair."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regress_core.calls.limits import CallLimits
from regress_core.evaluation.engine import run_evaluation
from regress_core.evaluation.entering import begin
from regress_core.evaluation.ports import Ports
from regress_core.history.store import History
from regress_core.records.json_io import JsonObject
from regress_core.suite.contract import RunRegressionSummary
from tests.evaluation.support import ignore, plan_of
from tests.support.openai_server import KEY, OpenAIServer
from tests.support.provider_faults import (
    ATTEMPTS,
    COMES_TO,
    FAULTS,
    Provider,
    expected_case,
    write_live_suite,
)
from tests.support.suites import as_json, lasting, without_reasons

_SOON_S = 0.001  # the first wait; the waits themselves are the runner's tests' affair
_CASES = ["a", "b", "c", "d", "e", "f"]
_QUICK = sorted(COMES_TO.keys() - {"hangs", "429-once"})  # the others wait in real time


def evaluated(root: Path, store: Path, provider: Provider, limits: CallLimits) -> RunRegressionSummary:
    """Plan and evaluate a suite folder whose candidate asks the provider."""
    with OpenAIServer(provider) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", server.base_url)
        patch.setenv("OPENAI_API_KEY", KEY)
        with Ports.open(store, limits=limits) as ports:
            return run_evaluation(plan_of(root), ports, ignore, enter=lambda plan: begin(plan, ports.journal))


def entries(summary: RunRegressionSummary) -> dict[str, JsonObject]:
    """Give the entries of a summary by case id, without what differs between any two runs."""
    return {case["caseId"]: case for case in lasting(as_json(summary))["cases"]}


def test_five_429_answers_are_no_failure(tmp_path: Path) -> None:
    """R39: infrastructure, outside the pass rate's denominator."""
    root = write_live_suite(tmp_path / "suite", ["a", "limited", "z"])
    provider = Provider({"limited": FAULTS["429"]})

    summary = evaluated(root, tmp_path / "store", provider, CallLimits(attempts=5, first_wait_s=_SOON_S))

    assert provider.requests == {"a": 2, "limited": 5, "z": 2}
    cases = {case: without_reasons(entry) for case, entry in entries(summary).items()}
    assert cases == {
        "a": expected_case("a"),
        "limited": expected_case("limited", "429"),
        "z": expected_case("z"),
    }
    history = History.open(tmp_path / "store")
    (evaluation,) = history.table("evaluations").to_pylist()
    assert (evaluation["inconclusive"], evaluation["pass_rate"]) == (1, 1.0)
    (row,) = [row for row in history.table("case_results").to_pylist() if row["inconclusive"]]
    assert (row["case_id"], row["status"], row["equal"]) == ("limited", "warn", None)
    assert (row["trouble_kind"], row["trouble_stage"]) == ("outage", "candidate")


def test_a_provider_that_stays_down_is_asked_no_more(tmp_path: Path) -> None:
    """After so many calls in a row without an answer the circuit opens; no case is judged by it."""
    root = write_live_suite(tmp_path / "suite", _CASES)
    provider = Provider(dict.fromkeys(_CASES, FAULTS["500"]))
    limits = CallLimits(concurrency=1, attempts=2, first_wait_s=_SOON_S, failures_to_open=3)

    summary = evaluated(root, tmp_path / "store", provider, limits)

    assert provider.requests == {"a": 2, "b": 2, "c": 2}
    cases = {case: without_reasons(entry) for case, entry in entries(summary).items()}
    assert cases == {case: expected_case(case, "500") for case in _CASES}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, JsonObject]:
    folder = tmp_path_factory.mktemp("undisturbed")
    root = write_live_suite(folder / "suite", _CASES)
    return entries(evaluated(root, folder / "store", Provider({}), CallLimits()))


@settings(max_examples=8)
@given(
    faults=st.dictionaries(st.sampled_from(_CASES), st.sampled_from(_QUICK), min_size=1, max_size=5),
    concurrency=st.sampled_from([1, 3, 8]),
)
def test_whichever_cases_are_faulty_the_others_are_untouched(
    tmp_path_factory: pytest.TempPathFactory,
    undisturbed: dict[str, JsonObject],
    faults: dict[str, str],
    concurrency: int,
) -> None:
    folder = tmp_path_factory.mktemp("faulty")
    root = write_live_suite(folder / "suite", _CASES)
    provider = Provider({case: FAULTS[fault] for case, fault in faults.items()})
    limits = CallLimits(concurrency=concurrency, attempts=ATTEMPTS, first_wait_s=_SOON_S)

    found = entries(evaluated(root, folder / "store", provider, limits))

    for case in _CASES:
        fault = faults.get(case, "fine")
        assert without_reasons(found[case]) == expected_case(case, fault)
        assert bool(found[case]["reasons"]) == (COMES_TO[fault].status != "pass")
        assert provider.requests[case] == COMES_TO[fault].requests
        if case not in faults:
            assert found[case] == undisturbed[case]
    assert found.keys() == undisturbed.keys()
