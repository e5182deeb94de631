"""The plan of a whole row: what every column costs, and how far the row can be from the data.

Nothing here reads data. The distance is from the law of the row to rows drawn without privacy
along the network; how far the network itself is from the data cannot be known in advance.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from dproo.core.checks import whole
from dproo.core.numbers import Number, parse_epsilon, require_share
from dproo.mechanisms import AUTO, RECORDS_MAX, REPLACE, Relation
from dproo.mechanisms.network import DECLARED, LEARNED, SHARE, Network, Wiring, settled
from dproo.mechanisms.rows import RowSampler
from dproo.schema.codebook import CodeBook
from dproo.synthesis.families import expected

HOPELESS = Fraction(1, 2)
"""From this distance on, a row reflects the noise more than the data."""

AFFORDABLE = Fraction(1, 10)
"""The distance up to which a number of parents is considered affordable."""


@dataclass(frozen=True, kw_only=True)
class ColumnPlan:
    """One step of a row.

    Attributes:
        column: its name.
        parents: the columns it depends on; for a learned network, the largest possible.
        k: the number of its letters.
        cells: the number of cells of the column and its parents.
        epsilon: what the step costs.
        alpha: a bound on how far the step can move the row.
    """

    column: str
    parents: tuple[str, ...]
    k: int
    cells: int
    epsilon: Fraction
    alpha: Fraction


@dataclass(frozen=True, kw_only=True)
class RowPlan:
    """What a row of these columns costs, and how accurate it is.

    Attributes:
        n: the number of records.
        epsilon: the epsilon of the whole row.
        network: ``"declared"`` or ``"learned"``.
        network_epsilon: what the choice of the network costs.
        columns: the steps, in the order of drawing.
        alpha: a bound on the distance between the law of the row and rows drawn without privacy
            along the network; None if the network allows no bound.
        parents: how many parents each column could have, within a distance of a tenth;
            None if not even independent columns are that close.
        table: about how far the noise of a private table, for the same epsilon, moves pairs of
            columns on average; the table serves any number of rows.
    """

    n: int
    epsilon: Fraction
    network: str
    network_epsilon: Fraction
    columns: tuple[ColumnPlan, ...]
    alpha: Fraction | None
    parents: int | None
    table: float

    @property
    def table_from(self) -> int | None:
        """The number of rows from which a private table, for one epsilon, is probably closer.

        The distance of a row grows with the number of rows that share epsilon. If each column has
        one part of that distance, a pair of columns has about two. None if there is no such number.
        """
        if not self.alpha:
            return None
        of_a_pair = self.alpha * min(Fraction(1), Fraction(2, len(self.columns)))
        rows = max(2, ceil(Fraction(self.table) / of_a_pair))
        return rows if rows <= RECORDS_MAX else None

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
    records_per_person: int = 1,
    is_searched: bool = True,
) -> RowPlan:
    """Return the plan of one row, from public parameters alone; see :func:`dproo.plan`.

    The records of a person share epsilon. With ``is_searched``, the affordable number of parents
    is found too, which takes much longer.
    """
    book = CodeBook.of(codebook)
    records, total = whole("n", n, at_least=1), parse_epsilon(epsilon)
    each = total / whole("records_per_person", records_per_person, at_least=1)
    known = Network.wired(network, book.parents, book.sizes)
    spent = each * SHARE if known is None else Fraction(0)

    def sampler(wired: Network) -> RowSampler:
        require_share(each - spent, "the columns")
        return RowSampler(epsilon=each - spent, network=wired, neighbours=neighbours, n=records)

    row = sampler(known or Network.star(book.sizes))
    names = book.columns
    return RowPlan(
        n=records,
        epsilon=total,
        network=LEARNED if known is None else DECLARED,
        network_epsilon=spent * records_per_person,
        columns=tuple(
            ColumnPlan(
                column=names[family.column],
                parents=tuple(names[parent] for parent in family.parents),
                k=row.network.sizes[family.column],
                cells=cells,
                epsilon=share * records_per_person,
                alpha=alpha,
            )
            for family, cells, share, alpha in zip(
                row.network.families, row.network.cells, row.shares, row.worst_alphas, strict=True
            )
        ),
        alpha=row.worst_alpha,
        parents=_affordable(sampler, book.sizes) if is_searched else None,
        table=table_noise(
            book,
            n=n,
            epsilon=epsilon,
            network=network,
            neighbours=neighbours,
            records_per_person=records_per_person,
        ),
    )


def table_noise(
    book: CodeBook,
    *,
    n: int,
    epsilon: Number,
    network: Wiring = AUTO,
    neighbours: Relation = REPLACE,
    records_per_person: int = 1,
) -> float:
    """Return about how far the noise of a private table moves pairs of columns on average."""
    wiring = settled(network, book.parents, len(book.sizes))
    parents = book.parent_places if wiring == DECLARED else [()] * len(book.sizes)
    # A table draws no column after its parents: they may form a circle, which is one family.
    families = dict.fromkeys(tuple(sorted((*found, i))) for i, found in enumerate(parents))
    return expected(
        book.sizes,
        None if wiring == LEARNED and len(book.sizes) > 1 else families,
        epsilon=float(parse_epsilon(epsilon)),
        records=whole("n", n, at_least=1),
        changed=records_per_person * (2 if neighbours == REPLACE else 1),
    )


def _affordable(sampler: Any, sizes: tuple[int, ...]) -> int | None:
    """Return how many parents each column could have within the affordable distance, or None."""
    most = None
    for parents in range(len(sizes)):
        alpha = sampler(Network.chained(sizes, parents=parents)).worst_alpha
        if alpha is None or alpha > AFFORDABLE:
            break
        most = parents
    return most
