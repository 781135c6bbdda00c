"""The one value in a reply: which wrappings are taken off, and what is never read as a value."""

from __future__ import annotations

import json
import re
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from regress_core.judge.question import JudgeReplyError
from regress_core.judge.replies import the_one
from regress_core.records.json_io import JsonError, JsonValue
from tests.support.strategies import FINITE_FLOATS, TEXTS

GOOD = '{"verdict":"pass","n":1}'
BAD = '{"verdict":"fail","n":2}'
MARKS = ("verdict",)


def read(value: JsonValue) -> tuple[str, float]:
    """Take an object with a verdict and a number for a value, and a list of one such object."""
    elements = cast("list[JsonValue]", value) if isinstance(value, list) else [value]
    if len(elements) != 1 or not isinstance(elements[0], dict):
        raise JsonError("$", "an object is wanted")
    members = cast("dict[str, Any]", elements[0])
    if members.get("verdict") not in ("pass", "fail"):
        raise JsonError("$.verdict", "pass or fail is wanted")
    if type(members.get("n")) not in (int, float):
        raise ValueError("a number\nis wanted")
    return members["verdict"], members["n"]


# Each reply is read as the value GOOD.
READ: dict[str, str] = {
    "bare": GOOD,
    "with blanks around": f" \n\t{GOOD}\r\n ",
    "after a byte order mark": f"\ufeff{GOOD}",
    "a list": f"[{GOOD}]",
    "spread over lines": '{\n  "verdict": "pass",\n  "n": 1\n}',
    "J1: in a json fence": f"```json\n{GOOD}\n```",
    "J1: in a bare fence": f"```\n{GOOD}\n```",
    "J1: in a fence with blanks around": f"  \n```JSON\n\n  {GOOD} \n\n```\n ",
    "J1: in a fence on one line": f"```{GOOD}```",
    "in a fence of another language": f"```javascript\n{GOOD}\n```",
    "in a fence amid prose": f"Here it is:\n```json\n{GOOD}\n```\nI am sure.",
    "in a fence that is not closed": f"```json\n{GOOD}",
    "J3: after reasoning": f"<think>{BAD}</think>{GOOD}",
    "J3: after reasoning by other names": f"<thinking>{BAD}</thinking>\n[THINK]{BAD}[/THINK]\n{GOOD}",
    "J3: after reasoning with a tag of another form": f"[THINK]</think>{BAD}[/THINK]{GOOD}",
    "J3: after reasoning with broken JSON": f'<think>{{"verdict":"fail",}} }} {{</think>{GOOD}',
    "J3: after reasoning in capitals": f"<THINK>{BAD}</THINK>{GOOD}",
    "J3: before reasoning": f"{GOOD}<think>{BAD}</think>",
    "J3: before reasoning without an end": f"{GOOD}<think>{BAD}",
    "J3: after reasoning without a beginning": f"{BAD} or so.\n</think>\n{GOOD}",
    "J3: after reasoning that names its tag": f"<think>no <think> in {BAD}</think>{GOOD}",
    "J3: after reasoning with another's end": f"<think></reasoning>{BAD}</think>{GOOD}",
    "J3: reasoning, then a fence": f"<think>{BAD}</think>\n```json\n{GOOD}\n```",
    "J5: after prose": f"My verdict: {GOOD}",
    "J5: before prose": f"{GOOD}\n\nI hope this helps.",
    "J5: after an empty list": f"Reasoning: []{GOOD}",
    "J5: after a footnote": f"See [1] and [2, 3]. {GOOD}",
    "after JSON that is no value": f'The call had {{"city": "Ulm"}}. {GOOD}',
    "after an interval": f"On [0, 1) it holds. {GOOD}",
    "after brackets in prose": f"The answer {{see below}} [as said] is :-[ good. {GOOD}",
    "after formulas": f"\\frac{{1}}{{2}} of ${{name}} is in {{a, b}} or {{ x | x > 0 }}. {GOOD}",
    "after marks in brackets": f"[...] [1-3] [^1] [x] [2026-01-01] :-[ a. {GOOD}",
    "after a list of tasks": f"- [x] one\n- [ ] two\n\n{GOOD}",
    "after colours": f"\x1b[31m{GOOD}\x1b[0m",
    "before a list that is no value": f'{GOOD} It went to ["Ulm", "Bonn"] and [1, null].',
    "before an empty object": f"{GOOD} It gave {{}}.",
}


