"""The people of a frame: DuckDB and Spark keep their records there, others are brought here.

What is kept is a frame with cells ``c0, c1, ...`` again, which is counted like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from dproo.alphabet.axis import Axis, Bins, Letters
from dproo.alphabet.open_text import OpenText
from dproo.engines import arrow, pandas, people, spark_groups
from dproo.engines.asked import Asked
from dproo.engines.duckdb_dialect import DIALECT, SOURCE, duckdb_kind
from dproo.engines.frame_cells import named_key_of, read_text
from dproo.engines.frame_columns import is_spark, renamed
from dproo.engines.query import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    import narwhals as nw

    Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]


def check_people(frame: Frame) -> None:
    """Refuse a frame whose library can neither keep the records of people nor find letters.

    Raises:
        ValueError: it is such a frame.
    """
    if frame.implementation.is_dask():
        raise ValueError(
            "person, and an open alphabet, must be used with other data than a frame of Dask."
            " Give the files or the table behind the frame, or compute it first."
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
    by_engine = _by_spark if is_spark(frame) else _by_duckdb
    return by_engine(_named(frame, columns, asked), asked), names


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

    frame, (name,) = renamed(frame, [column], [axis])
    text = named_key_of(nw.col(name), frame.collect_schema()[name], axis, None)
    groups = frame.select(text=text).group_by("text").agg(nw.len().alias("number"))
    letter = nw.when(nw.col("number") >= axis.minimum).then(nw.col("text")).otherwise(nw.lit(""))
    found: Any = groups.select(letter=letter, number="number")
    found = found.group_by("letter").agg(nw.col("number").sum())
    return cast("Iterable[tuple[Any, ...]]", found.collect().iter_rows())


def _named(frame: Frame, columns: Sequence[str], asked: Asked) -> Any:
    """Return the native frame of the person ``p`` and the keys ``k0, k1, ...`` of each record."""
    import narwhals as nw

    *_, person = columns
    frame, (*counted, who) = renamed(_told(frame, person, asked), columns, [*asked.axes, None])
    schema = frame.collect_schema()
    keys = {}
    for i, (name, axis) in enumerate(zip(counted, asked.axes, strict=True)):
        cell, is_known = nw.col(name), None
        if is_spark(frame) and isinstance(axis, Letters):
            frame, is_known = spark_groups.joined(frame, read_text(cell, schema[name], axis), axis)
        key = named_key_of(cell, schema[name], axis, is_known)
        is_nobody = (nw.col(who) == people.NOBODY).fill_null(value=False)
        keys[f"k{i}"] = nw.when(~is_nobody).then(key).otherwise(nw.lit(""))
    return frame.select(p=nw.col(who), **keys).to_native()


def _told(frame: Frame, person: str, asked: Asked) -> Frame:
    """Return the frame with the key of the person in place of the identifier."""
    import narwhals as nw

    native: Any = frame.to_native()
    if is_spark(frame):
        return cast("Frame", nw.from_native(spark_groups.told(native, person, asked)))
    place = native.columns.index(person)
    kind = str(duckdb_kind(str(native.types[place])))
    key = people.person_sql(quoted(person), kind, asked, DIALECT)
    return cast("Frame", nw.from_native(native.project(f"* REPLACE ({key} AS {quoted(person)})")))


def _by_duckdb(native: Any, asked: Asked) -> Frame:
    import narwhals as nw

    source = f"(SELECT *, 1 AS records FROM {SOURCE})"  # noqa: S608
    kept = people.kept_by_group(people.ranked(source, asked), asked)
    cells = ", ".join(people.letters_sql(asked, name="c"))
    single = f"SELECT {cells}, unnest(range(records)) AS i FROM {kept}"  # noqa: S608
    native = native.query(SOURCE, f"SELECT * EXCLUDE (i) FROM ({single})")  # noqa: S608
    return cast("Frame", nw.from_native(native))


def _by_spark(native: Any, asked: Asked) -> Frame:
    import narwhals as nw
    from pyspark.sql import Window  # noqa: PLC0415 - an extra
    from pyspark.sql import functions as spark  # noqa: PLC0415 - an extra

    keys = people.key_names(asked)
    name = spark.concat_ws(chr(people.SEPARATOR), spark.lit(asked.salt), "p", *keys)
    native = native.withColumn("h", spark.substring(spark.md5(name), 1, people.RANK))
    # Records without a person are apart from each other, so that no task has all of them.
    apart = spark.when(spark.col("p").isNull(), spark.col("h"))
    place = spark.row_number().over(Window.partitionBy("p", apart).orderBy("h"))
    native = native.withColumn("place", place)
    native = native.where(spark.col("p").isNull() | (spark.col("place") <= asked.kept))
    cells = [_cell(f"k{i}", axis).alias(f"c{i}") for i, axis in enumerate(asked.axes)]
    return cast("Frame", nw.from_native(native.select(*cells)))


def _cell(key: str, axis: Axis) -> Any:
    from pyspark.sql import functions as spark  # noqa: PLC0415 - an extra

    if not isinstance(axis, Bins):
        return spark.col(key)
    numbers = spark.array(*map(spark.lit, axis.keys))
    is_letter = spark.col(key) != ""
    # Spark takes an element of an array of numbers to be a number, even where its place is null.
    place = spark.when(is_letter, spark.col(key).cast("int") + 1).otherwise(1)
    return spark.when(is_letter, spark.element_at(numbers, place))
