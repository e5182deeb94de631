"""The linear program: known optima, certified solutions, and no private sampler below it."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest
from support.draws import SOAK, some

import dproo
from dproo.study.minimax import minimax

pytestmark = pytest.mark.one_of(3)

KNOWN = {"0.2": 0.0716, "0.5": 0.0247, "1": 0.0098, "2": 0.0032}
OURS = ("roo", "ds-roo", "ls-roo", "subrr")


def worst_on(sampler, distributions):
    return max(dproo.accuracy(sampler, p, method="exact").alpha for p in distributions)


@pytest.mark.parametrize("epsilon", some(KNOWN, one_of=8))
def test_the_known_limits_are_reproduced_and_no_sampler_of_ours_is_below(epsilon):
    found = minimax(n=30, k=3, epsilon=epsilon, grid=30)
    assert found.alpha == pytest.approx(KNOWN[epsilon], abs=6e-5)
    assert found.alpha - 1e-5 <= found.bound <= found.alpha + 1e-9
    for name in OURS:
        sampler = dproo.mechanism(name, epsilon=epsilon, n=30, k=3)
        assert worst_on(sampler, found.distributions) > found.alpha
    # A negative control: a sampler at four times the epsilon is below the limit.
    loud = dproo.mechanism("ls-roo", epsilon=4 * Fraction(epsilon), n=30, k=3)
    assert worst_on(loud, found.distributions) < found.bound


@pytest.mark.parametrize(("n", "k", "epsilon"), [(10, 2, "0.3"), (9, 3, "1"), (6, 4, "0.5")])
def test_the_solution_is_a_sampler_that_certifies_and_reaches_the_limit(n, k, epsilon):
    found = minimax(n=n, k=k, epsilon=epsilon, grid=6)
    certificate = dproo.certify(found.sampler, method="enumerate")
    assert certificate.holds
    assert certificate.epsilon == pytest.approx(float(epsilon), abs=1e-4)
    reached = max(
        dproo.accuracy(found.sampler, p, method="enumeration").alpha for p in found.distributions
    )
    assert reached == pytest.approx(found.alpha, abs=1e-5)
    assert reached >= found.bound - 1e-12


def test_on_a_grid_the_optimum_is_a_bound_from_below_only_until_its_worst_p_joins_it():
    alone, joined = (minimax(n=10, k=2, epsilon=3, rounds=rounds) for rounds in (0, 12))
    assert alone.bound < joined.bound * 0.98
    assert alone.reached > joined.reached * 1.2
    assert joined.bound <= joined.reached <= joined.bound * 1.001
    assert set(alone.distributions) < set(joined.distributions)
    exact = dproo.accuracy(joined.sampler, joined.distributions[-1], method="enumeration").alpha
    assert exact <= joined.reached + 1e-9


@pytest.mark.parametrize("epsilon", ["0.3", "1", "2"])
def test_under_add_remove_majority_vote_is_the_best_for_one_record_of_two_letters(epsilon):
    found = minimax(n=1, k=2, epsilon=epsilon, most=12)
    best = exp(-float(epsilon)) / 2
    assert found.bound == pytest.approx(best, abs=1e-7)
    assert found.reached == pytest.approx(best, abs=1e-6)
    assert found.bound < minimax(n=1, k=2, epsilon=epsilon).bound  # no such sampler under replace


def test_under_add_remove_more_sizes_only_raise_the_bound_and_lower_what_is_reached():
    few, many = (minimax(n=4, k=2, epsilon=1, most=most) for most in (5, 9))
    assert few.bound <= many.bound + 1e-9
    assert few.reached >= many.reached - 1e-9
    assert many.bound >= float(dproo.limit(n=4, k=2, epsilon=2).lower) - 1e-9
    assert many.reached <= 1.2 * many.bound


def test_a_tampered_solution_does_not_certify():
    sampler = minimax(n=6, k=3, epsilon=1, grid=3).sampler
    table = dict(sampler.table)
    largest = max(table, key=lambda key: table[key])
    table[largest] *= 2
    with pytest.raises(ValueError, match="did not certify"):
        type(sampler)(epsilon=1, n=6, k=3, table=table)


def test_for_one_distribution_the_limit_is_lower_and_still_not_beaten():
    p = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    one = minimax(n=12, k=3, epsilon="0.5", p=p)
    every = minimax(n=12, k=3, epsilon="0.5", grid=6)
    assert one.distributions[0].shares == tuple(p)
    assert one.alpha < every.alpha
    for name in OURS:
        sampler = dproo.mechanism(name, epsilon="0.5", n=12, k=3)
        assert dproo.accuracy(sampler, p).alpha >= one.bound


def test_more_distributions_and_less_privacy_move_the_limit_the_right_way():
    coarse, fine = (minimax(n=8, k=3, epsilon=1, grid=grid).alpha for grid in (3, 6))
    assert coarse <= fine + 1e-9
    assert minimax(n=8, k=3, epsilon=2, grid=6).alpha < fine


@pytest.mark.skipif(not SOAK, reason="takes some seconds")
def test_four_letters_and_twenty_four_records_are_solved():
    found = minimax(n=24, k=4, epsilon="0.5", grid=12)
    assert found.alpha == pytest.approx(0.04058, abs=1e-5)
    for name in OURS:
        sampler = dproo.mechanism(name, epsilon="0.5", n=24, k=4)
        assert worst_on(sampler, found.distributions) > found.alpha


@pytest.mark.skipif(not SOAK, reason="takes some seconds")
def test_three_letters_and_sixty_records_are_solved():
    found = minimax(n=60, k=3, epsilon="0.5", grid=20)
    assert found.alpha == pytest.approx(0.01222, abs=1e-5)
    assert found.alpha - found.bound < 1e-5


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match=r"^p must have k = 3 entries, got 2\.$"):
        minimax(n=3, k=3, epsilon=1, p=[1, 0])
    with pytest.raises(ValueError, match=r"^grid must be at least 1, got 0\.$"):
        minimax(n=3, k=3, epsilon=1, grid=0)
    with pytest.raises(ValueError, match=r"^most must be at least 4, got 3\.$"):
        minimax(n=3, k=3, epsilon=1, most=3)
