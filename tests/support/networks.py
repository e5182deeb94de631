"""Every network over few columns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from dproo.mechanisms.network import Family, Network


def every_network(sizes: tuple[int, ...]) -> Iterator[Network]:
    """Yield every network that draws the columns in their order."""
    choices = [
        [some for many in range(column + 1) for some in combinations(range(column), many)]
        for column in range(len(sizes))
    ]
    for parents in product(*choices):
        yield Network(tuple(Family(c, found) for c, found in enumerate(parents)), sizes)
