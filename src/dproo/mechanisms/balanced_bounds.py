r"""What a balanced table leaks at most, how far it is from the records, and why.

Every condition of the proof is checked on the integers that are drawn from, by its name on
the page of the proof. Levels are real numbers there; here they are walked through in steps,
and what falls with the level is taken at the lower end of a step, what rises at the upper.

Proof: docs/proofs/balanced.md
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from dproo.core.exact import BITS, ceil_div, exp_upper, log_upper
from dproo.mechanisms.balanced_table import BalancedTable

_FINENESS = 32
_ONE = 1 << BITS
"""Fractions are rounded to the safe side by less than one part in this."""

_CLOSE = Fraction(1001, 1000)


def up(x: Fraction) -> Fraction:
    """Return ``x`` rounded up to a short fraction."""
    return Fraction(ceil_div(x.numerator * _ONE, x.denominator), _ONE)


def down(x: Fraction) -> Fraction:
    """Return ``x`` rounded down to a short fraction."""
    return Fraction(x.numerator * _ONE // x.denominator, _ONE)


def flattest(table: BalancedTable) -> int:
    """Return the largest power over its step, in units, rounded up: ``1 / (growth - 1)``, nearly.

    It is where the steps of ``powers`` are rounded down most: not found by a formula.
    """
    pairs = zip(table.powers, table.steps, strict=False)
    return max(ceil_div(table.unit * power, step) for power, step in pairs)


def steps(table: BalancedTable) -> Iterator[tuple[int, int]]:
    """Yield the ends of ranges that together hold all levels."""
    level = table.low
    while level < table.high:
        following = min(table.high, level + level // _FINENESS + 1)
        yield level, following
        level = following


def least_plateau(table: BalancedTable) -> int:
    """Return the shortest plateau with which every hidden letter is counted.

    It is what condition (C) asks for: a letter is hidden by its own level, and counted by that
    of another; where it were not, the two levels could differ by ``1 + gift / surplus`` only.
    """
    return max(
        ceil_div(
            table.slope.numerator * _hidden_end(table, low, 0) * table.unit
            - (table.slope.numerator + table.slope.denominator) * table.starved(high)[1],
            table.slope.numerator,
        )
        for low, high in steps(table)
    )


def _hidden_end(table: BalancedTable, level: int, loss: int) -> int:
    """Return the crossing at the lowest level that a fellow of a letter at ``level`` can have."""
    differ = table.surplus + level * table.powers[0] + loss
    return table.crossing(max(table.low, level * table.surplus // differ))


@dataclass(frozen=True)
class BalancedBounds:
    """Bounds for all datasets of ``n`` records on ``k`` letters; a dataset may have fewer.

    All masses are in records.
    """

    table: BalancedTable
    n: int
    k: int

    @cached_property
    def conditions(self) -> dict[str, bool]:
        """What the proof relies on, by its names there."""
        table = self.table
        powers, unit, growth = table.powers, table.unit, table.growth
        flat = flattest(table)
        last = len(powers) - 1
        return {
            "powers": powers[0] > 0
            and all(0 < a <= b for a, b in pairwise(table.steps))
            and all(
                step * growth.denominator <= (growth.numerator - growth.denominator) * power
                for power, step in zip(powers, table.steps, strict=False)
            ),
            "knee": 1 + table.knee <= growth * table.knee,
            "cap": powers[table.knee] * table.high < table.knee * unit,
            "levels": 0 < table.low < table.high
            and table.low * (powers[0] * (self.k - 1) + table.fading) <= table.surplus,
            "reach": last > table.knee and powers[last] * table.low >= last * unit,
            "surplus": table.surplus >= flat,
            "plateau": table.plateau >= (1 + table.slope) * (unit + flat),
            "counted": table.plateau >= least_plateau(table),
        }

    @cached_property
    def knee(self) -> Fraction:
        """``1 / (growth - 1)``, in records."""
        return 1 / (self.table.growth - 1)

    @cached_property
    def drift(self) -> Fraction:
        """How far, at most, forgetting a loss can move the logarithm of a level."""
        slope = self.table.slope
        return up(slope / (self.surplus + (1 + slope) * self.knee))

    @cached_property
    def surplus(self) -> Fraction:
        """What the gifts to the others add up to, in records, rounded down."""
        return down(Fraction(self.table.surplus, self.table.unit))

    @cached_property
    def fall(self) -> Fraction:
        """How much, at most, the total falls when one record is replaced."""
        table = self.table
        crossing = table.crossing(table.low)
        own = max(Fraction(1), crossing * (1 - 1 / table.growth))
        largest = crossing - 1 + Fraction(table.high * table.powers[0], table.unit)
        many = 1 + max(Fraction(1), self.crowding)
        lost = 1 + largest * log_upper(table.growth) + many
        return up(max(own, lost) + table.slope * (largest / (self.surplus + self.knee) + many))

    @cached_property
    def crowding(self) -> Fraction:
        """The most that a hidden letter from ``c*`` on weighs, over what it is counted for."""
        table, most = self.table, 0
        whole = table.slope.denominator * table.unit
        knee = int(whole * self.knee)
        for low, high in steps(table):
            loss = table.starved(low)[1]
            end = min(_hidden_end(table, low, loss), table.forgotten(loss) + 1)
            if end > table.starved(high)[0]:
                counted = knee - table.gift(end - 1, high)
                most = max(most, ceil_div((end - 1) * whole * _ONE, counted))
        return Fraction(most, _ONE)

    @cached_property
    def least_total(self) -> Fraction:
        """The least total weight of ``n`` records."""
        table = self.table
        lost = Fraction(table.starved(table.low)[1], table.unit)
        return min(down(self.n * self._least_share), self.n - up(lost))

    @property
    def _least_share(self) -> Fraction:
        """The least weight over the count at the highest level."""
        table = self.table
        low, high = 1, table.crossing(table.high)
        while low < high:  # a convex power over its count falls, then rises
            middle = (low + high) // 2
            is_falling = table.powers[middle + 1] * middle < table.powers[middle] * (middle + 1)
            low, high = (middle + 1, high) if is_falling else (low, middle)
        return min(Fraction(1), Fraction(table.high * table.powers[low], low * table.unit))

    @property
    def added(self) -> Fraction:
        """A bound on the probability ratio when a record is added or removed."""
        return self._rounded(self.table.growth * exp_upper(self.drift))

    @property
    def replaced(self) -> Fraction | None:
        """A bound on the probability ratio when a record is replaced, if there is one."""
        total = self.least_total
        if total <= self.fall:
            return None
        ratio = self.table.growth * exp_upper(self.drift) * total / (total - self.fall)
        return self._rounded(ratio)

    def _rounded(self, ratio: Fraction) -> Fraction:
        """Return the ratio of integer levels, each less than one below the real one."""
        return ratio * Fraction(self.table.low + 1, self.table.low) ** 2

    @cached_property
    def largest_distance(self) -> Fraction:
        """A bound on the distance between the law and the records, for any dataset.

        What all weights are above or below their counts is bounded level by level; ranges
        of levels are split until their bounds are close to what a level of theirs has.
        """
        table = self.table
        best = min(
            Fraction(self.k * table.starved(table.high)[1], table.unit),
            self.n * (1 - self._least_share),
        )
        best = max(best, self._masses(table.high, table.high))
        ranges = [(table.low, table.high)]
        while ranges:
            low, high = ranges.pop()
            best = max(best, self._masses(low, low))
            bound = self._masses(low, high)
            if bound > best * _CLOSE and high - low > 1:
                middle = (low + high) // 2
                ranges += [(low, middle), (middle, high)]
            else:
                best = max(best, bound)
        return min(Fraction(1), up(best / self.n))

    def _masses(self, low: int, high: int) -> Fraction:
        """Return the larger bound on the mass above and below the counts, for these levels."""
        table = self.table
        given = high * table.powers[0]
        most, least = table.starved(low)[1], table.starved(high)[1]
        shared = Fraction((self.k - 1) * given * most, given + most)
        left = [table.surplus - level * table.fading for level in (low, high)]
        above = shared + Fraction(left[0] * given, given + least) + given
        below = shared - Fraction(left[1] * least, given + least) + most
        return max(above, below) / table.unit
