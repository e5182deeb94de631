"""Random subsets of records, drawn from counts alone, exactly.

To choose a random half of the records, no record need be touched: how many of each letter it
holds has a known law, and that law is drawn here from fair bits, without a float.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dproo.core.counts import Counts, Runs
from dproo.core.randomness import RandomSource

_CHUNK = 1 << 23


def binomial(trials: int, chance: Fraction, source: RandomSource) -> int:
    """Return how many of ``trials`` independent trials succeed, each with this chance.

    Every trial compares a uniform number with ``chance``, bit by bit, and is decided at the
    first bit that differs; all undecided trials get their next bit together, so the expected
    cost is two random bits a trial.

    Guarantee: exactly binomial for every rational ``chance``, if every bit is fair.
    """
    over, under = chance.numerator, chance.denominator
    if over == under:
        return trials
    successes = 0
    while trials and over:
        ones = _count_ones(trials, source)
        over *= 2
        if over >= under:
            successes += trials - ones
            trials, over = ones, over - under
        else:
            trials -= ones
    return successes


def _count_ones(bits: int, source: RandomSource) -> int:
    """Return how many of so many random bits are one, a bounded chunk at a time."""
    whole, part = divmod(bits, _CHUNK)
    return source.bits(part).bit_count() + sum(
        source.bits(_CHUNK).bit_count() for _ in range(whole)
    )


def subset(counts: Counts, size: int, source: RandomSource) -> tuple[Counts, Counts]:
    """Return the counts of a uniform random subset of ``size`` records, and of the others.

    Every record is first taken with chance ``size / n``; then records taken in excess are
    put back, or missing ones taken, one uniform record at a time. Every subset of that size
    is as likely as any other, because each step treats all records alike.

    >>> part, rest = subset(Counts.of([3, 0, 5]), 4, RandomSource())
    >>> part.n, rest.n, [a + b for a, b in zip(part, rest)]
    (4, 4, [3, 0, 5])
    """
    chance = Fraction(size, counts.n) if counts.n else Fraction(0)
    seen = seen_letters(counts)
    taken = [binomial(count, chance, source) for _, count in seen]
    left = [count - inside for (_, count), inside in zip(seen, taken, strict=True)]
    excess = sum(taken) - size
    giving, getting = (taken, left) if excess > 0 else (left, taken)
    for place in without_replacement(Runs((one, 1) for one in giving), abs(excess), source):
        giving[place] -= 1
        getting[place] += 1
    letters = [letter for letter, _ in seen]
    return (
        Counts.sparse(dict(zip(letters, taken, strict=True)), k=counts.k),
        Counts.sparse(dict(zip(letters, left, strict=True)), k=counts.k),
    )


def blocks(counts: Counts, parts: int, source: RandomSource) -> list[Counts]:
    """Return the counts of ``parts`` disjoint random blocks, as equal in size as can be.

    >>> [block.n for block in blocks(Counts.of([4, 7]), 3, RandomSource())]
    [4, 4, 3]
    """
    if parts == 1:
        return [counts]
    half = (parts + 1) // 2
    each, more = divmod(counts.n, parts)
    left, right = subset(counts, each * half + min(more, half), source)
    return blocks(left, half, source) + blocks(right, parts - half, source)


def scatter(counts: Counts, parts: int, source: RandomSource) -> list[Counts]:
    """Return the counts of ``parts`` blocks after every record has chosen its own at random.

    The sizes are random too, so that a record more or less changes one block and no other.
    """
    if parts == 1:
        return [counts]
    half = (parts + 1) // 2
    seen = seen_letters(counts)
    taken = [binomial(count, Fraction(half, parts), source) for _, count in seen]
    left = {letter: inside for (letter, _), inside in zip(seen, taken, strict=True)}
    right = {letter: count - left[letter] for letter, count in seen}
    return scatter(Counts.sparse(left, k=counts.k), half, source) + scatter(
        Counts.sparse(right, k=counts.k), parts - half, source
    )


def seen_letters(counts: Counts) -> Sequence[tuple[int, int]]:
    """Return the letters that have records, with their counts, in the order of the letters."""
    seen, first = [], 0
    for count, letters in counts.runs:
        if count:
            seen += [(letter, count) for letter in range(first, first + letters)]
        first += letters
    return seen


def without_replacement(row: Runs, size: int, source: RandomSource) -> list[int]:
    """Return the letters of ``size`` uniform records of a row, none of them taken twice.

    >>> sorted(without_replacement(Runs([(1, 2), (0, 5), (2, 1)]), 4, RandomSource()))
    [0, 1, 7, 7]
    """
    units: dict[int, int] = {}
    letters = []
    for i in range(size):
        j = i + source.below(row.total - i)
        letters.append(row.letter_at(units.get(j, j)))
        units[j] = units.get(i, i)
    return letters
