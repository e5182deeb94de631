"""The same rows in every make of data the package reads: one small function each."""

from __future__ import annotations

import csv
import json
import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from dproo.schema.cell import text_of

Source = tuple[Any, dict[str, Any]]
SOURCES: dict[str, Callable[[pa.Table, Path], Source]] = {}


def source(build: Callable[[pa.Table, Path], Source]) -> Callable[[pa.Table, Path], Source]:
    SOURCES[build.__name__] = build
    return build


@source
def cells(rows: pa.Table, _: Path) -> Source:
    return list(zip(*rows.to_pydict().values(), strict=True)), {}


@source
def generator_of_dicts(rows: pa.Table, _: Path) -> Source:
    return (row for row in rows.to_pylist()), {}


@source
def numpy_objects(rows: pa.Table, _: Path) -> Source:
    array = np.empty((rows.num_rows, rows.num_columns), dtype=object)
    for i, column in enumerate(rows.columns):
        array[:, i] = column.to_pylist()
    return array, {}


@source
def pandas_default(rows: pa.Table, _: Path) -> Source:
    column = rows["cell"]
    # Integers with nulls become floats there, and those beyond 2^53 would be other integers.
    is_wide = pa.types.is_integer(column.type) and any(
        abs(cell) > 2**53 for cell in column.to_pylist() if cell is not None
    )
    return rows.to_pandas(integer_object_nulls=is_wide), {}


@source
def pandas_objects(rows: pa.Table, _: Path) -> Source:
    return pd.DataFrame(rows.to_pydict(), dtype=object), {}


@source
def pandas_arrow(rows: pa.Table, _: Path) -> Source:
    return rows.to_pandas(types_mapper=pd.ArrowDtype), {}


@source
def pandas_nullable(rows: pa.Table, _: Path) -> Source:
    kinds = {pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int32Dtype(), pa.int8(): pd.Int8Dtype()}
    kinds |= {
        pa.uint64(): pd.UInt64Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
    kinds |= {pa.string(): pd.StringDtype("python")}
    return rows.to_pandas(types_mapper=kinds.get), {}


@source
def polars(rows: pa.Table, _: Path) -> Source:
    return pl.from_arrow(rows), {}


@source
def polars_lazy(rows: pa.Table, _: Path) -> Source:
    return pl.from_arrow(rows).lazy(), {}


@source
def arrow(rows: pa.Table, _: Path) -> Source:
    return rows, {}


@source
def arrow_in_chunks(rows: pa.Table, _: Path) -> Source:
    parts = [rows.slice(start, 7) for start in range(0, rows.num_rows, 7)]
    return pa.concat_tables([rows.slice(0, 0), *parts]).unify_dictionaries(), {}


@source
def duckdb_relation(rows: pa.Table, _: Path) -> Source:
    return duckdb.connect().from_arrow(rows), {}


@source
def duckdb_connection(rows: pa.Table, _: Path) -> Source:
    connection = duckdb.connect()
    connection.register("rows", rows)
    return connection, {"table": "rows"}


@source
def arrow_reader(rows: pa.Table, _: Path) -> Source:
    return rows.to_reader(max_chunksize=11), {}


@source
def arrow_dataset(rows: pa.Table, _: Path) -> Source:
    return ds.dataset(rows), {}


class Foreign:
    """A table of another library, which speaks the Arrow stream protocol and no more."""

    def __init__(self, rows: pa.Table) -> None:
        self.schema, self._rows = rows.schema, rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._rows.__arrow_c_stream__(requested_schema)


@source
def another_library(rows: pa.Table, _: Path) -> Source:
    return Foreign(rows), {}


def _written(cell: object) -> str:
    """Return a cell as it stands in a text file, no letter if it is none."""
    text = text_of(cell)
    if text is not None:
        return text
    if isinstance(cell, float):
        return f"{cell:.17e}" if math.isfinite(cell) else ""
    return "" if cell is None else str(cell)


def _write_csv(rows: pa.Table, path: Path, **options: Any) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n", **options)
        writer.writerow(rows.column_names)
        for row in zip(*rows.to_pydict().values(), strict=True):
            writer.writerow([_written(cell) for cell in row])


@source
def csv_file(rows: pa.Table, folder: Path) -> Source:
    _write_csv(rows, folder / "rows.csv")
    return str(folder / "rows.csv"), {}


@source
def csv_file_all_quoted(rows: pa.Table, folder: Path) -> Source:
    _write_csv(rows, folder / "quoted.csv", quoting=csv.QUOTE_ALL)
    return folder / "quoted.csv", {}


@source
def tsv_file(rows: pa.Table, folder: Path) -> Source:
    _write_csv(rows, folder / "rows.tsv", delimiter="\t")
    return folder / "rows.tsv", {}


@source
def parquet_file(rows: pa.Table, folder: Path) -> Source:
    pq.write_table(rows, folder / "rows.parquet")
    return folder / "rows.parquet", {}


@source
def parquet_glob(rows: pa.Table, folder: Path) -> Source:
    for i in range(3):
        part = rows.slice(
            i * rows.num_rows // 3, (i + 1) * rows.num_rows // 3 - i * rows.num_rows // 3
        )
        pq.write_table(part, folder / f"part-{i}.parquet")
    return str(folder / "part-*.parquet"), {}


@source
def json_lines(rows: pa.Table, folder: Path) -> Source:
    def value(cell: object) -> object:
        if isinstance(cell, float) and not math.isfinite(cell):
            return None
        if isinstance(cell, Decimal):
            return float(cell) if text_of(cell) is None else int(cell)
        return cell if cell is None or isinstance(cell, str | int | float) else str(cell)

    with (folder / "rows.jsonl").open("w", encoding="utf-8") as file:
        for row in rows.to_pylist():
            # A missing key is a null.
            fields = {name: value(cell) for name, cell in row.items() if cell is not None}
            file.write(json.dumps(fields, ensure_ascii=bool(row["table"] % 2)) + "\n")
    return folder / "rows.jsonl", {}


@source
def duckdb_file(rows: pa.Table, folder: Path) -> Source:
    path = folder / "rows.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.register("incoming", rows)
        connection.execute("CREATE TABLE rows AS SELECT * FROM incoming")
    return path, {"table": "rows"}


@source
def sqlite_file(rows: pa.Table, folder: Path) -> Source:
    """Numbers and text as they are, which is all that SQLite has; the rest as text."""

    def value(cell: object) -> object:
        if isinstance(cell, bool) or not isinstance(cell, str | int | float | None):
            return _written(cell)
        is_held = not isinstance(cell, int) or -(2**63) <= cell < 2**63
        return cell if is_held else str(cell)

    path = folder / "rows.sqlite3"
    path.unlink(missing_ok=True)
    names = ", ".join(f'"{name}"' for name in rows.column_names)
    signs = ", ".join("?" * rows.num_columns)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE rows ({names})")
        cells = (
            [value(cell) for cell in row] for row in zip(*rows.to_pydict().values(), strict=True)
        )
        connection.executemany(f"INSERT INTO rows VALUES ({signs})", cells)
    return path, {"table": "rows"}
