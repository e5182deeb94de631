"""The limit in closed form: rounded down, below the linear program, below every sampler."""

import itertools
import math
import operator
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from support.draws import DICE, SOAK

import dproo
from dproo.analysis.limit import LimitLevels, _hardest
from dproo.core.numbers import exp_lower, is_at_most_exp, power_lower, power_upper
from dproo.mechanisms import ADD_REMOVE, SAMPLERS
from dproo.study.minimax import _matrix, _Program, minimax

# docs/proofs/limit.md: n, k, epsilon; the limit, LS-ROO, ROO.
GOLDEN = {
    (1000, 9, "0.1"): (0.0132, 0.0288, 0.0701),
    (10_000, 100, "0.1"): (0.0147, 0.0352, 0.0860),
    (1000, 20, "1"): (0.0019, 0.0069, 0.0109),
}
# docs/proofs/limit.md: n, epsilon; how near a sampler of two letters comes.
SHARP = [(66, "0.3", 1.006), (20, "1", 1.04), (20, "2", 1.03)]
# And what three levels give over what two give, for 1,000 letters and 10^5 records.
SHARPER = {
    "0.1": 1, "0.3": 1.002, "0.5": 1.011, "1": 1.065, "1.5": 1.142, "2": 1.304, "3": 1.701,
    "4": 2.691, "6": 4.442, "8": 5.502, "10": 6.03, "20": 6.466,
}  # fmt: skip
SCARCE = 12_972_292, 451_047_598  # records and letters: the levels leave most letters out
GRID_OF_FOUR = 15  # partitions of 8 into four, the grid below; the others prove the limit
EPSILONS = ("1e-3", "0.01", "0.1", "0.2", "0.5", "1", "2", "3", "5", "10")
BITS, RECORDS_MAX = 600, 10**12
EXTREMES = Fraction(1, 10**30), Fraction(1, 10**6), Fraction(20), Fraction(1000)
SOLVER = 2e-7  # HiGHS meets its constraints to 1e-7

settings_of_the_limit = st.tuples(
    st.integers(1, RECORDS_MAX) | st.integers(1, 30),
    st.integers(2, 10**9) | st.integers(2, 9),
    st.fractions(min_value=Fraction(1, 10**6), max_value=20) | st.sampled_from(EXTREMES),
)


