"""Random subsets drawn from counts have the law of random subsets of records."""

from collections import Counter
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.walk import law

from dproo import Counts
from dproo.core.draw import RandomSource
from dproo.core.partition import binomial, blocks, subset


class Coins(RandomSource):
    """Bits as answers of ``below``, so that a walk covers them."""

    def __init__(self, walk):
        super().__init__()
        self.below = walk.below

    def bits(self, count):
        return self.below(1 << count)


@pytest.mark.parametrize("chance", ["0", "1/2", "1/4", "3/4", "5/8", "1"])
@pytest.mark.parametrize("trials", [0, 1, 2, 3])
def test_a_binomial_with_a_finite_expansion_is_exact(trials, chance):
    chance = Fraction(chance)
    drawn = law(lambda walk: binomial(trials, chance, Coins(walk)))
    expected = {
        successes: mass
        for successes in range(trials + 1)
        if (
            mass := comb(trials, successes)
            * chance**successes
            * (1 - chance) ** (trials - successes)
        )
    }
    assert drawn == expected


def test_a_binomial_with_an_endless_expansion_is_exact_in_the_limit():
    """Undecided trials after b bits have mass 2^-b each; the decided part is exact."""
    chance, depth = Fraction(1, 3), 8

    class CutError(Exception):
        pass

    def draw(walk):
        coins = Coins(walk)
        left = depth

        def bits(count):
            nonlocal left
            if left == 0:
                raise CutError
            left -= 1
            return walk.below(1 << count)

        coins.bits = bits
        try:
            return binomial(1, chance, coins)
        except CutError:
            return "undecided"

    drawn = law(draw)
    assert drawn["undecided"] == Fraction(1, 2**depth)
    assert drawn[1] < chance < drawn[1] + drawn["undecided"]


@pytest.mark.parametrize(
    ("counts", "size"), [([2, 2], 2), ([3, 1], 2), ([1, 1, 2], 2), ([2, 0, 2], 1), ([3, 1], 3)]
)
def test_a_subset_of_counts_is_a_uniform_subset_of_records(counts, size):
    drawn = law(lambda walk: tuple(subset(Counts.of(counts), size, Coins(walk))[0]))
    ways = {
        part: _product(comb(count, inside) for count, inside in zip(counts, part, strict=True))
        for part in drawn
    }
    assert sum(ways.values()) == comb(sum(counts), size)
    assert drawn == {part: Fraction(way, comb(sum(counts), size)) for part, way in ways.items()}


def _product(values):
    result = 1
    for value in values:
        result *= value
    return result


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(1, 12))
def test_blocks_share_out_every_record_evenly(counts, parts):
    shared = blocks(Counts.of(counts), parts, RandomSource())
    sizes = [block.n for block in shared]
    assert len(shared) == parts
    assert max(sizes) - min(sizes) <= 1
    assert [sum(column) for column in zip(*shared, strict=True)] == counts


def test_ten_million_records_are_split_from_their_counts():
    left, right = subset(Counts.sparse({3: 10**7, 10**12 - 1: 5}, k=10**12), 10**6, RandomSource())
    assert (left.n, right.n) == (10**6, 9 * 10**6 + 5)
    assert Counter({3: left[3], 10**12 - 1: left[10**12 - 1]}).total() == 10**6
