"""What `regress override` does."""

from __future__ import annotations

from regress_core.errors import InputError
from regress_core.files import relative_to_working_folder
from regress_core.ids import utc_now
from regress_core.records.loading import list_case_records
from regress_core.records.naming import case_id_of
from regress_core.suite.config import SUITE_FILE
from regress_core.suite.loading import load_suite_config
from regress_core.suite.overrides import OVERRIDES_FILE, Override, append_override, end_of, load_overrides
from regress_pipeline.cli.actions.deciding import said
from regress_pipeline.cli.render import say
from regress_pipeline.settings import load_settings
from regress_pipeline.suites import find_suite


def override(suite: str, case: str, *, reason: str, owner: str, expires: str) -> None:
    """Take down that a case does not gate for a while.

    Raises:
        InputError: If the suite allows no overrides, has no such case, or an option says nothing of use.
    """
    said(reason, "--reason")
    said(owner, "--owner")
    root = find_suite(suite, load_settings()).root
    config = load_suite_config(root)
    if not config.gate.allow_manual_override:
        raise InputError("is false", file=root / SUITE_FILE, field="$.gate.allow_manual_override")
    case_id = case_id_of(case)
    if all(one.case_id != case_id for one in list_case_records(root / config.records)):
        remedy = "name a record there, without .json"
        raise InputError("no such case", file=root / config.records, case=case, remedy=remedy)
    now = utc_now()
    try:
        end = end_of(expires)
    except ValueError as error:
        raise InputError(str(error), field="--expires") from error
    if end <= now:
        raise InputError(f"{expires} has passed", field="--expires", remedy="name a day to come")
    path = root / OVERRIDES_FILE
    load_overrides(path)  # a line that is at fault would make the next evaluation fail
    append_override(
        path,
        Override(case_id=case_id, reason=reason, owner=owner, expires=expires, created_at=now.isoformat()),
    )
    say(f"case {case_id} runs and is shown, but does not gate until {end:%Y-%m-%d %H:%M}Z; owner: {owner}")
    say(f"kept in {relative_to_working_folder(path)}")
