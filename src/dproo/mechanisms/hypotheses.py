"""What the machine-checked theorems assume of the integers that are drawn from.

Each function is a hypothesis of a theorem in ``proofs/`` and has its name; a test compares them:
first those on tables of weights and on the limit, then those on ROO's urn, then those on the
entries of DS-ROO. A table of integers has an end, beyond which it is a straight line, so each
hypothesis is decided by finitely many comparisons.

Proof: docs/proofs/machine_checked.md
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from fractions import Fraction
from itertools import pairwise
from math import prod

from dproo.core.numbers import ceil_div, is_at_most_exp
from dproo.mechanisms.ls_roo.table import LetterTable


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


def base_positive(base: int) -> bool:
    """The least pseudo-count of a letter is positive."""
    return base > 0


def unit_nonnegative(unit: int) -> bool:
    """A record does not lower its letter's weight."""
    return unit >= 0


def base_covers_draws(base: int, unit: int, draws: int, epsilon: Fraction) -> bool:
    """A letter that gains a record and is always drawn gains a factor of at most e^epsilon."""
    return base > 0 and is_at_most_exp(1 + Fraction(unit * draws, base), epsilon)


def base_covers_records(base: int, unit: int, records: int, epsilon: Fraction) -> bool:
    """A letter that gains a person's records gains a factor of at most e^epsilon."""
    return base > 0 and is_at_most_exp(1 + Fraction(unit * records, base), epsilon)


def lightest_positive(lightest: int) -> bool:
    """The least pseudo-count of a letter is positive."""
    return lightest > 0


def base_at_least(lightest: int, bases: Collection[int]) -> bool:
    """No letter has a smaller pseudo-count than the lightest."""
    return lightest <= min(bases)


def unit_at_most_lightest(unit: int, lightest: int) -> bool:
    """A record weighs no more than the lightest letter."""
    return unit <= lightest


def lightest_covers_all(
    lightest: int, unit: int, records: int, draws: int, epsilon: Fraction
) -> bool:
    """The lightest letter, with all records and all draws, gains a factor of at most e^epsilon.

    Records and draws may be exchanged, so the fewer of them number the factors.
    """
    few, many = sorted((records, draws))
    over = prod(lightest + (many + i) * unit for i in range(few))
    under = prod(lightest + i * unit for i in range(few))
    return is_at_most_exp(Fraction(over, under), epsilon)


def entries_nonnegative(entries: tuple[int, ...]) -> bool:
    """No letter is obscured with a negative probability."""
    return min(entries) >= 0


def entries_at_most_unit(entries: tuple[int, ...], unit: int) -> bool:
    """No letter is obscured with a probability above one."""
    return max(entries) <= unit


def entries_falling(entries: tuple[int, ...]) -> bool:
    """The more records the rarest letter has, the less is obscured."""
    return all(low >= high for low, high in pairwise(entries))


def rarest_may_gain(
    entries: tuple[int, ...], unit: int, growth: Fraction, *, n: int, k: int
) -> bool:
    """A rarest letter that gains a record, the minimum staying, grows by at most ``growth``.

    From the last entry on they are all the same, and the ratio falls with the minimum.
    """
    weight = _data_weight(entries, unit, n=n, k=k)
    return all(
        weight(m, m + 1) * growth.denominator <= growth.numerator * weight(m, m)
        for m in range(len(entries))
        if k * m < n
    )


def minimum_may_fall(
    entries: tuple[int, ...], unit: int, growth: Fraction, *, n: int, k: int
) -> bool:
    """A rarest letter that gains a record as the minimum falls grows by at most ``growth``.

    From the last entry on this is what a rarest letter may gain.
    """
    weight = _data_weight(entries, unit, n=n, k=k)
    return all(
        weight(m, m + 2) * growth.denominator <= growth.numerator * weight(m + 1, m + 1)
        for m in range(len(entries))
        if k * (m + 1) <= n
    )


def largest_may_rise(
    entries: tuple[int, ...], unit: int, growth: Fraction, *, n: int, k: int
) -> bool:
    """The largest letter there may be grows by at most ``growth`` as the minimum rises.

    From the last entry on it does not grow.
    """
    weight = _data_weight(entries, unit, n=n, k=k)
    largest = [(m, n - (k - 1) * (m + 1)) for m in range(len(entries)) if k * (m + 1) <= n]
    return all(
        weight(m + 1, c) * growth.denominator <= growth.numerator * weight(m, c) for m, c in largest
    )


def pair_rises(entries: tuple[int, ...], unit: int, *, n: int) -> bool:
    """Of two letters the rarer one is not obscured so much that a record would lower it.

    From the last entry on a record adds the same, and never less than nothing.
    """
    weight = _data_weight(entries, unit, n=n, k=2)
    return all(
        weight(m, m) <= weight(min(m + 1, n - m - 1), m + 1)
        for m in range(len(entries))
        if 2 * m < n
    )


def pair_grows_at_most(entries: tuple[int, ...], unit: int, growth: Fraction, *, n: int) -> bool:
    """Of two letters the rarer one grows by at most ``growth`` if it gains a record.

    From the last entry on a record adds the same, and the ratio falls with the minimum.
    """
    over, under = growth.as_integer_ratio()
    weight = _data_weight(entries, unit, n=n, k=2)
    return all(
        weight(min(m + 1, n - m - 1), m + 1) * under <= over * weight(m, m)
        for m in range(len(entries))
        if 2 * m < n
    )


def _data_weight(
    entries: tuple[int, ...], unit: int, *, n: int, k: int
) -> Callable[[int, int], int]:
    """Return the weight by minimum and count; the last entry serves every larger minimum."""

    def weight(m: int, count: int) -> int:
        q = entries[min(m, len(entries) - 1)]
        return q * n + (unit - q) * k * count

    return weight
