"""The history's tables: explicit Arrow schemas, so that a column has one type for ever."""

from __future__ import annotations

from typing import Any, Literal, cast, get_args

import pyarrow as pa

SCHEMA_VERSION = 1
"""Columns may be added under one version; a reader refuses files of a newer one."""

VERSION_KEY = b"regress.schema_version"

EvaluationTable = Literal[
    "evaluations",
    "baseline_records",
    "accepted_records",
    "candidate_records",
    "comparisons",
    "check_results",
    "judge_calls",
    "judge_results",
    "judge_dimensions",
    "case_results",
]
EVALUATION_TABLES: tuple[EvaluationTable, ...] = get_args(EvaluationTable)
"""Each has a file for every revision of an evaluation."""

TableName = EvaluationTable | Literal["calibrations"]
TABLE_NAMES: tuple[TableName, ...] = (*EVALUATION_TABLES, "calibrations")

_TEXT = pa.string()
_TIME = pa.timestamp("us", tz="UTC")
_TEXTS = pa.list_(pa.string())

_EVALUATION_KEYS = [
    ("evaluation_id", _TEXT),
    ("suite", _TEXT),
    ("candidate_id", _TEXT),
    ("revision", pa.int32()),
    ("schema_version", pa.int32()),
]
_CASE_KEYS = [
    ("evaluation_id", _TEXT),
    ("suite", _TEXT),
    ("case_id", _TEXT),
    ("case_name", _TEXT),
    ("candidate_id", _TEXT),
    ("trial", pa.int32()),
    ("revision", pa.int32()),
    ("schema_version", pa.int32()),
]
_RECORD_COLUMNS = [
    ("run_id", _TEXT),
    ("run_status", _TEXT),
    ("agent_name", _TEXT),
    ("model", _TEXT),
    ("question", _TEXT),
    ("response", _TEXT),
    ("started_at", _TIME),
    ("completed_at", _TIME),
    ("sha256", _TEXT),
    ("record_json", _TEXT),
]
# How a run that was made here went; null for records made elsewhere.
_RUN_COLUMNS = [
    ("mode", _TEXT),
    ("input_source", _TEXT),
    ("recorded_tool_calls", pa.int64()),
    ("replayed_from_record", pa.int64()),
    ("missing_tool_calls", pa.int64()),
    ("live_fallback_calls", pa.int64()),
    ("input_tokens", pa.int64()),
    ("output_tokens", pa.int64()),
    ("cache_read_tokens", pa.int64()),
    ("cache_write_tokens", pa.int64()),
    ("duration_s", pa.float64()),
    ("cost_usd", pa.float64()),
]


def _with_interval(name: str) -> list[tuple[str, pa.DataType]]:
    return [(name, pa.float64()), (f"{name}_low", pa.float64()), (f"{name}_high", pa.float64())]


