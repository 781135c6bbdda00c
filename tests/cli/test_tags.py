"""`--tag` of `regress run` and `regress validate`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import Here, evaluations_in
from tests.support.suites import MIXED, write_suite


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite with two tagged cases: one that stays the same and one that fails."""
    root = write_suite(tmp_path / "suite", MIXED, config="name: shop\ntags: [nightly]\n")
    (root / "cases").mkdir()
    (root / "cases" / "a-same.yaml").write_text("tags: [smoke, slow]\n", encoding="utf-8")
    (root / "cases" / "c-failed.yaml").write_text("tags: [slow]\n", encoding="utf-8")
    return root


@pytest.mark.usefixtures("suite")
@pytest.mark.parametrize(
    ("options", "cases", "code"),
    [
        pytest.param(["--tag", "smoke"], ["a-same"], 0, id="one"),
        pytest.param(["--tag", "slow"], ["a-same", "c-failed"], 1, id="of two cases"),
        pytest.param(["--tag", "nope", "--tag", "smoke"], ["a-same"], 0, id="one of several is enough"),
        pytest.param(["--tag", "slow", "--cases", "c-*"], ["c-failed"], 1, id="with a pattern"),
        pytest.param(["--tag", "nightly"], list(MIXED), 1, id="the suite's own"),
    ],
)
def test_only_tagged_cases_are_evaluated(here: Here, options: list[str], cases: list[str], code: int) -> None:
    result = here("run", "suite", "--json", *options)

    assert [case["name"] for case in result.json["cases"]] == cases
    assert result.code == code


@pytest.mark.usefixtures("suite")
@pytest.mark.parametrize("command", ["run", "validate"])
def test_a_tag_that_no_case_has(here: Here, command: str) -> None:
    refused = here(command, "suite", "--tag", "smok")
    allowed = here(command, "suite", "--tag", "smok", "--allow-empty")

    assert (refused.code, allowed.code) == (4, 0)
    assert "no case matches --tag smok" in refused.err


@pytest.mark.usefixtures("suite")
def test_validate_counts_the_tagged_cases(here: Here, tmp_path: Path) -> None:
    result = here("validate", "suite", "--tag", "slow")

    assert result.code == 0
    assert "2 cases" in result.out
    assert evaluations_in(tmp_path / ".regress") == []


@pytest.mark.usefixtures("suite")
def test_an_evaluation_that_goes_on_takes_no_tags(here: Here) -> None:
    evaluation_id = here("run", "suite", "--tag", "smoke", "--json").json["evaluationId"]

    assert "--tag" in here("run", "--resume", evaluation_id, "--tag", "slow").fault


def test_new_tags_do_not_make_another_plan(here: Here, suite: Path) -> None:
    """An unfinished evaluation would be taken up all the same."""
    here("run", "suite", "--tag", "smoke")
    (suite / "cases" / "a-same.yaml").write_text("tags: [quick]\n", encoding="utf-8")
    here("run", "suite", "--tag", "quick")

    keys = here("sql", "select count(distinct plan_key) as keys, count(*) as n from evaluations", "--json")

    assert keys.json == [{"keys": 1, "n": 2}]
