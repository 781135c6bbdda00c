"""What Dagster loads: the suites of this machine, each under names of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
import yaml

from regress_core.errors import InputError
from regress_pipeline.assets import job_name, op_name
from regress_pipeline.definitions import build_definitions
from regress_pipeline.home import dagster_home
from regress_pipeline.settings import Settings
from regress_pipeline.suites import SuiteFolder, Suites, find_suite, find_suites
from tests.pipeline.builders import alike, write_suite

REPOSITORY = Path(__file__).resolve().parents[2]
DAGSTER = Path(sys.executable).with_name("dagster")


def _settings(folder: Path) -> Settings:
    return Settings(store=folder / "store", suites_root=folder / "suites")


def _write_suites(folder: Path, *names: str) -> Settings:
    settings = _settings(folder)
    settings.suites_root.mkdir()
    for number, name in enumerate(names):
        root = settings.suites_root / f"folder{number}"
        root.mkdir()
        (root / "suite.yaml").write_text(f'name: "{name}"\n', encoding="utf-8")
    return settings


def _validate(tmp_path: Path, suites_root: Path) -> subprocess.CompletedProcess[str]:
    """Load the definitions as Dagster's own commands do; the home has nothing to do with the store."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry:\n  enabled: false\n", encoding="utf-8")
    environment = {
        **os.environ,
        "DAGSTER_HOME": str(home),
        "REGRESS_STORE": str(tmp_path / "store"),
        "REGRESS_SUITES_ROOT": str(suites_root),
        "NO_COLOR": "1",
    }
    command = [DAGSTER, "definitions", "validate", "-w", "workspace.yaml"]
    return subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )


class TestStockDagster:
    """Without our command: `dagster … -w workspace.yaml` from the root of the repository."""

    def test_it_loads_whatever_the_home(self, tmp_path: Path) -> None:
        write_suite(tmp_path / "suites", "a-b", alike("old", ["x"]), alike("new", ["x"]))
        write_suite(tmp_path / "suites", "a_b", alike("old", ["x"]))

        done = _validate(tmp_path, tmp_path / "suites")

        assert done.returncode == 0, done.stderr
        assert "All code locations passed validation" in done.stdout + done.stderr
        assert not (tmp_path / "store").exists()  # looking at the definitions writes nothing

    def test_a_suite_at_fault_is_told_with_its_file(self, tmp_path: Path) -> None:
        write_suite(tmp_path / "suites", "s", alike("old", ["x"]), more="colour: red\n")

        done = _validate(tmp_path, tmp_path / "suites")

        assert done.returncode == 0
        place = f"{tmp_path / 'suites' / 's' / 'suite.yaml'}: $.colour: unknown key"
        assert place in done.stdout + done.stderr


def test_each_suite_has_its_assets_check_job_and_partitions(tmp_path: Path) -> None:
    definitions = build_definitions(_write_suites(tmp_path, "a-b", "shop"))

    repository = definitions.get_repository_def()
    assets = {
        f"{suite}/{asset}"
        for suite in ("a-b", "shop")
        for asset in (
            "baseline_records",
            "candidate_records",
            "comparisons",
            "judge_results",
            "case_summaries",
            "suite_summary",
        )
    }
    graph = definitions.resolve_asset_graph()
    assert {key.to_user_string() for key in graph.get_all_asset_keys()} == assets
    for key in graph.get_all_asset_keys():
        partitions = graph.get(key).partitions_def
        if key.path[-1] == "suite_summary":
            assert partitions is None
        else:
            assert isinstance(partitions, dg.DynamicPartitionsDefinition)
            assert partitions.name == f"cases/{key.path[0]}"
        assert graph.get(key).backfill_policy == dg.BackfillPolicy.multi_run(300)
    assert {(check.asset_key.to_user_string(), check.name) for check in graph.asset_check_keys} == {
        (f"{suite}/{asset}", check)
        for suite in ("a-b", "shop")
        for asset, check in (
            ("case_summaries", "no_regression"),
            ("suite_summary", "gate"),
            ("suite_summary", "trend"),
        )
    }
    assert {job_name("a-b"), job_name("shop")} <= set(repository.job_names)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["a-b", "a_b"], id="dash and underscore"),
        pytest.param(["a-b-c", "a-b_c", "a_b-c", "a_b_c"], id="dashes and underscores"),
        pytest.param(["x", "x_job"], id="a suite called like another's job"),
        pytest.param(["a-b", "a_h_b"], id="a suite called like another's op, letter case aside"),
        pytest.param(
            ["1", "config", "class", "context", "default", "s" * 64], id="names with a meaning elsewhere"
        ),
        pytest.param(["a-", "a_"], id="at the end"),
    ],
)
def test_suites_with_similar_names_load_side_by_side(tmp_path: Path, names: list[str]) -> None:
    definitions = build_definitions(_write_suites(tmp_path, *names))

    dg.Definitions.validate_loadable(definitions)
    assert len({op_name(name) for name in names}) == len(names)
    assert len({job_name(name) for name in names}) == len(names)
    for name in names:
        assert definitions.resolve_job_def(job_name(name)).name == job_name(name)


