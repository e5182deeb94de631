"""Data in, counts out: one way to count any source.

:func:`prepare` checks everything that can be known before a record is read; the scan it
returns reads once. Whatever goes wrong from then on is one fixed sentence.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, cast

from dproo.alphabet import Alphabet
from dproo.core.arguments import one_of, refusal
from dproo.core.counts import Counts
from dproo.core.randomness import RandomSource
from dproo.engines.boundary import attempt
from dproo.engines.tally import Tally
from dproo.exceptions import ReleaseError

__all__ = ["Scan", "Tally", "count", "prepare"]

COUNT_FAILED = "the data could not be counted; details are withheld because they could reveal data."


@dataclass(frozen=True, kw_only=True)
class Scan:
    """A count that was checked and not begun.

    Attributes:
        engine: which engine will count, as in ``"files"``; public.
    """

    engine: str
    _read: Callable[[], Tally | Counts]

    def count(self, source: RandomSource | None = None) -> Counts:
        """Read the data once and return how many records each letter has.

        Guarantee: every record counts for exactly one letter.

        Args:
            source: of the randomness that a ``"uniform"`` policy needs.

        Raises:
            ReleaseError: it failed; the message is always the same, and holds no cause.
        """
        counts = attempt(lambda: self._counted(source))
        if counts is None:
            raise ReleaseError(COUNT_FAILED)
        return counts

    def _counted(self, source: RandomSource | None) -> Counts:
        found = self._read()
        return found.counts(source) if isinstance(found, Tally) else found


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
        raise ValueError(refusal("column", "be left out: the alphabet names its columns", column))
    columns = alphabet.columns or (() if column is None else (column,))
    if engine is not None:
        one_of("engine", engine, ["spark"])
        return _spark(data, alphabet, columns, table, master)
    if master is not None:
        raise ValueError(refusal("master", "be given with engine 'spark'", master))
    if isinstance(data, Counts | Mapping):
        return _ready(data, alphabet)
    if isinstance(data, str | os.PathLike):
        return _path(data, alphabet, columns, table)
    kind = type(data).__module__.partition(".")[0]
    if table is not None:
        return _connection(data, alphabet, columns, table)
    if kind in {"builtins", "collections", "numpy"}:
        return (_array if kind == "numpy" else _cells)(data, alphabet)
    return _frame(data, alphabet, columns)


def _ready(data: Counts | Mapping[Any, int], alphabet: Alphabet) -> Scan:
    from dproo.engines import cells  # noqa: PLC0415

    if isinstance(data, Counts):
        if data.k != alphabet.k:
            raise ValueError(f"counts must have {alphabet.k} letters, as the alphabet has.")
        return Scan(engine="counts", _read=lambda: data)
    return Scan(engine="counts", _read=lambda: cells.ready_tally(data, alphabet=alphabet))


def _cells(data: Any, alphabet: Alphabet) -> Scan:
    from dproo.engines import cells  # noqa: PLC0415

    # Any object that can be iterated is not enough: its items may be no Python values.
    is_cells = isinstance(data, Iterator | Sequence | AbstractSet | ValuesView)
    if isinstance(data, bytes | bytearray | memoryview) or not is_cells:
        raise TypeError(_unknown(data))
    return Scan(engine="cells", _read=lambda: cells.count_cells(data, alphabet=alphabet))


def _array(data: Any, alphabet: Alphabet) -> Scan:
    from dproo.engines import cells  # noqa: PLC0415

    cells.check_array(data, alphabet=alphabet)
    return Scan(
        engine="cells",
        _read=lambda: cells.count_cells(cells.array_cells(data), alphabet=alphabet),
    )


def _path(
    data: str | os.PathLike[str],
    alphabet: Alphabet,
    columns: tuple[str, ...],
    table: str | tuple[str, ...] | None,
) -> Scan:
    from dproo.engines import file_scan, files, postgresql_url  # noqa: PLC0415

    if postgresql_url.is_url(data):
        return _connection(data, alphabet, columns, table)
    found = files.open_files(files.find_files(data), columns=columns, table=table)
    return Scan(engine="files", _read=lambda: file_scan.count_files(found, alphabet=alphabet))


def _spark(
    data: Any,
    alphabet: Alphabet,
    columns: tuple[str, ...],
    table: object,
    master: str | None,
) -> Scan:
    from dproo.engines import frames, spark  # noqa: PLC0415

    if table is not None or not isinstance(data, str | os.PathLike):
        raise ValueError(
            "data must be a table's name or a path with engine 'spark', and table must be left out."
        )
    with ExitStack() as stack:
        session = stack.enter_context(spark.session_for(master))
        frame = cast("frames.Frame", frames.to_frame(spark.open_table(session, data)))
        found = frames.check_frame(frame, columns)
        held = stack.pop_all()

    def read() -> Tally:
        with held:
            return frames.count_frame(frame, columns=found, alphabet=alphabet)

    return Scan(engine="spark", _read=read)


def _connection(
    data: Any,
    alphabet: Alphabet,
    columns: tuple[str, ...],
    table: str | tuple[str, ...] | None,
) -> Scan:
    from dproo.engines import postgresql, query  # noqa: PLC0415

    if isinstance(data, str) or postgresql.is_connection(data):
        found = postgresql.open_table(data, table=table, columns=columns, alphabet=alphabet)
        return Scan(
            engine="postgresql", _read=lambda: postgresql.count_table(found, alphabet=alphabet)
        )
    if type(data).__module__.partition(".")[0] in {"duckdb", "_duckdb"}:
        name = query.table_name(table)
        relation = attempt(lambda: data.sql(f"FROM {name}"))
        if relation is None:
            raise ValueError(refusal("table", "be a table of the connection", table))
        return _frame(relation, alphabet, columns)
    raise TypeError(_unknown(data))


def _frame(data: Any, alphabet: Alphabet, columns: tuple[str, ...]) -> Scan:
    from dproo.engines import frames  # noqa: PLC0415

    frame = frames.to_frame(data)
    if frame is None:
        return _cells(data, alphabet)
    found = frames.check_frame(frame, columns)
    return Scan(
        engine="frames",
        _read=lambda: frames.count_frame(frame, columns=found, alphabet=alphabet),
    )


def _unknown(data: object) -> str:
    what = "be a list, an array, a frame, a path, a URL or counts"
    return (
        refusal("data", what, type(data).__name__)
        + " A connection needs a table; other databases can be read as frames."
    )
