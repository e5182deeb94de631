"""Amounts of privacy: integers in nano-epsilon and atto-delta, so that no sum is too small."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from dproo.core.arguments import refusal
from dproo.core.exact import ceil_div, parse_delta, parse_epsilon, rational

NANO = 10**9
ATTO = 10**18
BUDGET_MAX = 10**6


def charge_of(epsilon: object) -> int:
    """Return what a release of ``epsilon`` costs, rounded up.

    Guarantee: the sum of the charges is never below the sum of the epsilons.

    >>> charge_of("0.1"), charge_of("1/3"), charge_of("1e-30")
    (100000000, 333333334, 1)
    """
    exact = parse_epsilon(epsilon) * NANO
    return ceil_div(exact.numerator, exact.denominator)


def budget_of(budget: object) -> int:
    """Return a total epsilon, rounded down.

    >>> budget_of("1"), budget_of("1/3")
    (1000000000, 333333333)
    """
    exact = rational("budget", budget)
    if not exact > 0:
        raise ValueError(refusal("budget", "be positive", budget))
    if not Fraction(1, NANO) <= exact <= BUDGET_MAX:
        raise ValueError(refusal("budget", f"be between 1e-9 and {BUDGET_MAX}", budget))
    return exact.numerator * NANO // exact.denominator


def delta_charge_of(delta: object) -> int:
    """Return what a release of ``delta`` costs, in atto-delta, rounded up.

    >>> delta_charge_of("1e-6"), delta_charge_of("1e-30"), delta_charge_of(0)
    (1000000000000, 1, 0)
    """
    exact = parse_delta(delta) * ATTO
    return ceil_div(exact.numerator, exact.denominator)


def delta_budget_of(delta: object) -> int:
    """Return a total delta, in atto-delta, rounded down.

    >>> delta_budget_of("1e-6"), delta_budget_of("1/3")
    (1000000000000, 333333333333333333)
    """
    exact = parse_delta(delta) * ATTO
    if not (exact == 0 or exact >= 1):
        raise ValueError(refusal("delta", "be 0 or at least 1e-18", delta))
    return exact.numerator // exact.denominator


def in_delta(atto: int, /) -> str:
    """Return an amount as an exact decimal.

    >>> in_delta(10**12), in_delta(10**9), in_delta(0)
    ('0.000001', '1E-9', '0')
    """
    return str((Decimal(atto) / ATTO).normalize()) if atto else "0"


def in_epsilon(nano: int, /) -> str:
    """Return an amount as an exact decimal.

    >>> in_epsilon(333333334), in_epsilon(2 * NANO), in_epsilon(0)
    ('0.333333334', '2', '0')
    """
    whole, part = divmod(nano, NANO)
    return f"{whole}.{part:09}".rstrip("0").rstrip(".")
