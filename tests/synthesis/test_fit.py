"""The fit: marginals are those of the whole law, and no other law is nearer to the counts."""

from itertools import combinations
from math import prod

import numpy as np
import pytest
from support.draws import numbers

from dproo.synthesis import fit
from dproo.synthesis.fit import EXPLAINED, Law, fitted, projected


def dense(sizes, potentials):
    """Return the law of whole rows, cell by cell."""
    logs = np.zeros(sizes)
    for family, table in potentials.items():
        shape = [size if column in family else 1 for column, size in enumerate(sizes)]
        logs = logs + table.reshape(shape)
    law = np.exp(logs - logs.max())
    return law / law.sum()


def marginal(whole, columns):
    summed = whole.sum(tuple(c for c in range(whole.ndim) if c not in columns))
    kept = sorted(columns)
    return np.transpose(summed, [kept.index(column) for column in columns])


def a_case(families=None):
    chance = numbers()
    sizes = tuple(int(k) for k in chance.integers(1, 4, 5))
    found = families or [(0,), (0, 1), (1, 2), (0, 2), (2, 3), (1, 4)]
    return sizes, {f: chance.normal(0, 2, [sizes[c] for c in f]) for f in found}


@pytest.mark.parametrize(
    "families",
    [None, [(0,), (1,)], [(0, 4), (1, 4), (2, 4), (3, 4)], [(0, 1, 2), (2, 3)], [(3,)]],
)
@pytest.mark.parametrize("batch", [1, 1 << 20])
def test_marginals_are_those_of_the_whole_law(families, batch, monkeypatch):
    monkeypatch.setattr(fit, "BATCH", batch)
    for _ in range(5):
        sizes, potentials = a_case(families)
        law, whole = Law(sizes, potentials), dense(sizes, potentials)
        found = law.pairs()
        assert list(found) == list(combinations(range(5), 2))
        for pair, table in found.items():
            assert table == pytest.approx(marginal(whole, pair))
        for columns in [(), (3,), (4, 0), (2, 0, 3)]:
            assert law.joint(columns) == pytest.approx(marginal(whole, columns))
        assert list(law.pairs([(1, 3)])) == [(1, 3)]


def test_letters_of_no_chance_make_no_nan():
    potentials = {(0, 1): np.array([[0.0, -900.0], [-900.0, -900.0]]), (1, 2): np.zeros((2, 2))}
    law = Law((2, 2, 2), potentials)
    assert all(np.isfinite(table).all() for table in law.pairs().values())
    assert law.pairs()[0, 1][0, 0] == pytest.approx(1)


def test_a_total_that_is_lost_in_the_noise_is_projected_to():
    for first in (1e17, 1e25):
        table = projected(np.array([first, first / 2, -first]), 1.0)
        assert table.tolist() == [pytest.approx(0, abs=1), 0.0, 0.0]


def loss(law, counts, weights, n):
    total = 0.0
    for family, table in counts.items():
        total += weights[family] * ((n * law.joint(family) - table) ** 2).sum()
    return total


def test_exact_counts_are_fitted_exactly():
    sizes, potentials = a_case()
    whole = dense(sizes, {f: table / 3 for f, table in potentials.items()})
    families = [*potentials, (1,), (2,), (3,), (4,)]
    counts = {f: 1000 * marginal(whole, f) for f in families}
    law = fitted(sizes, counts, dict.fromkeys(families, 1.0), 1000.0)
    for family in families:
        assert law.joint(family) == pytest.approx(counts[family] / 1000, abs=0.004)


def test_no_law_nearby_is_nearer_to_noisy_counts():
    chance = numbers()
    sizes, potentials = a_case()
    whole, n = dense(sizes, {f: table / 3 for f, table in potentials.items()}), 500.0
    families = [*potentials, (3,), (4,)]
    counts = {
        f: n * marginal(whole, f) + chance.normal(0, 9, [sizes[c] for c in f]) for f in families
    }
    weights = {f: float(chance.uniform(0.5, 2)) for f in families}
    law = fitted(sizes, counts, weights, n)
    least = loss(law, counts, weights, n)
    for _ in range(20):
        moved = {f: t + chance.normal(0, 0.1, t.shape) for f, t in law.potentials.items()}
        assert loss(Law(sizes, moved), counts, weights, n) > 0.995 * least
    start = fitted(sizes, counts, weights, n, start=law)
    assert loss(start, counts, weights, n) <= least * 1.001


