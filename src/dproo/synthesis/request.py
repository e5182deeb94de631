r"""The mechanism of a private table, as a value: what is counted, with what noise, at which cost.

A :class:`TableRequest` holds public choices only. :meth:`TableRequest.run` takes a provider of true
counts, releases noisy ones step by step, and returns them with a transcript of what each step cost.
A step is a *measure* of a family, whose cells get noise, or a *choice* of a pair. The parameters of
a step depend on what earlier steps released and on nothing else, and the costs of all steps add up
to epsilon on every path.

Proof: docs/proofs/table.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, Final

import numpy as np

from dproo.core.checks import one_of, refusal, whole
from dproo.core.draw import RandomSource
from dproo.core.notebook import table as html_table
from dproo.core.numbers import (
    exp_upper,
    fraction_text,
    is_at_most_exp,
    log_upper,
    parse_delta,
    parse_epsilon,
    rounded_up,
)
from dproo.mechanisms.base import ADD_REMOVE, REPLACE, Relation
from dproo.mechanisms.noise import Ratio, concentrated, exponential, gaussian, permute_and_flip
from dproo.synthesis.families import (
    CHOICES,
    CLIQUE_MAX,
    COLUMNS,
    ROWS,
    Elimination,
    Family,
    Noise,
    Plan,
    cells,
    disturbance,
    pairs,
    planned,
    root_below,
    shares,
)
from dproo.synthesis.fit import Array, Law, fitted, projected

AUTO: Final = "auto"
INDEPENDENT: Final = "independent"
GEOMETRIC: Final = "geometric"
GAUSSIAN: Final = "gaussian"

Provider = Callable[[Sequence[Family]], Iterable[Sequence[int]]]
"""Returns the true counts of families, each in row-major order of its columns."""

UNIT = 16
"""A score counts sixteenths of a record: ``sum |16 N - C|``, twice as many as its distance."""

RESERVE = 1 - Fraction(1, 1 << 20)
"""A ratio spends this much of its share, so that a rational lies between it and e^epsilon."""

_DEPENDENCE = 0.35
_WORTH = 0.7 / 8
_LATER = 1.5


@dataclass(frozen=True)
class Step:
    """One step of a transcript.

    Attributes:
        family: what was measured; of a choice, the pair that was chosen, or None where none was.
        cost: its share of epsilon, or of rho where the noise is Gaussian.
        ratio: of its geometric noise, or of its choice.
        changes: by how many steps of the ratio what is protected can change it.
        variance: of its Gaussian noise, or None.
        is_choice: whether it was a choice.
    """

    family: Family | None
    cost: Fraction
    ratio: Ratio | None
    changes: int
    variance: Fraction | None = None
    is_choice: bool = False

    @property
    def largest_ratio(self) -> Fraction:
        """By how much one protected change can change the probability of what was released."""
        if self.ratio is None:
            raise TypeError("Gaussian noise has no largest ratio.")
        return self.ratio.power(self.changes)


@dataclass(frozen=True)
class Measurement:
    """The noisy counts of one family, in row-major order, and the noise they have."""

    family: Family
    values: tuple[int, ...]
    ratio: Ratio | None = None
    variance: Fraction | None = None

    @property
    def deviation_squared(self) -> float:
        """The variance of the noise of a cell."""
        if self.ratio is None:
            return float(self.variance or 0)
        q = self.ratio.value
        return float(2 * q / (1 - q) ** 2)


@dataclass(frozen=True)
class TableCertificate:
    """What a private table really leaks, exactly.

    Attributes:
        request: the mechanism.
        ratio: the largest ratio of the probabilities of what is released, on two neighbours; under
            a delta, None.
        rho: what was spent of zCDP, under a delta.
        is_bound: whether the ratio is a bound over all paths rather than that of one.
    """

    request: TableRequest
    ratio: Fraction | None
    rho: Fraction | None = None
    is_bound: bool = False

    @property
    def holds(self) -> bool:
        """Whether epsilon, and delta, hold; decided exactly."""
        if self.ratio is not None:
            return is_at_most_exp(self.ratio, self.request.epsilon)
        return self.rho is not None and self.rho <= self.request.budget

    @property
    def epsilon(self) -> float:
        """The privacy loss: the least float that is not below it."""
        if self.ratio is None:
            return float(self.request.epsilon)
        nearest = float(log_upper(self.ratio))
        is_enough = is_at_most_exp(self.ratio, Fraction(nearest))
        return nearest if is_enough else math.nextafter(nearest, math.inf)

    @property
    def _verdict(self) -> str:
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        delta = f", delta = {self.request.delta}" if self.ratio is None else ""
        where = f"a table ({self.request.neighbours})"
        return f"epsilon = {self.request.epsilon}{delta} {verdict} for {where}"

    def __repr__(self) -> str:
        return f"<Certificate: {self._verdict}; worst loss {self.epsilon:.9g}>"

    def _repr_html_(self) -> str:
        rows = [("worst loss", f"{self.epsilon:.12g}"), ("columns", len(self.request.sizes))]
        return html_table(self._verdict, rows)


@dataclass(frozen=True)
class Released:
    """Everything that a private table releases, and the law that was fitted to it.

    Attributes:
        request: the mechanism.
        measurements: the noisy counts.
        steps: the transcript.
        law: the fitted law; post-processing.
        records: the public or noisy number of records.
    """

    request: TableRequest
    measurements: tuple[Measurement, ...]
    steps: tuple[Step, ...]
    law: Law
    records: float

    @property
    def cost(self) -> Fraction:
        """What all steps cost together."""
        return sum((step.cost for step in self.steps), Fraction(0))

    @property
    def certificate(self) -> TableCertificate:
        """What it leaks, exactly."""
        return certify(self)


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """A private table: every public choice of it.

    Attributes:
        sizes: how many letters each column has.
        epsilon: for the whole table.
        delta: 0, or how often epsilon may fail; only with one is Gaussian noise used.
        neighbours: ``"add-remove"`` or ``"replace"``.
        records: the public number of records under ``"replace"``, else None.
        records_per_person: the most records that one protected person may own.
        network: ``"auto"``, ``"independent"``, or the declared parents of each column.
        noise: ``"geometric"`` or ``"gaussian"``; by default what disturbs pairs less.

    Guarantee: what :meth:`run` releases is epsilon-DP, or (epsilon, delta)-DP.
    Proof: docs/proofs/table.md

    >>> request = TableRequest(sizes=(2, 3), epsilon=Fraction(1), network="independent")
    >>> certify(request).holds
    True
    """

    sizes: tuple[int, ...]
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    neighbours: Relation = ADD_REMOVE
    records: int | None = None
    records_per_person: int = 1
    network: str | tuple[tuple[int, ...], ...] = AUTO
    noise: str = AUTO

    def __post_init__(self) -> None:
        sizes = tuple(whole("sizes", size, at_least=1) for size in self.sizes)
        if not sizes:
            raise ValueError("sizes must name at least one column, got none.")
        own: dict[str, Any] = {
            "sizes": sizes,
            "epsilon": parse_epsilon(self.epsilon),
            "delta": parse_delta(self.delta),
            "neighbours": one_of("neighbours", self.neighbours, (ADD_REMOVE, REPLACE)),
            "records_per_person": whole("records_per_person", self.records_per_person, at_least=1),
            "noise": one_of("noise", self.noise, (AUTO, GEOMETRIC, GAUSSIAN)),
        }
        if isinstance(self.network, str):
            own["network"] = one_of("network", self.network, (AUTO, INDEPENDENT))
        for name, value in own.items():
            object.__setattr__(self, name, value)
        if (self.records is None) == (self.neighbours == REPLACE):
            condition = "be public under replace, and None under add-remove"
            raise ValueError(refusal("records", condition, self.records))
        if self.noise == GAUSSIAN and not self.delta:
            raise ValueError("noise must be geometric without a delta, got gaussian.")
        self._check_network()

    def _check_network(self) -> None:
        if isinstance(self.network, str):
            return
        if len(self.network) != len(self.sizes):
            raise ValueError("network must give the parents of every column, in their order.")
        for column, parents in enumerate(self.network):
            known = {*range(len(self.sizes))} - {column}
            if not {*parents} <= known or len({*parents}) < len(parents):
                raise ValueError(refusal("network", "name other columns as parents", parents))
        if (largest := Elimination(self.sizes, self.declared).largest) > CLIQUE_MAX:
            raise ValueError(
                f"network must keep at most {CLIQUE_MAX:,} cells together, got {largest:,}. "
                "Declare fewer parents, or columns with fewer possible values."
            )

    @cached_property
    def active(self) -> tuple[int, ...]:
        """The columns with more than one letter; of any other, everything is public."""
        return tuple(column for column, size in enumerate(self.sizes) if size > 1)

    @cached_property
    def declared(self) -> tuple[Family, ...]:
        """The families of a declared or an independent network; one in another is left out."""
        families: set[Family] = {(column,) for column in self.active}
        if not isinstance(self.network, str):
            active = {*self.active}
            own = [{*parents, column} & active for column, parents in enumerate(self.network)]
            families |= {tuple(sorted(family)) for family in own if family}
        found = (f for f in families if not any({*f} < {*other} for other in families))
        return tuple(sorted(found)) or ((),)

    @property
    def families(self) -> tuple[Family, ...]:
        """Every family whose counts may be needed: what an engine counts in one pass."""
        if self.network != AUTO or len(self.active) < 2:
            return self.declared
        rows: tuple[Family, ...] = ((),) if self.records is None else ()
        return (*rows, *((column,) for column in self.active), *pairs(self.sizes))

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is Gaussian: with a delta, and where that disturbs pairs less."""
        if not self.delta or self.noise != AUTO:
            return self.noise == GAUSSIAN
        d = len(self.active)
        sizes = [self.sizes[column] for column in self.active]
        families: list[Family] = [(column,) for column in range(d)]
        if self.network == AUTO:  # about as many sets as are measured
            two = pairs(sizes)
            step = max(1, len(two) // max(1, 2 * d))
            families = [*families, *two[::step]]
        else:
            families = list(self.declared)
            sizes = list(self.sizes)
        q = [disturbance(sizes, family) for family in families]
        pure, bell = self._noise(is_gaussian=False), self._noise(is_gaussian=True)
        rho = float(concentrated(self.epsilon, self.delta))
        return bell.total(sum(v**bell.power for v in q), rho) < pure.total(
            sum(v**pure.power for v in q), float(self.epsilon)
        )

    @cached_property
    def budget(self) -> Fraction:
        """What all steps cost together: epsilon, or the rho that epsilon and delta allow."""
        return concentrated(self.epsilon, self.delta) if self.is_gaussian else self.epsilon

    @property
    def changed(self) -> int:
        """How many steps of counts one protected change makes in a family, together."""
        return self.records_per_person * (2 if self.neighbours == REPLACE else 1)

    @property
    def changed_squared(self) -> int:
        """The most that the squares of the changes of a family's counts add up to."""
        return self.records_per_person**2 * (2 if self.neighbours == REPLACE else 1)

    def _noise(self, *, is_gaussian: bool) -> Noise:
        if is_gaussian:
            return Noise(math.sqrt(self.changed_squared), is_gaussian=True)
        return Noise(float(self.changed))

    def measured(self, family: Family, cost: Fraction) -> Step:
        """Return the step that measures a family for this cost."""
        if self.is_gaussian:
            variance = rounded_up(Fraction(self.changed_squared) / (2 * cost), bits=32)
            return Step(family, cost, None, self.changed_squared, variance=variance)
        ratio = Ratio.of(cost * RESERVE / self.changed)
        return Step(family, cost, ratio, self.changed)

    def chosen(self, family: Family | None, cost: Fraction) -> Step:
        """Return the step that chooses a pair for this cost."""
        changes = 2 * UNIT * self.changed
        loss = root_below(8 * cost) if self.is_gaussian else cost
        return Step(family, cost, Ratio.of(loss * RESERVE / changes), changes, is_choice=True)

    @property
    def schedule(self) -> tuple[Step, ...] | None:
        """The steps, where they are known beforehand; None where released counts decide."""
        if self.network == AUTO and len(self.active) > 1:
            return None
        q = {family: disturbance(self.sizes, family) for family in self.declared}
        power = self._noise(is_gaussian=self.is_gaussian).power
        own = shares(self.budget, q, power=power)
        return tuple(self.measured(family, cost) for family, cost in own.items())

    @property
    def certificate(self) -> TableCertificate:
        """What it leaks at most, exactly."""
        return certify(self)

    def run(self, count: Provider, source: RandomSource) -> Released:
        """Release noisy counts of the data behind a provider.

        Args:
            count: returns true counts; asked for some of :attr:`families`.
            source: of randomness.
        """
        return _Run(self, count, source).released()


def certify(table: TableRequest | Released) -> TableCertificate:
    """Return what a table leaks: the product of the largest ratios of its steps, exactly.

    Of a request whose steps released counts decide, it is a bound on every path; of what was
    released, it is the product along the path that was taken.
    """
    if isinstance(table, Released):
        return certified(table.request, table.steps)
    return certified(table, table.schedule)


def certified(request: TableRequest, steps: Sequence[Step] | None) -> TableCertificate:
    """Return what these steps of a table leak together; without them, what any may leak."""
    if request.is_gaussian:
        rho = request.budget if steps is None else sum(map(_rho, steps), Fraction(0))
        return TableCertificate(request, None, rho, is_bound=steps is None)
    if steps is None:
        return TableCertificate(request, exp_upper(request.epsilon * RESERVE), is_bound=True)
    return TableCertificate(request, math.prod((s.largest_ratio for s in steps), start=Fraction(1)))


def _rho(step: Step) -> Fraction:
    """Return what a step costs in zCDP, from the integers that were drawn with."""
    if step.variance is not None:
        return Fraction(step.changes) / (2 * step.variance)
    loss = log_upper(step.largest_ratio)
    return loss * loss / 8


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

    @property
    def left(self) -> Fraction:
        """What is left to spend."""
        return self.request.budget - sum((step.cost for step in self.steps), Fraction(0))

    def true(self, families: Sequence[Family]) -> None:
        """Take the true counts of families that are not known yet from the provider."""
        wanted = [family for family in families if family not in self.known]
        for family, counts in zip(wanted, self.count(wanted) if wanted else (), strict=True):
            found = [int(number) for number in counts]
            if len(found) != cells(self.request.sizes, family):
                raise ValueError("counts must have one number for every cell of a family.")
            self.known[family] = found

    def measure(self, step: Step) -> None:
        """Release the counts of a family with noise."""
        family = step.family
        if family is None or step.cost > self.left:
            raise AssertionError("A step must measure a family, and not cost more than is left.")
        self.true([family])
        counts, size = self.known[family], cells(self.request.sizes, family)
        if step.ratio is not None:
            noise = step.ratio.noise(size, self.source)
        else:
            noise = gaussian(Fraction(step.variance or 0), size, self.source)
        values = tuple(n + z for n, z in zip(counts, noise, strict=True))
        found = Measurement(family, values, step.ratio, step.variance)
        self.steps.append(step)
        self.measurements.append(found)
        shape = [self.request.sizes[column] for column in family]
        table = np.array([float(value) for value in values]).reshape(shape)
        weight, old = 1 / found.deviation_squared, self.weights.get(family, 0.0)
        self.weights[family] = old + weight
        before = self.tables.get(family, np.zeros(shape))
        self.tables[family] = (old * before + weight * table) / self.weights[family]

    def measure_all(self, total: Fraction, sizes: Mapping[Family, float]) -> None:
        """Measure families, each for a share of the total."""
        power = self.request._noise(is_gaussian=self.request.is_gaussian).power  # noqa: SLF001
        for family, cost in shares(total, sizes, power=power).items():
            self.measure(self.request.measured(family, cost))

    def choose(
        self, candidates: Sequence[Family | None], scores: Sequence[int], cost: Fraction
    ) -> Family | None:
        """Release which candidate is probably among the best."""
        if cost > self.left:
            raise AssertionError("A step must not cost more than is left.")
        step = self.request.chosen(None, cost)
        if step.ratio is None:
            raise AssertionError
        pick = exponential if self.request.is_gaussian else permute_and_flip
        found = candidates[pick(scores, step.ratio, self.source)]
        self.steps.append(self.request.chosen(found, cost))
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
        weights = [self.weights[f] / table.size for f, table in self.tables.items()]
        totals = [float(table.sum()) for table in self.tables.values()]
        return max(1.0, float(np.dot(weights, totals) / sum(weights)))

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
        if not certify(result).holds or result.cost > self.request.budget:
            raise AssertionError("The steps of a table must not cost more than epsilon.")
        return result

    def auto(self) -> tuple[Law, float]:
        """Measure columns, a forest of pairs, and the pairs that fit worst."""
        request = self.request
        columns: list[Family] = [(column,) for column in request.active]
        self.true(request.families)
        budget = request.budget
        if request.records is None:
            self.measure(request.measured((), budget * ROWS))
        noise = request._noise(is_gaussian=request.is_gaussian)  # noqa: SLF001
        sizes = [request.sizes[column] for column in request.active]
        plan = planned(sizes, noise=noise, cost=float(budget), records=self.total())
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
        self.measure_all(ready - later if plan.further else self.left, measured)
        law = self.fit(records)
        if plan.further:
            chosen = self.worst_fitted(law, plan.further, each, records)
            if chosen:
                self.measure_all(self.left, {f: float(cells(request.sizes, f)) for f in chosen})
                law = self.fit(records, law)
        return law, records

    def forest(
        self, plan: Plan, each: Fraction, cost: float, records: float
    ) -> tuple[list[Family], list[Family], float]:
        """Choose pairs that join parts of the columns, until none is worth its noise.

        A pair is worth what it explains, less a part of the noise that measuring it adds
        everywhere; nothing is worth 0.
        """
        request = self.request
        noise = request._noise(is_gaussian=request.is_gaussian)  # noqa: SLF001
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
        found: list[Family] = []
        bare: list[Family] = [(column,) for column in request.active]
        summed = sum(root[f] for f in bare)
        while len(found) < plan.forest:
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
            found.append(pair)
            summed = after[joining.index(pair)]
            bare = [f for f in bare if f[0] not in pair]
            old, new = part[pair[1]], part[pair[0]]
            part = {column: new if at == old else at for column, at in part.items()}
        return found, bare, summed

    def worst_fitted(self, law: Law, further: int, each: Fraction, records: float) -> list[Family]:
        """Choose unmeasured pairs that the fit tells least of and that keep the cliques small."""
        waiting = [f for f in pairs(self.request.sizes) if f not in self.tables]
        expected = law.pairs(waiting)
        scores = {f: self.score(f, records * expected[f]) for f in waiting}
        found: list[Family] = []
        families = [f for f in self.tables if f]
        while len(found) < further:
            waiting = [
                f
                for f in waiting
                if f not in found
                and Elimination(self.request.sizes, [*families, *found, f]).largest <= CLIQUE_MAX
            ]
            if not waiting:
                break
            pair = self.choose(waiting, [scores[f] for f in waiting], each)
            if pair is not None:
                found.append(pair)
        return found


def transcript(released: Released) -> list[dict[str, Any]]:
    """Return what each step released and cost, as objects of JSON; all of it is public."""
    return [
        {
            "kind": "choice" if step.is_choice else "measure",
            "family": None if step.family is None else list(step.family),
            "cost": str(step.cost),
            **({"ratio": fraction_text(step.ratio.value)} if step.ratio else {}),
            **({"variance": str(step.variance)} if step.variance is not None else {}),
            "changes": step.changes,
        }
        for step in released.steps
    ]
