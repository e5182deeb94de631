"""What the machine-checked theorems assume of the integers that are drawn from.

Each function is a hypothesis of a theorem in ``proofs/`` and has its name; a test compares them.
Those of ROO are in ``urn_conditions.py``, those of DS-ROO's table in ``entry_conditions.py``.
A table of integers has an end, from which on it is a straight line, so each of them is decided
by finitely many comparisons.

Proof: docs/proofs/machine_checked.md
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from dproo.core.exact import ceil_div
from dproo.mechanisms.letter_table import LetterTable


def table_positive(table: LetterTable) -> bool:
    """No letter has weight zero."""
    return min(table.values) > 0 and table.slope >= 0


def table_rising(table: LetterTable) -> bool:
    """A record more never lowers a letter's weight."""
    return table.slope >= 0 and all(low <= high for low, high in pairwise(table.values))


def table_convex(table: LetterTable) -> bool:
    """No step is larger than the one after it."""
    steps = [high - low for low, high in pairwise(table.values)]
    return all(step <= following for step, following in pairwise([*steps, table.slope]))


def table_straight(table: LetterTable) -> bool:
    """From the last entry on all steps are the slope."""
    return table.step(table.last) == table.step(table.last + 1) == table.slope


def table_grows_at_most(table: LetterTable, growth: Fraction, *, n: int) -> bool:
    """One record more, of ``n``, multiplies a letter's weight by at most ``growth``.

    From the last entry on the step is the slope and the weight rises, so that entry decides.
    """
    over, under = growth.as_integer_ratio()
    values = (*table.values, table(table.last + 1))[: n + 1]
    return all(high * under <= low * over for low, high in pairwise(values))


def growth_at_least_one(growth: Fraction) -> bool:
    """No ratio below one is asked for."""
    return growth >= 1


def search_stop(table: LetterTable, growth: Fraction) -> int:
    """Return the first count from the table's end on whose step is within ``growth``."""
    over, under = (growth - 1).as_integer_ratio()
    if over <= 0 or table.slope <= 0:
        return table.last
    short = ceil_div(table.slope * under, over) - table.values[-1]
    return table.last + max(0, ceil_div(short, table.slope))


def search_ends(table: LetterTable, stop: int) -> bool:
    """The search goes at least to the end of the table."""
    return table.last <= stop


def stop_grows_at_most(table: LetterTable, growth: Fraction, stop: int) -> bool:
    """Where the search stops, the table itself grows by at most ``growth``."""
    return table(stop + 1) * growth.denominator <= table(stop) * growth.numerator


def search_found_nothing(
    table: LetterTable, growth: Fraction, stop: int, *, n: int, k: int
) -> bool:
    """No record that moves to a letter with fewer than ``stop`` raises it by more than ``growth``.

    A range of counts that the losing letter keeps fits, if its largest gap fits with its worst
    total; otherwise both of its halves must. No gap of a convex table is larger than what the
    slope leaves and no total smaller than the least: an ``x`` that fits with these needs no
    ranges.
    """
    limit, smallest = growth.as_integer_ratio(), table.least(n, k)
    for x in range(min(n, stop)):
        if table.gains_at_most(x, limit, total=smallest):
            continue
        ranges = [_counts_to_search(table, x, n=n, k=k)]
        while ranges:
            low, high = ranges.pop()
            if _range_fits(table, growth, x, low, high, n=n, k=k):
                continue
            if low >= high:
                return False
            middle = (low + high) // 2
            ranges += [(low, middle), (middle + 1, high)]
    return True


def _counts_to_search(table: LetterTable, x: int, *, n: int, k: int) -> tuple[int, int]:
    """Return the first and the final count that a losing letter may keep in a worst move."""
    most = n - 1 - x
    if k <= 2:
        return most, most
    first = max((n - x) // (k - 1) - 1, 0) if table.step(most) > table.step(x) else 0
    return first, max(first, min(most, table.last))


def _range_fits(
    table: LetterTable, growth: Fraction, x: int, low: int, high: int, *, n: int, k: int
) -> bool:
    gap = table.step(high) - table.step(x)

    def others(kept: int) -> int:
        spread = table.least if gap > 0 else table.most
        return table(kept + 1) + spread(n - 1 - x - kept, k - 2)

    total = table(x) + (others(low) if gap > 0 else max(others(low), others(high)))
    over, under = growth.as_integer_ratio()
    return table(x + 1) * total * under <= over * table(x) * (total - gap)


def unit_positive(unit: int) -> bool:
    """A revealed record has a weight."""
    return unit > 0


def letters_leave_one(letters: int, k: int) -> bool:
    """A letter is left for the rest of the probability."""
    return 0 < letters < k


def letters_are_several(letters: int, k: int) -> bool:
    """One of the letters may be emptied and others still have records."""
    return 1 < letters <= k


def share_nonnegative(share: Fraction) -> bool:
    """A letter's probability is not negative."""
    return share >= 0


def share_fits(letters: int, share: Fraction) -> bool:
    """The letters have no more than all of the probability."""
    return letters * share <= 1


def share_even(letters: int, share: Fraction) -> bool:
    """The letters have all of the probability."""
    return letters * share == 1


def some_letter(k: int) -> bool:
    """The alphabet is not empty."""
    return k > 0
