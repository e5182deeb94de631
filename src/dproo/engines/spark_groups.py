"""What Spark does before cells are mapped: it groups equal ones, and joins them with the letters.

It groups equal cells many times faster than it maps each of them. A list of letters goes there
as one text and becomes a table; as a part of the query each letter would be a call of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from dproo.engines import people, sets
from dproo.engines.asked import Asked
from dproo.schema.axis import Letters

if TYPE_CHECKING:
    import narwhals as nw

    Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

# Text of another collation is not here: it groups what differs.
_GROUPED_BY_VALUE = r"string|(tiny|small|big)?int|float|double|boolean|date|decimal\(.*\)"


_CHAR = "__CHAR_VARCHAR_TYPE_STRING"  # where Spark keeps the type of text of a fixed length

COLUMNS_MAX = 60
"""Of more columns Spark cannot mark which of them a row is grouped by."""


def are_by_value(frame: Frame, columns: Sequence[str]) -> bool:
    """Tell whether Spark groups equal cells of these columns, and no others, together."""
    kinds = dict(frame.to_native().dtypes)
    return all(re.fullmatch(_GROUPED_BY_VALUE, kinds[column]) for column in columns)


def grouped(frame: Frame, columns: Sequence[str]) -> Frame:
    """Return rows that stand for equal records, and in ``records`` for how many."""
    import narwhals as nw

    if not are_by_value(frame, columns):
        return frame.select(*columns, records=nw.lit(1))
    return frame.group_by(*columns).agg(nw.len().alias("records"))


def by_sets(
    native: Any, names: Sequence[str], grouped_by: Sequence[Sequence[int]], records: str
) -> tuple[Any, list[str]]:
    """Return the groups of each set of columns, and the names of their marks.

    Args:
        native: a frame of Spark.
        names: its columns.
        grouped_by: the places of the columns of each set.
        records: the name of the column for how many records a group has.
    """
    from pyspark.sql import functions as spark  # noqa: PLC0415 - an extra

    parts = sets.parts(names)
    # Spark marks a column by a number of its own; those of a part are the bits of one.
    marks = [
        reduce(
            add,
            [
                spark.grouping(name).cast("bigint") * (1 << place)
                for place, name in enumerate(reversed(part))
            ],
        ).alias(f"mark{i}")
        for i, part in enumerate(parts)
    ]
    wanted = [[spark.col(names[place]) for place in places] for places in grouped_by]
    groups = native.groupingSets(wanted, *map(spark.col, names))
    groups = groups.agg(*marks, spark.count(spark.lit(1)).alias(records))
    return groups, [f"mark{i}" for i in range(len(parts))]


def joined(frame: Frame, text: Any, axis: Letters) -> tuple[Frame, Any]:
    """Return the frame with a column more, and that column: whether a text is a letter."""
    import narwhals as nw
    from pyspark.sql import functions as spark  # noqa: PLC0415 - an extra

    name = f"letter{len(frame.collect_schema())}"
    written = spark.lit(json.dumps(list(axis.places)))
    texts = spark.from_json(written, "array<string>", {"mode": "FAILFAST"})
    session: Any = frame.to_native().sparkSession
    letters = session.range(1).select(
        spark.explode(texts).alias("letter"), spark.lit(col=True).alias(name)
    )
    letters = nw.from_native(spark.broadcast(letters))
    found: Any = frame.with_columns(text=text)
    found = found.join(letters, how="left", left_on="text", right_on="letter")
    return found.drop("text"), nw.col(name)


# The text of an identifier that tells all its different values apart, by its type. Text of any
# collation is compared by its bytes.
_AS_TEXT = "CAST({} AS STRING)"
_IDENTIFIERS = {
    r"(string|char|varchar)\b.*": "collate({}, 'UTF8_BINARY')",
    "float|double": (
        "CASE WHEN abs(CAST({} AS DOUBLE)) < 1e38 AND floor(CAST({} AS DOUBLE)) = {}"
        " THEN CAST(CAST(CAST({} AS DOUBLE) AS DECIMAL(38, 0)) AS STRING)"
        " ELSE CAST(CAST({} AS DOUBLE) AS STRING) END"
    ),
    r"decimal\(.*\)": (
        f"CASE WHEN contains({_AS_TEXT}, '.')"
        f" THEN rtrim('.', rtrim('0', {_AS_TEXT})) ELSE {_AS_TEXT} END"
    ),
}


def told(native: Any, person: str, asked: Asked) -> Any:
    """Return a frame of Spark with the key of the person in place of the identifier."""
    from pyspark.sql import functions as spark  # noqa: PLC0415 - an extra

    place = native.columns.index(person)
    plain = native.toDF(*(f"c{i}" for i in range(len(native.columns))))
    cell, kind = f"c{place}", native.dtypes[place][1]
    is_padded = native.schema[place].metadata.get(_CHAR, kind).startswith("char(")
    told = {words: text for words, text in _IDENTIFIERS.items() if re.fullmatch(words, kind)}
    text = next(iter(told.values()), _AS_TEXT).replace("{}", cell)
    text = f"rtrim({text})" if is_padded else text
    is_missing = f"({cell} IS NULL OR {text} = '')"
    if kind in {"float", "double"}:
        is_missing = f"({cell} IS NULL OR isnan({cell}))"
    nothing = "NULL" if asked.is_each_missing else "''"
    key = (
        f"CASE WHEN {is_missing} THEN {nothing}"
        f" WHEN {text} IS NULL OR contains({text}, '{people.REPLACED}') THEN ''"
        f" WHEN octet_length({text}) <= {people.LONGEST_KEY} AND NOT startswith({text},"
        f" '{people.HASHED}') THEN {text}"
        f" ELSE concat('{people.HASHED}', sha2({text}, 256)) END"
    )
    return plain.withColumn(cell, spark.expr(key)).toDF(*native.columns)
