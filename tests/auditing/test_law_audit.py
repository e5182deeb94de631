"""The audit of a law: every branch of a sampler is walked, its rounding included."""

import math
from fractions import Fraction

import pytest
from support.draws import DICE

import dproo
from dproo.auditing import exact_law
from dproo.core.numbers import is_at_most_exp


def float_roo(epsilon, k):
    """Return ROO as it is written in floats."""

    def draw(records, generator):
        q = 1 / (1 + len(records) / k * (math.exp(epsilon) - 1))
        if generator.random() < 1 - q:
            return generator.choice(records)
        return generator.randrange(k)

    return draw


@pytest.mark.parametrize("n", [3, 10, 100, 1000])
def test_a_float_roo_at_a_tiny_epsilon_is_caught(n):
    records, neighbour = [1] * n, [0] + [1] * (n - 1)
    law = dproo.exact_law(float_roo(1e-15, 3))
    found = dproo.audit_law(law, records, neighbour, epsilon="1e-15")
    assert not found.holds
    assert found.letter == 0
    assert 1.1e-15 < found.epsilon_lower < 1.2e-15
    exact = dproo.mechanism("roo", epsilon="1e-15", n=n, k=3)
    found = dproo.audit_law(exact.pmf, [0, n, 0], [1, n - 1, 0], epsilon="1e-15")
    assert found.holds
    assert found.ratio == dproo.certify(exact).ratio


def test_a_float_roo_that_never_obscures_is_caught():
    """``1 - q`` rounds to 1, so what nobody has is never drawn."""
    records, neighbour = [1] * 10, [0] + [1] * 9
    found = dproo.audit_law(dproo.exact_law(float_roo(50, 3)), records, neighbour, epsilon="50")
    assert not found.holds
    assert found.ratio == found.epsilon_lower == math.inf


@pytest.mark.parametrize("bound", [0, 0.1, 1 / 3, 0.5, 0.75, 1 - 2**-53, 1, 2, Fraction(1, 3), -1])
def test_a_random_float_is_compared_as_the_multiple_it_is(bound):
    one, unit = Fraction(bound), 2**53
    below = Fraction(min(max(math.ceil(one * unit), 0), unit), unit)
    upto = Fraction(min(max(math.floor(one * unit) + 1, 0), unit), unit)
    for compare, chance in (
        (lambda u: u < bound, below),
        (lambda u: u <= bound, upto),
        (lambda u: u > bound, 1 - upto),
        (lambda u: u >= bound, 1 - below),
        (lambda u: bound > u, below),
        (lambda u: u == bound, upto - below),
        (lambda u: not u, Fraction(1, unit)),
    ):
        law = dproo.exact_law(lambda _, generator: compare(generator.random()))(None)  # noqa: B023
        assert law.get(True, 0) == chance
        assert sum(law.values()) == 1


def test_a_random_float_keeps_what_its_comparisons_told():
    def by_thresholds(shares, generator):
        u = generator.random()
        return next(i for i, share in enumerate(shares) if u < share)

    law = dproo.exact_law(by_thresholds)([0.25, 0.5, 0.5, 1])
    assert law == {0: Fraction(1, 4), 1: Fraction(1, 4), 3: Fraction(1, 2)}


def test_walked_branches_are_those_of_the_real_generator():
    def draw(letters, generator):
        return generator.choice(letters), generator.randint(1, 2), generator.randrange(3, 5)

    law = dproo.exact_law(draw)("ab")
    assert set(law) == {draw("ab", DICE) for _ in range(1000)}
    assert set(law.values()) == {Fraction(1, 8)}


def test_what_cannot_be_walked_is_refused(monkeypatch):
    with pytest.raises(TypeError, match="draw must use random, randrange, randint and choice"):
        dproo.exact_law(lambda _, generator: generator.gauss(0, 1))(None)
    with pytest.raises(TypeError, match="unsupported operand"):
        dproo.exact_law(lambda _, generator: int(generator.random() * 3))(None)
    with pytest.raises(ValueError, match="the range of randrange must be at least 1, got 0"):
        dproo.exact_law(lambda _, generator: generator.randrange(0))(None)
    sides = iter(range(2, 10))
    with pytest.raises(ValueError, match="draw must take its randomness from its generator only"):
        dproo.exact_law(lambda _, generator: generator.randrange(next(sides)))(None)
    coins = iter([True, False])
    with pytest.raises(ValueError, match="draw must take its randomness from its generator only"):
        dproo.exact_law(lambda _, generator: next(coins) and generator.randrange(2))(None)
    monkeypatch.setattr(exact_law, "_MOST_BRANCHES", 1000)
    with pytest.raises(ValueError, match="draw must have at most 1000 branches"):
        dproo.exact_law(lambda _, generator: generator.randrange(1001))(None)


def test_a_law_may_be_a_mapping_or_in_order_and_must_be_one():
    same = {"flu": Fraction(1, 2), "cold": Fraction(1, 2)}
    other = {"flu": Fraction(1, 2), "plague": Fraction(1, 2)}
    assert dproo.audit_law(lambda law: law, same, same, epsilon=1).ratio == 1
    assert dproo.audit_law(lambda law: law, same, other, epsilon=1).ratio == math.inf
    with pytest.raises(ValueError, match=r"probability must be at least 0, got -1\.0"):
        dproo.audit_law(lambda law: law, [-1, 2], [1, 0], epsilon=1)
    with pytest.raises(ValueError, match=r"probabilities must sum to 1, got 1\.5"):
        dproo.audit_law(lambda law: law, [1, 0.5], [1, 0], epsilon=1)


def test_the_loss_of_a_law_is_rounded_down():
    for odds in (2, 3, 1 + Fraction(1, 10**15), Fraction(10**30)):
        p = Fraction(1, 10**31)
        found = dproo.audit_law(lambda p: [p, 1 - p], p, p * odds, epsilon=100)
        assert not is_at_most_exp(Fraction(odds), Fraction(found.epsilon_lower))
        assert found.epsilon_lower == pytest.approx(math.log(odds), rel=1e-12)
