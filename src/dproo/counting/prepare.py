"""The check before reading: the first source that supports the data opens it.

A source is one function of data and of a query. It returns the opened table, or None if it
does not support this kind of data. It raises a ``ValueError`` if the data cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Unpack

from dproo.core.checks import refusal
from dproo.core.counts import Counts
from dproo.counting import cells
from dproo.counting.boundary import refusing
from dproo.counting.fit import MissingColumnError
from dproo.counting.query import CountQuery, Where
from dproo.counting.scan import Scan
from dproo.counting.sources import arrays, file_scan, frames, spark, sqlalchemy
from dproo.counting.sources.postgresql import scan as postgresql
from dproo.counting.sources.rows import scan as row_files
from dproo.counting.table import Table
from dproo.schema import Alphabet
from dproo.schema.cell import library_of

SOURCES: tuple[Callable[[Any, CountQuery], Table | None], ...] = (
    spark.open_table,
    cells.open_counts,
    sqlalchemy.open_table,
    postgresql.open_table,
    row_files.open_table,
    file_scan.open_table,
    arrays.open_table,
    frames.open_table,
    cells.open_cells,
)
"""The sources, in the order in which they are tried."""


def count(data: Any, *, alphabet: Any, column: str | None = None, **where: Unpack[Where]) -> Counts:
    """Count any source by the letters of a public alphabet: :func:`prepare`, then read.

    An alphabet of several columns names them itself.

    >>> list(count(["a", "b", "a", None], alphabet=["a", "b"]))
    [2, 1, 1]
    """
    alphabet = Alphabet.of(alphabet)
    if alphabet.columns and column is not None:
        raise ValueError(refusal("column", "be left out: the alphabet names its columns", column))
    columns = () if column is None else (column,)
    with prepare(data, alphabets=[alphabet], columns=columns, **where) as scan:
        refusing(scan.rehearse)()
        return scan.count()


def prepare(
    data: Any,
    *,
    alphabets: Sequence[Any],
    columns: Iterable[str] = (),
    **where: Unpack[Where],
) -> Scan:
    """Check a source and the letters to count it by, and return the scan; no record is read.

    :meth:`Scan.count_several` then counts the same records by each alphabet, in one pass.

    Args:
        data: a list or iterable of cells; a NumPy array; a series or frame of pandas, Polars,
            Arrow, DuckDB, Spark or another library that supports the Arrow stream protocol; the
            path of a CSV, TSV, Parquet, JSON, Excel, SPSS, Stata, SQLite or DuckDB file, or a
            pattern of several; a ``postgresql://`` URL, a connection of psycopg or DuckDB, an
            engine or connection of SQLAlchemy; or ready counts, for one alphabet.
        alphabets: one alphabet, or several that name their columns, or anything that
            :meth:`dproo.Alphabet.of` accepts. A column has the same letters in all.
        columns: the column of an alphabet that does not name it; of others, the order of the
            cells in records that do not name them, such as tuples or the rows of an array: by
            default the order in which the alphabets first name them.
        where: where the records are, and whose, see :class:`CountQuery`. A ``table`` is
            ``"table"`` or ``"schema.table"``, names with a dot in double quotes; or a tuple of
            unquoted names; or the sheet of an Excel file that has several.

    >>> rows = [{"sex": "f", "age": 30}, {"sex": "m", "age": None}]
    >>> sex, age = {"sex": ["f", "m"]}, {"age": range(120)}
    >>> scan = prepare(iter(rows), alphabets=[sex, {**sex, **age}])
    >>> [counts.n for counts in scan.count_several()]
    [2, 2]

    Raises:
        TypeError: no engine supports this kind of data.
        ValueError: an argument is wrong, a file or column is missing, or no cell of a column
            could be a letter.
    """
    several = tuple(map(Alphabet.of, alphabets))
    if len(several) > 1 and isinstance(data, Counts | Mapping):
        raise TypeError(
            "data must be records, got ready counts. Records are counted by all alphabets at once."
        )
    named = dict.fromkeys(name for alphabet in several for name in alphabet.columns)
    return open_scan(
        data, CountQuery(alphabets=several, columns=tuple(columns) or tuple(named), **where)
    )


@refusing
def open_scan(data: Any, query: CountQuery) -> Scan:
    """Open data of any kind, and return the scan of what is asked."""
    try:
        table = open_table(data, query)
        if table is not None:
            return table.scan(query)
    except MissingColumnError as missing:
        raise (missing.of_person() if missing.column == query.person else missing) from None
    what = "be a list, an array, a frame, a path, a URL or counts"
    raise TypeError(
        refusal("data", what, type(data).__name__)
        + " A connection needs a table; other databases can be read as frames."
    )


@refusing
def open_table(data: Any, query: CountQuery) -> Table | None:
    """Return data as the first source opens it that supports it, or None."""
    if library_of(data) == "narwhals":
        data = data.to_native()
    opened = (source(data, query) for source in SOURCES)
    return next((table for table in opened if table is not None), None)
