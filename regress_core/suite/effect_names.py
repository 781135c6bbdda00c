"""What a tool's name says of its effect: the English verb that it begins with, or ends with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

NameSays = Literal["write", "read", "speech", "depends", "unclear", "nothing"]
"""`speech` changes who speaks or what is said, `depends` goes by the arguments, `unclear` may be either."""


@dataclass(frozen=True, slots=True)
class NamedEffect:
    """What a name says.

    Attributes:
        says: What it is.
        reason: Which word says so.
    """

    says: NameSays
    reason: str


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WRITING = _words("""
    accept activate add adjust allocate amend append apply approve archive assign attach authorize ban
    buy cancel change clear clone close complete configure confirm connect copy cp create deactivate
    decline decrease decrement delete deploy destroy detach disable discard disconnect dismiss dispatch
    donate downgrade drop duplicate edit enable enqueue enrol enroll erase exclude extend finalize fix
    fork forward freeze give hide increase increment initiate insert install invite join kick leave lend
    make mark merge migrate mkdir modify move mute mv notify overwrite patch pause pay populate prescribe
    provision publish purge push put quarantine reactivate reallocate reassign rebook reboot recharge
    reconnect redeem refill refuel register reimburse reinstate reject relocate remove rename renew
    reopen reorder replace replenish repost reschedule reseat reset restart restock restore resume
    retweet revert revoke rm rmdir save send set settle ship shut submit subscribe substitute suspend
    swap terminate toggle touch trigger unarchive unassign unban unblock undo unenroll unfollow unfreeze
    uninstall unlike unlink unlock unmute unpin unregister unsubscribe update upload upsert void waive
    wipe wire withdraw write
""")

# Verbs that are things as well: `order_pizza`, but `order_status`.
_WRITING_OR_THING = _words("""
    ban bill block book charge claim comment commit credit debit deposit dispute draft email exchange
    file flag follow fund grant hire hold issue label launch like link lock log mail message note order
    pin place post purchase rate record refund release reply report request reserve resolve return
    schedule sell share sign start stop store switch tag text tip transfer tweet upgrade vote
""")

_READING = _words("""
    analyse analyze are ask assess average browse calc calculate can cat check classify compare compute
    consult convert count describe detect determine diagnose diff discover display divide does download
    estimate evaluate examine explain explore extract fetch filter find forecast format get glob grep has
    have head identify inspect is list locate look lookup ls match measure monitor multiply observe parse
    peek ping predict preview pwd query rank read reason recall recommend retrieve scan search see should
    show simulate sort stat subtract suggest sum summarise summarize tail tally test think track
    translate validate verify view wait watch wc whoami
""")

_LOOKED_AT = _words("""
    address amount availability balance code cost count date detail details eligibility fee fees history
    hours id ids info information limit limits list locator log logs lookup name names notes number
    options performance policies policy preview price prices rate rates rules search state status summary
    terms time total totals type types usage value
""")

# What these do stands in their arguments, or depends on what the screen shows.
_BY_ARGUMENTS = _words("""
    call click drag eval exec execute goto interact invoke navigate press run scroll swipe tap
""")
_INTERPRETERS = _words("""
    api bash bot browser code command console curl http interpreter keyboard mouse python repl shell sql
    terminal
""")
_CALLS_ANYTHING = _words("make send issue")
_ANYTHING = _words("api call command graphql http request requests rest")
_UNDERTAKING = _words("do execute handle perform process run")
_UNDERTAKEN = _words("""
    adjustment booking cancellation cancelation charge claim deposit exchange order payment payments purchase
    refund return sale trade transaction transfer update upgrade withdrawal
""")

_SPEAKING = _words("answer ask clarify conclude end exit finish reply respond say send speak message tell")
_TO_WHOM = _words("agent caller client conversation customer human user")
_SAID = _words(
    "a answer clarification final message output question reply response result task text the to with"
)

_HANDING_OVER = _words("delegate escalate escalation handoff handover")
_MONEY = _words(
    "account amount balance bank cash checking credit fund funds iban money payment savings wallet"
)

# Two words that are one verb; the first alone would say something else.
_PHRASES: dict[tuple[str, str], str] = {
    ("hand", "off"): "handoff",
    ("hand", "over"): "handover",
    ("look", "up"): "lookup",
    ("turn", "on"): "enable",
    ("turn", "off"): "disable",
    ("power", "on"): "enable",
    ("power", "off"): "disable",
    ("opt", "in"): "subscribe",
    ("opt", "out"): "unsubscribe",
    ("roll", "back"): "revert",
    ("check", "in"): "checkin",
    ("check", "out"): "checkout",
    ("top", "up"): "recharge",
    ("sign", "up"): "register",
    ("sign", "in"): "login",
    ("log", "in"): "login",
    ("sign", "out"): "logout",
    ("log", "out"): "logout",
}

_NAMESPACE = re.compile(r"[./:]+|__+")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")


def effect_of_name(tool: str) -> NamedEffect:
    """Say what a tool's name says: in snake_case, camelCase or kebab-case, with a namespace or without.

    The verb that it begins with decides (`get_update_history` reads), else the first that is only a verb,
    else the last word (`web_search`). Verbs that are things as well count in front of something else than
    what one looks at: `order_pizza` writes, `order_status` may be either.
    """
    own = _verbs(_NAMESPACE.split(tool)[-1])
    said = _effect_of(own)
    whole = _verbs(_NAMESPACE.sub("_", tool))
    return _effect_of(whole) if said.says == "nothing" and whole != own else said


def _verbs(name: str) -> list[str]:
    """Give a name's words in lower case, phrases as the one word that they are."""
    words = [word.lower() for word in _WORD.findall(name)]
    found: list[str] = []
    for word in words:
        phrase = _PHRASES.get((found[-1], word)) if found else None
        if phrase is None:
            found.append(word)
        else:
            found[-1] = phrase
    return found


