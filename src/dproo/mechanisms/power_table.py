"""Powers of a growth in integers, and the count at which they overtake the count itself.

What both samplers with levels weigh letters by: ``level powers[c]``, until a letter is revealed.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import sub

from dproo.core.exact import ceil_div
from dproo.mechanisms.base import RECORDS_MAX

_STEPS = 3


@dataclass(frozen=True)
class PowerTable:
    """Powers by count.

    Attributes:
        powers: the powers of ``growth`` by count, rounded down.
        growth: what one record more may do to a weight.
        knee: a letter seen at least so often may be revealed as it is.
        unit: what a revealed record weighs.
    """

    powers: tuple[int, ...]
    growth: Fraction
    knee: int
    unit: int

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """What one record more adds to each of the powers."""
        return tuple(map(sub, self.powers[1:], self.powers))

    def crossing(self, level: int, *, below: int | None = None) -> int:
        """Return the first count, from the knee on, whose letters are revealed as they are.

        The power that reveals a count rises with it. The first count that has the power which
        a later one needs is later still, or right: so the end comes down in few steps.

        Args:
            level: the higher, the sooner.
            below: the crossing of a lower level, if it is known.
        """
        powers, unit, low = self.powers, self.unit, self.knee
        end = len(powers) - 1 if below is None else min(below, len(powers) - 1)
        if end < low or powers[end] * level < end * unit:
            return end + 1
        for _ in range(_STEPS if below is None else 1):
            end = bisect_left(powers, ceil_div(end * unit, level), low, end)
        step = 1
        while end - step >= low and powers[end - step] * level >= (end - step) * unit:
            end, step = end - step, 2 * step
        return bisect_left(
            range(end),
            x=True,
            lo=max(low, end - step + 1),
            key=lambda count: powers[count] * level >= count * unit,
        )


def extend(powers: list[int], growth: Fraction, last: int) -> None:
    """Append powers up to the count ``last``, each rounded down.

    The denominator of a bound on an exponential is a power of two, by which a shift divides.
    """
    over, places = growth.numerator, growth.denominator.bit_length() - 1
    power = powers[-1]
    for _ in range(last + 1 - len(powers)):
        power = power * over >> places
        powers.append(power)


def extend_to_crossing(
    powers: list[int],
    growth: Fraction,
    *,
    knee: int,
    unit: int,
    level: int,
    most: int = RECORDS_MAX,
) -> None:
    """Append powers up to the first count above the knee that a level reveals, or to ``most``."""
    end = min(knee + 1, most)
    extend(powers, growth, end)
    while end < most and powers[end] * level < end * unit:
        end = min(end + end // 8 + 8, most)
        extend(powers, growth, end)
    last = bisect_left(
        range(end),
        x=True,
        lo=min(knee + 1, end),
        key=lambda count: powers[count] * level >= count * unit,
    )
    del powers[last + 1 :]
