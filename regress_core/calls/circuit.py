"""A circuit breaker: stop asking a provider that gives no answers."""

from __future__ import annotations

import math
from collections.abc import Callable

from regress_core.models.client import ModelError


class Circuit:
    """Says whether a call may go out, from how the calls before it ended.

    It opens for good on an error that no waiting mends, and for a cool-down once enough calls in a row ended
    without an answer. After the cool-down one call at a time goes out, the probe: its answer closes the
    circuit, its failure begins another cool-down.

    Args:
        failures_to_open: Failed calls in a row that open it.
        cool_down_s: Seconds before a probe goes out.
        clock: Gives seconds that never go back.
    """

    def __init__(self, failures_to_open: int, cool_down_s: float, clock: Callable[[], float]) -> None:
        self._failures_to_open = failures_to_open
        self._cool_down_s = cool_down_s
        self._clock = clock
        self._failures = 0
        self._cause: ModelError | None = None  # None while the circuit is closed
        self._probe_from = math.inf  # stays so where the circuit is open for good
        self._probe: object | None = None

    def refusal_of(self, call: object) -> ModelError | None:
        """Give the error that opened the circuit if this call may not go out; None if it may.

        The call that is let through an open circuit is the probe until it is over, its retries included.

        Args:
            call: Whatever stands for the call; compared by identity.
        """
        if self._cause is None or call is self._probe:
            return None
        if self._probe is None and self._clock() >= self._probe_from:
            self._probe = call
            return None
        return self._cause

    def answered(self) -> None:
        """Count a call that the provider answered."""
        self._failures = 0
        if not self._open_for_good:
            self._cause = None
            self._probe_from = math.inf
            self._probe = None

    def failed(self, error: ModelError) -> None:
        """Count a call that got no answer, after all its attempts."""
        self._failures += 1
        if self._failures >= self._failures_to_open and not self._open_for_good:
            self._cause = self._cause or error
            self._probe_from = self._clock() + self._cool_down_s

    def open_for_good(self, error: ModelError) -> None:
        """Let nothing out any more."""
        if not self._open_for_good:
            self._cause = error
            self._probe_from = math.inf
            self._probe = None

    def over(self, call: object) -> None:
        """Tell that a call is over, however it ended: if it was the probe, another call may be the next."""
        if self._probe is call:
            self._probe = None

    @property
    def _open_for_good(self) -> bool:
        return self._cause is not None and self._probe_from == math.inf