def bound_at(found, *, loss):
    """Return the bound of the proof, at the pair that was chosen, as a ball of 600 bits."""
    k, n = found.k, found.n
    epsilon = flint.arb(flint.fmpq(*loss.as_integer_ratio()))
    if found.levels:
        return bound_of_levels(found.levels, n, k, epsilon.exp(), flint.arb)
    if found.pair is None:
        return (k - 1) / ((k - 1 + (epsilon * (n % 2)).exp()) * (epsilon * (n // 2)).exp())
    j, share = found.pair
    assert 0 < j * share <= 1
    is_even = j >= 2 and j * share == 1
    assert 1 <= j < k + is_even
    u = flint.arb(flint.fmpq(*share.as_integer_ratio()))
    crowd = (1 + u * epsilon.expm1()) ** n
    return j * u / (1 + flint.arb(flint.fmpq(j, k - j + is_even)) * crowd)


def bound_of_levels(levels, n, k, growth, number):
    """Return the third bound, as the proof states it, in numbers of a kind."""
    j, v, w, weights = levels.letters, levels.middle, levels.high, levels.weights
    numerator, denominator = number(0), number(sum(weights))
    for step, (here, above) in enumerate(itertools.pairwise(weights)):
        i = levels.first + step
        others = levels.rest + (j - 1) * v + i * w
        sums = [cumulated(number(odds) / (others + odds), n, growth) for odds in (v, w)]
        most = ((k - j - i) * here + (i + 1) * above * high for high in sums[1])
        owed = min(map(operator.truediv, most, sums[0]))
        numerator += owed * number(v) / (others + v) - (i + 1) * above * number(w) / (others + w)
        denominator += owed / j
    return numerator / denominator


def cumulated(share, n, growth):
    """Return ``S(u, t)`` for t up to 90: the condition is the most severe long before."""
    terms = [(1 - share) ** n]
    for c in range(min(n, 90)):
        terms.append(terms[-1] * growth * share / (1 - share) * (n - c) / (c + 1))
    return list(itertools.accumulate(terms))


@given(setting=settings_of_the_limit)
def test_the_limit_is_the_bound_of_the_proof_rounded_down(setting):
    n, k, epsilon = setting
    flint.ctx.prec = BITS
    for neighbours, loss in (("replace", epsilon), (ADD_REMOVE, 2 * epsilon)):
        if loss > 1000:
            continue
        found = dproo.limit(n=n, k=k, epsilon=epsilon, neighbours=neighbours)
        exact = bound_at(found, loss=loss)
        lower = flint.arb(flint.fmpq(*found.lower.as_integer_ratio()))
        assert lower <= exact
        assert exact * (1 - flint.arb(2) ** (-50 if found.levels else -58)) <= lower


@given(data=st.data())
def test_the_bound_of_levels_is_rounded_down(data):
    n, k = data.draw(st.integers(2, 30)), data.draw(st.integers(4, 9))
    growth = data.draw(st.fractions(min_value=1, max_value=9, max_denominator=20))
    weights = tuple(data.draw(st.lists(st.integers(2**300, 2**301), min_size=2, max_size=4)))
    first = data.draw(st.integers(0, k - len(weights)))
    levels = LimitLevels(
        letters=data.draw(st.integers(1, k - len(weights) - first + 1)),
        rest=data.draw(st.integers(50, 99)),
        middle=data.draw(st.integers(1, 25)),
        high=data.draw(st.integers(26, 50)),
        first=first,
        weights=weights,
    )
    assert_rounded_down(levels, n, k, growth)


def assert_rounded_down(levels, n, k, growth):
    exact = bound_of_levels(levels, n, k, growth, Fraction)
    lower = levels.bound(n=n, k=k, growth=growth)
    assert lower <= max(0, exact) <= lower + Fraction(1, 2**80)


@pytest.mark.parametrize("k", [4, 8, 9])
def test_the_bound_of_levels_is_rounded_down_for_few_records(k):
    """Where one term in ten shows it if it is rounded to the other side."""
    growths = map(Fraction, ("11/10", "3/2", "11/5", "3"))
    for n, growth, letters, middle in itertools.product(range(2, 6), growths, (1, 3), (3, 9, 19)):
        levels = LimitLevels(
            letters=letters,
            rest=65,
            middle=middle,
            high=33,
            first=0,
            weights=(2**300, 2**300 + 1),
        )
        assert_rounded_down(levels, n, k, growth)


def test_levels_get_no_less_than_e_to_the_epsilon(monkeypatch):
    """So rounded that the limit holds for every private sampler."""
    given, bound = [], LimitLevels.bound

    def noted(levels, *, growth, **known):
        given.append(growth)
        return bound(levels, growth=growth, **known)

    monkeypatch.setattr(LimitLevels, "bound", noted)
    for n, k, epsilon in [(10, 4, "1"), (100, 30, "0.5"), (1000, 9, "2")]:
        dproo.limit(n=n, k=k, epsilon=epsilon)
        assert not is_at_most_exp(given.pop(), Fraction(epsilon))


@given(
    base=st.fractions(min_value=1, max_value=3),
    exponent=st.integers(0, 40) | st.integers(0, 10**4),
)
def test_the_bounds_on_a_power_hold_and_are_as_tight_as_stated(base, exponent):
    flint.ctx.prec = 80_000
    exact = flint.fmpq(*base.as_integer_ratio()) ** exponent
    lower, upper = power_lower(base, exponent), power_upper(base, exponent)
    assert flint.fmpq(*lower.as_integer_ratio()) <= exact <= flint.fmpq(*upper.as_integer_ratio())
    assert upper - lower <= upper / 2**64


@pytest.mark.parametrize("setting", GOLDEN)
def test_the_table_of_the_proof_is_reproduced(setting):
    n, k, epsilon = setting
    samplers = [dproo.mechanism(name, n=n, k=k, epsilon=epsilon) for name in ("ls-roo", "roo")]
    found = [dproo.limit(n=n, k=k, epsilon=epsilon).lower, *(law.worst_alpha for law in samplers)]
    assert tuple(round(float(alpha), 4) for alpha in found) == GOLDEN[setting]


def test_three_levels_give_what_the_proof_says():
    for epsilon, times in SHARPER.items():
        two = math.exp(_hardest(10**5, 1000, float(epsilon)).log_bound)
        found = dproo.limit(n=10**5, k=1000, epsilon=epsilon)
        assert round(float(found.lower) / two, 3) == times
        assert (found.levels is None) == (times == 1)


def test_levels_that_leave_most_letters_out_are_used_too():
    n, k = SCARCE
    found = dproo.limit(n=n, k=k, epsilon="3.93254")
    assert found.levels
    assert found.levels.letters < k / 9
    assert round(float(found.lower), 4) == 0.1507


def test_for_one_record_randomized_response_reaches_the_limit():
    for k, epsilon in [(2, 1), (7, Fraction(1, 10)), (10**6, 20)]:
        limit = dproo.limit(n=1, k=k, epsilon=epsilon).lower
        best = dproo.mechanism("roo", n=1, k=k, epsilon=epsilon).worst_alpha
        assert limit <= best <= limit * (1 + Fraction(1, 2**50))


def test_the_pair_is_the_best_of_all():
    """On a fine grid of u and every j there is nothing better, but for the grid."""
    for n, k, epsilon in [(1, 2, 1), (7, 5, 2), (40, 12, Fraction(1, 10)), (300, 30, 1)]:
        growth = dproo.core.numbers.exp_upper(Fraction(epsilon)) - 1
        best = max(
            j * u / (1 + Fraction(j, k - j + (u * j == 1 < j)) * power_upper(1 + u * growth, n))
            for j in range(1, k + 1)
            for u in (Fraction(i, 100 * j) for i in range(1, 101))
            if j < k or u * j == 1
        )
        found = dproo.limit(n=n, k=k, epsilon=epsilon)
        best = max(best, (k - 1) / ((k - 1 + (growth + 1) ** (n % 2)) * (growth + 1) ** (n // 2)))
        assert best * (1 - Fraction(1, 10**12)) <= found.lower
        assert found.levels or found.lower <= best * Fraction(101, 100)


def test_for_small_epsilon_the_constant_is_that_of_lambert():
    found = dproo.limit(n=10**12, k=10**4, epsilon="1e-4")
    constant = found.lower * found.n * found.epsilon / found.k
    assert float(constant) == pytest.approx(0.1544, abs=5e-5)
    letters, _ = found.pair
    assert letters / found.k == pytest.approx(0.323, abs=1e-3)


def cases_of_the_program():
    every = [(n, k, epsilon) for k in (2, 3, 4) for n in range(1, 21) for epsilon in EPSILONS]
    return every if SOAK else DICE.sample(every, 6)


@pytest.mark.one_of(3)
def test_the_linear_program_is_never_below_the_limit_and_close_to_it():
    for n, k, epsilon in cases_of_the_program():
        limit = dproo.limit(n=n, k=k, epsilon=epsilon).lower
        found = minimax(n=n, k=k, epsilon=epsilon, grid=8)
        assert limit <= found.alpha + SOLVER, (n, k, epsilon)
        # The solution in integers is certified, so here no tolerance of a solver enters.
        reached = max(
            dproo.accuracy(found.sampler, p, method="enumeration").alpha
            for p in found.distributions
            if k < 4 or max(p.shares) == 1 or p not in found.distributions[:GRID_OF_FOUR]
        )
        assert limit <= reached * (1 + 1e-9), (n, k, epsilon)
        if (n >= 10 and Fraction(epsilon) <= 5) or Fraction(epsilon) <= Fraction(1, 2):
            assert found.alpha <= (1.1 if n >= 10 else 1.2) * limit + SOLVER, (n, k, epsilon)


@pytest.mark.one_of(3)
@pytest.mark.parametrize(("n", "epsilon", "times"), SHARP)
def test_for_two_letters_there_is_a_sampler_near_the_limit(n, epsilon, times):
    """On a finer grid than the one it was made for, and certified by enumeration."""
    limit = dproo.limit(n=n, k=2, epsilon=epsilon).lower
    sampler = minimax(n=n, k=2, epsilon=epsilon, grid=12 * n).sampler
    shares = (Fraction(3 * i + 1, 6 * 12 * n) for i in range(1, 12 * n, 13))
    worst = max(
        dproo.accuracy(sampler, [1 - share, share], method="enumeration").alpha
        for share in (0, *shares)
    )
    assert worst <= times * limit


def a_setting():
    n, k, epsilon = (10 ** DICE.uniform(*decades) for decades in ((0, 12), (0.31, 9), (-6, 1.3)))
    return int(n), int(k), Fraction(f"{epsilon:.6g}")


def test_no_sampler_has_a_smaller_worst_case():
    for _ in range(10_000 if SOAK else 40):
        n, k, epsilon = a_setting()
        limit = dproo.limit(n=n, k=k, epsilon=epsilon).lower
        for name, sampler in SAMPLERS.items():
            assert limit <= sampler.worst_alpha_at(n=n, k=k, epsilon=epsilon), (name, n, k, epsilon)


def test_no_sampler_for_added_records_has_a_smaller_worst_case():
    for n, k, epsilon in [(5, 2, 1), (1000, 9, Fraction(1, 10)), (300, 40, 3)]:
        limit = dproo.limit(n=n, k=k, epsilon=epsilon, neighbours=ADD_REMOVE).lower
        for name in ("roo", "ls-roo"):
            law = dproo.mechanism(name, n=n, k=k, epsilon=epsilon, neighbours=ADD_REMOVE)
            assert limit <= law.worst_alpha


def test_a_sampler_that_is_less_private_can_be_below():
    """A negative control: the limit says something."""
    limit = dproo.limit(n=1000, k=9, epsilon="0.1").lower
    assert dproo.mechanism("ls-roo", n=1000, k=9, epsilon="0.3").worst_alpha < limit


def test_more_records_and_more_epsilon_lower_it_and_more_letters_raise_it():
    for _ in range(50):
        n, k, epsilon = a_setting()
        here = dproo.limit(n=n, k=k, epsilon=epsilon).lower
        slack = 1 + Fraction(1, 100)  # levels are tried only where they seem to pay
        assert dproo.limit(n=2 * n, k=k, epsilon=epsilon).lower <= here * slack
        assert dproo.limit(n=n, k=k, epsilon=2 * epsilon).lower <= here * slack
        assert dproo.limit(n=n, k=2 * k, epsilon=epsilon).lower >= here / slack


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n": 0}, "n must be at least 1, got 0."),
        ({"n": 2**80 + 1}, f"n must be at most {2**80}, got {2**80 + 1}."),
        ({"k": 1}, "k must be at least 2, got 1."),
        ({"epsilon": "0"}, "epsilon must be positive, got '0'."),
        ({"neighbours": "add"}, "neighbours must be one of add-remove, replace, got 'add'."),
    ],
)
def test_wrong_arguments_are_refused(wrong, message):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the sentence is compared whole
        dproo.limit(**{"n": 9, "k": 3, "epsilon": 1, **wrong})
    assert str(refused.value).startswith(message)


def test_the_package_has_one_thing_called_limit():
    assert callable(dproo.limit)
    with pytest.raises(ModuleNotFoundError):
        __import__("dproo.limit")


# The limit for datasets


def best_distance(n, k, epsilon):
    """Return the least worst distance from a dataset, of all private samplers: a linear program."""
    program = _Program(n, k, math.exp(epsilon), ())
    first, rows, limits = len(program.index), [], []
    for smaller, larger in program._privacy():
        rows.append({program.index[larger]: 1.0, program.index[smaller]: -program.growth})
        limits.append(0.0)
    gaps = [(h, c) for h in program.datasets for c in set(h)]
    last = first + len(gaps)
    for gap, (h, c) in enumerate(gaps, start=first):
        rows += [{program.index[h, c]: sign, gap: -1.0} for sign in (1.0, -1.0)]
        limits += [c / n, -c / n]
    for h in program.datasets:
        letters = {first + i: h.count(c) / 2 for i, (owner, c) in enumerate(gaps) if owner == h}
        rows.append({**letters, last: -1.0})
        limits.append(0.0)
    sums = [{program.index[h, c]: float(h.count(c)) for c in set(h)} for h in program.datasets]
    found = linprog(
        np.eye(last + 1)[last],
        A_ub=_matrix(rows, last + 1),
        b_ub=limits,
        A_eq=_matrix(sums, last + 1),
        b_eq=np.ones(len(sums)),
        bounds=(0, 1),
        method="highs",
    )
    assert found.status == 0
    return found.fun


GRID = [
    (n, k, epsilon)
    for k, most in {2: 30, 3: 20, 4: 12, 5: 9}.items()
    for n in range(1, most + 1)
    for epsilon in (0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1, 1.5, 2, 3)
]


def test_the_limit_for_datasets_is_the_optimum_of_the_linear_program():
    """Wherever there are two records per letter, times 1/epsilon: docs/proofs/limit.md."""
    for n, k, epsilon in GRID if SOAK else DICE.sample(GRID, 40):
        limit = float(dproo.limit(n=n, k=k, epsilon=epsilon).datasets)
        best = best_distance(n, k, epsilon)
        assert limit <= best + SOLVER, (n, k, epsilon)
        if n * epsilon > 2 * k:
            assert best <= limit + SOLVER, (n, k, epsilon)


@pytest.mark.parametrize(("n", "k"), [(1, 2), (7, 2), (30, 3), (100, 9), (60, 200)])
@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "1", "4"])
def test_the_limit_for_datasets_has_the_best_letters_and_records(n, k, epsilon):
    found = dproo.limit(n=n, k=k, epsilon=epsilon)
    growth = exp_lower(Fraction(epsilon))
    best = max(
        Fraction(j * c, n) / (1 + Fraction(j, k - j) * growth**c)
        for j in range(1, k)
        for c in range(1, n // j + 1)
    )
    assert found.datasets <= max(best, found.lower)
    assert found.datasets * (1 + Fraction(1, 100)) >= best
    if n * Fraction(epsilon) > 2 * k:
        assert found.datasets * (1 + Fraction(1, 10**9)) >= best


@given(setting=settings_of_the_limit)
@settings(max_examples=10, deadline=None)
def test_no_sampler_is_nearer_to_all_datasets_than_the_limit(setting):
    n, k, epsilon = setting
    n, k, epsilon = min(n, 10**5), min(k, 10**4), min(max(epsilon, Fraction(1, 1000)), 9)
    for neighbours in ("replace", ADD_REMOVE):
        limit = dproo.limit(n=n, k=k, epsilon=epsilon, neighbours=neighbours)
        assert limit.lower <= limit.datasets
        for name in ("roo", "ls-roo", "bal-roo"):
            law = dproo.mechanism(name, n=n, k=k, epsilon=epsilon, neighbours=neighbours)
            assert limit.datasets <= law.worst_alpha, (name, neighbours)
