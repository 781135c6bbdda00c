"""Canonical JSON and its hash against the reference's."""

from __future__ import annotations

import pytest

from regress_core.records.canonical import canonical_hash, canonical_json
from tests.support.conformance import Row, row_params

_KINDS = {"{": "object", "[": "array", '"': "string", "n": "null", "t": "true", "f": "false"}


def _kind(row: Row) -> str:
    return _KINDS.get(row["canonical"][0], "number")


@pytest.mark.parametrize("row", row_params("canonical_json", _kind))
def test_the_text_is_the_references(row: Row) -> None:
    assert canonical_json(row["value"]) == row["canonical"]


@pytest.mark.parametrize("row", row_params("canonical_json", _kind))
def test_the_hash_is_the_references(row: Row) -> None:
    assert canonical_hash(row["value"]) == row["sha256"]
