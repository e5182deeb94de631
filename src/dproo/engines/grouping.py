"""Equal cells first: in memory they are grouped, and where they are few each is looked up here.

A library groups equal cells many times faster than it maps each of them to its letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dproo.alphabet import Alphabet
from dproo.alphabet.axis import Axis, Bins
from dproo.engines.tally import Tally

if TYPE_CHECKING:
    import narwhals as nw

    Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

FEW = 1 << 20  # so many groups are brought here, and no more


def count_groups(frame: Frame, *, columns: Sequence[str], alphabet: Alphabet) -> Tally | None:
    """Count a frame in memory by groups of equal cells; nothing if they are too many.

    Text longer than every letter is cut, so that what comes here is small however long it is.
    """
    import narwhals as nw

    axes = dict(zip(columns, alphabet.axes, strict=True))
    if isinstance(frame, nw.LazyFrame) or not _groups_exactly(frame, axes):
        return None
    groups = frame.group_by(*columns).agg(nw.len().alias("records"))
    schema = groups.schema  # not that of the frame: pandas may group objects to floats
    cells = [
        nw.col(column).str.head(_longest(axis) + 1) if schema[column] == nw.String else column
        for column, axis in axes.items()
    ]
    if len(groups) > FEW:
        return None
    return Tally.of(groups.select(*cells, "records").iter_rows(), alphabet=alphabet)


def _groups_exactly(frame: Frame, axes: dict[str, Axis]) -> bool:
    """Tell whether equal cells are surely the same letter, and likely to be few."""
    import narwhals as nw

    kinds = {column: frame.schema[column] for column in axes}
    return not any(
        isinstance(axis, Bins)
        or not (kinds[column] in {nw.String, nw.Boolean} or kinds[column].is_numeric())
        for column, axis in axes.items()
    )


def _longest(axis: Axis) -> int:
    return axis.room if axis.is_read else axis.longest
