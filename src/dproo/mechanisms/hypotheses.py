"""What the machine-checked theorems assume of the integers that are drawn from.

Each function is a hypothesis of a theorem in ``proofs/``, under the same name, which a test
checks: first on tables of weights and the limit, then on ROO's urn, the entries of DS-ROO, the
thresholds of values found privately, and the steps of a table. Beyond its end a table of integers
is a straight line, so finitely many comparisons decide each hypothesis.

Proof: docs/proofs/machine_checked.md
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import prod

from dproo.core.numbers import ceil_div, is_at_most_exp
from dproo.mechanisms.ls_roo.table import LetterTable


def table_positive(table: LetterTable) -> bool:
    """No letter has weight zero."""
    return min(table.values) > 0 and table.slope >= 0


def table_rising(table: LetterTable) -> bool:
    """One more record never lowers a letter's weight."""
    return table.slope >= 0 and all(low <= high for low, high in pairwise(table.values))


def table_convex(table: LetterTable) -> bool:
    """No step is larger than the one after it."""
    steps = [high - low for low, high in pairwise(table.values)]
    return all(step <= following for step, following in pairwise([*steps, table.slope]))


def table_straight(table: LetterTable) -> bool:
    """From the last entry on, every step is the slope."""
    return table.step(table.last) == table.step(table.last + 1) == table.slope


def table_grows_at_most(table: LetterTable, growth: Fraction, *, n: int) -> bool:
    """One more of ``n`` records multiplies a letter's weight by at most ``growth``.

    From the last entry on, the step is the slope and the weight rises, so that entry decides.
    """
    over, under = growth.as_integer_ratio()
    values = (*table.values, table(table.last + 1))[: n + 1]
    return all(high * under <= low * over for low, high in pairwise(values))


def growth_at_least_one(growth: Fraction) -> bool:
    """The allowed ratio is not below one."""
    return growth >= 1


def search_stop(table: LetterTable, growth: Fraction) -> int:
    """Return the first count, from the table's end on, whose step is within ``growth``."""
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

    A range of counts that the losing letter keeps fits if its largest gap fits with its worst
    total; otherwise both of its halves must fit. No gap of a convex table exceeds what the
    slope leaves, and no total is below the least: an ``x`` that fits with these needs no
    ranges.
    """
    limit, smallest = growth.as_integer_ratio(), table.least(n, k)
    for x in range(min(n, stop)):
        if table.gains_at_most(x, limit, total=smallest):
            continue
        low, high = _counts_to_search(table, x, n=n, k=k)
        fits = partial(_range_fits, table, growth, x, n=n, k=k)
        if not _halves_fit(fits, low, high):
            return False
    return True


def bare_search_found_nothing(table: LetterTable, growth: Fraction, *, n: int, k: int) -> bool:
    """No record that moves raises a letter by more than ``growth`` where nobody else has any.

    The rest weighs least then, whatever the number of records is. From the end of the table on no
    gap is larger, and a letter that has reached it gains what any other loses.
    """
    over, under = growth.as_integer_ratio()

    def fits(x: int, low: int, high: int) -> bool:
        gap = table.step(high) - table.step(x)
        total = table(x) + table(low + 1) + (k - 2) * table(0)
        return gap <= 0 or table(x + 1) * total * under <= over * table(x) * (total - gap)

    return all(
        _halves_fit(partial(fits, x), 0, min(n - 1 - x, table.last))
        for x in range(min(n, table.last))
    )


def _halves_fit(fits: Callable[[int, int], bool], low: int, high: int) -> bool:
    """Whether a range fits, or both of its halves do, and so on."""
    ranges = [(low, high)]
    while ranges:
        low, high = ranges.pop()
        if fits(low, high):
            continue
        if low >= high:
            return False
        middle = (low + high) // 2
        ranges += [(low, middle), (middle + 1, high)]
    return True


def _counts_to_search(table: LetterTable, x: int, *, n: int, k: int) -> tuple[int, int]:
    """Return the first and last count that a losing letter may keep in a worst move."""
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
    """A letter remains for the rest of the probability."""
    return 0 < letters < k


def letters_are_several(letters: int, k: int) -> bool:
    """One of the letters may be emptied while others still have records."""
    return 1 < letters <= k


def share_nonnegative(share: Fraction) -> bool:
    """A letter's probability is not negative."""
    return share >= 0