class TestFindingSuites:
    """The folders with a suite.yaml directly below the suites root."""

    def test_sorted_by_name(self, tmp_path: Path) -> None:
        settings = _write_suites(tmp_path, "zeta", "alpha")
        assert find_suites(settings.suites_root).found == (
            SuiteFolder("alpha", settings.suites_root / "folder1"),
            SuiteFolder("zeta", settings.suites_root / "folder0"),
        )

    def test_a_suite_without_a_name_is_called_like_its_folder(self, tmp_path: Path) -> None:
        root = tmp_path / "Support Agent (EU)"
        root.mkdir()
        (root / "suite.yaml").write_text("", encoding="utf-8")
        assert find_suites(tmp_path).found == (SuiteFolder("support-agent-eu", root),)

    def test_other_folders_and_files_are_passed_over(self, tmp_path: Path) -> None:
        settings = _write_suites(tmp_path, "s")
        (settings.suites_root / "README.md").write_text("", encoding="utf-8")
        (settings.suites_root / "notes").mkdir()
        nested = settings.suites_root / "more" / "deep"
        nested.mkdir(parents=True)
        (nested / "suite.yaml").write_text("", encoding="utf-8")
        assert [suite.name for suite in find_suites(settings.suites_root).found] == ["s"]

    def test_none(self, tmp_path: Path) -> None:
        settings = _settings(tmp_path)
        assert find_suites(settings.suites_root) == Suites((), ())  # no such folder
        assert build_definitions(settings).resolve_asset_graph().get_all_asset_keys() == set()
        settings.suites_root.mkdir()
        assert find_suites(settings.suites_root) == Suites((), ())  # an empty one

    def test_of_two_with_one_name_none_is_found(self, tmp_path: Path) -> None:
        """Nothing tells which of them the history of that name belongs to."""
        settings = _write_suites(tmp_path, "s", "s", "t")
        folders = [settings.suites_root / f"folder{number}" for number in (0, 1)]

        suites = find_suites(settings.suites_root)

        assert [suite.name for suite in suites.found] == ["t"]
        assert [one.root for one in suites.broken] == folders
        for one, other in zip(suites.broken, reversed(folders), strict=True):
            assert (one.name, one.error.field) == ("s", "$.name")
            assert f"the suite name s is taken by {other}" in str(one.error)

    @pytest.mark.parametrize(
        ("text", "field"),
        [
            pytest.param("name: s\ncolour: red\n", "$.colour", id="unknown key"),
            pytest.param("name: Nope!\n", "$.name", id="no name"),
            pytest.param(
                "name: s\ngate: {signals: {toolsChanged: explode}}\n",
                "$.gate.signals.toolsChanged",
                id="no severity",
            ),
            pytest.param("- a\n", "$", id="no mapping"),
            pytest.param("schedule: {cron: '0 2 * *'}\n", "$.schedule.cron", id="no cron"),
            pytest.param(
                "schedule: {cron: '0 2 * * *', timezone: Mars/Base}\n", "$.schedule.timezone", id="no zone"
            ),
            pytest.param("name: [s\n", None, id="no YAML"),
        ],
    )
    def test_a_broken_one_is_told_and_keeps_no_other(
        self, tmp_path: Path, text: str, field: str | None
    ) -> None:
        settings = _write_suites(tmp_path, "fine", "broken")
        file = settings.suites_root / "folder1" / "suite.yaml"
        file.write_text(text, encoding="utf-8")

        suites = find_suites(settings.suites_root)

        assert [suite.name for suite in suites.found] == ["fine"]
        (broken,) = suites.broken
        assert (broken.root, broken.error.file) == (file.parent, str(file))
        assert field is None or broken.error.field == field
        assert "\n" not in str(broken.error)

    def test_by_name_or_by_folder(self, tmp_path: Path) -> None:
        settings = _write_suites(tmp_path, "s", "t")
        root = settings.suites_root / "folder1"
        assert find_suite("t", settings) == SuiteFolder("t", root)
        assert find_suite(str(root), settings) == SuiteFolder("t", root)

    def test_a_folder_elsewhere_whose_name_is_taken(self, tmp_path: Path) -> None:
        settings = _write_suites(tmp_path, "s", "t")
        elsewhere = tmp_path / "copy"
        shutil.copytree(settings.suites_root / "folder1", elsewhere)

        with pytest.raises(InputError) as raised:
            find_suite(str(elsewhere), settings)

        assert raised.value.file == str(elsewhere / "suite.yaml")
        assert str(settings.suites_root / "folder1") in str(raised.value)

    def test_one_that_is_not_there(self, tmp_path: Path) -> None:
        settings = _write_suites(tmp_path, "s", "t")
        with pytest.raises(InputError, match=r"no suite 'u'.*suites there: s, t") as raised:
            find_suite("u", settings)
        assert raised.value.file == str(settings.suites_root)


