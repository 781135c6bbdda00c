"""The YAML loader: YAML 1.2, core schema (10.3.2); nothing lost, nothing run, faults named by line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given

from regress_core.errors import InputError
from regress_core.records.json_io import JsonValue
from regress_core.records.yaml_io import load_yaml, parse_yaml
from tests.support.json_compare import json_difference
from tests.support.strategies import EXACT_INTEGERS

# A plain scalar, and what the core schema makes of it.
SCALARS: list[tuple[str, JsonValue]] = [
    ("", None),
    ("~", None),
    ("null", None),
    ("Null", None),
    ("NULL", None),
    ("nUll", "nUll"),
    ("none", "none"),
    ("true", True),
    ("True", True),
    ("TRUE", True),
    ("false", False),
    ("False", False),
    ("FALSE", False),
    ("tRUE", "tRUE"),
    ("yes", "yes"),
    ("Yes", "Yes"),
    ("no", "no"),
    ("NO", "NO"),
    ("on", "on"),
    ("off", "off"),
    ("y", "y"),
    ("n", "n"),
    ("0", 0),
    ("-0", 0),
    ("12", 12),
    ("+12", 12),
    ("-12", -12),
    ("012", 12),
    ("-007", -7),
    ("08", 8),
    ("0o17", 15),
    ("0o0", 0),
    ("0o8", "0o8"),
    ("0O17", "0O17"),
    ("-0o17", "-0o17"),
    ("0x1F", 31),
    ("0xff", 255),
    ("0xG", "0xG"),
    ("0x", "0x"),
    ("-0x1F", "-0x1F"),
    ("0b101", "0b101"),
    ("1_000", "1_000"),
    ("1,000", "1,000"),
    ("9007199254740993", 9007199254740993),
    ("123456789012345678901234567890", 123456789012345678901234567890),
    ("1.5", 1.5),
    ("-1.5", -1.5),
    ("1.", 1.0),
    (".5", 0.5),
    ("+.5", 0.5),
    ("1e3", 1000.0),
    ("1E3", 1000.0),
    ("12e03", 12000.0),
    ("1e+3", 1000.0),
    ("-2E-05", -2e-05),
    ("1.e3", 1000.0),
    ("012.50", 12.5),
    ("1e", "1e"),
    ("e3", "e3"),
    (".", "."),
    ("1.2.3", "1.2.3"),
    ("nan", "nan"),
    ("inf", "inf"),
    ("Infinity", "Infinity"),
    ("NaN", "NaN"),
    ("-.nan", "-.nan"),
    (".Nan", ".Nan"),
    ("1:30", "1:30"),
    ("190:20:30", "190:20:30"),
    ("1:30.5", "1:30.5"),
    ("2026-01-01", "2026-01-01"),
    ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
    ("2026-01-01 10:00:00", "2026-01-01 10:00:00"),
    ("=", "="),
    ("<<", "<<"),
    ('"12"', "12"),
    ("'12'", "12"),
    ('"true"', "true"),
    ('"null"', "null"),
    ('""', ""),
    ("''", ""),
    ('"~"', "~"),
    ("12 # twelve", 12),
    ("a b", "a b"),
    ("caf\u00e9 \U0001f600", "caf\u00e9 \U0001f600"),
    ("!!str 12", "12"),
    ("!!str true", "true"),
    ("!!str", ""),
    ('!!int "12"', 12),
    ("!!int 0x1F", 31),
    ("!!float 12", 12.0),
    ("!!float '1e3'", 1000.0),
    ('!!bool "true"', True),
    ('!!null ""', None),
    ("!<tag:yaml.org,2002:int> '7'", 7),
    (r'"\x41\u00e9\U0001F600\n\t\0"', "A\u00e9\U0001f600\n\t\x00"),
    (r'"a\/b"', "a/b"),
    (r'"\ud800"', "\ud800"),
    ("'it''s'", "it's"),
    ("https://x/y", "https://x/y"),
]

DOCUMENTS: list[tuple[str, str, JsonValue]] = [
    ("empty", "", None),
    ("comment-only", "# nothing\n", None),
    ("bare-document", "---\n...\n", None),
    ("directive", "%YAML 1.2\n---\na: 1\n", {"a": 1}),
    ("byte-order-mark", "\ufeffa: 1\n", {"a": 1}),
    ("windows-lines", "a: 1\r\nb:\r\n  - x\r\n", {"a": 1, "b": ["x"]}),
    ("key-order", "z: 1\na: 2\nm: 3\n", {"z": 1, "a": 2, "m": 3}),
    ("nested", "a:\n  - b: 1\n    c: [x, {y: 2}]\n  -\n", {"a": [{"b": 1, "c": ["x", {"y": 2}]}, None]}),
    ("block-texts", "a: |\n  x\n  y\nb: >-\n  x\n  y\n", {"a": "x\ny\n", "b": "x y"}),
    (
        "keys-become-text",
        "1: a\n1.5: b\ntrue: c\n2026-01-01: d\n",
        {"1": "a", "1.5": "b", "true": "c", "2026-01-01": "d"},
    ),
    ("keys-of-yaml-1.1", "yes: 1\non: 2\nno: 3\n", {"yes": 1, "on": 2, "no": 3}),
    ("key-without-value", "a:\nb:\n", {"a": None, "b": None}),
    ("question-mark-keys", "? a\n? b\n", {"a": None, "b": None}),
    (
        "merge-key-is-plain",
        "base: &b {x: 1}\nd:\n  <<: *b\n  y: 2\n",
        {"base": {"x": 1}, "d": {"<<": {"x": 1}, "y": 2}},
    ),
    ("alias", "a: &x [1, {b: 2}]\nc: *x\n", {"a": [1, {"b": 2}], "c": [1, {"b": 2}]}),
    ("alias-of-null", "a: &x\nb: *x\n", {"a": None, "b": None}),
    ("same-key-in-two-maps", "- {a: 1}\n- {a: {a: 2}}\n", [{"a": 1}, {"a": {"a": 2}}]),
    ("flow-urls", "[http://x/y, a:b]", ["http://x/y", "a:b"]),
    (
        "json",
        '{"a":[1,2.50,-1E+2,null,true,"\\u00e9"],"b":{}}',
        {"a": [1, 2.5, -100.0, None, True, "\u00e9"], "b": {}},
    ),
    ("tagged-collections", "a: !!map {b: !!seq [1]}\n", {"a": {"b": [1]}}),
]

# YAML 1.2 (5.4) breaks lines at line feeds and carriage returns only; YAML 1.1 had three more.
TEXT_CHARACTERS: list[tuple[str, str, str]] = [
    ("next-line-quoted", 'a: "x\u0085y"', "x\u0085y"),
    ("next-line-plain", "a: x\u0085y", "x\u0085y"),
    ("next-line-block", "a: |\n  x\u0085y\n", "x\u0085y\n"),
    ("line-separator-quoted", 'a: "x\u2028y"', "x\u2028y"),
    ("line-separator-plain", "a: x\u2028y", "x\u2028y"),
    ("paragraph-separator-block", "a: |\n  x\u2029y\n", "x\u2029y\n"),
    ("pair-of-escapes", r'a: "\ud83d\ude00"', "\U0001f600"),
]

# JSON texts that JSON readers agree about; `load_yaml` reads JSON files as well.
JSON_FILES: list[tuple[str, str]] = [
    ("pair-of-escapes", r'{"a": "\ud83d\ude00"}'),
    ("tab-indentation", '{\n\t"a": [\n\t\t1\n\t]\n}\n'),
    ("tab-after-colon", '{"a":\t1}'),
    ("key-beyond-1024-characters", '{"' + "k" * 1100 + '": 1}'),
    ("colon-on-the-next-line", '{"a"\n: 1}'),
    ("del", '{"a": "x\x7fy"}'),
    ("next-line", '{"a": "x\u0085y"}'),
    ("line-separator", '{"a": "x\u2028y"}'),
    ("no-blanks", '{"a":{"b":[1,-2.5e-3,"c:d",true,null]}}'),
]

# A faulty text, the line and column that are named, and a word of the message.
FAULTY: list[tuple[str, str, str, str]] = [
    ("key-twice", "a: 1\nb: 2\na: 3\n", "line 3, column 1", "'a'"),
    ("key-twice-nested", "m:\n  a: 1\n  a: 1\n", "line 3, column 3", "'a'"),
    ("key-twice-quoted", 'a: 1\n"a": 2\n', "line 2, column 1", "'a'"),
    ("key-twice-as-text", '1: a\n"1": b\n', "line 2, column 1", "'1'"),
    ("key-twice-in-flow", "{a: 1, a: 2}", "line 1, column 8", "'a'"),
    ("infinity", "a: .inf", "line 1, column 4", "infinities"),
    ("plus-infinity", "a: +.INF", "line 1, column 4", "infinities"),
    ("minus-infinity", "a:\n  - -.Inf\n", "line 2, column 5", "infinities"),
    ("nan", "a: .nan", "line 1, column 4", "NaN"),
    ("nan-2", "a: [1, .NaN]", "line 1, column 8", "NaN"),
    ("beyond-a-double", "a: 1e400", "line 1, column 4", "double"),
    ("tagged-infinity", "a: !!float .inf", "line 1, column 4", "infinities"),
    ("list-as-key", "a: 1\n? [b]\n: 2\n", "line 2, column 3", "key"),
    ("map-as-key", "{{a: 1}: 2}", "line 1, column 2", "key"),
    ("local-tag", "a: !mine 1", "line 1, column 4", "!mine"),
    ("local-tag-on-map", "a: !mine {b: 1}", "line 1, column 4", "!mine"),
    ("local-tag-on-list", "a: !mine [1]", "line 1, column 4", "!mine"),
    ("binary", "a: !!binary aGk=", "line 1, column 4", "binary"),
    ("timestamp", "a: !!timestamp 2026-01-01", "line 1, column 4", "timestamp"),
    ("set", "!!set {a}", "line 1, column 1", "set"),
    ("ordered-map", "!!omap [a: 1]", "line 1, column 1", "omap"),
    ("python-object", '!!python/object/apply:os.system ["true"]', "line 1, column 1", "python"),
    ("python-name", "a: !!python/name:os.system", "line 1, column 4", "python"),
    ("no-int", "a: !!int 1.5", "line 1, column 4", "1.5"),
    ("no-int-text", "a: !!int abc", "line 1, column 4", "abc"),
    ("no-bool", "a: !!bool yes", "line 1, column 4", "yes"),
    ("no-null", "a: !!null x", "line 1, column 4", "'x'"),
    ("no-float", "a: !!float x", "line 1, column 4", "'x'"),
    ("unfinished-list", "a: [1\n", "line 2, column 1", "not YAML"),
    ("unfinished-text", "a: 1\nb: 'x\n", "line 3, column 1", "not YAML"),
    ("tab-indentation", "a:\n\t- 1\n", "line 2, column 1", "not YAML"),
    ("two-values", "a: b: c", "line 1, column 5", "not YAML"),
    ("bad-indentation", "a:\n    b: 1\n  c: 2\n", "line 3, column 3", "not YAML"),
    ("unknown-alias", "a: *nowhere", "line 1, column 4", "nowhere"),
    ("unknown-escape", r'a: "\q"', "line 1, column 6", "escape"),
    ("two-documents", "a: 1\n---\nb: 2\n", "line 2, column 1", "document"),
    ("reserved-sign", "a: @x", "line 1, column 4", "not YAML"),
]

# Faults of a text as a whole, or past what Python converts: an InputError too, never another exception.
REFUSED: list[tuple[str, str]] = [
    ("nests-too-deeply", "[" * 100_000),
    ("alias-holds-itself", "a: &a [*a]"),
    ("alias-holds-itself-in-a-map", "&a {b: {c: *a}}"),
    ("control-character", "a: \x07"),
    ("nul", "a: x\x00y"),
    ("escape-beyond-unicode", r'a: "\U00110000"'),
    ("escape-far-beyond-unicode", r'a: "\UFFFFFFFF"'),
    ("more-digits-than-python-converts", "a: " + "1" * 5000),
    ("hexadecimal-float", "a: !!float 0x1F"),
]


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_scalars(text: str, value: JsonValue) -> None:
    in_map = parse_yaml(f"a: {text}\n", source="s.yaml")["a"]
    in_list = parse_yaml(f"- {text}\n", source="s.yaml")[0]

    for read in (in_map, in_list):
        assert read == value
        assert type(read) is type(value)


@pytest.mark.parametrize(("text", "value"), [pytest.param(*row[1:], id=row[0]) for row in DOCUMENTS])
def test_documents(text: str, value: JsonValue) -> None:
    read = parse_yaml(text, source="s.yaml")

    assert json_difference(value, read, null_is_absent=False) is None
    assert json.dumps(read) == json.dumps(value)  # key order too


@pytest.mark.parametrize(("text", "value"), [pytest.param(*row[1:], id=row[0]) for row in TEXT_CHARACTERS])
def test_characters_that_are_text(text: str, value: str) -> None:
    assert parse_yaml(text, source="s.yaml") == {"a": value}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in JSON_FILES])
def test_a_json_file_reads_as_json_does(tmp_path: Path, text: str) -> None:
    path = tmp_path / "value.json"
    path.write_bytes(text.encode("utf-8"))

    assert json_difference(json.loads(text), load_yaml(path), null_is_absent=False) is None


@pytest.mark.parametrize(("text", "place", "word"), [pytest.param(*row[1:], id=row[0]) for row in FAULTY])
def test_a_fault_is_named_by_file_line_and_column(text: str, place: str, word: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_yaml(text, source=Path("suites/a.yaml"))

    assert str(raised.value).startswith(f"suites/a.yaml: {place}: ")
    assert word in raised.value.message
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in REFUSED])
def test_what_no_line_is_to_blame_for_names_the_file(text: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_yaml(text, source="a.yaml")

    assert raised.value.file == "a.yaml"
    assert str(raised.value).startswith("a.yaml: ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("kind", ["list", "map", "scalars"])
def test_an_alias_bomb_is_refused(kind: str) -> None:
    lines = {
        "list": ["a0: &a0 [lol]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)],
        "map": ["a0: &a0 {x: lol}"]
        + [f"a{n}: &a{n} {{{', '.join(f'k{k}: *a{n - 1}' for k in range(10))}}}" for n in range(1, 10)],
        "scalars": ["s: &s lol", f"m: &m [{', '.join(['*s'] * 1000)}]", f"x: [{', '.join(['*m'] * 1000)}]"],
    }[kind]

    with pytest.raises(InputError) as raised:
        parse_yaml("\n".join(lines), source="bomb.yaml")

    assert "alias" in raised.value.message
    assert str(raised.value).startswith("bomb.yaml: line ")


def test_values_of_one_alias_are_apart() -> None:
    value = parse_yaml("a: &x [1]\nb: *x\n", source="s.yaml")

    value["a"].append(2)

    assert value == {"a": [1, 2], "b": [1]}


@given(EXACT_INTEGERS)
def test_integers_read_back(number: int) -> None:
    assert parse_yaml(f"a: {number}", source="s.yaml") == {"a": number}


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"a: caf\xc3\xa9\n", {"a": "caf\u00e9"}),
        (b"\xef\xbb\xbfa: 1\n", {"a": 1}),
        (b"\xef\xbb\xbf", None),
        (b"", None),
        (b'{"a": 1}', {"a": 1}),
        (b"a: 1\r\nb: |\r\n  x\r\n", {"a": 1, "b": "x\n"}),
    ],
)
def test_files(tmp_path: Path, data: bytes, value: JsonValue) -> None:
    path = tmp_path / "suite.yaml"
    path.write_bytes(data)

    assert json_difference(value, load_yaml(path), null_is_absent=False) is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: caf\xe9\n", "not UTF-8 at byte 6"),
        ("a: 1\n".encode("utf-16"), "not UTF-8 at byte 0"),
    ],
)
def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "suite.yaml"
    path.write_bytes(data)

    with pytest.raises(InputError) as raised:
        load_yaml(path)

    assert str(raised.value) == f"{path}: {message}; save it as UTF-8"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        load_yaml(tmp_path / "nowhere.yaml")

    assert str(raised.value) == f"{tmp_path / 'nowhere.yaml'}: cannot be read: No such file or directory"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read") as raised:
        load_yaml(tmp_path)

    assert raised.value.file == str(tmp_path)


def test_a_fault_in_a_file_is_named_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text("a: 1\na: 2\n", encoding="utf-8")

    with pytest.raises(InputError) as raised:
        load_yaml(path)

    assert str(raised.value).startswith(f"{path}: line 2, column 1: ")
