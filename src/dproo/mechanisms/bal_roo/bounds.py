"""Bounds on what a balanced table leaks and on its distance from the records.

Every condition of the proof is checked on the integers that are drawn from, under its name in
the proof. Levels are real numbers there; here they are covered by ranges, and what falls with
the level is taken at the lower end of a range, what rises at the upper.

Proof: docs/proofs/balanced.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import floordiv, le

from dproo.core.numbers import BITS, ceil_div, exp_upper, first_true, log_upper
from dproo.mechanisms.bal_roo.table import BalancedTable

_FINENESS, _NARROWEST = 32, 10


def lowest_beside(table: BalancedTable, level: int, loss: int) -> int:
    """Return the lowest level that a letter can have if another has this level.

    The two differ by a gift, or a gift and a loss, divided by the surplus.
    """
    differ = table.surplus + level * table.powers[0] + loss
    return max(table.low, level * table.surplus // differ)


def least_plateau(table: BalancedTable) -> int:
    """Return the plateau of a table, or a longer one with which every hidden letter is counted.

    Condition (C) requires it: a letter is hidden at its own level, and counted at another's; if
    it were not, the two levels could differ only by ``1 + gift / surplus``. Ranges of levels
    that may need a longer plateau are split until they are narrow.
    """
    over, under = table.slope.as_integer_ratio()
    plateau, ranges = table.plateau, [(table.low, table.high)]
    while ranges:
        low, high = ranges.pop()
        end = table.crossing(lowest_beside(table, low, 0))
        needed = over * end * table.unit - (over + under) * table.starved(high)[1]
        if needed <= over * plateau:
            continue
        if high - low > 1 + (low >> _NARROWEST):
            middle = (low + high) // 2
            ranges += [(low, middle), (middle, high)]
        else:
            plateau = ceil_div(needed, over)
    return plateau


_ONE = 1 << BITS
"""Fractions are rounded to the safe side, by less than one part in this."""

_CLOSE = Fraction(1001, 1000)


def up(x: Fraction) -> Fraction:
    """Return ``x`` rounded up to a short fraction."""
    return Fraction(ceil_div(x.numerator * _ONE, x.denominator), _ONE)


def down(x: Fraction) -> Fraction:
    """Return ``x`` rounded down to a short fraction."""
    return Fraction(x.numerator * _ONE // x.denominator, _ONE)


def flattest(table: BalancedTable) -> int:
    """Return the largest power over its step, in units, rounded up: nearly ``1 / (growth - 1)``.

    It depends on how ``powers`` were rounded, so no formula gives it.
    """
    least: int = min(map(floordiv, map((-table.unit).__mul__, table.powers), table.steps))
    return -least


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
        """The conditions of the proof, by their names there."""
        table = self.table
        powers, unit, growth = table.powers, table.unit, table.growth
        flat = flattest(table)
        last = len(powers) - 1
        return {
            "powers": powers[0] > 0
            and table.steps[0] > 0
            and all(map(le, table.steps, table.steps[1:]))
            and all(
                map(
                    le,
                    map(growth.denominator.__mul__, table.steps),
                    map((growth.numerator - growth.denominator).__mul__, powers),
                )
            ),
            "knee": 1 + table.knee <= growth * table.knee,
            "cap": powers[table.knee] * table.high < table.knee * unit,
            "levels": 0 < table.low < table.high
            and table.low * powers[0] * (self.k - 1) <= table.left(table.low),
            "fading": table.fading >= 0,
            "reach": last > table.knee and powers[last] * table.low >= last * unit,
            "surplus": table.surplus >= flat,
            "plateau": table.plateau >= (1 + table.slope) * (unit + flat),
            "counted": table.plateau == least_plateau(table),
        }

    @cached_property
    def knee(self) -> Fraction:
        """``1 / (growth - 1)``, in records."""
        return 1 / (self.table.growth - 1)

    @cached_property
    def drift(self) -> Fraction:
        """A bound on how far forgetting a loss can move the logarithm of a level."""
        slope = self.table.slope
        return up(slope / (self.surplus + (1 + slope) * self.knee))

    @cached_property
    def surplus(self) -> Fraction:
        """The total of the gifts to the others, in records, rounded down."""
        return down(Fraction(self.table.surplus, self.table.unit))

    @cached_property
    def own_fall(self) -> Fraction:
        """A bound on the fall in weight of the letter that loses the record."""
        table = self.table
        return max(Fraction(1), table.revealed * (1 - 1 / table.growth))

    @cached_property
    def fall(self) -> Fraction:
        """A bound on the fall of the total when one record is replaced.

        While the record is taken away, the least mass that the others count for falls from one
        above the surplus to the surplus. The bound is convex in its inverse, so its mean is at
        most the mean of the chord between both ends.
        """
        first, last = 1 / (self.surplus + 1), 1 / self.surplus
        share = (log_upper(1 + last) - first) / (last - first)
        lost = (1 - share) * self._falling(first) + share * self._falling(last)
        added = self.table.slope * self._falling(1 / (self.surplus + self.knee))
        return up(max(self.own_fall, lost, 1 + lost * (1 - 1 / self._apart)) + added)

    def _falling(self, share: Fraction) -> Fraction:
        """Return a bound on how fast falling levels lower the total.

        The share is one over the least mass that the others count for.
        """
        over, under = share.as_integer_ratio()
        return 1 + Fraction(max(max(h * over, c * under) for h, c in self._hidden), under * _ONE)

    @property
    def _apart(self) -> Fraction:
        """A bound on the ratio of two levels of the same dataset."""
        table = self.table
        ends = (end * table.powers[0] + table.starved(end)[1] for end in (table.low, table.high))
        return 1 + Fraction(max(ends), table.surplus)

    @cached_property
    def _hidden(self) -> list[tuple[int, int]]:
        """The most that hidden letters weigh, times ``2^64``, by the highest level that falls.

        First a single one, beside an unseen letter; then any from ``c*`` on, divided by what it
        is counted for, and at least 1.
        """
        table, found = self.table, []
        whole = table.slope.denominator * table.unit
        knee = int(whole * self.knee)
        low, lowest, end = table.low, table.low, table.revealed
        _, most = table.starved(low)
        while low < table.high:  # each range of levels from low to high, and its largest loss
            high = min(table.high, low + low // _FINENESS + 1)
            starved, least = table.starved(high)
            beside = lowest_beside(table, low, most)
            end = table.crossing(beside, below=end if beside >= lowest else None)
            last = min(end - 1, table.forgotten(most))
            crowding = _ONE
            if last >= starved:
                counted = knee - table.gift(last, high)
                crowding = max(crowding, ceil_div(last * whole * _ONE, counted))
            unseen = ceil_div(high * table.powers[0] * _ONE, table.unit)
            found.append(((end - 1) * _ONE + unseen, crowding))
            low, most, lowest = high, least, beside
        return found

    @cached_property
    def least_total(self) -> Fraction:
        """The least total weight of ``n`` records, if a level is below the highest.

        The shortfall is convex in the lowest level, and so largest at one end.
        """
        table = self.table
        ends = (table.starved(end)[1] - table.left(end) for end in (table.low, table.high))
        return self.n - up(Fraction(max(ends), table.unit))

    @cached_property
    def least_lifted(self) -> Fraction:
        """The least total weight of ``n`` records, if all levels are the highest."""
        return down(self.n * self._least_share)

    @property
    def _least_share(self) -> Fraction:
        """The least weight over the count at the highest level."""
        table = self.table

        def is_risen(count: int) -> bool:  # a convex power over its count falls, then rises
            return table.powers[count + 1] * count >= table.powers[count] * (count + 1)

        least = first_true(is_risen, 0, table.crossing(table.high))
        return min(Fraction(1), Fraction(table.high * table.powers[least], least * table.unit))

    @property
    def added(self) -> Fraction:
        """A bound on the probability ratio when a record is added or removed."""
        return self._rounded(self.table.growth * exp_upper(self.drift))

    @property
    def replaced(self) -> Fraction | None:
        """A bound on the probability ratio when a record is replaced, or None if there is none."""
        if self.least_total <= 0 or not self.surplus:
            return None
        fallen = max(self.fall / self.least_total, self.own_fall / self.least_lifted)
        return self._rounded(self.table.growth * exp_upper(self.drift) * (1 + up(fallen)))

    def _rounded(self, ratio: Fraction) -> Fraction:
        """Return the ratio of integer levels, each less than one below the real one."""
        return ratio * Fraction(self.table.low + 1, self.table.low) ** 2

    @cached_property
    def largest_distance(self) -> Fraction:
        """A bound on the distance between the law and the records, for any dataset."""
        return self.distance_among(self.n)

    def distance_among(self, records: int) -> Fraction:
        """Return the bound for ``records`` records; it never rises with their number."""
        lifted, share = self._lifted
        moved = max(min(lifted, records * share), self._moved)
        return min(Fraction(1), up(moved / records))

    @cached_property
    def _lifted(self) -> tuple[Fraction, Fraction]:
        """What all letters lack at most at the highest level: in records, and as their share."""
        starved = self.table.starved(self.table.high)[1]
        return Fraction(self.k * starved, self.table.unit), 1 - self._least_share

    @cached_property
    def _moved(self) -> Fraction:
        """A bound on the mass of all weights above or below their counts, at any other level.

        Ranges of levels are split until their bounds are close to the value at one of their
        levels.
        """
        table = self.table
        best = self._masses(table.high, table.high)
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
        return best

    def _masses(self, low: int, high: int) -> Fraction:
        """Return the larger bound on the mass above and below the counts, for these levels."""
        table = self.table
        few, many = (level * table.powers[0] for level in (low, high))
        most, least = (table.starved(level)[1] for level in (low, high))
        shared = (self.k - 1) * ceil_div(many * most, many + most)
        left, later = (table.left(level) for level in (low, high))
        above = left * many // (many + least) if left > 0 else left * few // (few + most)
        below = later * least // (many + least) if later > 0 else later * most // (few + most)
        return Fraction(shared + max(many + above + 1, most - below), table.unit)
