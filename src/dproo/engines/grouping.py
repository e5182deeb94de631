"""Equal cells first: where they are few, the frame only groups and each group is looked up here.

A library groups equal cells many times faster than it maps each of them to its letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dproo.alphabet import Alphabet
from dproo.axis import RANGE_LIMIT, Axis, Bins, Letters
from dproo.engines.tally import Tally

if TYPE_CHECKING:
    import narwhals as nw

    Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

FEW = 1 << 20  # so many groups are brought here, and no more


def count_groups(frame: Frame, *, columns: Sequence[str], alphabet: Alphabet) -> Tally | None:
    """Count by groups of equal cells; nothing if they are many, or not surely equal.

    Text longer than every letter is cut, so that what comes here is small however long it is.
    """
    import narwhals as nw

    axes = dict(zip(columns, alphabet.axes, strict=True))
    if not _groups_exactly(frame, axes):
        return None
    groups: Any = frame.group_by(*columns).agg(nw.len().alias("records"))
    schema = groups.collect_schema()  # not that of the frame: pandas may group objects to floats
    cells = [
        nw.col(column).str.head(_longest(axis) + 1) if schema[column] == nw.String else column
        for column, axis in axes.items()
    ]
    groups = groups.select(*cells, "records").head(FEW + 1)
    if isinstance(groups, nw.LazyFrame):
        groups = groups.collect()
    return Tally.of(groups.iter_rows(), alphabet=alphabet) if len(groups) <= FEW else None


def _groups_exactly(frame: Frame, axes: dict[str, Axis]) -> bool:
    """Tell whether cells of one group are one letter, and grouping them takes little memory."""
    import narwhals as nw

    make, schema = frame.implementation, frame.collect_schema()
    is_spark = make.is_pyspark() or make.is_pyspark_connect()
    # Any other that is read as it goes would keep every cell that differs in memory.
    if isinstance(frame, nw.LazyFrame) and not is_spark:
        return False
    # To Spark text of another collation is equal though its letters differ.
    kinds: dict[str, str] = dict(frame.to_native().dtypes) if is_spark else {}
    return not any(
        isinstance(axis, Bins)
        or "collate" in kinds.get(column, "")
        or not (schema[column] in {nw.String, nw.Boolean} or schema[column].is_numeric())
        for column, axis in axes.items()
    )


def _longest(axis: Axis) -> int:
    if isinstance(axis, Letters):
        return max(map(len, axis.places))
    return len(str(-RANGE_LIMIT))
