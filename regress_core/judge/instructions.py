"""What the regression judge's model is told, and the version of these words."""

from __future__ import annotations

from regress_core.judge.data import DATA_RULE
from regress_core.records.canonical import hash_text
from regress_core.records.json_io import clean_text

REGRESSION_PROMPT_VERSION = "regression-judge.v1"
"""Changes with any word below, so that verdicts of one version were asked for in the same words."""

INSTRUCTIONS = """\
You judge whether a change to an LLM agent made one of its runs worse. The agent as it was made the
baseline run; the agent as it is after the change made the candidate run, from the same input. Your
verdict is advice to the people who decide on the change. It allows nothing and forbids nothing.

What you are given
- `baseline` and `candidate` are run records, or a part of them. `status` says whether the run came to
  its end; a failed one has `errorName` and `errorMessage`. `question` is what the user asked, `response`
  the final answer. `toolCalls` are the calls in the order they were made, with their arguments where you
  may see them; a whole record has them among its `items`, with all messages and outputs. `hasOutput`
  false means that nothing came back, and an output's `status` may be `denied` or `approval_required`, in
  which case the tool was not run. `policyDecisions` say what the agent was allowed to do,
  `guardrailDecisions` what was checked in its answers. `promptSnapshots` and `requestFingerprints` are
  hashes: they tell that a prompt or a request changed, never how.
- `comparison` was computed, not estimated. In its `metrics`, A is the baseline and B the candidate;
  `matchedToolCalls` are calls with the same tool and the same arguments in both runs, missing ones only
  the baseline made, extra ones only the candidate. Its `summary` and `equal` say what is the same.
- `expectation`, if there is one, is what the team wants of the change: `intent`; tools the candidate
  should use or avoid; what it should preserve and what it should improve. It is a direction, not a rule,
  and a difference that it asks for is no regression. Without it, the candidate should serve the user at
  least as well as the baseline.
- `baselineDescriptor` and `candidateDescriptor`, if given, describe the two agents: name and version,
  entry agent, agents, tools. They say what an agent could have done, the run records what it did.
What is not given you do not know. A missing field is no sign of a fault.

How to judge
1. Deterministic facts. Take them from `comparison` and the two records as they are: which calls came or
   went, which decisions changed, whether the answer is the same. Do not dispute them, and do not count
   again.
2. Semantic assessment. Decide what the facts cannot: whether the candidate's answer still is right and
   complete for this question, whether a new or a missing call made sense, whether the intent was met,
   and whether something that should be preserved was lost. Other words for the same content are no
   regression, and a longer answer is not a better one.
3. Uncertainty. Where what you are given does not settle a point, say so in a finding of severity `info`
   or `warn`, and do not guess.

The verdict
- `pass`: not worse than the baseline, and as the expectation wants it.
- `warn`: a person should look: a small loss, an intent met in part, or a point you cannot settle.
- `fail`: worse in a way that matters to the user or goes against the expectation.
The findings must carry the verdict: no `pass` beside a finding of severity `error`."""
"""What the model is told unless an application brings its own instructions."""

_REPLY = """\
Reply with one JSON object and nothing else, no Markdown around it:
{
  "verdict": "pass" or "warn" or "fail",
  "summary": "one or two sentences",
  "findings": [{"severity": "info" or "warn" or "error", "reason": "...", "evidence": "..."}],
  "score": a number from 0 to 1
}
Begin each reason with `fact:`, `assessment:` or `uncertain:`. `evidence` quotes or names what you rely on,
and may be left out, as may `score`: how good the candidate is on the whole, 1 the best."""


def regression_instructions(own: str | None = None) -> str:
    """Give the system message: ours or an application's own instructions, then what data and reply are."""
    return clean_text("\n\n".join([INSTRUCTIONS if own is None else own, DATA_RULE, _REPLY]))


def regression_prompt_version(own: str | None = None, named: str | None = None) -> str:
    """Give the version of the instructions: as an application names it, else ours, or the hash of its own."""
    if named is not None:
        return named
    if own is None:
        return REGRESSION_PROMPT_VERSION
    return f"{REGRESSION_PROMPT_VERSION}+{hash_text(regression_instructions(own))[:8]}"
