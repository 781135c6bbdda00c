"""What a suite says of effects: which tools write, and when two writes come to the same."""

from __future__ import annotations

import fnmatch
import glob
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, Field

from regress_core.compare.failures import says_failed
from regress_core.records.argument_rules import ArgumentRules
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.json_paths import PathStep, checked_path, parse_path
from regress_core.records.pattern_spans import Spans, pattern_spans
from regress_core.records.tool_calls import ExtractedToolCall
from regress_core.records.wire import ConfigModel


def _checked_pattern(text: str) -> str:
    pattern_spans(text)
    return text


_MOST_NAMES = 1024  # that are kept in mind; a harness has some dozens of tools

_Glob = Annotated[str, Field(min_length=1)]
_Globs = Annotated[tuple[_Glob, ...], Field(strict=False)]
_Pattern = Annotated[str, Field(min_length=1), AfterValidator(_checked_pattern)]
_Path = Annotated[str, AfterValidator(checked_path)]
_Tolerance = Annotated[float, Field(gt=0, allow_inf_nan=False)]

Tolerances = Sequence[tuple[tuple[PathStep, ...], float]]
"""By how much the numbers at some paths of a tool's arguments may differ."""


class EffectsConfig(ConfigModel):
    """The `effects` mapping of suite.yaml. Tools are named by globs, with regard to letter case.

        write: ["book_*", cancel_reservation]
        arguments: {book_reservation: {passengers: [unordered], note: ignore}}
        tolerance: {book_reservation: {total: 0.01}}
        defaults: {book_reservation: {insurance: "no"}}

    Attributes:
        write: The tools that change something outside of the conversation. With `[]` none does; without
            `effects` nobody knows, and effects are not compared.
        read: Tools that change nothing although `write` meets their names.
        idempotent: Writing tools whose call changes nothing if the same call was made before in the run.
        failed: Regular expressions (see `pattern_spans`) for outputs that say that a call failed, beyond
            those that are known by their form (see `says_failed`).
        arguments: What does not count of the arguments of writes, on top of `compare.arguments`.
        tolerance: By how much numbers may differ, by tool and argument path.
        defaults: What an argument is that a call leaves out, by tool and name, as the tool's schema says.
    """

    write: _Globs = ()
    read: _Globs = ()
    idempotent: _Globs = ()
    failed: Annotated[tuple[_Pattern, ...], Field(strict=False)] = ()
    arguments: ArgumentRules = ArgumentRules()
    tolerance: Mapping[_Glob, Mapping[_Path, _Tolerance]] = Field(
        default_factory=dict[str, Mapping[str, float]]
    )
    defaults: Mapping[_Glob, Mapping[str, Any]] = Field(default_factory=dict[str, Mapping[str, Any]])

    def writes(self, tool: str) -> bool:
        """Tell whether a tool changes something."""
        return self._write(tool) and not self._read(tool)

    def with_declared(self, effects: Mapping[str, Literal["read", "write"]]) -> EffectsConfig:
        """Add what a harness declares of its tools, by their names.

        A tool that `write` names in full writes, whatever a candidate's own descriptor says of it.
        """
        silent = {tool: effect for tool, effect in effects.items() if tool not in self.write}
        write, read = (
            [glob.escape(tool) for tool, declared in silent.items() if declared == effect]
            for effect in ("write", "read")
        )
        # Made anew: a copy would keep the patterns that this one has compiled.
        own: dict[str, Any] = dict(self)
        own.update(write=(*self.write, *write), read=(*self.read, *read))
        return EffectsConfig(**own)

    def repeats_do_nothing(self, tool: str) -> bool:
        """Tell whether the same call again changes nothing."""
        return self._idempotent(tool)

    def has_failed(self, call: ExtractedToolCall) -> bool:
        """Tell whether a call came to nothing."""
        return says_failed(call, self._failed)

    def counting(self, tool: str, arguments: JsonValue) -> JsonValue:
        """Give what counts of a call's arguments, those filled in that it leaves to their default."""
        if isinstance(arguments, dict) and self.defaults:
            given = cast("JsonObject", arguments)
            for tools, defaults in self.defaults.items():
                # Most calls leave nothing out, and are given back as they are.
                if fnmatch.fnmatchcase(tool, tools) and not defaults.keys() <= given.keys():
                    given = {**defaults, **given}
            arguments = given
        return self.arguments.apply(tool, arguments)

    def tolerances(self, tool: str) -> Tolerances:
        """Give by how much numbers of a tool's arguments may differ; of several that meet one the largest."""
        return self._tolerances(tool) if self.tolerance else ()

    @cached_property
    def _write(self) -> Callable[[str], bool]:
        return _any_of(self.write)

    @cached_property
    def _read(self) -> Callable[[str], bool]:
        return _any_of(self.read)

    @cached_property
    def _idempotent(self) -> Callable[[str], bool]:
        return _any_of(self.idempotent)

    @cached_property
    def _tolerances(self) -> Callable[[str], Tolerances]:
        @lru_cache(_MOST_NAMES)
        def about(tool: str) -> Tolerances:
            return [
                (parse_path(path), most)
                for tools, paths in self.tolerance.items()
                if fnmatch.fnmatchcase(tool, tools)
                for path, most in paths.items()
            ]

        return about

    @cached_property
    def _failed(self) -> Sequence[Spans]:
        return [pattern_spans(pattern) for pattern in self.failed]


def _any_of(globs: Sequence[str]) -> Callable[[str], bool]:
    """Give a test of whether a name meets any of some globs."""
    if not globs:
        return lambda _: False
    pattern = re.compile("|".join(fnmatch.translate(glob) for glob in globs))

    @lru_cache(_MOST_NAMES)
    def meets(name: str) -> bool:
        return pattern.match(name) is not None

    return meets
