"""One integer for each letter, stored as runs: the form of both counts and weights.

An alphabet of 10^12 letters, a thousand of them seen, takes two thousand runs. A
:class:`Counts` is all that the core sees of the data. For exhaustive checks, all datasets of a
few records and letters can be listed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain, combinations, pairwise, repeat, starmap
from operator import add, itemgetter, mul

from dproo.core.checks import bounded, refusal, whole

_PAIRS = (
    "runs must be pairs of a value and how many letters have it. Counts.of takes one integer for"
    " each letter."
)


class Runs:
    """A non-negative integer for each of the letters ``0 .. k-1``, run by run.

    Args:
        runs: pairs ``(value, letters)``: a value and how many consecutive letters have it.

    >>> row = Runs([(5, 1), (0, 10**12), (2, 3)])
    >>> row.k, row.total, row[10**12], row.letter_at(5)
    (1000000000004, 11, 0, 1000000000001)
    """

    def __init__(self, runs: Iterable[tuple[int, int]]) -> None:
        merged: list[tuple[int, int]] = []
        last = None
        if isinstance(runs, str | bytes | Mapping) or not isinstance(runs, Iterable):
            raise TypeError(_PAIRS)
        for run in runs:
            try:
                value, letters = run
            except (TypeError, ValueError):
                raise TypeError(_PAIRS) from None
            if value == last:
                run = last, letters + merged.pop()[1]  # noqa: PLW2901 - the merged run
            if run[1]:
                merged.append(run)
                last = run[0]
        self.runs: tuple[tuple[int, int], ...] = tuple(merged)

    @property
    def k(self) -> int:
        """The number of letters."""
        return self._ends[0][-1] if self.runs else 0

    @property
    def total(self) -> int:
        """The sum over all letters."""
        return self._ends[1][-1] if self.runs else 0

    @cached_property
    def sizes(self) -> dict[int, int]:
        """The counts of counts, that is, the number of letters with each value."""
        sizes: dict[int, int] = {}
        for value, letters in self.runs:
            sizes[value] = sizes.get(value, 0) + letters
        return sizes

    @cached_property
    def _ends(self) -> tuple[list[int], list[int]]:
        """The cumulative numbers of letters and of units, at the end of each run."""
        letters = accumulate(map(itemgetter(1), self.runs))
        return list(letters), list(accumulate(starmap(mul, self.runs)))

    def units_before(self, letter: int) -> int:
        """Return the total of the letters before ``letter``."""
        letter_ends, unit_ends = self._ends
        i = bisect_left(letter_ends, letter)
        return unit_ends[i] - (letter_ends[i] - letter) * self.runs[i][0]

    def letter_at(self, unit: int) -> int:
        """Return the letter that holds unit ``unit``, with the units in letter order.

        A letter of value ``w`` holds ``w`` of the ``total`` units, so a uniform unit draws a
        letter in proportion to the values.
        """
        letter_ends, unit_ends = self._ends
        i = bisect_right(unit_ends, unit)
        value, _ = self.runs[i]
        return letter_ends[i] - 1 - (unit_ends[i] - 1 - unit) // value

    def map(self, function: Callable[[int], int]) -> Runs:
        """Return the row of ``function(value)``."""
        values = {value: function(value) for value in {value for value, _ in self.runs}}
        return Runs((values[value], letters) for value, letters in self.runs)

    def combine(self, other: Runs, function: Callable[[int, int], int]) -> Runs:
        """Return the row of ``function(value, other value)``, letter by letter."""

        def pieces() -> Iterator[tuple[int, int]]:
            mine, others = iter(self.runs), iter(other.runs)
            left = right = value = other_value = 0
            for _ in range(len(self.runs) + len(other.runs)):
                if not left:
                    value, left = next(mine, (0, 0))
                if not right:
                    other_value, right = next(others, (0, 0))
                step = min(left, right)
                if step:
                    yield function(value, other_value), step
                left, right = left - step, right - step

        return Runs(pieces())

    def __getitem__(self, letter: int) -> int:
        return self.runs[bisect_right(self._ends[0], letter)][0]

    def __len__(self) -> int:
        return self.k

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(repeat(value, letters) for value, letters in self.runs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Runs) and self.runs == other.runs

    def __hash__(self) -> int:
        return hash(self.runs)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self.runs)!r})"


class Counts(Runs):
    """How often each letter of the alphabet occurs in a dataset.

    >>> Counts.of([3, 0, 0, 7])
    Counts([(3, 1), (0, 2), (7, 1)])
    >>> Counts.sparse({10**11: 4}, k=10**12).n
    4
    """

    @classmethod
    def of(cls, counts: Sequence[int] | Runs) -> Counts:
        """Return the counts given as one integer per letter, or as runs."""
        if isinstance(counts, Counts):
            return counts
        if isinstance(counts, str | bytes | Mapping) or not isinstance(counts, Iterable):
            raise TypeError(refusal("counts", "be a sequence of integers", counts))
        some = bounded("counts", counts)
        return cls((whole("counts", count, at_least=0), 1) for count in some)

    @classmethod
    def sparse(cls, seen: Mapping[int, int], *, k: int) -> Counts:
        """Return the counts of ``k`` letters, zero except for those in ``seen``."""
        if not isinstance(seen, Mapping):
            raise TypeError(refusal("seen", "be a mapping of letters to counts", seen))
        k = whole("k", k, at_least=1)

        def pieces() -> Iterator[tuple[int, int]]:
            following = 0
            for letter in sorted(seen):
                count = seen[letter]
                if not (type(letter) is type(count) is int and 0 <= letter < k and count >= 0):
                    letter = whole("letter", letter, at_least=0, at_most=k - 1)  # noqa: PLW2901
                    count = whole("counts", count, at_least=0)
                if letter > following:
                    yield 0, letter - following
                yield count, 1
                following = letter + 1
            yield 0, k - following

        return cls(pieces())

    def __add__(self, other: Counts) -> Counts:
        """Return the counts of two datasets together, such as today's and all earlier days'.

        >>> Counts.of([3, 0, 7]) + Counts.of([1, 0, 1])
        Counts([(4, 1), (0, 1), (8, 1)])
        """
        if not isinstance(other, Counts):
            return NotImplemented
        if other.k != self.k:
            raise ValueError(refusal("counts", f"have {self.k} letters", other.k))
        return Counts(self.combine(other, add).runs)

    def part(self, start: int, width: int) -> Counts:
        """Return the counts of ``width`` letters from ``start`` on.

        >>> list(Counts.of([1, 1, 0, 2, 9]).part(2, 3))
        [0, 2, 9]
        """
        ends, _ = self._ends
        first, last = bisect_right(ends, start), bisect_left(ends, start + width)
        runs = list(self.runs[first : last + 1])
        count, letters = runs[-1]
        runs[-1] = count, letters - (ends[last] - start - width)
        count, letters = runs[0]
        runs[0] = count, letters - (start - ends[first] + self.runs[first][1])
        return Counts(runs)

    def split(self, width: int) -> Iterator[Counts]:
        """Yield the counts of each ``width`` consecutive letters; skip an incomplete rest.

        >>> [list(part) for part in Counts.of([1, 1, 0, 2, 9]).split(2)]
        [[1, 1], [0, 2]]
        """
        part: list[tuple[int, int]] = []
        missing = width
        for count, letters in self.runs:
            left = letters
            while left >= missing:
                part.append((count, missing))
                yield Counts(part)
                left -= missing
                part, missing = [], width
            if left:
                part.append((count, left))
                missing -= left

    @property
    def n(self) -> int:
        """The number of records."""
        return self.total

    @cached_property
    def smallest(self) -> int:
        """The count of the rarest letter, ``m`` in the paper."""
        return min(self.sizes)


class NamedCounts(Counts):
    """The counts of letters from an open alphabet; the last count is for all other records.

    >>> named = NamedCounts.seen({"LAX": 3, "JFK": 2}, others=4)
    >>> named.letters, list(named)
    (('LAX', 'JFK'), [3, 2, 4])
    """

    letters: tuple[str, ...] = ()

    @classmethod
    def seen(cls, seen: Mapping[str, int], *, others: int) -> NamedCounts:
        """Return the counts of these letters, followed by one for all others."""
        counts = cls((count, 1) for count in (*seen.values(), others))
        counts.letters = tuple(seen)
        return counts


Dataset = tuple[int, ...]
"""The count of each letter."""


def every_dataset(n: int, k: int) -> Iterator[Dataset]:
    """Yield all counts of ``n`` records on ``k`` letters.

    >>> list(every_dataset(2, 2))
    [(0, 2), (1, 1), (2, 0)]
    """
    for bars in combinations(range(n + k - 1), k - 1):
        edges = (-1, *bars, n + k - 1)
        yield tuple(after - before - 1 for before, after in pairwise(edges))


def falling_datasets(n: int, k: int, *, most: int | None = None) -> Iterator[Dataset]:
    """Yield the non-increasing counts: one of the datasets that differ only in letters' names.

    Args:
        n: the number of records.
        k: the number of letters.
        most: the largest count allowed.

    >>> list(falling_datasets(4, 3))
    [(4, 0, 0), (3, 1, 0), (2, 2, 0), (2, 1, 1)]
    """
    if k == 0:
        yield ()
        return
    fewest = -(-n // k)
    for first in range(n if most is None else min(n, most), fewest - 1, -1):
        for others in falling_datasets(n - first, k - 1, most=first):
            yield (first, *others)
