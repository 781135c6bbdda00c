"""Running an agent: descriptor, adapter, agent loop, policies, recorder, replay.

These names are what adapters are written with; the sub-packages have the rest.
"""

from regress_core.harness.adapter.adapter import AdapterContext, CaseContext
from regress_core.harness.adapter.agent_tools import AgentTools
from regress_core.harness.adapter.own_agent import AgentRequest
from regress_core.harness.adapter.tool_server import serve_tools
from regress_core.harness.agent import Agent, GuardrailInput, GuardrailResult, Handoff, OutputGuardrail
from regress_core.harness.policy import (
    HandoffPolicyInput,
    Policies,
    PolicyResult,
    ToolPolicyInput,
    allow,
    allow_all,
    compose_handoff_policies,
    compose_tool_policies,
    deny,
    require_approval,
)
from regress_core.harness.replay.recorded_tools import MissingToolCall, MissingToolCallResolution
from regress_core.harness.run_options import RecordOptions, RunOptions
from regress_core.harness.tools import RunContext, Tool, ToolError

__all__ = [
    "AdapterContext",
    "Agent",
    "AgentRequest",
    "AgentTools",
    "CaseContext",
    "GuardrailInput",
    "GuardrailResult",
    "Handoff",
    "HandoffPolicyInput",
    "MissingToolCall",
    "MissingToolCallResolution",
    "OutputGuardrail",
    "Policies",
    "PolicyResult",
    "RecordOptions",
    "RunContext",
    "RunOptions",
    "Tool",
    "ToolError",
    "ToolPolicyInput",
    "allow",
    "allow_all",
    "compose_handoff_policies",
    "compose_tool_policies",
    "deny",
    "require_approval",
    "serve_tools",
]
