"""Whole rows of three columns, over every dataset of up to four records and all its neighbours."""

from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement, product
from math import log

import numpy as np
import pytest
from support.draws import DICE, SOAK, some
from support.networks import every_network

from dproo.core.counts import Counts
from dproo.core.numbers import is_at_most_exp, log_upper
from dproo.mechanisms.network import SENSITIVITY, SHARE, Family, Network
from dproo.mechanisms.rows import RowSampler

EPSILONS = "0.000001", "0.3", "2", "5", "20"
SIZES = list(product([2, 3], repeat=3)) if SOAK else [(2, 2, 2), (3, 2, 2), (2, 2, 3)]
FLOAT_ERROR = 1e-11
"""What a logarithm in floats may be wrong by; the worst pair is checked again in fractions."""


class Neighbourhoods:
    """Every dataset of so many records, and each with one record more.

    Two of the latter, of the same dataset, differ by a record that is replaced.

    Attributes:
        sizes: the letters of each column.
        rows: all rows, which are all that a record can be.
        fewer: how many records a dataset has of each row.
        more: the same with one record more, for each row that it can be.
    """

    def __init__(self, sizes, records):
        self.sizes = sizes
        self.rows = np.array(list(product(*map(range, sizes))))
        kinds = len(self.rows)
        datasets = list(combinations_with_replacement(range(kinds), records))
        self.fewer = np.array([np.bincount(d, minlength=kinds) for d in datasets], dtype=int)
        self.more = self.fewer[:, None, :] + np.eye(kinds, dtype=int)
        self.base = records + 2

    def change(self, law, neighbours):
        """Return how far apart neighbours are, in logarithms, for each dataset and outcome."""
        more = law(self.more)
        if neighbours == "replace":
            return more.max(1) - more.min(1)
        fewer = law(self.fewer)
        return np.maximum(more.max(1) - fewer, fewer - more.min(1))

    def log_law(self, sampler, data):
        """Return the logarithm of every row's probability, for each dataset."""
        total = 0
        for family, step in zip(sampler.network.families, sampler.steps, strict=True):
            parents, drawn = self.rows[:, list(family.parents)], self.rows[:, family.column]
            is_match = (parents[:, None] == parents).all(2)
            code = data @ (self.base**drawn * is_match).T  # the counts of all letters in one
            logs = np.full((self.base**step.k, step.k), np.nan)
            for found in np.flatnonzero(np.bincount(code.ravel())):
                counts = [int(found) // self.base**letter % self.base for letter in range(step.k)]
                logs[found] = [
                    log(p.numerator) - log(p.denominator) for p in step.pmf(Counts.of(counts))
                ]
            total = total + logs[code, drawn]
        return total

    def dependence(self, data, one, other):
        """Return how far two columns are from independent, in records, for each dataset."""
        a, b = (np.eye(self.rows.max() + 1)[self.rows[:, column]] for column in (one, other))
        pair = np.einsum("...c,cx,cy->...xy", data, a, b, optimize=True)
        total = np.maximum(pair.sum((-2, -1), keepdims=True), 1)
        gaps = pair - pair.sum(-1, keepdims=True) * pair.sum(-2, keepdims=True) / total
        return np.abs(gaps).sum((-2, -1)) / 2

    def exact_ratio(self, sampler, place, row):
        """Return the largest ratio of one row's probabilities about one dataset, in fractions."""
        datasets = [*self.more[place]]
        if sampler.neighbours == "add-remove":
            datasets.append(self.fewer[place])
        found = [self._probability(sampler, counts, row) for counts in datasets]
        if sampler.neighbours == "replace":
            return max(found) / min(found)
        return max(*(p / found[-1] for p in found), *(found[-1] / p for p in found))

    def _probability(self, sampler, records, row):
        def matching(family, parents):
            counts = [0] * sampler.network.sizes[family.column]
            for kind, many in zip(self.rows, records, strict=True):
                if tuple(kind[list(family.parents)]) == parents:
                    counts[kind[family.column]] += int(many)
            return Counts.of(counts)

        return sampler.probability(matching, tuple(map(int, self.rows[row])))


@pytest.mark.one_of(3)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("sizes", some(SIZES, one_of=6), ids=str)
def test_one_record_changes_no_row_by_more_than_certified(sizes, neighbours, n):
    fewer = [n - 1] if neighbours == "replace" else range(n)
    near = [Neighbourhoods(sizes, records) for records in fewer]
    for network, epsilon in product(every_network(sizes), [*EPSILONS, DICE.uniform(0.1, 20)]):
        sampler = RowSampler(epsilon=Fraction(epsilon), network=network, neighbours=neighbours, n=n)
        certified = log_upper(sampler.largest_ratio)
        changes = [one.change(partial(one.log_law, sampler), neighbours) for one in near]
        most, which = max((change.max(), place) for place, change in enumerate(changes))
        dataset, row = np.unravel_index(changes[which].argmax(), changes[which].shape)
        found = near[which].exact_ratio(sampler, dataset, row)
        assert log_upper(found) == pytest.approx(most, rel=1e-9)
        assert most <= certified + FLOAT_ERROR
        assert found <= sampler.largest_ratio
        assert is_at_most_exp(sampler.largest_ratio, sampler.epsilon)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("records", [0, 1, 2, 3])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("sizes", some(SIZES, one_of=6), ids=str)
def test_one_record_changes_no_row_by_more_where_the_network_is_learned(sizes, neighbours, records):
    near = Neighbourhoods(sizes, records)
    for epsilon in [*EPSILONS, DICE.uniform(0.1, 20)]:
        spent = SHARE * Fraction(epsilon)
        laws = []
        for network, choice in learned(near, spent, neighbours):
            sampler = RowSampler(
                epsilon=Fraction(epsilon) - spent,
                network=network,
                neighbours=neighbours,
                n=records + 1,
            )
            laws.append((sampler, choice))

        def law(data, laws=laws):
            return np.concatenate(
                [choice(data)[..., None] + near.log_law(sampler, data) for sampler, choice in laws],
                axis=-1,
            )

        assert np.exp(law(near.more)).sum(-1) == pytest.approx(1)
        assert near.change(law, neighbours).max() <= float(epsilon) + FLOAT_ERROR


def learned(near, epsilon, neighbours):
    """Yield every tree that can be grown, with the logarithm of its probability as a function."""
    rate = float(epsilon) / 2 / (2 * SENSITIVITY[neighbours])
    for first, second, parent in [(1, 2, 0), (1, 2, 1), (2, 1, 0), (2, 1, 2)]:
        families = Family(0), Family(first, (0,)), Family(second, (parent,))
        network = Network(families, near.sizes)

        def choice(data, first=first, second=second, parent=parent):
            begun = _log_taken(near, data, rate, taken=(first, 0), left=(second, 0))
            other = (second, 0 if parent else first)
            return begun + _log_taken(near, data, rate, taken=(second, parent), left=other)

        yield network, choice


def _log_taken(near, data, rate, *, taken, left):
    """Return the logarithm of the probability that permute-and-flip takes one of two edges."""
    ours, other = near.dependence(data, *taken), near.dependence(data, *left)
    best = np.maximum(ours, other)
    survives, rival = np.exp(-rate * (best - ours)), np.exp(-rate * (best - other))
    return np.log(survives * (1 - rival / 2))
