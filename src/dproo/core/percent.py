"""Shares as people read them: in percent, never better than they are."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from dproo.core.exact import ceil_div

_LEAST = Fraction(1, 10**5)


def percent(share: Fraction) -> str:
    """Return a share in percent, rounded up to two digits.

    >>> [percent(Fraction(x)) for x in ("0.0288", "0.5001", "1", "0.00012", "1e-9", "0")]
    ['2.9 %', '51 %', '100 %', '0.012 %', '0.001 %', '0.001 %']
    """
    share = min(max(share, _LEAST), Fraction(1))
    digits = 0
    while share * 10**digits < 10:
        digits += 1
    rounded = Decimal(ceil_div(share.numerator * 10**digits, share.denominator))
    return f"{rounded.scaleb(2 - digits).normalize():f} %"
