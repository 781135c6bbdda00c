"""Where instructions come from: files, lists of files and sequences, put in place of what names them."""

from __future__ import annotations

import pytest

from regress_core.errors import InputError
from regress_core.records.json_io import JsonObject, JsonValue
from tests.harness.descriptor.descriptors import parse, router, small

ROUTER = 'Harness descriptor agent "router"'
FILES = f"{ROUTER}.instructions_file/instructions_files"
WHERE = {"context": "vip"}
TEXTS = {"a.md": "A.", "./prompts/b.md": "B {{context.vip}}.", "prompts/../c.md": ""}

# Members of the one agent, and the instructions they come to.
SOURCES: list[tuple[str, JsonObject, JsonValue]] = [
    ("file", {"instructions_file": "a.md"}, "A."),
    ("file-as-the-map-writes-it", {"instructions_file": "./prompts/b.md"}, "B {{context.vip}}."),
    ("file-in-other-words", {"instructions_file": "prompts/./x/../b.md"}, "B {{context.vip}}."),
    ("empty-file", {"instructions_file": "c.md"}, ""),
    ("one-of-a-list", {"instructions_files": ["a.md"]}, "A."),
    ("list", {"instructions_files": ["a.md", "prompts/b.md"]}, "A.\n\nB {{context.vip}}."),
    ("list-with-an-empty-one", {"instructions_files": ["a.md", "c.md", "a.md"]}, "A.\n\n\n\nA."),
    ("inline-comes-last", {"instructions": "End.", "instructions_files": ["a.md"]}, "A.\n\nEnd."),
    ("empty-inline", {"instructions": "", "instructions_files": ["a.md"]}, "A."),
    ("sequence-text", {"instructions_sequence": [{"text": ""}]}, [{"text": ""}]),
    (
        "sequence",
        {
            "instructions_sequence": [
                {"file": "a.md", "note": "dropped"},
                {"where": WHERE | {"note": "dropped"}, "text": "T."},
                {"ref": "style", "where": WHERE},
            ]
        },
        [{"text": "A."}, {"text": "T.", "where": WHERE}, {"text": "Be brief.", "where": WHERE}],
    ),
]

# Members of the one agent, and the message.
FAULTS: list[tuple[str, JsonObject, str]] = [
    (
        "file-and-instructions",
        {"instructions": "x", "instructions_file": "a.md"},
        f"{ROUTER}.instructions and {ROUTER}.instructions_file are mutually exclusive.",
    ),
    (
        "file-and-null-instructions",
        {"instructions": None, "instructions_file": "a.md"},
        f"{ROUTER}.instructions and {ROUTER}.instructions_file are mutually exclusive.",
    ),
    (
        "file-and-files",
        {"instructions_file": "a.md", "instructions_files": ["a.md"]},
        f"{ROUTER}.instructions_file and {ROUTER}.instructions_files are mutually exclusive.",
    ),
    (
        "file-and-sequence",
        {"instructions_file": "a.md", "instructions_sequence": [{"text": "x"}]},
        f"{ROUTER}.instructions_sequence is mutually exclusive with {FILES}.",
    ),
    (
        "sequence-and-instructions",
        {"instructions": "x", "instructions_sequence": [{"text": "x"}]},
        f"{ROUTER}.instructions_sequence is mutually exclusive with {ROUTER}.instructions.",
    ),
    (
        "files-and-parts",
        {"instructions": [{"text": "x"}], "instructions_files": ["a.md"]},
        f"{ROUTER}.instructions must be a string when used with {ROUTER}.instructions_files.",
    ),
    (
        "no-files",
        {"instructions_files": []},
        f"{ROUTER}.instructions_files must be a non-empty array of strings.",
    ),
    (
        "files-text",
        {"instructions_files": "a.md"},
        f"{ROUTER}.instructions_files must be a non-empty array of strings.",
    ),
    (
        "files-number",
        {"instructions_files": ["a.md", 3]},
        f"{ROUTER}.instructions_files[1] must be a non-empty string.",
    ),
    ("file-null", {"instructions_file": None}, f"{ROUTER}.instructions_file must be a non-empty string."),
    ("file-blank", {"instructions_file": " "}, f"{ROUTER}.instructions_file must be a non-empty string."),
    ("nul", {"instructions_file": "a\0.md"}, f"{ROUTER}.instructions_file must not contain null bytes."),
    (
        "url",
        {"instructions_file": "https://x/a.md"},
        f"{ROUTER}.instructions_file must not be a remote URL.",
    ),
    (
        "absolute",
        {"instructions_file": "/a.md"},
        f"{ROUTER}.instructions_file must be relative to the descriptor file.",
    ),
    *(
        (
            f"glob-{char}",
            {"instructions_file": f"a{char}.md"},
            f"{ROUTER}.instructions_file must not use globbing characters.",
        )
        for char in "*?[]{}"
    ),
    (
        "outside",
        {"instructions_file": "../a.md"},
        f'{ROUTER}.instructions_file must resolve inside rootDir ".".',
    ),
    (
        "outside-of-a-list",
        {"instructions_files": ["a.md", "x/../.."]},
        f'{ROUTER}.instructions_files[1] must resolve inside rootDir ".".',
    ),
    (
        "missing",
        {"instructions_file": "./z.md"},
        f'Missing prompt map entry for {ROUTER} prompt file "./z.md".',
    ),
    (
        "missing-in-sequence",
        {"instructions_sequence": [{"file": "z.md"}]},
        f'Missing prompt map entry for {ROUTER} prompt file "z.md".',
    ),
    (
        "sequence-empty",
        {"instructions_sequence": []},
        f"{ROUTER}.instructions_sequence must be a non-empty array.",
    ),
    (
        "sequence-null",
        {"instructions_sequence": None},
        f"{ROUTER}.instructions_sequence must be a non-empty array.",
    ),
    (
        "sequence-text-item",
        {"instructions_sequence": ["x"]},
        f"{ROUTER}.instructions_sequence[0] must be an object.",
    ),
    (
        "sequence-two-kinds",
        {"instructions_sequence": [{"text": "x"}, {"text": "x", "ref": "style"}]},
        f"{ROUTER}.instructions_sequence[1] must define exactly one of file, ref, or text.",
    ),
    (
        "sequence-no-kind",
        {"instructions_sequence": [{"where": WHERE}]},
        f"{ROUTER}.instructions_sequence[0] must define exactly one of file, ref, or text.",
    ),
    (
        "sequence-text-number",
        {"instructions_sequence": [{"text": 1}]},
        f"{ROUTER}.instructions_sequence[0].text must be a string.",
    ),
    (
        "sequence-ref-number",
        {"instructions_sequence": [{"ref": 1}]},
        f"{ROUTER}.instructions_sequence[0].ref must be a string.",
    ),
    (
        "sequence-ref-blank",
        {"instructions_sequence": [{"ref": ""}]},
        f"{ROUTER}.instructions_sequence[0].ref must be a non-empty string.",
    ),
    (
        "sequence-ref-unknown",
        {"instructions_sequence": [{"ref": "missing"}]},
        f'{ROUTER}.instructions_sequence[0].ref references unknown instruction part "missing".',
    ),
    (
        "sequence-ref-to-a-number",
        {"instructions_sequence": [{"ref": "number"}]},
        "descriptor.instruction_parts.number must be a string.",
    ),
    (
        "sequence-where",
        {"instructions_sequence": [{"text": "x", "where": None}]},
        f"{ROUTER}.instructions_sequence[0].where must be an object.",
    ),
    (
        "sequence-where-number",
        {"instructions_sequence": [{"text": "x", "where": {"context": 1}}]},
        f"{ROUTER}.instructions_sequence[0].where.context must be a string.",
    ),
    (
        "sequence-where-blank",
        {"instructions_sequence": [{"text": "x", "where": {"context": " "}}]},
        f"{ROUTER}.instructions_sequence[0].where.context must be a non-empty string.",
    ),
]


