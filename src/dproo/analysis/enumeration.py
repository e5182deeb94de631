"""All datasets of a few records and a few letters, for exhaustive checks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

Dataset = tuple[int, ...]
"""The count of each letter."""


def every_dataset(n: int, k: int) -> Iterator[Dataset]:
    """Yield all counts of ``n`` records on ``k`` letters.

    >>> list(every_dataset(2, 2))
    [(0, 2), (1, 1), (2, 0)]
    """
    for bars in combinations(range(n + k - 1), k - 1):
        edges = (-1, *bars, n + k - 1)
        yield tuple(after - before - 1 for before, after in pairwise(edges))


def falling_datasets(n: int, k: int, *, most: int | None = None) -> Iterator[Dataset]:
    """Yield the counts in falling order: one of all datasets that differ in names only.

    Args:
        n: the number of records.
        k: the number of letters.
        most: the largest count that is allowed.

    >>> list(falling_datasets(4, 3))
    [(4, 0, 0), (3, 1, 0), (2, 2, 0), (2, 1, 1)]
    """
    if k == 0:
        yield ()
        return
    fewest = -(-n // k)
    for first in range(n if most is None else min(n, most), fewest - 1, -1):
        for others in falling_datasets(n - first, k - 1, most=first):
            yield (first, *others)
