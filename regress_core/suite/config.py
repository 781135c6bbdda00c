"""suite.yaml and candidate.yaml: what may stand in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from regress_core.compare.model import SignalName
from regress_core.compare.options import CompareOptions
from regress_core.errors import InputError
from regress_core.harness.replay.recorded_tools import ReplayMode
from regress_core.harness.replay.start import InputMode
from regress_core.judge.contract import RunRegressionExpectation, Status
from regress_core.records.json_io import JsonError, JsonValue
from regress_core.records.naming import SUITE_NAME
from regress_core.records.wire import ConfigModel, WireModel
from regress_core.records.yaml_io import load_yaml


class GateConfig(ConfigModel):
    """The release policy.

    Attributes:
        signals: What a signal does to the status of a case; a signal that is not named warns.
        min_pass_rate: Share of the conclusive cases that must not fail, 0 to 1. With it, failed cases alone
            do not fail the gate while the rate holds.
    """

    signals: Mapping[SignalName, Status] = Field(default_factory=dict[SignalName, Status])
    min_pass_rate: Annotated[float, Field(ge=0, le=1)] | None = None


GATE_PRESETS: Mapping[str, GateConfig] = {"reference": GateConfig()}
"""Gates by name. `reference`: every signal warns, as the reference's conservative rule has it."""


def _gate_of_preset(value: JsonValue) -> JsonValue:
    if not isinstance(value, str):
        return value
    if value not in GATE_PRESETS:
        raise ValueError(
            f"no gate preset {value!r}; there is {', '.join(sorted(GATE_PRESETS))}, or give a mapping"
        )
    return GATE_PRESETS[value]


def _deciding(options: CompareOptions) -> CompareOptions:
    if not options.plan().decides:
        raise ValueError("no section is left that decides, so that every case would be equal")
    return options


MOST_TRIALS = 1000


class SuiteConfig(ConfigModel):
    """suite.yaml.

    Attributes:
        name: The suite's name; the folder's, slugged, when left out.
        records: The baseline records, relative to the suite's folder.
        baseline: The baseline's descriptor, relative to the suite's folder; judges see it.
        expectation: What the change is meant to do, inline or as the path of a file.
        mode: Where a candidate harness's tool outputs come from: `strict`, `hybrid` or `live`.
        input_mode: What a candidate harness is given: the `recorded` input, or the `question` alone.
        trials: How often a candidate harness is run on each case; the worst trial counts.
        compare: How runs are compared.
        gate: The release policy: a preset's name or a mapping.
    """

    name: Annotated[str, Field(pattern=f"^{SUITE_NAME.pattern}$")] | None = None
    records: str = "records"
    baseline: str | None = None
    expectation: RunRegressionExpectation | str | None = None
    mode: ReplayMode = "strict"
    input_mode: InputMode = "recorded"
    trials: Annotated[int, Field(ge=1, le=MOST_TRIALS)] = 1
    compare: Annotated[CompareOptions, AfterValidator(_deciding)] = CompareOptions()
    gate: Annotated[GateConfig, BeforeValidator(_gate_of_preset)] = GATE_PRESETS["reference"]


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
