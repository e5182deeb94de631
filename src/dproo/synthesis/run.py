"""A run of a private table: noisy counts and choices, step by step, each paid for.

The parameters of a step come from public sizes and from what earlier steps released. True counts
are used only with exact noise, in an exact choice, or in a question with exact noise.

Proof: docs/proofs/table.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from dproo.core.counts import Counts
from dproo.core.draw import RandomSource
from dproo.mechanisms.network import dependence
from dproo.mechanisms.noise import exponential, permute_and_flip
from dproo.synthesis.families import (
    CHOICES,
    CLIQUE_MAX,
    COLUMNS,
    DEPENDENCE,
    OF_STRONGEST,
    ROWS,
    SPREAD,
    STRONG,
    TYPICAL,
    WEAK,
    Elimination,
    Family,
    Noise,
    PairPlan,
    cells,
    disturbance,
    pairs,
    planned,
    shares,
)
from dproo.synthesis.fit import QUIET, Array, Law, fitted, projected
from dproo.synthesis.request import (
    NO_NOISE,
    UNIT,
    Measurement,
    Released,
    Step,
    TableRequest,
    total,
)

Provider = Callable[[Sequence[Family]], Iterable[Sequence[int]]]
"""Returns the true counts of families, each in row-major order of its columns."""

_DEPENDENCE = 0.35
_WORTH = 0.7 / 8
_LATER = 1.5
_ORDERS = 5_000
"""How many pairs at most an order of the columns is sought for, which takes some milliseconds."""


@QUIET
def run(request: TableRequest, count: Provider, source: RandomSource) -> Released:
    """Release noisy counts of the data behind a provider.

    Args:
        request: the mechanism.
        count: returns true counts; asked for some of the families of the request.
        source: of randomness.
    """
    return _Run(request, count, source).released()


@dataclass
class _Run:
    """One run of a request: what was released so far, and what is left to spend."""

    request: TableRequest
    count: Provider
    source: RandomSource
    steps: list[Step] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)
    tables: dict[Family, Array] = field(default_factory=dict)
    weights: dict[Family, float] = field(default_factory=dict)
    known: dict[Family, Sequence[int]] = field(default_factory=dict)
    orders: int = 0

    @property
    def left(self) -> Fraction:
        """What is left to spend."""
        return self.request.budget - sum((step.cost for step in self.steps), Fraction(0))

    def true(self, families: Sequence[Family]) -> None:
        """Get the true counts of families from the provider, unless they are known."""
        unknown = [family for family in families if family not in self.known]
        for family, counts in zip(unknown, self.count(unknown) if unknown else (), strict=True):
            self.known[family] = [int(number) for number in counts]
            if len(self.known[family]) != cells(self.request.sizes, family):
                raise ValueError("counts must have one number for every cell of a family.")

    def measure(self, step: Step) -> None:
        """Release the counts of a family with noise."""
        family = step.family
        if family is None or step.cost > self.left:
            raise AssertionError("A step must measure a family, and not cost more than is left.")
        self.true([family])
        counts, size = self.known[family], cells(self.request.sizes, family)
        noise = step.noise(size, self.source)
        values = tuple(n + z for n, z in zip(counts, noise, strict=True))
        found = Measurement(family, values, step.ratio, step.variance)
        self.steps.append(step)
        self.measurements.append(found)
        shape = [self.request.sizes[column] for column in family]
        table = np.array([float(value) for value in values]).reshape(shape)
        weight, old = 1 / max(found.deviation_squared, NO_NOISE), self.weights.get(family, 0.0)
        self.weights[family] = old + weight
        before = self.tables.get(family, np.zeros(shape))
        self.tables[family] = (old * before + weight * table) / self.weights[family]

    def measure_all(self, total: Fraction, sizes: Mapping[Family, float]) -> None:
        """Measure families, each for a share of the total."""
        power = self.request.noise_law.power
        for family, cost in shares(total, sizes, power=power).items():
            self.measure(self.request.measurement(family, cost))

    def choose(
        self, candidates: Sequence[Family | None], scores: Sequence[int], cost: Fraction
    ) -> Family | None:
        """Release which candidate is probably among the best."""
        if cost > self.left:
            raise AssertionError("A step must not cost more than is left.")
        step = self.request.choice(None, cost)
        if step.ratio is None:
            raise AssertionError
        pick = exponential if self.request.is_gaussian else permute_and_flip
        found = candidates[pick(scores, step.ratio, self.source)]
        self.steps.append(self.request.choice(found, cost))
        return found

    def score(self, pair: Family, centre: Array) -> int:
        """Return how far the counts of a pair are from a public guess, in halves of units.

        One record changes it by ``UNIT`` if added or removed, by ``2 UNIT`` if replaced.
        """
        guess = [int(number) for number in np.rint(centre.ravel() * UNIT)]
        return sum(abs(UNIT * n - c) for n, c in zip(self.known[pair], guess, strict=True))

    def fit(self, records: float, start: Law | None = None) -> Law:
        """Fit a law to what was released so far."""
        tables = {family: table for family, table in self.tables.items() if family}
        return fitted(self.request.sizes, tables, self.weights, records, start=start)

    def total(self) -> float:
        """Return the number of records: public, or estimated from what was released."""
        if self.request.records is not None:
            return float(max(1, self.request.records))
        return total(self.measurements)

    def released(self) -> Released:
        """Run all steps."""
        schedule = self.request.schedule
        if schedule is None:
            law, records = self.auto()
        else:
            self.true([step.family for step in schedule if step.family is not None])
            for step in schedule:
                self.measure(step)
            records = self.total()
            law = self.fit(records)
        result = Released(self.request, tuple(self.measurements), tuple(self.steps), law, records)
        holds = result.conditions.values() if result.theorem else [result.certificate.holds]
        if not all(holds) or result.cost > self.request.budget:
            raise AssertionError("The steps of a table must not cost more than epsilon.")
        return result

    def auto(self) -> tuple[Law, float]:
        """Measure columns, a forest of pairs, and the pairs that fit worst."""
        request = self.request
        columns: list[Family] = [(column,) for column in request.active]
        self.true(request.families)
        budget = request.budget
        if request.records is None:
            self.measure(request.measurement((), budget * ROWS))
        noise = request.noise_law
        sizes = [request.sizes[column] for column in request.active]
        plan = self.plan(noise, sizes)
        own: dict[Family, float] = {f: float(cells(request.sizes, f)) for f in columns}
        self.measure_all(budget * COLUMNS if plan.forest else self.left, own)
        records = self.total()
        if not plan.forest:
            return self.fit(records), records
        each = budget * CHOICES / (plan.forest + plan.further)
        pure_left = self.left - budget * CHOICES
        forest, bare, summed = self.forest(plan, each, float(pure_left), records)
        two = list(combinations(range(len(sizes)), 2))
        power = noise.power
        later_weight = _LATER * plan.further * sum(cells(sizes, f) ** power for f in two) / len(two)
        ready = self.left - plan.further * each
        later = ready * Fraction(later_weight) / Fraction(later_weight + summed)
        measured = {f: disturbance(request.sizes, f) for f in [*forest, *bare]}
        waiting = self.with_room([f for f in pairs(request.sizes) if f not in forest], forest)
        goes_on = plan.further > 0 and bool(waiting)
        self.measure_all(ready - later if goes_on else self.left, measured)
        records = self.total()
        law = self.fit(records)
        if goes_on:
            chosen = self.worst_fitted(law, waiting, plan.further, each, records)
            own = {f: float(cells(request.sizes, f)) for f in chosen}
            self.measure_all(self.left, own or measured)
            records = self.total()
            law = self.fit(records, law)
        return law, records

    def plan(self, noise: Noise, sizes: Sequence[int]) -> PairPlan:
        """Return how many pairs are measured, by sizes and by what was released.

        If that depends on how dependent the pairs are, a question is paid for first, unless its
        answer would be less certain than what is typical of tables. Gaussian noise needs no
        question, since pairs are cheap. A noisy number of records is estimated low.
        """
        request = self.request
        least = self.total() - math.sqrt(sum(step.deviation_squared for step in self.steps))
        records = max(1.0, least)

        def best(dependence: float) -> PairPlan:
            cost = float(request.budget)
            return planned(sizes, noise=noise, cost=cost, records=records, dependence=dependence)

        if request.is_gaussian or not best(STRONG).forest or best(WEAK).forest:
            return best(TYPICAL)
        step = request.question(request.budget * DEPENDENCE)
        spread = OF_STRONGEST * math.sqrt(step.deviation_squared) / UNIT / records
        if spread > SPREAD:
            return best(TYPICAL)
        answer = max(0.0, OF_STRONGEST * self.ask(step) / records)
        trust = SPREAD**2 / (SPREAD**2 + spread**2)
        return best(trust * answer + (1 - trust) * TYPICAL)

    def ask(self, step: Step) -> float:
        """Release how far the strongest pairs are from independent on average, in records.

        There are a third as many of them as columns. One record changes the largest of several
        numbers by no more than it can change each of them.
        """
        if step.cost > self.left:
            raise AssertionError("A step must not cost more than is left.")
        two = pairs(self.request.sizes)
        gaps = (dependence(Counts.of(self.known[f]), self.request.sizes[f[1]]) for f in two)
        strongest = sorted(gaps, reverse=True)[: max(1, len(self.request.active) // 3)]
        mean = sum(strongest, Fraction(0)) / len(strongest)
        (noise,) = step.noise(1, self.source)
        answer = math.floor(UNIT * mean) + noise
        self.steps.append(replace(step, answer=answer))
        return answer / UNIT

    def forest(
        self, plan: PairPlan, each: Fraction, cost: float, records: float
    ) -> tuple[list[Family], list[Family], float]:
        """Choose pairs that join parts of the columns, until none is worth its noise.

        A pair is worth what it explains, less a part of the noise that measuring it adds
        everywhere; to choose none is worth 0.
        """
        request = self.request
        noise = request.noise_law
        two = pairs(request.sizes)
        alone = {c: projected(self.tables[c,], records) for c in request.active}
        off = {
            c: _DEPENDENCE * request.sizes[c] / math.sqrt(self.weights[c,]) for c in request.active
        }
        base: dict[Family, int] = {
            (a, b): self.score((a, b), np.outer(alone[a], alone[b]) / records)
            - round(2 * UNIT * math.hypot(off[a], off[b]))
            for a, b in two
        }
        part = {column: column for column in request.active}
        root = {
            f: disturbance(request.sizes, f) ** noise.power
            for f in [*two, *((column,) for column in request.active)]
        }
        forest: list[Family] = []
        bare: list[Family] = [(column,) for column in request.active]
        summed = sum(root[f] for f in bare)
        while len(forest) < plan.forest:
            joining = [f for f in two if part[f[0]] != part[f[1]]]
            if not joining:
                break
            after = [summed + root[f] - sum(root[c,] for c in f if (c,) in bare) for f in joining]
            now = noise.total(summed, cost)
            worth = [
                base[f] - round(2 * UNIT * _WORTH * (noise.total(then, cost) - now))
                for f, then in zip(joining, after, strict=True)
            ]
            pair = self.choose([*joining, None], [*worth, 0], each)
            if pair is None:
                break
            forest.append(pair)
            summed = after[joining.index(pair)]
            bare = [f for f in bare if f[0] not in pair]
            old, new = part[pair[1]], part[pair[0]]
            part = {column: new if at == old else at for column, at in part.items()}
        return forest, bare, summed

    def with_room(self, waiting: Sequence[Family], families: Sequence[Family]) -> list[Family]:
        """Return the pairs that probably keep the cliques small beside these families.

        A new order of the columns is sought, which takes long, only where this one has no room.
        """
        sizes = self.request.sizes
        tree = Elimination(sizes, families)
        found = []
        for pair in waiting:
            has_room = tree.has_room(pair)
            if not has_room and self.orders < _ORDERS:
                self.orders += 1
                has_room = Elimination(sizes, [*families, pair]).largest <= CLIQUE_MAX
            if has_room:
                found.append(pair)
        return found

    def worst_fitted(
        self, law: Law, waiting: list[Family], further: int, each: Fraction, records: float
    ) -> list[Family]:
        """Choose waiting pairs that the law fits worst and that keep the cliques small."""
        expected = law.pairs(waiting)
        scores = {f: self.score(f, records * expected[f]) for f in waiting}
        worst: list[Family] = []
        families = [f for f in self.tables if f]
        for _ in range(further):
            if not waiting:
                break
            pair = self.choose(waiting, [scores[f] for f in waiting], each)
            if pair is None:
                raise AssertionError
            waiting.remove(pair)
            if Elimination(self.request.sizes, [*families, *worst, pair]).largest <= CLIQUE_MAX:
                worst.append(pair)
                waiting = self.with_room(waiting, [*families, *worst])
        return worst
