r"""What a person's records can change of an urn's draws, in integers: exactly, or a proven bound.

A letter of weight ``base`` that gains ``g`` records and is drawn ``s`` times becomes likelier by

    ``risen(g, s) = prod (base + (s + j) record) / (base + j record)`` over ``j < g``,

the same with ``g`` and ``s`` exchanged. A person may spread the records over several letters,
and what was drawn may be spread over them, too. Where a record weighs no more than the lightest
letter, putting everything on that letter is worst; where it weighs more, all allocations are
searched, or bounded where they are too many. No allocation is taken for the worst unproven.

Proof: docs/proofs/reveal_or_obscure.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, prod

from dproo.core.exact import BITS, ceil_div, exp_lower, power_upper

FACTORS_MAX = 64
"""Products of more factors are bounded and not multiplied out."""

CELLS_MAX = 64
"""Allocations of gains and draws are searched where their product is at most this."""

LETTERS_MAX = isqrt(CELLS_MAX) + 1
"""More letters than any searched allocation uses."""

Part = tuple[int, int]
"""How many records a letter gains, and how often it is drawn."""


@dataclass(frozen=True)
class Allocation:
    """Gains and draws spread over letters: a part for each, and their ratio ``over / under``."""

    over: int
    under: int
    parts: tuple[Part, ...] = ()

    def times(self, over: int, under: int, part: Part) -> Allocation:
        """Return this allocation with one more letter."""
        return Allocation(self.over * over, self.under * under, (*self.parts, part))


def risen(base: int, record: int, gains: int, draws: int) -> tuple[int, int]:
    """Return numerator and denominator of how much likelier one letter becomes."""
    few, many = sorted((gains, draws))
    return (
        prod(base + (many + j) * record for j in range(few)),
        prod(base + j * record for j in range(few)),
    )


def worst_allocations(
    bases: Sequence[int], record: int, gains: int, draws: int
) -> list[list[Allocation]]:
    """Return the worst allocation of up to ``g`` gains and ``s`` draws at ``[g][s]``, exactly."""
    best = [[Allocation(1, 1)] * (draws + 1) for _ in range(gains + 1)]
    for base in bases:
        one = [[risen(base, record, g, s) for s in range(draws + 1)] for g in range(gains + 1)]
        best = [[_extended(best, one, g, s) for s in range(draws + 1)] for g in range(gains + 1)]
    return best


def _extended(
    best: list[list[Allocation]], one: list[list[tuple[int, int]]], gains: int, draws: int
) -> Allocation:
    """Return the worst allocation with a letter more than in ``best``, whose ratios are ``one``."""
    worst = best[gains][draws].times(1, 1, (0, 0))
    for g in range(1, gains + 1):
        for s in range(1, draws + 1):
            fewer, (over, under) = best[gains - g][draws - s], one[g][s]
            if fewer.over * over * worst.under > worst.over * fewer.under * under:
                worst = fewer.times(over, under, (g, s))
    return worst


def least_pseudo(
    epsilon: Fraction, growth: Fraction, shares: Sequence[int], gains: int, draws: int
) -> Fraction:
    """Return the least pseudo-count of the lightest letter that is proven to be enough.

    Args:
        epsilon: the privacy parameter.
        growth: a rational just below ``e^epsilon``.
        shares: what the letters that can gain weigh relative to each other, lightest first;
            more than ``LETTERS_MAX`` are never looked at.
        gains: the most records of a person.
        draws: how many letters are drawn.
    """
    few, many = sorted((gains, draws))
    if few == 1:
        return many / (growth - 1)
    if few > FACTORS_MAX:
        return max(Fraction(1), _enough_for_many(epsilon, few, many))
    pseudo = _enough_for(growth, shares, [(gains, draws)])
    if pseudo >= 1 or len(shares) == 1:
        return pseudo
    if few * many > CELLS_MAX:
        return min(Fraction(1), _enough_for_spread(epsilon, few, many))
    while True:
        over, under = pseudo.as_integer_ratio()
        bases = [over * share for share in shares[:few]]
        worst = worst_allocations(bases, under * shares[0], gains, draws)[gains][draws]
        if worst.over * growth.denominator <= worst.under * growth.numerator:
            return pseudo
        pseudo = _enough_for(growth, shares, worst.parts)


def _enough_for(growth: Fraction, shares: Sequence[int], parts: Sequence[Part]) -> Fraction:
    """Return the least pseudo-count, in 64 bits, that keeps this one allocation to ``growth``."""

    def is_enough(pseudo: Fraction) -> bool:
        count, unit = pseudo.as_integer_ratio()
        over, under = growth.denominator, growth.numerator
        for share, part in zip(shares, parts, strict=False):
            more, less = risen(count * share, unit * shares[0], *part)
            over, under = over * more, under * less
        return over <= under

    low, high = -growth.numerator.bit_length(), 1
    while not is_enough(_power_of_two(high)):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(_power_of_two(middle)) else (middle, high)
    unit = _power_of_two(low - BITS)
    low, high = 1 << BITS, 2 << BITS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle * unit) else (middle, high)
    return high * unit


def _power_of_two(exponent: int) -> Fraction:
    return Fraction(1 << max(exponent, 0), 1 << max(-exponent, 0))


def _enough_for_many(epsilon: Fraction, few: int, many: int) -> Fraction:
    """Return a pseudo-count with which :func:`bound_on_one` is within ``e^epsilon``."""
    rate = exp_lower(2 * epsilon / few) - 1
    linear = 2 * many - rate * (few - 1)
    square = (linear * linear + 4 * rate * many * (many + few - 1)) * 4**BITS
    root = Fraction(isqrt(ceil_div(*square.as_integer_ratio())) + 1, 2**BITS)
    pseudo = (linear + root) / (2 * rate)
    return Fraction(ceil_div(pseudo.numerator << BITS, pseudo.denominator), 1 << BITS)


def bound_on_one(pseudo: Fraction, few: int, many: int) -> Fraction:
    """Return a bound on what one letter rises by, for many factors.

    The logarithm of a factor ``(pseudo + many + j) / (pseudo + j)`` is convex in ``j``, so two
    as far from the ends have at most the product of the first and the last.
    """
    last = few - 1
    ends = 1 + many * (2 * pseudo + many + last) / (pseudo * (pseudo + last))
    middle = 1 + many / (pseudo + Fraction(last, 2)) if few % 2 else Fraction(1)
    return power_upper(ends, few // 2, bits=4 * BITS) * middle


def _enough_for_spread(epsilon: Fraction, few: int, many: int) -> Fraction:
    """Return a pseudo-count with which :func:`bound_on_spread` is within ``e^epsilon``, up to 1."""
    rate = (exp_lower(epsilon / few) - 1) * few / many - _harmonic(few - 1)
    return 1 / max(rate, Fraction(1))


def bound_on_spread(pseudo: Fraction, few: int, many: int) -> Fraction:
    """Return a bound on what all letters rise by together, by the mean of the ``few`` factors."""
    return power_upper(
        1 + Fraction(many, few) * (1 / pseudo + _harmonic(few - 1)), few, bits=4 * BITS
    )


def _harmonic(terms: int) -> Fraction:
    return sum((Fraction(1, i) for i in range(1, terms + 1)), Fraction(0))
