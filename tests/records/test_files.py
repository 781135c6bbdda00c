"""Files are written whole or not at all."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from regress_core.files import (
    TEMPORARY_PREFIX,
    relative_to_working_folder,
    replacing_file,
    replacing_folder,
    temporary_sibling,
    write_bytes,
)

FAILURES = [ValueError("bad"), OSError("full"), KeyboardInterrupt()]


def _tree(folder: Path) -> dict[str, str | None]:
    """Give every path below a folder with the text of the files."""
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
    }


def test_a_temporary_name_is_a_hidden_unused_sibling() -> None:
    path = Path("out/report.json")

    names = {temporary_sibling(path) for _ in range(20)}

    assert len(names) == 20
    assert {name.parent for name in names} == {path.parent}
    assert all(name.name.startswith(TEMPORARY_PREFIX) for name in names)
    assert TEMPORARY_PREFIX.startswith(".")


@pytest.mark.parametrize(
    "name", ["a.json", "x" * 255, "\u00e9" * 125, "\U0001f600" * 63], ids=["a", "x", "e", "smile"]
)
def test_a_file_of_any_name_is_written(tmp_path: Path, name: str) -> None:
    write_bytes(tmp_path / name, b"new")

    assert _tree(tmp_path) == {name: "new"}


def test_a_file_is_written_into_folders_that_are_missing(tmp_path: Path) -> None:
    write_bytes(tmp_path / "a" / "b" / "c.txt", b"new")

    assert _tree(tmp_path) == {"a": None, "a/b": None, "a/b/c.txt": "new"}


def test_an_old_file_is_replaced_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")

    with replacing_file(path) as temporary:
        temporary.write_text("new", encoding="utf-8")
        assert temporary.parent == tmp_path
        assert path.read_text(encoding="utf-8") == "old"

    assert _tree(tmp_path) == {"a.txt": "new"}


@pytest.mark.parametrize("failure", FAILURES, ids=repr)
@pytest.mark.parametrize("old", [True, False], ids=["old-file", "no-old-file"])
def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, failure: BaseException, *, old: bool
) -> None:
    path = tmp_path / "a.txt"
    if old:
        path.write_text("old", encoding="utf-8")
    before = _tree(tmp_path)

    def write_half() -> None:
        with replacing_file(path) as temporary:
            temporary.write_text("half", encoding="utf-8")
            raise failure

    with pytest.raises(type(failure)):
        write_half()

    assert _tree(tmp_path) == before


def test_a_block_that_writes_nothing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")

    with pytest.raises(OSError, match="No such file"), replacing_file(path):
        pass

    assert _tree(tmp_path) == {"a.txt": "old"}


def test_a_folder_in_the_place_of_the_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.txt" / "inside").mkdir(parents=True)

    with pytest.raises(OSError, match="directory"):
        write_bytes(tmp_path / "a.txt", b"new")

    assert _tree(tmp_path) == {"a.txt": None, "a.txt/inside": None}


@pytest.mark.parametrize("old", [True, False], ids=["old-folder", "no-old-folder"])
def test_a_folder_is_replaced_when_the_block_ends(tmp_path: Path, *, old: bool) -> None:
    path = tmp_path / "out" / "records"
    if old:
        path.mkdir(parents=True)
        (path / "old.txt").write_text("old", encoding="utf-8")

    with replacing_folder(path) as fresh:
        assert list(fresh.iterdir()) == []
        (fresh / "new.txt").write_text("new", encoding="utf-8")
        assert (path / "old.txt").exists() is old

    assert _tree(tmp_path) == {"out": None, "out/records": None, "out/records/new.txt": "new"}


@pytest.mark.parametrize("failure", FAILURES, ids=repr)
@pytest.mark.parametrize("old", [True, False], ids=["old-folder", "no-old-folder"])
def test_a_block_that_fails_leaves_the_old_folder_and_nothing_else(
    tmp_path: Path, failure: BaseException, *, old: bool
) -> None:
    path = tmp_path / "records"
    if old:
        path.mkdir()
        (path / "old.txt").write_text("old", encoding="utf-8")
    before = _tree(tmp_path)

    def write_half() -> None:
        with replacing_folder(path) as fresh:
            (fresh / "half.txt").write_text("half", encoding="utf-8")
            raise failure

    with pytest.raises(type(failure)):
        write_half()

    assert _tree(tmp_path) == before


def test_the_old_folder_is_put_back_when_the_new_one_cannot_be_moved(tmp_path: Path) -> None:
    path = tmp_path / "records"
    (path / "deep").mkdir(parents=True)
    (path / "deep" / "old.txt").write_text("old", encoding="utf-8")
    before = _tree(tmp_path)

    with pytest.raises(OSError, match="No such file"), replacing_folder(path) as fresh:
        shutil.rmtree(fresh)  # so that the second rename fails

    assert _tree(tmp_path) == before


def test_a_link_to_a_folder_can_be_replaced(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    link = tmp_path / "records"
    link.symlink_to(target, target_is_directory=True)

    with replacing_folder(link) as fresh:
        (fresh / "new.txt").write_text("new", encoding="utf-8")

    assert (link / "new.txt").read_text(encoding="utf-8") == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["records", "target"]


@pytest.mark.parametrize(
    ("below", "shown"),
    [("a.json", "a.json"), ("out/a.json", "out/a.json"), ("out/../a.json", "a.json"), (".", ".")],
)
def test_a_path_below_the_working_folder_is_shown_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str, shown: str
) -> None:
    monkeypatch.chdir(tmp_path)

    assert relative_to_working_folder(tmp_path / below) == shown
    assert relative_to_working_folder(Path(below)) == shown


def test_a_path_elsewhere_is_shown_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    assert relative_to_working_folder(tmp_path / "there" / "a.json") == str(tmp_path / "there" / "a.json")
    assert relative_to_working_folder(Path("../a.json")) == "../a.json"
