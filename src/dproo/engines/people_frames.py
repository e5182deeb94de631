"""The people of a frame of Spark, whose records are kept there.

What is kept is a frame with cells ``c0, c1, ...`` again, which is counted like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from dproo.engines import people, spark_groups
from dproo.engines.asked import Asked
from dproo.engines.frame_cells import named_key_of, read_text
from dproo.engines.frame_columns import renamed
from dproo.schema.axis import Axis, Bins, Letters, OpenText

if TYPE_CHECKING:
    from collections.abc import Iterable

    import narwhals as nw

    Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]


def kept_frame(frame: Frame, columns: Sequence[str], asked: Asked) -> tuple[Frame, list[str]]:
    """Return the records that are kept, and the names of their cells.

    Args:
        frame: a frame of Spark.
        columns: those to count, and that of the person last.
        asked: the letters, and how many records of a person are kept.
    """
    names = [f"c{i}" for i in range(len(asked.axes))]
    return _by_spark(_named(frame, columns, asked), asked), names


def groups_of(frame: Frame, column: str, axis: OpenText) -> Iterable[tuple[Any, ...]]:
    """Return the texts that enough records have, and their numbers."""
    import narwhals as nw

    frame, (name,) = renamed(frame, [column])
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
    told: Frame = nw.from_native(spark_groups.told(frame.to_native(), person, asked))
    frame, (*counted, who) = renamed(told, columns)
    schema = frame.collect_schema()
    keys = {}
    for i, (name, axis) in enumerate(zip(counted, asked.axes, strict=True)):
        cell, is_known = nw.col(name), None
        if isinstance(axis, Letters):
            frame, is_known = spark_groups.joined(frame, read_text(cell, schema[name], axis), axis)
        key = named_key_of(cell, schema[name], axis, is_known)
        is_nobody = (nw.col(who) == people.NOBODY).fill_null(value=False)
        keys[f"k{i}"] = nw.when(~is_nobody).then(key).otherwise(nw.lit(""))
    return frame.select(p=nw.col(who), **keys).to_native()


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
