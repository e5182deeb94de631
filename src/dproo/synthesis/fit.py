r"""The fit: of all laws of a row, the one nearest to the noisy counts. Post-processing, in floats.

It lowers ``sum over f of W_f |n M_f - Y_f|^2`` by mirror descent on log-potentials; ``M_f`` is the
law of the columns of family ``f``, ``Y_f`` its noisy counts, and ``W_f`` one over the variance of
their noise. It ends soon after noise explains what is left: going on would fit the noise. If the
steps become too small before that, as when one cell holds much of the data, the potentials are
scaled to the noisy counts, family by family, and the descent starts anew. The marginals come from
belief propagation along an elimination order whose cliques are small. Nothing here sees the data,
and the same counts give the same law on the same machine; only rows are drawn.

Proof: docs/proofs/table.md, "Post-processing".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, groupby
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.random  # else the first row would load it, after the charge

from dproo.synthesis.families import Elimination, Family

Array = np.ndarray[Any, np.dtype[np.float64]]
Tables = dict[Family, Array]

QUIET = np.errstate(all="ignore")
"""Around each computation: a program may have told numpy to raise where numbers round to 0."""

STEPS = 400
TOLERANCE = 1e-5
"""The descent ends when a step gains less than this share of the loss."""

EXPLAINED = 8.0
"""Noise explains a gap to noisy counts whose mean square is at most this many variances, over a
family and over the sums of each of its columns."""

ROUNDS, SWEEPS = 6, 2
"""How often the descent starts anew if noise does not explain its end, and how often all families
are scaled before that."""

FLOOR = 0.05
"""The records to which a cell without any is scaled."""

LOWEST = 1e5
"""How far a potential may be below the largest of its family: there its exponential is zero."""

BATCH = 1 << 20
"""The most cells that are held at once when pairs are taken from a law."""


def projected(values: Array, total: float) -> Array:
    """Return the nearest table without negative cells that adds up to ``total``.

    >>> projected(np.array([3.0, 2.0, -1.0]), 4.0).tolist()
    [2.5, 1.5, 0.0]
    """
    flat = values.ravel()
    falling = np.sort(flat)[::-1]
    excess = np.cumsum(falling) - total
    above = np.nonzero(falling - excess / np.arange(1, flat.size + 1) > 0)[0]
    last = above[-1] if above.size else 0  # none if the total is lost in rounding
    return np.asarray(np.maximum(values - excess[last] / (last + 1), 0.0))


@dataclass(frozen=True)
class Law:
    """A law of whole rows: log-potentials of families, and how rows are drawn from them.

    Attributes:
        sizes: how many letters each column has.
        potentials: the log-potential of each family, its axes in ascending order of columns.
    """

    sizes: tuple[int, ...]
    potentials: Tables
    tree: Elimination = field(init=False, repr=False, compare=False)
    conditionals: dict[int, Array] = field(init=False, repr=False, compare=False)

    @QUIET
    def __post_init__(self) -> None:
        tree = Elimination(self.sizes, self.potentials)
        vars(self).update(tree=tree, conditionals=_conditionals(tree, self.potentials))

    @cached_property
    def _marginals(self) -> dict[int, Array]:
        return _marginals(self.tree, self.potentials)

    @QUIET
    def pairs(self, wanted: Iterable[Family] | None = None) -> Tables:
        """Return the law of every pair of columns, or of those that are wanted."""
        chosen = combinations(range(len(self.sizes)), 2) if wanted is None else wanted
        laws: Tables = {}
        letters = max(1, BATCH // self.tree.largest)
        for first, chosen_of_first in groupby(sorted({*chosen}), key=itemgetter(0)):
            size = self.sizes[first]
            parts = [
                self._given(first, at, min(at + letters, size)) for at in range(0, size, letters)
            ]
            for pair in chosen_of_first:
                laws[pair] = np.concatenate([part[pair[1]] for part in parts])
        return laws

    @QUIET
    def joint(self, columns: Sequence[int]) -> Array:
        """Return the law of some columns together, its axes in their order.

        It has a cell for each combination of letters: the caller must keep these few.
        """
        family = tuple(sorted(columns))
        if not family:
            return np.ones(())
        tree, marginals = self.tree, self._marginals
        if family not in self.potentials:
            more = {family: np.zeros([self.sizes[column] for column in family])}
            tree = Elimination(self.sizes, potentials := {**self.potentials, **more})
            marginals = _marginals(tree, potentials)
        table = _taken(tree, marginals, family)
        return np.asarray(np.transpose(table, [family.index(column) for column in columns]))

    @QUIET
    def rows(self, size: int, chance: np.random.Generator) -> list[np.ndarray[Any, Any]]:
        """Return the places of the letters of independent rows, column by column."""
        drawn: dict[int, np.ndarray[Any, Any]] = {}
        for column in self.tree.order:
            table, letters = self.conditionals[column], self.sizes[column]
            below = np.minimum(np.cumsum(table, -1).reshape(-1, letters), 1.0)
            below[:, -1] = 1.0
            parents = self.tree.parents[column]
            uniform = chance.random(size)
            if parents:
                shape = [self.sizes[parent] for parent in parents]
                at = np.ravel_multi_index([drawn[parent] for parent in parents], shape)
            else:
                at = np.zeros(size, dtype=np.int64)
            # One search in the laws of all parents at once: the law of cell i lies in [i, i + 1].
            steps = (below + np.arange(len(below))[:, None]).ravel()
            places = np.searchsorted(steps, at + uniform, side="right") - at * letters
            drawn[column] = np.clip(places, 0, letters - 1)
        return [drawn[column] for column in range(len(self.sizes))]

    def _given(self, clamped: int, first: int, last: int) -> dict[int, Array]:
        """Return the joint law of some letters of one column and each other column."""
        tree, size = self.tree, last - first
        own = self.conditionals[clamped]
        letters = np.eye(self.sizes[clamped])[first:last]
        letters = letters.reshape((size,) + (1,) * (own.ndim - 1) + (-1,))
        changed = {clamped: np.broadcast_to(letters, (size, *own.shape))}
        column, chances = clamped, np.moveaxis(own[..., first:last], -1, 0)
        while tree.parents[column]:  # upwards: the chance of the letter, given earlier columns
            above = tree.home(tree.parents[column])
            shape, _ = _place(tree, tree.parents[column], above)
            weighted = self.conditionals[above][None] * chances.reshape((size, *shape))
            chances = weighted.sum(-1)
            changed[above] = np.nan_to_num(weighted / chances[..., None])  # 0 / 0: never drawn
            column = above
        prior = chances.reshape(size)
        laws: dict[int, Array] = {}
        for x in tree.order:  # downwards: the law of each clique, given the letter
            law = changed[x] if x in changed else self.conditionals[x][None]
            if tree.parents[x]:
                above = tree.home(tree.parents[x])
                _, rest = _place(tree, tree.parents[x], above)
                laws[x] = law * laws[above].sum(tuple(axis + 1 for axis in rest))[..., None]
            else:
                laws[x] = np.broadcast_to(law, (size, *law.shape[1:]))
        return {
            x: prior[:, None] * law.sum(tuple(range(1, law.ndim - 1))) for x, law in laws.items()
        }


def fitted(
    sizes: Sequence[int],
    counts: Mapping[Family, Array],
    weights: Mapping[Family, float],
    records: float,
    *,
    start: Law | None = None,
) -> Law:
    """Return the law that is nearest to noisy counts.

    Args:
        sizes: how many letters each column has.
        counts: the noisy counts of families.
        weights: one over the variance of the noise of each family.
        records: how many records there are, about.
        start: a law to start from, of some of these families.
    """
    problem = _Problem(Elimination(sizes, counts), counts, weights, records)
    theta = {family: _first_potential(table, records) for family, table in counts.items()}
    if start is not None:
        theta |= {f: table for f, table in start.potentials.items() if f in theta}
    theta, laws, loss = problem.descent(theta)
    for _ in range(ROUNDS):
        if problem.excess(laws) <= EXPLAINED:
            break
        trial, tried, then = problem.descent(problem.scaled(theta))
        if then < loss:
            theta, laws = trial, tried
        if then > 0.9 * loss:
            break
        loss = then
    return Law(tuple(sizes), {f: np.round(_bounded(table), 6) for f, table in theta.items()})


@dataclass(frozen=True)
class _Problem:
    """What the law is fitted to."""

    tree: Elimination
    counts: Mapping[Family, Array]
    weights: Mapping[Family, float]
    records: float

    def marginals(self, potentials: Tables) -> Tables:
        """Return the law of each family."""
        marginals = _marginals(self.tree, potentials)
        return {family: _taken(self.tree, marginals, family) for family in potentials}

    def descent(self, theta: Tables) -> tuple[Tables, Tables, float]:
        """Return the potentials after mirror descent, the laws of the families and the loss."""
        scale = 1 / max(self.weights.values(), default=1.0)
        weight = {family: self.weights[family] * scale for family in self.counts}
        shares = {family: table / self.records for family, table in self.counts.items()}

        def loss(laws: Tables) -> float:
            return float(sum(weight[f] * ((laws[f] - shares[f]) ** 2).sum() for f in laws))

        laws = self.marginals(theta)
        now, step = loss(laws), 3.0
        for _ in range(STEPS):
            slope = {f: 2 * weight[f] * (laws[f] - shares[f]) for f in theta}
            while True:
                trial = {f: _bounded(theta[f] - step * slope[f]) for f in theta}
                tried = self.marginals(trial)
                then = loss(tried)
                if then <= now or step < 1e-15:
                    break
                step /= 2
            is_done = now - then < TOLERANCE * now
            theta, laws, now, step = trial, tried, then, step * 1.3
            if is_done:
                break
        return theta, laws, now

    def scaled(self, theta: Tables) -> Tables:
        """Return potentials scaled to the noisy counts of each family in turn, the surest last."""
        theta = dict(theta)
        targets = {
            family: np.maximum(projected(table, self.records), FLOOR)
            for family, table in self.counts.items()
        }
        for family in SWEEPS * sorted(theta, key=lambda family: self.weights[family]):
            law = _taken(self.tree, _marginals(self.tree, theta), family)
            law = np.maximum(law, np.finfo(float).tiny)
            theta[family] = _bounded(theta[family] + np.log(targets[family]) - np.log(law))
        return theta

    def excess(self, laws: Tables) -> float:
        """Return the largest mean square of the gaps of laws to noisy counts, in variances."""
        squares = [0.0]
        for family, table in self.counts.items():
            gap = self.records * laws[family] - table
            sums = [
                gap.sum(tuple(other for other in range(gap.ndim) if other != axis))
                for axis in range(gap.ndim)
            ]
            for part in (gap, *sums):
                variance = gap.size / part.size / self.weights[family]
                squares.append(float((part**2).mean() / variance))
        return max(squares)


def _bounded(table: Array) -> Array:
    """Return the same potential with 0 as its largest value, and bounded from below."""
    return np.asarray(np.maximum(table - table.max(), -LOWEST))


def _first_potential(table: Array, records: float) -> Array:
    if table.ndim > 1:
        return np.zeros(table.shape)
    return np.asarray(np.log(np.maximum(projected(table, records), 0.5) / records))


def _place(tree: Elimination, family: Family, home: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape of a family within the clique that holds it, and the other axes."""
    clique = tree.clique(home)
    shape = tuple(tree.sizes[column] if column in family else 1 for column in clique)
    return shape, tuple(axis for axis, column in enumerate(clique) if column not in family)


