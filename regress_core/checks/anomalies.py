"""Signs of an agent that gets nowhere: calls repeated for nothing, blind retries, turns without news."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regress_core.checks.config import Anomalies
from regress_core.checks.outcome import CheckResult, Finding
from regress_core.checks.own_part import OwnCall, OwnPart
from regress_core.checks.texts import cut


@dataclass(frozen=True, slots=True)
class _Heard:
    """A call, and whether its output was news: one that its tool had not given before in this run."""

    call: OwnCall
    news: bool


def check_anomalies(anomalies: Anomalies, own: OwnPart) -> Iterator[CheckResult]:
    """Give a result for each anomaly that is looked out for."""
    heard = _heard(own) if anomalies.any else ()
    if anomalies.repeated_calls is not None:
        finding = _finding(
            "no call repeated without news", [b for a, b in _again(heard) if _same_output(a, b)]
        )
        yield finding.result("anomaly:repeated_calls", "repeated_calls", anomalies.repeated_calls)
    if anomalies.blind_retries is not None:
        retries = [b for a, b in _again(heard) if a.failed and a.group != b.group]
        finding = _finding("no failed call made again without news", retries)
        yield finding.result("anomaly:blind_retries", "blind_retries", anomalies.blind_retries)
    if anomalies.stall is not None:
        finding = _stall(anomalies.stall.turns, heard)
        yield finding.result("anomaly:stall", "stall", anomalies.stall.severity)


def _heard(own: OwnPart) -> Sequence[_Heard]:
    known = set(own.known)
    heard: list[_Heard] = []
    for call in own.calls:
        fact = None if call.output_text is None else (call.name, call.output_text)
        heard.append(_Heard(call, news=fact is not None and fact not in known))
        if fact is not None:
            known.add(fact)
    return heard


def _again(heard: Sequence[_Heard]) -> Iterator[tuple[OwnCall, OwnCall]]:
    """Give each call that is made again, and its repetition, where nothing in between brought news.

    What the user says is news too.
    """
    latest: dict[tuple[str, str, int], int] = {}
    news = 0  # so many calls so far brought some
    news_until: list[int] = []
    for place, entry in enumerate(heard):
        key = (entry.call.name, entry.call.args_text, entry.call.user_messages)
        before = latest.get(key)
        if before is not None and news == news_until[before]:
            yield heard[before].call, entry.call
        latest[key] = place
        news += entry.news
        news_until.append(news)


def _same_output(first: OwnCall, second: OwnCall) -> bool:
    return first.output_text is not None and first.output_text == second.output_text


def _finding(looked_for: str, repetitions: Sequence[OwnCall]) -> Finding:
    if not repetitions:
        return Finding(looked_for, "none", holds=True)
    first = repetitions[0]
    found = f"{len(repetitions)}, the first is {first.name} {cut(first.args_text)}"
    return Finding(looked_for, found, first.where, holds=False)


def _stall(turns: int, heard: Sequence[_Heard]) -> Finding:
    """Look for the longest run of turns whose calls brought no news while the user was silent."""
    groups: dict[int, list[_Heard]] = {}
    for entry in heard:
        groups.setdefault(entry.call.group, []).append(entry)
    longest: list[OwnCall] = []
    silent: list[OwnCall] = []  # the first call of each turn of the present run
    for entries in groups.values():
        first = entries[0].call
        if silent and silent[-1].user_messages != first.user_messages:
            silent = []
        silent = [] if any(entry.news for entry in entries) else [*silent, first]
        longest = max(longest, silent, key=len)
    holds = len(longest) < turns
    return Finding(
        holds=holds,
        looked_for=f"news in one of any {turns} turns with calls",
        found=f"{'at most ' if holds else ''}{len(longest)} without news in a row",
        where=None if holds else longest[0].where,
    )
