"""The executable parts of the study helper: its tools, its policies, and how its runs are evaluated.

Both harnesses are run with it: which of the tools there are, their descriptors say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import reading_judge
import scripted_model

from regress_core import CompareOptions, RunJudge
from regress_core.harness import (
    AdapterContext,
    CaseContext,
    Policies,
    PolicyResult,
    RecordOptions,
    RunContext,
    RunOptions,
    Tool,
    ToolError,
    ToolPolicyInput,
    allow,
    compose_tool_policies,
    deny,
)
from regress_core.models import FunctionClient, ModelClient
from regress_core.records.json_io import JsonObject

AGES = {"learner-104": 10, "learner-227": 8}
"""The learners the application knows, with their ages in years."""

FACTS = {
    "photosynthesis": (
        "Plants make sugar from water and carbon dioxide, with the energy of sunlight.",
        "They take up the light with chlorophyll, the green in their leaves.",
        "They give off oxygen.",
    ),
    "gravity": (
        "Everything that has mass attracts everything else that has mass.",
        "The gravity of the Earth gives things their weight and lets them fall.",
        "On the Moon things weigh about a sixth of what they weigh on the Earth.",
    ),
}
"""What the curriculum says, by topic."""


def create_tools(_: AdapterContext) -> Mapping[str, Tool]:
    """Give the tools by the targets that the descriptors name them by."""
    facts = Tool(
        "get_topic_facts",
        "Looks up the facts of a school topic.",
        get_topic_facts,
        _an_object(topic={"type": "string", "enum": list(FACTS)}),
    )
    age_range = Tool(
        "get_age_range",
        "Looks up the age range of a learner, in years.",
        get_age_range,
        _an_object(learner_id={"type": "string"}),
    )
    return {"curriculum.get_topic_facts": facts, "learners.get_age_range": age_range}


def get_topic_facts(arguments: Any, _: RunContext) -> JsonObject:  # noqa: ANN401 - checked against the schema
    """Look up what the curriculum says about a topic."""
    return {"topic": arguments["topic"], "facts": list(FACTS[arguments["topic"]])}


def get_age_range(arguments: Any, _: RunContext) -> JsonObject:  # noqa: ANN401 - checked against the schema
    """Look up how old a learner is, give or take a year.

    Raises:
        ToolError: If there is no such learner; the model is told so.
    """
    age = AGES.get(arguments["learner_id"])
    if age is None:
        raise ToolError("There is no such learner.")
    return {"from": age - 1, "to": age + 1}


def create_run_options(_: CaseContext) -> RunOptions:
    """Give the options of a run; its context is the one that the baseline's record keeps."""
    return RunOptions(policies=POLICIES, record=RECORD)


def _own_age_only(call: ToolPolicyInput) -> PolicyResult:
    own: str = call.context.context["learner"]["id"]
    if call.parsed_arguments == {"learner_id": own}:
        return allow("own_age_range")
    return deny("age_range_of_another_learner")


POLICIES = Policies(
    tool=compose_tool_policies(
        {"get_topic_facts": lambda _: allow("public_facts"), "get_age_range": _own_age_only}
    )
)
"""What the agent may do. What is not named is denied, and a denied call ends the run, which then fails."""

RECORD = RecordOptions(include_prompt_text=True)


def create_model(_: CaseContext) -> ModelClient:
    """Give the model that answers unless `--model` names a real one."""
    return FunctionClient(scripted_model.reply)


def create_judge(_: AdapterContext) -> RunJudge:
    """Give the application's judge."""
    return reading_judge.judge


def create_comparison_options(_: AdapterContext) -> CompareOptions:
    """Report policy decisions without letting them decide.

    Every call has one, so a new tool brings a new decision; one that does not allow its call fails the run.
    """
    return CompareOptions(provenance=("policy",))


def _an_object(**properties: JsonObject) -> JsonObject:
    """Give the JSON Schema of an object that has these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
