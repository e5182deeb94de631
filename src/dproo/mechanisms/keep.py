r"""Values that nobody can list: those that enough people have, each with a noisy count.

Every value of a column has a secret threshold ``C`` of its own, drawn from integer weights

    ``w(m), w(m+1), ..., w(m+M-1)``,   rising and then falling by a factor of at most ``G``,

and a value that ``c`` records have is kept if ``c >= C``, with probability ``pi(c) = Pr[C <= c]``.
With the value ``c - C`` is published, a noisy count. A value that is not in the data has ``c = 0``,
below every threshold, so the values that nobody has need no thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from dproo.core.checks import one_of, refusal, whole
from dproo.core.counts import NamedCounts, Runs
from dproo.core.draw import RandomSource, pick_many
from dproo.core.numbers import ceil_div, decimal_text, exp_lower, parse_delta, parse_epsilon, power
from dproo.mechanisms import hypotheses
from dproo.mechanisms.base import ADD_REMOVE, REPLACE, Relation

KEEP_EPSILON_MIN = Fraction(1, 10**5)
"""The smallest epsilon for one record of one column: the table of weights grows as it falls."""

_UNIT = 1 << 64


@dataclass(frozen=True, kw_only=True)
class KeepRule:
    r"""Keep the values that enough records have, each with a noisy count of them.

    The weights are ``a(1), a(2), ..., a(2), a(1)`` with ``a(1) = 2^64`` and ``a(j+1)`` the product
    of ``G`` and ``a(j)``, rounded down: as many as it takes for the first ``g`` to have a share of
    at most delta, or of delta/2 where a record is replaced. ``G^g``, or ``G^2g``, is just below
    ``e^epsilon``.

    Guarantee: (epsilon, delta)-DP when the ``g`` records of a person, each of which has one value,
    are added or removed, or replaced. ``largest_delta`` is the largest hockey-stick divergence of
    all neighbours, exactly.
    Proof: docs/proofs/discovery.md
    Reference: Desfontaines, Voss, Gipson and Mandayam (2022), for one record added or removed.

    Attributes:
        epsilon: the privacy parameter.
        delta: the other one.
        neighbours: ``"replace"`` or ``"add-remove"``.
        records: the most records that one protected person has, ``g``.
        minimum: a value of fewer records is never kept; by default one that a single person may
            have made up.

    >>> rule = KeepRule(epsilon="0.1", delta="1e-9", neighbours="add-remove")
    >>> rule.half, rule.certain, float(rule.keep(0)), float(rule.keep(400))
    (179, 357, 0.0, 1.0)
    """

    epsilon: Fraction
    delta: Fraction
    neighbours: Relation = REPLACE
    records: int = 1
    minimum: int = 0

    def __post_init__(self) -> None:
        """Check every argument, then certify the integers that would be drawn from."""
        vars(self).update(
            neighbours=one_of("neighbours", self.neighbours, (REPLACE, ADD_REMOVE)),
            epsilon=parse_epsilon(self.epsilon),
            delta=parse_delta(self.delta),
            records=whole("records_per_person", self.records, at_least=1),
            minimum=whole("minimum", self.minimum or self.records + 1, at_least=1),
        )
        if self.epsilon / self.changes < KEEP_EPSILON_MIN:
            least = decimal_text(KEEP_EPSILON_MIN * self.changes)
            raise ValueError(refusal("epsilon", f"be at least {least} here", str(self.epsilon)))
        if not 0 < self.delta <= Fraction(1, 2):
            condition = "be above 0, and at most 0.5, to find values"
            raise ValueError(refusal("delta", condition, str(self.delta)))
        if not (self.largest_delta <= self.delta and all(self.conditions.values())):
            raise ValueError(f"the rule did not certify at delta = {self.delta}.")

    @property
    def changes(self) -> int:
        """By how many steps all counts together change with a person."""
        return self.records * (2 if self.neighbours == REPLACE else 1)

    @cached_property
    def growth(self) -> Fraction:
        """The rational just below ``e^(epsilon/changes)`` that one step of a count may change."""
        return exp_lower(self.epsilon / self.changes)

    @property
    def largest_ratio(self) -> Fraction:
        """By how much a person can change a probability that is above delta.

        For many steps it is a short rational just above that.
        """
        return power(self.growth, self.changes)

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The weights of the thresholds from ``minimum`` on."""
        over, under = self.growth.numerator, self.growth.denominator
        share = self.delta if self.neighbours == ADD_REMOVE else self.delta / 2
        rising, first = [_UNIT], _UNIT  # the sum of the first g weights
        while len(rising) < self.records:
            rising.append(over * rising[-1] // under)
            first += rising[-1]
        needed = ceil_div(first * share.denominator, share.numerator)
        last = rising[-1]
        before = first - last
        while 2 * (before + last) < needed:
            before += last
            last = over * last // under
            rising.append(last)
        is_twice = 2 * before + last < needed  # whether the largest weight stands twice
        return (*rising, *reversed(rising if is_twice else rising[:-1]))

    @cached_property
    def _summed(self) -> tuple[int, ...]:
        return tuple(accumulate(self.weights))

    def keep(self, count: int) -> Fraction:
        """Return the probability that a value of ``count`` records is kept, ``pi(count)``."""
        place = min(count - self.minimum, len(self.weights) - 1)
        return Fraction(self._summed[place], self._summed[-1]) if place >= 0 else Fraction(0)

    @property
    def certain(self) -> int:
        """The fewest records of a value that is always kept."""
        return self.minimum + len(self.weights) - 1

    @property
    def half(self) -> int:
        """The fewest records of a value that is kept at least every second time."""
        return self.minimum + (len(self.weights) + 1) // 2 - 1

    @property
    def theorem(self) -> str:
        """The machine-checked theorem that the guarantee rests on."""
        return "keep_add_remove" if self.neighbours == ADD_REMOVE else "keep_replace"

    @property
    def conditions(self) -> dict[str, bool]:
        """What the theorem assumes of the integers, and that nothing unseen is published."""
        weights, growth, records = self.weights, self.growth, self.records
        return {
            "nothing_unseen": hypotheses.nothing_unseen(self.minimum),
            "growth_at_least_one": hypotheses.growth_at_least_one(growth),
            "some_weight": hypotheses.some_weight(weights),
            "weights_positive": hypotheses.weights_positive(weights),
            "weights_rise_at_most": hypotheses.weights_rise_at_most(weights, growth),
            "weights_fall_at_most": hypotheses.weights_fall_at_most(weights, growth),
            "weights_mirrored": hypotheses.weights_mirrored(weights),
            "weights_rising_for_a_person": hypotheses.weights_rising_for_a_person(weights, records),
            "person_within_weights": hypotheses.person_within_weights(weights, records),
        }

    @cached_property
    def largest_delta(self) -> Fraction:
        """The largest hockey-stick divergence of all neighbours, at ``largest_ratio``, exactly."""
        one = Fraction(self._summed[self.records - 1], self._summed[-1])
        return one if self.neighbours == ADD_REMOVE else 1 - (1 - one) ** 2

    def release(self, counts: NamedCounts, source: RandomSource) -> dict[str, int]:
        """Return the values that are kept, sorted, each with an estimate of its count."""
        weights = Runs((weight, 1) for weight in self.weights)
        seen = [counts[place] for place in range(len(counts.letters))]
        drawn = pick_many(weights, len(seen), source)
        middle = (len(self.weights) - 1) // 2
        kept = {
            letter: count - place + middle
            for letter, count, place in zip(counts.letters, seen, drawn, strict=True)
            if count >= self.minimum + place
        }
        return dict(sorted(kept.items()))
