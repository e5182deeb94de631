"""Exact noise and exact choices: their laws, branch by branch."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import exp, factorial, isqrt, log, log1p, prod

import pytest
from support.chance import ALPHA, p_value
from support.draws import some
from support.walk import law

from dproo.core.draw import RandomSource
from dproo.core.numbers import exp_lower, exp_upper, is_at_most_exp
from dproo.mechanisms.noise import (
    BYTE,
    Ratio,
    concentrated,
    exponential,
    gaussian,
    permute_and_flip,
)

LOSSES = ["1000", "7", "1", "0.7", "0.1", "0.003", "1e-6", "1e-30"]


class Script(RandomSource):
    """Bytes from a list; raises where it ends."""

    def __init__(self, drawn):
        super().__init__(self.taken)
        self.rest = list(drawn)

    def taken(self, count):
        found, self.rest = self.rest[:count], self.rest[count:]
        if len(found) < count:
            raise IndexError
        return bytes(found)


# The ratio


@pytest.mark.parametrize("loss", LOSSES)
def test_a_ratio_is_never_below_what_epsilon_allows_and_close_to_it(loss):
    exact = Fraction(loss)
    ratio = Ratio.of(exact)
    assert is_at_most_exp(1 / ratio.value, exact)
    assert not is_at_most_exp(1 / ratio.value, exact * (1 - Fraction(1, 1 << 12)))
    assert ratio.power(3) == (1 / ratio.value) ** 3


@pytest.mark.parametrize("loss", [0, -1])
def test_a_ratio_needs_a_loss(loss):
    with pytest.raises(ValueError, match="loss must be positive, got"):
        Ratio.of(Fraction(loss))


@pytest.mark.parametrize("over", [0, 2, -1])
def test_a_ratio_is_between_0_and_1(over):
    with pytest.raises(ValueError, match="ratio must be between 0 and 1"):
        Ratio(over, 1)


# Geometric noise. First one comparison over all bytes, then all comparisons of a draw.


def chance_of(ratio, doublings, is_digit):
    power = ratio.value ** (1 << doublings)
    return power / (1 + power) if is_digit else power


COMPARED = Ratio(1, 1), Ratio(3, 2), Ratio(5, 3), Ratio(241, 8), Ratio(3, 20)


@pytest.mark.parametrize(
    ("ratio", "doublings", "is_digit"),
    some(product(COMPARED, (0, 1, 3), (True, False)), one_of=6),
)
def test_a_comparison_has_exactly_its_chance_over_all_bytes(ratio, doublings, is_digit):
    """Two bytes decide all but one branch; the true chance lies between its two ends."""
    yes = open_branches = 0
    for first in range(1 << BYTE):
        for second in range(1 << BYTE):
            source = Script([first, second])
            try:
                (event,) = ratio._events(doublings, 1, source, is_digit=is_digit)
                yes += event
            except IndexError:
                open_branches += 1
    assert open_branches == 1
    all_bytes = 1 << 2 * BYTE
    chance = chance_of(ratio, doublings, is_digit)
    assert Fraction(yes, all_bytes) <= chance <= Fraction(yes + 1, all_bytes)


@pytest.mark.parametrize("ratio", [Ratio(3, 2), Ratio(7, 3), Ratio(61, 6)])
def test_the_thresholds_are_the_binary_places_of_the_chance(ratio):
    for doublings, places, is_digit in product(range(4), (8, 16, 72), (True, False)):
        exact = chance_of(ratio, doublings, is_digit)
        found = ratio._threshold(doublings, places, is_digit=is_digit)
        assert found == exact * (1 << places) // 1


def geometric_law(ratio, lives):
    """Return the law of a geometric draw, of which comparisons are walked through, and the rest.

    A comparison answers each of its two ways with its chance; a draw that lives on more often
    than ``lives`` times is cut.
    """
    chances = defaultdict(Fraction)
    top = ratio._doublings
    for lived in range(lives):
        for digits in product((0, 1), repeat=top):
            answers = [1] * lived + [0] + list(digits)
            asked = []

            def events(self, doublings, *_, is_digit, answers=answers, asked=asked):
                chance = chance_of(self, doublings, is_digit)
                answer = answers[len(asked)]
                asked.append(chance if answer else 1 - chance)
                return bytes([answer])

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Ratio, "_events", events)
                (value,) = ratio.geometric(1, RandomSource())
            assert len(asked) == len(answers)
            chances[value] += prod(asked)
    return chances, 1 - sum(chances.values())


@pytest.mark.parametrize(
    "ratio", [Ratio(1, 2), Ratio(1, 1), Ratio(3, 2), Ratio(7, 3), Ratio(15, 4)]
)
def test_a_geometric_draw_has_exactly_its_law(ratio):
    q, lives = ratio.value, 3
    found, rest = geometric_law(ratio, lives)
    period = 1 << ratio._doublings
    assert q**period <= Fraction(1, 2)
    assert found == {g: (1 - q) * q**g for g in range(lives * period)}
    assert rest == q ** (lives * period)


def test_digits_beyond_a_byte_are_put_together():
    """The value is read from its digits, however many there are."""
    ratio = Ratio.of(Fraction(1, 10**6))
    top = ratio._doublings
    assert top > 2 * BYTE
    for ones in ([0], [top - 1], [7, 8], [1, 9, 17], range(top)):
        lived = iter([1, 1, 0])

        def events(_, doublings, size, *__, is_digit, ones=ones, lived=lived):
            event = doublings in ones if is_digit else next(lived)
            return bytes([event, 0][:size])

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Ratio, "_events", events)
            assert ratio.geometric(2, RandomSource()) == [(2 << top) + sum(1 << i for i in ones), 0]


def test_noise_is_the_difference_of_two_geometric_draws():
    """Which has the two-sided law: the sum over all pairs of draws is the closed form."""
    ratio = Ratio(3, 2)
    q = ratio.value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ratio, "geometric", lambda _, size, __: [5, 1, 0, 0, 2, 7][:size])
        assert ratio.noise(3, RandomSource()) == [5, -1, -7]
    for z in range(-4, 5):
        # Pr[G1 - G2 = z] summed in closed form: (1-q)^2 q^|z| sum q^(2g)
        assert (1 - q) ** 2 * q ** abs(z) / (1 - q**2) == (1 - q) / (1 + q) * q ** abs(z)


@pytest.mark.parametrize("loss", ["3", "0.5", "0.02"])
def test_the_noise_of_the_operating_system_has_the_law(loss):
    ratio = Ratio.of(Fraction(loss))
    q, size = ratio.value, 20_000
    edge = 1
    while size * q**edge / (1 + q) > 50:
        edge += 1
    tail = q**edge / (1 + q)  # beyond the edge on one side
    expected = {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(1 - edge, edge)}
    expected |= {-edge: tail, edge: tail}
    drawn = Counter(max(-edge, min(edge, z)) for z in ratio.noise(size, RandomSource()))
    assert p_value(drawn, expected) > ALPHA
    if edge > 3:
        shifted = Counter({max(-edge, min(edge, z + 1 + edge // 3)): n for z, n in drawn.items()})
        assert p_value(shifted, expected) < ALPHA


# Choices


def flip_law(scores, q):
    """Return the law of permute-and-flip from its definition: every order, every acceptance."""
    best = max(scores)
    chances = defaultdict(Fraction)
    for order in permutations(range(len(scores))):
        waits = Fraction(1, factorial(len(scores)))
        for place in order:
            chances[place] += waits * q ** (best - scores[place])
            waits *= 1 - q ** (best - scores[place])
    return dict(chances)


def walked_choice(choice, scores, ratio, calls=None):
    """Return the law of a choice, by every order and every geometric draw up to the largest gap."""
    gap, q = max(scores) - min(scores), ratio.value
    total = defaultdict(Fraction)
    for reaches in product(range(gap + 1), repeat=len(scores)):
        chance = prod(q**g if g == gap else (1 - q) * q**g for g in reaches)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Ratio, "geometric", lambda *_, reaches=reaches: list(reaches))
            for place, part in law(lambda source: choice(scores, ratio, source), calls).items():
                total[place] += chance * part
    return {place: chance for place, chance in total.items() if chance}


@pytest.mark.parametrize("scores", [(0, 0), (0, 2), (3, 1, 2), (2, 2, 0), (1, 0, 0, 2)])
def test_permute_and_flip_has_exactly_its_law(scores):
    ratio = Ratio(3, 2)
    walked = walked_choice(permute_and_flip, scores, ratio)
    assert walked == {place: p for place, p in flip_law(scores, ratio.value).items() if p}
    assert sum(walked.values()) == 1


CANDIDATES, STEPS = 3, 2


def test_scores_that_change_by_one_change_no_choice_by_more_than_two_steps():
    ratio = Ratio(3, 2)
    worst = Fraction(0)
    for scores in product(range(4), repeat=CANDIDATES):
        before = flip_law(scores, ratio.value)
        for change in product((-1, 0, 1), repeat=CANDIDATES):
            after = flip_law([s + c for s, c in zip(scores, change, strict=True)], ratio.value)
            worst = max(worst, *(after[place] / before[place] for place in range(CANDIDATES)))
    assert worst <= ratio.power(STEPS)
    assert worst > ratio.power(1)


def test_an_exponential_choice_is_proportional_to_its_weights():
    """Each trial takes a uniform candidate and accepts it with ratio^gap."""
    scores, ratio = (3, 1, 2), Ratio(3, 2)
    q, drawn = ratio.value, Counter()
    weights = [q ** (3 - score) for score in scores]
    expected = {place: weight / sum(weights) for place, weight in enumerate(weights)}
    for _ in range(20_000):
        drawn[exponential(scores, ratio, RandomSource())] += 1
    assert p_value(drawn, expected) > ALPHA
    assert p_value(drawn, flip_law(scores, q)) < ALPHA


# Gaussian noise


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(2), Fraction(333, 7)])
def test_gaussian_noise_has_its_law(variance):
    edge = 3 * isqrt(int(variance)) + 2
    span = 12 * edge
    weights = {z: exp(-z * z / (2 * float(variance))) for z in range(-span, span + 1)}
    total = sum(weights.values())
    expected = defaultdict(float)
    for z, weight in weights.items():
        expected[max(-edge, min(edge, z))] += weight / total
    drawn = Counter(max(-edge, min(edge, z)) for z in gaussian(variance, 4000, RandomSource()))
    likely = {z: p for z, p in expected.items() if 4000 * p > 5}
    rare = 1 - sum(likely.values())
    seen = Counter({z: drawn[z] for z in likely})
    if rare:
        first = min(likely)  # what is rare goes with the first, so that no mean is too small
        likely[first] += rare
        seen[first] += 4000 - seen.total()
    assert p_value(seen, likely) > ALPHA
    moved = Counter({z + 1 + edge // 3: count for z, count in drawn.items()})
    assert p_value(moved, expected) < ALPHA


def test_gaussian_noise_needs_a_variance():
    with pytest.raises(ValueError, match="variance must be positive"):
        gaussian(Fraction(0), 1, RandomSource())


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-9"), ("0.1", "1e-6"), ("5", "0.001")])
def test_the_rho_of_a_delta_is_never_above_what_it_allows(epsilon, delta):
    """Checked at a finer grid of orders, with every exponential bounded from above."""
    epsilon, delta = Fraction(epsilon), Fraction(delta)
    rho = concentrated(epsilon, delta)
    # delta(rho) is the least over orders; one order that shows it is enough.
    best = least_delta(rho, epsilon)
    assert best <= delta * (1 + Fraction(1, 10**9))  # a float stands in delta_of
    assert rho > epsilon**2 / (8 * 40)  # about epsilon^2 / (4 log(1/delta))
    more = rho * Fraction(21, 20)
    assert least_delta(more, epsilon) > delta


def least_delta(rho, epsilon):
    """Return the least delta of all orders, of which floats leave out those far above it."""
    orders = [1 + Fraction(step, 8) for step in range(1, 4000)]
    rough = {order: rough_log(float(rho), float(epsilon), float(order)) for order in orders}
    limit = min(rough.values()) + 1e-3
    return min(delta_of(rho, epsilon, order) for order in orders if rough[order] <= limit)


def rough_log(rho, epsilon, order):
    """Return about the logarithm of ``delta_of``."""
    return (order - 1) * (order * rho - epsilon) - log(order - 1) + order * log1p(-1 / order)


def delta_of(rho, epsilon, order):
    """Return an upper bound on the delta of an order, as Canonne et al. (2020) state it."""
    exponent = (order - 1) * (order * rho - epsilon)
    power = exp_upper(exponent) if exponent >= 0 else 1 / exp_lower(-exponent)
    shrunk = Fraction(power) / (order - 1)
    base = 1 - 1 / order
    return shrunk * Fraction(float(base) ** float(order))


def test_every_epsilon_and_delta_allow_a_rho():
    for epsilon, delta in product(["1e-30", "1e-9", "1"], ["1e-200", "1e-15", "0.9"]):
        rho = concentrated(Fraction(epsilon), Fraction(delta))
        assert rho > Fraction(epsilon) ** 2 / 2000


def test_a_delta_is_needed_for_a_rho():
    with pytest.raises(ValueError, match="delta must be above 0 and below 1"):
        concentrated(Fraction(1), Fraction(0))


def test_a_larger_delta_or_epsilon_allows_more():
    for one, other in pairwise(["1e-12", "1e-9", "1e-6"]):
        assert concentrated(Fraction(1), Fraction(one)) < concentrated(Fraction(1), Fraction(other))
    assert concentrated(Fraction(1), Fraction("1e-9")) < concentrated(Fraction(2), Fraction("1e-9"))
