r"""Exact numbers: parsed parameters, and rational bounds on ``exp`` and ``log``.

Everything between epsilon and the draw is an integer or a :class:`~fractions.Fraction`.
A bound names its side and never lies on the other one:

    ``exp_lower(x) <= e^x <= exp_upper(x)``,    ``log_lower(y) <= ln y <= log_upper(y)``.

Stated precision: the two bounds on ``e^x`` differ by at most ``2^-bits (e^x - 1)``, the two
on ``ln y`` by at most ``2^-bits ln y``, so that ``e^epsilon - 1`` is known to ``bits``
significant bits however small epsilon is. Both loops below *check* that width before they
return, so the precision is established at run time as well as by the proof.

Numbers for people come last: percentages, rounded up or down, and amounts of privacy, which are
integers in nano-epsilon and atto-delta, so that no sum is too small.

Proof: docs/proofs/exact_numbers.md
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, inf, nextafter
from operator import floordiv

from dproo.core.checks import exact, refusal, shown

Number = int | float | str | Fraction | Decimal

BITS = 64
_EXACT_STEPS = 1 << 8
EPSILON_MIN = Fraction(1, 10**30)
EPSILON_MAX = Fraction(1000)

_NUMERAL = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3}|/\d+)?\s*", re.ASCII)
_LONGEST_NUMERAL = 200
_MOST_DIGITS = 1200
_MOST = 10**_MOST_DIGITS
_LONGEST_TEXT = 2048


def rational(name: str, value: object, *, is_binary: bool = False) -> Fraction:
    """Return ``value`` as the exact number it denotes; a float is the decimal it prints as.

    A written 0.1 means a tenth, so three charges of 0.1 fit into a budget of 0.3.

    Args:
        name: what a refusal calls it.
        value: the number.
        is_binary: whether a float means its exact binary value instead, as a computed one does.

    >>> rational("alpha", "0.1"), rational("alpha", 0.1)
    (Fraction(1, 10), Fraction(1, 10))

    Raises:
        TypeError: ``value`` is not a number or a numeral.
        ValueError: it is NaN, infinite, too long to be written, or text that is not a numeral.
    """
    value = exact(value)
    if isinstance(value, str):
        if len(value) > _LONGEST_NUMERAL or not _NUMERAL.fullmatch(value):
            raise ValueError(refusal(name, "be a decimal number", value))
    elif isinstance(value, bool) or not isinstance(value, int | float | Fraction | Decimal):
        raise TypeError(refusal(name, "be a number or a decimal string", value))
    elif isinstance(value, Decimal) and value and abs(value.adjusted()) > _MOST_DIGITS:
        raise ValueError(f"{name} must have at most {_MOST_DIGITS} digits, got more.")
    is_written = isinstance(value, float) and not is_binary  # float-ok: read as text
    try:
        # NumPy's floats have a repr of their own.
        number = Fraction(float.__repr__(value) if is_written else value)  # float-ok: read as text
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ValueError(refusal(name, "be a finite number", value)) from None
    if max(abs(number.numerator), number.denominator) >= _MOST:
        raise ValueError(f"{name} must have at most {_MOST_DIGITS} digits, got more.")
    return number


def parse_epsilon(value: object, *, name: str = "epsilon") -> Fraction:
    """Return the privacy parameter exactly.

    >>> parse_epsilon("0.1")
    Fraction(1, 10)
    """
    epsilon = rational(name, value)
    if not epsilon > 0:
        raise ValueError(refusal(name, "be positive", value))
    if not EPSILON_MIN <= epsilon <= EPSILON_MAX:
        raise ValueError(refusal(name, "be between 1e-30 and 1000", value))
    return epsilon


def require_share(share: Fraction, whose: str, *, least: Fraction = EPSILON_MIN) -> None:
    """Raise if the epsilon of a part of a release is below the least one.

    >>> require_share(Fraction(1, 10**31), "each column")
    Traceback (most recent call last):
    ValueError: epsilon must leave at least 1e-30 for each column, but leaves 1e-31.
    """
    if 0 < share < least:
        raise ValueError(
            f"epsilon must leave at least {shown(least)} for {whose}, but leaves {shown(share)}."
        )


def parse_delta(value: object) -> Fraction:
    """Return the probability with which epsilon may fail, exactly; 0 is pure.

    >>> parse_delta("1e-6")
    Fraction(1, 1000000)
    """
    delta = rational("delta", value)
    if not 0 <= delta < 1:
        raise ValueError(refusal("delta", "be at least 0 and below 1", value))
    return delta


def exp_lower(x: Fraction, *, bits: int = BITS) -> Fraction:
    """Return a rational just below ``e^x``, for ``x >= 0``."""
    return _exp_bounds(x, bits)[0]


def exp_upper(x: Fraction, *, bits: int = BITS) -> Fraction:
    """Return a rational just above ``e^x``, for ``x >= 0``."""
    return _exp_bounds(x, bits)[1]


def log_lower(y: Fraction, *, bits: int = BITS) -> Fraction:
    """Return a rational just below ``ln y``, for ``y >= 1``."""
    return _log_bounds(y, bits)[0]


def log_upper(y: Fraction, *, bits: int = BITS) -> Fraction:
    """Return a rational just above ``ln y``, for ``y >= 1``."""
    return _log_bounds(y, bits)[1]


def power_lower(base: Fraction, exponent: int, *, bits: int = BITS) -> Fraction:
    """Return a rational just below ``base^exponent``, for ``base >= 1`` and ``exponent >= 0``."""
    return _power(base, exponent, bits, floordiv)


def power_upper(base: Fraction, exponent: int, *, bits: int = BITS) -> Fraction:
    """Return a rational just above ``base^exponent``, for ``base >= 1`` and ``exponent >= 0``."""
    return _power(base, exponent, bits, ceil_div)


def power(base: Fraction, exponent: int) -> Fraction:
    """Return ``base^exponent``, for ``base >= 1``, or a shorter fraction just above it."""
    if exponent > _EXACT_STEPS:
        return power_upper(base, exponent, bits=4 * BITS)
    return base**exponent


def _power(base: Fraction, exponent: int, bits: int, divide: Callable[[int, int], int]) -> Fraction:
    """Return ``base^exponent``, every product rounded by ``divide``.

    The precision keeps the error of fewer than ``4 exponent + 4`` roundings below ``2^-bits``.
    """
    one = 1 << bits + exponent.bit_length() + 4
    square = divide(base.numerator * one, base.denominator)
    power = one
    while exponent:
        if exponent & 1:
            power = divide(power * square, one)
        square = divide(square * square, one)
        exponent >>= 1
    return Fraction(power, one)


def is_at_most_exp(y: Fraction, x: Fraction) -> bool:
    """Decide ``y <= e^x`` exactly, for ``x >= 0``.

    For rational ``x > 0``, ``e^x`` is irrational, so finer bounds always decide.

    >>> is_at_most_exp(Fraction(271828, 100000), Fraction(1))
    True
    """
    bits = BITS
    while True:
        lower, upper = _exp_bounds(x, bits)
        if y <= lower:
            return True
        if y > upper:
            return False
        bits *= 2


def float_upper(x: Fraction) -> float:
    """Return the least float that is not below ``x``.

    >>> float_upper(Fraction(1, 3)) > Fraction(1, 3), float_upper(Fraction(1, 2))
    (True, 0.5)
    """
    nearest = float(x)  # float-ok: shown or handed on, never drawn from
    return nearest if Fraction(nearest) >= x else nextafter(nearest, inf)


def log_float_upper(ratio: Fraction) -> float:
    """Return the float nearest to ``ln ratio``, or the next one if that is too small.

    >>> log_float_upper(Fraction(2))
    0.6931471805599454
    """
    nearest = float(log_upper(ratio))  # float-ok: shown only, and compared exactly
    return nearest if is_at_most_exp(ratio, Fraction(nearest)) else nextafter(nearest, inf)


def rounded_up(x: Fraction, *, bits: int = 4 * BITS) -> Fraction:
    """Return ``x > 0``, rounded up to ``bits`` significant bits.

    >>> rounded_up(Fraction(1, 3), bits=4)
    Fraction(11, 32)
    """
    unit = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - bits)
    return ceil(x / unit) * unit


def fraction_text(x: Fraction) -> str:
    """Return ``x > 0`` as a fraction: exact, or rounded up to 512 bits if that is too long.

    Python refuses to print integers of many digits, but never one this short.

    >>> fraction_text(Fraction(8, 6)), len(fraction_text(1 + Fraction(1, 3**9999)))
    ('4/3', 311)
    """
    is_long = max(x.numerator.bit_length(), x.denominator.bit_length()) > _LONGEST_TEXT
    return str(rounded_up(x, bits=_LONGEST_TEXT // 4) if is_long else x)


def decimal_text(x: Fraction) -> str:
    """Return ``x`` as a decimal number, rounded up to 28 digits: never less than it is.

    >>> decimal_text(Fraction(1, 8)), decimal_text(Fraction(1, 3))
    ('0.125', '0.3333333333333333333333333334')
    """
    up = Context(prec=28, rounding=ROUND_CEILING, traps=[])
    return str(up.divide(Decimal(x.numerator), Decimal(x.denominator)))


def ceil_div(numerator: int, denominator: int) -> int:
    """Return ``numerator / denominator`` rounded up, for ``denominator > 0``."""
    return -(-numerator // denominator)


def first_true(is_true: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least integer above ``low`` from which something is true; at ``high`` it is.

    >>> first_true(lambda x: x * x >= 50, 0, 50)
    8
    """
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_true(middle) else (middle, high)
    return high


