"""Tables of counts of a few columns each, and what a row looks up in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from dproo.core.counts import Counts
from dproo.mechanisms.network import Family
from dproo.mechanisms.rows import Row
from dproo.schema.codebook import Field


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


def folded(counts: Counts, fields: Sequence[Field]) -> Counts:
    """Return the counts after every cell outside has become the letter that its column names.

    Args:
        counts: of the letters of these columns together, each with one for every cell outside.
        fields: the columns; one that names no letter keeps its cells outside as they are.

    >>> from dproo.schema.codebook import CodeBook
    >>> flag = {"name": "flag", "type": "boolean", "outside": False}
    >>> list(folded(Counts.of([5, 3, 2]), CodeBook.of({"schema": {"fields": [flag]}}).fields))
    [7, 3]
    """
    if all(field.outside is None for field in fields):
        return counts
    seen: Counter[int] = Counter()
    start = 0
    for count, letters in counts.runs:
        if count:
            for place in range(start, start + letters):
                seen[_folded_place(place, fields)] += count
        start += letters
    return Counts.sparse(seen, k=prod(field.size for field in fields))


def _folded_place(place: int, fields: Sequence[Field]) -> int:
    result, stride = 0, 1
    for field in reversed(fields):
        place, letter = divmod(place, field.axis.size)
        if letter == field.axis.listed and field.outside is not None:
            letter = field.outside
        result += letter * stride
        stride *= field.size
    return result
