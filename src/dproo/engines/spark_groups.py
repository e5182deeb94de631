"""What Spark does before cells are mapped: it groups equal ones, and joins them with the letters.

It groups equal cells many times faster than it maps each of them. A list of letters goes there
as one text and becomes a table; as a part of the query each letter would be a call of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dproo.alphabet.axis import Letters

if TYPE_CHECKING:
    import narwhals as nw

    Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

# Text of another collation is not here: it groups what differs.
_GROUPED_BY_VALUE = r"string|(tiny|small|big)?int|float|double|boolean|date|decimal\(.*\)"


def grouped(frame: Frame, columns: Sequence[str]) -> Frame:
    """Return rows that stand for equal records, and in ``records`` for how many."""
    import narwhals as nw

    kinds = dict(frame.to_native().dtypes)
    if not all(re.fullmatch(_GROUPED_BY_VALUE, kinds[column]) for column in columns):
        return frame.select(*columns, records=nw.lit(1))
    return frame.group_by(*columns).agg(nw.len().alias("records"))


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
