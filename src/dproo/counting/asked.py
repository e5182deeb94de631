"""What is asked of the data, checked as far as it can be without them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TypeVar

from dproo.core.checks import refusal
from dproo.counting.layout import PLAIN, Layout
from dproo.counting.sql import sets
from dproo.schema import Alphabet
from dproo.schema.axis import Axis, OpenText

SETS_MAX = 64
"""Sets of columns that an engine groups by at once; each takes up to two MB in DuckDB."""

COLUMNS_MAX = 31
"""Columns of these sets; one mark of a row is for at most 31, and Spark has 63 in all."""

CELLS_MAX = 1 << 22
"""Cells of these sets together, unless a single set has more."""

_BLOCK = 8  # columns: the pairs between two blocks are 64

Found = TypeVar("Found")


def fresh_salt() -> str:
    """Return a salt that was never used before; nobody is told it."""
    return secrets.token_hex(8)  # longer ones make each hash take twice the time


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What to count, and where in the data it is.

    Attributes:
        alphabets: the letters; each gives one table of counts.
        columns: the columns to count; none where data of one column need not name it.
        table: the table of a database, or of a DuckDB file.
        engine: ``"spark"`` where Spark is asked for, by default the engine that knows the data.
        master: the cluster that Spark runs on.
        layout: how text files are laid out.
        person: the column that names whom a record is about, where few of a person's records
            are to be counted.
        kept: how many.
        is_each_missing: whether every record without an identifier is somebody else's; by
            default all of them are together one person.
        salt: what chance decides by which.

    Raises:
        ValueError: two alphabets give a column different letters, or the person is one of
            the columns.
    """

    alphabets: tuple[Alphabet, ...]
    columns: tuple[str, ...] = ()
    table: str | tuple[str, ...] | None = None
    engine: str | None = None
    master: str | None = None
    layout: Layout = PLAIN
    person: str | None = None
    kept: int = 1
    is_each_missing: bool = False
    salt: str = field(default_factory=fresh_salt, repr=False)

    def __post_init__(self) -> None:
        self._check_person()
        axes = self.axes
        for alphabet, places in zip(self.alphabets, self.places, strict=True):
            for place, axis in zip(places, alphabet.axes, strict=True):
                if axis != axes[place]:
                    column = self.columns[place]
                    raise ValueError(
                        refusal("alphabets", "all give a column the same letters", column)
                    )

    def _check_person(self) -> None:
        if self.person is None:
            return
        if not isinstance(self.person, str) or not self.person:
            raise TypeError("person must be the name of a column.")
        if not self.columns:
            raise ValueError("column must be given with person: it holds the possible values.")
        if self.person in self.columns:
            raise ValueError("person must be a column that is neither released nor a group.")

    @property
    def read(self) -> tuple[str, ...]:
        """The columns that are read: those to count, and that of the person last."""
        return self.columns if self.person is None else (*self.columns, self.person)

    @cached_property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """Where the columns of each alphabet are among all of them."""
        return tuple(
            tuple(map(self.columns.index, alphabet.columns)) if alphabet.columns else (0,)
            for alphabet in self.alphabets
        )

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The letters of each column."""
        found = {
            place: axis
            for alphabet, places in zip(self.alphabets, self.places, strict=True)
            for place, axis in zip(places, alphabet.axes, strict=True)
        }
        return tuple(found[place] for place in range(len(found)))

    @property
    def open_axis(self) -> OpenText | None:
        """The letters that nobody has listed, where they are asked for."""
        axis = self.axes[0]
        return axis if isinstance(axis, OpenText) else None

    @cached_property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The different sets of columns to group by, as sorted places."""
        return tuple(dict.fromkeys(tuple(sorted(places)) for places in self.places))

    @cached_property
    def marks(self) -> tuple[tuple[int, ...], ...]:
        """By which marks each alphabet knows the rows of its columns; a single one has none."""
        if len(self.alphabets) == 1:
            return ((),)
        return tuple(sets.marked(places, len(self.axes)) for places in self.places)

    @cached_property
    def batches(self) -> tuple[Batch, ...]:
        """The alphabets in parts, so that counting by one part takes bounded memory.

        Sets that share columns stand together: an engine reads the columns of a part only.
        """
        in_blocks = sorted(
            range(len(self.alphabets)), key=lambda i: [at // _BLOCK for at in self.places[i]]
        )
        parts: list[list[int]] = [[]]
        columns: set[int] = set()
        cells = 0
        for i in in_blocks:
            size = prod(self.axes[place].size for place in self.places[i])
            columns |= {*self.places[i]}
            cells += size
            is_full = len(parts[-1]) == SETS_MAX or len(columns) > COLUMNS_MAX or cells > CELLS_MAX
            if parts[-1] and is_full:
                parts.append([])
                columns, cells = {*self.places[i]}, size
            parts[-1].append(i)
        if len(parts) == 1:
            return (Batch(tuple(range(len(self.alphabets))), tuple(range(len(self.axes))), self),)
        return tuple(map(self._batch, parts))

    def _batch(self, part: Sequence[int]) -> Batch:
        columns = tuple(sorted({place for i in part for place in self.places[i]}))
        reduced = replace(
            self,
            alphabets=tuple(self.alphabets[i] for i in part),
            columns=tuple(self.columns[place] for place in columns),
        )
        return Batch(tuple(part), columns, reduced)

    def in_batches(self, count: Callable[[Batch], Sequence[Found]]) -> tuple[Found, ...]:
        """Count by each batch, and return what was found for each alphabet in their order."""
        found: dict[int, Found] = {}
        for batch in self.batches:
            found |= dict(zip(batch.alphabets, count(batch), strict=True))
        return tuple(found[i] for i in range(len(self.alphabets)))


@dataclass(frozen=True)
class Batch:
    """Some alphabets of a count, which are counted by together.

    Attributes:
        alphabets: their places among all alphabets.
        columns: the places of their columns among all columns.
        asked: the count by these alphabets and columns alone.
    """

    alphabets: tuple[int, ...]
    columns: tuple[int, ...]
    asked: Asked