@pytest.mark.parametrize("reply", [pytest.param(reply, id=name) for name, reply in READ.items()])
def test_wrappings_are_taken_off(reply: str) -> None:
    assert the_one(reply, read, marks=MARKS) == ("pass", 1)


NAMES = ["think", "thinking", "thought", "thoughts", "reasoning", "analysis", "reflection", "scratchpad"]


@pytest.mark.parametrize("name", NAMES)
def test_reasoning_is_cut_away(name: str) -> None:
    """J3."""
    assert the_one(f"<{name}>{BAD}</{name}>{GOOD}", read, marks=MARKS) == ("pass", 1)
    assert the_one(f"{BAD}</{name.upper()} >{GOOD}", read, marks=MARKS) == ("pass", 1)


TEXT_INTACT: dict[str, str] = {
    "J2: a fence in a string": "write ```json\n{}\n``` there",
    "reasoning in a string": 'it leaks <think>{"verdict":"fail","n":2}</think>',
    "the beginning of reasoning in a string": "it leaks <think>",
    "the end of reasoning in a string": "it leaks </think>",
    "a value in a string": f"it says {BAD}",
    "brackets in a string": "}]{[",
    "a quote and a backslash in a string": 'a " and a \\',
}


@pytest.mark.parametrize("before", ["", "<think>Hm.</think>\n"], ids=["bare", "after reasoning"])
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in TEXT_INTACT.items()])
@pytest.mark.parametrize("fenced", [False, True], ids=["", "fenced"])
def test_text_inside_strings_is_left_alone(before: str, text: str, *, fenced: bool) -> None:
    reply = json.dumps({"verdict": "pass", "n": 1, "summary": text})
    reply = f"```json\n{reply}\n```" if fenced else reply

    assert the_one(before + reply, lambda value: value["summary"], marks=MARKS) == text


# Each reply holds no verdict; beside it what the error says.
REFUSED: dict[str, tuple[str, str]] = {
    "nothing": ("", "no JSON"),
    "J6: prose": ("I cannot evaluate this", "no JSON"),
    "null": ("null", "no JSON"),
    "a number": ("5", "no JSON"),
    "a text": (json.dumps(GOOD), "breaks off"),
    "J5: two values": (f"{GOOD} {BAD}", "2 verdicts"),
    "J5: two equal values": (f"{GOOD}\n{GOOD}", "2 verdicts"),
    "J5: two values in fences": (f"```json\n{GOOD}\n```\nor\n```json\n{BAD}\n```", "2 verdicts"),
    "J5: a value before and one after reasoning": (f"{GOOD}<think></think>{BAD}", "2 verdicts"),
    "J3: only reasoning": (f"<think>{GOOD}</think>", "no JSON"),
    "J3: reasoning without an end": (f"<think>{GOOD}", "no JSON"),
    "J3: reasoning with another's end": (f"<think>{GOOD}</reasoning>{BAD}", "no JSON"),
    "J3: the end of reasoning in a value's string": (
        '{"verdict":"fail","n":2,"summary":"it leaks </think>"}' + GOOD,
        "2 verdicts",
    ),
    "J3: reasoning amid a value": ('{"verdict": <think>Hm.</think> "pass", "n": 1}', "breaks off"),
    "J7: NaN": ('{"verdict":"pass","n":NaN}', "$.n: NaN"),
    "J7: an infinity": ('{"verdict":"pass","n":-Infinity}', "$.n"),
    "J7: beyond a double": ('{"verdict":"pass","n":1e999}', "$.n"),
    "J7: a number in quotes": ('{"verdict":"pass","n":"1"}', "a number is wanted"),
    "J8: truncated in a number": ('{"verdict":"pass","n":0.', "breaks off"),
    "J8: truncated in a string": ('{"verdict":"pa', "breaks off"),
    "J8: truncated after a value": (f"{GOOD} {BAD[:-3]}", "breaks off"),
    "J8: truncated around a value": (f'{{"old":{GOOD},"verdict":"fail","n":0.', "breaks off"),
    "J8: a truncated list": (f"[{GOOD}, {BAD[:-3]}", "breaks off"),
    "a key twice": ('{"verdict":"fail","verdict":"pass","n":1}', "stands twice"),
    "a trailing comma": ('{"verdict":"pass","n":1,}', "not JSON"),
    "single quotes": ("{'verdict': 'pass', 'n': 1}", "not JSON"),
    "keys without quotes": ('{verdict: "pass", n: 1}', "not JSON"),
    "a comment": ('{"verdict":"pass", // sure\n"n":1}', "not JSON"),
    "a value inside another object": (f'{{"result":{GOOD}}}', "$.verdict"),
    "a value inside broken JSON": (f'{{"old":{GOOD},"n":NaN}}', "$.n"),
    "a value inside single quotes": (f"{{'old': {GOOD}, 'verdict': 'fail'}}", "not JSON"),
    "a value inside keys without quotes": (f"{{old: {GOOD}, verdict: fail}}", "not JSON"),
    "a value in a broken list": (f"[1, {GOOD}, NaN]", "$[2]"),
    "a value in two pairs of braces": (f"{{{GOOD}}}", "not JSON"),
    "a value without its beginning": (GOOD[1:], "no beginning"),
    "a list of two": (f"[{GOOD},{BAD}]", "an object is wanted"),
    "a value with quotes that are not escaped": (
        f'{{"verdict":"fail","n":2,"summary":"it says "{GOOD}" at the end"}}',
        "not JSON",
    ),
    "the reason of the largest": (f'[]{{"verdict":"good","n":1}}{{"a":1}}{GOOD[:-1]},}}', "$.verdict"),
    "an integer of thousands of digits": (f'{{"verdict":"pass","n":{"9" * 5000}}}', "digits"),
}


