r"""How far the mean law of a balanced table is from the distribution of the records.

If records are drawn from ``P``, counts scatter, and on average the law is nearer to ``P`` than
to the records of the worst dataset. The distance on a dataset is at most a sum over letters of
what each adds by its own count. So the distance from ``P`` is at most the sum of the means, and
no mean exceeds the largest one that a binomial count can have. The letters' probabilities sum to
one, so each may pay its share of a *toll*, which the most probable one receives.

All masses are in records times ``2^64``, rounded to the safe side.

Proof: docs/proofs/balanced.md
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import isqrt
from typing import NamedTuple

from dproo.core.numbers import BITS, ceil_div, power_lower
from dproo.mechanisms.bal_roo.bounds import BalancedBounds, flattest, up
from dproo.mechanisms.bal_roo.sampler import BalancedRevealOrObscure
from dproo.mechanisms.bal_roo.table import BalancedTable
from dproo.mechanisms.base import Mechanism

_CLOSE = 500


@dataclass(frozen=True, kw_only=True)
class BinomialMeans:
    """The means of ``values[X]``, ``X`` a count of ``n`` records whose own mean is not too small.

    Attributes:
        n: the number of records.
        means: pairs of a mean count and the mean value there, close to each other.
        bent: a bound on how far a mean between two of these exceeds the larger one.
        beyond: a bound on the means further out.
    """

    n: int
    means: dict[Fraction, int]
    bent: int
    beyond: int

    @classmethod
    def of(cls, values: Sequence[int], *, n: int, start: Fraction = Fraction(0)) -> BinomialMeans:
        """Return the means for all counts whose own mean is at least ``start``.

        No value is negative, and beyond the last they are 0. Between two mean counts the
        result exceeds the larger of theirs by at most an eighth of the largest second
        difference times the square of their distance.
        """
        most, last = max(values), Fraction(2 * len(values))
        padded = [*values, 0, 0]
        bends = zip(padded, padded[1:], padded[2:], strict=False)
        bend = max(abs(a - 2 * b + c) for a, b, c in bends)
        if not most:
            return cls(n=n, means={}, bent=0, beyond=0)
        step = Fraction(isqrt((most << 32) // (_CLOSE * bend)) + 1, 1 << 16)
        places = [min(start, last)]
        while places[-1] < last:
            places.append(places[-1] + step)
        far = min(max(start, last), 2 * last)  # further out, a count in the table is even rarer
        return cls(
            n=n,
            means={records: mean(values, n=n, records=records) for records in places},
            bent=ceil_div(bend * step.numerator**2, 8 * step.denominator**2),
            beyond=mean([most] * len(values), n=n, records=far),
        )

    def largest(self, *, toll: int = 0) -> int:
        """Return the largest mean, after a count has paid its share of the toll, ``toll X / n``."""
        paid = (
            found + min(toll, ceil_div(toll * records.numerator, self.n * records.denominator))
            for records, found in self.means.items()
        )
        return max([self.beyond + toll, *(found + self.bent for found in paid)])


def mean(values: Sequence[int], *, n: int, records: Fraction) -> int:
    """Return the mean of ``values[X]``, rounded up, ``X`` binomial of ``n`` with this mean."""
    odds = records / (n - records)
    bits = 2 * (BITS + int(records))
    power = power_lower(1 + odds, n, bits=bits)
    chance = ceil_div(power.denominator << bits, power.numerator)
    total = 0
    for count, value in enumerate(values):
        total += chance * value
        chance = ceil_div(
            chance * max(0, n - count) * odds.numerator, (count + 1) * odds.denominator
        )
    return ceil_div(total, 1 << bits)


_ONE = 1 << BITS
_COUNTS_MAX = 128
_RECORDS = 4
_WORKS = (1 << 12, 1 << 13, 1 << 14, 1 << 15)
_COARSE = 32
_SLOPE = Fraction(-4)


def worst_mean_alpha(sampler: Mechanism) -> Fraction:
    """Return the largest distance of the mean law from ``P``, over all ``P``, or a bound on it.

    The law is averaged over all records drawn from ``P``. The result is ``worst_alpha`` if
    nothing better is proven. For BAL-ROO with levels, it takes a second or more.
    """
    if isinstance(sampler, BalancedRevealOrObscure) and not sampler.plain:
        return largest_mean_distance(sampler.bounds)
    return sampler.worst_alpha


def largest_mean_distance(bounds: BalancedBounds) -> Fraction:
    """Return a bound on the distance between the mean law and ``P``, whatever ``P`` is.

    Any price gives a bound. The best is near the one that a letter released too rarely adds on
    average; a search that misses it makes the bound less sharp, never false.
    """
    least = bounds.largest_distance
    price, slope = int(least * bounds.n * _ONE) // bounds.k, _SLOPE
    before: tuple[int, int] | None = None
    for work in _WORKS:
        letters = LetterShares(bounds, price, work)
        if not letters.are_few:
            break
        least = min(least, up(Fraction(letters.total, bounds.n * _ONE)))
        excess = letters.largest_rare - price
        if before and before[0] != price:
            slope = min(_SLOPE / 2, Fraction(excess - before[1], price - before[0]))
        before = price, excess
        price -= int(excess / slope)
    return least


class _Between(NamedTuple):
    """A number between two."""

    low: int
    high: int

    def plus(self, other: _Between) -> _Between:
        return _Between(self.low + other.low, self.high + other.high)

    def minus(self, other: _Between) -> _Between:
        return _Between(self.low - other.high, self.high - other.low)

    def divided(self, letters: int) -> _Between:
        return _Between(self.low // letters, ceil_div(self.high, letters))

    def share(self, whole: _Between) -> _Between:
        """Return the quotient, clamped to the range from 0 to 1."""
        if self.high <= 0:
            return _Between(0, 0)
        low, high = 0, _ONE
        if self.low > 0 and whole.high > 0:
            low = min(_ONE, self.low * _ONE // whole.high)
        if whole.low > 0:
            high = min(_ONE, ceil_div(self.high * _ONE, whole.low))
        return _Between(low, high)

    def times(self, number: int) -> int:
        """Return an upper bound on this share of the number."""
        return ceil_div((self.high if number > 0 else self.low) * number, _ONE)


class _Level:
    """What a level gives, by count, rounded down by less than one."""

    def __init__(self, table: BalancedTable, level: int, end: int) -> None:
        unit, whole = table.unit, table.unit * table.slope.denominator
        self.starved, loss = table.starved(level)
        self.loss = loss * _ONE // unit
        self.unseen = level * table.powers[0] * _ONE // unit
        self.left = table.left(level) * _ONE // unit
        self.gifts = [table.gift(count, level) * _ONE // whole for count in range(end)]
        self.gaps = [(table(count, level) - count * unit) * _ONE // unit for count in range(end)]


class _Range(NamedTuple):
    """All levels between two, and the multipliers of their equation.

    Attributes:
        above: the multiplier if the total is at least the number of records, the least one at
            which an unseen letter adds no more than the price.
        above_cost: what it costs each letter.
        below: one minus the multiplier if the total is less, likewise.
        below_cost: what that costs each letter.
        top: the most that an unseen letter adds.
    """

    low: _Level
    high: _Level
    above: _Between
    above_cost: int
    below: _Between
    below_cost: int
    top: int

    @classmethod
    def of(cls, low: _Level, high: _Level, *, price: int, others: int, slack: int) -> _Range:
        """Return the range between two levels."""
        paid = _Between(price, price)
        unseen = _Between(low.unseen, high.unseen + 1)
        left = _Between(high.left, low.left + 1)
        own = unseen.plus(left)
        owed = _Between(high.loss, low.loss + 1 + slack).minus(left)
        above = unseen.minus(paid).share(unseen.minus(own.divided(others)))
        below = paid.share(unseen.plus(owed.divided(others)))
        above_cost = ceil_div(above.times(own.high), others)
        below_cost = ceil_div(below.times(owed.high), others)
        top = max(price, own.divided(others).high) if above.high == _ONE else price
        return cls(low, high, above, above_cost, below, below_cost, top)

    def added(self, count: int) -> tuple[int, int, int]:
        """Return what a letter adds if released too rarely, too often, or the most probable."""
        low, high = self.low, self.high
        gift, gap = low.gifts[count], high.gaps[count] + 1
        taken = self.above.times(-gift)
        given = self.below.times(high.gifts[count] + 1)
        lost = ceil_div((_ONE - self.below.low) * max(0, -gift), _ONE)
        lost = min(lost, given - low.gaps[count])
        often = taken + gap + self.above_cost
        if count < high.starved:
            often = min(often, self.top)
        return (
            max(taken + self.above_cost, lost + self.below_cost),
            max(often, min(self.top, given + self.below_cost)),
            max(taken, taken + gap, lost, given),
        )


class LetterShares:
    """What letters add to the distance by their counts, if all but the most probable one pay.

    Attributes:
        end: from this count on, a letter adds the ``base``, and the most probable one nothing.
        base: the least that each paying letter adds.
        top: the most that an unseen letter adds.
        rare: what a letter released too rarely adds above the base.
        often: what a letter released too often adds above the base.
        probable: what the most probable letter adds.
    """

    def __init__(self, bounds: BalancedBounds, price: int, work: int) -> None:
        self.bounds, self.price = bounds, price
        table = bounds.table
        level = table.unit * price // (_ONE * table.powers[0])
        self._priced = min(table.high, max(table.low, level))
        loss = table.starved(self._priced)[1]
        self.end = max(table.forgotten(loss), table.crossing(table.low)) + 1
        self.base, self.top = 0, price
        self.rare, self.often, self.probable = ([0] * self.end for _ in range(3))
        if self.are_few:
            self._add_levels(work // self.end)

    @property
    def are_few(self) -> bool:
        """Whether there are few enough counts, and many more records."""
        return self.end <= min(_COUNTS_MAX, self.bounds.n // _RECORDS)

    @cached_property
    def _means(self) -> tuple[BinomialMeans, BinomialMeans, BinomialMeans]:
        n, start = self.bounds.n, Fraction(self.bounds.n, self.bounds.k)
        rare, often = (BinomialMeans.of(values, n=n) for values in (self.rare, self.often))
        return rare, often, BinomialMeans.of(self.probable, n=n, start=start)

    @property
    def largest_rare(self) -> int:
        """The most that a letter released too rarely adds on average."""
        return self.base + self._means[0].largest()

    @property
    def total(self) -> int:
        """A bound on what all letters add, whatever their probabilities.

        The toll is chosen so that the most probable letter receives what it adds if it is
        barely the most probable one.
        """
        toll = ceil_div(self._means[2].largest() * self.bounds.k, self.bounds.k - 1)
        return min(self._with(0), self._with(toll))

    def _with(self, toll: int) -> int:
        """Return the same bound with one toll."""
        rare, often, probable = (means.largest(toll=toll) for means in self._means)
        return (self.bounds.k - 1) * max(self.top, self.base + max(rare, often)) + probable - toll

    def _add_levels(self, fineness: int) -> None:
        table, k = self.bounds.table, self.bounds.k
        step = (1 + table.slope) * (table.unit + flattest(table)) / table.low
        slack = ceil_div((k * int(step + 1) + table.fading) * _ONE, table.unit)
        kinds = self.rare, self.often, self.probable
        levels = list(self._levels(fineness))
        for low, high in pairwise(levels):
            part = _Range.of(low, high, price=self.price, others=k - 1, slack=slack)
            self.base = max(self.base, part.above_cost, part.below_cost)
            self.top = max(self.top, part.top)
            for count in range(self.end):
                for values, added in zip(kinds, part.added(count), strict=True):
                    values[count] = max(values[count], added)
        for values in (self.rare, self.probable):  # where all levels are the highest
            values[:] = map(max, values, (-gap for gap in levels[-1].gaps))
        for values in (self.rare, self.often):
            values[:] = [max(0, value - self.base) for value in values]

    def _levels(self, fineness: int) -> Iterator[_Level]:
        """Yield the ends of ranges that cover all levels, narrow where it matters."""
        table = self.bounds.table
        level, first = table.low, self._priced * 3 // 4
        while level < table.high:
            yield _Level(table, level, self.end)
            level += level // (fineness if level >= first else _COARSE) + 1
        yield _Level(table, table.high, self.end)
