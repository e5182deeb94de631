"""One epsilon for a record that is replaced, added or removed, in a dataset of unknown size."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.draws import DICE
from support.releasing import sample

import dproo
from dproo import Counts, certify, mechanism
from dproo.core.counts import every_dataset


def assert_exact(sampler):
    """Assert that the certificate is the worst of all neighbours of both kinds."""
    fast, brute = certify(sampler), certify(sampler, method="enumerate")
    assert fast.ratio == brute.ratio
    assert sampler.ratio(fast.witness) == fast.ratio
    assert fast.holds


EPSILONS = "1e-6", "0.01", "0.3", "1", "3", "8", "20"
RECORDS_MAX, LETTERS_MAX = 6, 4


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_certificate_is_the_worst_of_all_changes(epsilon):
    for k, n in product(range(2, LETTERS_MAX + 1), range(1, RECORDS_MAX + 1)):
        assert_exact(mechanism("ls-roo", epsilon=epsilon, n=n, k=k, neighbours="both"))


@given(
    epsilon=st.fractions(min_value=Fraction(1, 10**6), max_value=20),
    n=st.integers(1, 12),
    k=st.integers(2, 4),
)
@settings(max_examples=40)
def test_any_epsilon_is_certified_for_all_changes(epsilon, n, k):
    assert_exact(mechanism("ls-roo", epsilon=epsilon, n=n, k=k, neighbours="both"))


def test_the_enumeration_knows_neighbours_of_both_kinds_at_every_size():
    """Every pair of datasets, from ``pmf`` alone."""
    sampler = mechanism("ls-roo", epsilon="0.7", n=4, k=3, neighbours="both")
    datasets = [dataset for size in range(5) for dataset in every_dataset(size, 3)]

    def are_neighbours(one, other):
        gained = sum(max(0, b - a) for a, b in zip(one, other, strict=True))
        lost = sum(max(0, a - b) for a, b in zip(one, other, strict=True))
        return max(gained, lost) == 1

    pairs = [pair for pair in product(datasets, repeat=2) if are_neighbours(*pair)]
    assert {sum(b) - sum(a) for a, b in pairs} == {-1, 0, 1}
    worst = max(
        after / before
        for one, other in pairs
        for before, after in zip(sampler.pmf(one), sampler.pmf(other), strict=True)
    )
    assert certify(sampler).ratio == worst


def test_neither_relation_alone_is_enough():
    """The tables of the others leak when a record of a group of unknown size is replaced."""
    both = mechanism("ls-roo", epsilon=1, n=6, k=3, neighbours="both")
    alone = mechanism("ls-roo", epsilon=1, n=6, k=3, neighbours="add-remove")
    leak = max(
        after / before
        for size in range(1, 7)
        for one in every_dataset(size, 3)
        for other in ((one[0] + 1, one[1] - 1, one[2]),)
        if other[1] >= 0
        for before, after in zip(alone.pmf(one), alone.pmf(other), strict=True)
    )
    assert leak > both.growth > certify(both).ratio - Fraction(1, 2**30)


def test_a_record_that_moves_between_two_groups_costs_each_only_epsilon():
    """A row: a letter of the first column, then one of the second among the matching records.

    Every replaced row of every table of three rows changes the law of a row by the sum of
    both epsilons at most.
    """
    first = mechanism("ls-roo", epsilon="0.5", n=3, k=2)
    second = mechanism("ls-roo", epsilon="0.8", n=3, k=2, neighbours="both")

    def law(cells):
        outer = first.pmf([cells[0] + cells[1], cells[2] + cells[3]])
        return [
            p * q for p, pair in zip(outer, (cells[:2], cells[2:]), strict=True)
            for q in second.pmf(pair)
        ]  # fmt: skip

    worst = Fraction(0)
    for cells in every_dataset(3, 4):
        for loser, gainer in product(range(4), repeat=2):
            moved = list(cells)
            moved[loser] -= 1
            moved[gainer] += 1
            if min(moved) >= 0:
                ratios = (b / a for a, b in zip(law(cells), law(moved), strict=True))
                worst = max(worst, *ratios)
    assert dproo.core.numbers.is_at_most_exp(worst, Fraction(13, 10))


@pytest.mark.one_of(3)
@pytest.mark.parametrize("neighbours", ["add-remove", "both"])
@pytest.mark.parametrize("epsilon", ["1e-30", "0.001", "0.1", "5", "1000"])
def test_any_number_of_records_will_do(epsilon, neighbours):
    """Also where epsilon is so small that 2^80 records are few."""
    for k in (2, 10, 10**6):
        sampler = mechanism("ls-roo", epsilon=epsilon, k=k, neighbours=neighbours)
        certificate = certify(sampler)
        assert certificate.holds
        assert certificate.epsilon > 0.4 * float(epsilon)
        assert sampler.weights(Counts([(0, k)])).total > 0


def test_the_pair_dominates_changes_of_both_kinds():
    level = 1 + Fraction(DICE.randrange(500), 250)
    sampler = mechanism("ls-roo", epsilon="0.9", n=5, k=3, neighbours="both")
    for size in range(1, 6):
        for one in every_dataset(size, 3):
            for step in ((-1, 1, 0), (-1, 0, 0), (1, -1, 0), (1, 0, 0)):
                other = tuple(a + b for a, b in zip(one, step, strict=True))
                if min(other) < 0 or sum(other) > 5:
                    continue
                p, q = sampler.pmf(one), sampler.pmf(other)
                apart = sum(max(0, a - level * b) for a, b in zip(p, q, strict=True))
                assert apart <= sampler.dominating_pair.hockey_stick(level)


def test_a_release_knows_one_relation_at_a_time():
    with pytest.raises(ValueError, match="neighbours must be one of add-remove, replace"):
        sample(["a"], alphabet=["a", "b"], epsilon=1, neighbours="both")
    with pytest.raises(ValueError, match="neighbours must be 'replace' or 'add-remove' for roo"):
        mechanism("roo", epsilon=1, n=4, k=2, neighbours="both")
