"""What to count: checked before the data is opened."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TypedDict, TypeVar

from dproo.core.checks import refusal, whole
from dproo.counting.layout import PLAIN, Layout
from dproo.counting.sql import sets
from dproo.schema import Alphabet
from dproo.schema.axis import Axis, Letters, OpenText

SETS_MAX = 64
"""The most sets of columns to group by at once; each takes up to two MB in DuckDB."""

COLUMNS_MAX = 31
"""The most columns of these sets: a mark covers at most 31, and Spark allows 63."""

CELLS_MAX = 1 << 22
"""The most cells of these sets together, unless a single set has more."""

KEPT_MAX = 10**6 - 1
"""The most records of a person that are counted: DuckDB takes no more rows of a group."""

_BLOCK = 8  # columns; two blocks have 64 pairs between them
_SET, _CELL = 1 << 21, 256  # bytes of a set, and of one of its cells, in a thread of DuckDB

Counted = TypeVar("Counted")


class Where(TypedDict, total=False):
    """Where the records are, and whose: attributes of :class:`CountQuery`."""

    table: str | tuple[str, ...] | None
    engine: str | None
    layout: Layout
    person: str | None
    records_per_person: int
    is_each_missing: bool
    missing_texts: tuple[str, ...]
    order: tuple[str, ...]


def check_engine(engine: object) -> None:
    """Refuse an engine that is not Spark, on this machine or on a cluster."""
    is_spark = isinstance(engine, str) and engine.partition(":")[0] == "spark"
    if engine is not None and not is_spark:
        condition = "be 'spark', or a cluster such as spark://host:7077"
        raise ValueError(refusal("engine", condition, engine))


@dataclass(frozen=True, kw_only=True)
class CountQuery:
    """What to count, and where it is in the data.

    Attributes:
        alphabets: the letters; each gives one table of counts. None to see only the columns.
        columns: the columns to count; empty if the data has a single unnamed column.
        table: the table of a database, or of a DuckDB file.
        engine: ``"spark"`` to use Spark on this machine, or the address of a cluster; by default
            the engine for the source.
        layout: how text files are laid out.
        person: the column that identifies the person of a record, if the records counted per
            person are limited.
        records_per_person: the most records counted per person.
        is_each_missing: whether every record without an identifier is a different person's;
            by default all of them together are one person's.
        missing_texts: identifiers that stand for a missing one, such as ``NA``.
        order: the names of all cells of records that do not name them; by default the columns.
        salt: the secret key of the hash that decides which records of a person are counted.

    Raises:
        ValueError: two alphabets give a column different letters, or the person is one of
            the columns.
    """

    alphabets: tuple[Alphabet, ...]
    columns: tuple[str, ...] = ()
    table: str | tuple[str, ...] | None = None
    engine: str | None = None
    layout: Layout = PLAIN
    person: str | None = None
    records_per_person: int = 1
    is_each_missing: bool = False
    missing_texts: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    # A longer salt would double the time of each hash.
    salt: str = field(default_factory=lambda: secrets.token_hex(8), repr=False)

    def __post_init__(self) -> None:
        check_engine(self.engine)
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
        whole("records_per_person", self.records_per_person, at_least=1, at_most=KEPT_MAX)

    def require_column(self, source: str, *, remedy: str = "") -> None:
        """Refuse to count a source with named columns if no column is given."""
        if self.alphabets and not self.columns:
            raise ValueError(f"column must be given for a {source}.{remedy}")

    @property
    def read(self) -> tuple[str, ...]:
        """The columns to read, first those to count, then the person's."""
        return self.columns if self.person is None else (*self.columns, self.person)

    @cached_property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """The places of each alphabet's columns among all columns."""
        return tuple(
            tuple(map(self.columns.index, alphabet.columns)) if alphabet.columns else (0,)
            for alphabet in self.alphabets
        )

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The letters of each column."""
        by_place = {
            place: axis
            for alphabet, places in zip(self.alphabets, self.places, strict=True)
            for place, axis in zip(places, alphabet.axes, strict=True)
        }
        return tuple(by_place[place] for place in range(len(by_place)))

    @cached_property
    def letters(self) -> dict[int, list[str]]:
        """The letters of each column that lists them, by its place."""
        return {
            place: list(axis.places)
            for place, axis in enumerate(self.axes)
            if isinstance(axis, Letters)
        }

    @property
    def open_axis(self) -> OpenText | None:
        """The open alphabet's axis, or None if the letters are listed."""
        axis = self.axes[0]
        return axis if isinstance(axis, OpenText) else None

    @cached_property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The distinct sets of columns to group by, as sorted places."""
        return tuple(dict.fromkeys(tuple(sorted(places)) for places in self.places))

    @cached_property
    def marks(self) -> tuple[tuple[int, ...], ...]:
        """The marks of the rows of each alphabet's columns; a single alphabet has none."""
        if len(self.alphabets) == 1:
            return ((),)
        return tuple(sets.marked(places, len(self.axes)) for places in self.places)

    @cached_property
    def batches(self) -> tuple[Batch, ...]:
        """The alphabets in parts, so that counting by one part takes bounded memory.

        Sets that share columns are kept together: an engine reads only the columns of a part.
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

    @property
    def room(self) -> int:
        """About how many bytes a thread of DuckDB takes to count by several sets at once.

        A single set is 0: a thread holds no more of it than the letters that it has seen.
        """
        if len(self.sets) == 1:
            return 0
        cells = sum(prod(self.axes[place].size for place in places) for places in self.sets)
        return len(self.sets) * _SET + min(cells, CELLS_MAX) * _CELL

    @property
    def passes(self) -> int:
        """How often the data is read: records of people are selected once, then counted."""
        return len(self.batches) if self.person is None else 1

    def _batch(self, part: Sequence[int]) -> Batch:
        columns = tuple(sorted({place for i in part for place in self.places[i]}))
        reduced = replace(
            self,
            alphabets=tuple(self.alphabets[i] for i in part),
            columns=tuple(self.columns[place] for place in columns),
        )
        return Batch(tuple(part), columns, reduced)

    def letters_in(self, batch: Batch) -> dict[int, list[str]]:
        """Return the lists of letters that the query of a batch compares, by their places in it.

        The records of people are selected by all columns, whichever the batch counts.
        """
        return (batch.query if self.person is None else self).letters

    def in_batches(self, count: Callable[[Batch], Sequence[Counted]]) -> tuple[Counted, ...]:
        """Count batch by batch, and return the results in the order of the alphabets."""
        results: dict[int, Counted] = {}
        for batch in self.batches:
            results |= dict(zip(batch.alphabets, count(batch), strict=True))
        return tuple(results[i] for i in range(len(self.alphabets)))


@dataclass(frozen=True)
class Batch:
    """Some alphabets of a count, which are counted together.

    Attributes:
        alphabets: their places among all alphabets.
        columns: the places of their columns among all columns.
        query: the count restricted to these alphabets and columns.
    """

    alphabets: tuple[int, ...]
    columns: tuple[int, ...]
    query: CountQuery
