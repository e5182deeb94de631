"""The search for the first integer that meets a target, on curves whose answer is known."""

from fractions import Fraction

import pytest
from support.draws import DICE

from dproo.analysis.search import Curve, least, most, roughly


def curves(number=60):
    """Yield curves ``c x^p / (c x^p + 1)``, with the real number at which they meet a target."""
    for _ in range(number):
        power = DICE.choice([-2, -1, 1, 2])
        scale = Fraction(DICE.randint(1, 10**6), DICE.randint(1, 10**6))
        target = Fraction(DICE.randint(1, 999), 1000)

        def at(x, power=power, scale=scale):
            odds = scale * Fraction(x) ** power
            return odds / (odds + 1)

        yield Curve(at, target, 1, power < 0), DICE.choice([1, 10**3, 10**9])


def test_the_first_and_the_last_integer_are_found_exactly():
    for curve, guess in curves():
        if curve.falls:
            found = least(curve, guess)
            assert curve.holds(found)
            assert found == 1 or not curve.holds(found - 1)
        else:
            found = most(curve, guess)
            assert found == 0 or curve.holds(found)
            assert not curve.holds(found + 1)


def test_a_rough_answer_meets_the_target_and_is_nearly_the_best():
    for curve, guess in curves():
        found = roughly(curve, guess)
        if found is None:
            continue
        assert curve.holds(found)


@pytest.mark.parametrize("falls", [True, False])
def test_a_rough_answer_is_never_one_that_fails(falls):
    """The last integer that is looked at fails; the one before held."""
    held = {1: Fraction(1, 10)}
    curve = Curve(lambda x: held.get(x, Fraction(4, 10)), Fraction(2, 10), 1, falls)
    for guess in (1, 2, 50):
        found = roughly(curve, guess)
        assert found is None or curve.holds(found)
    assert roughly(curve, 1) == 1
