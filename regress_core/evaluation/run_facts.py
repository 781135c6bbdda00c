"""How a candidate's run went, beside its record."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from regress_core.harness.replay.recorded_tools import ReplayMode
from regress_core.models.client import Usage
from regress_core.records.json_io import JsonObject


@dataclass(frozen=True, slots=True)
class RunFacts:
    """How a run went.

    Attributes:
        mode: Where tool outputs came from.
        replay_stats: How many came from where, in the reference's JSON shape.
        replay_miss: Whether the candidate asked for an output that the baseline does not have.
        usage: Tokens of all its turns that tell them.
        duration_s: Wall time of the run, seconds.
        cost_usd: What its calls cost, US dollars, as far as their price is known.
    """

    mode: ReplayMode
    replay_stats: JsonObject
    replay_miss: bool
    usage: Usage
    duration_s: float
    cost_usd: float = 0.0

    def to_json(self) -> JsonObject:
        """Give the JSON object the journal keeps."""
        return {
            "mode": self.mode,
            "replayStats": self.replay_stats,
            "replayMiss": self.replay_miss,
            "usage": asdict(self.usage),
            "durationS": self.duration_s,
            "costUsd": self.cost_usd,
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> RunFacts:
        """Read back what `to_json` wrote."""
        return cls(
            mode=value["mode"],
            replay_stats=value["replayStats"],
            replay_miss=value["replayMiss"],
            usage=Usage(**value["usage"]),
            duration_s=value["durationS"],
            cost_usd=value.get("costUsd", 0.0),
        )
