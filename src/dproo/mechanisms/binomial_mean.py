"""The largest mean that a function of a binomial count can have, whatever the probability.

All values are integers, and results are rounded up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from dproo.core.exact import BITS, ceil_div, power_lower

_CLOSE = 500


@dataclass(frozen=True, kw_only=True)
class BinomialMeans:
    """The means of ``values[X]``, ``X`` a count of ``n`` records, where its own is not too small.

    Attributes:
        n: the number of records.
        means: those of the values by those of the counts, close to each other.
        bent: how much, at most, a mean between two of these is above the larger one.
        beyond: the most that a mean is further out.
    """

    n: int
    means: dict[Fraction, int]
    bent: int
    beyond: int

    @classmethod
    def of(cls, values: Sequence[int], *, n: int, start: Fraction = Fraction(0)) -> BinomialMeans:
        """Return the means for all counts whose own is at least ``start``.

        No value is negative, and beyond the last they are 0. Between two means the result is
        above the larger of theirs by at most an eighth of the largest second difference, times
        the square of their distance.
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
        far = min(max(start, last), 2 * last)  # further out a count in the table is rarer still
        return cls(
            n=n,
            means={records: mean(values, n=n, records=records) for records in places},
            bent=ceil_div(bend * step.numerator**2, 8 * step.denominator**2),
            beyond=mean([most] * len(values), n=n, records=far),
        )

    def largest(self, *, toll: int = 0) -> int:
        """Return the largest mean; a count pays its share of the toll, ``toll X / n``, as well."""
        paid = (
            found + min(toll, ceil_div(toll * records.numerator, self.n * records.denominator))
            for records, found in self.means.items()
        )
        return max([self.beyond + toll, *(found + self.bent for found in paid)])


def mean(values: Sequence[int], *, n: int, records: Fraction) -> int:
    """Return the mean of ``values[X]``, ``X`` binomial of ``n`` with this mean, rounded up."""
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
