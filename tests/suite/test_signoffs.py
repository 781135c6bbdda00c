"""Sign-offs: which verdict is expected, what is a flip, and a file that is only ever appended to."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.errors import InputError
from regress_core.judge.outcome import RubricVerdict, TokensUsed
from regress_core.records.json_io import JsonObject, JsonValue, dumps
from regress_core.suite.contract import CaseDimension, Decision
from regress_core.suite.signoffs import (
    Flip,
    SignOff,
    append_signoffs,
    judge_flip,
    load_signoffs,
    signed,
    standing,
)
from tests.suite.support import refusal

WHEN = "2026-03-31T21:30:00+00:00"


def _line(**changes: JsonValue) -> JsonObject:
    line: JsonObject = {
        "caseId": "a",
        "dimension": "polite",
        "passed": False,
        "decision": "accepted",
        "reason": "fine with us",
        "who": "Ann",
        "when": WHEN,
        "judgeModel": "openai:m",
        "promptVersion": "v1",
        "evidenceHash": "e0",
    }
    return line | changes


def _signoff(**changes: JsonValue) -> SignOff:
    return SignOff.from_json(_line(**changes))


def _verdict(
    *, passed: bool | None, dimension: str = "polite", dimension_hash: str | None = "d0"
) -> RubricVerdict:
    return RubricVerdict(
        dimension_id=dimension,
        passed=passed,
        reason=f"about {dimension}",
        judge_model="openai:m",
        judge_tokens_used=TokensUsed(input=1, output=1),
        dimension_hash=dimension_hash,
    )


def _history(words: str, case: str = "a", dimension: str = "polite") -> list[SignOff]:
    """Give sign-offs by letters: A accepted, R rejected; each followed by p (a pass) or f (a fail)."""
    decisions: dict[str, Literal["accepted", "rejected"]] = {"A": "accepted", "R": "rejected"}
    return [
        _signoff(caseId=case, dimension=dimension, decision=decisions[word[0]], passed=word[1] == "p")
        for word in words.split()
    ]


# Sign-offs by letters, oldest first; the verdict; what is expected, whether it has flipped, the decision.
FLIPS: list[tuple[str, bool | None, bool, bool, Decision | None]] = [
    ("", True, True, False, None),
    ("", False, True, True, "logged"),
    ("", None, True, False, None),
    # Accepted passes silently while it matches.
    ("Af", False, False, False, "accepted"),
    ("Af", True, False, True, None),
    ("Af", None, False, False, None),
    ("Ap", True, True, False, "accepted"),
    ("Ap", False, True, True, "logged"),
    # Rejected fails.
    ("Rf", False, True, True, "rejected"),
    ("Rf", True, True, False, None),
    ("Rf", None, True, False, None),
    ("Rp", True, False, True, "rejected"),
    ("Rp", False, False, False, None),
    # The last one counts.
    ("Rf Af", False, False, False, "accepted"),
    ("Af Ap", False, True, True, "logged"),
    ("Af Ap", True, True, False, "accepted"),
    ("Af Rp", True, False, True, "rejected"),
    ("Af Rp", False, False, False, None),
    # A rejection takes an acceptance of the same verdict back.
    ("Af Rf", False, True, True, "rejected"),
    ("Af Rf", True, True, False, None),
]


@pytest.mark.parametrize(("words", "passed", "expected", "flipped", "decision"), FLIPS)
def test_a_flip(
    words: str, *, passed: bool | None, expected: bool, flipped: bool, decision: Decision | None
) -> None:
    flip = judge_flip(_history(words), "a", _verdict(passed=passed))

    assert flip == Flip(expected, flipped, decision)


def test_other_cases_and_dimensions_are_of_no_account() -> None:
    others = [*_history("Af", case="b"), *_history("Af", dimension="brief")]

    assert standing(others, "a", _verdict(passed=False)) is None
    assert judge_flip(others, "a", _verdict(passed=False)).decision == "logged"


def test_model_and_evidence_are_of_no_account() -> None:
    signoffs = [_signoff(judgeModel="openai:other", promptVersion="v0", evidenceHash="e9")]

    assert judge_flip(signoffs, "a", _verdict(passed=False)).decision == "accepted"


# Hashes of the questions of sign-offs that accepted a fail, oldest first; the verdict's; the decision.
QUESTIONS: list[tuple[str, list[str | None], str | None, Decision | None]] = [
    ("the same question", ["d0"], "d0", "accepted"),
    ("a rewritten question", ["d0"], "d1", "logged"),
    ("a sign-off of any question", [None], "d1", "accepted"),
    ("any question, and another one later", [None, "d0"], "d1", "accepted"),
    ("a verdict of old, and a sign-off of old", [None], None, "accepted"),
    ("a verdict of old, and a sign-off about a question", ["d0"], None, "logged"),
]


@pytest.mark.parametrize(
    ("hashes", "asked", "decision"), [pytest.param(*case[1:], id=case[0]) for case in QUESTIONS]
)
def test_a_sign_off_is_about_its_question(
    hashes: list[str | None], asked: str | None, decision: Decision | None
) -> None:
    signoffs = [_signoff(dimensionHash=one) for one in hashes]
    verdict = _verdict(passed=False, dimension_hash=asked)

    assert judge_flip(signoffs, "a", verdict) == Flip(decision == "logged", decision == "logged", decision)
    assert [one.decision for one in signed([verdict], "a", signoffs)] == [decision]


def test_a_rejection_of_a_rewritten_question_is_none() -> None:
    signoffs = [_signoff(decision="rejected", dimensionHash="d0")]

    assert judge_flip(signoffs, "a", _verdict(passed=False, dimension_hash="d1")).decision == "logged"
    assert judge_flip(signoffs, "a", _verdict(passed=True, dimension_hash="d1")) == Flip(
        expected=True, flipped=False, decision=None
    )


def test_the_last_sign_off_stands() -> None:
    first, second = _history("Af Rf")

    assert standing([first, second], "a", _verdict(passed=False)) is second


def test_verdicts_with_their_decisions() -> None:
    verdicts = [
        _verdict(passed=passed, dimension=name)
        for name, passed in (("polite", False), ("brief", False), ("exact", True), ("odd", None))
    ]

    assert signed(verdicts, "a", _history("Rf")) == (
        CaseDimension(
            dimension_id="polite", passed=False, reason="about polite", decision="rejected", flipped=True
        ),
        CaseDimension(
            dimension_id="brief", passed=False, reason="about brief", decision="logged", flipped=True
        ),
        CaseDimension(dimension_id="exact", passed=True, reason="about exact", decision=None, flipped=False),
        CaseDimension(dimension_id="odd", passed=None, reason="about odd", decision=None, flipped=False),
    )


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "signoffs.jsonl"
    append_signoffs(path, _history("Af Rf"))
    append_signoffs(path, _history("Ap"))

    assert load_signoffs(path) == tuple(_history("Af Rf Ap"))
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == [
        _line(),
        _line(decision="rejected"),
        _line(passed=True),
    ]
    assert [entry.name for entry in tmp_path.iterdir()] == ["signoffs.jsonl"]


def test_no_file_is_no_sign_off(tmp_path: Path) -> None:
    assert load_signoffs(tmp_path / "signoffs.jsonl") == ()


ONE = dumps(_line())
# What stands in the file, and how many sign-offs that is.
FILES: list[tuple[str, bytes, int]] = [
    ("empty", b"", 0),
    ("one line", ONE + b"\n", 1),
    ("no last newline", ONE, 1),
    ("CRLF", ONE + b"\r\n" + ONE + b"\r\n", 2),
    ("CRLF, no last newline", ONE + b"\r\n" + ONE, 2),
    ("empty lines", b"\n" + ONE + b"\n \n\r\n" + ONE + b"\n\n", 2),
    ("a byte order mark", b"\xef\xbb\xbf" + ONE + b"\n", 1),
    ("unknown fields", dumps(_line(ticket="T-1")) + b"\n", 1),
    ("other spaces and order", json.dumps(_line(), sort_keys=True, indent=None).encode() + b" \n", 1),
]


@pytest.mark.parametrize(("before", "count"), [pytest.param(*case[1:], id=case[0]) for case in FILES])
def test_other_lines_stay_byte_for_byte(tmp_path: Path, before: bytes, count: int) -> None:
    path = tmp_path / "signoffs.jsonl"
    path.write_bytes(before)
    assert len(load_signoffs(path)) == count

    append_signoffs(path, _history("Rf"))

    after = path.read_bytes()
    assert after.startswith(before)
    end = b"\r\n" if b"\r\n" in before else b"\n"
    gap = b"" if before.endswith(b"\n") or not before else end
    assert after[len(before) :] == gap + dumps(_line(decision="rejected")) + end
    assert len(load_signoffs(path)) == count + 1


@given(st.binary(max_size=60) | st.lists(st.sampled_from([ONE, b"\n", b"\r\n", b" "])).map(b"".join))
def test_appending_keeps_what_stands(before: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "signoffs.jsonl"
        path.write_bytes(before)

        append_signoffs(path, _history("Af Rf"))

        after = path.read_bytes()
        assert after.startswith(before)
        last = [json.loads(line) for line in after.split(b"\n")[-3:-1]]
        assert last == [_line(), _line(decision="rejected")]


@pytest.mark.parametrize("before", [None, b"", ONE], ids=["dangling", "empty", "one line"])
def test_a_symbolic_link_stays_one(tmp_path: Path, before: bytes | None) -> None:
    target = tmp_path / "elsewhere" / "ours.jsonl"
    target.parent.mkdir()
    if before is not None:
        target.write_bytes(before)
    (tmp_path / "suite").mkdir()
    path = tmp_path / "suite" / "signoffs.jsonl"
    try:
        path.symlink_to(Path("..") / "elsewhere" / "ours.jsonl")
    except OSError as error:  # on Windows for administrators only
        pytest.skip(f"no symbolic links here: {error}")

    append_signoffs(path, _history("Rf"))

    assert path.is_symlink()
    assert load_signoffs(path)[-1:] == load_signoffs(target)[-1:] == tuple(_history("Rf"))
    assert target.read_bytes().startswith(before or b"")
    assert [entry.name for entry in (tmp_path / "suite").iterdir()] == ["signoffs.jsonl"]
    assert [entry.name for entry in target.parent.iterdir()] == ["ours.jsonl"]


def _append(path: Path, number: int) -> None:
    append_signoffs(path, [_signoff(dimension=f"d{number}")])


def test_processes_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "signoffs.jsonl"
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        for done in [pool.submit(_append, path, number) for number in range(24)]:
            done.result()

    assert {one.dimension for one in load_signoffs(path)} == {f"d{number}" for number in range(24)}
    assert [entry.name for entry in tmp_path.iterdir()] == ["signoffs.jsonl"]


# A second line that is at fault: where, and what is said.
FAULTS: list[tuple[str, bytes, str, str]] = [
    ("no JSON", b"accepted", "line 2", "not JSON"),
    ("no object", b"[]", "line 2", ""),
    ("not UTF-8", b'{"caseId": "\xff"}', "line 2", "not UTF-8"),
    ("a key twice", b'{"caseId": "a", "caseId": "b"}', "line 2, $.caseId", "twice"),
    ("a field missing", dumps({"caseId": "a"}), "line 2, $.dimension", "missing"),
    (
        "an unknown decision",
        dumps(_line(decision="waived")),
        "line 2, $.decision",
        "'accepted' or 'rejected'",
    ),
    ("a verdict in words", dumps(_line(passed="yes")), "line 2, $.passed", "boolean"),
    ("no verdict", dumps(_line(passed=None)), "line 2, $.passed", "boolean"),
    ("no reason", dumps(_line(reason=" ")), "line 2, $.reason", "is empty"),
    ("nobody", dumps(_line(who="")), "line 2, $.who", "is empty"),
    ("no time", dumps(_line(when="yesterday")), "line 2, $.when", "no time in ISO form"),
    ("no zone", dumps(_line(when="2026-03-31T21:30:00")), "line 2, $.when", "no time zone"),
]


@pytest.mark.parametrize(
    ("line", "field", "message"), [pytest.param(*case[1:], id=case[0]) for case in FAULTS]
)
def test_a_line_that_is_at_fault(tmp_path: Path, line: bytes, field: str, message: str) -> None:
    path = tmp_path / "signoffs.jsonl"
    path.write_bytes(ONE + b"\n" + line + b"\n")

    with pytest.raises(InputError) as error:
        load_signoffs(path)

    fault = refusal(error)
    assert (fault.file, fault.field) == (str(path), field)
    assert message in fault.message


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "signoffs.jsonl").mkdir()

    with pytest.raises(InputError) as error:
        load_signoffs(tmp_path / "signoffs.jsonl")

    assert "cannot be read" in refusal(error).message
