"""One column of a code book: its letters, its parents, and what becomes of cells outside."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, nextafter

from dproo.alphabet.axis import OTHER, Axis, Bins, Letter
from dproo.core.draw import RandomSource

_STEPS = 1 << 53


@dataclass(frozen=True, kw_only=True)
class Field:
    """One column of the code book.

    Attributes:
        name: the column's name in the data.
        axis: its letters; every cell outside is one more, the last one.
        parents: the columns it depends on, or None where the code book does not say.
        other: what the letter for every cell outside is called.
        kind: its type in the code book, as in ``"integer"``.
        outside: the place of the letter that every cell outside counts as, or None where such
            cells are a letter of their own.
    """

    name: str
    axis: Axis
    parents: tuple[str, ...] | None = None
    other: str = OTHER
    kind: str = "string"
    outside: int | None = None

    @property
    def size(self) -> int:
        """How many letters a row's column has."""
        return self.axis.size if self.outside is None else self.axis.listed

    def __getitem__(self, place: int) -> Letter:
        return self.other if place == self.axis.listed else self.axis.letter(place)

    def within(self, place: int, source: RandomSource) -> Letter | float:
        """Return a uniform number of the bin at this place; any other letter as it is.

        The edges are public, so the number tells no more than the bin.
        """
        if not isinstance(self.axis, Bins) or place == self.axis.listed:
            return self[place]
        low, high = self.axis.edges[place : place + 2]
        if self.kind == "integer":
            first, past = ceil(low), ceil(high)
            return first + source.below(past - first) if first < past else self[place]
        share = source.below(_STEPS) / _STEPS
        return min(low + share * (high - low), nextafter(high, low))
