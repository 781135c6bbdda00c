"""What a Markdown text consists of, and what is broken in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.checks.markdown import outline

# The lines of a text, and its faults.
WELL_FORMED = [
    pytest.param(["a", "", "b"], id="paragraphs"),
    pytest.param(["```python", "x = [a](", "```"], id="a fence"),
    pytest.param(["````", "```", "````"], id="a fence in a longer one"),
    pytest.param(["~~~", "```", "~~~"], id="a fence in one of tildes"),
    pytest.param(["```", "a", "`````"], id="closed by a longer one"),
    pytest.param(["1. a", "   ```sh", "   b", "   ```", "2. c"], id="a fence in an item"),
    pytest.param(["- ```sh", "  b", "  ```", "- c"], id="a fence that begins an item"),
    pytest.param(["> ```", "> a", "> ```"], id="a fence in a quotation"),
    pytest.param(["```a``` is code"], id="a code span of three backticks"),
    pytest.param(["| a | b |", "|---|:-:|", "| 1 | 2 |"], id="a table"),
    pytest.param(["a | b", "--- | ---", "1 | 2"], id="a table without outer pipes"),
    pytest.param(["| a |", "|---|", "| x \\| y |"], id="an escaped pipe"),
    pytest.param(["Prices | 2026", "", "| a | b |", "|--|--|", "", "x | y | z"], id="pipes around a table"),
    pytest.param(["| a | b |", "|---|---|", "and so on"], id="a text after a table"),
    pytest.param(["|x| is the absolute value"], id="one line that begins with a pipe"),
    pytest.param(['[a](https://x.org/b_(c)?d=1 "t")'], id="parentheses in a target"),
    pytest.param(["[a](<b c>) ![](d.png)"], id="a target with blanks, an image"),
    pytest.param(["`[a]()` and \\[b]("], id="links in code, and escaped"),
    pytest.param(["``a ` [b]() ``"], id="a link in a span of two backticks"),
    pytest.param(["f(x)[i] (y"], id="brackets and parentheses of prose"),
    pytest.param(["1. a", "2. b", "3. c"], id="a numbered list"),
    pytest.param(["1. a", "1. b", "1. c"], id="all numbers alike"),
    pytest.param(["4) a", "5) b"], id="another first number"),
    pytest.param(["1. a", "", "   more", "", "2. b"], id="items of several paragraphs"),
    pytest.param(["1. a", "goes on", "2. b"], id="an item that goes on without indentation"),
    pytest.param(["1. a", "   - x", "   - y", "2. b", "   1. z", "3. c"], id="nested lists"),
    pytest.param(["1. a", "", "Now another:", "", "1. b", "2. c"], id="two lists"),
    pytest.param(["1. a", "", "2. b", "## Next", "1. c"], id="a list after a heading"),
    pytest.param(["1. a", "2) b"], id="another delimiter is another list"),
    pytest.param(["- a", "* b", "+ c"], id="bullets"),
    pytest.param(["It was in", "1969. A good year."], id="a number that begins a line of prose"),
    pytest.param(
        ["# a", "## b #", "### c ###", "", "#hashtag", "#1 choice", "###STOP###"],
        id="headings and no headings",
    ),
    pytest.param(["- - -", "***", "___"], id="rules"),
]

BROKEN = [
    pytest.param(["a", "```", "b"], ["line 2: the fence is never closed"], id="an open fence"),
    pytest.param(["```", "a", "~~~"], ["line 1: the fence is never closed"], id="closed by another sort"),
    pytest.param(["````", "a", "```"], ["line 1: the fence is never closed"], id="closed by a shorter one"),
    pytest.param(["```", "a", "``` b"], ["line 1: the fence is never closed"], id="closed with words"),
    pytest.param(
        ["| a | b |", "|---|---|", "| 1 |", "| 1 | 2 | 3 |"],
        [
            "line 3: the table row has 1 cell, the header 2",
            "line 4: the table row has 3 cells, the header 2",
        ],
        id="rows of other widths",
    ),
    pytest.param(
        ["| a | b | c |", "|---|---|"],
        ["line 2: the table row has 2 cells, the header 3"],
        id="a delimiter row of another width",
    ),
    pytest.param(
        ["| a | b |", "| 1 | 2 |"],
        ["line 1: the table has no header with a delimiter row below it"],
        id="no delimiter row",
    ),
    pytest.param(
        ["|---|---|", "| 1 | 2 |"],
        ["line 1: the table has no header with a delimiter row below it"],
        id="no header",
    ),
    pytest.param(["[a]()"], ["line 1: the link has no target"], id="no target"),
    pytest.param(["x [a]( ) y [b](c)"], ["line 1: the link has no target"], id="a blank target"),
    pytest.param(["![a](<>)"], ["line 1: the link has no target"], id="an image without target"),
    pytest.param(
        ["[a](https://x.org"], ["line 1: the target of the link is not closed"], id="a target that is open"
    ),
    pytest.param(
        ["[a](b(c)", "[d](e)"],
        ["line 1: the target of the link is not closed"],
        id="a parenthesis that is open",
    ),
    pytest.param(
        ["1. a", "3. b"], ["line 2: item 3 of the list comes after item 1"], id="a number is skipped"
    ),
    pytest.param(
        ["1. a", "2. b", "2. c", "3. d"],
        ["line 3: item 2 of the list comes after item 2"],
        id="a number is repeated",
    ),
    pytest.param(
        ["1. a", "1. b", "2. c"],
        ["line 3: item 2 of a list whose items are all numbered 1"],
        id="numbers alike, then counted",
    ),
    pytest.param(
        ["1. a", "   1. x", "   3. y", "2. b"],
        ["line 3: item 3 of the list comes after item 1"],
        id="in a nested list",
    ),
    pytest.param(["# ", "a"], ["line 1: the heading has no text"], id="a heading without text"),
    pytest.param(["### ###"], ["line 1: the heading has no text"], id="a heading of number signs"),
    pytest.param(
        ["##Next"], ["line 1: the heading has no blank after its number signs"], id="a heading without blank"
    ),
    pytest.param(
        ["[a]()", "| a |", "| b |", "##c", "```"],
        [
            "line 1: the link has no target",
            "line 2: the table has no header with a delimiter row below it",
            "line 4: the heading has no blank after its number signs",
            "line 5: the fence is never closed",
        ],
        id="in the order of the lines",
    ),
]


@pytest.mark.parametrize("lines", WELL_FORMED)
def test_well_formed(lines: list[str]) -> None:
    assert outline("\n".join(lines)).faults == ()


@pytest.mark.parametrize(("lines", "faults"), BROKEN)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=repr)
def test_broken(lines: list[str], faults: list[str], line_end: str) -> None:
    assert list(outline(line_end.join(lines)).faults) == faults


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("plain", set[str]()),
        ("# a", {"heading"}),
        ("- a", {"list"}),
        ("12. a", {"list"}),
        ("a | b\n-|-", {"table"}),
        ("```\n# a\n- b\n```", {"fence"}),
        ("[a](b)", {"link"}),
        ("**bold** and *this*", set[str]()),
        ("---", set[str]()),
        ("`[a](b)`", set[str]()),
        ("# a\n\n- [b](c)\n\n```\n```", {"heading", "list", "link", "fence"}),
    ],
)
def test_elements(text: str, elements: set[str]) -> None:
    assert outline(text).elements == elements


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("# Report\n## Next steps ##\n", ["Report", "Next steps"]),
        ("# C#\n## **Bold**\n### `code`", ["C#", "Bold", "code"]),
        ("####### seven\n    # indented", []),
        ("# Überschrift 😀", ["Überschrift 😀"]),
    ],
)
def test_headings(text: str, headings: list[str]) -> None:
    assert list(outline(text).headings) == headings


_PIECES = st.lists(
    st.sampled_from(
        [
            "```",
            "~~~~",
            "|",
            "---",
            "[a](",
            ")",
            "()",
            "1. ",
            "3) ",
            "- ",
            "# ",
            "##",
            "`",
            "\\",
            ">",
            "   ",
            "\n",
            "x",
        ]
    ),
    max_size=40,
).map("".join)


@given(text=st.text() | _PIECES)
def test_any_text_has_an_outline(text: str) -> None:
    read = outline(text)

    assert read == outline(text)
    assert all(fault.startswith("line ") for fault in read.faults)


@given(text=_PIECES.filter(lambda text: "`````" not in text))
def test_nothing_in_a_fence_counts(text: str) -> None:
    read = outline(f"`````\n{text}\n`````")

    assert read.faults == ()
    assert read.elements == {"fence"}


@pytest.mark.parametrize(
    "text",
    ["[a](" * 50_000, "`" * 99_999, "`a``b" * 30_000, "# " + " " * 99_999 + "x", "|" * 99_999, "[" * 99_999],
)
def test_long_lines_take_no_more_time_than_they_have_characters(text: str) -> None:
    assert len(outline(text).faults) <= 1
