r"""What one record does to a whole row, exactly: where datasets are few, all are looked at.

The letters of a column are exchangeable, so that one row stands for all, and a letter that the
row lacks for every other: of ``n`` records no more than ``n`` such letters can be told apart.

Proof: docs/proofs/rows.md
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import comb, prod

from dproo.core.counts import Counts
from dproo.mechanisms.base import REPLACE, Relation
from dproo.mechanisms.letter_specific import LetterSpecificRevealOrObscure
from dproo.mechanisms.network import Network

DATASETS_MAX = 400
"""So many are looked at in a few milliseconds."""

Dataset = tuple[tuple[int, ...], ...]


def searched_ratio(
    network: Network,
    samplers: Sequence[LetterSpecificRevealOrObscure],
    *,
    neighbours: Relation,
    n: int,
) -> Fraction | None:
    """Return the factor by which one of at most ``n`` records changes a row, if it can be found.

    Args:
        network: the columns and their parents.
        samplers: the sampler of each column, in the order of drawing.
        neighbours: ``"replace"`` or ``"add-remove"``.
        n: how many records there are, or at most; zero if nobody knows.
    """
    sizes = [min(size, n + 1) for size in network.sizes]
    if not 0 < n <= DATASETS_MAX or comb(prod(sizes) + n - 1, n) > DATASETS_MAX:
        return None
    kinds = list(product(*map(range, sizes)))
    chance = _chance_of_first_letters(network, samplers)
    ratios = []
    for records in [n - 1] if neighbours == REPLACE else range(n):
        for fewer in combinations_with_replacement(kinds, records):
            more = [chance(tuple(sorted((*fewer, kind)))) for kind in kinds]
            others = more if neighbours == REPLACE else [chance(fewer)]
            ratios += [max(more) / min(others), max(others) / min(more)]
    return max(ratios)


def _chance_of_first_letters(
    network: Network, samplers: Sequence[LetterSpecificRevealOrObscure]
) -> Callable[[Dataset], Fraction]:
    """Return the probability of the row of every column's first letter, given a dataset."""

    @cache
    def step(place: int, letters: tuple[int, ...]) -> Fraction:
        sampler = samplers[place]
        counts = Counts.sparse(Counter(letters), k=sampler.k)
        return sampler.probability(counts, (0,))

    @cache
    def chance(dataset: Dataset) -> Fraction:
        result = Fraction(1)
        for place, family in enumerate(network.families):
            matching = (kind for kind in dataset if not any(kind[i] for i in family.parents))
            result *= step(place, tuple(sorted(kind[family.column] for kind in matching)))
        return result

    return chance
