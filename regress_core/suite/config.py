"""suite.yaml and candidate.yaml: what may stand in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from regress_core.checks.config import CheckKeys
from regress_core.compare.effect_rules import EffectsConfig
from regress_core.compare.model import SignalName
from regress_core.compare.options import CompareOptions
from regress_core.errors import InputError
from regress_core.harness.replay.recorded_tools import ReplayMode
from regress_core.harness.replay.start import InputMode
from regress_core.judge.config import JudgeConfig, PriceConfig, Rubric
from regress_core.judge.contract import RunRegressionExpectation, Status
from regress_core.records.json_io import JsonError, JsonValue
from regress_core.records.naming import SUITE_NAME
from regress_core.records.redact import RedactConfig
from regress_core.records.wire import ConfigModel, WireModel
from regress_core.records.yaml_io import load_yaml
from regress_core.suite.nightly import ScheduleConfig, TrendConfig
from regress_core.suite.noise import TrialGate

SUITE_FILE = "suite.yaml"


class GateConfig(ConfigModel):
    """The release policy.

    Attributes:
        rules: How heavily a signal weighs that `signals` does not name: with `reference` it warns, whatever
            it is about; `recommended` looks at what has changed (see `severity`).
        signals: What a signal does to the status of a case.
        judge_clears: The signals that do nothing where the regression judge says pass.
        trials: How the trials of a case become its status.
        min_pass_rate: Share of the conclusive cases that must not fail, 0 to 1. With it, failed cases alone
            do not fail the gate while the rate holds.
        composite_warn: The composite score of the axes judge, 1 to 5, below which the gate warns.
        composite_block: The composite score below which the gate fails.
        axis_minimum: The score of a single axis below which its case fails.
        fail_on_threshold_breach: Whether the two last thresholds fail; else they warn.
        allow_manual_override: Whether overrides.jsonl may take cases out of the gate.
    """

    rules: Literal["reference", "recommended"] = "reference"
    signals: Mapping[SignalName, Status] = Field(default_factory=dict[SignalName, Status])
    judge_clears: Annotated[tuple[SignalName, ...], Field(strict=False)] = ()
    trials: TrialGate = TrialGate()
    min_pass_rate: Annotated[float, Field(ge=0, le=1)] | None = None
    composite_warn: Annotated[float, Field(ge=1, le=5)] = 3.5
    composite_block: Annotated[float, Field(ge=1, le=5)] = 3.0
    axis_minimum: Annotated[float, Field(ge=1, le=5)] = 2.0
    fail_on_threshold_breach: bool = True
    allow_manual_override: bool = True

    @model_validator(mode="after")
    def _in_order(self) -> GateConfig:
        if self.composite_block > self.composite_warn:
            raise ValueError(
                f"composite_block {self.composite_block:g} is above composite_warn {self.composite_warn:g}"
            )
        return self


GATE_PRESETS: Mapping[str, GateConfig] = {
    "reference": GateConfig(),
    "recommended": GateConfig(rules="recommended"),
}
"""Gates by name. `reference`: every signal warns, as the reference's conservative rule has it; `recommended`:
what broke fails, what only changed does not."""


def _gate_of_preset(value: JsonValue) -> JsonValue:
    if not isinstance(value, str):
        return value
    if value not in GATE_PRESETS:
        raise ValueError(
            f"no gate preset {value!r}; there is {', '.join(sorted(GATE_PRESETS))}, or give a mapping"
        )
    return GATE_PRESETS[value]


MOST_TRIALS = 1000


class CaseConfig(CheckKeys):
    """What suite.yaml says of all cases, and cases/<case>.yaml of one besides; first of all about checks.

    Attributes:
        rubric: Questions that the rubric judge answers about the candidate's run.
        tags: Words that cases are picked by.
    """

    rubric: Rubric = ()
    tags: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(strict=False)] = ()


class SuiteConfig(CaseConfig):
    """suite.yaml.

    Attributes:
        name: The suite's name; the folder's, slugged, when left out.
        records: The baseline records, relative to the suite's folder.
        baseline: The baseline's descriptor, relative to the suite's folder; judges see it.
        expectation: What the change is meant to do, inline or as the path of a file.
        mode: Where a candidate harness's tool outputs come from: `strict`, `hybrid` or `live`.
        input_mode: What a candidate harness is given: the `recorded` input, or the `question` alone.
        trials: How often a candidate harness is run on each case; the worst trial counts.
        effects: Which tools change something outside of the conversation, and when two such calls come to the
            same.
        compare: How runs are compared.
        candidate_cap_usd: What the calls of the candidate's real models may cost in one evaluation, US
            dollars; no cap by default. With one, the models' settings have to have `max_tokens`.
        candidate_price: What these models cost, where no public price is known or another one was agreed.
        judge: The judges that ask a model.
        redact: What is taken out of records before a judge sees them.
        gate: The release policy: a preset's name or a mapping.
        schedule: When the suite is evaluated unattended; never, when left out.
        trend: When a slow decline is told of.
    """

    name: Annotated[str, Field(pattern=f"^{SUITE_NAME.pattern}$")] | None = None
    records: str = "records"
    baseline: str | None = None
    expectation: RunRegressionExpectation | str | None = None
    mode: ReplayMode = "strict"
    input_mode: InputMode = "recorded"
    trials: Annotated[int, Field(ge=1, le=MOST_TRIALS)] = 1
    effects: EffectsConfig | None = None
    compare: CompareOptions = CompareOptions()
    candidate_cap_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    candidate_price: PriceConfig | None = None
    judge: JudgeConfig | None = None
    redact: RedactConfig | None = None
    gate: Annotated[GateConfig, BeforeValidator(_gate_of_preset)] = GATE_PRESETS["reference"]
    schedule: ScheduleConfig | None = None
    trend: TrendConfig = TrendConfig()

    @field_validator("compare")
    @classmethod
    def _deciding(cls, options: CompareOptions, info: ValidationInfo) -> CompareOptions:
        if options.effects is not None:
            raise ValueError("effects stand in suite.yaml beside compare, not in it")
        effects: EffectsConfig | None = info.data.get("effects")
        if effects is not None and not options.ignore_volatile:
            raise ValueError("the reference's rule (ignore_volatile: false) knows no effects")
        if not options.model_copy(update={"effects": effects}).plan().decides:
            raise ValueError("no section is left that decides, so that every case would be equal")
        return options

    @property
    def comparison(self) -> CompareOptions:
        """How runs are compared, effects among it."""
        return self.compare.model_copy(update={"effects": self.effects})


class CandidateConfig(ConfigModel):
    """candidate.yaml: records made elsewhere, or a harness to run. Paths are relative to the file.

    Attributes:
        records: The candidate's records.
        descriptor: The candidate's descriptor.
        adapter: The adapter, a `.py` file or an import path.
        model: The model in place of the agents' own, `provider:model`.
        label: What people call this candidate, `name@version`.
    """

    records: str | None = None
    descriptor: str | None = None
    adapter: str | None = None
    model: Annotated[str, Field(min_length=1)] | None = None
    label: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> CandidateConfig:
        harness = [name for name in ("descriptor", "adapter", "model") if getattr(self, name) is not None]
        if self.records is not None and harness:
            raise ValueError(f"records and {harness[0]} exclude each other")
        if self.records is None and self.descriptor is None and self.adapter is None:
            raise ValueError("names no candidate; give records, or a descriptor, an adapter or both")
        return self


Config = TypeVar("Config", bound=ConfigModel | WireModel)


def load_config(model: type[Config], path: Path) -> Config:
    """Read a YAML or JSON file into a closed model; an empty file counts as an empty mapping.

    Raises:
        InputError: If the file cannot be read or holds an unknown key or a wrong value; names file and key.
    """
    value: Any = load_yaml(path)
    return parse_config(model, {} if value is None else value, path)


def parse_config(model: type[Config], value: JsonValue, path: Path) -> Config:
    """Validate a value that came from the file `path`.

    Raises:
        InputError: As `load_config`.
    """
    try:
        return model.from_json(value)
    except JsonError as error:
        top_level = error.reason == "unknown key" and error.path.count(".") == 1
        remedy = f"known keys: {', '.join(_keys(model))}" if top_level else "mend the file"
        raise InputError(error.reason, file=path, field=error.path, remedy=remedy) from error


def _keys(model: type[ConfigModel | WireModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]
