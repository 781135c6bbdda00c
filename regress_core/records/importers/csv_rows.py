"""Reading CSV files row by row, plain or gzip: the first line names the columns, and every value is text."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path

from regress_core.errors import InputError
from regress_core.records.importers.base import SourceRow
from regress_core.records.importers.sources import file_source

_MEND = "mend the file, or use JSON lines"


def read_csv_rows(file: Path) -> Iterator[SourceRow]:
    """Read the rows of a CSV file as objects of its columns. An empty cell is no value: the row lacks it.

    Raises:
        InputError: If the file cannot be read, is cut short, or is no CSV in UTF-8. Names the file and the
            line.
    """
    with file_source(file).open() as stream, TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
        cells = csv.reader(text, strict=True)
        try:
            names = next(cells, list[str]())
            if len(set(names)) < len(names):
                raise InputError("a column stands twice", file=file, field="line 1", remedy=_MEND)
            rows = (row for row in cells if row)
            for number, row in enumerate(rows, start=1):
                if len(row) != len(names):
                    message = f"{len(row)} cells, but {len(names)} columns"
                    raise InputError(message, file=file, field=f"line {cells.line_num}", remedy=_MEND)
                value = {name: cell for name, cell in zip(names, row, strict=True) if cell}
                yield SourceRow(file.name, number, value)
        except csv.Error as error:
            place = f"line {cells.line_num}"
            raise InputError(f"not CSV: {error}", file=file, field=place, remedy=_MEND) from error
        except UnicodeDecodeError as error:
            raise InputError(f"not UTF-8: {error.reason}", file=file, remedy=_MEND) from error
