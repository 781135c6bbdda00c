"""When the next request may leave."""

from __future__ import annotations

import math
from collections.abc import Callable


class Pace:
    """Spaces requests evenly: after each, the next one has to wait 1/rate seconds.

    No credit is saved up while nothing is sent, so there is never a burst.

    Args:
        requests_per_second: The rate; None for no limit.
        clock: Gives seconds that never go back.
    """

    def __init__(self, requests_per_second: float | None, clock: Callable[[], float]) -> None:
        self._spacing_s = 0.0 if requests_per_second is None else 1 / requests_per_second
        self._clock = clock
        self._next_at = -math.inf

    def wait_s(self) -> float:
        """Give the seconds until a request may leave; 0 if one may now."""
        return max(0.0, self._next_at - self._clock())

    def leave(self) -> None:
        """Count a request that leaves now."""
        self._next_at = self._clock() + self._spacing_s

    def hold_back(self, seconds: float) -> None:
        """Let nothing leave for that long."""
        self._next_at = max(self._next_at, self._clock() + seconds)