@pytest.mark.parametrize(
    ("reply", "reason"), [pytest.param(*case, id=name) for name, case in REFUSED.items()]
)
def test_what_is_no_value_is_refused(reply: str, reason: str) -> None:
    with pytest.raises(JudgeReplyError) as refusal:
        the_one(reply, read, marks=MARKS)

    assert reason in str(refusal.value)


# What a model may have meant as its verdict, beside one that it quotes.
LOOKS_LIKE_ONE: dict[str, str] = {
    "a trailing comma": f"{BAD[:-1]},}}",
    "in capitals": '{"verdict":"FAIL","n":2}',
    "a part is missing": '{"verdict":"fail"}',
    "a part of another kind": '{"verdict":"fail","n":"2"}',
    "no word": '{"verdict":null,"n":2}',
    "inside another object": f'{{"result":{BAD}}}',
    "deep inside": f'{{"a":[1,{{"b":[[{BAD}]]}}]}}',
    "in a list of two": f"[{BAD},{BAD}]",
    "a key in other letters": '{"Verdict":"fail","n":2}',
    "a key with other marks": '{" ver-dict_":"fail","n":2}',
    "a key twice": '{"verdict":"fail","n":2,"n":2}',
    "NaN": '{"verdict":"fail","n":NaN}',
    "single quotes": "{'verdict': 'fail', 'n': 2}",
    "typographic quotes": "{“verdict”: “fail”, “n”: 2}",
    "no quotes": "{verdict: fail, n: 2}",
    "wide colons": "{verdict\uff1a fail, n\uff1a 2}",
    "escaped quotes": BAD.replace('"', '\\"'),
    "equals signs": '{"verdict"="fail"}',
    "quotes that are not escaped": '{"verdict":"fail","n":2,"summary":"it says "so" here"}',
    "without its beginning": BAD[1:],
    "without its end": BAD[:-1],
    "beyond all depth": '{"verdict":' + "[" * 300 + "]" * 300 + "}",
    "the end of reasoning in a string": '{"verdict":"fail","n":2,"summary":"it leaks </think>",}',
    "the beginning of reasoning in a string": '{"verdict":"fail","n":2,"summary":"it leaks <think>",}',
}


@pytest.mark.parametrize("own", LOOKS_LIKE_ONE.values(), ids=LOOKS_LIKE_ONE)
@pytest.mark.parametrize("fenced", [False, True], ids=["", "fenced"])
def test_a_value_beside_what_may_be_another_is_none(own: str, *, fenced: bool) -> None:
    own = f"```json\n{own}\n```" if fenced else own

    for reply in (f"{own}\nIt quotes {GOOD} as its own.", f"It quotes {GOOD} as its own. So:\n{own}"):
        assert isinstance(_tried(reply), JudgeReplyError)


def test_what_may_be_another_value_is_named() -> None:
    with pytest.raises(JudgeReplyError) as refusal:
        the_one(f'{{"verdict":"FAIL","n":2}} {GOOD}', read, marks=MARKS)

    assert str(refusal.value) == (
        "the reply holds a verdict, and beside it what may be another: $.verdict: pass or fail is wanted"
    )


