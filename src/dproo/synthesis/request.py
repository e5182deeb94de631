r"""The mechanism of a private table, as a value: what is counted, with what noise, at what cost.

A :class:`TableRequest` holds public choices only. ``dproo.synthesis.run`` releases noisy
counts step by step, and returns them with a transcript of what each step cost. A step is a
*measure* of a family, whose cells get noise, a *choice* of a pair, or a *question*: how dependent
the strongest pairs are in the mean, one noisy number. The parameters of a step depend on what
earlier steps released and on nothing else, and the costs of all steps add up to epsilon on every
path.

Proof: docs/proofs/table.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from dproo.core.checks import one_of, refusal, whole
from dproo.core.draw import RandomSource
from dproo.core.notebook import table as html_table
from dproo.core.numbers import (
    exp_upper,
    float_upper,
    fraction_text,
    is_at_most_exp,
    log_float_upper,
    log_upper,
    parse_delta,
    parse_epsilon,
    rounded_up,
)
from dproo.mechanisms import AUTO, hypotheses
from dproo.mechanisms.base import ADD_REMOVE, REPLACE, Relation
from dproo.mechanisms.network import INDEPENDENT, SENSITIVITY
from dproo.mechanisms.noise import RESERVE, Ratio, concentrated, gaussian
from dproo.synthesis.families import (
    CLIQUE_MAX,
    Elimination,
    Family,
    Noise,
    disturbance,
    pairs,
    root_below,
    shares,
)
from dproo.synthesis.fit import Law

GEOMETRIC: Final = "geometric"
GAUSSIAN: Final = "gaussian"
MEASURE: Final = "measure"
CHOICE: Final = "choice"
QUESTION: Final = "question"

UNIT = 16
"""A score is in sixteenths of a record: ``sum |16 N - C|``, which is twice the distance."""


@dataclass(frozen=True)
class Step:
    """One step of a transcript.

    Attributes:
        family: what was measured; for a choice, the pair that was chosen, or None.
        cost: its share of epsilon, or of rho if the noise is Gaussian.
        ratio: the ratio of its geometric noise, or of its choice.
        changes: the most steps of the ratio by which one protected change can move it; with
            Gaussian noise, the sum of the squares of its changes.
        variance: the variance of its Gaussian noise, or None.
        kind: ``"measure"``, ``"choice"`` or ``"question"``.
        answer: the answer to a question, in sixteenths of a record.
    """

    family: Family | None
    cost: Fraction
    ratio: Ratio | None
    changes: int
    variance: Fraction | None = None
    kind: str = MEASURE
    answer: int | None = None

    @property
    def deviation_squared(self) -> float:
        """The variance of the noise of one number."""
        return _variance(self.ratio, self.variance)

    def noise(self, size: int, source: RandomSource) -> list[int]:
        """Draw the noise of this many numbers."""
        if self.ratio is not None:
            return self.ratio.noise(size, source)
        return gaussian(Fraction(self.variance or 0), size, source)

    @property
    def largest_ratio(self) -> Fraction:
        """The largest factor by which one protected change can change a probability."""
        if self.ratio is None:
            raise TypeError("Gaussian noise has no largest ratio.")
        return self.ratio.power(self.changes)


def _variance(ratio: Ratio | None, variance: Fraction | None) -> float:
    if ratio is None:
        return float(variance or 0)
    q = ratio.value
    return float(2 * q / (1 - q) ** 2)


@dataclass(frozen=True)
class Measurement:
    """The noisy counts of one family, in row-major order, and their noise."""

    family: Family
    values: tuple[int, ...]
    ratio: Ratio | None = None
    variance: Fraction | None = None

    @property
    def deviation_squared(self) -> float:
        """The variance of the noise of a cell."""
        return _variance(self.ratio, self.variance)


NO_NOISE = 1e-12
"""A variance so small is none to the fit, and its inverse is still a float."""


def total(measurements: Sequence[Measurement]) -> float:
    """Return the number of records that noisy counts suggest, each sum by its certainty."""
    weights = [1 / max(one.deviation_squared, NO_NOISE) / len(one.values) for one in measurements]
    sums = [weight * sum(one.values) for weight, one in zip(weights, measurements, strict=True)]
    return max(1.0, math.fsum(sums) / math.fsum(weights))


@dataclass(frozen=True)
class TableCertificate:
    """What a private table leaks, exactly.

    Attributes:
        request: the mechanism.
        ratio: the largest ratio of the probabilities of one release on two neighbours, or None
            under a delta.
        rho: under a delta, what was spent in zCDP.
        is_bound: whether the ratio bounds all paths rather than being the ratio of one.
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
        """The privacy loss, as the least float that is not below it."""
        if self.ratio is None:
            return float_upper(self.request.epsilon)
        return log_float_upper(self.ratio)

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
        """What it leaks on the path that was taken, exactly."""
        return certified(self.request, self.steps)

    @property
    def theorem(self) -> str | None:
        """The machine-checked theorem that it rests on; none covers Gaussian noise."""
        if self.request.is_gaussian:
            return None
        return "table_replace" if self.request.neighbours == REPLACE else "table_add_remove"

    @property
    def conditions(self) -> dict[str, bool]:
        """What the theorem assumes of the steps that were taken."""
        if self.theorem is None:
            return {}
        ratios = [step.ratio.value for step in self.steps if step.ratio]
        growths = [step.largest_ratio for step in self.steps]
        return {
            "steps_sound": hypotheses.steps_sound(ratios),
            "paths_within": hypotheses.paths_within(growths, self.request.epsilon),
        }


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """A private table: every public choice of it.

    Attributes:
        sizes: how many letters each column has.
        epsilon: for the whole table.
        delta: the probability with which epsilon may fail; Gaussian noise needs one above 0.
        neighbours: ``"add-remove"`` or ``"replace"``.
        records: the public number of records under ``"replace"``, else None.
        records_per_person: the most records that one protected person may own.
        network: ``"auto"``, ``"independent"``, or the declared parents of each column.
        noise: ``"geometric"`` or ``"gaussian"``; by default the one that disturbs pairs less.

    Guarantee: what ``dproo.synthesis.run`` releases is epsilon-DP, or (epsilon, delta)-DP.
    Proof: docs/proofs/table.md

    >>> request = TableRequest(sizes=(2, 3), epsilon=Fraction(1), network="independent")
    >>> request.certificate.holds
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
        vars(self).update(
            sizes=sizes,
            epsilon=parse_epsilon(self.epsilon),
            delta=parse_delta(self.delta),
            neighbours=one_of("neighbours", self.neighbours, (ADD_REMOVE, REPLACE)),
            records_per_person=whole("records_per_person", self.records_per_person, at_least=1),
            noise=one_of("noise", self.noise, (AUTO, GEOMETRIC, GAUSSIAN)),
        )
        if isinstance(self.network, str):
            vars(self)["network"] = one_of("network", self.network, (AUTO, INDEPENDENT))
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
        """The columns with more than one letter; everything about the others is public."""
        return tuple(column for column, size in enumerate(self.sizes) if size > 1)

    @cached_property
    def declared(self) -> tuple[Family, ...]:
        """The families of a declared or independent network, without any within another."""
        families: set[Family] = {(column,) for column in self.active}
        if not isinstance(self.network, str):
            active = {*self.active}
            own = [{*parents, column} & active for column, parents in enumerate(self.network)]
            families |= {tuple(sorted(family)) for family in own if family}
        largest = (f for f in families if not any({*f} < {*other} for other in families))
        return tuple(sorted(largest)) or ((),)

    @property
    def families(self) -> tuple[Family, ...]:
        """Every family whose counts may be needed, for an engine to count in one pass."""
        if self.network != AUTO or len(self.active) < 2:
            return self.declared
        rows: tuple[Family, ...] = ((),) if self.records is None else ()
        return (*rows, *((column,) for column in self.active), *pairs(self.sizes))

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is Gaussian: with a delta, if that disturbs pairs less."""
        if not self.delta or self.noise != AUTO:
            return self.noise == GAUSSIAN
        sizes, families = self.sizes, self.declared
        if self.network == AUTO:  # about as many families as will be measured
            sizes = tuple(self.sizes[column] for column in self.active)
            two = pairs(sizes)
            step = max(1, len(two) // max(1, 2 * len(sizes)))
            families = (*((column,) for column in range(len(sizes))), *two[::step])
        q = [disturbance(sizes, family) for family in families]
        pure, bell = self._noise(is_gaussian=False), self._noise(is_gaussian=True)
        rho = float(concentrated(self.epsilon, self.delta))
        return bell.total(sum(v**bell.power for v in q), rho) < pure.total(
            sum(v**pure.power for v in q), float(self.epsilon)
        )

    @cached_property
    def budget(self) -> Fraction:
        """The cost of all steps, in epsilon, or in the rho that epsilon and delta allow."""
        return concentrated(self.epsilon, self.delta) if self.is_gaussian else self.epsilon

    @property
    def changed(self) -> int:
        """The most by which one protected change moves all counts of a family together."""
        return self.records_per_person * (2 if self.neighbours == REPLACE else 1)

    @property
    def changed_squared(self) -> int:
        """The largest sum of the squares by which one protected change moves a family's counts."""
        return self.records_per_person**2 * (2 if self.neighbours == REPLACE else 1)

    @property
    def noise_law(self) -> Noise:
        """How the noise of a family depends on its cost."""
        return self._noise(is_gaussian=self.is_gaussian)

    def _noise(self, *, is_gaussian: bool) -> Noise:
        if is_gaussian:
            return Noise(math.sqrt(self.changed_squared), is_gaussian=True)
        return Noise(float(self.changed))

    def measurement(self, family: Family, cost: Fraction) -> Step:
        """Return the step that measures a family for this cost."""
        return self._noisy(family, cost, self.changed, self.changed_squared)

    def question(self, cost: Fraction) -> Step:
        """Return the step that asks how dependent the strongest pairs are, for this cost."""
        changes = UNIT * self.records_per_person * SENSITIVITY[self.neighbours]
        return replace(self._noisy(None, cost, changes, changes**2), kind=QUESTION)

    def _noisy(self, family: Family | None, cost: Fraction, changes: int, squared: int) -> Step:
        if self.is_gaussian:
            variance = rounded_up(Fraction(squared) / (2 * cost), bits=32)
            return Step(family, cost, None, squared, variance=variance)
        return Step(family, cost, Ratio.of(cost * RESERVE / changes), changes)

    def choice(self, family: Family | None, cost: Fraction) -> Step:
        """Return the step that chooses a pair for this cost."""
        changes = 2 * UNIT * self.changed
        loss = root_below(8 * cost) if self.is_gaussian else cost
        return Step(family, cost, Ratio.of(loss * RESERVE / changes), changes, kind=CHOICE)

    @property
    def schedule(self) -> tuple[Step, ...] | None:
        """The steps if they are known in advance, or None if released counts decide them."""
        if self.network == AUTO and len(self.active) > 1:
            return None
        q = {family: disturbance(self.sizes, family) for family in self.declared}
        own = shares(self.budget, q, power=self.noise_law.power)
        return tuple(self.measurement(family, cost) for family, cost in own.items())

    @property
    def certificate(self) -> TableCertificate:
        """What it leaks at most, exactly."""
        return certified(self, self.schedule)


def certified(request: TableRequest, steps: Sequence[Step] | None) -> TableCertificate:
    """Return what these steps leak together: the product of their largest ratios, exactly.

    Without steps, because released counts decide them, it is a bound on every path.
    """
    if request.is_gaussian:
        rho = request.budget if steps is None else sum(map(_rho, steps), Fraction(0))
        return TableCertificate(request, None, rho, is_bound=steps is None)
    if steps is None:
        return TableCertificate(request, exp_upper(request.epsilon * RESERVE), is_bound=True)
    return TableCertificate(request, math.prod((s.largest_ratio for s in steps), start=Fraction(1)))


def _rho(step: Step) -> Fraction:
    """Return what a step costs in zCDP, by the integers that its noise was drawn with."""
    if step.variance is not None:
        return Fraction(step.changes) / (2 * step.variance)
    loss = log_upper(step.largest_ratio)
    return loss * loss / 8


def transcript(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return what each step released and cost, as JSON objects; all of it is public."""
    return [
        {
            "kind": step.kind,
            "family": None if step.family is None else list(step.family),
            "cost": str(step.cost),
            **({"ratio": fraction_text(step.ratio.value)} if step.ratio else {}),
            **({"variance": str(step.variance)} if step.variance is not None else {}),
            "changes": step.changes,
            **({"answer": step.answer} if step.answer is not None else {}),
        }
        for step in steps
    ]
