"""Records dealt out one by one have the law of a random partition, and letters drawn from them."""

from collections import Counter
from fractions import Fraction
from itertools import permutations
from math import comb, factorial, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.walk import law

from dproo import Counts, mechanism
from dproo.core import partition
from dproo.core.draw import RandomSource
from dproo.core.partition import _shuffle, _uniform, deal


class Words(RandomSource):
    """Words and bits as answers of ``below``, for a walk."""

    def __init__(self, walk):
        super().__init__()
        self.below = walk.below

    def bits(self, count):
        return self.below(1 << count)

    def words(self, count, size):
        return [self.below(1 << count) for _ in range(size)]


def dealt(walk, seen, parts, *, evenly):
    blocks = deal(seen, parts, Words(walk), evenly=evenly)
    return tuple(tuple(block.get(letter, 0) for letter, _ in seen) for block in blocks)


@pytest.fixture
def few_words(monkeypatch):
    """Draw a letter by two bits, so that a walk comes to its end; one of four is open."""
    monkeypatch.setattr(partition, "_BITS", 2)
    monkeypatch.setattr(partition, "_LEAST_SHARE", 1)


@pytest.mark.usefixtures("few_words")
@pytest.mark.parametrize(
    ("counts", "parts", "calls"), [([2, 1], 2, 12), ([2, 1, 1], 2, 8), ([2, 2], 3, 10), ([3], 2, 9)]
)
def test_dealt_records_have_the_law_of_a_random_partition(counts, parts, calls):
    """Each outcome is as likely as it has ways, of all ways to fill blocks of these sizes."""
    seen = list(enumerate(counts))
    drawn = law(lambda walk: dealt(walk, seen, parts, evenly=True), calls)
    each, more = divmod(sum(counts), parts)
    sizes = [each + (block < more) for block in range(parts)]
    all_ways = factorial(sum(counts)) // prod(map(factorial, sizes))

    def ways(blocks):
        letters = zip(*blocks, strict=True)
        return prod(factorial(sum(one)) // prod(map(factorial, one)) for one in letters)

    assert all([sum(block) for block in blocks] == sizes for blocks in drawn)
    assert sum(map(ways, drawn)) == all_ways
    assert drawn == {blocks: Fraction(ways(blocks), all_ways) for blocks in drawn}


@pytest.mark.one_of(3)
@pytest.mark.usefixtures("few_words")
def test_records_that_choose_for_themselves_are_independent():
    drawn = law(lambda walk: dealt(walk, [(0, 2), (1, 1)], 2, evenly=False), 10)
    for (first, second), mass in drawn.items():
        assert [a + b for a, b in zip(first, second, strict=True)] == [2, 1]
        assert mass == Fraction(comb(2, first[0]) * comb(1, first[1]), 8)
    assert sum(drawn.values()) == 1


def test_every_value_below_a_bound_is_as_likely():
    """Of four words one is rejected."""
    drawn = law(lambda walk: tuple(_uniform(3, 2, Words(walk))), 5)
    assert len(drawn) == 9
    assert len(set(drawn.values())) == 1


@pytest.mark.parametrize(("size", "calls"), [(1, 0), (2, 3), (3, 8), (4, 9)])
def test_every_order_is_as_likely(size, calls):
    def order(walk):
        letters = list(range(size))
        _shuffle(letters, Words(walk))
        return tuple(letters)

    every = list(permutations(range(size)))
    assert law(order, calls) == dict.fromkeys(every, Fraction(1, len(every)))


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 32])
def test_words_have_as_many_bits_as_were_asked_for(count):
    drawn = RandomSource(lambda length: bytes([255]) * length).words(count, 3)
    assert list(drawn) == [(1 << count) - 1] * 3


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(1, 12))
def test_every_record_is_in_one_block(counts, parts):
    seen = [(letter, count) for letter, count in enumerate(counts) if count]
    for evenly in (True, False):
        blocks = deal(seen, parts, RandomSource(), evenly=evenly)
        for letter, count in seen:
            assert sum(block.get(letter, 0) for block in blocks) == count
    sizes = [sum(block.values()) for block in deal(seen, parts, RandomSource(), evenly=True)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] - sizes[-1] <= 1


def test_letters_too_rare_to_be_drawn_and_more_blocks_than_records_are_dealt():
    rare, common = [(letter, 1) for letter in range(100)], (100, 10**5)
    for seen, parts, evenly in [([*rare, common], 3, True), (rare, 300, True), (rare, 300, False)]:
        blocks = deal(seen, parts, RandomSource(), evenly=evenly)
        assert len(blocks) == parts
        assert sum(map(Counter, blocks), Counter()) == dict(seen)


@given(st.dictionaries(st.integers(0, 7), st.integers(1, 3)))
def test_a_place_among_the_sorted_letters_is_one_letter(seen):
    """Every place is another letter, and has its count."""
    sampler = mechanism("ls-roo", n=max(1, sum(seen.values())), k=8, epsilon=1)
    by_count = [0] * (8 - len(seen)) + sorted(seen.values())

    class Placed(type(sampler)):
        def draw(self, counts, *, source):
            assert list(Counts.of(counts)) == by_count
            return (source,)

    placed = Placed(n=sampler.n, k=8, epsilon=1)
    letters = [placed.draw_from_seen(seen, source=place) for place in range(8)]
    assert sorted(letters) == list(range(8))
    assert [seen.get(letter, 0) for letter in letters] == by_count


def test_a_law_that_knows_its_letters_is_drawn_from_as_it_is():
    prior = mechanism("roo", n=3, k=3, epsilon=20, prior=[1, 1, 10**6])
    assert prior.draw_from_seen({1: 3}, source=RandomSource()) in {1, 2}
