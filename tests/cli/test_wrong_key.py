"""H53: a wrong key or an unknown model is its own exit code, however many cases could be evaluated before."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.support import Here
from tests.support.candidates import TOOLS, write_candidate_suite
from tests.support.openai_server import (
    KEY,
    Answer,
    OpenAIServer,
    in_turn,
    out_of_quota,
    text,
    unauthorised,
    unknown_model,
)

ANSWER = text("On its way.")
RUN = ("run", "suite", "--model", "openai:m-small", "--json")


@contextmanager
def serving(*answers: Answer) -> Generator[OpenAIServer]:
    """Serve answers in turn, the last one for ever, to the client that the environment configures."""
    with OpenAIServer(in_turn(answers)) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", server.base_url)
        patch.setenv("OPENAI_API_KEY", KEY)
        yield server


@pytest.fixture(autouse=True)
def suite(tmp_path: Path) -> Path:
    """Two cases, run one after the other, so that it is known which of them the first answer is for."""
    (tmp_path / "regress.toml").write_text("concurrency = 1\n", encoding="utf-8")
    return write_candidate_suite(tmp_path / "suite", {"a": "same", "b": "same"}, adapter=TOOLS)


@pytest.mark.parametrize("refusal", [unauthorised(), unknown_model()], ids=["401", "unknown model"])
@pytest.mark.parametrize(
    ("answers", "fail_on", "code", "inconclusive"),
    [
        pytest.param(0, "fail", 3, 2, id="no case, fail"),
        pytest.param(0, "never", 3, 2, id="no case, never"),
        pytest.param(1, "fail", 3, 1, id="one case, fail"),
        pytest.param(1, "warn", 1, 1, id="one case, warn"),
        pytest.param(1, "never", 0, 1, id="one case, never"),
        pytest.param(2, "fail", 0, 0, id="both cases, fail"),
    ],
)
def test_the_exit_code(
    here: Here, refusal: Answer, answers: int, fail_on: str, code: int, inconclusive: int
) -> None:
    with serving(*[ANSWER] * answers, refusal) as server:
        result = here(*RUN, "--fail-on", fail_on)

    assert result.code == code, result.err
    if refusal.status == 401:  # nothing more is sent; another answer may be of that one request
        assert server.count == min(answers + 1, 2)
    assert result.json["totals"]["inconclusive"] == inconclusive
    troubled = [case["trouble"] for case in result.json["cases"] if case["inconclusive"]]
    assert {(trouble["kind"], trouble["retryable"]) for trouble in troubled} <= {("configuration", True)}


def test_an_account_without_money_is_no_wrong_key(here: Here) -> None:
    """R42 with a conclusive case: inconclusive, which warns."""
    with serving(ANSWER, out_of_quota()):
        result = here(*RUN)

    assert result.code == 0
    assert [case.get("trouble", {}).get("kind") for case in result.json["cases"]] == [None, "quota"]


def test_the_same_command_goes_on_with_the_right_key(here: Here) -> None:
    with serving(ANSWER, unauthorised()):
        first = here(*RUN)
    with serving(ANSWER) as server:
        second = here(*RUN)

    assert (first.code, second.code) == (3, 0)
    assert second.json["evaluationId"] == first.json["evaluationId"]
    assert server.count == 1
    assert [case["inconclusive"] for case in second.json["cases"]] == [False, False]


def test_the_model_of_the_command_line_is_asked_and_recorded(here: Here) -> None:
    with serving(ANSWER) as server:
        result = here(*RUN)

    assert [request.json["model"] for request in server.requests] == ["m-small", "m-small"]
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    assert result.json["candidate"]["label"] == "shop@2 with openai:m-small"
    assert here("sql", "SELECT model FROM evaluations", "--json").json == [{"model": "openai:m-small"}]
    query = "SELECT DISTINCT model, input_tokens, output_tokens FROM candidate_records"
    assert here("sql", query, "--json").json == [
        {"model": "openai:m-small", "input_tokens": 10, "output_tokens": 5}
    ]
