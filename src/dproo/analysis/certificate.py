"""The certificate: exactly what a sampler leaks, over all neighbouring datasets.

Under pure differential privacy this is the largest ratio of an output's probabilities. For an
open alphabet it is the hockey-stick divergence
``H(P, Q) = sum over y of max(0, P(y) - growth Q(y))``, the largest of ``P(S) - growth Q(S)`` over
all sets ``S`` of outputs: a sampler is (log growth, delta)-DP if and only if it is at most delta
for all neighbours, in both directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb
from typing import Any, Final, Literal, Protocol, TypeVar, overload

from dproo.core.checks import one_of, shown
from dproo.core.counts import Counts, Dataset, every_dataset, falling_datasets
from dproo.core.notebook import table
from dproo.core.numbers import is_at_most_exp, log_float_upper
from dproo.mechanisms import ADD_REMOVE, REPLACE, Mechanism, Transition

EXTREMES: Final = "extremes"
ENUMERATE: Final = "enumerate"
Method = Literal["extremes", "enumerate"]

_MOST_DATASETS = 2_000_000
_MOST_OUTPUTS = 1000


@dataclass(frozen=True, repr=False)
class Certificate:
    """The worst ratio of probabilities of a sampler, and the neighbours that reach it.

    Attributes:
        mechanism: the sampler.
        ratio: the largest ratio of an output's probabilities on two neighbours, or a proven
            bound on it; exact in either case.
        witness: two neighbours and an output with that ratio; for a bound, the worst of some that
            were looked at, whose ratio may be smaller, far smaller if records are few.
        method: ``"extremes"`` or ``"enumerate"``.
    """

    mechanism: Mechanism
    ratio: Fraction
    witness: Transition
    method: Method

    @property
    def holds(self) -> bool:
        """Whether the ratio is at most ``e^epsilon``; decided exactly."""
        return is_at_most_exp(self.ratio, self.mechanism.epsilon)

    @property
    def epsilon(self) -> float:
        """The privacy loss ``log(ratio)``, as the least float that is not below it.

        The bound is far nearer to the loss than floats are to each other, so the answer is the
        float nearest to it, or the one after.
        """
        return log_float_upper(self.ratio)

    @property
    def _verdict(self) -> str:
        law, verdict = self.mechanism, "holds" if self.holds else "DOES NOT HOLD"
        return f"epsilon = {law.epsilon} {verdict} for {law.name} ({law.neighbours})"

    def __repr__(self) -> str:
        return f"<Certificate: {self._verdict}; worst loss {self.epsilon:.9g}>"

    def _repr_html_(self) -> str:
        law = self.mechanism
        n = law.n if law.neighbours == REPLACE else "any"
        loss = f"{self.epsilon:.12g}"
        return table(self._verdict, [("worst loss", loss), ("n", n), ("k", law.k)])


Own_co = TypeVar("Own_co", covariant=True)


class Certified(Protocol[Own_co]):
    """An object with its own certificate, such as a private table."""

    @property
    def certificate(self) -> Own_co:
        """What it leaks."""


@overload
def certify(mechanism: Mechanism, *, method: Method = EXTREMES) -> Certificate: ...
@overload
def certify(mechanism: Certified[Own_co], *, method: Method = EXTREMES) -> Own_co: ...
def certify(mechanism: Any, *, method: Method = EXTREMES) -> Any:
    """Return the worst ratio of ``mechanism`` over all neighbouring datasets, or a bound on it.

    Args:
        mechanism: any sampler, even one only for study; or a private table's model, whose
            certificate is the product of the ratios of its steps.
        method: ``"extremes"`` checks the transitions proven to include the worst, in time that
            depends on the sampler's table, not on ``n``; ``"enumerate"`` tries every pair of
            neighbours and every output, for small ``n`` and ``k``.

    Guarantee: no transition has a larger ratio. Where ``"extremes"`` finds the worst one, both
    methods return the same ratio; ``bal-roo``, and ``roo`` with many draws of many records,
    have a bound.
    Proof: docs/proofs/, the page of each sampler.

    >>> from dproo.mechanisms import mechanism
    >>> leak = certify(mechanism("ds-roo", epsilon="0.01", n=10001, k=10000, as_printed=True))
    >>> leak.holds, round(leak.epsilon, 3)
    (False, 0.693)

    Raises:
        TypeError: it is not a sampler that maps counts to weights.
    """
    if not isinstance(mechanism, Mechanism):
        if hasattr(type(mechanism), "certificate"):
            if one_of("method", method, (EXTREMES, ENUMERATE)) == ENUMERATE:
                raise ValueError("method must be 'extremes' for a private table.")
            return mechanism.certificate
        name = getattr(mechanism, "name", type(mechanism).__name__)
        raise TypeError(f"mechanism must map counts to weights to be certified, got {name}.")
    if one_of("method", method, (EXTREMES, ENUMERATE)) == EXTREMES:
        return Certificate(mechanism, mechanism.largest_ratio, mechanism.worst, method)
    worst = _worst_of_all(mechanism)
    return Certificate(mechanism, mechanism.ratio(worst), worst, method)


def _worst_of_all(mechanism: Mechanism) -> Transition:
    """Try every pair of neighbours and every output; for symmetric laws, one of each orbit."""
    n, k = mechanism.n, mechanism.k
    sizes = [n] if mechanism.neighbours == REPLACE else range(n + 1)
    if comb(n + k, k) > _MOST_DATASETS:
        raise ValueError(
            f"method must be 'extremes' for so many datasets (n = {shown(n)}, k = {shown(k)})."
        )
    if comb(k + mechanism.draws - 1, mechanism.draws) > _MOST_OUTPUTS:
        raise ValueError(
            f"method must be 'extremes' for so many outputs (draws = {shown(mechanism.draws)})."
        )
    outcomes = list(combinations_with_replacement(range(k), mechanism.draws))
    laws: dict[Dataset, list[Fraction]] = {}

    def law(dataset: Dataset) -> list[Fraction]:
        if dataset not in laws:
            counts = Counts.of(dataset)
            laws[dataset] = [mechanism.probability(counts, letters) for letters in outcomes]
        return laws[dataset]

    datasets = falling_datasets if mechanism.is_symmetric else every_dataset
    largest = Fraction(0)
    for size in sizes:
        for before in datasets(size, k):
            for after in _neighbours(before, mechanism):
                for letters, p, changed in zip(outcomes, law(before), law(after), strict=True):
                    if changed > largest * p:
                        largest = changed / p
                        worst = before, after, letters
    before, after, letters = worst
    return Transition(Counts.of(before), Counts.of(after), letters)


def _neighbours(dataset: Dataset, mechanism: Mechanism) -> set[Dataset]:
    """Return the datasets that one person's records can turn ``dataset`` into, and itself."""
    steps = [(-1, 1)] if mechanism.neighbours != ADD_REMOVE else []
    steps += [(-1, 0), (0, 1)] if mechanism.neighbours != REPLACE else []
    found = {dataset}
    for lost, gained in steps:
        edge = {dataset}
        for _ in range(mechanism.records_per_person):
            edge = {
                moved
                for counts in edge
                for loser, gainer in product(range(mechanism.k), repeat=2)
                if min(moved := _moved(counts, loser, lost, gainer, gained)) >= 0
                and sum(moved) <= mechanism.n
            }
            found |= edge
    return found


def _moved(counts: Dataset, loser: int, lost: int, gainer: int, gained: int) -> Dataset:
    moved = list(counts)
    moved[loser] += lost
    moved[gainer] += gained
    return tuple(moved)
