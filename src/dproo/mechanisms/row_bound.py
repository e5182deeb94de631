r"""What one record does to a whole row, at most: steps on one path share their records.

The product of the steps' ratios bounds it, but a row need not come near that product: where a
letter gains most it has few records, and then the columns that depend on it see few. A column
*hangs on* an earlier family if that whole family is among its parents; it then sees no more
records than the drawn letter of that family has.

Ratios are integers in units of ``2^-BITS``, rounded up.

Proof: docs/proofs/rows.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property, reduce
from itertools import accumulate

from dproo.core.exact import BITS, ceil_div
from dproo.mechanisms.base import ADD_REMOVE, REPLACE
from dproo.mechanisms.letter_specific import LetterSpecificRevealOrObscure
from dproo.mechanisms.network import Family, Network

_ONE = 1 << BITS
_FINENESS = 8
_REACH = 16
"""From so many times the end of its table on, a letter gains next to nothing."""

Bound = Callable[[int], int]


def joint_ratio(network: Network, samplers: Sequence[LetterSpecificRevealOrObscure]) -> Fraction:
    """Return a bound on the factor by which one record changes the probability of any row.

    Args:
        network: the columns and their parents.
        samplers: the certified sampler of each column, in the order of drawing.
    """
    ranges = _ranges(samplers)
    steps = [_Step(sampler, ranges) for sampler in samplers]
    forks: list[_Fork] = []
    for place, step in enumerate(steps):
        on = [steps[i] for i in _hangs_on(network.families, place)]
        same = next((fork for fork in forks if fork.roots == on), None)
        alone = [fork for fork in forks if len(fork.roots) == 1 and fork.roots[0] in on]
        if not on:
            forks.append(_Fork([step], []))
        elif same:
            same.hanging.append(step)
        elif len(alone) == len(on):  # what hung on each of them alone still does
            for fork in alone:
                fork.roots[0].hanging.extend(fork.hanging)
                forks.remove(fork)
            forks.append(_Fork(on, [step]))
        else:
            on[-1].hanging.append(step)
    n = samplers[0].n
    if samplers[0].neighbours == ADD_REMOVE:
        ways = [_product(fork.gained(n) for fork in forks)]
        ways.append(_product(fork.lost(n) for fork in forks))
    else:
        ways = [_product(fork.changed(n) for fork in forks)]
    return Fraction(max(ways), _ONE)


def _hangs_on(families: Sequence[Family], place: int) -> list[int]:
    """Return the largest earlier families that are among the parents of a step."""
    parents = {*families[place].parents}
    within = [i for i in range(place) if parents.issuperset(families[i].columns)]
    return [
        i
        for i in within
        if not any({*families[i].columns} < {*families[other].columns} for other in within)
    ]


@dataclass(eq=False)
class _Step:
    """A step, and the steps that hang on it alone.

    Each bound is a function of the number of records that the step sees at most, and is for
    all that hang on it too.
    """

    sampler: LetterSpecificRevealOrObscure
    ranges: list[tuple[int, int | None]]
    hanging: list[_Step] = field(default_factory=list)

    @cached_property
    def gained(self) -> Bound:
        """One record more, with the drawn letter; another letter would lower the probability."""
        return cache(self._gained)

    @cached_property
    def lost(self) -> Bound:
        """One record less, with another letter; or with the drawn one, which lowers it here."""
        return cache(self._lost)

    @cached_property
    def changed(self) -> Bound:
        """One record replaced, or one more, or one less."""
        return cache(self._changed)

    def _gained(self, records: int) -> int:
        return max(self.gains(records))

    def _lost(self, records: int) -> int:
        return max(self.missed(records), self.lost_below(records))

    def _changed(self, records: int) -> int:
        below = self.changed_below(records)
        return max(below, self.lost(records), *self.exchanges(records))

    def gains(self, records: int) -> list[int]:
        """Return what one record more does where the letter has each range of counts."""
        table, k = self.sampler.table, self.sampler.k
        found = []
        for low, high, growth in self._within(records):
            most = table(high - 1) + table.most(records - low - 1, k - 1)
            gain = ceil_div(growth * most, most + table.step(low))
            found.append(_times(min(gain, self._whole), self._gained_below(high)))
        return found

    def exchanges(self, records: int) -> list[int]:
        """Return the same where another letter loses the record.

        The total rises by what the drawn letter gains more than the other loses, or falls by
        what it gains less; of what all letters weigh at most, or at least.
        """
        sampler, table = self.sampler, self.sampler.table
        found = []
        for low, high, growth in self._within(records):
            rise = table.step(low) - table.step(records - low - 1)
            if rise >= 0:
                total = table(high - 1) + table.most(records - low, sampler.k - 1)
            else:
                others = 1 if sampler.neighbours != REPLACE else records - high + 1
                total = table(low) + table.least(others, sampler.k - 1)
            whole = self._whole
            gain = ceil_div(growth * total, total + rise) if total + rise > 0 else whole
            found.append(_times(min(gain, whole), self._gained_below(high)))
        return found

    def missed(self, records: int) -> int:
        """Return what one record less of another letter does to this step alone."""
        table = self.sampler.table
        others = (self.sampler.k - 1) * table(0)
        return max(
            min(self._whole, _ONE + _over(table.step(high - 1), table(low) + others))
            for low, high, _ in self._within(records)
        )

    def _gained_below(self, records: int) -> int:
        return _product(step.gained(records) for step in self.hanging)

    def lost_below(self, records: int) -> int:
        """Return what one record less does to all that hang on this step."""
        return _product(step.lost(records) for step in self.hanging)

    def changed_below(self, records: int) -> int:
        """Return what a record that is replaced does to all that hang on this step."""
        return _product(step.changed(records) for step in self.hanging)

    @cached_property
    def _whole(self) -> int:
        """The certified ratio of the step alone."""
        ratio = self.sampler.largest_ratio
        return _over(ratio.numerator, ratio.denominator)

    def _within(self, records: int) -> Iterator[tuple[int, int, int]]:
        """Yield the ranges of counts that a letter can have, with the growth of the weight."""
        for (low, high), growth in zip(self.ranges, self._growths, strict=True):
            if low >= records:
                return
            yield low, min(high or records, records), growth

    @cached_property
    def _growths(self) -> list[int]:
        """The largest growth of a weight in each range; past the table it falls."""
        table = self.sampler.table
        return [
            max(
                _over(table(count + 1), table(count))
                for count in range(low, max(low, min((high or low) - 1, table.last)) + 1)
            )
            for low, high in self.ranges
        ]


@dataclass(eq=False)
class _Fork:
    """Steps that hang on none, and the steps that hang on all of them together."""

    roots: list[_Step]
    hanging: list[_Step]

    def gained(self, n: int) -> int:
        """One record more."""
        return self._with_new_letters([root.gains(n) for root in self.roots], n)

    def lost(self, n: int) -> int:
        """One record less: some root misses it, or all have it and what hangs on them misses."""
        missed = _product(max(root.missed(n), root.lost_below(n)) for root in self.roots)
        below = _product(root.lost_below(n) for root in self.roots)
        return max(missed, _times(below, _product(step.lost(n) for step in self.hanging)))

    def changed(self, n: int) -> int:
        """One record replaced: some root sees another letter, or none does, or some miss it."""
        shared = [root.changed_below(n) for root in self.roots]
        exchanges = [
            [max(gain, same) for gain in root.exchanges(n)]
            for root, same in zip(self.roots, shared, strict=True)
        ]
        return max(
            self._with_new_letters(exchanges, n),
            _times(_product(shared), _product(step.changed(n) for step in self.hanging)),
            _product(
                max(root.lost(n), *gains) for root, gains in zip(self.roots, exchanges, strict=True)
            ),
        )

    def _with_new_letters(self, gains: list[list[int]], n: int) -> int:
        """Return the most that roots gain, and what hangs on them sees of the rarest letter."""
        from_there_on = [list(accumulate(reversed(found), max))[::-1] for found in gains]
        together = map(_product, zip(*from_there_on, strict=True))
        return max(
            _times(gain, _product(step.gained(min(high or n, n)) for step in self.hanging))
            for gain, (_, high) in zip(together, self.roots[0].ranges, strict=False)
        )


def _ranges(samplers: Sequence[LetterSpecificRevealOrObscure]) -> list[tuple[int, int | None]]:
    """Return ranges of counts, each without its low end; the last is open."""
    found: list[tuple[int, int | None]] = []
    low, end = 0, _REACH * max(sampler.table.last + 1 for sampler in samplers)
    while low < end:
        high = low + 1 + low // _FINENESS
        found.append((low, high))
        low = high
    return [*found, (low, None)]


def _over(numerator: int, denominator: int) -> int:
    return ceil_div(numerator << BITS, denominator)


def _times(a: int, b: int) -> int:
    return ceil_div(a * b, _ONE)


def _product(ratios: Iterable[int]) -> int:
    return reduce(_times, ratios, _ONE)
