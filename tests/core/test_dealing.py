"""Records dealt out one by one have the law of a random partition, and letters drawn from them."""

from array import array
from fractions import Fraction
from math import comb, factorial, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.walk import law

from dproo import Counts, mechanism
from dproo.core.dealing import _labels, deal
from dproo.core.randomness import RandomSource


class Cells(RandomSource):
    """Random cells of two bytes whose first bits are answers of ``below``, for a walk."""

    def __init__(self, walk, bits):
        super().__init__(self._cells)
        self.below, self._bits = walk.below, bits

    def _cells(self, length):
        cells = [self.below(1 << self._bits) << (16 - self._bits) for _ in range(length // 2)]
        return array("H", cells).tobytes()


def dealt(walk, seen, parts, bits, *, evenly):
    blocks = deal(seen, parts, Cells(walk, bits), evenly=evenly)
    return tuple(tuple(block.get(letter, 0) for letter, _ in seen) for block in blocks)


@pytest.mark.parametrize(
    ("counts", "parts", "bits"), [([2, 2], 2, 1), ([3, 1], 2, 1), ([1, 2, 2], 2, 1), ([1, 2], 4, 2)]
)
def test_dealt_records_have_the_law_of_a_random_partition(counts, parts, bits):
    """Each outcome is as likely as it has ways, of all ways to fill blocks of these sizes."""
    seen = list(enumerate(counts))
    drawn = law(lambda walk: dealt(walk, seen, parts, bits, evenly=True))
    each, more = divmod(sum(counts), parts)
    sizes = [each + (block < more) for block in range(parts)]
    all_ways = factorial(sum(counts)) // prod(map(factorial, sizes))

    def ways(blocks):
        letters = zip(*blocks, strict=True)
        return prod(factorial(sum(one)) // prod(map(factorial, one)) for one in letters)

    assert all([sum(block) for block in blocks] == sizes for blocks in drawn)
    assert sum(map(ways, drawn)) == all_ways
    assert drawn == {blocks: Fraction(ways(blocks), all_ways) for blocks in drawn}


def test_records_that_choose_for_themselves_are_independent():
    drawn = law(lambda walk: dealt(walk, [(0, 2), (1, 1)], 2, 1, evenly=False))
    for (first, second), mass in drawn.items():
        assert [a + b for a, b in zip(first, second, strict=True)] == [2, 1]
        assert mass == Fraction(comb(2, first[0]) * comb(1, first[1]), 8)
    assert sum(drawn.values()) == 1


def test_every_label_is_as_likely():
    """Of four cells one is rejected; the walk is cut where it would go on for ever."""

    class CutError(Exception):
        pass

    def draw(walk):
        left = 4

        class Few(Cells):
            def _cells(self, length):
                nonlocal left
                left -= 1
                if left < 0:
                    raise CutError
                return super()._cells(length)

        try:
            return tuple(_labels(1, 3, Few(walk, 2)))
        except CutError:
            return "undecided"

    drawn = law(draw)
    assert drawn.pop("undecided") == Fraction(1, 4**4)
    assert len(drawn) == 3
    assert len(set(drawn.values())) == 1


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(1, 12))
def test_every_record_is_in_one_block(counts, parts):
    seen = [(letter, count) for letter, count in enumerate(counts) if count]
    for evenly in (True, False):
        blocks = deal(seen, parts, RandomSource(), evenly=evenly)
        for letter, count in seen:
            assert sum(block.get(letter, 0) for block in blocks) == count
        assert all(list(block) == sorted(block) for block in blocks)
    sizes = [sum(block.values()) for block in deal(seen, parts, RandomSource(), evenly=True)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] - sizes[-1] <= 1


def test_more_labels_than_two_bytes_can_hold_are_drawn():
    blocks = deal([(0, 5)], 10**5, RandomSource(), evenly=False)
    assert sum(block.get(0, 0) for block in blocks) == 5


@given(
    st.dictionaries(st.integers(0, 7), st.integers(1, 3)).map(
        lambda seen: dict(sorted(seen.items()))
    )
)
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
