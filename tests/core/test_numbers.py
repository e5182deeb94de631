"""Parsed numbers and the bounds on exp and log, against an independent ball arithmetic."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.contexts import CONTEXTS

from dproo.core import numbers

BITS, CLOSE = 4096, 500
POINTS = [
    Fraction(1, 10**30),
    Fraction(1, 10**18),
    Fraction(1, 10**9),
    Fraction(1, 1000),
    Fraction(1, 10),
    Fraction(1, 2),
    Fraction(1),
    Fraction(0.1),
    Fraction(22, 7),
    Fraction(50),
    Fraction(1000),
]

positive = st.fractions(min_value=Fraction(1, 10**30), max_value=1000)


def ball(value: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


@pytest.fixture(autouse=True)
def _precise_oracle():
    previous = flint.ctx.prec
    flint.ctx.prec = BITS
    yield
    flint.ctx.prec = previous


def assert_exp_is_bounded(x, bits):
    lower, upper = numbers.exp_lower(x, bits=bits), numbers.exp_upper(x, bits=bits)
    truth = ball(x).exp()
    assert ball(lower) < truth < ball(upper)
    assert (upper - lower) * 2**bits <= lower - 1


@pytest.mark.parametrize("x", POINTS)
@pytest.mark.parametrize("bits", [8, 64, 200])
def test_the_bounds_on_exp_hold_and_are_as_tight_as_stated(x, bits):
    assert_exp_is_bounded(x, bits)


@given(positive)
def test_the_bounds_on_exp_hold_everywhere(x):
    flint.ctx.prec = BITS
    assert_exp_is_bounded(x, 64)


@given(positive)
def test_the_bounds_on_log_hold_everywhere_and_are_as_tight_as_stated(x):
    flint.ctx.prec = BITS
    y = 1 + x
    lower, upper = numbers.log_lower(y), numbers.log_upper(y)
    truth = ball(y).log()
    assert ball(lower) < truth < ball(upper)
    assert (upper - lower) * 2**numbers.BITS <= lower


def test_the_bounds_meet_where_the_value_is_rational():
    assert numbers.exp_lower(Fraction(0)) == numbers.exp_upper(Fraction(0)) == 1
    assert numbers.log_lower(Fraction(1)) == numbers.log_upper(Fraction(1)) == 0


@pytest.mark.parametrize("x", POINTS)
def test_a_comparison_with_exp_is_decided_however_close(x):
    assert numbers.is_at_most_exp(numbers.exp_lower(x, bits=CLOSE), x)
    assert not numbers.is_at_most_exp(numbers.exp_upper(x, bits=CLOSE), x)
    assert numbers.is_at_most_exp(Fraction(1), Fraction(0))
    assert not numbers.is_at_most_exp(Fraction(1) + Fraction(1, 10**40), Fraction(0))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, Fraction(1)),
        ("0.1", Fraction(1, 10)),
        (" 1e-18 ", Fraction(1, 10**18)),
        ("1/3", Fraction(1, 3)),
        (".5", Fraction(1, 2)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Fraction(1, 7), Fraction(1, 7)),
        (0.1, Fraction(1, 10)),
    ],
)
def test_epsilon_is_taken_at_its_exact_value(value, expected):
    assert numbers.parse_epsilon(value) == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "epsilon must be positive, got 0."),
        (-1, "epsilon must be positive, got -1."),
        (math.nan, "epsilon must be a finite number, got nan."),
        (math.inf, "epsilon must be a finite number, got inf."),
        (Decimal("NaN"), "epsilon must be a finite number, got NaN."),
        (Decimal("-Infinity"), "epsilon must be a finite number, got -Infinity."),
        ("1/0", "epsilon must be a finite number, got '1/0'."),
        ("nan", "epsilon must be a decimal number, got 'nan'."),
        ("a lot", "epsilon must be a decimal number, got 'a lot'."),
        ("1e-99999999", "epsilon must be a decimal number, got '1e-99999999'."),
        ("", "epsilon must be a decimal number, got ''."),
        ("9" * 300, "epsilon must be a decimal number, got '999999999999...9999999999999'."),
        ("1e-31", "epsilon must be between 1e-30 and 1000, got '1e-31'."),
        (1001, "epsilon must be between 1e-30 and 1000, got 1001."),
    ],
)
def test_an_absurd_epsilon_is_refused_in_one_sentence(value, message):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the sentence is compared whole
        numbers.parse_epsilon(value)
    assert str(refused.value) == message


@pytest.mark.parametrize("value", [None, True, [1], b"1", 1j])
def test_what_is_no_number_is_a_type_error(value):
    with pytest.raises(TypeError, match="epsilon must be a number or a decimal string, got"):
        numbers.parse_epsilon(value)


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9), st.integers(1, 10**6))
def test_a_rounded_number_and_a_power_are_never_below(x, exponent):
    for bits in (1, 8, 256):
        rounded = numbers.rounded_up(x, bits=bits)
        assert x <= rounded <= x * (1 + Fraction(2, 2**bits))
    base = 1 + 1 / (1 + x * exponent)
    power = numbers.power_upper(base, exponent, bits=256)
    true = ball(base) ** exponent
    assert not ball(power) < true
    assert ball(power) < true * (1 + flint.arb(2) ** -200)


def test_every_fraction_can_be_written_whatever_its_length():
    long = 1 + Fraction(1, 7**9999)
    text = numbers.fraction_text(long)
    assert long < Fraction(text) < long + Fraction(1, 2**500)
    assert numbers.fraction_text(Fraction(22, 7)) == "22/7"
    assert len(numbers.fraction_text(numbers.exp_upper(Fraction(1000), bits=9000))) < 1300


@pytest.mark.parametrize(
    "value", [10**1201, Fraction(1, 7**9999), Decimal("1e-99999999"), Decimal("1e99999999")]
)
def test_a_number_too_long_to_be_written_is_refused(value):
    with pytest.raises(ValueError, match=r"^delta must have at most 1200 digits, got more\.$"):
        numbers.parse_delta(value)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-300, max_value=1e300))
def test_a_float_is_the_decimal_that_it_prints_as_unless_it_was_computed(number):
    assert numbers.rational("alpha", number) == Fraction(repr(number))
    assert numbers.rational("alpha", number, is_binary=True) == Fraction(number)


AMOUNTS = [1, 15 * 10**8, 10**12, 123_456_789_012, 876_543_211_000, 10**18 - 1, 10**18]
SHARES = [Fraction(x) for x in ("0.0288", "0.5001", "0.516", "0.9999", "1", "0.00012", "1e-9")]
SHOWN = {
    numbers.in_delta: AMOUNTS,
    numbers.in_epsilon: AMOUNTS,
    numbers.percent: SHARES,
    numbers.percent_below: SHARES,
    numbers.decimal_text: [Fraction(1, 3), Fraction(22, 7), Fraction(1, 10**30), Fraction(1000)],
    numbers.charge_of: [Decimal("0.123456789"), Decimal("1e-9"), Decimal("0.333333333333")],
    numbers.delta_charge_of: [Decimal("1.23456789e-7"), Decimal("1e-18")],
}


@pytest.mark.parametrize("name", CONTEXTS)
@pytest.mark.parametrize("show", SHOWN)
def test_no_context_of_a_programs_decimals_changes_what_is_shown_or_charged(show, name):
    usual = [show(amount) for amount in SHOWN[show]]
    with localcontext(CONTEXTS[name]):
        assert [show(amount) for amount in SHOWN[show]] == usual