class TestHome:
    """The Dagster home in a store."""

    def test_telemetry_is_off(self, tmp_path: Path) -> None:
        home = dagster_home(tmp_path / "store")

        assert home == tmp_path / "store" / "dagster"
        config = yaml.safe_load((home / "dagster.yaml").read_text(encoding="utf-8"))
        assert config["telemetry"] == {"enabled": False}
        with dg.DagsterInstance.from_config(str(home)) as instance:
            assert instance.telemetry_enabled is False

    def test_a_config_that_is_there_stays(self, tmp_path: Path) -> None:
        file = dagster_home(tmp_path) / "dagster.yaml"
        file.write_text("# mine\n", encoding="utf-8")
        assert dagster_home(tmp_path) == file.parent
        assert file.read_text(encoding="utf-8") == "# mine\n"

    def test_a_store_that_cannot_be_made_is_an_input_error(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("", encoding="utf-8")
        with pytest.raises(InputError, match="--store") as raised:
            dagster_home(tmp_path / "file" / "store")
        assert raised.value.file == str(tmp_path / "file" / "store")


class TestNamingASuite:
    """What `regress pipeline run SUITE` may be given."""

    def test_one_broken_suite_is_no_concern_of_the_others(self, tmp_path: Path) -> None:
        settings = _write_suites(tmp_path, "good", "bad")
        (settings.suites_root / "folder1" / "suite.yaml").write_text("nam: bad\n", encoding="utf-8")

        assert find_suite("good", settings) == SuiteFolder("good", settings.suites_root / "folder0")
        with pytest.raises(InputError, match="unknown key"):
            find_suite("bad", settings)

    def test_two_of_the_name_are_refused(self, tmp_path: Path) -> None:
        settings = _write_suites(tmp_path, "s", "s")

        with pytest.raises(InputError, match="the suite name s is taken"):
            find_suite("s", settings)

    def test_none_of_the_name_lists_those_there_are(self, tmp_path: Path) -> None:
        settings = _write_suites(tmp_path, "a", "b")

        with pytest.raises(InputError, match="suites there: a, b"):
            find_suite("c", settings)


@pytest.mark.parametrize("name", ["what?", "100%"])
def test_a_store_that_dagster_cannot_have_is_refused_before_anything_is_made(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(InputError, match="Dagster takes no path with"):
        dagster_home(tmp_path / name)

    assert list(tmp_path.iterdir()) == []
