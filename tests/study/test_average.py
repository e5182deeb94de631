"""The bound on the mean law of BAL-ROO: letter by letter, by enumeration, and against limits."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.draws import DICE

from dproo import Counts, limit, mechanism
from dproo.core.counts import every_dataset, falling_datasets
from dproo.core.numbers import BITS
from dproo.mechanisms import BalancedRevealOrObscure
from dproo.mechanisms.bal_roo.bounds import BalancedBounds
from dproo.mechanisms.bal_roo.table import balanced_weights
from dproo.study.average import (
    BinomialMeans,
    LetterShares,
    largest_mean_distance,
    mean,
    worst_mean_alpha,
)

pytestmark = pytest.mark.one_of(3)

ONE = 1 << BITS
MANY = 10**6


def table_of(rate, k):
    """Return the table of a rate, whether or not it is worth having; none if no level moves."""
    sampler = object.__new__(BalancedRevealOrObscure)
    object.__setattr__(sampler, "k", k)
    return sampler._table_of(Fraction(rate), 1)


class Domination:
    """That no dataset is further than its letters add, whichever of them is the most probable."""

    def __init__(self, table, k, share):
        bounds = BalancedBounds(table, MANY, k)
        self.table = table
        self.price = int(bounds.largest_distance * MANY * ONE * share) // k
        self.letters = LetterShares(bounds, self.price, 1 << 9)

    def excess(self, dataset):
        """Return by how much a dataset is further than that, over the price."""
        letters, weights = self.letters, balanced_weights(self.table, Counts.of(dataset))
        every, probable = 0, []
        for count, weight in zip(dataset, weights, strict=True):
            gain = (Fraction(weight * sum(dataset), weights.total) - count) * ONE
            rare, often, first = (
                values[count] if count < letters.end else 0
                for values in (letters.rare, letters.often, letters.probable)
            )
            pays = max(gain - often, -rare) - letters.base
            every += pays
            probable.append(max(gain, 0) - first - pays)
        return float((every + max(probable)) / self.price)


@pytest.mark.parametrize("rate", ["0.4", "1", "2.5"])
def test_no_small_dataset_is_further_than_its_letters_add(rate):
    domination = Domination(table_of(rate, 6), 6, Fraction(9, 10))
    datasets = [dataset for n in range(1, 11) for dataset in falling_datasets(n, 6)]
    for large in (0, 50, 10**5):
        for dataset in datasets:
            counts = (large, *dataset[:5]) if large else dataset
            if sum(counts):
                assert domination.excess(counts) <= 0, counts


@given(st.data())
@settings(max_examples=15, deadline=None)
def test_no_structured_dataset_is_further_than_its_letters_add(data):
    k = data.draw(st.integers(5, 60))
    table = table_of(data.draw(st.fractions(min_value=Fraction(1, 4), max_value=4)), k)
    if table is None:
        return
    share = data.draw(st.fractions(min_value=Fraction(1, 2), max_value=2))
    domination = Domination(table, k, share)
    if not domination.letters.are_few:
        return
    counts = st.one_of(
        st.just(0),
        st.integers(0, table.crossing(table.low) + 1),
        st.integers(0, domination.letters.end + 1),
        st.just(10**5),
    )
    for _ in range(20):
        dataset = [data.draw(counts)]
        while len(dataset) < k:
            letters = data.draw(st.integers(1, k - len(dataset)))
            dataset += [data.draw(counts)] * letters
        if sum(dataset):
            assert domination.excess(dataset) <= 0, dataset


def test_the_domination_is_sharp():
    """On some dataset the letters add hardly more than it is away, forty prices in all."""
    domination = Domination(table_of("1", 40), 40, Fraction(9, 10))
    found = [
        domination.excess([10**5, *[count] * seen, *[0] * (39 - seen)])
        for count, seen in product(range(6), range(5, 20))
    ]
    assert -2 < max(found) <= 0


def mean_distance(table, k, n, p):
    """Return the distance between the mean law and ``P``, by enumeration of all datasets."""
    laws, output = {}, [0.0] * k
    logs = [math.log(x) if x else -math.inf for x in p]
    for dataset in every_dataset(n, k):
        terms = [
            c * log - math.lgamma(c + 1) if c else 0 for c, log in zip(dataset, logs, strict=True)
        ]
        chance = math.exp(math.lgamma(n + 1) + sum(terms))
        if not chance:
            continue
        key = tuple(sorted(dataset))
        if key not in laws:
            weights = balanced_weights(table, Counts.of(key))
            laws[key] = {c: w / weights.total for c, w in zip(key, weights, strict=True)}
        for y, count in enumerate(dataset):
            output[y] += chance * laws[key][count]
    assert sum(output) == pytest.approx(1)
    return sum(abs(q - x) for q, x in zip(output, p, strict=True)) / 2


def somewhere(k, n, end):
    """Return a distribution: some equal letters, one large, the rest empty; or any."""
    seen = 1 + DICE.randrange(k - 1)
    if DICE.randrange(4):
        share = min(1 / seen, (1 + DICE.randrange(100 * end)) / 100 / n)
        return [1 - seen * share, *[share] * seen, *[0.0] * (k - 1 - seen)]
    cuts = [DICE.randrange(10**6) / 10**6 for _ in range(k)]
    return [cut / sum(cuts) for cut in cuts]


@pytest.mark.parametrize(("k", "letters"), [(4, 40), (5, 24)])
def test_no_distribution_of_few_letters_is_further_than_the_bound(k, letters):
    """By enumeration, at a rate drawn anew."""
    rate = Fraction(150 + DICE.randrange(110), 100)
    table = table_of(rate, k)
    bounds = BalancedBounds(table, letters, k)
    assert LetterShares(bounds, ONE, 1 << 10).are_few
    bound = float(largest_mean_distance(bounds))
    assert bound <= float(bounds.largest_distance)
    for _ in range(4):
        p = somewhere(k, letters, 12)
        assert mean_distance(table, k, letters, p) <= bound, (rate, p)


def test_the_mean_over_binomial_counts_is_never_below_the_true_one():
    n = 100 + DICE.randrange(1000)
    values = [DICE.randrange(ONE) for _ in range(1 + DICE.randrange(12))]
    means, toll = BinomialMeans.of(values, n=n), DICE.randrange(ONE)
    bound, with_toll = means.largest(), means.largest(toll=toll)
    found = []
    for _ in range(40):
        share = Fraction(DICE.randrange(3000 * len(values)), 1000 * n)
        exact = sum(
            math.comb(n, c) * share**c * (1 - share) ** (n - c) * value
            for c, value in enumerate(values)
        )
        rounded = mean(values, n=n, records=n * share)
        assert exact <= rounded <= exact + 2
        found.append(exact)
        assert exact + toll * share <= with_toll
    assert max(found) <= bound <= Fraction(101, 100) * max(values)
    assert toll <= with_toll <= bound + toll
    later = BinomialMeans.of(values, n=n, start=Fraction(4 * len(values)))
    assert later.largest() < max(found)
    assert BinomialMeans.of([0, 0], n=n).largest() == 0


def test_a_letter_with_far_more_records_adds_hardly_anything_however_many_there_are():
    late = BinomialMeans.of([ONE] * 40, n=2**80, start=Fraction(2**80, 9))
    assert 0 < late.largest() < ONE >> 10
    assert BinomialMeans.of([ONE] * 40, n=2**80).largest() >= ONE


def test_no_probabilities_add_more_than_the_bound():
    """The most probable letter gets the toll back only where the others have all the rest."""
    n, k = 300, 9
    bounds = mechanism("bal-roo", n=n, k=k, epsilon="0.3").bounds
    letters = LetterShares(bounds, int(bounds.largest_distance * n * ONE * 4 / 5) // k, 1 << 12)
    assert letters.are_few

    def added(p):
        first, *others = (n * share for share in sorted(p, reverse=True))
        pays = [
            max(mean(kind, n=n, records=one) for kind in (letters.rare, letters.often))
            for one in others
        ]
        return sum(pays) + (k - 1) * letters.base + mean(letters.probable, n=n, records=first)

    equal = [[Fraction(j, 8 * n)] * (k - 1) for j in range(1, 8 * n // k, 4)]
    drawn = [[Fraction(1 + DICE.randrange(99), 10**3) for _ in range(k - 1)] for _ in range(30)]
    found = [added([1 - sum(others), *others]) for others in equal + drawn]
    assert Fraction(49, 50) * letters.total < max(found) <= letters.total


def test_the_mean_law_is_nearer_than_the_law_on_the_worst_dataset():
    """So the bound is not one over datasets; and no private sampler has a smaller one."""
    n, k, epsilon = 1000, 20, 1
    sampler = mechanism("bal-roo", n=n, k=k, epsilon=epsilon)
    counts = [n - 10, *[2] * 5, *[0] * 14]
    pairs = zip(sampler.pmf(counts), counts, strict=True)
    on_a_dataset = sum(max(0, share - Fraction(count, n)) for share, count in pairs)
    assert limit(n=n, k=k, epsilon=epsilon).lower < worst_mean_alpha(sampler)
    assert worst_mean_alpha(sampler) < Fraction(97, 100) * on_a_dataset
    assert on_a_dataset < sampler.worst_alpha


def test_where_there_are_too_many_counts_or_too_few_records_it_is_the_bound_for_datasets():
    for rate, n in [("0.01", 10**6), ("1", 20)]:
        bounds = BalancedBounds(table_of(rate, 6), n, 6)
        assert largest_mean_distance(bounds) == bounds.largest_distance
    for name, n in [("bal-roo", 10), ("ls-roo", 1000), ("roo", 1000)]:
        sampler = mechanism(name, n=n, k=9, epsilon="0.1")
        assert worst_mean_alpha(sampler) == sampler.worst_alpha
