"""SubRR: the sampler of Cheu and Nayak, which ROO is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, perm

from dproo._check import whole
from dproo.counts import Counts, Runs
from dproo.mechanisms.law import Mechanism, Transition
from dproo.mechanisms.smoothing import alpha_of
from dproo.randomness import Source
from dproo.sampling import pick


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

    draws: int = 1

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._set(draws=whole("draws", self.draws, at_least=1, at_most=self.n))

    @cached_property
    def q(self) -> Fraction:
        """The probability that an answer is a uniform letter."""
        return min(Fraction(1), self.k / (self.k - 1 + self.n * self.epsilon / self.draws))

    def weights(self, counts: Counts) -> Runs:
        """Return the law of one answer, ``q/k + (1-q) c/n``, in integers."""
        base = self.q.numerator * counts.n
        record = (self.q.denominator - self.q.numerator) * self.k
        return counts.map(lambda count: base + record * count)

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
        """Of one answer: the probability that it reveals the one record."""
        return (1 - self.q) / self.n if self.draws == 1 else super().neighbour_distance

    def probability(self, counts: Counts, letters: tuple[int, ...]) -> Fraction:
        """Return the probability of these answers, in this order.

        Summed over how many of the answers to each letter are revealed records: ``t`` given
        answers are revealed records of given letters with probability
        ``prod_y perm(c_y, t_y) / perm(n, t)``.
        """
        by_revealed = [Fraction(1)]
        for letter in set(letters):
            answers = letters.count(letter)
            term = [
                comb(answers, t)
                * perm(counts[letter], t)
                * (1 - self.q) ** t
                * (self.q / self.k) ** (answers - t)
                for t in range(answers + 1)
            ]
            grown = [Fraction(0)] * (len(by_revealed) + answers)
            for i, left in enumerate(by_revealed):
                for j, right in enumerate(term):
                    grown[i + j] += left * right
            by_revealed = grown
        return sum((chance / perm(self.n, t) for t, chance in enumerate(by_revealed)), Fraction(0))

    def _draw(self, counts: Counts, source: Source) -> tuple[int, ...]:
        if self.draws == 1:
            return super()._draw(counts, source)
        answers = []
        moved: dict[int, int] = {}
        for i in range(self.draws):
            j = i + source.below(self.n - i)
            record = moved.get(j, j)
            moved[j] = moved.get(i, i)
            alone = Counts.sparse({counts.letter_at(record): 1}, k=self.k)
            answers.append(pick(self.weights(alone), source))
        return tuple(answers)
