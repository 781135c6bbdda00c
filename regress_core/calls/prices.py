"""What models cost: a price per million tokens, stated by a suite or listed by genai-prices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from regress_core.models.client import Usage

if TYPE_CHECKING:
    from genai_prices.types import Tier, TieredPrices

    Listed = Decimal | TieredPrices

NANOUSD = 10**9
"""Nano-dollars in a dollar."""

_NANOUSD_A_TOKEN = NANOUSD // 10**6
"""A dollar per million tokens, as nano-dollars per token."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, US dollars per million tokens.

    Attributes:
        input_usd: Of input tokens that no cache serves.
        output_usd: Of output tokens.
        cache_read_usd: Of input tokens read from the provider's cache; None for the price of input.
        cache_write_usd: Of input tokens written to the provider's cache; None for the price of input.
        tiers: Prices of longer requests: of all tokens of a request with more input tokens than a tier's
            number. Ascending, without tiers of their own.

    Raises:
        ValueError: If a price is negative or no number.
    """

    input_usd: Decimal
    output_usd: Decimal
    cache_read_usd: Decimal | None = None
    cache_write_usd: Decimal | None = None
    tiers: tuple[tuple[int, Price], ...] = ()

    def __post_init__(self) -> None:
        for usd in (*_of_input(self), self.output_usd):
            if not (usd.is_finite() and usd >= 0):
                raise ValueError(f"a price is {usd}, and must be a finite number, 0 or more")

    def cost_nanousd(self, usage: Usage) -> int:
        """Give what a request costs, rounded up to a nano-dollar; each token is billed in its class only."""
        tokens_in = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        price = self
        for above, dearer in self.tiers:
            if tokens_in > above:
                price = dearer
        fresh, read, written = _of_input(price)
        usd = (
            usage.input_tokens * fresh
            + usage.cache_read_tokens * read
            + usage.cache_write_tokens * written
            + usage.output_tokens * price.output_usd
        )
        return math.ceil(usd * _NANOUSD_A_TOKEN)

    def most_nanousd(self, input_bytes: int, output_tokens: int) -> int:
        """Give what a request costs at most.

        Args:
            input_bytes: UTF-8 bytes of what is sent: a token takes one at least.
            output_tokens: The most that the model may answer.
        """
        possible = [self, *(dearer for above, dearer in self.tiers if input_bytes > above)]
        usd = max(input_bytes * max(_of_input(one)) + output_tokens * one.output_usd for one in possible)
        return math.ceil(usd * _NANOUSD_A_TOKEN)


def _of_input(price: Price) -> tuple[Decimal, Decimal, Decimal]:
    """Give the prices of input: that no cache serves, that is read from it, that is written to it."""
    read = price.input_usd if price.cache_read_usd is None else price.cache_read_usd
    written = price.input_usd if price.cache_write_usd is None else price.cache_write_usd
    return price.input_usd, read, written


def listed_price(model: str, now: datetime) -> Price | None:
    """Look a model up in the list that genai-prices holds; nothing is fetched.

    Args:
        model: The model, `provider:model`.
        now: The time of asking: some prices change with the date or the time of day.

    Returns:
        Its price; None if the list does not have it, as for servers of one's own, or not all of it: no price
        of input or output, or one for each request.
    """
    from genai_prices import Usage as Counts  # noqa: PLC0415 - loading the list takes 0.2 s
    from genai_prices import calc_price  # noqa: PLC0415 - as above

    provider, _, name = model.partition(":")
    try:
        found = calc_price(
            Counts(input_tokens=0, output_tokens=0),
            name,
            provider_id=provider,
            genai_request_timestamp=now,
        ).model_price
    except LookupError:
        return None
    if found.input_mtok is None or found.output_mtok is None or found.requests_kcount is not None:
        return None
    listed = (found.input_mtok, found.output_mtok, found.cache_read_mtok, found.cache_write_mtok)
    bounds = sorted({tier.start for one in listed if one is not None for tier in _tiers_of(one)})
    tiers = tuple((above, _price_above(above, *listed)) for above in bounds)
    return replace(_price_above(-1, *listed), tiers=tiers)


def _price_above(
    tokens_in: int, fresh: Listed, output: Listed, read: Listed | None, written: Listed | None
) -> Price:
    """Give the price, without tiers, of requests with just more input tokens than that."""
    return Price(
        _usd_above(tokens_in, fresh),
        _usd_above(tokens_in, output),
        None if read is None else _usd_above(tokens_in, read),
        None if written is None else _usd_above(tokens_in, written),
    )


def _usd_above(tokens_in: int, listed: Listed) -> Decimal:
    usd = listed if isinstance(listed, Decimal) else listed.base
    for tier in _tiers_of(listed):
        if tier.start <= tokens_in:
            usd = tier.price
    return usd


def _tiers_of(listed: Listed) -> Sequence[Tier]:
    return () if isinstance(listed, Decimal) else listed.tiers
