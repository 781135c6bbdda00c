"""Views over the tables of the history, for `regress sql`."""

from __future__ import annotations

from collections.abc import Mapping

_THRESHOLD_VIOLATIONS = """
CREATE VIEW threshold_violations AS
WITH broken AS (
    SELECT evaluation_id, NULL AS case_id, NULL AS axis, 'composite_block' AS threshold,
           composite_block AS limit_value, composite_score AS value
    FROM evaluations WHERE composite_score < composite_block
    UNION ALL
    SELECT evaluation_id, NULL, NULL, 'composite_warn', composite_warn, composite_score
    FROM evaluations WHERE composite_score < composite_warn AND composite_score >= composite_block
    UNION ALL
    SELECT evaluation_id, NULL, NULL, 'min_pass_rate', min_pass_rate, pass_rate
    FROM evaluations WHERE pass_rate < min_pass_rate
    UNION ALL
    SELECT evaluation_id, case_id, dimension, 'axis_minimum', axis_minimum, score
    FROM judge_dimensions JOIN evaluations USING (evaluation_id) WHERE score < axis_minimum
)
SELECT suite, evaluation_id, created_at, candidate_label, threshold, limit_value, value, case_id, axis
FROM broken JOIN evaluations USING (evaluation_id)
"""
"""Every score and rate that came out below what its suite's gate asks for."""

_TRENDS = """
CREATE VIEW trends AS
SELECT suite, trigger, evaluation_id, created_at, candidate_label, gate_status, cases,
       pass_rate, lag(pass_rate) OVER before AS previous_pass_rate,
       max(pass_rate) OVER last_14 AS best_pass_rate_of_14,
       max(pass_rate) OVER last_14 - pass_rate AS below_best_pass_rate,
       composite_score, lag(composite_score) OVER before AS previous_composite_score,
       max(composite_score) OVER last_14 AS best_composite_score_of_14,
       max(composite_score) OVER last_14 - composite_score AS below_best_composite_score,
       cost_usd
FROM evaluations
WINDOW before AS (PARTITION BY suite, trigger ORDER BY created_at, evaluation_id),
       last_14 AS (PARTITION BY suite, trigger ORDER BY created_at, evaluation_id ROWS 13 PRECEDING)
"""
"""Each evaluation beside the one before and the best of the last 14, of the same suite and trigger."""

_TRIAL_RATES = """
CREATE VIEW trial_rates AS
WITH counted AS (
    SELECT evaluation_id, case_id, count(*) FILTER (NOT inconclusive AND status <> 'fail') AS passed,
           count(*) FILTER (NOT inconclusive) AS trials
    FROM case_results GROUP BY ALL
)
SELECT e.suite, e.trigger, evaluation_id, e.created_at, e.candidate_label, case_id, c.passed, c.trials,
       c.passed / nullif(c.trials, 0) AS pass_rate, 0 < c.passed AND c.passed < c.trials AS flaky
FROM counted c JOIN evaluations e USING (evaluation_id)
"""
"""How often each case of an evaluation passed in its conclusive trials, and whether it came out both ways."""

_BY_K = """
CREATE VIEW pass_k AS
SELECT suite, trigger, evaluation_id, created_at, candidate_label, k, count(*) AS cases,
       avg(list_product(list_transform(range(k), lambda i: (passed - i) / (trials - i)))) AS pass_hat_k,
       1 - avg(list_product(list_transform(range(k), lambda i: (trials - passed - i) / (trials - i))))
       AS pass_at_k
FROM trial_rates, unnest(range(1, 11)) AS ks(k)
WHERE k <= trials
GROUP BY ALL
"""
"""By k, the chance that k trials of a case all pass, and that any does: the mean over cases with so many."""

_FLAKINESS = """
CREATE VIEW flakiness AS
WITH steps AS (
    SELECT *, lag(passed = trials) OVER before <> (passed = trials) AS flipped
    FROM trial_rates WHERE trials > 0
    WINDOW before AS (PARTITION BY suite, trigger, case_id ORDER BY created_at, evaluation_id)
)
SELECT suite, case_id, count(*) AS evaluations, sum(trials)::BIGINT AS trials,
       sum(passed)::BIGINT AS passed, sum(passed) / sum(trials) AS pass_rate,
       count(*) FILTER (flaky) AS flaky_evaluations,
       count(*) FILTER (flipped) AS flips,
       count(*) FILTER (flipped) / nullif(count(flipped), 0) AS flip_rate
FROM steps GROUP BY suite, case_id
"""
"""How steady each case of a suite is over its evaluations. A flip is one that passed all trials after one
of the same trigger that did not, or the other way."""

_PAIRED = """
CREATE VIEW paired_evaluations AS
WITH steps AS (
    SELECT evaluation_id, lag(evaluation_id) OVER before AS previous_id
    FROM evaluations
    WINDOW before AS (PARTITION BY suite, trigger ORDER BY created_at, evaluation_id)
), pairs AS (
    SELECT now.suite, now.trigger, now.evaluation_id, previous_id, now.created_at, now.candidate_label,
           count(*) AS cases,
           count(*) FILTER (before.passed = before.trials AND now.passed < now.trials) AS regressed,
           count(*) FILTER (before.passed < before.trials AND now.passed = now.trials) AS fixed
    FROM steps
    JOIN trial_rates now USING (evaluation_id)
    JOIN trial_rates before ON before.evaluation_id = previous_id AND before.case_id = now.case_id
    WHERE now.trials > 0 AND before.trials > 0
    GROUP BY ALL
)
SELECT *, (regressed - fixed) / cases AS drop,
       least(1, 2 * list_sum(list_transform(range(least(regressed, fixed) + 1), lambda i:
           exp(lgamma(regressed + fixed + 1) - lgamma(i + 1) - lgamma(regressed + fixed - i + 1)
               - (regressed + fixed) * ln(2))))) AS p_value,
       CASE WHEN cases >= 6 THEN 6 / cases END AS smallest_drop
FROM pairs
"""
"""Each evaluation beside the one before of the same suite and trigger, on the cases of both: McNemar's exact
test, and the smallest drop that it can call significant at level 0.05, which is six cases."""

VIEWS: Mapping[str, str] = {
    "threshold_violations": _THRESHOLD_VIOLATIONS,
    "trends": _TRENDS,
    "trial_rates": _TRIAL_RATES,
    "pass_k": _BY_K,
    "flakiness": _FLAKINESS,
    "paired_evaluations": _PAIRED,
}
"""By name, the statement that makes each; one may use those before it."""
