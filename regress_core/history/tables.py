"""The history's tables: explicit Arrow schemas, so that a column has one type for ever."""

from __future__ import annotations

from typing import Literal, get_args

import pyarrow as pa

SCHEMA_VERSION = 1
"""Columns may be added under one version; a reader refuses files of a newer one."""

VERSION_KEY = b"regress.schema_version"

TableName = Literal[
    "evaluations", "baseline_records", "candidate_records", "comparisons", "judge_results", "case_results"
]
TABLE_NAMES: tuple[TableName, ...] = get_args(TableName)

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
]

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
        ]
    ),
    "baseline_records": pa.schema([*_CASE_KEYS, *_RECORD_COLUMNS]),
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
            ("equal", pa.bool_()),
            ("baseline_run_id", _TEXT),
            ("candidate_run_id", _TEXT),
            ("baseline_sha256", _TEXT),
            ("candidate_sha256", _TEXT),
            ("replay_miss", pa.bool_()),
            ("judge_verdict", _TEXT),
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
}


def keys_of(table: TableName) -> tuple[str, ...]:
    """Name the columns that identify a row, revision aside; views keep the highest revision of each."""
    if table == "evaluations":
        return ("evaluation_id",)
    trial = ("evaluation_id", "case_id", "trial")
    return (*trial, "judge") if table == "judge_results" else trial
