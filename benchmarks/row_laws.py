"""The law of one released row: its marginals from the very integers that are drawn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
from row_data import Array, Table

from dproo.core.draw import RandomSource
from dproo.mechanisms import LetterSpecificRevealOrObscure, Relation
from dproo.mechanisms.ls_roo.table import LetterTable
from dproo.mechanisms.network import SHARE, Network, grown_tree
from dproo.mechanisms.rows import RowSampler

Columns = tuple[int, ...]
Marginals = dict[Columns, Array]
"""The law of some columns together, for all pairs and all triples of columns."""


def groups(table: Table) -> Iterator[Columns]:
    """Yield all pairs and all triples of columns."""
    for size in (2, 3):
        yield from combinations(range(len(table.sizes)), size)


@cache
def truth(table: Table) -> Marginals:
    """Return the marginals of the data."""
    return {columns: table.counts(*columns) / table.n for columns in groups(table)}


def weights(table: LetterTable, counts: Array) -> Array:
    """Return the weights of counts, in records."""
    seen, places = np.unique(counts, return_inverse=True)
    lifted = [float(Fraction(table(int(count)), table.slope)) for count in seen]
    return np.array(lifted)[places].reshape(counts.shape)


def row_marginals(table: Table, sampler: RowSampler) -> Marginals:
    """Return the marginals of a row, by its steps' conditional laws."""
    laws = {}
    for family, step in zip(sampler.network.families, sampler.steps, strict=True):
        lifted = weights(step.table, table.counts(*family.columns))
        laws[family.column] = (lifted / lifted.sum(-1, keepdims=True), family.columns)
    return {columns: _joint(columns, laws) for columns in groups(table)}


def _joint(columns: Columns, laws: dict[int, tuple[Array, Columns]]) -> Array:
    """Return the law of some columns; only they and what they depend on play a part."""
    needed: set[int] = set()
    waiting = list(columns)
    while waiting:
        column = waiting.pop()
        if column not in needed:
            needed.add(column)
            waiting += laws[column][1]
    factors = [part for column in sorted(needed) for part in laws[column]]
    joint: Array = np.einsum(*factors, columns, optimize="greedy")
    return joint


def mixed(laws: Iterable[tuple[Marginals, int]]) -> Marginals:
    """Return the mean of laws that have been drawn so many times."""
    total: Marginals = {}
    drawn = 0
    for law, times in laws:
        drawn += times
        for columns, joint in law.items():
            total[columns] = total.get(columns, 0) + times * joint
    return {columns: joint / drawn for columns, joint in total.items()}


def by_network(table: Table, network: Network, epsilon: str, relation: Relation) -> Marginals:
    """Return the law of a row by a public network."""
    return _by(table, network, Fraction(epsilon), relation)


def _by(table: Table, network: Network, epsilon: Fraction, relation: Relation) -> Marginals:
    n = table.n if relation == "replace" else 0
    return row_marginals(
        table, RowSampler(epsilon=epsilon, network=network, neighbours=relation, n=n)
    )


def public_bound(table: Table, network: Network, epsilon: str) -> float:
    """Return the sum of what the steps can add to the distance, which needs no data but n."""
    sampler = RowSampler(epsilon=Fraction(epsilon), network=network, n=table.n)
    steps = zip(network.families, sampler.steps, network.cells, strict=True)
    added = sum(step.lift * cells / table.sizes[family.column] for family, step, cells in steps)
    return float(added / table.n)


def learned(
    table: Table, epsilon: str, relation: Relation, draws: int
) -> list[tuple[Marginals, int]]:
    """Return the laws of rows by networks that are chosen privately, and how often each was."""
    pair = cache(table.pair)
    part = SHARE * Fraction(epsilon)
    networks = Counter(
        grown_tree(pair, table.sizes, epsilon=part, neighbours=relation, source=RandomSource())
        for _ in range(draws)
    )
    rest = Fraction(epsilon) - part
    return [(_by(table, network, rest, relation), times) for network, times in networks.items()]


def as_one_letter(table: Table, epsilon: str, relation: Relation) -> Marginals:
    """Return the law of a row that is one letter of the product of all columns."""
    sampler = LetterSpecificRevealOrObscure(
        epsilon=Fraction(epsilon), k=table.cells, n=table.n, neighbours=relation
    )
    places = np.ravel_multi_index(table.columns, table.sizes)
    cells, counts = np.unique(places, return_counts=True)
    lifted = weights(sampler.table, np.append(counts, 0))
    lifted, floor = lifted[:-1], lifted[-1]
    seen = np.unravel_index(cells, table.sizes)
    total = (lifted - floor).sum() + floor * table.cells
    found = {}
    for columns in groups(table):
        shape = [table.sizes[column] for column in columns]
        joint = np.zeros(shape)
        np.add.at(joint, tuple(seen[column] for column in columns), lifted - floor)
        found[columns] = (joint + floor * (table.cells // joint.size)) / total
    return found


def distances(table: Table, law: Marginals) -> dict[str, float]:
    """Return the mean and the largest distance from the data over all pairs and triples."""
    found = {}
    for size, name in ((2, "pairs"), (3, "triples")):
        values = [
            float(abs(law[columns] - true).sum() / 2)
            for columns, true in truth(table).items()
            if len(columns) == size
        ]
        found |= {f"{name} mean": sum(values) / len(values), f"{name} worst": max(values)}
    return found
