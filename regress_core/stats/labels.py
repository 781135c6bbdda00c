"""Reading the verdicts of judges with the true labels beside them; no judge is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from regress_core.errors import InputError
from regress_core.judge.question import JudgeReplyError
from regress_core.judge.replies import the_one
from regress_core.records.importers.base import SourceRow
from regress_core.records.importers.csv_rows import read_csv_rows
from regress_core.records.importers.paths import Found, find, require
from regress_core.records.importers.rows import read_rows
from regress_core.records.importers.sources import ROW_SUFFIXES, plain_name
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.stats.calibration import Gap, JudgeVersion, LabelledVerdict
from regress_core.stats.wording import Wording, word_of

_CSV = ".csv"
_MOST_WORDS = 10  # in a message
_LONGEST_WORD = 80  # of a word that no table holds; whoever names the wrong field gets texts of any length


@dataclass(frozen=True, slots=True)
class Named:
    """A name that all rows share, or the field that holds that of each; with neither there is none.

    Attributes:
        option: The option that gives the name, for errors; with `-field` after it, it gives the field.
        name: The shared name.
        path: The field.

    Raises:
        InputError: If there are both.
    """

    option: str
    name: str | None = None
    path: str | None = None

    def __post_init__(self) -> None:
        if self.name is not None and self.path is not None:
            raise InputError(f"choose one of {self.option} and {self.option}-field", field=self.option)


@dataclass(frozen=True, slots=True)
class LabelFields:
    """Where the facts of a row stand. A path is a column's name, or dotted, such as `info.label`.

    Attributes:
        verdict: The verdict. The path may go on inside a text: that is a judge's reply then, with exactly one
            JSON object that holds the rest of the path.
        verdicts: What the words of verdicts mean.
        label: The truth.
        labels: What the words of labels mean.
        id: What was judged; the file and the row without it.
        judge: Which judge.
        model: The model it asked.
        prompt_version: The version of its instructions.
    """

    verdict: str | None
    verdicts: Wording
    label: str
    labels: Wording
    id: str | None
    judge: Named
    model: Named
    prompt_version: Named


def read_labelled(source: Path, fields: LabelFields) -> list[LabelledVerdict]:
    """Read all rows of a file, or of a folder's files.

    Raises:
        InputError: If there are no rows, they cannot be read, no row has a field, or an item comes twice for
            one judge, model and prompt version. Without a verdict to read, the message counts the labels.
    """
    rows = _rows(source)
    verdict = _check_paths(source, fields, [members for _, members in rows])
    verdicts = [_labelled(row, members, fields, verdict) for row, members in rows]
    counts = Counter((labelled.version, labelled.item) for labelled in verdicts)
    repeated = next((item for (_, item), count in counts.items() if fields.id and count > 1), None)
    if repeated is not None:
        raise InputError(
            f"item {repeated} comes more than once for one judge, model and prompt version",
            file=source,
            field=f"--id {fields.id}",
            remedy="keep one row of it, or name what tells its trials apart",
        )
    return verdicts


def _rows(source: Path) -> list[tuple[SourceRow, JsonObject]]:
    rows: list[tuple[SourceRow, JsonObject]] = []
    for file in _files(source):
        for row in _read(file):
            if row.members is None:
                raise InputError("no JSON object", file=file, field=row.position, remedy="take it out")
            rows.append((row, row.members))
    if not rows:
        raise InputError("holds no rows", file=source, remedy="name a file with labels")
    return rows


def _files(source: Path) -> Sequence[Path]:
    if not source.is_dir():
        return [source]
    suffixes = (*ROW_SUFFIXES, _CSV)
    return sorted(file for file in source.iterdir() if plain_name(file.name).endswith(suffixes))


def _read(file: Path) -> Iterator[SourceRow]:
    return read_csv_rows(file) if plain_name(file.name).endswith(_CSV) else read_rows(file)


def _check_paths(source: Path, fields: LabelFields, rows: Sequence[JsonObject]) -> str:
    """Give the verdict's path, after each path was found in one row at least.

    A mistyped one would look like missing data.
    """
    names = (fields.judge, fields.model, fields.prompt_version)
    paths = [("--label", fields.label), ("--id", fields.id)]
    for option, path in [*paths, *((f"{name.option}-field", name.path) for name in names)]:
        if path is not None and all(_value(row, path) is None for row in rows):
            raise _absent(source, f"{option} {path}")
    verdict = fields.verdict
    if verdict is None:
        remedy = "name its field with --verdict"
        raise InputError(f"{_labels(rows, fields.label)}, but no verdict", file=source, remedy=remedy)
    if all(_verdict_place(row, verdict) is None for row in rows):
        raise _absent(source, f"--verdict {verdict}")
    return verdict


def _absent(source: Path, field: str) -> InputError:
    return InputError("no row has it", file=source, field=field, remedy="name a field of the rows")


def _labels(rows: Sequence[JsonObject], path: str) -> str:
    values = [value for row in rows if (value := _value(row, path)) is not None]
    counts = Counter(_short(word_of(value)) for value in values)
    listed = [f"{count} times {word}" for word, count in counts.most_common(_MOST_WORDS)]
    more = ["and others"] if len(counts) > _MOST_WORDS else []
    return f"{len(values)} labels ({', '.join([*listed, *more])})"


def _labelled(row: SourceRow, members: JsonObject, fields: LabelFields, verdict: str) -> LabelledVerdict:
    item = None if fields.id is None else _value(members, fields.id)
    version = JudgeVersion(
        *(_name(members, it) for it in (fields.judge, fields.model, fields.prompt_version))
    )
    label = _value(members, fields.label)
    actual = None if label is None else fields.labels.get(word_of(label))
    predicted, gap = _predicted(members, verdict, fields.verdicts)
    if label is None:
        gap = Gap("no label")
    elif actual is None:
        gap = Gap("unmapped label", _short(word_of(label)))
    return LabelledVerdict(
        item=f"{row.file} {row.position}" if item is None else word_of(item),
        version=version,
        predicted=predicted,
        actual=actual,
        gap=gap,
    )


def _predicted(members: JsonObject, verdict: str, wording: Wording) -> tuple[bool | None, Gap | None]:
    place = _verdict_place(members, verdict)
    if place is None:
        return None, Gap("no verdict")
    reply, path = place
    field = path.rpartition(".")[2]
    try:
        value = the_one(str(reply), lambda said: require(said, path), marks=[field]).value if path else reply
    except JudgeReplyError as error:
        return None, Gap("unreadable verdict", str(error))
    if value is None:
        return None, Gap("no verdict")
    predicted = wording.get(word_of(value))
    return predicted, Gap("unmapped verdict", _short(word_of(value))) if predicted is None else None


def _verdict_place(members: JsonObject, path: str) -> tuple[JsonValue, str] | None:
    """Give the value at a path, or the text that the path goes on in, each with the rest of the path."""
    value = _value(members, path)
    if value is not None:
        return value, ""
    steps = path.split(".")
    for count in range(len(steps) - 1, 0, -1):
        text = _value(members, ".".join(steps[:count]))
        if isinstance(text, str):
            return text, ".".join(steps[count:])
    return None


def _value(members: JsonObject, path: str) -> JsonValue:
    """Give what stands at a path, None where nothing does; a column's name may hold dots itself."""
    found = Found("$", members[path]) if path in members else find(members, path)
    return None if found is None else found.value


def _name(members: JsonObject, named: Named) -> str | None:
    if named.path is None:
        return named.name
    value = _value(members, named.path)
    return None if value is None else value if isinstance(value, str) else word_of(value)


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}…"
