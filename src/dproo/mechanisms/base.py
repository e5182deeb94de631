"""Samplers: a sampler is a frozen value with a rule from counts to positive integer weights.

The weights are the law. A release draws from them, the certificate takes ratios of them, and the
accuracy is computed from them; there is no second implementation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final, Literal

from dproo.core.checks import one_of, refusal, shown, whole
from dproo.core.counts import Counts, Runs
from dproo.core.divergence import DominatingPair
from dproo.core.draw import RandomSource, pick, pick_many
from dproo.core.numbers import ceil_div, exp_lower, is_at_most_exp, parse_epsilon
from dproo.core.partition import mean_in_block

Relation = Literal["replace", "add-remove", "both"]
REPLACE: Final = "replace"
ADD_REMOVE: Final = "add-remove"
BOTH: Final = "both"
"""One record is replaced, added or removed, and the number of records is private."""

RECORDS_MAX = 2**80
"""If ``n`` is private, a sampler is certified for every dataset up to this size."""


_MOST_DRAWS = 10**9

ENOUGH = 10
"""Records per letter where their number is private; more for epsilon below log 2."""


def enough(epsilon: Fraction, k: int, *, draws: int = 1, records_per_person: int = 1) -> int:
    """Return a number of records at which ROO's worst case is at most a tenth.

    Samplers are compared at this number where the true one is private.

    >>> enough(Fraction(1), 15), enough(Fraction(1, 10), 9)
    (150, 856)
    """
    rate = min(exp_lower(epsilon / records_per_person) - 1, Fraction(1))
    return ceil_div(ENOUGH * k * draws * rate.denominator, rate.numerator)


@dataclass(frozen=True)
class Transition:
    """Two neighbouring datasets and an output.

    Attributes:
        before: the counts of one dataset.
        after: the counts of its neighbour.
        letters: the released letters whose probability is compared, one per draw.
    """

    before: Counts
    after: Counts
    letters: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        if not isinstance(self.letters, tuple):
            raise TypeError(refusal("letters", "be a tuple of indices", self.letters))
        counts = {name: Counts.of(getattr(self, name)) for name in ("before", "after")}
        letters = tuple(whole("letters", letter, at_least=0) for letter in self.letters)
        vars(self).update(counts, letters=letters)


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """A sampler for datasets of ``n`` records over ``k`` letters.

    Attributes:
        epsilon: the privacy parameter, exact.
        n: the public number of records under ``"replace"``, else the largest allowed.
        k: the number of letters of the public alphabet.
        neighbours: ``"replace"``, ``"add-remove"`` or ``"both"``: how neighbours differ.

    Guarantee: an instance that is for release satisfies epsilon-DP; its integers are
    certified when it is constructed.
    """

    name: ClassVar[str]
    relations: ClassVar[tuple[Relation, ...]] = (REPLACE,)
    basis: ClassVar[str] = "proven bound"
    """The basis of the worst-case accuracy, in a few words."""
    is_closed_form: ClassVar[bool] = False
    """Whether ``worst_alpha_at`` is fast and monotone in each of its parameters."""

    epsilon: Fraction
    n: int = 0
    k: int
    neighbours: Relation = REPLACE

    def __post_init__(self) -> None:
        """Check every argument, then certify the integers that would be drawn from."""
        self._check_sizes()
        self._check_parameters()
        if self.is_for_release and not is_at_most_exp(self.largest_ratio, self.epsilon):
            raise ValueError(f"{self.name} did not certify at epsilon = {self.epsilon}.")
        for condition, holds in self.conditions.items():
            if self.is_for_release and not holds:
                raise ValueError(f"{self.name} did not certify: {condition} does not hold.")

    @property
    def theorem(self) -> str | None:
        """The machine-checked theorem, in ``proofs/``, that this sampler rests on, if any."""
        return None

    @property
    def conditions(self) -> dict[str, bool]:
        """Whether the integers to draw from satisfy each hypothesis of the theorem."""
        return {}

    def _check_sizes(self) -> None:
        relations = (REPLACE, ADD_REMOVE, BOTH)
        self._set(neighbours=one_of("neighbours", self.neighbours, relations))
        if self.neighbours not in self.relations:
            condition = f"be {' or '.join(map(repr, self.relations))} for {self.name}"
            raise ValueError(refusal("neighbours", condition, self.neighbours))
        if self.neighbours != REPLACE and self.n == 0:
            self._set(n=RECORDS_MAX)
        self._set(n=whole("n", self.n, at_least=1), k=whole("k", self.k, at_least=2))

    def _check_parameters(self) -> None:
        self._set(epsilon=parse_epsilon(self.epsilon))

    def _set(self, **values: object) -> None:
        vars(self).update(values)

    @property
    def is_for_release(self) -> bool:
        """Whether a release may use it; False if the sampler is only for study."""
        return True

    @property
    def draws(self) -> int:
        """The number of letters of one release."""
        return 1

    @property
    def records_per_person(self) -> int:
        """The most records that a protected person may own."""
        return 1

    @property
    def is_symmetric(self) -> bool:
        """Whether the law treats all letters alike."""
        return True

    @cached_property
    def growth(self) -> Fraction:
        """The rational, just below ``e^epsilon``, that the integers are built with."""
        return exp_lower(self.epsilon)

    @abstractmethod
    def weights(self, counts: Counts) -> Runs:
        """Return the positive integer weight of every letter on a dataset with these counts."""

    @cached_property
    @abstractmethod
    def worst(self) -> Transition:
        """The transition between neighbours with the largest probability ratio of all."""

    @property
    def largest_ratio(self) -> Fraction:
        """The ratio of the worst transition, or a proven bound on it."""
        return self.ratio(self.worst)

    @property
    @abstractmethod
    def worst_alpha(self) -> Fraction:
        """The largest total variation distance from ``P`` over all ``P``, on ``n`` records."""

    def worst_alpha_among(self, records: int) -> Fraction:
        """Return the worst case over all datasets of ``records`` records.

        Where the number of records is private, ``n`` is only the largest allowed.
        """
        if records != self.n:
            raise ValueError(refusal("records", f"be n = {self.n} for {self.name}", records))
        return self.worst_alpha

    def worst_alpha_of_each(self, records: int, *, draws: int) -> Fraction:
        """Return the worst case of each of ``draws`` letters, where ``records`` is private.

        They are drawn jointly, or each from a block of its own, whose size is then random:
        every record chooses its block by itself.

        Proof: docs/proofs/blocks.md
        """
        if draws == self.draws:
            return self.worst_alpha_among(records)
        return mean_in_block(self.worst_alpha_among, records, draws)

    @classmethod
    def worst_alpha_at(cls, *, n: int, k: int, epsilon: Fraction) -> Fraction:
        """Return ``worst_alpha`` of the sampler with these parameters, one draw, replace.

        A sampler that is slow to construct may compute it without an instance.
        """
        return cls(n=n, k=k, epsilon=epsilon).worst_alpha

    @classmethod
    def is_futile(cls, *, alpha: Fraction, epsilon: Fraction = Fraction(0)) -> bool:  # noqa: ARG003
        """Whether LS-ROO was always found better where its own worst case is ``alpha``.

        With ``epsilon``, also whether it was always better at that epsilon.
        """
        return False

    @classmethod
    def plain_below(cls, k: int) -> Fraction:  # noqa: ARG003 - for subclasses
        """Return the epsilon below which the sampler is LS-ROO, whatever the records."""
        return Fraction(0)

    @property
    def neighbour_distance(self) -> Fraction:
        """A bound on the total variation distance between the laws on two neighbours."""
        return Fraction(1)

    @cached_property
    def dominating_pair(self) -> DominatingPair:
        """Two laws at least as distinguishable as the releases of any two neighbours.

        Proof: docs/proofs/dominating_pair.md
        """
        return DominatingPair.of(ratio=self.largest_ratio, distance=self.neighbour_distance)

    @classmethod
    def group_loss(cls, epsilon: Fraction, records: int) -> Fraction:
        """Return the privacy loss of one draw when ``records`` change instead of one, rounded up.

        Each of them changes every probability by a factor of at most ``e^epsilon``.
        """
        return records * epsilon

    def probability(self, counts: Counts, letters: tuple[int, ...]) -> Fraction:
        """Return the probability that a release is exactly these letters, in this order."""
        weights = self.weights(counts)
        (letter,) = letters
        return Fraction(weights[letter], weights.total)

    def ratio(self, transition: Transition) -> Fraction:
        """Return the factor by which the transition changes the probability of its letters."""
        if not isinstance(transition, Transition):
            raise TypeError(refusal("transition", "be a Transition", transition))
        letters = transition.letters
        if len(letters) != self.draws or max(letters) >= self.k:
            condition = f"be {self.draws} of the {shown(self.k)} letters"
            raise ValueError(refusal("letters", condition, letters))
        return self._ratio(
            Transition(self.checked(transition.before), self.checked(transition.after), letters)
        )

    def _ratio(self, transition: Transition) -> Fraction:
        letters = transition.letters
        return self.probability(transition.after, letters) / self.probability(
            transition.before, letters
        )

    def pmf(self, counts: Sequence[int] | Counts) -> list[Fraction]:
        """Return the exact law of one released letter on a dataset with these counts."""
        weights = self.weights(self.checked(counts))
        return [Fraction(weight, weights.total) for weight in weights]

    def draw(
        self, counts: Sequence[int] | Counts, *, source: RandomSource | None = None
    ) -> tuple[int, ...]:
        """Return one release: the index of a letter, or of several where ``draws > 1``."""
        return self._draw(self.checked(counts), source or RandomSource())

    def _draw(self, counts: Counts, source: RandomSource) -> tuple[int, ...]:
        return (pick(self.weights(counts), source),)

    def draw_each(self, counts: Counts, *, source: RandomSource | None = None) -> list[int]:
        """Return one letter for each of many datasets, whose counts are concatenated."""
        source = source or RandomSource()
        return [pick(self.weights(self.checked(part)), source) for part in counts.split(self.k)]

    def draw_from_seen(self, seen: Mapping[int, int], *, source: RandomSource) -> int:
        """Return one letter of a dataset given by the counts of the letters that occur.

        A symmetric law depends only on how many letters have each count: it draws a place
        among the letters sorted by count, and each place is one letter of that count.
        """
        if not self.is_symmetric:
            return self.draw(Counts.sparse(seen, k=self.k), source=source)[0]
        unseen = self.k - len(seen)
        sizes = Counter(seen.values())
        by_count = Counts([(0, unseen), *sorted(sizes.items())])
        (place,) = self.draw(by_count, source=source)
        if place < unseen:
            letters = sorted(seen)
            return place + bisect_right(range(len(letters)), place, key=lambda i: letters[i] - i)
        count = by_count[place]
        return [letter for letter in seen if seen[letter] == count][place % sizes[count]]

    def draw_many(
        self, counts: Sequence[int] | Counts, size: int, *, source: RandomSource | None = None
    ) -> list[int]:
        """Return ``size`` independent letters; together they cost ``size`` times epsilon."""
        size = whole("size", size, at_least=1, at_most=_MOST_DRAWS)
        return pick_many(self.weights(self.checked(counts)), size, source or RandomSource())

    def checked(self, counts: Sequence[int] | Counts) -> Counts:
        """Return ``counts`` as :class:`Counts` if they fit ``n`` and ``k``."""
        counts = Counts.of(counts)
        if counts.k != self.k:
            raise ValueError(refusal("counts", f"have k = {shown(self.k)} entries", counts.k))
        if self.neighbours == REPLACE and counts.n != self.n:
            raise ValueError(refusal("counts", f"sum to n = {shown(self.n)}", counts.n))
        if counts.n > self.n:
            raise ValueError(f"counts must sum to at most n = {shown(self.n)}.")
        return counts
