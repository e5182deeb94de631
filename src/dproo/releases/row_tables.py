"""Tables of counts of a few columns each, and what a row looks up in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dproo.core.counts import Counts
from dproo.mechanisms.network import Family
from dproo.mechanisms.row import Row


@dataclass(frozen=True)
class RowTables:
    """The counts of some groups of columns, all of the same records.

    Attributes:
        counts: for each group of columns, the counts of their letters together; the letters of
            the last column run fastest.
        sizes: how many letters each column has.

    >>> tables = RowTables({(0, 1): Counts.of([3, 1, 0, 2])}, (2, 2))
    >>> list(tables.matching(Family(0), ())), list(tables.matching(Family(1, (0,)), (1,)))
    ([4, 2], [0, 2])
    >>> list(tables.matching(Family(0, (1,)), (1,)))
    [1, 2]
    """

    counts: Mapping[tuple[int, ...], Counts]
    sizes: Sequence[int]

    def pair(self, first: int, second: int) -> Counts:
        """Return the counts of two columns together."""
        return self.counts[first, second]

    def matching(self, family: Family, parents: Row) -> Counts:
        """Return the counts of a column among the records whose parents have these letters."""
        width = self.sizes[family.column]
        if family.columns in self.counts:
            place = 0
            for parent, letter in zip(family.parents, parents, strict=True):
                place = place * self.sizes[parent] + letter
            return self.counts[family.columns].part(place * width, width)
        if not family.parents:
            columns, counts = next(
                (columns, counts)
                for columns, counts in self.counts.items()
                if columns[0] == family.column
            )
            inner = counts.k // self.sizes[columns[0]]
            return Counts.of([part.n for part in counts.split(inner)])
        (parent,), (letter,) = family.parents, parents
        pair = self.counts[family.column, parent]
        return Counts.of([pair[at * self.sizes[parent] + letter] for at in range(width)])
