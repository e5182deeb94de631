"""The plan of a whole row: what every column costs, and how far the row can be from the data.

Nothing here reads data. The distance is that between the law of the row and what the network
says of ``n`` records; how far the network is from the data nobody can know beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dproo.core.checks import whole
from dproo.core.numbers import Number, parse_epsilon
from dproo.mechanisms import REPLACE, Relation
from dproo.mechanisms.network import AUTO, DECLARED, LEARNED, SHARE, Network, Wiring
from dproo.mechanisms.rows import RowSampler
from dproo.schema.codebook import CodeBook

HOPELESS = Fraction(1, 2)
"""From this distance on, a row reflects the noise more than the data."""

CARRIED = Fraction(1, 10)
"""The distance up to which a number of parents is said to be carried."""


@dataclass(frozen=True, kw_only=True)
class ColumnPlan:
    """One step of a row.

    Attributes:
        column: its name.
        parents: the columns it depends on; of a learned network, the largest there could be.
        k: the number of its letters.
        cells: the number of cells of the column and its parents.
        epsilon: what the step costs.
        alpha: how far the step can move the row, at most.
    """

    column: str
    parents: tuple[str, ...]
    k: int
    cells: int
    epsilon: Fraction
    alpha: Fraction


@dataclass(frozen=True, kw_only=True)
class RowPlan:
    """What a row of these columns would be worth.

    Attributes:
        n: the number of records.
        epsilon: for the whole row.
        network: ``"declared"`` or ``"learned"``.
        network_epsilon: what the choice of the network costs.
        columns: the steps, in the order of drawing.
        alpha: how far the law of the row can be from what the network says of the data, at
            most; None where the network allows no bound.
        parents: how many parents each column could have, within a distance of a tenth;
            None if not even independent columns are that near.
    """

    n: int
    epsilon: Fraction
    network: str
    network_epsilon: Fraction
    columns: tuple[ColumnPlan, ...]
    alpha: Fraction | None
    parents: int | None

    @property
    def is_hopeless(self) -> bool:
        """Whether the row may be nearer to noise than to the data."""
        return self.alpha is None or self.alpha >= HOPELESS


def plan_row(
    codebook: Any,
    *,
    n: int,
    epsilon: Number,
    network: Wiring = AUTO,
    neighbours: Relation = REPLACE,
    is_searched: bool = True,
) -> RowPlan:
    """Return the plan of one row, from public parameters alone; see :func:`dproo.plan`.

    Whoever does not need the number of parents that could be carried spares the search for it,
    which takes much longer than the rest.
    """
    book = CodeBook.of(codebook)
    records, total = whole("n", n, at_least=1), parse_epsilon(epsilon)
    known = Network.wired(network, book.parents, book.sizes)
    spent = total * SHARE if known is None else Fraction(0)

    def sampler(wired: Network) -> RowSampler:
        return RowSampler(epsilon=total - spent, network=wired, neighbours=neighbours, n=records)

    row = sampler(known or Network.star(book.sizes))
    names = book.columns
    return RowPlan(
        n=records,
        epsilon=total,
        network=LEARNED if known is None else DECLARED,
        network_epsilon=spent,
        columns=tuple(
            ColumnPlan(
                column=names[family.column],
                parents=tuple(names[parent] for parent in family.parents),
                k=row.network.sizes[family.column],
                cells=cells,
                epsilon=share,
                alpha=alpha,
            )
            for family, cells, share, alpha in zip(
                row.network.families, row.network.cells, row.shares, row.worst_alphas, strict=True
            )
        ),
        alpha=row.worst_alpha,
        parents=_carried(sampler, book.sizes) if is_searched else None,
    )


def _carried(sampler: Any, sizes: tuple[int, ...]) -> int | None:
    """Return how many parents each column could have within the distance that is carried."""
    found = None
    for parents in range(len(sizes)):
        alpha = sampler(Network.chained(sizes, parents=parents)).worst_alpha
        if alpha is None or alpha > CARRIED:
            break
        found = parents
    return found
