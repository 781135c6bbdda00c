"""What `regress accept --record` does."""

from __future__ import annotations

import hashlib
from pathlib import Path

from regress_core.errors import InputError
from regress_core.files import relative_to_working_folder
from regress_core.ids import utc_now
from regress_core.records.loading import CaseRecords, list_case_records
from regress_core.suite.accepted_records import AcceptedRecord, add_beside, replace_baseline
from regress_core.suite.config import SUITE_FILE
from regress_core.suite.loading import load_suite_config
from regress_pipeline.cli.actions.deciding import Decidable, Decision, decidable
from regress_pipeline.cli.render import say


def accept_record(decision: Decision, *, also: bool) -> None:
    """Make the candidate's record of the latest evaluation the baseline of its case, or as good as it.

    Of several trials it is the record of the one that counts.

    Args:
        decision: What is decided.
        also: Whether the baseline stays, and the record is accepted beside it.

    Raises:
        InputError: If nothing can be decided as the case stands, or its baseline is another one by now.
    """
    if decision.dimension is not None:
        raise InputError("a record is accepted as a whole", field="--dimension", remedy="leave it out")
    case = decidable(decision)
    _refuse_unjudged(case)
    trial = min(case.trials, key=lambda trial: ("fail", "warn", "pass").index(trial.status))
    candidate = case.candidates[trial.trial]
    record = f"{candidate.text.rstrip()}\n".encode()
    root = case.review.folder.root
    runs = _runs_of(case.case_id, root, also=also)
    standing = [file.path.read_bytes() for file in runs.files]
    if record in (standing if also else standing[:1]):
        what = "accepted" if also else "the baseline"
        say(f"case {case.case_id}: run {candidate.run_id} is {what} already")
        return
    if hashlib.sha256(standing[0]).hexdigest() != trial.baseline_sha256:
        message, remedy = "has changed since the evaluation", "evaluate it again with `regress run`"
        raise InputError(message, file=runs.baseline.path, case=case.case_id, remedy=remedy)
    accepted = AcceptedRecord(
        case_id=case.case_id,
        reason=case.reason,
        who=case.who,
        when=utc_now().isoformat(),
        evaluation_id=case.review.latest.evaluation_id,
        run_id=candidate.run_id,
        sha256=hashlib.sha256(record).hexdigest(),
    )
    if also:
        added = add_beside(root, runs, record, accepted)
        say(f"accepted: case {case.case_id}: run {candidate.run_id} is as good as the baseline now")
        say(f"of {case.review.shown_evaluation}")
        say(f"it is in {relative_to_working_folder(added)}")
        return
    archived = replace_baseline(root, runs, record, accepted)
    say(f"accepted: case {case.case_id}: the baseline is run {candidate.run_id} now")
    say(f"of {case.review.shown_evaluation}")
    say(f"the one before is kept in {relative_to_working_folder(archived)}")


def _refuse_unjudged(case: Decidable) -> None:
    """Refuse a run that failed a check, or that a judge should have seen and has no verdict on.

    One that the suite itself left out of the judges' sample is as good as any.
    """
    for trial in case.trials:
        if trial.failed_checks:
            raise case.refusal(f"check {trial.failed_checks[0]} failed")
        for outcome in trial.judges:
            if outcome.state != "verdict" and not outcome.intended:
                reason = f"the {outcome.judge} judge gave no verdict ({outcome.state}): {outcome.reason}"
                raise case.refusal(reason)


def _runs_of(case_id: str, root: Path, *, also: bool) -> CaseRecords:
    records = root / load_suite_config(root).records
    if also and records.is_file():
        message, remedy = "is one file, which cannot become a folder", "name the folder of the records"
        raise InputError(message, file=root / SUITE_FILE, field="$.records", remedy=remedy)
    found = next((case for case in list_case_records(records) if case.case_id == case_id), None)
    if found is None:
        raise InputError("no baseline of this case", file=records, case=case_id)
    return found