def _descriptor(**members: JsonValue) -> JsonObject:
    return router(**members) | {
        "context": {"references": {"vip": {"type": "boolean"}}},
        "instruction_parts": {"style": "Be brief.", "number": 1},
    }


@pytest.mark.parametrize(("members", "expected"), [pytest.param(*row[1:], id=row[0]) for row in SOURCES])
def test_a_source_becomes_instructions(members: JsonObject, expected: JsonValue) -> None:
    agent = parse(_descriptor(**members), TEXTS).data["agents"]["router"]

    assert agent == {"instructions": expected}


@pytest.mark.parametrize(("members", "message"), [pytest.param(*row[1:], id=row[0]) for row in FAULTS])
def test_a_fault_of_a_source_is_named(members: JsonObject, message: str) -> None:
    with pytest.raises(InputError) as raised:
        parse(_descriptor(**members), TEXTS)

    assert raised.value.message == message


def test_the_defaults_have_sources_too() -> None:
    descriptor = parse(small(agent_defaults={"instructions_file": "a.md"}), TEXTS)

    assert descriptor.data["agent_defaults"] == {"instructions": "A."}
    assert descriptor.agents[0].instructions == "A."


def test_a_fault_in_the_defaults_is_named() -> None:
    with pytest.raises(InputError) as raised:
        parse(small(agent_defaults={"instructions_file": "z.md"}), TEXTS)

    assert raised.value.message == (
        'Missing prompt map entry for Harness descriptor agent_defaults prompt file "z.md".'
    )


def test_a_reference_without_any_catalog_is_named() -> None:
    with pytest.raises(InputError) as raised:
        parse(router(instructions_sequence=[{"ref": "style"}]))

    assert raised.value.message == (
        f'{ROUTER}.instructions_sequence[0].ref references instruction part "style", '
        "but descriptor.instruction_parts is not defined."
    )


def test_text_alone_cannot_name_prompt_files() -> None:
    with pytest.raises(InputError) as raised:
        parse(router(instructions_file="a.md"))

    assert str(raised.value) == (
        f"d.yaml: {ROUTER}.instructions_file names a prompt file, and only the descriptor's text is given; "
        "give its prompts too, or load it from its file"
    )


@pytest.mark.parametrize("path", ["../a.md", "/a.md", "", "a*.md"])
def test_a_prompt_that_no_descriptor_can_name_is_refused(path: str) -> None:
    with pytest.raises(InputError, match="Prompt map key"):
        parse(router(), {path: "x"})
