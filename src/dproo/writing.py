"""Released rows as a table: CSV, or Parquet by embedded DuckDB; every cell is text."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from dproo._check import refusal
from dproo.alphabet import Record
from dproo.engines import ReleaseError
from dproo.engines.statement import quoted

CSV, PARQUET = ".csv", ".parquet"


def require_new(out: str | os.PathLike[str]) -> Path:
    """Return the path of a table that can be written and does not exist yet."""
    path = Path(out)
    if path.suffix.lower() not in {CSV, PARQUET}:
        raise ValueError(refusal("out", "end in .csv or .parquet", str(path)))
    if path.exists() or not os.access(path.parent, os.W_OK):
        raise ValueError(refusal("out", "be a new file in a folder that exists", str(path)))
    return path


def write(values: Sequence[Record], columns: Sequence[str], path: Path) -> None:
    """Write released records to a new file.

    Raises:
        ReleaseError: it could not be written; what was released is charged all the same.
    """
    try:
        if path.suffix.lower() == PARQUET:
            _write_parquet(values, columns, path)
        else:
            with path.open("x", encoding="utf-8", newline="") as file:
                write_csv(values, columns, file)
    except Exception:  # noqa: BLE001 - whatever a library says could quote a row
        raise ReleaseError(
            f"the rows could not be written to {str(path)!r}; a ledger prints their receipt again."
        ) from None


def write_csv(values: Sequence[Record], columns: Sequence[str], file: TextIO) -> None:
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
    import duckdb

    cells = list(map(list, zip(*_rows(values, columns), strict=True)))
    picked = ", ".join(
        f"unnest(${place}::VARCHAR[]) AS {quoted(name)}"
        for place, name in enumerate(columns, start=1)
    )
    with duckdb.connect(config={"python_enable_replacements": False}) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.sql(f"SELECT {picked}", params=cells).write_parquet(str(path))
