"""Frames of Spark, by expressions of narwhals.

The frame itself maps each cell to its canonical text, sets every record outside the alphabet
to one and the same key, and groups by that; what comes back is one row per seen letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, cast

from dproo.core.counts import Counts
from dproo.engines import spark_groups
from dproo.engines.asked import Asked
from dproo.engines.boundary import attempt
from dproo.engines.fit import Column, MissingColumnError, check_fit
from dproo.engines.frame_cells import key_of, read_text
from dproo.engines.frame_columns import kind_of, renamed
from dproo.engines.frame_sets import count_lazy
from dproo.engines.loading import load
from dproo.engines.open_letters import named_counts
from dproo.engines.people_frames import groups_of, kept_frame
from dproo.engines.scan import Scan
from dproo.engines.spark_quiet import quiet
from dproo.engines.tally import Tally
from dproo.schema import Alphabet
from dproo.schema.axis import Letters

if TYPE_CHECKING:
    import narwhals as nw

    Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]


def open_scan(data: Any, asked: Asked) -> Scan | None:
    """Return the scan of a frame of Spark, or None if data is no such frame.

    Raises:
        ValueError: a column is not there, or its type holds no letters.
    """
    frame = None if asked.table is not None else to_frame(data)
    if frame is None:
        return None
    found = check_frame(frame, asked.read)
    names = [column.name for column in found]
    return Scan(
        engine="frames",
        columns=tuple(found[: len(asked.axes)]),
        warnings=check_fit(found, asked.axes),
        _asked=asked,
        _read=lambda: count_frame(frame, columns=names, asked=asked),
        _rehearse=lambda: rehearse_frame(frame, columns=names, asked=asked),
    )


def to_frame(data: object) -> Frame | None:
    """Return a frame of Spark as one of narwhals, or None if data is no such frame.

    Raises:
        ValueError: narwhals is not installed.
    """
    if type(data).__module__.partition(".")[0] != "pyspark":
        return None
    nw = load("narwhals", extra="spark")
    return cast("Frame | None", attempt(lambda: nw.from_native(data)))


def check_frame(frame: Frame, columns: Sequence[str] | None) -> list[Column]:
    """Return the columns to count, an only one by itself; nothing is read.

    Args:
        frame: the frame.
        columns: their names, or nothing for all of them.

    Raises:
        ValueError: a column is not there.
    """
    native: Any = frame.to_native()
    listed = attempt(lambda: list(native.dtypes)) or []
    schema = dict(listed)
    if not schema or len(schema) < len(listed):
        raise ValueError("data must have a readable schema with columns of different names.")
    if columns is not None and not columns and len(schema) > 1:
        raise ValueError("column must be given for a table.")
    for column in columns or ():
        if column not in schema:
            raise MissingColumnError(column)
    return [
        Column(name=column, kind=kind_of(schema[column]), type_name=schema[column])
        for column in columns or schema
    ]


def count_frame(
    frame: Frame, *, columns: Sequence[str], asked: Asked
) -> tuple[Tally | Counts, ...]:
    """Count the records of a frame by each alphabet, within Spark, in one query.

    Args:
        frame: the frame.
        columns: the columns to count, and that of the person where there is one.
        asked: the alphabets.
    """
    with quiet():
        if asked.person is not None:
            frame, columns = kept_frame(frame, columns, asked)
        if asked.open_axis is not None:
            return named_counts(groups_of(frame, columns[0], asked.open_axis), asked.open_axis)
        return asked.in_batches(
            lambda batch: _listed(frame, [columns[at] for at in batch.columns], batch.asked)
        )


def rehearse_frame(frame: Frame, *, columns: Sequence[str], asked: Asked) -> None:
    """Count a frame of the same schema that has no records."""
    count_frame(frame.head(0), columns=columns, asked=asked)


def _listed(frame: Frame, columns: Sequence[str], asked: Asked) -> tuple[Tally, ...]:
    """Count by alphabets that are listed."""
    frame, names = renamed(frame, columns)
    if len(asked.alphabets) == 1:
        return (_counted(frame, names, asked.alphabets[0]),)
    return count_lazy(frame, columns=names, asked=asked)


def _counted(frame: Frame, columns: Sequence[str], alphabet: Alphabet) -> Tally:
    """Have the frame map every cell to its letter, and group by that."""
    import narwhals as nw

    schema = frame.collect_schema()
    frame = spark_groups.grouped(frame, columns)
    keys = []
    for column, axis in zip(columns, alphabet.axes, strict=True):
        cell, is_known = nw.col(column), None
        if isinstance(axis, Letters):
            frame, is_known = spark_groups.joined(
                frame, read_text(cell, schema[column], axis), axis
            )
        keys.append(key_of(cell, schema[column], axis, is_known))
    names = [f"key{i}" for i in range(len(keys))]
    closed = [
        is_letter
        for (_, is_letter, _), axis in zip(keys, alphabet.axes, strict=True)
        if not axis.is_open
    ]
    inside = reduce(and_, closed) if closed else nw.lit(value=True)
    cells: dict[str, Any] = {
        name: nw.when(inside & is_letter).then(key).otherwise(nw.lit(outside))
        for name, (key, is_letter, outside) in zip(names, keys, strict=True)
    }
    groups: Any = frame.select("records", inside=inside, **cells).group_by("inside", *names)
    groups = groups.agg(nw.col("records").sum()).collect()
    nothing = [None] * len(keys)
    return Tally.of(
        (
            (*(key if is_inside else nothing), records)
            for is_inside, *key, records in groups.iter_rows()
        ),
        alphabet=alphabet,
    )
