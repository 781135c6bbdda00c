"""Telling the world of a finished evaluation: its summary is posted once to the webhook of this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from urllib.parse import urlsplit

import requests

from regress_core.evaluation.entering import planned
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.ports import Ports
from regress_core.evaluation.summary import summarize_evaluation
from regress_core.records.json_io import dumps
from regress_core.suite.contract import RunRegressionSummary

_WAITS_S = (0.0, 1.0, 4.0)
"""Before each attempt."""

_WORTH_TELLING = timedelta(days=2)
"""For so long after its evaluation was created an announcement is tried again."""

_TIME_OUT_S = 10
_TOO_MANY = 429


def announce(
    plan: EvaluationPlan, ports: Ports, summary: RunRegressionSummary, url: str, warn: Callable[[str], None]
) -> bool:
    """Post the summary of a complete evaluation, once a revision, whichever run or process completes it.

    An announcement that fails is a warning, never a failed run; it is tried again by the evaluation's next
    run, and by `announce_waiting`.

    Args:
        plan: The evaluation's plan.
        ports: The store, whose journal knows what has been announced.
        summary: The summary.
        url: Where to. It may hold a secret, so that only its host is ever told.
        warn: Takes a one-line warning.

    Returns:
        Whether it was posted now.
    """
    announcements = ports.journal.announcements()
    if not announcements.claim(plan.evaluation_id, plan.revision, ports.clock()):
        return False
    trouble = "interrupted"
    try:
        trouble = _post(plan, summary, url)
    finally:
        if trouble:
            announcements.give_back(plan.evaluation_id, plan.revision, ports.clock())
    if trouble:
        warn(f"the summary could not be posted to {urlsplit(url).hostname}: {trouble}")
        return False
    announcements.announced(plan.evaluation_id, plan.revision, ports.clock())
    return True


def announce_waiting(ports: Ports, url: str, warn: Callable[[str], None]) -> str | None:
    """Post one summary that could not be posted, or whose process was lost over it.

    Args:
        ports: The store.
        url: Where to.
        warn: Takes a one-line warning.

    Returns:
        The id of its evaluation; None if none waits, or this one could not be posted either.
    """
    now = ports.clock()
    for evaluation_id, revision in ports.journal.announcements().waiting(now):
        row = ports.journal.evaluation(evaluation_id)
        if row is None or (row.state, row.revision) != ("finished", revision):
            continue  # a newer revision tells all there is
        if row.created_at < now - _WORTH_TELLING:
            continue
        plan = planned(evaluation_id, ports.journal)
        told = announce(plan, ports, summarize_evaluation(plan, ports), url, warn)
        return evaluation_id if told else None
    return None


def _post(plan: EvaluationPlan, summary: RunRegressionSummary, url: str) -> str:
    """Post, and again where that may help; give what is wrong in the end, or nothing."""
    headers = {
        "Content-Type": "application/json",
        "Idempotency-Key": f"{plan.evaluation_id}-{plan.revision}",
        "X-Regress-Evaluation": plan.evaluation_id,
        "X-Regress-Revision": str(plan.revision),
    }
    body = dumps(summary.to_json())
    trouble = ""
    for wait_s in _WAITS_S:
        time.sleep(wait_s)
        try:
            # As a stream, so that an answer without end is not waited for.
            with requests.post(
                url, data=body, headers=headers, timeout=_TIME_OUT_S, allow_redirects=False, stream=True
            ) as response:
                status = response.status_code
        except (requests.RequestException, ValueError) as error:  # ValueError: of a host such as a..b
            trouble = type(error).__name__
            continue
        if 200 <= status < 300:
            return ""
        trouble = f"status {status}"
        if status < 500 and status != _TOO_MANY:
            break
    return trouble