def _conditionals(tree: Elimination, potentials: Tables) -> dict[int, Array]:
    """Return the law of each column given its parents."""
    logs = {x: np.zeros([tree.sizes[y] for y in tree.clique(x)]) for x in tree.order}
    for family, table in potentials.items():
        home = tree.home(family)
        shape, _ = _place(tree, family, home)
        ordered = np.transpose(table, [family.index(column) for column in tree.sorted(family)])
        logs[home] = logs[home] + ordered.reshape(shape)
    conditionals: dict[int, Array] = {}
    for x in reversed(tree.order):
        top = logs[x].max(-1, keepdims=True)
        chances = np.exp(logs[x] - top)
        total = chances.sum(-1, keepdims=True)
        conditionals[x] = chances / total
        if tree.parents[x]:
            above = tree.home(tree.parents[x])
            shape, _ = _place(tree, tree.parents[x], above)
            logs[above] = logs[above] + (top + np.log(total))[..., 0].reshape(shape)
    return conditionals


def _marginals(tree: Elimination, potentials: Tables) -> dict[int, Array]:
    """Return the law of each clique."""
    laws = _conditionals(tree, potentials)
    for x in tree.order:
        if tree.parents[x]:
            above = tree.home(tree.parents[x])
            _, rest = _place(tree, tree.parents[x], above)
            laws[x] = laws[x] * laws[above].sum(rest)[..., None]
    return laws


def _taken(tree: Elimination, marginals: dict[int, Array], family: Family) -> Array:
    """Return the law of a family, its axes in ascending order of columns."""
    home = tree.home(family)
    _, rest = _place(tree, family, home)
    ordered = tree.sorted(family)
    return np.asarray(
        np.transpose(marginals[home].sum(rest), [ordered.index(column) for column in family])
    )
