r"""ROO: reveal a record or obscure it, the same way on every dataset.

With probability ``q`` a uniform letter, otherwise a uniform record: the law is
``q/k + (1-q) c_y/n``, which is additive smoothing, ``(c_y + pseudo)/(n + k pseudo)``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm, prod

from dproo.core.checks import refusal, shown, whole
from dproo.core.counts import Counts, Runs
from dproo.core.draw import RandomSource, pick, pick_many
from dproo.core.numbers import Number, exp_upper, log_upper, rational
from dproo.mechanisms import hypotheses
from dproo.mechanisms.base import ADD_REMOVE, REPLACE, Mechanism, Transition
from dproo.mechanisms.roo_joint import FACTORS_MAX, LETTERS_MAX, Urn, least_pseudo, risen

DRAWS_MAX = 10**7
"""The most letters of one release: each is named in the pair of outputs that leaks most."""


def epsilon_of(q: Number, *, n: int, k: int) -> Fraction:
    """Return the epsilon of ROO with obscuring probability ``q``, rounded up.

    ``epsilon = log(1 + k (1-q) / (n q))``.

    Reference: Tasnim et al. (2025), Eq. (6).
    """
    q = _probability(q)
    n, k = whole("n", n, at_least=1), whole("k", k, at_least=2)
    return log_upper(1 + k * (1 - q) / (n * q))


def alpha_of(q: Number, *, k: int) -> Fraction:
    """Return the worst-case accuracy of ROO with obscuring probability ``q``.

    ``alpha = q (1 - 1/k)``.

    Reference: Tasnim et al. (2025), Eq. (7).

    >>> alpha_of("0.1", k=10)
    Fraction(9, 100)
    """
    return _probability(q) * (1 - Fraction(1, whole("k", k, at_least=2)))


def _probability(q: object) -> Fraction:
    value = rational("q", q)
    if not 0 < value <= 1:
        raise ValueError(refusal("q", "be above 0 and at most 1", q))
    return value


@dataclass(frozen=True, kw_only=True)
class RevealOrObscure(Mechanism):
    r"""Draw a uniform record, or, with probability ``q``, a uniform letter.

    The output is letter ``y`` with probability ``(c_y + pseudo) / (n + k * pseudo)``,
    ``pseudo = 1 / (e^epsilon - 1)``, never below its true value. With a public prior, a
    letter's pseudo-count is in proportion to it, and the least likely letter's is ``pseudo``.
    Several ``draws`` are a Polya urn: every drawn letter counts as one more record for the
    draws after it.

    Guarantee: epsilon-DP for all ``draws`` together, when one person's records, at most
    ``records_per_person``, are replaced, or when they are added or removed.
    Proof: docs/proofs/reveal_or_obscure.md
    Reference: Tasnim et al. (2025), Algorithm 1 and Theorem 1; with one draw also the
    multinomial-Dirichlet synthesizer of Machanavajjhala et al. (2008).

    Args:
        q: the obscuring probability, given instead of epsilon, which then follows from
            Theorem 1.
        draws: the number of letters of one release.
        records_per_person: the most records that one protected person may own.
        prior: a public positive weight for each letter, instead of the uniform letter.

    >>> roo = RevealOrObscure(epsilon=1, n=100, k=4)
    >>> [round(float(p), 3) for p in roo.pmf([70, 30, 0, 0])]
    [0.69, 0.299, 0.006, 0.006]
    """

    name = "roo"
    relations = (REPLACE, ADD_REMOVE)
    basis = "exact: Theorem 1 of Tasnim et al."
    is_closed_form = True

    epsilon: Fraction = Fraction(0)
    draws: int = 1
    records_per_person: int = 1
    prior: Sequence[Number] | None = None
    q: Fraction | None = None

    def _check_parameters(self) -> None:
        if self.q is None:
            super()._check_parameters()
        else:
            self._set(q=_probability(self.q))
            several = max(self.draws, self.records_per_person) > 1
            if self.epsilon != 0 or self.neighbours != REPLACE or several or self.prior:
                raise ValueError(
                    "q must be given alone: it fixes epsilon for one draw under replace neighbours."
                )
            self._set(epsilon=epsilon_of(self.q, n=self.n, k=self.k))
        if self.prior is not None:
            self._set(prior=tuple(rational("prior", share) for share in self.prior))
            if len(self.prior) != self.k:
                raise ValueError(
                    refusal("prior", f"have k = {shown(self.k)} entries", len(self.prior))
                )
            if not min(self._shares.sizes) > 0:
                raise ValueError(refusal("prior", "be positive", str(min(self.prior))))
        self._set(
            draws=whole("draws", self.draws, at_least=1, at_most=DRAWS_MAX),
            records_per_person=whole("records_per_person", self.records_per_person, at_least=1),
        )

    @property
    def is_symmetric(self) -> bool:
        """Whether the prior is uniform."""
        return self.prior is None

    @property
    def theorem(self) -> str | None:
        """The theorem; for several draws of several records, only if one letter is the worst."""
        relation = "replace" if self.neighbours == REPLACE else "add_remove"
        if self.records_per_person == 1:
            return f"roo_{relation}"
        if self.draws == 1:
            return f"roo_one_draw_{relation}"
        is_short = min(self.draws, self.records_per_person, self.n) <= FACTORS_MAX
        is_one_letter = self._record <= min(self._base.sizes)
        return f"roo_both_{relation}" if is_short and is_one_letter else None

    @property
    def conditions(self) -> dict[str, bool]:
        """What the theorem assumes of the pseudo-counts."""
        if self.theorem is None:
            return {}
        bases, unit, draws = self._base.sizes, self._record, self.draws
        base, people = min(bases), min(self.records_per_person, self.n)
        found = {"unit_nonnegative": hypotheses.unit_nonnegative(unit)}
        if self.theorem.startswith("roo_both"):
            covers_all = hypotheses.lightest_covers_all(base, unit, people, draws, self.epsilon)
            return found | {
                "lightest_positive": hypotheses.lightest_positive(base),
                "base_at_least": hypotheses.base_at_least(base, bases),
                "unit_at_most_lightest": hypotheses.unit_at_most_lightest(unit, base),
                "lightest_covers_all": covers_all,
            }
        is_one = self.records_per_person == 1
        covers = hypotheses.base_covers_draws if is_one else hypotheses.base_covers_records
        return found | {
            "base_positive": hypotheses.base_positive(base),
            covers.__name__: covers(base, unit, draws * people, self.epsilon),
        }

    @cached_property
    def _pseudo(self) -> tuple[int, int]:
        """The pseudo-count of the least likely letter, as numerator and denominator."""
        if self.q is not None:
            return self.q.numerator * self.n, (self.q.denominator - self.q.numerator) * self.k
        letters = self.k - 1 if self.neighbours == REPLACE else self.k
        gains = min(self.records_per_person, self.n)
        shares = self._lightest(letters)
        pseudo = least_pseudo(self.epsilon, self.growth, shares, gains, self.draws)
        return pseudo.as_integer_ratio()

    def _lightest(self, letters: int) -> list[int]:
        """Return the smallest ``letters`` shares, or as many of them as can matter."""
        shares: list[int] = []
        for share, number in sorted(self._shares.sizes.items()):
            shares += [share] * min(number, letters - len(shares), LETTERS_MAX)
        return shares[:LETTERS_MAX]

    @cached_property
    def _shares(self) -> Runs:
        """The prior as integers in the same proportion."""
        if self.prior is None:
            return Runs([(1, self.k)])
        shares = [Fraction(share) for share in self.prior]
        common = lcm(*(share.denominator for share in shares))
        return Runs((int(share * common), 1) for share in shares)

    @cached_property
    def _base(self) -> Runs:
        """The weight of every letter on an empty dataset."""
        pseudo, _ = self._pseudo
        return self._shares.map(lambda share: pseudo * share)

    @cached_property
    def _record(self) -> int:
        """The weight that each record adds to its letter."""
        _, unit = self._pseudo
        return unit * min(self._shares.sizes)

    def weights(self, counts: Counts) -> Runs:
        """Return ``base + record * c`` for every letter."""
        return counts.combine(self._base, lambda count, base: base + self._record * count)

    @cached_property
    def _urn(self) -> Urn:
        return Urn(
            self._base,
            self._record,
            self.draws,
            self.n,
            gains=min(self.records_per_person, self.n),
            is_n_public=self.neighbours == REPLACE,
        )

    @property
    def largest_ratio(self) -> Fraction:
        """The largest ratio; a bound on it if draws and records are many."""
        return self._urn.certified[0]

    @property
    def worst(self) -> Transition:
        """A person's records take unseen letters, and those are drawn."""
        return self._urn.certified[1]

    @property
    def worst_alpha(self) -> Fraction:
        """``q (1 - 1/k)``, or with a prior ``q (1 - min prior)``: a point mass is worst."""
        return self.worst_alpha_among(self.n)

    def worst_alpha_among(self, records: int) -> Fraction:
        """Return the worst case of ``records`` records; ``q`` falls as they grow."""
        smallest = min(self._base.sizes)
        return Fraction(self._base.total - smallest, self._base.total + self._record * records)

    @property
    def neighbour_distance(self) -> Fraction:
        """For one draw: the share of a person's records in the weight of all letters."""
        if self.draws > 1:
            return super().neighbour_distance
        most = self._record * min(self.records_per_person, self.n)
        if self.neighbours == REPLACE:
            return Fraction(most, self._base.total + self._record * self.n)
        return Fraction(most, self._base.total + most)

    @classmethod
    def group_loss(cls, epsilon: Fraction, records: int) -> Fraction:
        """Return ``log(1 + records (e^epsilon - 1))``, rounded up: weights grow by addition.

        Proof: docs/proofs/reveal_or_obscure.md
        """
        bound = log_upper(1 + records * (exp_upper(epsilon) - 1))
        return min(bound, super().group_loss(epsilon, records))

    def _ratio(self, transition: Transition) -> Fraction:
        """Return the factor by which the transition changes the probability of its letters.

        A letter's factors ``w, w + record, w + 2 record, ...`` before and after a transition
        by whole records differ only at the ends, so the product is short.
        """
        before, after = self.weights(transition.before), self.weights(transition.after)
        factor = 1 / self._risen(before.total, after.total, len(transition.letters))
        for letter, drawn in Counter(transition.letters).items():
            factor *= self._risen(before[letter], after[letter], drawn)
        return factor

    def _risen(self, before: int, after: int, draws: int) -> Fraction:
        records = (after - before) // self._record if self._record else 0
        ratio = Fraction(*risen(min(before, after), self._record, abs(records), draws))
        return ratio if records >= 0 else 1 / ratio

    def probability(self, counts: Counts, letters: tuple[int, ...]) -> Fraction:
        """Return the probability of these letters from the urn, in this order."""
        weights = self.weights(counts)
        ways = prod(
            prod(weights[letter] + j * self._record for j in range(times))
            for letter, times in Counter(letters).items()
        )
        return Fraction(ways, prod(weights.total + j * self._record for j in range(len(letters))))

    def _draw(self, counts: Counts, source: RandomSource) -> tuple[int, ...]:
        """Draw from the final urn: a ball that is not yet in it is drawn again.

        Where there is no record, nearly every ball may be such, but not once a letter is drawn.
        """
        weights = self.weights(counts)
        urn = Runs([*weights.runs, (self._record, self.draws - 1)])
        letters = [pick(weights, source)]
        k = self.k
        while missing := self.draws - len(letters):
            for ball in pick_many(urn, missing, source):
                if ball < k:
                    letters.append(ball)
                elif ball - k < len(letters):
                    letters.append(letters[ball - k])
        return tuple(letters)