@lru_cache(maxsize=256)
def _exp_bounds(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    precision = 2 * bits
    while True:
        lower, upper = _exp_fixed(x, precision)
        one = 1 << precision
        if (upper - lower) << bits <= lower - one or x == 0:
            return Fraction(lower, one), Fraction(upper, one)
        precision *= 2


def _exp_fixed(x: Fraction, precision: int) -> tuple[int, int]:
    """Bound ``e^x`` in units of ``2^-precision``: a Taylor sum, then squarings.

    With ``x / 2^halvings <= 1/2``, a rounded term is less than 2 units too small (each floor
    adds one unit to half the previous error), and once a rounded term is zero the remaining
    tail is below 4 units.
    """
    if x == 0:
        return 1 << precision, 1 << precision
    halvings = (2 * x.numerator // x.denominator).bit_length()
    over, under = x.numerator, x.denominator << halvings
    term = total = 1 << precision
    terms = 0
    while term:
        terms += 1
        term = term * over // (under * terms)
        total += term
    lower, upper = total, total + 2 * terms + 4
    for _ in range(halvings):
        lower = lower * lower >> precision
        upper = (upper * upper >> precision) + 1
    return lower, upper


@lru_cache(maxsize=256)
def _log_bounds(y: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    if y == 1:
        return Fraction(0), Fraction(0)
    doublings = (y.numerator // y.denominator).bit_length() - 1
    mantissa = y / (1 << doublings)
    precision = 2 * bits
    while True:
        lower, upper = _log_fixed(mantissa, precision)
        if doublings:
            lower_two, upper_two = _log_fixed(Fraction(2), precision)
            lower, upper = lower + doublings * lower_two, upper + doublings * upper_two
        if (upper - lower) << bits <= lower:
            one = 1 << precision
            return Fraction(lower, one), Fraction(upper, one)
        precision *= 2


def _log_fixed(y: Fraction, precision: int) -> tuple[int, int]:
    """Bound ``ln y = 2 artanh((y - 1)/(y + 1))`` in units of ``2^-precision``, ``1 <= y <= 2``.

    The argument ``z`` is at most 1/3, so a rounded power of it is less than 2 units too small,
    a rounded summand less than 3, and once a power is zero the tail is below 3 units.
    """
    z = (y - 1) / (y + 1)
    over, under = z.numerator**2, z.denominator**2
    power = (z.numerator << precision) // z.denominator
    total = terms = 0
    while power:
        total += power // (2 * terms + 1)
        power = power * over // under
        terms += 1
    return 2 * total, 2 * (total + 3 * terms + 3)


def counted(number: int, thing: str) -> str:
    """Return how many things there are.

    >>> counted(1, "record"), counted(2000, "record")
    ('1 record', '2,000 records')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


_LEAST = Fraction(1, 10**5)
_OWN = Context(prec=64, traps=[])  # a program may have set another one for its own decimals


def percent(share: Fraction) -> str:
    """Return a share in percent, rounded up to two digits.

    >>> [percent(Fraction(x)) for x in ("0.0288", "0.5001", "1", "0.00012", "1e-9", "0")]
    ['2.9 %', '51 %', '100 %', '0.012 %', '0.001 %', '0.001 %']
    """
    return _in_percent(min(max(share, _LEAST), Fraction(1)), ceil)


def percent_below(share: Fraction) -> str:
    """Return a share in percent, rounded down to two digits.

    >>> [percent_below(Fraction(x)) for x in ("0.0288", "0.9999", "1", "1e-9", "0")]
    ['2.8 %', '99 %', '100 %', '0.0000001 %', '0 %']
    """
    return _in_percent(share, floor)


def _in_percent(share: Fraction, whole: Callable[[Fraction], int]) -> str:
    digits = 0
    while 0 < share * 10**digits < 10:
        digits += 1
    rounded = Decimal(whole(share * 10**digits))
    return f"{_OWN.normalize(_OWN.scaleb(rounded, 2 - digits)):f} %"


NANO = 10**9
ATTO = 10**18
BUDGET_MAX = 10**6


def charge_of(epsilon: object) -> int:
    """Return what a release of ``epsilon`` costs, rounded up.

    Guarantee: the sum of the charges is never below the sum of the epsilons.

    >>> charge_of("0.1"), charge_of("1/3"), charge_of("1e-30")
    (100000000, 333333334, 1)
    """
    return ceil(parse_epsilon(epsilon) * NANO)


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
    return floor(exact * NANO)


def delta_charge_of(delta: object) -> int:
    """Return what a release of ``delta`` costs, in atto-delta, rounded up.

    >>> delta_charge_of("1e-6"), delta_charge_of("1e-30"), delta_charge_of(0)
    (1000000000000, 1, 0)
    """
    return ceil(parse_delta(delta) * ATTO)


def delta_budget_of(delta: object) -> int:
    """Return a total delta, in atto-delta, rounded down.

    >>> delta_budget_of("1e-6"), delta_budget_of("1/3")
    (1000000000000, 333333333333333333)
    """
    exact = parse_delta(delta) * ATTO
    if not (exact == 0 or exact >= 1):
        raise ValueError(refusal("delta", "be 0 or at least 1e-18", delta))
    return floor(exact)


def in_delta(atto: int, /) -> str:
    """Return an amount as an exact decimal.

    >>> in_delta(10**12), in_delta(15 * 10**8), in_delta(0)
    ('1e-6', '1.5e-9', '0')
    """
    return f"{_OWN.normalize(_OWN.divide(Decimal(atto), Decimal(ATTO))):e}" if atto else "0"


def in_epsilon(nano: int, /) -> str:
    """Return an amount as an exact decimal.

    >>> in_epsilon(333333334), in_epsilon(2 * NANO), in_epsilon(0)
    ('0.333333334', '2', '0')
    """
    whole, part = divmod(nano, NANO)
    return f"{whole}.{part:09}".rstrip("0").rstrip(".")
