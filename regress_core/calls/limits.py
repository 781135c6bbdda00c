"""How hard a call is tried, and how hard a provider is pressed."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallLimits:
    """The limits of one `CallRunner`. They hold per process: two processes press a provider twice as hard.

    After *n* attempts of a call the runner waits `first_wait_s` · 2^(*n* - 1) seconds, `longest_wait_s` at
    most, of which a random part of up to one half is left out, so that calls that failed together do not
    come back together. ("Equal jitter" in "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.)

    Attributes:
        concurrency: Requests in flight at a time. A call that waits between two attempts is not in flight.
        attempts: Attempts of one call in all, the first included.
        time_out_s: Seconds that one attempt may take.
        requests_per_second: Requests that may leave in a second, retries included, evenly spaced and never
            in a burst. None for no limit.
        first_wait_s: Seconds before the second attempt.
        longest_wait_s: Seconds that are waited at most before any attempt, as far as the runner chooses.
        longest_retry_after_s: Seconds that a provider may ask to wait (`Retry-After`). A call that is asked
            to wait longer ends.
        failures_to_open: Calls in a row that end without an answer, after which no request leaves for
            `cool_down_s`. The default is above the default concurrency: a blip that hits every call in flight
            once does not open the circuit.
        cool_down_s: Seconds until one call is let through again, to see whether the provider is back.
        run_time_out_s: Seconds that one run of a candidate may take in all: its calls, waits and live tools.

    Raises:
        ValueError: If a limit is out of its range.
    """

    concurrency: int = 8
    attempts: int = 4
    time_out_s: float = 60.0
    requests_per_second: float | None = None
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    longest_retry_after_s: float = 60.0
    failures_to_open: int = 10
    cool_down_s: float = 30.0
    run_time_out_s: float = 900.0

    def __post_init__(self) -> None:
        for name, count in (
            ("concurrency", self.concurrency),
            ("attempts", self.attempts),
            ("failures_to_open", self.failures_to_open),
        ):
            if count < 1:
                raise ValueError(f"{name} is {count}, and must be 1 or more")
        rate = 1.0 if self.requests_per_second is None else self.requests_per_second
        for name, number in (
            ("time_out_s", self.time_out_s),
            ("requests_per_second", rate),
            ("run_time_out_s", self.run_time_out_s),
        ):
            if not (math.isfinite(number) and number > 0):
                raise ValueError(f"{name} is {number}, and must be a finite number above 0")
        for name, seconds in (
            ("first_wait_s", self.first_wait_s),
            ("longest_wait_s", self.longest_wait_s),
            ("longest_retry_after_s", self.longest_retry_after_s),
            ("cool_down_s", self.cool_down_s),
        ):
            if not (math.isfinite(seconds) and seconds >= 0):
                raise ValueError(f"{name} is {seconds}, and must be a finite number, 0 or more")
        if self.longest_wait_s < self.first_wait_s:
            raise ValueError(
                f"longest_wait_s is {self.longest_wait_s}, and must not be below first_wait_s, "
                f"{self.first_wait_s}"
            )

    def wait_s(self, attempts: int, random: float) -> float:
        """Give the seconds to wait after so many failed attempts.

        Args:
            attempts: How many attempts were made, 1 or more.
            random: A random number in [0, 1).
        """
        doublings = min(attempts - 1, 64)  # more would in the end be no float, and change nothing before
        longest = min(self.longest_wait_s, self.first_wait_s * 2.0**doublings)
        return longest * (1 + random) / 2
