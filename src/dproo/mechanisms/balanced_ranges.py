r"""Levels, range by range, and which letters are hidden there.

What falls with the level is taken at the lower end of a range, what rises at the upper.

Proof: docs/proofs/balanced.md
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dproo.core.exact import ceil_div
from dproo.mechanisms.balanced_table import BalancedTable

_FINENESS, _NARROWEST = 32, 10


def lowest_beside(table: BalancedTable, level: int, loss: int) -> int:
    """Return the lowest level that a letter can have if this is another's.

    The two differ by what a gift, or a gift and a loss, is over the surplus.
    """
    differ = table.surplus + level * table.powers[0] + loss
    return max(table.low, level * table.surplus // differ)


def least_plateau(table: BalancedTable) -> int:
    """Return the plateau of a table, or a longer one with which every hidden letter is counted.

    It is what condition (C) asks for: a letter is hidden by its own level, and counted by that
    of another; where it were not, the two levels could differ by ``1 + gift / surplus`` only.
    Ranges of levels that may need a longer one are split until they are narrow.
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


class Step(NamedTuple):
    """A range of levels.

    Attributes:
        low: the lowest.
        high: the highest.
        most: the loss at the lowest, the most.
        starved: the count that loses most at the highest.
    """

    low: int
    high: int
    most: int
    starved: int


def _steps(table: BalancedTable) -> Iterator[Step]:
    """Yield ranges that together hold all levels, from the lowest on."""
    level = table.low
    _, most = table.starved(level)
    while level < table.high:
        following = min(table.high, level + level // _FINENESS + 1)
        starved, least = table.starved(following)
        yield Step(level, following, most, starved)
        level, most = following, least


def hidden_ends(table: BalancedTable) -> Iterator[tuple[Step, int]]:
    """Yield each range with the crossing at the lowest level of a letter's fellows there."""
    end, lowest = table.revealed, table.low
    for step in _steps(table):
        level = lowest_beside(table, step.low, step.most)
        end = table.crossing(level, below=end if level >= lowest else None)
        lowest = level
        yield step, end
