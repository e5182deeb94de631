"""Networks of columns: which earlier columns each column of a row depends on.

A network is public. It is declared, or grown privately as a tree, edge by edge. An edge joins a
new column to a parent that is already in the tree. Its score is how far the two columns are from
independent, in records,

    score = 1/2 sum_xy |c(x, y) - c(x) c(y) / n|,

which one record added or removed changes by less than 2, and one replaced by less than 3.
Each edge is chosen by permute-and-flip: the candidates in random order, each taken with
probability ``exp(-(best - score) epsilon / (2 sensitivity))``, exactly.

Proof: docs/proofs/rows.md
Reference: McKenna and Sheldon (2020), Algorithm 1; Zhang et al. (2017), PrivBayes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt, prod
from typing import Final, Literal

from dproo.core.checks import one_of, refusal
from dproo.core.counts import Counts
from dproo.core.draw import RandomSource, first_taken
from dproo.mechanisms.base import ADD_REMOVE, REPLACE, Relation
from dproo.mechanisms.registry import AUTO
from dproo.schema.codebook import check_parents

SENSITIVITY = {ADD_REMOVE: 2, REPLACE: 3}
"""One record changes a score by less than this."""

SHARE = Fraction(1, 5)
"""The default share of a row's epsilon spent on the choice of its network."""

PAIR_MAX = 1 << 20
"""The most cells that two columns may have together if a network is learned."""

Pair = Callable[[int, int], Counts]
"""The joint counts of two columns, the letters of the second one varying fastest."""


def dependence(pair: Counts, width: int) -> Fraction:
    """Return how far two columns are from independent, in records; 0 without records.

    The joint counts are ``pair``, in which the second column has ``width`` letters.

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
    """Return the place of one score by permute-and-flip, at ``rate`` per unit of score."""
    best = max(scores)
    gaps = [best - score for score in scores]
    return first_taken(len(scores), lambda place: source.is_survived(rate * gaps[place]), source)


def grown_tree(
    pair: Pair,
    sizes: Sequence[int],
    *,
    epsilon: Fraction,
    neighbours: Relation,
    source: RandomSource,
) -> Network:
    """Return a tree over all columns, rooted at the first.

    Guarantee: the choice is epsilon-DP: one edge for each further column, each
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


CELLS_MAX = 1 << 40
"""A family with more cells is refused: no number of records could fill it."""

_PRECISION = 64


Wiring = Literal["auto", "declared", "learned", "independent"]
"""Where a network comes from; ``"auto"`` is declared if there are parents, else learned."""

DECLARED: Final = "declared"
LEARNED: Final = "learned"
INDEPENDENT: Final = "independent"


LEARNED_MAX = 300
"""The most columns whose network is learned: the time grows with the cube of their number."""


def settled(wiring: Wiring, parents: object, columns: int) -> Wiring:
    """Return where a network comes from, given the declared parents, if there are any."""
    wiring = one_of("network", wiring, (AUTO, DECLARED, LEARNED, INDEPENDENT))
    if wiring == DECLARED and parents is None:
        raise ValueError(
            "network must not be 'declared' where the code book names no parents. Name the"
            " 'parents' of its columns, or let the network be learned."
        )
    if wiring == AUTO:
        wiring = LEARNED if parents is None else DECLARED
    if wiring == LEARNED and columns > LEARNED_MAX:
        raise ValueError(
            f"network must be declared or independent where there are more than {LEARNED_MAX}"
            f" columns, got {columns:,}."
        )
    return wiring


@dataclass(frozen=True)
class Family:
    """A column and its parents, all drawn before it, by their places among the columns."""

    column: int
    parents: tuple[int, ...] = ()

    @property
    def columns(self) -> tuple[int, ...]:
        """The parents, then the column."""
        return (*self.parents, self.column)


