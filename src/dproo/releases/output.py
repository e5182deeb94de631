"""Released rows as a table: CSV, or Parquet by embedded DuckDB; every cell is text."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from dproo.core.checks import refusal
from dproo.counting.loading import load
from dproo.counting.sql.duckdb import ROOM
from dproo.counting.sql.query import quoted
from dproo.errors import ReleaseError
from dproo.releases.charge import reprint
from dproo.releases.dataset import Dataset
from dproo.releases.request import Request
from dproo.releases.run import Release, guarded
from dproo.schema import Record

CSV, PARQUET = ".csv", ".parquet"


class Rows(Protocol):
    """What rows can be written to."""

    def write(self, row: str, /) -> object:
        """Take one row."""


def require_new(out: str | os.PathLike[str], columns: Sequence[str]) -> Path:
    """Return the path of a table that can be written and does not exist yet.

    A table without rows is written beside it and removed, so that what depends on the folder
    or on the names of the columns fails before anything is charged.
    """
    path = Path(out)
    if path.suffix.lower() not in {CSV, PARQUET}:
        raise ValueError(refusal("out", "end in .csv or .parquet", str(path)))
    if os.path.lexists(path) or not os.access(path.parent, os.W_OK):
        raise ValueError(refusal("out", "be a new file in a folder that exists", str(path)))
    try:
        with TemporaryDirectory(dir=path.parent, prefix=".dproo-") as folder:
            _write([], columns, Path(folder) / path.name)
    except Exception:  # noqa: BLE001 - of which kind depends on the library
        raise ValueError(
            refusal("out", "be a file that can hold these columns", str(path))
        ) from None
    return path


def release_to(out: str | os.PathLike[str], dataset: Dataset, request: Request) -> Release:
    """Release records and write them to a new file, ``.csv`` or ``.parquet``.

    Raises:
        ValueError: the file cannot be written; nothing was charged.
        ReleaseError: it failed after the charge; the message says where the release is kept.
    """
    columns = request.columns or ("value",)
    path = require_new(out, columns)
    made = dataset.release(request)
    kept = reprint(made.receipt, dataset.charge.address)
    guarded(lambda: write(made.values, columns, path), kept=kept)
    return made


def write(values: Sequence[Record], columns: Sequence[str], path: Path) -> None:
    """Write released records to a new file, or leave none.

    Raises:
        ReleaseError: it could not be written; what was released is charged all the same.
    """
    is_written = is_taken = os.path.lexists(path)  # made since it was looked for: not ours
    try:
        if not is_taken:
            _write(values, columns, path)
            is_written = True
    except Exception:  # noqa: BLE001 - whatever a library says could quote a row
        is_taken = True
    finally:
        if not is_written:
            path.unlink(missing_ok=True)
    if is_taken:
        raise ReleaseError(f"the rows could not be written to {str(path)!r}.")


def _write(values: Sequence[Record], columns: Sequence[str], path: Path) -> None:
    if path.suffix.lower() == PARQUET:
        _write_parquet(values, columns, path)
    else:
        with path.open("x", encoding="utf-8", newline="") as file:
            write_csv(values, columns, file)


def write_csv(values: Sequence[Record], columns: Sequence[str], file: Rows) -> None:
    """Write a header and one line for each record."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(_rows(values, columns))


def _rows(values: Sequence[Record], columns: Sequence[str]) -> Iterator[list[str]]:
    """Yield the cells of each record; the extra letter stands in every column."""
    for value in values:
        if isinstance(value, dict):
            yield [str(value[column]) for column in columns]
        else:
            yield [str(value)] * len(columns)


def _write_parquet(values: Sequence[Record], columns: Sequence[str], path: Path) -> None:
    duckdb = load("duckdb", room=ROOM)
    cells = list(map(list, zip(*_rows(values, columns), strict=True))) or [[] for _ in columns]
    picked = ", ".join(
        f"unnest(${place}::VARCHAR[]) AS {quoted(name)}"
        for place, name in enumerate(columns, start=1)
    )
    with duckdb.connect(config={"python_enable_replacements": False}) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.sql(f"SELECT {picked}", params=cells).write_parquet(str(path))
