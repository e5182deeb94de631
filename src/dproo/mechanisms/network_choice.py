r"""A private choice of the network: a tree, grown edge by edge.

An edge is a column that is not yet drawn and a parent among those that are. Its score is how
far the two columns are from independent, in records,

    score = 1/2 sum_xy |c(x, y) - c(x) c(y) / n|,

which one record added or removed changes by less than 2, and one replaced by less than 3.
Each edge is chosen by permute-and-flip: the candidates in random order, each taken with
probability ``exp(-(best - score) epsilon / (2 sensitivity))``, exactly.

Proof: docs/proofs/rows.md
Reference: McKenna and Sheldon (2020), Algorithm 1; Zhang et al. (2017), PrivBayes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from dproo.core.counts import Counts
from dproo.core.randomness import RandomSource
from dproo.mechanisms.base import ADD_REMOVE, REPLACE, Relation
from dproo.mechanisms.network import Family, Network

SENSITIVITY = {ADD_REMOVE: 2, REPLACE: 3}
"""What one record changes a score by is below this."""

SHARE = Fraction(1, 5)
"""The share of a row's epsilon that the choice of its network costs by default."""

PAIR_MAX = 1 << 20
"""The most cells of two columns together that a network is learned from."""

Pair = Callable[[int, int], Counts]
"""The counts of two columns together, the letters of the second one running fastest."""


def dependence(pair: Counts, width: int) -> Fraction:
    """Return how far two columns are from independent, in records; 0 without records.

    Args:
        pair: the counts of the two columns together.
        width: how many letters the second column has.

    >>> dependence(Counts.of([2, 0, 0, 2]), 2), dependence(Counts.of([1, 1, 1, 1]), 2)
    (Fraction(2, 1), Fraction(0, 1))
    """
    if not pair.n:
        return Fraction(0)
    rows = [list(part) for part in pair.split(width)]
    across = [sum(row) for row in rows]
    down = [sum(column) for column in zip(*rows, strict=True)]
    gaps = (
        abs(pair.n * count - total * other)
        for row, total in zip(rows, across, strict=True)
        for count, other in zip(row, down, strict=True)
    )
    return Fraction(sum(gaps), 2 * pair.n)


def chosen(scores: Sequence[Fraction], rate: Fraction, source: RandomSource) -> int:
    """Return the place of one score by permute-and-flip, at ``rate`` for each unit of score."""
    best = max(scores)
    waiting = list(range(len(scores)))
    while True:
        place = waiting.pop(source.below(len(waiting)))
        if source.is_survived(rate * (best - scores[place])):
            return place


def grown_tree(
    pair: Pair,
    sizes: Sequence[int],
    *,
    epsilon: Fraction,
    neighbours: Relation,
    source: RandomSource,
) -> Network:
    """Return a tree over all columns, rooted at the first.

    Guarantee: the choice is epsilon-DP: one edge for each further column, each of them
    ``epsilon / (columns - 1)``-DP.
    """
    columns = range(len(sizes))
    rate = epsilon / max(1, len(sizes) - 1) / (2 * SENSITIVITY[neighbours])
    scores = {(a, b): dependence(pair(a, b), sizes[b]) for a in columns for b in columns if a < b}
    families = [Family(0)]
    while len(families) < len(sizes):
        drawn = [family.column for family in families]
        edges = [(child, parent) for child in columns if child not in drawn for parent in drawn]
        values = [scores[min(edge), max(edge)] for edge in edges]
        child, parent = edges[chosen(values, rate, source)]
        families.append(Family(child, (parent,)))
    return Network(tuple(families), tuple(sizes))