@dataclass(frozen=True)
class Network:
    """Every column once, in the order of drawing, each with parents among the earlier ones.

    The ``sizes`` are the numbers of letters of the columns, by their places.

    >>> tree = Network.of({"sex": (), "age": (), "work": ("sex", "age")}, [2, 4, 3])
    >>> [family.columns for family in tree.families], tree.cells
    ([(0,), (1,), (0, 1, 2)], (2, 4, 24))
    """

    families: tuple[Family, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        order = [family.column for family in self.families]
        is_after = [set(family.parents) <= {*order[:i]} for i, family in enumerate(self.families)]
        if sorted(order) != list(range(len(self.sizes))) or not all(is_after):
            raise ValueError("network must draw every column once, after its parents.")
        if not min(self.sizes) >= 2:
            raise ValueError("network must have at least 2 letters in every column.")

    @classmethod
    def of(cls, parents: Mapping[str, Sequence[str]], sizes: Sequence[int]) -> Network:
        """Return the network of named columns, ordered so that parents come first.

        Raises:
            ValueError: a parent is not a column or is repeated, parents form a cycle, or a
                family has more than 2^40 cells.
        """
        names = list(parents)
        check_parents(parents)
        for name, found in parents.items():
            cells = prod(sizes[names.index(column)] for column in (*found, name))
            if cells > CELLS_MAX:
                raise ValueError(
                    f"parents of {name!r} must leave at most 2^40 cells, got {cells}."
                    " Give it fewer parents or fewer letters."
                )
        families: list[Family] = []
        waiting = list(names)
        while waiting:
            drawn = {names[family.column] for family in families}
            ready = next((name for name in waiting if drawn.issuperset(parents[name])), None)
            if ready is None:
                raise ValueError(
                    refusal("parents", "not form a circle", waiting)
                    + " A row draws a column after its parents: use network='learned', or a"
                    " private table."
                )
            waiting.remove(ready)
            places = tuple(names.index(parent) for parent in parents[ready])
            families.append(Family(names.index(ready), places))
        return cls(tuple(families), tuple(sizes))

    @classmethod
    def wired(
        cls, wiring: Wiring, parents: Mapping[str, Sequence[str]] | None, sizes: Sequence[int]
    ) -> Network | None:
        """Return the network if it does not depend on data, or None if it is learned."""
        wiring = settled(wiring, parents, len(sizes))
        if wiring == INDEPENDENT or len(sizes) == 1:
            return cls(tuple(map(Family, range(len(sizes)))), tuple(sizes))
        if wiring == LEARNED or parents is None:
            return None
        return cls.of(parents, sizes)

    @classmethod
    def star(cls, sizes: Sequence[int]) -> Network:
        """Return the tree with the most cells: all columns depend on the one with most letters."""
        root = max(range(len(sizes)), key=lambda column: sizes[column])
        others = (Family(column, (root,)) for column in range(len(sizes)) if column != root)
        return cls((Family(root), *others), tuple(sizes))

    @classmethod
    def chained(cls, sizes: Sequence[int], *, parents: int) -> Network:
        """Return the network in which each column depends on the ``parents`` columns before it."""
        places = range(len(sizes))
        return cls(
            tuple(
                Family(place, tuple(places[max(0, place - parents) : place])) for place in places
            ),
            tuple(sizes),
        )

    @cached_property
    def cells(self) -> tuple[int, ...]:
        """The number of cells of each family."""
        return tuple(
            prod(self.sizes[column] for column in family.columns) for family in self.families
        )

    @cached_property
    def shares(self) -> tuple[int, ...]:
        """The proportions of the steps' epsilons: the root of each family's cells.

        The worst-case distance of a row is at most a sum of cells over epsilons, which is
        least for epsilons in proportion to the roots of the cells.
        """
        return tuple(isqrt(cells << (2 * _PRECISION)) for cells in self.cells)

    @property
    def is_covered(self) -> bool:
        """Whether the parents of every column are part of one earlier family.

        Then the network reproduces every family's frequencies among the records.
        """
        return all(
            not family.parents
            or any(set(family.parents) <= set(earlier.columns) for earlier in self.families[:place])
            for place, family in enumerate(self.families)
        )
