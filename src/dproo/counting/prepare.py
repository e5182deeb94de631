"""The check before reading: the first engine that supports the data opens it.

An engine is a function of data and of what is asked, which returns the scan, or None if it does
not support this kind of data. It raises a ``ValueError`` if the data cannot be read, or a column
is missing or holds no letters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
        scan.rehearse()
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
        where: where the records are, and whose, see :class:`Asked`. A ``table`` is ``"table"`` or
            ``"schema.table"``, names with a dot in double quotes; or a tuple of unquoted names;
            or the sheet of an Excel file that has several.

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
    asked = Asked(alphabets=several, columns=tuple(columns) or tuple(named), **where)
    return _opened(data, asked)


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
