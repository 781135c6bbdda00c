"""Descriptors and prompt files on disk: what is read, byte for byte, and what is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.harness.descriptor.descriptor import load_descriptor
from regress_core.harness.descriptor.prompt_files import LARGEST_PROMPT
from tests.harness.descriptor.descriptors import FULL, PROMPTS, parse, router

ROUTER = 'Harness descriptor agent "router"'


def _write(folder: Path, prompt: str = "prompts/a.md") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "harness.yaml"
    path.write_text(json.dumps(router(instructions_file=prompt)), encoding="utf-8")
    return path


def _message(path: Path, root_dir: Path | None = None) -> str:
    with pytest.raises(InputError) as raised:
        load_descriptor(path, root_dir=root_dir)
    assert raised.value.file == str(path)
    assert "\n" not in str(raised.value)
    return raised.value.message


def test_a_descriptor_on_disk_is_the_one_of_its_texts(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    for name, text in PROMPTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = tmp_path / "harness.yaml"
    path.write_text(json.dumps(FULL), encoding="utf-8")

    loaded = load_descriptor(path)

    assert loaded.descriptor_hash == parse(FULL, PROMPTS).descriptor_hash
    assert loaded.source == str(path)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param("caf\u00e9\n".encode(), "caf\u00e9\n", id="utf-8"),
        pytest.param(b"a\r\nb\r\n", "a\r\nb\r\n", id="line-ends-stay"),
        pytest.param(b"\xef\xbb\xbfa", "\ufeffa", id="byte-order-mark-stays"),
        pytest.param(b"", "", id="empty"),
    ],
)
def test_a_prompt_is_read_as_it_is(tmp_path: Path, data: bytes, text: str) -> None:
    path = _write(tmp_path, "a.md")
    (tmp_path / "a.md").write_bytes(data)

    assert load_descriptor(path).data["agents"]["router"]["instructions"] == text


def test_a_descriptor_may_be_json(tmp_path: Path) -> None:
    path = tmp_path / "harness.json"
    path.write_text(json.dumps(router(instructions="x")), encoding="utf-8")

    assert load_descriptor(path).agents[0].instructions == "x"


def _folder(prompt: Path) -> None:
    prompt.mkdir()


def _not_utf_8(prompt: Path) -> None:
    prompt.write_bytes(b"caf\xe9")


def _too_large(prompt: Path) -> None:
    with prompt.open("wb") as file:
        file.truncate(LARGEST_PROMPT + 1)


def _loop(prompt: Path) -> None:
    prompt.symlink_to(prompt)


def _pipe(prompt: Path) -> None:
    os.mkfifo(prompt)


def _nothing(prompt: Path) -> None:
    assert not prompt.exists()


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (_nothing, "cannot be read: No such file or directory"),
        (_folder, "is no file"),
        (_pipe, "is no file"),
        (_loop, "cannot be read: Too many levels of symbolic links"),
        (_not_utf_8, "is not UTF-8 at byte 3"),
        (_too_large, "is larger than 10 MiB"),
    ],
)
def test_a_prompt_that_cannot_be_read_is_named(
    tmp_path: Path, make: Callable[[Path], None], fault: str
) -> None:
    path = _write(tmp_path, "a.md")
    make(tmp_path / "a.md")

    assert _message(path) == f'{ROUTER} prompt file "a.md" {fault}'


@pytest.mark.parametrize("name", ["x" * 300, "a\ud800b"], ids=["too-long", "lone-surrogate"])
def test_a_name_that_no_file_has_is_an_input_error(tmp_path: Path, name: str) -> None:
    assert "cannot be read" in _message(_write(tmp_path, name))


def test_a_missing_descriptor_is_named(tmp_path: Path) -> None:
    assert _message(tmp_path / "harness.yaml") == "cannot be read: No such file or directory"


def test_a_prompt_outside_of_the_folder_is_refused(tmp_path: Path) -> None:
    path = _write(tmp_path / "harness", "../a.md")
    (tmp_path / "a.md").write_text("x", encoding="utf-8")

    assert _message(path) == (
        f'{ROUTER}.instructions_file must resolve inside rootDir "{tmp_path / "harness"}".'
    )


def test_a_root_folder_widens_where_prompts_may_lie(tmp_path: Path) -> None:
    path = _write(tmp_path / "harness", "../a.md")
    (tmp_path / "a.md").write_text("x", encoding="utf-8")

    assert load_descriptor(path, root_dir=tmp_path).agents[0].instructions == "x"


def test_a_link_does_not_lead_out_of_the_root(tmp_path: Path) -> None:
    path = _write(tmp_path / "harness", "a.md")
    (tmp_path / "secret").write_text("x", encoding="utf-8")
    (tmp_path / "harness" / "a.md").symlink_to(tmp_path / "secret")

    assert _message(path) == f'{ROUTER} prompt file must resolve inside rootDir "{tmp_path / "harness"}".'
    assert load_descriptor(path, root_dir=tmp_path).agents[0].instructions == "x"


def test_a_linked_folder_does_not_lead_out_of_the_root(tmp_path: Path) -> None:
    path = _write(tmp_path / "harness", "prompts/a.md")
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "a.md").write_text("x", encoding="utf-8")
    (tmp_path / "harness" / "prompts").symlink_to(tmp_path / "prompts")

    assert _message(path) == f'{ROUTER} prompt file must resolve inside rootDir "{tmp_path / "harness"}".'


def test_a_link_inside_the_root_is_followed(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.md")
    (tmp_path / "b.md").write_text("x", encoding="utf-8")
    (tmp_path / "a.md").symlink_to("b.md")

    assert load_descriptor(path).agents[0].instructions == "x"


def test_a_descriptor_may_lie_in_a_linked_folder(tmp_path: Path) -> None:
    _write(tmp_path / "real", "a.md")
    (tmp_path / "real" / "a.md").write_text("x", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert load_descriptor(tmp_path / "link" / "harness.yaml").agents[0].instructions == "x"


def test_a_descriptor_outside_of_the_root_is_refused(tmp_path: Path) -> None:
    path = _write(tmp_path / "harness")
    root = tmp_path / "other"

    assert _message(path, root) == f'Harness descriptor path must resolve inside rootDir "{root}".'


def test_a_descriptor_that_is_a_link_out_of_the_root_is_refused(tmp_path: Path) -> None:
    target = _write(tmp_path / "elsewhere")
    (tmp_path / "harness").mkdir()
    path = tmp_path / "harness" / "harness.yaml"
    path.symlink_to(target)

    assert _message(path) == (
        f'Harness descriptor path must resolve inside rootDir "{tmp_path / "harness"}".'
    )


def test_a_relative_path_is_one_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path / "harness", "a.md")
    (tmp_path / "harness" / "a.md").write_text("x", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    loaded = load_descriptor(Path("harness/harness.yaml"), root_dir=Path())

    assert loaded.agents[0].instructions == "x"
    assert loaded.source == "harness/harness.yaml"