def _effect_of(words: Sequence[str]) -> NamedEffect:
    if not words:
        return _NOTHING
    if _hands_over(words):
        return NamedEffect("speech", "a hand-off, which changes who speaks and nothing else")
    if _speaks(words):
        return NamedEffect("speech", "talks to the user, which is no effect outside of the conversation")
    if _goes_by_arguments(words):
        return _depends(words[0])
    return _of_first(words) or _of_later_verb(words) or _of_thing(words)


_NOTHING = NamedEffect("nothing", "its name does not say")


def _hands_over(words: Sequence[str]) -> bool:
    if _HANDING_OVER.intersection(words):
        return True
    leads_on = words[:2] in (["transfer", "to"], ["switch", "to"], ["route", "to"], ["connect", "to"])
    to_somebody = leads_on and (words[0] != "connect" or not _TO_WHOM.isdisjoint(words))
    return to_somebody and _MONEY.isdisjoint(words)


def _speaks(words: Sequence[str]) -> bool:
    """Tell whether a name is about speaking alone: `ask_user`, `final_answer`, `return_result`."""
    first, rest = words[0], set(words[1:])
    if first in {"final", "return", "give", "submit", "provide"} and rest:
        return rest <= _SAID and bool(rest & {"answer", "output", "response", "result"})
    if first not in _SPEAKING or not rest <= _SAID | _TO_WHOM:
        return False
    return bool(rest & _TO_WHOM) or first not in {"send", "message"}


def _goes_by_arguments(words: Sequence[str]) -> bool:
    """Tell whether a name is that of any call: `run_query`, `make_http_request`; not `send_money_request`."""
    first, rest = words[0], words[1:]
    if first in _CALLS_ANYTHING and rest:
        return _ANYTHING.issuperset(rest)
    return first in _BY_ARGUMENTS and not _undertakes(words)


def _undertakes(words: Sequence[str]) -> bool:
    """Tell whether a name is of a deed by its noun: `process_refund`."""
    return words[0] in _UNDERTAKING and words[-1] in _UNDERTAKEN


def _of_first(words: Sequence[str]) -> NamedEffect | None:
    """Read a name by its first word; None if that says nothing."""
    first, rest = words[0], words[1:]
    if _undertakes(words):
        return _says("write", f"{first} … {rest[-1]}")
    if first in _WRITING:
        return _says("write", first)
    if first in _WRITING_OR_THING:
        if rest and rest[-1] in _LOOKED_AT | _READING:
            return NamedEffect("unclear", f"its name says `{first}`, but `{rest[-1]}` too")
        return _says("write", first)
    if first in _READING:
        written = _also_written(rest)
        return _says("read", first) if written is None else _says("write", f"{first} … {written}")
    return None


def _also_written(words: Sequence[str]) -> str | None:
    """Give the writing verb of `get_or_create`, `find_and_replace`."""
    return next(
        (word for joint, word in pairwise(words) if joint in {"or", "and"} and word in _WRITING), None
    )


def _of_later_verb(words: Sequence[str]) -> NamedEffect | None:
    """Read a name whose first word says nothing; words that are nothing but verbs go first."""
    for word in words[1:]:
        if word in _WRITING:
            return _says("write", word)
        if word in _READING and word not in _LOOKED_AT:
            return _says("read", word)
    read = next((word for word in words[1:] if word in _READING), None)
    return None if read is None else _says("read", read)


def _of_thing(words: Sequence[str]) -> NamedEffect:
    """Read a name without a verb that is known."""
    by_arguments = next((word for word in words if word in _BY_ARGUMENTS | _INTERPRETERS), None)
    if by_arguments is not None:
        return _depends(by_arguments)
    last = words[-1]
    if last in _LOOKED_AT:
        return _says("read", last)
    if last in _WRITING_OR_THING:
        return NamedEffect("nothing", f"its name says `{last}`, which may be a thing or what is done")
    return _NOTHING


def _says(effect: Literal["read", "write"], verb: str) -> NamedEffect:
    return NamedEffect(effect, f"its name says `{verb}`")


def _depends(word: str) -> NamedEffect:
    return NamedEffect(
        "depends", f"its name says `{word}`: what it changes depends on what it is called with"
    )
