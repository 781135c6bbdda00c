"""What tokens cost, by hand; and the prices of models that are listed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from genai_prices import Usage as Counts
from genai_prices import calc_price
from genai_prices.data_snapshot import get_snapshot
from hypothesis import given
from hypothesis import strategies as st

from regress_core.calls.prices import NANOUSD, Price, listed_price
from regress_core.models.client import Usage

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


def _price(fresh: str, output: str, read: str | None = None, written: str | None = None) -> Price:
    return Price(
        Decimal(fresh),
        Decimal(output),
        None if read is None else Decimal(read),
        None if written is None else Decimal(written),
    )


MINI = _price("0.4", "1.6", "0.1")
CACHING = _price("3", "15", "0.3", "3.75")
LONG = Price(Decimal(2), Decimal(6), tiers=((1000, _price("4", "9")), (2000, _price("5", "10", "1"))))

# A dollar per million tokens is 1000 nano-dollars a token.
COSTS: list[tuple[str, Price, Usage, int]] = [
    ("nothing", MINI, Usage(), 0),
    ("a token in", MINI, Usage(1), 400),
    ("a token out", MINI, Usage(0, 1), 1600),
    # 500 x 400 + 1500 x 100 + 100 x 1600
    ("R45: 2000 tokens in, 1500 of them from the cache", MINI, Usage(500, 100, 1500), 510_000),
    # 10 x 3000 + 20 x 15000 + 30 x 300 + 40 x 3750
    ("every class", CACHING, Usage(10, 20, 30, 40), 489_000),
    # 10 x 400 + 30 x 100 + 40 x 400
    ("what is written to the cache is input", MINI, Usage(10, 0, 30, 40), 23_000),
    ("what is read from it too", _price("2", "6"), Usage(0, 0, 5), 10_000),
    ("a reading that is free", _price("2", "6", "0"), Usage(1, 0, 5), 2000),
    ("rounded up", _price("0.0375", "0.00001"), Usage(1, 1), 38),  # 37.5 + 0.01
    ("rounded up once", _price("0.0005", "0.0005"), Usage(1, 1), 1),
    ("free", _price("0", "0"), Usage(10, 10, 10, 10), 0),
    ("up to the first tier", LONG, Usage(1000, 10), 2_060_000),
    ("above it all tokens are dearer", LONG, Usage(1001, 10), 4_094_000),
    ("the cache counts for the tier", LONG, Usage(1, 10, 500, 500), 4_094_000),
    ("output does not", LONG, Usage(1, 3000), 18_002_000),
    # 1 x 5000 + 2000 x 1000 + 1 x 5000 + 1 x 10000
    ("the last tier", LONG, Usage(1, 1, 2000, 1), 2_020_000),
    ("very many", MINI, Usage(10**12, 10**12, 10**12, 10**12), 2_500 * 10**12),
]


@pytest.mark.parametrize(("price", "usage", "cost"), [pytest.param(*case[1:], id=case[0]) for case in COSTS])
def test_costs(price: Price, usage: Usage, cost: int) -> None:
    assert price.cost_nanousd(usage) == cost


MOST: list[tuple[str, Price, int, int, int]] = [
    ("nothing", MINI, 0, 0, 0),
    ("a byte is a token, a token out", MINI, 1, 1, 2000),
    ("the dearest input", CACHING, 1000, 100, 5_250_000),
    ("a cache that is cheaper", MINI, 1000, 0, 400_000),
    ("rounded up", _price("0.0375", "0"), 1, 0, 38),
    ("below the first tier", LONG, 1000, 10, 2_060_000),
    ("within the first tier", LONG, 1001, 10, 4_094_000),
    ("within the last", LONG, 2001, 10, 10_105_000),
    ("a tier that is cheaper", Price(Decimal(2), Decimal(6), tiers=((10, _price("1", "1")),)), 20, 1, 46_000),
]


@pytest.mark.parametrize(
    ("price", "size", "output", "most"), [pytest.param(*case[1:], id=case[0]) for case in MOST]
)
def test_the_most(price: Price, size: int, output: int, most: int) -> None:
    assert price.most_nanousd(size, output) == most


_USD = st.decimals(0, 100, places=4)
_PRICES = st.builds(Price, _USD, _USD, st.none() | _USD, st.none() | _USD)


def _tiered(price: Price, above: int, dearer: Price) -> Price:
    return replace(price, tiers=((above, dearer),))


@given(
    _PRICES | st.builds(_tiered, _PRICES, st.integers(0, 3000), _PRICES),
    st.tuples(*[st.integers(0, 1000)] * 4),
    st.integers(0, 1000),
    st.integers(0, 1000),
)
def test_no_usage_costs_more_than_the_most(
    price: Price, tokens: tuple[int, int, int, int], more_bytes: int, more_output: int
) -> None:
    usage = Usage(*tokens)
    size = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + more_bytes

    assert price.cost_nanousd(usage) <= price.most_nanousd(size, usage.output_tokens + more_output)


@pytest.mark.parametrize("usd", ["-0.01", "NaN", "Infinity"])
@pytest.mark.parametrize("name", ["input_usd", "output_usd", "cache_read_usd", "cache_write_usd"])
def test_what_is_no_price(usd: str, name: str) -> None:
    with pytest.raises(ValueError, match="and must be a finite number, 0 or more") as caught:
        replace(CACHING, **{name: Decimal(usd)})

    assert usd in str(caught.value)


def test_a_listed_price() -> None:
    # https://openai.com/api/pricing: 0.15 for input, 0.075 for cached input, 0.60 for output
    assert listed_price("openai:gpt-4o-mini", NOW) == _price("0.15", "0.6", "0.075")


@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses"])
def test_a_provider_of_another_name(provider: str) -> None:
    assert listed_price(f"{provider}:gpt-4o-mini", NOW) == listed_price("openai:gpt-4o-mini", NOW)


def test_a_listed_price_with_tiers() -> None:
    # https://docs.claude.com/en/docs/about-claude/pricing: twice as much for prompts above 200,000 tokens
    price = listed_price("anthropic:claude-sonnet-4-5", NOW)

    longer = _price("6", "22.5", "0.6", "7.5")
    assert price == Price(
        Decimal(3), Decimal(15), Decimal("0.3"), Decimal("3.75"), tiers=((200_000, longer),)
    )


@pytest.mark.parametrize(
    "model",
    [
        "openai:test-model",
        "ollama:llama3",
        "scripted:one",
        "local:gpt-4o",
        "perplexity:sonar",  # it charges for each request too
        "openai:text-embedding-3-small",  # it has no price of output
        "openai:",
        ":gpt-4o",
        "gpt-4o",
        "",
    ],
)
def test_what_is_not_listed(model: str) -> None:
    assert listed_price(model, NOW) is None


def test_a_price_that_changes_with_the_time_of_day() -> None:
    night, day = (
        listed_price("deepseek:deepseek-chat", datetime(2025, 6, 1, hour, tzinfo=UTC)) for hour in (3, 20)
    )

    assert night is not None
    assert day is not None
    assert night != day


@pytest.mark.parametrize("length", [1, 250_000])
def test_the_library_counts_alike(length: int) -> None:
    usage = Usage(40 * length, 30, 20 * length, 10 * length)
    counts = Counts(
        input_tokens=70 * length,
        output_tokens=30,
        cache_read_tokens=20 * length,
        cache_write_tokens=10 * length,
    )
    compared = 0
    for provider in get_snapshot().providers:
        if provider.id not in {"anthropic", "openai", "google", "mistral", "deepseek", "x-ai"}:
            continue
        for model in provider.models:
            price = listed_price(f"{provider.id}:{model.id}", NOW)
            if price is None:
                continue
            theirs = calc_price(
                counts, model.id, provider_id=provider.id, genai_request_timestamp=NOW
            ).total_price
            assert 0 <= price.cost_nanousd(usage) - theirs * NANOUSD < 1, model.id
            compared += 1
    assert compared > 50
