"""Tables that weigh a letter by its count alone, and the exact search for what they leak.

All searches return the largest probability ratio over *all* neighbouring datasets, with a
transition that attains it. They assume only that the table is positive, rising and convex, with
no step larger than the slope.

Proof: docs/proofs/letter_specific.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from operator import gt

from dproo.core.counts import Counts
from dproo.mechanisms.base import Transition


@dataclass(frozen=True)
class LetterTable:
    """Integer weights by count: a convex table, then a straight line.

    Attributes:
        values: the weights of the counts ``0, 1, ..., len(values) - 1``.
        slope: what each further record adds; no step of ``values`` is larger.
    """

    values: tuple[int, ...]
    slope: int

    def __post_init__(self) -> None:
        """Check, on the integers themselves, everything that the searches assume."""
        steps = [0, *(after - before for before, after in pairwise(self.values)), self.slope]
        if self.values[0] <= 0 or any(map(gt, steps, steps[1:])):
            raise ValueError("values must be positive, rising and convex, up to the slope.")

    @property
    def last(self) -> int:
        """The count from which the table is a straight line."""
        return len(self.values) - 1

    def __call__(self, count: int) -> int:
        """Return the weight of a letter with this count."""
        values = self.values
        if count < len(values):
            return values[count]
        return values[-1] + (count - self.last) * self.slope

    def step(self, count: int) -> int:
        """Return what one more record adds at this count."""
        return self(count + 1) - self(count)

    def least(self, records: int, letters: int) -> int:
        """Return the smallest total weight of these records on these letters: evenly spread."""
        return sum(self(count) * share for count, share in even(records, letters))

    def most(self, records: int, letters: int) -> int:
        """Return the largest total weight of these records on these letters: all on one."""
        return sum(self(count) * share for count, share in _crowded(records, letters))

    def gains_at_most(self, x: int, growth: tuple[int, int], *, total: int) -> bool:
        """Whether no record that moves to a letter with ``x`` raises it by more than ``growth``.

        Whichever letter loses it, it loses at most the slope, out of at least ``total``. The
        test is sufficient, not necessary.
        """
        over, under = growth
        weight, gained = self(x), self(x + 1)
        fallen = total - self.slope + gained - weight
        return gained * total * under <= over * weight * fallen


def even(records: int, letters: int) -> list[tuple[int, int]]:
    """Return runs of counts: the records spread over the letters as evenly as possible."""
    if not letters:
        return []
    each, more = divmod(records, letters)
    return [(each, letters - more), (each + 1, more)] if more else [(each, letters)]


def _crowded(records: int, letters: int) -> list[tuple[int, int]]:
    return [(records, 1), (0, letters - 1)] if letters else []


def worst_replacement(
    table: LetterTable, n: int, k: int, *, is_n_public: bool = True
) -> tuple[Fraction, Transition]:
    """Return the largest ratio when one of ``n`` records changes its letter, or of at most ``n``.

    The letter to watch is the one that gains, from a count ``x``: in a rising table no other
    letter grows by more. Its ratio depends on the count ``b`` of the letter that loses and on
    the total of the others. Ranges of ``b`` are split as long as their bound, the largest
    loss in the range together with the best total, still beats the worst ratio so far. If
    ``n`` is public, the least total of all datasets rules out most ``x`` at once.
    """
    over, under = 0, 1
    smallest = table.least(n, k) if is_n_public else 0
    for x in range(n):
        if smallest and x < table.last and table.gains_at_most(x, (over, under), total=smallest):
            continue
        weight, step = table(x), table.step(x)
        if x > table.last and (weight + step) * under <= over * weight:
            break  # from here on the table's own step bounds the ratio, and it falls
        ranges = [
            _losing_counts(table, n, k, x) if is_n_public else (1, min(n - x, table.last + 1))
        ]
        while ranges:
            low, high = ranges.pop()
            gap = table.step(high - 1) - step
            if gap > 0:
                fewest = n - x - low if is_n_public else 0
                total = weight + table(low) + table.least(fewest, k - 2)
            else:
                total = weight + max(table(b) + table.most(n - x - b, k - 2) for b in (low, high))
            if (weight + step) * total * under <= over * weight * (total - gap):
                continue
            if low < high:
                middle = (low + high) // 2
                ranges += [(low, middle), (middle + 1, high)]
            else:
                over, under = (weight + step) * total, weight * (total - gap)
                others = even(fewest, k - 2) if gap > 0 else _crowded(n - x - low, k - 2)
                worst = x, low, others
    x, b, others = worst
    before = Counts([(x, 1), (b, 1), *others])
    after = Counts([(x + 1, 1), (b - 1, 1), *others])
    return Fraction(over, under), Transition(before, after)


def _losing_counts(table: LetterTable, n: int, k: int, x: int) -> tuple[int, int]:
    """Return the range of counts that the losing letter may have in the worst transition.

    Past the table all steps are equal. If some count loses more than ``x`` gains, a small total
    is worst, and it grows with the losing count from the even share on: less than that share
    is never worse.
    """
    reach, even = n - x, (n - x) // (k - 1)
    if k == 2:
        return reach, reach
    high = min(reach, table.last + 1)
    if table.step(reach - 1) > table.step(x):
        low = max(1, even)
        return low, max(low, high)
    return 1, high


def worst_addition(table: LetterTable, n: int, k: int) -> tuple[Fraction, Transition]:
    """Return the largest ratio when a record is added or removed, up to ``n`` records.

    A letter that goes from ``x`` to ``x + 1`` grows most where the total is largest, with all
    other records on one letter; when it goes back, every other letter grows, and most where
    there are no other records. From the end of the table on, both fall with ``x``.
    """
    over, under = 0, 1
    for x in range(min(n, table.last + 1)):
        weight, step = table(x), table.step(x)
        crowd = n - 1 - x
        total = weight + table.most(crowd, k - 1)
        if (weight + step) * total * under > over * weight * (total + step):
            over, under = (weight + step) * total, weight * (total + step)
            worst = [(x, 1), (crowd, 1), (0, k - 2)], [(x + 1, 1), (crowd, 1), (0, k - 2)], 0
        total = weight + table.most(0, k - 1)
        if (total + step) * under > over * total:
            over, under = total + step, total
            worst = [(x + 1, 1), (0, k - 1)], [(x, 1), (0, k - 1)], 1
    before, after, letter = worst
    return Fraction(over, under), Transition(Counts(before), Counts(after), (letter,))


def worst_change(table: LetterTable, n: int, k: int) -> tuple[Fraction, Transition]:
    """Return the largest ratio when a record is replaced, added or removed, up to ``n`` records.

    If the total falls, a replacement is worse the smaller the rest is, so the worst has no rest.
    If it does not fall, the worst rest is as large as possible, as when ``n`` is public, and
    the ratio falls with ``x`` from the end of the table on.
    """
    changes = worst_addition(table, n, k), worst_replacement(table, n, k, is_n_public=False)
    return max(changes, key=lambda change: change[0])
