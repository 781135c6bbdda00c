"""What a person reads about a flipped verdict, and the commands that a shell takes as they stand."""

from __future__ import annotations

import shlex

from regress_core.suite.verdict_diff import verdict_diff


def test_a_flipped_verdict_with_its_commands() -> None:
    lines = verdict_diff(
        "a", "polite", passed=False, reason="It is\n  rude.", suite="suites/shop", evaluation_id="e1"
    )

    assert lines == [
        "case a, dimension polite: pass → fail: It is rude.",
        "  regress accept --suite suites/shop --case a --dimension polite --evaluation e1 --reason '…'",
        "  regress reject --suite suites/shop --case a --dimension polite --evaluation e1 --reason '…'",
    ]


def test_one_that_has_turned_back() -> None:
    (first, *_) = verdict_diff(
        "a", "polite", passed=True, reason="It is kind.", suite="s", evaluation_id="e1"
    )

    assert first == "case a, dimension polite: fail → pass: It is kind."


def test_odd_names_are_quoted() -> None:
    _, accept, reject = verdict_diff(
        "a",
        "polite",
        passed=False,
        reason="",
        suite="my suites/it's $HOME",
        evaluation_id="e1",
        store="a store",
    )

    for word, command in (("accept", accept), ("reject", reject)):
        assert shlex.split(command) == [
            *("regress", word, "--suite", "my suites/it's $HOME", "--case", "a", "--dimension", "polite"),
            *("--evaluation", "e1", "--reason", "…", "--store", "a store"),
        ]