def concentrated(chance, sizes, n):
    """Return a table one cell of which has much of the data, beside many small ones."""
    share = chance.uniform(0.1, 0.9)
    law = (1 - share) * chance.dirichlet(np.ones(prod(sizes))).reshape(sizes)
    law[tuple(chance.integers(sizes))] += share
    keeps_row = chance.random() < 0.5
    if keeps_row:  # one letter goes with one other only
        law[0, 1:] = 0
        law[0, 0] += 1 - law.sum()
    return n * law


@pytest.mark.one_of(3)
def test_beside_a_large_cell_the_small_ones_are_fitted_too():
    """A single family has its projection as the best law; the descent alone came to a halt."""
    chance = numbers()
    for _ in range(40):
        sizes = (int(chance.integers(2, 12)), int(chance.integers(5, 150)))
        n, deviation = 10 ** chance.uniform(3, 6), 10 ** chance.uniform(-0.5, 2)
        table = concentrated(chance, sizes, n)
        noisy = table + chance.normal(0, deviation, sizes)
        law = fitted(sizes, {(0, 1): noisy}, {(0, 1): deviation**-2}, n).joint((0, 1))
        best = projected(noisy, n)
        off = ((n * law - noisy) ** 2).sum() - ((best - noisy) ** 2).sum()
        assert off <= EXPLAINED * deviation**2 * noisy.size
        for axis in (0, 1):
            gap = (n * law - table).sum(axis)
            assert (gap**2).mean() <= 4 * EXPLAINED * deviation**2 * sizes[axis] + 1


@pytest.mark.one_of(3)
def test_beside_large_cells_overlapping_families_are_fitted_too():
    chance = numbers()
    for _ in range(5):
        sizes, n = (3, 40, 6), 1e5
        first, last = concentrated(chance, (3, 40), n), concentrated(chance, (6, 40), n).T
        last = last * (first.sum(0) / np.maximum(last.sum(1), 1e-9))[:, None]
        counts = {
            (0, 1): first + chance.normal(0, 5, (3, 40)),
            (1, 2): last + chance.normal(0, 5, (40, 6)),
        }
        weights = dict.fromkeys(counts, 1 / 25)
        law = fitted(sizes, counts, weights, n)
        assert loss(law, counts, weights, n) <= EXPLAINED * sum(
            table.size for table in counts.values()
        )


def test_the_same_counts_give_the_same_law():
    chance = numbers()
    counts = {(0,): chance.normal(9, 5, 3), (0, 1): chance.normal(5, 5, (3, 4))}
    laws = [fitted((3, 4), counts, {(0,): 1.0, (0, 1): 0.5}, 50.0) for _ in range(2)]
    for family in counts:
        assert (laws[0].potentials[family] == laws[1].potentials[family]).all()


def test_counts_that_are_all_negative_still_give_a_law():
    law = fitted(
        (2, 3), {(0,): np.array([-5.0, -9.0]), (1,): -np.ones(3)}, {(0,): 1.0, (1,): 1.0}, 1.0
    )
    assert law.joint((0, 1)).sum() == pytest.approx(1)
    assert law.joint((0, 1)).min() >= 0


def test_a_projection_is_the_nearest_table_without_negative_cells():
    chance = numbers()
    for _ in range(20):
        values, total = chance.normal(0, 5, 6), float(chance.uniform(1, 20))
        found = projected(values, total)
        assert found.sum() == pytest.approx(total)
        assert found.min() >= 0
        for _ in range(20):
            other = chance.dirichlet(np.ones(6)) * total
            assert ((other - values) ** 2).sum() >= ((found - values) ** 2).sum() - 1e-9


def test_rows_follow_laws_of_many_letters():
    sizes = (50, 3)
    law = Law(sizes, {(0, 1): np.log(np.arange(1, 1 + prod(sizes)).reshape(sizes))})
    first, second = law.rows(1000, numbers())
    assert first.min() >= 0
    assert first.max() < 50
    assert second.min() >= 0
    assert second.max() < 3
