"""Names that are safe as a partition key, a file name on any system, and a column value at once."""

from __future__ import annotations

import hashlib
import re

CASE_ID_LENGTH = 80

_SAFE_CASE_ID = re.compile(rf"[A-Za-z0-9_-][A-Za-z0-9._-]{{0,{CASE_ID_LENGTH - 1}}}", re.ASCII)
# Windows keeps these names for devices, with any extension: "Naming Files, Paths, and Namespaces".
_DEVICE_NAMES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.ASCII | re.IGNORECASE)
SUITE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)
"""What a suite may be called; it is a Dagster asset prefix, a folder of the history and a column value."""

_FOLDERS_WITHOUT_A_NAME = frozenset({"records", "runrecords", "baseline", "candidate"})


def case_id_of(name: str) -> str:
    """Give the id of the case with this name.

    It is the name itself where that is safe everywhere: `[A-Za-z0-9._-]`, 1 to 80 characters, no leading or
    trailing full stop, no `...` (Dagster's mark for a range), no device name. Otherwise it is a slug of the
    name plus 8 hexadecimal digits of its SHA-256, so that different names get different ids (a name that
    looks like another's slug and digits aside, which loading refuses as a twin).
    """
    safe = _SAFE_CASE_ID.fullmatch(name) and not name.endswith(".") and "..." not in name
    if safe and not _DEVICE_NAMES.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    slug = _slug(name, r"[^A-Za-z0-9]+")[: CASE_ID_LENGTH - 9].rstrip("-")
    return f"{slug or 'case'}-{digest}"


def suite_name_of(folder_names: list[str]) -> str:
    """Slug a suite's default name from a path's folder names, nearest last.

    Folders called records, runrecords, baseline or candidate say what lies in them, not what suite it is.
    """
    for folder in reversed(folder_names):
        slug = _slug(folder.lower(), r"[^a-z0-9_]+")[:64].strip("-_")
        if not is_folder_without_a_name(folder) and slug:
            return slug
    return "suite"


def is_folder_without_a_name(folder: str) -> bool:
    """Tell whether a folder's name says what lies in it, so that it names neither suite nor case."""
    return folder.lower() in _FOLDERS_WITHOUT_A_NAME


def case_name_of_file(file_name: str) -> str:
    """Give the case name of a record file: its name without `.json` and without `.runrecord`."""
    return file_name.removesuffix(".json").removesuffix(".runrecord")


def _slug(text: str, separators: str) -> str:
    return re.sub(separators, "-", text).strip("-")
