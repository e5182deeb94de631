"""The urn that several letters are drawn from jointly, and the certificate of its integers.

Proof: docs/proofs/reveal_or_obscure.md
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dproo.core.counts import Counts, Runs
from dproo.mechanisms.allocation import (
    CELLS_MAX,
    FACTORS_MAX,
    LETTERS_MAX,
    Part,
    bound_on_one,
    bound_on_spread,
    risen,
    worst_allocations,
)
from dproo.mechanisms.base import Transition

_DATASETS_MAX = 20_000


@dataclass(frozen=True)
class Urn:
    """The integers of an urn, and its largest ratio.

    Attributes:
        bases: the weight of every letter on an empty dataset.
        record: what each record, and each letter drawn before, adds to its letter.
        draws: how many letters are drawn.
        n: the number of records, or the most there may be.
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
        """The largest ratio, or a bound on it, and the transition that has it, or nearly."""
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

    def _even_parts(self, few: int) -> Iterator[Part]:
        """Yield gains and draws spread over letters as evenly as can be."""
        letters = min(few, len(self._ranked) - 1)
        for i in range(letters):
            yield (
                (self.gains + i) // letters,
                (self.draws + i) // letters,
            )

    def _one_letter(self) -> tuple[Fraction, Transition]:
        """Return the largest ratio where all gains and all draws are best on one letter."""

        def added(records: int) -> Fraction:
            return self._ratio(records, {0: (records, self.draws)}, self.n - records)

        if self.is_n_public:
            low = self.gains
        else:
            low, high = 1, self.gains  # the ratio of an addition is log-concave in its records
            while low < high:
                middle = (low + high) // 2
                low, high = (
                    (middle + 1, high) if added(middle) < added(middle + 1) else (low, middle)
                )
        return self._or_removed(added(low), self._moved(low, {0: (low, self.draws)}))

    def _searched(self, few: int) -> tuple[Fraction, Transition]:
        """Return the largest ratio of all allocations; with private ``n``, of all datasets."""
        letters = self._ranked[: few + 1]
        if self.is_n_public or not self._are_datasets_few(few):
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

    def _are_datasets_few(self, few: int) -> bool:
        return self.n * self.gains**2 * self.draws * (few + 1) <= _DATASETS_MAX

    def _additions(self, crowd: int, few: int) -> Iterator[tuple[int, dict[int, Part], int]]:
        """Yield additions, one of which is worst where all other records have the same letter.

        Each is the number of added records, the part of each rank, and how many others there
        are: all that there may be, unless their letter gains, too.
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
        """Return what is worse: this transition, or that all records of a dataset are removed."""
        if self.is_n_public:
            return ratio, transition
        removed = Fraction(*risen(self.bases.total, self.record, self.gains, self.draws))
        if removed <= ratio:
            return ratio, transition
        lightest, other = self._ranked[:2]
        before, after = {other: self.gains}, dict[int, int]()
        return removed, self._transition(before, after, (lightest,) * self.draws)

    def _ratio(self, records: int, parts: dict[int, Part], others: int, crowd: int = 1) -> Fraction:
        """Return the ratio of an addition, or where ``n`` is public of the replacement."""
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
    """Return a part for each rank; what brings nothing is left with the first."""
    found = dict(zip(ranks, parts, strict=False))
    g, s = found[ranks[0]]
    gains -= sum(gained for gained, _ in parts)
    draws -= sum(drawn for _, drawn in parts)
    return {**found, ranks[0]: (g + gains, s + draws)}
