"""The base of every typed value that has a JSON shape of its own."""

from __future__ import annotations

from typing import Self, cast

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path


class _JsonModel(BaseModel):
    """Reads JSON values with our errors."""

    model_config = ConfigDict(frozen=True)

    @classmethod
    def from_json(cls, value: JsonValue) -> Self:
        """Validate a JSON value.

        Raises:
            JsonError: At the first field that is missing or of the wrong kind.
        """
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise first_fault(error, value) from error


class WireModel(_JsonModel):
    """A frozen value with camelCase names in JSON, as the reference writes them.

    What is absent stays absent: `to_json` writes the fields that were set, null ones included, and no others.
    Unknown keys of loaded JSON are kept.
    """

    model_config = ConfigDict(
        extra="allow", alias_generator=to_camel, validate_by_name=True, validate_by_alias=True
    )

    def to_json(self) -> JsonObject:
        """Give the JSON object: the fields that were set, by their camelCase names."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class ConfigModel(_JsonModel):
    """A frozen part of suite.yaml or candidate.yaml: closed, snake_case, an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


def first_fault(error: ValidationError, value: JsonValue) -> JsonError:
    """Say the first thing that pydantic found in `value`, by its JSON path."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    # An unknown key says more than what is missing in its place.
    fault = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
    path = "$"
    here: JsonValue = value
    steps = fault["loc"]
    for position, step in enumerate(steps):
        if isinstance(here, dict):
            members = cast("JsonObject", here)
            if position < len(steps) - 1 and (step not in members or step == members.get("type")):
                continue  # pydantic names the chosen member of a union as a step of the path
            here = members.get(str(step))
        elif isinstance(here, list) and isinstance(step, int):
            here = cast("list[JsonValue]", here)[step]
        else:
            continue  # as above, where the value is of no member's kind
        if step != "[key]":
            path = child_path(path, step)
    reasons = {"missing": "the field is missing", "extra_forbidden": "unknown key"}
    # Pydantic speaks of Python's types; the user wrote YAML or JSON.
    message = fault["msg"].removeprefix("Value error, ").partition(" or instance of ")[0]
    message = message.replace("valid tuple", "valid list")
    return JsonError(path, reasons.get(fault["type"], message[:1].lower() + message[1:]))