SCHEMAS: dict[TableName, pa.Schema] = {
    "evaluations": pa.schema(
        [
            *_EVALUATION_KEYS,
            ("candidate_label", _TEXT),
            ("plan_key", _TEXT),
            ("trigger", _TEXT),
            ("candidate_kind", _TEXT),
            ("model", _TEXT),
            ("mode", _TEXT),
            ("input_mode", _TEXT),
            ("trials", pa.int32()),
            ("from_turn", pa.int32()),
            ("status", _TEXT),
            ("gate_status", _TEXT),
            ("gate_reasons", _TEXTS),
            ("cases", pa.int64()),
            ("passed", pa.int64()),
            ("warned", pa.int64()),
            ("failed", pa.int64()),
            ("inconclusive", pa.int64()),
            ("pass_rate", pa.float64()),
            ("orphans", _TEXTS),
            ("cost_usd", pa.float64()),
            ("created_at", _TIME),
            ("finished_at", _TIME),
            ("candidate_usd", pa.float64()),
            ("judge_usd", pa.float64()),
            ("saved_by_cache_usd", pa.float64()),
            ("skipped_by_cap", pa.int64()),
            ("axes_judged", pa.int64()),
            ("composite_score", pa.float64()),
            ("composite_warn", pa.float64()),
            ("composite_block", pa.float64()),
            ("axis_minimum", pa.float64()),
            ("min_pass_rate", pa.float64()),
            ("pass_rate_low", pa.float64()),
            ("pass_rate_high", pa.float64()),
            ("smallest_drop", pa.float64()),
        ]
    ),
    "baseline_records": pa.schema([*_CASE_KEYS, *_RECORD_COLUMNS]),
    # Further accepted runs of a case; `number` counts from 2, since the baseline is the first.
    "accepted_records": pa.schema([*_CASE_KEYS, ("number", pa.int32()), *_RECORD_COLUMNS]),
    "candidate_records": pa.schema([*_CASE_KEYS, *_RECORD_COLUMNS, *_RUN_COLUMNS]),
    "comparisons": pa.schema(
        [
            *_CASE_KEYS,
            ("equal", pa.bool_()),
            ("same_final_response", pa.bool_()),
            ("same_tool_call_shape", pa.bool_()),
            ("same_policy_decisions", pa.bool_()),
            ("same_guardrail_decisions", pa.bool_()),
            ("response_length_a", pa.int64()),
            ("response_length_b", pa.int64()),
            ("tool_calls_a", pa.int64()),
            ("tool_calls_b", pa.int64()),
            ("matched_tool_calls", pa.int64()),
            ("missing_tool_calls", pa.int64()),
            ("extra_tool_calls", pa.int64()),
            ("differences", pa.int64()),
            ("different_sections", _TEXTS),
            ("comparison_json", _TEXT),
            ("accepted_sha256", _TEXT),
            ("trajectory", _TEXT),
            ("first_divergence", _TEXT),
            ("progress", pa.float64()),
            ("answer_change", _TEXT),
            ("facts_lost", pa.int64()),
            ("facts_added", pa.int64()),
            ("facts_altered", _TEXTS),
            # Null where effects are not compared; failed writes are in no other count.
            ("writes_a", pa.int64()),
            ("writes_b", pa.int64()),
            ("failed_writes_a", pa.int64()),
            ("failed_writes_b", pa.int64()),
            ("changed_writes", pa.int64()),
            ("missing_writes", pa.int64()),
            ("extra_writes", pa.int64()),
        ]
    ),
    "check_results": pa.schema(
        [
            *_CASE_KEYS,
            ("check_id", _TEXT),
            ("kind", _TEXT),
            ("outcome", _TEXT),
            ("looked_for", _TEXT),
            ("found", _TEXT),
            ("where", _TEXT),
        ]
    ),
    "judge_calls": pa.schema(
        [
            *_CASE_KEYS,
            ("call_id", pa.int64()),
            ("judge", _TEXT),
            ("number", pa.int32()),
            ("state", _TEXT),
            ("model", _TEXT),
            ("prompt_version", _TEXT),
            ("error", _TEXT),
            ("reply", _TEXT),
            ("input_tokens", pa.int64()),
            ("output_tokens", pa.int64()),
            ("cache_read_tokens", pa.int64()),
            ("cache_write_tokens", pa.int64()),
            ("reserved_usd", pa.float64()),
            ("cost_usd", pa.float64()),
            ("saved_usd", pa.float64()),
            ("asked_at", _TIME),
        ]
    ),
    "judge_results": pa.schema(
        [
            *_CASE_KEYS,
            ("judge", _TEXT),
            ("state", _TEXT),
            ("reason", _TEXT),
            ("verdict", _TEXT),
            ("summary", _TEXT),
            ("score", pa.float64()),
            ("findings", pa.int64()),
            ("judge_model", _TEXT),
            ("judge_prompt_version", _TEXT),
            ("advisory", pa.bool_()),
            ("result_json", _TEXT),
            ("input_mode", _TEXT),
            ("expectation_json", _TEXT),
            ("expectation_sha256", _TEXT),
            ("evidence_sha256", _TEXT),
            ("flags", _TEXTS),
            ("cached", pa.bool_()),
            ("calls", pa.int32()),
            ("cost_usd", pa.float64()),
            ("trouble_kind", _TEXT),
        ]
    ),
    "judge_dimensions": pa.schema(
        [
            *_CASE_KEYS,
            ("judge", _TEXT),
            ("dimension", _TEXT),
            ("passed", pa.bool_()),
            ("score", pa.float64()),
            ("judged_score", pa.float64()),
            ("reason", _TEXT),
            ("decision", _TEXT),
            ("judge_model", _TEXT),
            ("judge_prompt_version", _TEXT),
            ("evidence_sha256", _TEXT),
        ]
    ),
    "case_results": pa.schema(
        [
            *_CASE_KEYS,
            ("candidate_label", _TEXT),
            ("status", _TEXT),
            ("inconclusive", pa.bool_()),
            ("reasons", _TEXTS),
            ("status_changed", pa.bool_()),
            ("tools_changed", pa.bool_()),
            ("policy_changed", pa.bool_()),
            ("final_output_changed", pa.bool_()),
            ("effects_changed", pa.bool_()),
            ("equal", pa.bool_()),
            ("baseline_run_id", _TEXT),
            ("candidate_run_id", _TEXT),
            ("baseline_sha256", _TEXT),
            ("candidate_sha256", _TEXT),
            ("replay_miss", pa.bool_()),
            ("judge_verdict", _TEXT),
            ("failed_checks", _TEXTS),
            ("override_owner", _TEXT),
            ("trouble_kind", _TEXT),
            ("trouble_stage", _TEXT),
            ("trouble_code", _TEXT),
            ("trouble_message", _TEXT),
            ("trouble_retryable", pa.bool_()),
            ("duration_s", pa.float64()),
            ("cost_usd", pa.float64()),
            ("finished_at", _TIME),
        ]
    ),
    # Of no evaluation and no suite: a judge is calibrated for all of them.
    "calibrations": pa.schema(
        [
            ("calibration_id", _TEXT),
            ("schema_version", pa.int32()),
            ("judge", _TEXT),
            ("model", _TEXT),
            ("prompt_version", _TEXT),
            ("source", _TEXT),
            ("rows", pa.int64()),
            ("compared", pa.int64()),
            ("true_pass", pa.int64()),
            ("false_pass", pa.int64()),
            ("false_fail", pa.int64()),
            ("true_fail", pa.int64()),
            *_with_interval("agreement"),
            *_with_interval("kappa"),
            *_with_interval("false_pass_rate"),
            *_with_interval("false_fail_rate"),
            ("calibration_json", _TEXT),
            ("created_at", _TIME),
        ]
    ),
}


def kind_of(schema: pa.Schema, column: str) -> str:
    """Give a column's type as text; Parquet calls the values of a list otherwise than Arrow does."""
    field: Any = cast("Any", schema).field(column)
    return str(field.type).replace("element:", "item:")


def keys_of(table: EvaluationTable) -> tuple[str, ...]:
    """Name the columns that identify a row, revision aside; views keep the highest revision of each."""
    if table == "evaluations":
        return ("evaluation_id",)
    return ("evaluation_id", "case_id", "trial", *_FURTHER_KEYS.get(table, ()))


_FURTHER_KEYS: dict[TableName, tuple[str, ...]] = {
    "accepted_records": ("number",),
    "check_results": ("check_id",),
    "judge_calls": ("call_id",),
    "judge_results": ("judge",),
    "judge_dimensions": ("judge", "dimension"),
}
