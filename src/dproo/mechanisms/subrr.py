"""SubRR: the sampler of Cheu and Nayak, with which ROO is compared."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, perm

from dproo.core.checks import whole
from dproo.core.counts import Counts, Runs
from dproo.core.draw import RandomSource, pick_many
from dproo.core.partition import without_replacement
from dproo.mechanisms import hypotheses
from dproo.mechanisms.base import Mechanism, Transition
from dproo.mechanisms.roo import DRAWS_MAX, alpha_of


@dataclass(frozen=True, kw_only=True)
class SubsampledRandomizedResponse(Mechanism):
    r"""Draw ``draws`` records without replacement and answer each by randomized response.

    An answer is the record's letter, or, with probability ``q = k / (k - 1 + n epsilon / draws)``
    (at most 1), a uniform letter.

    Guarantee: epsilon-DP for all ``draws`` together when one record is replaced.
    Proof: docs/proofs/subsampled_randomized_response.md
    Reference: Cheu and Nayak (2024), Theorem 12, as quoted in Tasnim et al. (2025), Eq. (45).

    >>> float(SubsampledRandomizedResponse(epsilon=1, n=100, k=4).q)
    0.038834951456310676
    """

    name = "subrr"
    basis = "exact: Theorem 12 of Cheu and Nayak"
    is_closed_form = True

    draws: int = 1

    def _check_parameters(self) -> None:
        super()._check_parameters()
        most = min(self.n, DRAWS_MAX)
        self._set(draws=whole("draws", self.draws, at_least=1, at_most=most))

    @cached_property
    def q(self) -> Fraction:
        """The probability that an answer is a uniform letter."""
        return min(Fraction(1), self.k / (self.k - 1 + self.n * self.epsilon / self.draws))

    @property
    def theorem(self) -> str | None:
        """One answer has the law of ROO; several are proven on paper."""
        return "roo_replace" if self.draws == 1 else None

    @property
    def conditions(self) -> dict[str, bool]:
        """What the theorem assumes of the pseudo-counts."""
        if self.theorem is None:
            return {}
        base, unit = self._base_and_unit(self.n)
        return {
            "base_positive": hypotheses.base_positive(base),
            "unit_nonnegative": hypotheses.unit_nonnegative(unit),
            "base_covers_draws": hypotheses.base_covers_draws(base, unit, 1, self.epsilon),
        }

    def weights(self, counts: Counts) -> Runs:
        """Return the law of one answer, ``q/k + (1-q) c/n``, in integers."""
        base, unit = self._base_and_unit(counts.n)
        return counts.map(lambda count: base + unit * count)

    def _base_and_unit(self, n: int) -> tuple[int, int]:
        """Return the weight of an unseen letter among ``n`` records, and of each record."""
        return self.q.numerator * n, (self.q.denominator - self.q.numerator) * self.k

    @cached_property
    def worst(self) -> Transition:
        """One record takes a letter that nobody else has, and every answer is that letter."""
        before = Counts.sparse({1: self.n}, k=self.k)
        after = Counts.sparse({0: 1, 1: self.n - 1}, k=self.k)
        return Transition(before, after, (0,) * self.draws)

    @property
    def worst_alpha(self) -> Fraction:
        """``q (1 - 1/k)``: a point mass is worst."""
        return alpha_of(self.q, k=self.k)

    @property
    def neighbour_distance(self) -> Fraction:
        """For one answer: the probability that it reveals the one record."""
        return (1 - self.q) / self.n if self.draws == 1 else super().neighbour_distance

    def probability(self, counts: Counts, letters: tuple[int, ...]) -> Fraction:
        """Return the probability of these answers, in this order."""
        return (self.q / self.k) ** len(letters) * self._lift(counts, letters)

    def _ratio(self, transition: Transition) -> Fraction:
        letters = transition.letters
        return self._lift(transition.after, letters) / self._lift(transition.before, letters)

    def _lift(self, counts: Counts, letters: tuple[int, ...]) -> Fraction:
        """Return how much likelier these answers are than if all were obscured.

        It is a sum over how many answers of each letter are revealed records: ``t`` given
        answers are revealed records of given letters with probability
        ``prod_y perm(c_y, t_y) / perm(n, t)``.
        """
        odds = (1 - self.q) / (self.q / self.k)
        by_revealed = [Fraction(1)]
        for letter, answers in Counter(letters).items():
            count = counts[letter]
            term = [
                comb(answers, t) * perm(count, t) * odds**t for t in range(min(answers, count) + 1)
            ]
            grown = [Fraction(0)] * (len(by_revealed) + len(term) - 1)
            for i, left in enumerate(by_revealed):
                for j, right in enumerate(term):
                    grown[i + j] += left * right
            by_revealed = grown
        return sum((chance / perm(self.n, t) for t, chance in enumerate(by_revealed)), Fraction(0))

    def _draw(self, counts: Counts, source: RandomSource) -> tuple[int, ...]:
        if self.draws == 1:
            return super()._draw(counts, source)
        coin = Runs([(self.q.numerator, 1), (self.q.denominator - self.q.numerator, 1)])
        is_revealed = pick_many(coin, self.draws, source)
        revealed = sum(is_revealed)
        letters = iter(pick_many(Runs([(1, self.k)]), self.draws - revealed, source))
        records = iter(without_replacement(counts, revealed, source))
        return tuple(next(records if one else letters) for one in is_revealed)