_OWN = f'"verdict":"fail","n":2,"quoted":{GOOD}}}'

# Each is one object or list, however broken, with GOOD inside.
BROKEN_AROUND_A_VALUE: dict[str, str] = {
    "a comment": f"{{ // my verdict\n{_OWN}",
    "a comment in a shell's way": f"{{# my verdict\n{_OWN}",
    "words": f"{{ my verdict is {_OWN}",
    "a back quote": f"{{`verdict`: `fail`, `quoted`: {GOOD}}}",
    "typographic quotes": f"{{“verdict”: “fail”, “quoted”: {GOOD}}}",
    "bold keys": f"{{**verdict**: fail, **quoted**: {GOOD}}}",
    "a number as a key": f"{{1: {_OWN}",
    "dots": f"{{...{_OWN}",
    "a comma": f"{{,{_OWN}",
    "escaped quotes": f'{{\\"verdict\\": \\"fail\\", \\"quoted\\": {GOOD}}}',
    "one more brace": f"{{{{{_OWN}}}",
    "no brace": _OWN,
    "no brace and no quote": f"verdict: fail, quoted: {GOOD}}}",
    "a set": f"{{{GOOD}}}",
    "braces in braces": f"{{see {{below}} {GOOD}}}",
    "a list with bullets": f"[- {GOOD}]",
    "a list with stars": f"[\n * {GOOD},\n]",
    "a numbered list": f"[1. {GOOD}]",
    "a list with dots": f"[..., {GOOD}]",
    "a list of words": f'["fail", {GOOD}]',
    "a list of constants": f"[true, {GOOD}]",
    "a list of lists": f"[[1], {GOOD}]",
    "a list without its end": f"[{GOOD}",
}


@pytest.mark.parametrize("reply", BROKEN_AROUND_A_VALUE.values(), ids=BROKEN_AROUND_A_VALUE)
@pytest.mark.parametrize("before", ["", "So: ", "See {below}. "], ids=["", "prose", "braces"])
def test_a_value_inside_what_is_broken_is_none(before: str, reply: str) -> None:
    assert isinstance(_tried(before + reply), JudgeReplyError)


def test_a_reason_is_one_line_of_bounded_length() -> None:
    def refuse(value: JsonValue) -> None:
        raise ValueError(f"no good:\n{value['text']}")

    with pytest.raises(JudgeReplyError) as refusal:
        the_one(json.dumps({"text": "so \n" * 100_000}), refuse, marks=MARKS)

    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


_MANY = 50_000

# Each would take minutes, or more of the stack than there is, were any part of it read again and again.
HOSTILE: dict[str, str] = {
    "open lists": "[" * 20 * _MANY,
    "open lists with numbers": "[1," * _MANY,
    "open lists apart": "[1 " * _MANY,
    "open objects": '{"a":' * _MANY,
    "open braces": "{" * _MANY,
    "open braces with words": "{a" * _MANY,
    "braces with words": "{a}" * _MANY,
    "braces with blanks": "{ " * _MANY + "}" * _MANY,
    "braces that end": "}" * 5 * _MANY,
    "braces that end apart": "{}}" * _MANY,
    "words that never end": "{" + "a " * 5 * _MANY,
    "lists with dashes": "[- " * _MANY,
    "a list with dashes": "[" + "- " * 5 * _MANY,
    "lists with constants": "[true,null " * _MANY,
    "deep lists": "[" * 5 * _MANY + "]" * 5 * _MANY,
    "deep lists in prose": "So: " + '{"a":' * _MANY + "1" + "}" * _MANY,
    "open quotes": '["' * _MANY,
    "escaped quotes": "[" * 300 + '"' + '\\"' * _MANY,
    "backslashes": '["' + "\\" * (2 * _MANY + 1),
    "a number": "[" + "1" * 5 * _MANY,
    "blanks": "{" + " " * 5 * _MANY,
    "fences": "```" * _MANY,
    "reasoning that begins": "<think>" * _MANY,
    "reasoning that ends": "{</think>" * _MANY,
    "much reasoning": "<think></think>" * _MANY,
    "reasoning's tag with blanks": "<think" + " " * 5 * _MANY,
    "small objects": '{"a":1} ' * _MANY,
    "many keys": "{" + ",".join(f'"{number}":1' for number in range(_MANY)) + "}",
}


