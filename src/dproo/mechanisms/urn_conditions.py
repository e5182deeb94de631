"""What the machine-checked theorems on ROO assume of its integers; each has its hypothesis' name.

Proof: docs/proofs/machine_checked.md
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from math import prod

from dproo.core.exact import is_at_most_exp


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
