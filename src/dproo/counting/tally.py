"""What an engine returns: how often each letter was seen, and how many records were outside."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, cast

from dproo.core.counts import Counts, NamedCounts
from dproo.core.draw import RandomSource
from dproo.core.partition import scatter
from dproo.counting.boundary import pass_over
from dproo.counting.query import CountQuery
from dproo.schema import OTHER, Alphabet
from dproo.schema.axis import LONGEST_OPEN, Axis, OpenText, is_open_letter

_CHUNK = 1 << 18
_ROWS = 1 << 10  # records at a time, whose cells may be long
_CACHED = 1 << 16  # texts of a column
_WORD = 1 << 64
_MANY = 128  # with more records per letter it is faster to draw how many each letter gets


@dataclass(frozen=True, kw_only=True)
class Tally:
    """The numbers of a dataset's records by letter, and of those outside the alphabet.

    Guarantee: the sum of all its numbers is the number of records.

    Attributes:
        alphabet: the letters.
        seen: the number of records of each seen letter.
        outside: the number of records outside the alphabet.
    """

    alphabet: Alphabet
    seen: dict[int, int]
    outside: int

    @classmethod
    def of(cls, rows: Iterable[Sequence[Any]], *, alphabet: Alphabet) -> Tally:
        """Add up groups of records: one cell per column, then the number of records that have them.

        >>> Tally.of([("a", 3), (None, 2)], alphabet=Alphabet.of(["a", "b"])).counts()
        Counts([(3, 1), (0, 1), (2, 1)])
        """
        (tally,) = cls.several(
            rows, query=CountQuery(alphabets=(alphabet,), columns=alphabet.columns)
        )
        return tally

    @classmethod
    def several(cls, rows: Iterable[Sequence[Any]], *, query: CountQuery) -> tuple[Tally, ...]:
        """Add up groups of records by every alphabet; the rows are read once."""
        sums = _Sums(query)
        for part in _chunks(rows, _ROWS):
            sums.add(part, range(len(query.alphabets)))
        return sums.tallies()

    @classmethod
    def of_sets(cls, rows: Iterable[Sequence[Any]], *, query: CountQuery) -> tuple[Tally, ...]:
        """Add up groups of records, each by the alphabets whose columns it is grouped by.

        If there are several alphabets, each row begins with its marks, see
        ``dproo.counting.sql.sets``.
        """
        by_marks: dict[tuple[int, ...], list[int]] = {}
        for i, marks in enumerate(query.marks):
            by_marks.setdefault(marks, []).append(i)
        width = len(query.marks[0])
        if not width:
            return cls.several(rows, query=query)
        marks_of = itemgetter(slice(width))
        sums = _Sums(query)
        for part in _chunks(rows, _CHUNK):
            for marked, group in groupby(sorted(part, key=marks_of), key=marks_of):
                sums.add([row[width:] for row in group], by_marks[tuple(marked)])
        return sums.tallies()

    def counts(self, source: RandomSource | None = None) -> Counts:
        """Return the counts of all letters, according to the alphabet's policy.

        Under ``"other"`` the records outside are the count of the extra letter; under
        ``"uniform"`` each becomes a fresh uniform letter.
        """
        if self.alphabet.policy == OTHER:
            seen = self.seen | {self.alphabet.size: self.outside}
        else:
            seen = spread(
                self.seen, self.outside, k=self.alphabet.k, source=source or RandomSource()
            )
        return Counts.sparse(seen, k=self.alphabet.k)


def _chunks(rows: Iterable[Sequence[Any]], size: int) -> Iterator[list[Sequence[Any]]]:
    rest = iter(rows)
    while part := list(islice(rest, size)):
        yield part


def tables_of(rows: Iterable[Sequence[Any]], query: CountQuery) -> tuple[Tally | Counts, ...]:
    """Return the counts by each alphabet, from the rows of a counting query."""
    if query.open_axis is not None:
        return named_counts(rows, query.open_axis)
    return Tally.of_sets(rows, query=query)


def named_counts(rows: Iterable[Sequence[Any]], axis: OpenText) -> tuple[NamedCounts]:
    """Add up groups of records by an open alphabet: a canonical text or None, and a number."""
    numbers: Counter[str | None] = Counter()
    for text, number in rows:
        numbers[text] += number
    letters = {
        text: number
        for text, number in numbers.items()
        if text and number >= axis.minimum and is_open_letter(text)
    }
    others = numbers.total() - sum(letters.values())
    return (NamedCounts.seen(letters, others=others),)


class _Sums:
    """Running sums of groups of records, by one alphabet or several."""

    def __init__(self, query: CountQuery) -> None:
        self._query = query
        self._columns = [_Places(axis) for axis in query.axes]
        self._seen: list[dict[int | None, int]] = [{} for _ in query.alphabets]

    def add(self, rows: Sequence[Sequence[Any]], alphabets: Iterable[int]) -> None:
        """Add rows to the tallies of these alphabets."""
        places: dict[int, list[int | None]] = {}
        numbers = [int(row[-1]) for row in rows]
        for i in alphabets:
            first, *others = self._query.places[i]
            for column in {first, *others} - places.keys():
                cells = list(map(itemgetter(column), rows))
                places[column] = self._columns[column].of(cells)
            indices = places[first]
            for column in others:
                size = self._query.axes[column].size
                indices = [
                    None if index is None or place is None else index * size + place
                    for index, place in zip(indices, places[column], strict=True)
                ]
            seen = self._seen[i]
            for index, number in zip(indices, numbers, strict=True):
                seen[index] = seen.get(index, 0) + number

    def tallies(self) -> tuple[Tally, ...]:
        """Return the tally of each alphabet."""
        return tuple(map(self._tally, self._query.alphabets, self._seen))

    @staticmethod
    def _tally(alphabet: Alphabet, seen: dict[int | None, int]) -> Tally:
        outside = seen.pop(None, 0)
        return Tally(alphabet=alphabet, seen=cast("dict[int, int]", seen), outside=outside)


def kinds_of(cells: Iterable[object]) -> set[int]:
    """Return the identities of the types of cells; hashing a foreign type may raise."""
    return set(map(id, map(type, cells)))


class _Places(dict[str | None, int | None]):
    """The places of the cells of one column; many, but not all, are cached by their short texts."""

    def __init__(self, axis: Axis) -> None:
        self.axis = axis

    def __missing__(self, cell: str | None) -> int | None:
        place = self.axis.index(cell)
        if len(self) < _CACHED and len(cell or "") <= LONGEST_OPEN:
            self[cell] = place
        return place

    def of(self, cells: Sequence[Any]) -> list[int | None]:
        """Return the place of each cell, None for one outside."""
        # 1 == True, so a dict would merge two letters.
        is_text = kinds_of(cells) <= {id(str), id(type(None))}
        return list(map(self.__getitem__ if is_text else self._index, cells))

    def _index(self, cell: object) -> int | None:
        try:
            return self.axis.index(cell)
        except BaseException as error:  # noqa: BLE001 - a cell that raises is outside
            pass_over(error)
            return self.axis.index(None)


def spread(seen: dict[int, int], outside: int, *, k: int, source: RandomSource) -> dict[int, int]:
    """Return ``seen`` after each record outside has become one of ``k`` letters.

    Guarantee: the letters are uniform and independent, exactly; the sum grows by ``outside``.

    >>> sum(spread({0: 5}, 10, k=3, source=RandomSource()).values())
    15
    """
    numbers = Counter(seen)
    if outside > _MANY * k:
        parts = scatter(Counts.of([outside]), k, source)
        numbers.update({letter: part.n for letter, part in enumerate(parts)})
        return dict(numbers)
    for done in range(0, outside, _CHUNK):
        numbers.update(_uniform(k, min(_CHUNK, outside - done), source))
    return dict(numbers)


def _uniform(k: int, size: int, source: RandomSource) -> list[int]:
    """Return uniform letters, by rejection of whole words of 64 random bits."""
    if k > _WORD // 2:
        return [source.below(k) for _ in range(size)]
    limit = _WORD - _WORD % k
    letters: list[int] = []
    while missing := size - len(letters):
        words = array("Q", source.bytes(8 * missing))
        letters += [word % k for word in words if word < limit]
    return letters
