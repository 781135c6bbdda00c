"""What identifies a person or opens a door is found; what only looks alike stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.personal_data import PERSONAL_DATA, PersonalKind

KEY = "sk-proj-" + "Ab1_" * 8
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N"

# A kind, a text, and what of it is of that kind.
FOUND: list[tuple[PersonalKind, str, list[str]]] = [
    ("EMAIL", "Write to Jane.Doe+x@mail.example.org.", ["Jane.Doe+x@mail.example.org"]),
    ("EMAIL", "<a@b.de>,c@d.com", ["a@b.de", "c@d.com"]),
    ("EMAIL", "['a@b.de']", ["a@b.de"]),
    ("EMAIL", "josé@bücher.example", ["josé@bücher.example"]),
    ("EMAIL", "user@localhost, @name, a@b, 5@6", []),
    ("CARD", "4111 1111 1111 1111", ["4111 1111 1111 1111"]),
    ("CARD", "5555-5555-5555-4444 and 378282246310005", ["5555-5555-5555-4444", "378282246310005"]),
    ("CARD", "6011111111111117, 3530111333300000, 30569309025904", [
        "6011111111111117", "3530111333300000", "30569309025904",
    ]),
    ("CARD", "4111 1111 1111 1112", []),  # Luhn's digit is wrong
    ("CARD", "1704067200000, 1704067200000000", []),  # H74: times in milliseconds and microseconds
    ("CARD", "71fd3e8f-81c4-4111-1111-111111111111", []),
    ("CARD", "order 9111111111111111", []),  # no issuer has 9
    ("IBAN", "DE89 3704 0044 0532 0130 00", ["DE89 3704 0044 0532 0130 00"]),
    ("IBAN", "GB29NWBK60161331926819 PLEASE", ["GB29NWBK60161331926819"]),
    ("IBAN", "DE89370400440532013001", []),  # the check digits are wrong
    ("IBAN", "AB12 3456 7890 1234", []),
    ("IP", "from 203.0.113.7:8080", ["203.0.113.7"]),
    ("IP", "2001:db8::1 and fe80::1ff:fe23:4567:890a", ["2001:db8::1", "fe80::1ff:fe23:4567:890a"]),
    ("IP", "127.0.0.1, ::1, 0.0.0.0", []),
    ("IP", "256.1.1.1, 1.2.3, 1.2.3.4.5, v1.2.3.4", []),
    ("IP", "12:30:45, std::vector, a::b", []),
    ("PHONE", "Call +1 (555) 123-4567 now", ["+1 (555) 123-4567"]),
    ("PHONE", "+49 30 901820", ["+49 30 901820"]),
    ("PHONE", "(555) 123-4567", ["(555) 123-4567"]),
    ("PHONE", "my phone number is 555-123-4567", ["555-123-4567"]),
    ("PHONE", "Tel. 030/901820", ["030/901820"]),
    ("PHONE", "order 555-123-4567, +12, 2024-05-20, 10:00:00", []),
    ("PHONE", "1704067200, +12345678901234567890", []),
    ("SECRET", f"key {KEY}.", [KEY]),
    ("SECRET", "AKIAIOSFODNN7EXAMPLE", ["AKIAIOSFODNN7EXAMPLE"]),
    ("SECRET", f"Authorization: Bearer {JWT}", [JWT]),
    ("SECRET", "authorization: bearer abcdef0123456789abcdef", ["abcdef0123456789abcdef"]),
    ("SECRET", "ghp_0123456789abcdefghijABCDEFGHIJ012345", ["ghp_0123456789abcdefghijABCDEFGHIJ012345"]),
    ("SECRET", "password: hunter2! ok", ["hunter2!"]),
    ("SECRET", '{"api_key": "0123456789"}', ["0123456789"]),
    ("SECRET", "postgres://ann:s3cr3t@db.example.org/x", ["s3cr3t"]),
    ("SECRET", "-----BEGIN RSA PRIVATE KEY-----\nMIIE+/=\n-----END RSA PRIVATE KEY-----", [
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE+/=\n-----END RSA PRIVATE KEY-----",
    ]),
    ("SECRET", "task-sk-1, a token of thanks, basic rules, password reset, sk-short", []),
    ("SECRET", "71fd3e8f-81c4-479f-b6c5-9486cb61dae6 call_0123456789abcdefghij", []),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "parts"), FOUND)
def test_what_is_found(kind: PersonalKind, text: str, parts: list[str]) -> None:
    assert [text[begin:end] for begin, end in PERSONAL_DATA[kind](text)] == parts


HARMLESS = [
    "1704067200000",
    "2024-05-20T10:00:00.000Z",
    "71fd3e8f-81c4-479f-b6c5-9486cb61dae6",
    "W1234567890123",
    "#112-3456789-1234567",
    "call_abcDEF0123456789",
    "toolu_01A09q90qw90lq917835lq9",
    "chatcmpl-AHmxWgRAkoZJCaH30D7gz5t1OCc30",
    "3f9c2a71b6c59486cb61dae671fd3e8f",
    "1.2.3",
    "12:30:45",
    "100000000000000000",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_none_of_them(text: str) -> None:
    """H74."""
    found = {kind: list(spans(f"It is {text} here.")) for kind, spans in PERSONAL_DATA.items()}
    assert not any(found.values()), found


@given(st.text(max_size=300))
def test_spans_are_in_order_and_do_not_overlap(text: str) -> None:
    for spans in PERSONAL_DATA.values():
        after = 0
        for begin, end in spans(text):
            assert after <= begin < end <= len(text)
            after = end


@pytest.mark.parametrize(
    "part",
    [
        *("a.", "@", "a@", "4", "4 ", "4-", "1.", ":", "a:", "+1", "+1 ", "(1", "DE12 ", "DE123456", "eyJ"),
        *("sk-", "-----BEGIN PRIVATE KEY-----", "://a:", "bearer ", "password", "x", "://"),
    ],
)
def test_a_long_text_ends(part: str) -> None:
    """Some hundred thousand characters that nearly are one; in quadratic time this would take hours."""
    text = part * (200_000 // len(part))
    for spans in PERSONAL_DATA.values():
        list(spans(text))
