"""The urn that several letters are drawn from jointly, and the certificate of its integers.

How much a person's records can change the draws is computed exactly, or bounded. A letter of
weight ``base`` that gains ``g`` records and is drawn ``s`` times becomes likelier by

    ``risen(g, s) = prod (base + (s + j) record) / (base + j record)`` over ``j < g``,

the same with ``g`` and ``s`` exchanged. Both the records of a person and the draws may be spread
over several letters. If a record weighs no more than the lightest letter, putting everything on
that letter is worst; if it weighs more, all allocations are searched, or bounded if they are too
many. No allocation is assumed to be the worst.

Proof: docs/proofs/reveal_or_obscure.md
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt, prod

from dproo.core.counts import Counts, Runs
from dproo.core.numbers import BITS, ceil_div, exp_lower, first_true, power_upper
from dproo.mechanisms.base import Transition

FACTORS_MAX = 64
"""Products of more factors are bounded instead of multiplied out."""

CELLS_MAX = 64
"""Allocations are searched if gains times draws is at most this."""

LETTERS_MAX = isqrt(CELLS_MAX) + 1
"""More letters than any searched allocation uses."""

Part = tuple[int, int]
"""The number of records that a letter gains, and of times that it is drawn."""


@dataclass(frozen=True)
class Allocation:
    """Gains and draws spread over letters: a part for each, and their ratio ``over / under``."""

    over: int
    under: int
    parts: tuple[Part, ...] = ()

    def times(self, over: int, under: int, part: Part) -> Allocation:
        """Return this allocation with one more letter."""
        return Allocation(self.over * over, self.under * under, (*self.parts, part))


def risen(base: int, record: int, gains: int, draws: int) -> tuple[int, int]:
    """Return numerator and denominator of how much likelier one letter becomes."""
    few, many = sorted((gains, draws))
    return (
        prod(base + (many + j) * record for j in range(few)),
        prod(base + j * record for j in range(few)),
    )


def worst_allocations(
    bases: Sequence[int], record: int, gains: int, draws: int
) -> list[list[Allocation]]:
    """Return the worst allocation of up to ``g`` gains and ``s`` draws at ``[g][s]``, exactly."""
    best = [[Allocation(1, 1)] * (draws + 1) for _ in range(gains + 1)]
    for base in bases:
        one = [[risen(base, record, g, s) for s in range(draws + 1)] for g in range(gains + 1)]
        best = [[_extended(best, one, g, s) for s in range(draws + 1)] for g in range(gains + 1)]
    return best


def _extended(
    best: list[list[Allocation]], one: list[list[tuple[int, int]]], gains: int, draws: int
) -> Allocation:
    """Return the worst allocation with one letter more than ``best``, its ratios in ``one``."""
    worst = best[gains][draws].times(1, 1, (0, 0))
    for g in range(1, gains + 1):
        for s in range(1, draws + 1):
            fewer, (over, under) = best[gains - g][draws - s], one[g][s]
            if fewer.over * over * worst.under > worst.over * fewer.under * under:
                worst = fewer.times(over, under, (g, s))
    return worst


def least_pseudo(
    epsilon: Fraction, growth: Fraction, shares: Sequence[int], gains: int, draws: int
) -> Fraction:
    """Return the least pseudo-count of the lightest letter that is proven sufficient.

    The shares are the relative weights of the letters that can gain, lightest first; at most
    ``LETTERS_MAX`` are used. The growth is a rational just below ``e^epsilon``.
    """
    few, many = sorted((gains, draws))
    if few == 1:
        return many / (growth - 1)
    if few > FACTORS_MAX:
        return max(Fraction(1), _enough_for_many(epsilon, few, many))
    pseudo = _enough_for(growth, shares, [(gains, draws)])
    if pseudo >= 1 or len(shares) == 1:
        return pseudo
    if few * many > CELLS_MAX:
        return min(Fraction(1), _enough_for_spread(epsilon, few, many))
    while True:
        over, under = pseudo.as_integer_ratio()
        bases = [over * share for share in shares[:few]]
        worst = worst_allocations(bases, under * shares[0], gains, draws)[gains][draws]
        if worst.over * growth.denominator <= worst.under * growth.numerator:
            return pseudo
        pseudo = _enough_for(growth, shares, worst.parts)


def _enough_for(growth: Fraction, shares: Sequence[int], parts: Sequence[Part]) -> Fraction:
    """Return the least pseudo-count, in 64 bits, that keeps this one allocation to ``growth``."""

    def is_enough(pseudo: Fraction) -> bool:
        count, unit = pseudo.as_integer_ratio()
        over, under = growth.denominator, growth.numerator
        for share, part in zip(shares, parts, strict=False):
            more, less = risen(count * share, unit * shares[0], *part)
            over, under = over * more, under * less
        return over <= under

    low, high = -growth.numerator.bit_length(), 1
    while not is_enough(Fraction(2) ** high):
        low, high = high, 2 * high
    high = first_true(lambda power: is_enough(Fraction(2) ** power), low, high)
    unit = Fraction(2) ** (high - 1 - BITS)
    return first_true(lambda count: is_enough(count * unit), 1 << BITS, 2 << BITS) * unit


def _enough_for_many(epsilon: Fraction, few: int, many: int) -> Fraction:
    """Return a pseudo-count with which :func:`bound_on_one` is within ``e^epsilon``."""
    rate = exp_lower(2 * epsilon / few) - 1
    linear = 2 * many - rate * (few - 1)
    square = (linear * linear + 4 * rate * many * (many + few - 1)) * 4**BITS
    root = Fraction(isqrt(ceil_div(*square.as_integer_ratio())) + 1, 2**BITS)
    pseudo = (linear + root) / (2 * rate)
    return Fraction(ceil_div(pseudo.numerator << BITS, pseudo.denominator), 1 << BITS)


def bound_on_one(pseudo: Fraction, few: int, many: int) -> Fraction:
    """Return a bound on the rise of one letter, for many factors.

    The logarithm of a factor ``(pseudo + many + j) / (pseudo + j)`` is convex in ``j``, so the
    product of two factors equally far from the ends is at most that of the first and the last.
    """
    last = few - 1
    ends = 1 + many * (2 * pseudo + many + last) / (pseudo * (pseudo + last))
    middle = 1 + many / (pseudo + Fraction(last, 2)) if few % 2 else Fraction(1)
    return power_upper(ends, few // 2, bits=4 * BITS) * middle


def _enough_for_spread(epsilon: Fraction, few: int, many: int) -> Fraction:
    """Return a pseudo-count with which :func:`bound_on_spread` is within ``e^epsilon``, up to 1."""
    rate = (exp_lower(epsilon / few) - 1) * few / many - _harmonic(few - 1)
    return 1 / max(rate, Fraction(1))


def bound_on_spread(pseudo: Fraction, few: int, many: int) -> Fraction:
    """Return a bound on the joint rise of all letters, by the mean of the ``few`` factors."""
    return power_upper(
        1 + Fraction(many, few) * (1 / pseudo + _harmonic(few - 1)), few, bits=4 * BITS
    )


def _harmonic(terms: int) -> Fraction:
    return sum((Fraction(1, i) for i in range(1, terms + 1)), Fraction(0))


_DATASETS_MAX = 20_000


@dataclass(frozen=True)
class Urn:
    """The integers of an urn, and its largest ratio.

    Attributes:
        bases: the weight of every letter on an empty dataset.
        record: what each record, and each earlier draw, adds to its letter.
        draws: the number of letters drawn.
        n: the number of records, or the largest allowed.
        gains: the most records of a person, not above ``n``.
        is_n_public: whether records are replaced rather than added or removed.
    """

    bases: Runs
    record: int
    draws: int
    n: int
    gains: int
    is_n_public: bool

    @cached_property
    def certified(self) -> tuple[Fraction, Transition]:
        """The largest ratio, or a bound on it, and a transition that attains it, or nearly."""
        few, many = sorted((self.gains, self.draws))
        lightest = self._weight(0)
        pseudo = Fraction(lightest, self.record) if self.record else Fraction(1)
        is_one_free = self.is_n_public and self.bases.k == 2
        if few == 1 or is_one_free or lightest >= self.record:
            if few <= FACTORS_MAX:
                return self._one_letter()
            everything = self._moved(self.gains, {0: (self.gains, self.draws)})
            return bound_on_one(pseudo, few, many), everything
        if few * many > CELLS_MAX:
            parts = dict(enumerate(self._even_parts(few)))
            return bound_on_spread(pseudo, few, many), self._moved(self.gains, parts)
        return self._searched(few)

    @cached_property
    def _ranked(self) -> list[int]:
        """The letters that matter, the lightest first."""
        if len(self.bases.runs) == 1:
            return list(range(min(self.bases.k, LETTERS_MAX)))
        return sorted(range(self.bases.k), key=list(self.bases).__getitem__)[:LETTERS_MAX]

    def _weight(self, rank: int) -> int:
        return self.bases[self._ranked[rank]]

    def _even_parts(self, few: int) -> list[Part]:
        """Return gains and draws spread over letters as evenly as possible."""
        letters = min(few, len(self._ranked) - 1)
        return [((self.gains + i) // letters, (self.draws + i) // letters) for i in range(letters)]

    def _one_letter(self) -> tuple[Fraction, Transition]:
        """Return the largest ratio if all gains and all draws are worst on one letter."""

        def added(records: int) -> Fraction:
            return self._ratio(records, {0: (records, self.draws)}, self.n - records)

        worst = self.gains
        if not self.is_n_public:  # the ratio of an addition is log-concave in its records
            worst = first_true(lambda one: added(one) >= added(one + 1), 0, self.gains)
        return self._or_removed(added(worst), self._moved(worst, {0: (worst, self.draws)}))

    def _searched(self, few: int) -> tuple[Fraction, Transition]:
        """Return the largest ratio of all allocations; with private ``n``, of all datasets."""
        letters = self._ranked[: few + 1]
        datasets = self.n * self.gains**2 * self.draws * (few + 1)
        if self.is_n_public or datasets > _DATASETS_MAX:
            free = min(few, self.bases.k - 1 if self.is_n_public else self.bases.k)
            bases = [self._weight(rank) for rank in range(free)]
            worst = worst_allocations(bases, self.record, self.gains, self.draws)[-1][-1]
            parts = dict(enumerate(worst.parts))
            return Fraction(worst.over, worst.under), self._moved(self.gains, parts)
        found = Fraction(0)
        for crowd in range(len(letters)):
            if crowd and self._weight(crowd) == self._weight(crowd - 1):
                continue
            for records, parts, others in self._additions(crowd, few):
                ratio = self._ratio(records, parts, others, crowd)
                if ratio > found:
                    found, worst_addition = ratio, (records, parts, others, crowd)
        return self._or_removed(found, self._moved(*worst_addition))

    def _additions(self, crowd: int, few: int) -> Iterator[tuple[int, dict[int, Part], int]]:
        """Yield additions, one of which is the worst if all other records have the same letter.

        Each is the number of added records, the part of each rank, and the number of other
        records: as many as possible, unless their letter gains too.
        """
        ranks = [rank for rank in range(min(few + 1, len(self._ranked))) if rank != crowd][:few]
        bases = [self._weight(rank) for rank in ranks]
        best = worst_allocations(bases, self.record, self.gains, self.draws)
        for records in range(1, self.gains + 1):
            most = self.n - records
            yield records, _parts(ranks, best[records][self.draws].parts, records, self.draws), most
            for gains in range(1, records + 1):
                for draws in range(1, self.draws + 1):
                    left = records - gains, self.draws - draws
                    parts = _parts(ranks, best[left[0]][left[1]].parts, *left)
                    parts[crowd] = gains, draws
                    for others in range(most + 1):
                        yield records, parts, others

    def _or_removed(self, ratio: Fraction, transition: Transition) -> tuple[Fraction, Transition]:
        """Return the worse of this transition and the removal of all records of a dataset."""
        if self.is_n_public:
            return ratio, transition
        removed = Fraction(*risen(self.bases.total, self.record, self.gains, self.draws))
        if removed <= ratio:
            return ratio, transition
        lightest, other = self._ranked[:2]
        before, after = {other: self.gains}, dict[int, int]()
        return removed, self._transition(before, after, (lightest,) * self.draws)

    def _ratio(self, records: int, parts: dict[int, Part], others: int, crowd: int = 1) -> Fraction:
        """Return the ratio of an addition, or of the replacement if ``n`` is public."""
        over = under = 1
        for rank, part in parts.items():
            base = self._weight(rank) + (others * self.record if rank == crowd else 0)
            more, less = risen(base, self.record, *part)
            over, under = over * more, under * less
        if not self.is_n_public:
            total = self.bases.total + others * self.record
            more, less = risen(total, self.record, records, self.draws)
            over, under = over * less, under * more
        return Fraction(over, under)

    def _moved(
        self,
        records: int,
        parts: dict[int, Part],
        others: int | None = None,
        crowd: int | None = None,
    ) -> Transition:
        """Return the transition in which letters gain ``parts``; the other records are a crowd."""
        if crowd is None:
            crowd = min(len(parts), len(self._ranked) - 1)
        if others is None:
            others = self.n - records
        letters, gained, drawn = self._ranked, dict[int, int](), list[int]()
        for rank, (gains, draws) in parts.items():
            gained[letters[rank]] = gains
            drawn += [letters[rank]] * draws
        before = {letters[crowd]: others + (records if self.is_n_public else 0)}
        after = {**gained, letters[crowd]: others + gained.get(letters[crowd], 0)}
        return self._transition(before, after, tuple(drawn))

    def _transition(
        self, before: dict[int, int], after: dict[int, int], letters: tuple[int, ...]
    ) -> Transition:
        k = self.bases.k
        return Transition(Counts.sparse(before, k=k), Counts.sparse(after, k=k), letters)


def _parts(ranks: list[int], parts: tuple[Part, ...], gains: int, draws: int) -> dict[int, Part]:
    """Return a part for each rank; the first gets what makes no difference."""
    found = dict(zip(ranks, parts, strict=False))
    g, s = found[ranks[0]]
    gains -= sum(gained for gained, _ in parts)
    draws -= sum(drawn for _, drawn in parts)
    return {**found, ranks[0]: (g + gains, s + draws)}