@pytest.mark.parametrize("reply", [pytest.param(reply, id=name) for name, reply in HOSTILE.items()])
def test_hostile_replies_are_refused(reply: str) -> None:
    with pytest.raises(JudgeReplyError) as refusal:
        the_one(reply, read, marks=MARKS)

    assert len(str(refusal.value)) < 400


@st.composite
def _objects(draw: st.DrawFn) -> JsonValue:
    """Give an object that is a value, or nearly."""
    near: list[JsonValue] = [
        {},
        {"verdict": "maybe", "n": 1},
        {"verdict": "pass", "n": True},
        {"old": json.loads(BAD)},
    ]
    if draw(st.booleans()):
        return draw(st.sampled_from(near))
    texts = TEXTS | st.sampled_from([GOOD, "<think>", "</think>", "```"])
    more = draw(st.dictionaries(st.sampled_from(["summary", "old"]), texts))
    return {"verdict": draw(st.sampled_from(["pass", "fail"])), "n": draw(FINITE_FLOATS), **more}


_PROSE = [
    "",
    " ",
    "\n",
    "So: ",
    "```",
    "```json\n",
    "[1]",
    "{see}",
    "NaN",
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    ",",
]
_TAGS = ["<think>", "</think>", "<reasoning>", "</reasoning>"]
_BROKEN = ['{"verdict":"pass","n":NaN}', '{"verdict":"pass","n":1e999}', '{"verdict":"pass","n":1,}']


@st.composite
def _replies(draw: st.DrawFn) -> str:
    """Put a reply together of values, JSON that is none, broken or cut JSON, prose and reasoning."""
    written = _objects().map(json.dumps)
    cut = written.flatmap(lambda text: st.integers(1, len(text)).map(lambda end: text[:end]))
    return "".join(draw(st.lists(st.sampled_from([*_PROSE, *_TAGS, *_BROKEN]) | written | cut, max_size=7)))


def _tried(reply: str) -> JsonValue:
    """Give the JSON that is the value of a reply; the error where there is none."""
    try:
        return the_one(reply, lambda value: (read(value), value)[1], marks=MARKS)
    except JudgeReplyError as refusal:
        return refusal


def _objects_written_in(reply: str) -> list[JsonValue]:
    """Give every JSON object that stands anywhere in a reply, to the letter."""
    found: list[JsonValue] = []
    for brace in re.finditer("{", reply):
        try:
            found.append(json.JSONDecoder().raw_decode(reply, brace.start())[0])
        except ValueError:
            continue
    return found


@given(_replies())
@example(f"{GOOD}<think>{BAD}</think>")
@example('{"verdict":"pass",<think></think>"n":1}')
@example(f'{{"verdict":"fail","summary":"{GOOD}"')
def test_a_value_is_always_one_object_of_the_reply(reply: str) -> None:
    found = _tried(reply)

    objects = _objects_written_in(reply)
    assert isinstance(found, JudgeReplyError) or found in objects or any(found == [one] for one in objects)


@given(
    place=st.integers(0, len(BAD) - 1).filter(lambda place: BAD[place] not in "verdict"),
    instead=st.text(st.characters(codec="ascii"), max_size=1),
    comes_first=st.booleans(),
)
def test_no_slip_makes_a_quoted_value_count(place: int, instead: str, *, comes_first: bool) -> None:
    own = BAD[:place] + instead + BAD[place + 1 :]

    reply = f"{own} is not {GOOD}" if comes_first else f"Not {GOOD} but {own}"

    assert isinstance(_tried(reply), JudgeReplyError)


@given(_objects(), st.integers(1, 400))
def test_a_value_that_is_cut_off_is_none(value: JsonValue, cut: int) -> None:
    written = json.dumps(value)

    assert isinstance(_tried(written[: -min(cut, len(written))]), JudgeReplyError)


@given(_objects(), _objects(), st.sampled_from(["", " ", "\nor\n", "<think></think>", ",", "```\n```"]))
def test_two_values_are_none(first: JsonValue, second: JsonValue, between: str) -> None:
    with pytest.raises(JudgeReplyError, match="2 verdicts"):
        the_one(json.dumps(first) + between + json.dumps(second), lambda value: value, marks=MARKS)


@given(st.text() | _replies())
def test_why_there_is_no_value_is_said_in_one_line(reply: str) -> None:
    found = _tried(reply)

    assert not isinstance(found, JudgeReplyError) or str(found).startswith("the reply ")
    assert not isinstance(found, JudgeReplyError) or "\n" not in str(found)
