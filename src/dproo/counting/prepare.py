"""The check before reading: the first engine that supports the data opens it.

An engine is a function of data and of what is asked, which returns the scan, or None if it does
not support this kind of data. It raises a ``ValueError`` if the data cannot be read, or a column
is missing or holds no letters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from dproo.core.checks import refusal
from dproo.core.counts import Counts
from dproo.counting import cells
from dproo.counting.asked import Asked, Where
from dproo.counting.fit import MissingColumnError
from dproo.counting.scan import Scan
from dproo.counting.sources import file_scan, frames, spark, sqlalchemy
from dproo.counting.sources.postgresql import scan as postgresql
from dproo.counting.sources.rows import scan as row_files
from dproo.schema import Alphabet

ENGINES: tuple[Callable[[Any, Asked], Scan | None], ...] = (
    spark.open_scan,
    cells.open_counts,
    sqlalchemy.open_scan,
    postgresql.open_scan,
    row_files.open_scan,
    file_scan.open_scan,
    frames.open_relation,
    frames.open_array,
    frames.open_scan,
    cells.open_scan,
)
"""The engines, in the order in which they are tried."""


def count(data: Any, *, alphabet: Any, **options: Any) -> Counts:
    """Count any source by the letters of a public alphabet: :func:`prepare`, then read.

    >>> list(count(["a", "b", "a", None], alphabet=["a", "b"]))
    [2, 1, 1]
    """
    with prepare(data, alphabet=alphabet, **options) as scan:
        scan.rehearse()
        return scan.count()


def prepare(
    data: Any,
    *,
    alphabet: Any,
    column: str | None = None,
    **where: Unpack[Where],
) -> Scan:
    """Check a source and an alphabet, and return the scan; no record is read.

    Args:
        data: a list or iterable of cells; a NumPy array; a series or frame of pandas, Polars,
            Arrow, DuckDB, Spark or another library that supports the Arrow stream protocol; the
            path of a CSV, TSV, Parquet, JSON, Excel, SPSS, Stata, SQLite or DuckDB file, or a
            pattern of several; a ``postgresql://`` URL, a connection of psycopg or DuckDB, an
            engine or connection of SQLAlchemy; or ready counts.
        alphabet: an alphabet, or anything that :meth:`dproo.Alphabet.of` accepts.
        column: the column to count; an alphabet of several columns names them itself.
        where: where the records are, and whose, see :class:`Asked`. A ``table`` is ``"table"`` or
            ``"schema.table"``, names with a dot in double quotes; or a tuple of unquoted names;
            or the sheet of an Excel file that has several.

    Raises:
        TypeError: no engine supports this kind of data.
        ValueError: an argument is wrong, a file or column is missing, or no cell of a column
            could be a letter.
    """
    alphabet = Alphabet.of(alphabet)
    if alphabet.columns and column is not None:
        raise ValueError(refusal("column", "be left out: the alphabet names its columns", column))
    columns = alphabet.columns or (() if column is None else (column,))
    return _opened(data, Asked(alphabets=(alphabet,), columns=columns, **where))


def prepare_several(
    data: Any,
    *,
    alphabets: Sequence[Any],
    columns: Sequence[str] | None = None,
    **where: Unpack[Where],
) -> Scan:
    """Check a source and several alphabets, and return the scan; no record is read.

    :meth:`Scan.count_several` then counts the same records by each alphabet, in one pass.

    Args:
        data: records, in any form that :func:`prepare` accepts; ready counts are refused.
        alphabets: one or several alphabets that name their columns, or anything with columns
            that :meth:`dproo.Alphabet.of` accepts. A column has the same letters in all.
        columns: the order of the cells in records that do not name them, such as tuples or the
            rows of an array; by default the order in which the alphabets first name them.
        where: as for :func:`prepare`.

    >>> rows = [{"sex": "f", "age": 30}, {"sex": "m", "age": None}]
    >>> sex, age = {"sex": ["f", "m"]}, {"age": range(120)}
    >>> scan = prepare_several(iter(rows), alphabets=[sex, {**sex, **age}])
    >>> [counts.n for counts in scan.count_several()]
    [2, 2]

    Raises:
        TypeError: no engine supports this kind of data.
        ValueError: an argument is wrong, or a file or column is missing.
    """
    if isinstance(alphabets, str | Mapping) or not isinstance(alphabets, Sequence):
        raise TypeError(refusal("alphabets", "be a list of alphabets", type(alphabets).__name__))
    several = tuple(map(Alphabet.of, alphabets))
    if not several or not all(alphabet.columns for alphabet in several):
        raise ValueError("alphabets must be one or more that name their columns.")
    named = tuple(dict.fromkeys(name for alphabet in several for name in alphabet.columns))
    order = named if columns is None else tuple(columns)
    if set(order) != set(named) or len(order) != len(named):
        raise ValueError(refusal("columns", f"be {', '.join(named)} in any order", list(order)))
    if isinstance(data, Counts | Mapping):
        raise TypeError(
            "data must be records, got ready counts. Records are counted by all alphabets at once."
        )
    return _opened(data, Asked(alphabets=several, columns=order, **where))


def _opened(data: Any, asked: Asked) -> Scan:
    for open_scan in ENGINES:
        try:
            scan = open_scan(data, asked)
        except MissingColumnError as missing:
            raise (missing.of_person() if missing.column == asked.person else missing) from None
        if scan is not None:
            return scan
    what = "be a list, an array, a frame, a path, a URL or counts"
    raise TypeError(
        refusal("data", what, type(data).__name__)
        + " A connection needs a table; other databases can be read as frames."
    )
