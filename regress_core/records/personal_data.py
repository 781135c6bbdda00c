"""Where in a text there is what identifies a person, or opens a door: addresses, numbers, keys.

What looks like one is checked as far as it can be (check digits, ranges), so that timestamps, UUIDs and the
numbers of orders stay. Every search takes time in proportion to the text.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from regress_core.records.pattern_spans import Spans

PersonalKind = Literal["SECRET", "EMAIL", "IBAN", "CARD", "IP", "PHONE"]

# Keys of services that mark theirs, as their documentation says; a private key; a JSON web token; and what a
# password, a bearer's token or an address with credentials is followed by.
_KEYS = (
    r"(?:sk|rk|pk)[-_](?:ant-|proj-|live[-_]|test[-_]|lf-|or-)?[\w-]{16,}",
    r"(?:gh[oprsu]_|github_pat_|glpat-|npm_|hf_|xox[abeoprs]-|xapp-|lsv2_[ps][kt]_|dop_v1_|shpat_)[\w-]{16,}",
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])",
    r"AIza[\w-]{35}",
    r"ya29\.[\w-]{20,}",
    r"SG\.[\w-]{16,}\.[\w-]{16,}",
    r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*",
)
_SECRET = re.compile(
    rf"""(?<![\w-]) (?: {"|".join(_KEYS)} )
    | -----BEGIN\ [A-Z ]{{0,20}}PRIVATE\ KEY----- [\w\s+/=:,\\]*+
      (?:-----END\ [A-Z ]{{0,20}}PRIVATE\ KEY-----)?
    | (?i:\b(?:bearer|basic|token)) \s+ (?P<token> [\w.~+/-]{{16,}}=* )
    | (?i:(?:api|secret|access)[_-]?key|(?:access|auth|refresh|session)[_-]?token|client[_-]?secret
      |passw(?:or)?d|passphrase)
      ["']?\s{{0,3}}(?:[:=]|\bis\b)\s{{0,3}}["']? (?P<said> [^\s"',;&<>]{{6,}} )
    | (?i:[a-z][a-z0-9+.-]{{1,15}}) :// [^\s:/@]{{1,64}} : (?P<credentials> [^\s:/@]{{1,128}} ) @
    """,
    re.VERBOSE,
)
_EMAIL = re.compile(r"(?<![\w.+%-])[\w.+%-]++@(?:[\w-]++\.)+[^\W\d_]{2,}(?![\w-])")
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
)
_CARD = re.compile(r"(?<![\w.-])\d(?:(?:[ -]\d|\d)){12,18}(?![\w-]|\.\d)")
_IPV4 = re.compile(r"(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w-]|\.\d)")
_IPV6 = re.compile(
    r"(?<![\w:.])(?=[0-9A-Fa-f]*:[0-9A-Fa-f]*:)[0-9A-Fa-f:]{3,39}(?:\.\d{1,3}){0,3}(?![\w:.]*[g-zG-Z])"
)
_INTERNATIONAL = re.compile(r"(?<![\w+])\+\d(?:[ ().\u00a0-]{0,2}\d){7,14}(?!\d)")
_NATIONAL = re.compile(
    r"""(?<![\w-]) \(\d{2,5}\)[ -]?\d{3,4}[ .-]?\d{3,4}(?![\w-])
    | (?i:\b(?:phone|mobile|cell|tel|telephone|fax|whatsapp|call|text|dial)(?:\ (?:me|us|them|him|her))?
      (?:\ (?:number|no\.?))?(?:\ (?:is|at|on|under))?[.:]?\s{0,2})
      (?P<number> \d(?:[ ()/.-]{0,2}\d){6,13}(?![\w-]) )
    """,
    re.VERBOSE,
)
_FEWEST_DIGITS, _MOST_DIGITS = 8, 15  # of an international number: ITU-T E.164


def _secrets(text: str) -> Iterator[tuple[int, int]]:
    for found in _SECRET.finditer(text):
        named = next((name for name in ("token", "said", "credentials") if found[name] is not None), 0)
        yield found.span(named)


def _emails(text: str) -> Iterator[tuple[int, int]]:
    if "@" in text:
        yield from (found.span() for found in _EMAIL.finditer(text))


def _ibans(text: str) -> Iterator[tuple[int, int]]:
    for found in _IBAN.finditer(text):
        begin, end = found.span()
        # Words in capitals may follow: the longest beginning whose check digits are right.
        while end - begin >= 15:
            if _is_iban(text[begin:end].replace(" ", "")):
                yield begin, end
                break
            end -= 1


def _is_iban(letters: str) -> bool:
    """Check an IBAN: ISO 13616, modulo 97 over the figures that letters stand for."""
    if not letters.isalnum():
        return False
    turned = letters[4:] + letters[:4]
    return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1


def _cards(text: str) -> Iterator[tuple[int, int]]:
    for found in _CARD.finditer(text):
        digits = re.sub(r"\D", "", found.group())
        if _is_card(digits):
            yield found.span()


def _is_card(digits: str) -> bool:
    """Tell whether it is a card's number: a range of issuers (ISO/IEC 7812), its length, Luhn's digit."""
    first = {length: int(digits[:length]) for length in (1, 2, 3, 4)}
    known = (
        (first[1] == 4 and len(digits) in (13, 16, 19))
        or ((51 <= first[2] <= 55 or 2221 <= first[4] <= 2720) and len(digits) == 16)
        or (first[2] in (34, 37) and len(digits) == 15)
        or ((first[4] == 6011 or first[2] == 65 or 644 <= first[3] <= 649) and 16 <= len(digits) <= 19)
        or (3528 <= first[4] <= 3589 and 16 <= len(digits) <= 19)
        or ((300 <= first[3] <= 305 or first[2] in (36, 38, 39)) and 14 <= len(digits) <= 19)
        or (first[2] == 62 and 16 <= len(digits) <= 19)
    )
    return known and _luhn(digits)


def _luhn(digits: str) -> bool:
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(number // 10 + number % 10 for number in doubled) % 10 == 0


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    found = [*_IPV4.finditer(text), *_IPV6.finditer(text)] if "." in text or ":" in text else []
    for one in sorted(found, key=lambda match: match.span()):
        if _is_address(one.group().rstrip(":")):
            yield one.start(), one.start() + len(one.group().rstrip(":"))


def _is_address(text: str) -> bool:
    """Tell whether it is an address of a machine, other than of the own one or of none."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    # `a::b` is an address too, and a name in a program more often.
    return not (address.is_loopback or address.is_unspecified) and any(map(str.isdigit, text))


def _phones(text: str) -> Iterator[tuple[int, int]]:
    spans = [found.span() for found in _INTERNATIONAL.finditer(text)]
    spans += [found.span("number" if found["number"] else 0) for found in _NATIONAL.finditer(text)]
    after = 0
    for begin, end in sorted(spans):
        count = sum(character.isdigit() for character in text[begin:end])
        enough = _FEWEST_DIGITS if text[begin] == "+" else _FEWEST_DIGITS - 1
        if begin >= after and enough <= count <= _MOST_DIGITS:
            yield begin, end
            after = end


PERSONAL_DATA: Mapping[PersonalKind, Spans] = {
    "SECRET": _secrets,
    "EMAIL": _emails,
    "IBAN": _ibans,
    "CARD": _cards,
    "IP": _addresses,
    "PHONE": _phones,
}
"""Where each kind stands in a text, in the order in which they are looked for: what one finds, none after it
takes for something else."""
