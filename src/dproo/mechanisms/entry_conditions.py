"""What the machine-checked theorems on DS-ROO assume of the entries of its table.

Each function has the name of its hypothesis. The last entry serves every larger minimum, so each
of them is decided by the entries.

Proof: docs/proofs/machine_checked.md
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise


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