def share_fits(letters: int, share: Fraction) -> bool:
    """The letters have at most all of the probability."""
    return letters * share <= 1


def share_even(letters: int, share: Fraction) -> bool:
    """The letters have all of the probability."""
    return letters * share == 1


def some_letter(k: int) -> bool:
    """The alphabet is not empty."""
    return k > 0


def some_records(records: int) -> bool:
    """Each of the letters has a record."""
    return records > 0


def records_fit(letters: int, records: int, n: int) -> bool:
    """The records of all these letters are not more than there are."""
    return letters * records <= n


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

    Records and draws are interchangeable, so the fewer of them give the number of factors.
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
    """A rarest letter that gains a record while the minimum stays grows by at most ``growth``.

    From the last entry on, all entries are equal, and the ratio falls with the minimum.
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

    From the last entry on, this is :func:`rarest_may_gain`.
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
    """The largest possible letter grows by at most ``growth`` as the minimum rises.

    From the last entry on, it does not grow.
    """
    weight = _data_weight(entries, unit, n=n, k=k)
    largest = [(m, n - (k - 1) * (m + 1)) for m in range(len(entries)) if k * (m + 1) <= n]
    return all(
        weight(m + 1, c) * growth.denominator <= growth.numerator * weight(m, c) for m, c in largest
    )


def pair_rises(entries: tuple[int, ...], unit: int, *, n: int) -> bool:
    """The rarer of two letters is not obscured so much that a record would lower it.

    From the last entry on, every record adds the same amount, never below zero.
    """
    weight = _data_weight(entries, unit, n=n, k=2)
    return all(
        weight(m, m) <= weight(min(m + 1, n - m - 1), m + 1)
        for m in range(len(entries))
        if 2 * m < n
    )


def pair_grows_at_most(entries: tuple[int, ...], unit: int, growth: Fraction, *, n: int) -> bool:
    """The rarer of two letters grows by at most ``growth`` if it gains a record.

    From the last entry on, every record adds the same amount, and the ratio falls with ``m``.
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
    """Return the weight by minimum and count; the last entry applies to larger minima."""

    def weight(m: int, count: int) -> int:
        q = entries[min(m, len(entries) - 1)]
        return q * n + (unit - q) * k * count

    return weight


def nothing_unseen(minimum: int) -> bool:
    """A value that nobody has is below every threshold."""
    return minimum > 0


def some_weight(weights: tuple[int, ...]) -> bool:
    """There is a threshold."""
    return len(weights) > 0


def weights_positive(weights: tuple[int, ...]) -> bool:
    """Every threshold may be drawn."""
    return min(weights, default=1) > 0


def weights_rise_at_most(weights: tuple[int, ...], growth: Fraction) -> bool:
    """From one threshold to the next, the weight rises by at most ``growth``."""
    over, under = growth.as_integer_ratio()
    return all(after * under <= before * over for before, after in pairwise(weights))


def weights_fall_at_most(weights: tuple[int, ...], growth: Fraction) -> bool:
    """From one threshold to the next, the weight falls by at most ``growth``."""
    return weights_rise_at_most(weights[::-1], growth)


def weights_mirrored(weights: tuple[int, ...]) -> bool:
    """The last weights are the first ones."""
    return weights == weights[::-1]


def weights_rising_for_a_person(weights: tuple[int, ...], records: int) -> bool:
    """As many weights as a person has records rise."""
    return all(low <= high for low, high in pairwise(weights[:records]))


def person_within_weights(weights: tuple[int, ...], records: int) -> bool:
    """A person has no more records than there are thresholds."""
    return records <= len(weights)


def steps_sound(ratios: Collection[Fraction]) -> bool:
    """Every step of a table has noise, or a choice, of a ratio between 0 and 1."""
    return all(0 < ratio < 1 for ratio in ratios)


def paths_within(growths: Collection[Fraction], epsilon: Fraction) -> bool:
    """What the steps of a path may change multiplies to at most e^epsilon."""
    return is_at_most_exp(prod(growths, start=Fraction(1)), epsilon)
