r"""The best worst-case accuracy of all epsilon-DP samplers, by linear programming, for small n, k.

A sampler that treats all letters alike is a table ``x[h, c]``: on a dataset with the counts
``h``, in falling order, a letter with count ``c`` is released with probability ``x[h, c]``.
Averaging a sampler over all relabellings of the letters keeps it private and does not raise
its largest distance over a set of ``P`` closed under relabelling, so such tables are enough.

    minimise ``t`` subject to   ``sum_c (letters of h with count c) x[h, c] = 1``,
    ``x[h, c] <= e^epsilon x[h', c']``  for every replaced record and every output letter,
    ``sum_y |Q_P(y) - P(y)| <= 2 t``    for every ``P`` of the program.

With more ``P`` the optimum can only rise, so on a grid it is a lower bound on the worst case
of every private sampler, and not an upper bound: the sampler that it finds may be worse
between the points of the grid. So the worst ``P`` of that sampler is searched, and may join the
grid; on one ``P`` it is a lower bound on that ``P``, for every sampler that treats all letters
alike. The distributions that prove :func:`dproo.limit` are added to the grid, so the optimum is
never below that bound.

Under add-remove the table has a law for every dataset of up to ``most`` records, private when one
is added or removed, and accuracy is required at ``n`` only. Without further conditions this is a
lower bound, as it leaves out larger datasets. If datasets of ``most`` records must give a uniform
letter, all larger ones may too, and the sampler is private for every size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import permutations, product
from math import exp, factorial, prod

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.sparse import coo_array

from dproo.analysis.certificate import certify
from dproo.analysis.limit import limit
from dproo.core.checks import refusal, shown, whole
from dproo.core.counts import Counts, Dataset, Runs, every_dataset, falling_datasets
from dproo.core.numbers import Number, parse_epsilon
from dproo.mechanisms import Mechanism, Transition
from dproo.study.distributions import Distribution

_Key = tuple[Dataset, int]
_Row = dict[int, float]
_Vector = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

_SOLVERS = (("highs-ipm", True), ("highs-ds", True), ("highs-ds", False))
"""The solvers, fastest first; each may give up."""

_UNIT = 1 << 60
_SHARES = 10**4
_CLOSE = 1 + 1e-4
_STARTS = 16
_FIRST_BLEND = Fraction(1, 10**13)


@dataclass(frozen=True, kw_only=True)
class OptimalSampler(Mechanism):
    """A sampler given by its whole table: the solution of the linear program, in integers.

    Guarantee: epsilon-DP when one record is replaced; certified by enumeration.
    """

    name = "optimal"

    table: dict[_Key, int] = field(repr=False, hash=False)

    def weights(self, counts: Counts) -> Runs:
        """Look up the weight of every letter."""
        dataset = tuple(sorted(counts, reverse=True))
        return counts.map(lambda count: self.table[dataset, count])

    @cached_property
    def worst(self) -> Transition:
        """The worst of all transitions."""
        return certify(self, method="enumerate").witness

    @property
    def worst_alpha(self) -> Fraction:
        """Unknown, because the program only covers the distributions of its grid."""
        return Fraction(1)


@dataclass(frozen=True)
class Minimax:
    """The least worst case of all private samplers, and a sampler that attains it.

    Attributes:
        alpha: the optimum of the linear program.
        bound: a lower bound on the optimum, by weak duality from the dual solution, in floats.
        reached: the largest distance of ``sampler`` from any ``P`` that a search found; the
            best worst case of all private samplers is between ``bound`` and the true one.
        distributions: the ``P`` of the program.
        sampler: a sampler that attains ``alpha`` on these up to rounding, certified by enumeration.
    """

    alpha: float
    bound: float
    reached: float
    distributions: tuple[Distribution, ...]
    sampler: OptimalSampler


def minimax(
    *,
    n: int,
    k: int,
    epsilon: Number,
    p: Iterable[object] | None = None,
    grid: int = 12,
    rounds: int = 0,
    most: int | None = None,
) -> Minimax:
    """Return the best accuracy of all epsilon-DP samplers, and a sampler that attains it.

    Args:
        n: the number of records.
        k: the number of letters.
        epsilon: the privacy parameter.
        p: one distribution; without it the worst of a grid and of a few more.
        grid: the grid has all ``P`` whose probabilities are multiples of ``1/grid``.
        rounds: how often the worst ``P`` of the sampler joins the others.
        most: without it a record is replaced; with it, one is added or removed, in datasets of up
            to so many, and the sampler, with the law at ``n``, is certified at twice epsilon.

    Guarantee: the sampler's certificate holds, and no private sampler's worst distance on
    these distributions is below ``bound``.

    >>> round(minimax(n=6, k=2, epsilon=1, grid=6).alpha, 3)
    0.035
    """
    n, k = whole("n", n, at_least=1), whole("k", k, at_least=2)
    epsilon = parse_epsilon(epsilon)
    if p is None:
        parts = falling_datasets(whole("grid", grid, at_least=1), k)
        even = [tuple(Fraction(c, grid) for c in part) for part in parts]
        total = epsilon if most is None else 2 * epsilon
        chosen = tuple(map(Distribution, dict.fromkeys([*even, *_hard(n, k, total)])))
    else:
        chosen = (Distribution.of(p),)
        if chosen[0].k != k:
            raise ValueError(refusal("p", f"have k = {shown(k)} entries", chosen[0].k))
    if most is not None:
        most = whole("most", most, at_least=n + 1)
    for left in range(rounds, -1, -1):
        free = _Program(n, k, exp(epsilon), chosen, most=most)
        solution, bound = free.solve()
        program = free
        if most is not None:
            program = _Program(n, k, exp(epsilon), chosen, most=most, is_ended=True)
            solution, _ = program.solve()
        sampler = _rounded(program, solution, epsilon if most is None else 2 * epsilon)
        worst, reached = worst_distribution(sampler)
        if worst in chosen or reached <= bound * _CLOSE:
            break
        if left:
            chosen = (*chosen, worst)
    return Minimax(float(solution[-1]), bound, reached, chosen, sampler)


def worst_distribution(sampler: Mechanism, *, grid: int = 60) -> tuple[Distribution, float]:
    """Return the ``P`` with the largest distance that a search found, and the distance.

    The search starts from the worst points of a grid, and continues between them. The sampler must
    treat all letters alike.
    """
    n, k = sampler.n, sampler.k
    datasets = np.array(list(every_dataset(n, k)))
    laws = np.array([[float(p) for p in sampler.pmf(row)] for row in datasets.tolist()])
    orders = np.array([
        float(factorial(n) // prod(map(factorial, row))) for row in datasets.tolist()
    ])  # fmt: skip

    def distance(shares: _Vector) -> float:
        p = np.abs(shares) / np.abs(shares).sum()
        output = (orders * np.prod(p**datasets, axis=1)) @ laws
        return float(np.abs(output - p).sum() / 2)

    starts = sorted((np.array(part) / grid for part in falling_datasets(grid, k)), key=distance)
    ends = [minimize(lambda p: -distance(p), p, method="Nelder-Mead").x for p in starts[-_STARTS:]]
    worst = np.abs(max([*ends, starts[-1]], key=distance))
    shares = [Fraction(round(share * _SHARES), _SHARES) for share in worst / worst.sum()]
    shares[0] += 1 - sum(shares)
    return Distribution(tuple(shares)), distance(worst)


def _hard(n: int, k: int, epsilon: Fraction) -> Iterator[tuple[Fraction, ...]]:
    """Yield the distributions used in the proof of the closed-form limit."""
    yield _falling(k, Fraction(1))
    found = limit(n=n, k=k, epsilon=epsilon)
    if found.levels:
        yield from found.levels.distributions(k)
    if found.pair is None:
        return
    letters, share = found.pair
    rest = 1 - letters * share
    yield _falling(k, *[share] * letters, rest)
    if share < 1:
        yield _falling(k, *[share / (1 - share)] * (letters - 1), rest / (1 - share))


def _falling(k: int, *shares: Fraction) -> tuple[Fraction, ...]:
    return tuple(sorted([*filter(None, shares), *[Fraction(0)] * k], reverse=True)[:k])


class _Program:
    """The linear program; its variables are the table, the gaps ``|Q - P|``, and ``t``."""

    def __init__(
        self,
        n: int,
        k: int,
        growth: float,
        chosen: Sequence[Distribution],
        *,
        most: int | None = None,
        is_ended: bool = False,
    ) -> None:
        self.n, self.k, self.growth, self.chosen = n, k, growth, chosen
        self.most, self.is_ended = most, is_ended
        sizes = [n] if most is None else range(most + 1)
        self.datasets = [h for size in sizes for h in falling_datasets(size, k)]
        self.index = {
            key: i
            for i, key in enumerate((h, c) for h in self.datasets for c in sorted(set(h)))
        }  # fmt: skip
        self.gaps = [(p, share) for p in chosen for share in p.groups]

    def solve(self) -> tuple[_Vector, float]:
        """Return the optimal variables, and a lower bound on the optimum by weak duality."""
        at_most, limits = zip(*self._inequalities(), strict=True)
        equal = [
            {self.index[h, c]: float(letters) for c, letters in Counter(h).items()}
            for h in self.datasets
        ]
        totals = [1.0] * len(equal)
        if self.is_ended:
            ends = [key for key in self.index if sum(key[0]) == self.most]
            equal += [{self.index[key]: float(self.k)} for key in ends]
            totals += [1.0] * len(ends)
        variables = len(self.index) + len(self.gaps) + 1
        goal = np.zeros(variables)
        goal[-1] = 1.0
        above, exactly = _matrix(at_most, variables), _matrix(equal, variables)
        for method, presolve in _SOLVERS:
            found = linprog(
                goal,
                A_ub=above,
                b_ub=limits,
                A_eq=exactly,
                b_eq=totals,
                bounds=(0, 1),
                method=method,
                options={"presolve": presolve},
            )
            if found.success:
                break
        else:
            raise ArithmeticError(f"the linear program was not solved: {found.message}")
        prices, free = np.minimum(found.ineqlin.marginals, 0), found.eqlin.marginals
        reduced = goal - above.T @ prices - exactly.T @ free
        bound = prices @ np.array(limits) + free.sum() + np.minimum(reduced, 0).sum()
        return found.x, float(bound)

    def _inequalities(self) -> Iterator[tuple[_Row, float]]:
        """Yield the rows ``row . variables <= limit``."""
        for smaller, larger in self._privacy():
            yield {self.index[larger]: 1.0, self.index[smaller]: -self.growth}, 0.0
        first, last = len(self.index), len(self.index) + len(self.gaps)
        budget = {p: {last: -1.0} for p in self.chosen}
        for gap, (p, share) in enumerate(self.gaps, start=first):
            output = self._output(p, p.shares.index(share))
            yield {**output, gap: -1.0}, float(share)
            yield {**{i: -value for i, value in output.items()}, gap: -1.0}, -float(share)
            budget[p][gap] = p.groups[share] / 2
        for row in budget.values():
            yield row, 0.0

    def _privacy(self) -> set[tuple[_Key, _Key]]:
        """Return all pairs of table entries that neighbours connect."""
        pairs = set()
        for h in self.datasets:
            if self.most is not None:
                for gainer in range(self.k if sum(h) < self.most else 0):
                    more = [c + (y == gainer) for y, c in enumerate(h)]
                    after = tuple(sorted(more, reverse=True))
                    near = {((h, h[y]), (after, more[y])) for y in range(self.k)}
                    pairs |= near | {(there, here) for here, there in near}
                continue
            for loser, gainer in product(range(self.k), repeat=2):
                if loser == gainer or h[loser] == 0:
                    continue
                moved = list(h)
                moved[loser] -= 1
                moved[gainer] += 1
                after = tuple(sorted(moved, reverse=True))
                pairs |= {((h, h[y]), (after, moved[y])) for y in range(self.k)}
        return pairs

    def _output(self, p: Distribution, letter: int) -> _Row:
        """Return ``Q_P(letter)`` as a row: the probability of every dataset and its count."""
        row: _Row = {}
        shares = [float(share) for share in p.shares]
        for h in falling_datasets(self.n, self.k):
            orders = factorial(self.n) // prod(map(factorial, h))
            for counts in set(permutations(h)):
                chance = orders * prod(map(pow, shares, counts))
                if chance:
                    i = self.index[h, counts[letter]]
                    row[i] = row.get(i, 0.0) + chance
        return row


def _matrix(rows: Sequence[_Row], columns: int) -> coo_array:
    places = [(i, j, value) for i, row in enumerate(rows) for j, value in row.items()]
    i, j, values = zip(*places, strict=True)
    return coo_array((values, (i, j)), shape=(len(rows), columns)).tocsr()


def _rounded(program: _Program, solution: _Vector, epsilon: Fraction) -> OptimalSampler:
    """Return the solution in integers, blended with the uniform letter until it certifies."""
    blend = _FIRST_BLEND
    while True:
        uniform = int(blend * _UNIT)
        table = {
            key: uniform + program.k * int((1 - blend) * max(0, int(solution[i] * _UNIT)))
            for key, i in program.index.items()
            if sum(key[0]) == program.n
        }
        try:
            return OptimalSampler(epsilon=epsilon, n=program.n, k=program.k, table=table)
        except ValueError:
            blend *= 10
