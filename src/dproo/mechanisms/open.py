r"""Letters that nobody can list: common ones are revealed, rare ones are ``other``.

A letter with ``c`` records weighs ``g(c)``, and ``other`` weighs all the rest:

    ``g(c) = 0`` below a minimum,   ``g(c+1) = min(c + 1, G g(c) + s)`` from there on,

with ``G`` just below ``e^epsilon``: one record changes a weight by at most the factor ``G``, and
by ``s`` in addition, which delta pays for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor

from dproo.core.checks import one_of, refusal, whole
from dproo.core.counts import Counts, Runs
from dproo.core.draw import RandomSource, pick
from dproo.core.numbers import decimal_text, exp_lower, parse_delta, parse_epsilon
from dproo.mechanisms.base import ADD_REMOVE, RECORDS_MAX, REPLACE, Relation

OPEN_EPSILON_MIN = Fraction(1, 1000)
OPEN_DELTA_MIN = Fraction(1, 10**18)
MINIMUM_MAX = 10**6
"""The largest minimum: the table of weights has a zero for every count below it."""

_BITS = 64


@dataclass(frozen=True, kw_only=True)
class OpenAlphabet:
    r"""Draw a letter nearly in proportion to its count if it is common, else ``other``.

    With ``n`` records and a public floor ``F >= step/(G-1)``, ``step`` the largest of
    ``g(c+1) - g(c)``, the letter has probability ``g(c)/(n+F)``, and ``other`` the rest, which is
    at least ``F/(n+F)``.

    Guarantee: (epsilon, delta)-DP when one record is replaced (``n`` is public), or when one is
    added or removed. ``largest_delta`` is the largest hockey-stick divergence of all neighbours.
    Proof: docs/proofs/open_alphabet.md

    Attributes:
        epsilon: the privacy parameter.
        delta: the probability with which epsilon may fail.
        n: the public number of records under ``"replace"``.
        neighbours: ``"replace"`` or ``"add-remove"``.
        minimum: a letter with fewer records is never shown.

    >>> law = OpenAlphabet(epsilon=1, delta="1e-9", n=100_000)
    >>> law.first, law.proportional
    (2, 14)
    >>> [round(float(p), 4) for p in law.pmf([60_000, 39_000, 1, 999])]
    [0.6, 0.39, 0.0, 0.01]
    """

    epsilon: Fraction
    delta: Fraction
    n: int = 0
    neighbours: Relation = REPLACE
    minimum: int = 2

    def __post_init__(self) -> None:
        """Check every argument, then certify the integers that would be drawn from."""
        relation = one_of("neighbours", self.neighbours, (REPLACE, ADD_REMOVE))
        n = self.n or (RECORDS_MAX if relation == ADD_REMOVE else 0)
        vars(self).update(
            neighbours=relation,
            epsilon=parse_epsilon(self.epsilon),
            delta=parse_delta(self.delta),
            n=whole("n", n, at_least=1),
            minimum=whole("minimum_people", self.minimum, at_least=1, at_most=MINIMUM_MAX),
        )
        if self.epsilon < OPEN_EPSILON_MIN:
            least = f"be at least {decimal_text(OPEN_EPSILON_MIN)} with an open alphabet"
            raise ValueError(refusal("epsilon", least, self.epsilon))
        if self.delta < OPEN_DELTA_MIN:
            least = "be at least 1e-18 with an open alphabet, which cannot be pure"
            raise ValueError(refusal("delta", least, self.delta))
        if not (self.largest_delta <= self.delta and all(self.conditions.values())):
            raise ValueError(f"the open alphabet did not certify at delta = {self.delta}.")

    @property
    def growth(self) -> Fraction:
        """The rational just below ``e^epsilon`` that the integers are built with."""
        return exp_lower(self.epsilon)

    @cached_property
    def unit(self) -> int:
        """The weight of one revealed record, so large that no letter's weight rounds to zero."""
        allowed = self._slack(0)
        return 1 << (_BITS + (allowed.denominator // allowed.numerator).bit_length())

    def _slack(self, count: int) -> Fraction:
        """Return what delta allows a letter to gain beyond its growth, in records.

        Under add-remove it is least if all records have this letter.
        """
        total = self.n if self.neighbours == REPLACE else count + 1
        return self.delta * (total + 1 / (self.growth - 1))

    @cached_property
    def table(self) -> tuple[int, ...]:
        """The weight of each count, up to the first from which weights stay proportional."""
        growth, unit = self.growth, self.unit
        entries = [0] * self.minimum
        while len(entries) <= self.n:
            count, last = len(entries), entries[-1]
            gained = growth * last + self._slack(count - 1) * unit
            entries.append(min(count * unit, floor(gained)))
            if entries[-1] == count * unit and (growth - 1) * count >= 1:
                break
        return tuple(entries)

    def weigh(self, count: int) -> int:
        """Return the weight of a letter with this count."""
        return self.table[count] if count < len(self.table) else count * self.unit

    @cached_property
    def floor(self) -> int:
        """The least weight of ``other``, enough to hide what any letter gains or loses."""
        return ceil(self._step / (self.growth - 1))

    @property
    def _step(self) -> int:
        steps = (after - before for before, after in pairwise(self.table))
        return max([self.unit, *steps])

    @property
    def conditions(self) -> dict[str, bool]:
        """What the proof assumes of the integers."""
        return {
            "nothing_unseen": self.table[0] == 0,
            "never_above_proportion": all(
                weight <= count * self.unit for count, weight in enumerate(self.table)
            ),
            "rising": all(before <= after for before, after in pairwise(self.table)),
            # Not by _step, which the floor was made from.
            "floor_covers_steps": self.floor * (self.growth - 1)
            >= max([self.unit, *(after - before for before, after in pairwise(self.table))]),
        }

    @cached_property
    def largest_delta(self) -> Fraction:
        """The largest hockey-stick divergence at ``growth`` over all neighbours, exactly."""
        return max(
            (self._divergence(count) for count in range(min(len(self.table), self.n))),
            default=Fraction(0),
        )

    def _divergence(self, count: int) -> Fraction:
        """Return the largest divergence if a letter of this count gains a record."""
        gained, kept = self.weigh(count + 1), self.growth * self.weigh(count)
        excess = gained - kept
        if excess <= 0:
            return Fraction(0)
        if self.neighbours == REPLACE:
            return excess / (self.n * self.unit + self.floor)
        # It rises with the number of records up to here, then falls.
        rising = (2 * kept * self.unit / excess - self.floor) / self.unit
        records = max(count, floor(rising) + 1)
        total = records * self.unit + self.floor
        return max(Fraction(0), Fraction(gained, total + self.unit) - kept / total)

    @property
    def first(self) -> int:
        """The fewest records with which a letter can appear."""
        return next((count for count in range(self.n + 1) if self.weigh(count)), self.n + 1)

    @property
    def proportional(self) -> int:
        """The fewest records with which a letter is revealed in proportion."""
        counts = range(self.minimum, len(self.table))
        found = (count for count in counts if self.table[count] == count * self.unit)
        return next(found, len(self.table))

    def obscured(self, n: int) -> Fraction:
        """Return the share that ``other`` takes at least of ``n`` records, and of each letter's.

        ``g(c)/c`` never falls, so it takes least where all records have one letter.
        """
        return 1 - Fraction(self.weigh(n), n * self.unit + self.floor)

    def weights(self, counts: Counts) -> Runs:
        """Return the integer weight of every letter; the last one is ``other``."""
        if self.neighbours == REPLACE and counts.n != self.n:
            raise ValueError("counts must sum to n.")
        letters = counts.part(0, counts.k - 1).map(self.weigh)
        rest = counts.n * self.unit + self.floor - letters.total
        return Runs([*letters.runs, (rest, 1)])

    def pmf(self, counts: list[int] | Counts) -> list[Fraction]:
        """Return the exact law on a dataset with these counts, ``other`` last."""
        weights = self.weights(Counts.of(counts))
        return [Fraction(weight, weights.total) for weight in weights]

    def draw(self, counts: Counts, *, source: RandomSource | None = None) -> int:
        """Return the place of one letter."""
        return pick(self.weights(counts), source or RandomSource())
