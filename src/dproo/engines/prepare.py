"""The check before reading: the first engine that knows the data opens them.

An engine is a module with ``open_scan(data, asked)``, which returns the scan, or nothing if
the data are of another kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dproo.alphabet import Alphabet
from dproo.core.arguments import one_of, refusal
from dproo.core.counts import Counts
from dproo.engines import (
    arrays,
    cells,
    duckdb_table,
    file_scan,
    frames,
    postgresql,
    ready,
    spark,
)
from dproo.engines.asked import Asked
from dproo.engines.scan import Scan

ENGINES: tuple[Callable[[Any, Asked], Scan | None], ...] = (
    spark.open_scan,
    ready.open_scan,
    postgresql.open_scan,
    file_scan.open_scan,
    duckdb_table.open_scan,
    arrays.open_scan,
    frames.open_scan,
    cells.open_scan,
)
"""The engines, in the order in which they are asked."""


def count(
    data: Any,
    *,
    alphabet: Any,
    column: str | None = None,
    table: str | tuple[str, ...] | None = None,
    engine: str | None = None,
    master: str | None = None,
) -> Counts:
    """Count any source by the letters of a public alphabet: :func:`prepare`, then read.

    >>> list(count(["a", "b", "a", None], alphabet=["a", "b"]))
    [2, 1, 1]
    """
    scan = prepare(
        data, alphabet=alphabet, column=column, table=table, engine=engine, master=master
    )
    return scan.count()


def prepare(
    data: Any,
    *,
    alphabet: Any,
    column: str | None = None,
    table: str | tuple[str, ...] | None = None,
    engine: str | None = None,
    master: str | None = None,
) -> Scan:
    """Check a source and an alphabet, and return the scan; no record is read.

    Args:
        data: a list or iterable of cells; a NumPy array; a series or frame of pandas, Polars,
            Arrow, DuckDB, Dask, Ibis or Spark; the path of a CSV, TSV, Parquet, JSON lines or
            DuckDB file, or a pattern of several; a ``postgresql://`` URL or a connection of
            psycopg or DuckDB; or ready counts.
        alphabet: an alphabet, or anything that :meth:`dproo.Alphabet.of` takes.
        column: the column to count; an alphabet of several columns names them itself.
        table: the table of a database, or of a DuckDB file: ``"table"`` or ``"schema.table"``,
            names with a dot in double quotes; or a tuple of names as they are.
        engine: ``"spark"`` to have Spark read ``data``, a table's name or Parquet files.
        master: the cluster that Spark runs on, by default this machine.

    Raises:
        TypeError: no engine knows this kind of data.
        ValueError: an argument is wrong, a file or column is not there.
    """
    alphabet = Alphabet.of(alphabet)
    if alphabet.columns and column is not None:
        raise ValueError(refusal("column", "be left out, the alphabet names its own", column))
    columns = alphabet.columns or (() if column is None else (column,))
    return _opened(
        data, Asked(alphabet=alphabet, columns=columns, table=table, engine=engine, master=master)
    )


def _opened(data: Any, asked: Asked) -> Scan:
    if asked.engine is not None:
        one_of("engine", asked.engine, ["spark"])
    elif asked.master is not None:
        raise ValueError(refusal("master", "be given with engine 'spark'", asked.master))
    for open_scan in ENGINES:
        scan = open_scan(data, asked)
        if scan is not None:
            return scan
    what = "be a list, an array, a frame, a path, a URL or counts"
    raise TypeError(
        refusal("data", what, type(data).__name__)
        + " A connection needs a table; other databases can be read as frames."
    )
