"""Importers: from logs and run records of other systems to run records of ours."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from regress_core.records.importers.aioc import import_aioc
from regress_core.records.importers.base import Importer
from regress_core.records.importers.chat import import_openai_chat
from regress_core.records.importers.qa_log import import_qa_log
from regress_core.records.importers.tau import import_tau

# Each importer has an options type of its own, which only its caller knows: hence Any.
IMPORTERS: Mapping[str, Importer[Any]] = MappingProxyType(
    {
        "aioc": import_aioc,
        "openai-chat": import_openai_chat,
        "qa-log": import_qa_log,
        "tau": import_tau,
    }
)
"""The formats, by the name that the `import` command calls them."""
