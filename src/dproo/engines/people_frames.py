"""The people of a frame: DuckDB and Spark keep their records there, others are brought here.

What is kept is a frame with cells ``c0, c1, ...`` again, which is counted like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from dproo.alphabet.axis import Axis, Bins
from dproo.alphabet.open_text import LONGEST_OPEN, OpenText
from dproo.engines import arrow, open_letters, pandas, people
from dproo.engines.asked import Asked
from dproo.engines.duckdb_dialect import DIALECT, kind_of
from dproo.engines.frame_cells import place_of, text_of
from dproo.engines.frame_columns import is_spark, renamed
from dproo.engines.types import by_duckdb

if TYPE_CHECKING:
    from collections.abc import Iterable

    import narwhals as nw

    Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

_SOURCE = "dproo_source"


def check_people(frame: Frame) -> None:
    """Refuse a frame whose library can neither keep the records of people nor find letters.

    Raises:
        ValueError: it is such a frame.
    """
    if frame.implementation.is_dask() or frame.implementation.is_ibis():
        raise ValueError(
            "person, and an open alphabet, must be used with other data than a frame of Dask or"
            " Ibis. Give the files or the table behind the frame, or compute it first."
        )


def is_kept_there(frame: Frame) -> bool:
    """Tell whether the engine behind the frame keeps the records."""
    return frame.implementation.is_duckdb() or is_spark(frame)


def kept_frame(frame: Frame, columns: Sequence[str], asked: Asked) -> tuple[Frame, list[str]]:
    """Return the records that are kept, and the names of their cells.

    Args:
        frame: a frame of DuckDB or Spark.
        columns: those to count, and that of the person last.
        asked: the letters, and how many records of a person are kept.
    """
    names = [f"c{i}" for i in range(len(asked.axes))]
    return (_by_spark if is_spark(frame) else _by_duckdb)(frame, columns, asked), names


def rows_of(frame: Frame, columns: Sequence[str]) -> Iterable[tuple[Any, ...]]:
    """Return the rows of a frame in memory, or of a lazy one of Polars, as Python values."""
    import narwhals as nw

    native: Any = frame.to_native()
    if frame.implementation.is_pyarrow():
        return zip(*(arrow.values(native.column(column)) for column in columns), strict=True)
    if frame.implementation.is_pandas_like():
        return zip(*(pandas.values(native[column]) for column in columns), strict=True)
    frame, names = renamed(frame, columns, ())
    selected: Any = frame.select(*names)
    if isinstance(selected, nw.LazyFrame):
        selected = selected.collect()
    return zip(*(selected[name].to_list() for name in names), strict=True)


def groups_of(frame: Frame, column: str, axis: OpenText) -> Iterable[tuple[Any, ...]]:
    """Return the texts that enough records have, and their numbers, by DuckDB or Spark."""
    import narwhals as nw

    if not is_spark(frame):
        native: Any = frame.to_native()
        kind = str(native.types[native.columns.index(column)])
        cell = by_duckdb(column, kind, axis)
        query = open_letters.statement(
            f"(SELECT {cell} AS c0, 1 AS records FROM {_SOURCE})",  # noqa: S608
            kind=kind_of(column, kind),
            axis=axis,
            dialect=DIALECT,
            minimum=axis.minimum,
        )
        return cast("list[tuple[Any, ...]]", native.query(_SOURCE, query).fetchall())
    frame, (name,) = renamed(frame, [column], [axis])
    text = text_of(nw.col(name), frame.collect_schema()[name])
    text = nw.when(text.str.len_chars() <= LONGEST_OPEN).then(text).otherwise(nw.lit(""))
    groups = frame.select(text=text).group_by("text").agg(nw.len().alias("number"))
    letter = nw.when(nw.col("number") >= axis.minimum).then(nw.col("text")).otherwise(nw.lit(""))
    found: Any = groups.select(letter=letter, number="number")
    found = found.group_by("letter").agg(nw.col("number").sum())
    return cast("Iterable[tuple[Any, ...]]", found.collect().iter_rows())


def _by_duckdb(frame: Frame, columns: Sequence[str], asked: Asked) -> Frame:
    import narwhals as nw

    native: Any = frame.to_native()
    types = [str(native.types[native.columns.index(column)]) for column in columns]
    axes: list[Axis | None] = [*asked.axes, None]
    cells = ", ".join(
        f"{by_duckdb(column, kind, axis)} AS c{i}"
        for i, (column, kind, axis) in enumerate(zip(columns, types, axes, strict=True))
    )
    kinds = [kind_of(column, kind) for column, kind in zip(columns, types, strict=True)]
    source = f"(SELECT {cells}, 1 AS records FROM {_SOURCE})"  # noqa: S608
    ranked = people.ranked(source, kinds=kinds, asked=asked, dialect=DIALECT)
    kept = people.kept_by_group(ranked, asked)
    shown = ", ".join(people.cells_sql(asked))
    single = f"SELECT {shown}, unnest(range(records)) AS i FROM {kept}"  # noqa: S608
    native = native.query(_SOURCE, f"SELECT * EXCLUDE (i) FROM ({single})")  # noqa: S608
    return cast("Frame", nw.from_native(native))


def _by_spark(frame: Frame, columns: Sequence[str], asked: Asked) -> Frame:
    import narwhals as nw
    from pyspark.sql import Window  # noqa: PLC0415 - an extra
    from pyspark.sql import functions as spark  # noqa: PLC0415 - an extra

    frame, names = renamed(frame, columns, asked.axes)
    schema = frame.collect_schema()
    *counted, person = names
    keys = {
        f"k{i}": _key(nw.col(name), schema[name], axis)
        for i, (name, axis) in enumerate(zip(counted, asked.axes, strict=True))
    }
    native: Any = frame.select(p=_person(nw.col(person), schema[person]), **keys).to_native()
    name = spark.concat_ws(chr(people.SEPARATOR), spark.lit(asked.salt), "p", *keys)
    native = native.withColumn("h", spark.substring(spark.md5(name), 1, people.RANK))
    # Records without a person are apart from each other, so that no task has all of them.
    apart = spark.when(spark.col("p").isNull(), spark.col("h"))
    place = spark.row_number().over(Window.partitionBy("p", apart).orderBy("h"))
    native = native.withColumn("place", place)
    native = native.where(spark.col("p").isNull() | (spark.col("place") <= asked.kept))
    cells = [_cell(f"k{i}", axis).alias(f"c{i}") for i, axis in enumerate(asked.axes)]
    return cast("Frame", nw.from_native(native.select(*cells)))


def _person(cell: Any, dtype: Any) -> Any:
    """Return whom a cell of Spark names, null if it is missing."""
    import narwhals as nw

    text = text_of(cell, dtype)
    is_missing = cell.is_null()
    if dtype == nw.String:
        is_missing = is_missing | (text == "")
    if dtype.is_float():
        is_missing = is_missing | cell.is_nan()
    return nw.when(~is_missing).then(text.str.head(people.LONGEST_PERSON))


def _key(cell: Any, dtype: Any, axis: Axis) -> Any:
    if isinstance(axis, Bins):
        return place_of(cell, dtype, axis)
    return text_of(cell, dtype).str.head(people.longest(axis))


def _cell(key: str, axis: Axis) -> Any:
    from pyspark.sql import functions as spark  # noqa: PLC0415 - an extra

    if not isinstance(axis, Bins):
        return spark.col(key)
    edges = spark.array(*map(spark.lit, axis.edges))
    place = spark.when(spark.col(key) != "", spark.col(key).cast("int") + 1)
    return spark.element_at(edges, place)
