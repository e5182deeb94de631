"""Several tables of counts from one query of a frame of Spark.

It groups by several sets of columns at once; of very many columns only the groups of all of them
together are asked for, and added up here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dproo.engines import spark_groups
from dproo.engines.asked import Asked
from dproo.engines.frame_cells import key_of, read_text
from dproo.engines.tally import Tally
from dproo.schema.axis import Axis, Bins, Letters

if TYPE_CHECKING:
    import narwhals as nw

    Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

_RECORDS = "records"


def count_lazy(frame: Frame, *, columns: Sequence[str], asked: Asked) -> tuple[Tally, ...]:
    """Count the records of a lazy frame by each alphabet; its source is read once.

    Args:
        frame: the frame, its columns under plain names.
        columns: the columns to count, as :class:`Asked` orders them.
        asked: the alphabets.
    """
    import narwhals as nw

    is_marked = len(columns) <= spark_groups.COLUMNS_MAX
    # Equal cells first, where they are likely to be few and surely are the same letter.
    is_first = is_marked and not any(isinstance(axis, Bins) for axis in asked.axes)
    is_first = is_first and spark_groups.are_by_value(frame, columns)
    kinds = frame.collect_schema()
    marks: list[str] = []
    if is_first:
        frame, marks = _by_sets(frame, columns, asked)
    groups, keys = _keyed(frame, columns, kinds, asked.axes, [*marks, _RECORDS] if marks else [])
    if is_marked and not is_first:
        groups, marks = _by_sets(groups, keys, asked)
    else:
        number = nw.col(_RECORDS).sum() if marks else nw.len()
        groups = groups.group_by(*marks, *keys).agg(number.alias(_RECORDS))
    found: Any = groups.select(*marks, *keys, _RECORDS)
    rows = found.collect().iter_rows()
    return (Tally.of_sets if marks else Tally.several)(rows, asked=asked)


def _keyed(
    frame: Frame, columns: Sequence[str], kinds: Any, axes: Sequence[Axis], carried: Sequence[str]
) -> tuple[Frame, list[str]]:
    """Return the keys of all cells, and what is carried along, and the names of the keys."""
    import narwhals as nw

    keys: dict[str, Any] = {}
    for i, (column, axis) in enumerate(zip(columns, axes, strict=True)):
        cell, is_known = nw.col(column), None
        if isinstance(axis, Letters):
            frame, is_known = spark_groups.joined(frame, read_text(cell, kinds[column], axis), axis)
        # Every cell outside has a key of its own, which no letter has.
        key, is_letter, outside = key_of(cell, kinds[column], replace(axis, is_open=True), is_known)
        keys[f"key{i}"] = nw.when(is_letter).then(key).otherwise(nw.lit(outside))
    return frame.select(*carried, **keys), list(keys)


def _by_sets(frame: Frame, names: Sequence[str], asked: Asked) -> tuple[Frame, list[str]]:
    """Return the groups by each set of columns, with how many records each has, and marks."""
    import narwhals as nw

    groups, marks = spark_groups.by_sets(frame.to_native(), names, asked.sets, _RECORDS)
    return nw.from_native(groups), marks
