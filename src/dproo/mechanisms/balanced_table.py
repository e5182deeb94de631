r"""Weights by a letter's count and a level at which unseen letters get what seen ones give.

A letter with count ``c`` and level ``A`` weighs ``A powers[c]``, and from the knee on
``min(c unit, A powers[c])``. At a level, a letter is given

    ``gift = A powers[c] - c unit``                                   below ``c*``,
    ``gift = min(0, max(-loss, slope (c unit - plateau) - (1 + slope) loss))``  from ``c*`` on,

where ``loss``, the most that any letter gives, is what a letter with the *starved* count ``c*``
gives. A letter's level is the highest at which the gifts of the *other* letters add up to at
most ``surplus - A fading``. So a letter's own records never move its own level.

Proof: docs/proofs/balanced.md
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from dproo.core.exact import ceil_div
from dproo.mechanisms.power_table import PowerTable


@dataclass(frozen=True)
class BalancedTable(PowerTable):
    """The integers of the weights.

    Attributes:
        slope: how fast a loss is forgotten, per record.
        plateau: a loss is remembered in full for ``plateau`` above itself.
        surplus: what the gifts to the other letters add up to, at most, at level zero.
        fading: how much less it is at one level more; at high levels it is below zero.
        low: no letter's level is below it.
        high: the highest level.
    """

    slope: Fraction
    plateau: int
    surplus: int
    fading: int
    low: int
    high: int

    def left(self, level: int) -> int:
        """Return what is left of the surplus at a level."""
        return self.surplus - level * self.fading

    def with_plateau(self, plateau: int) -> BalancedTable:
        """Return the same table with another plateau."""
        table = replace(self, plateau=plateau)
        vars(table)["steps"] = self.steps  # they need not be made again
        return table

    def __call__(self, count: int, level: int) -> int:
        """Return the weight of a letter."""
        if count >= len(self.powers):
            return count * self.unit
        lifted = self.powers[count] * level
        return lifted if count < self.knee else min(count * self.unit, lifted)

    def starved(self, level: int) -> tuple[int, int]:
        """Return the count that loses most at a level, ``c*``, and its loss."""
        count = bisect_left(self.steps, ceil_div(self.unit, level))
        return count, count * self.unit - level * self.powers[count]

    def levels_of(self, starved: int) -> tuple[int, int]:
        """Return the lowest and the highest level at which this count loses most."""
        first, last = self.low, self.high
        if starved < len(self.steps):
            first = max(first, ceil_div(self.unit, self.steps[starved]))
        if starved:
            last = min(last, ceil_div(self.unit, self.steps[starved - 1]) - 1)
        return first, last

    def forgotten(self, loss: int) -> int:
        """Return the last count up to which a loss is not wholly forgotten, nor just so."""
        over, under = self.slope.numerator, self.slope.denominator
        return (over * self.plateau + (under + over) * loss) // (over * self.unit)

    @cached_property
    def remembered(self) -> int:
        """The last count whose loss is not wholly forgotten, nor just so, at every level."""
        return self.forgotten(self.starved(self.low)[1])

    @cached_property
    def revealed(self) -> int:
        """The count from which on letters are revealed as they are at every level."""
        return self.crossing(self.low)

    def gift(self, count: int, level: int) -> int:
        """Return what a level gives a letter, times the denominator of the slope."""
        over, under = self.slope.numerator, self.slope.denominator
        starved, loss = self.starved(level)
        if count < starved:
            return under * (level * self.powers[count] - count * self.unit)
        rising = over * (count * self.unit - self.plateau) - (under + over) * loss
        return min(0, max(-under * loss, rising))
