"""Random subsets and blocks of records, drawn exactly and without a float.

Choosing a random half of the records touches no record: the number it holds of each letter
follows a known law, which is drawn from fair bits. Where letters and blocks are many and records
are few, dealing out the records one by one is far faster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from math import ceil, isqrt

from dproo.core.counts import Counts, Runs
from dproo.core.draw import RandomSource
from dproo.core.numbers import ceil_div

_CHUNK = 1 << 23

DEALT_MAX = 1 << 34
"""The most records that are dealt at random, each with a few random bits: half a minute a split."""


def binomial(trials: int, chance: Fraction, source: RandomSource) -> int:
    """Return how many of ``trials`` independent trials succeed, each with probability ``chance``.

    Every trial compares a uniform number with ``chance``, bit by bit, and is decided at the
    first bit that differs; all undecided trials get their next bit together, so the expected
    cost is two random bits per trial.

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
    """Return how many of ``bits`` random bits are one, drawn in bounded chunks."""
    whole, part = divmod(bits, _CHUNK)
    return source.bits(part).bit_count() + sum(
        source.bits(_CHUNK).bit_count() for _ in range(whole)
    )


def subset(counts: Counts, size: int, source: RandomSource) -> tuple[Counts, Counts]:
    """Return the counts of a uniform random subset of ``size`` records, and of the others.

    Every record is first taken with probability ``size / n``; then surplus records are put
    back, or missing ones taken, one uniform record at a time. All subsets of this size are
    equally likely, because each step treats all records alike.

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
    """Return the counts of ``parts`` disjoint random blocks, as equal in size as possible.

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

    The sizes are random too, so adding or removing a record changes only one block.
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


_SMALL = 1 << 64
_UNIT = _SMALL << 128
"""The weight of the likeliest size; weights below ``_SMALL`` are not computed."""

_FINE = 1 << 24
"""Up to this many records in a block, the law of its size is summed."""

_FAR = 14
"""A block lacks this many roots of its mean size with a probability below ``_SMALL/_UNIT``."""

_PLACES = 1 << 10
"""At about this many sizes, a function of the size is computed."""


def mean_in_block(falling: Callable[[int], Fraction], n: int, parts: int) -> Fraction:
    """Return the mean of a function of the size of a block of :func:`scatter`, or barely more.

    The size is binomial. Between the places where the function is computed it is replaced by
    its value at the place before, and ``E = last + sum of (value - next) P(size < next place)``
    takes upper bounds on these probabilities. Everything is rounded up.

    Args:
        falling: a function between 0 and 1 that never rises.
        n: the number of records.
        parts: the number of blocks, at least 2.

    Proof: docs/proofs/blocks.md

    >>> float(mean_in_block(lambda size: Fraction(1, 1 + size), 3, 2))  # (1 + 3/2 + 3/3 + 1/4)/8
    0.46875
    """
    mean = n // parts
    if mean > _FINE:
        unlikely = Fraction(_SMALL, _UNIT)
        return falling(mean - _FAR * (isqrt(mean) + 1)) + unlikely
    first, below, total = _sizes(n, parts)
    step = ceil_div(len(below), _PLACES)
    places = [0, *range(max(1, first), first + len(below), step)]
    values = [ceil(falling(place) * _UNIT) for place in places]
    result = values[-1] * total
    for place, (value, following) in zip(places[1:], pairwise(values), strict=True):
        result += (value - following) * min(total, below[place - first])
    return Fraction(result, total * _UNIT)


def _sizes(n: int, parts: int) -> tuple[int, list[int], int]:
    """Return bounds on the weights of the sizes of a block.

    Returns:
        The first size; for it and each size after it, an upper bound on the weight of all smaller
        sizes; and a lower bound on the weight of all sizes, to divide by.
    """
    mean = n // parts
    smaller = list(_weights((size * (parts - 1), n - size + 1) for size in range(mean, 0, -1)))
    larger = list(_weights((n - size, (size + 1) * (parts - 1)) for size in range(mean, n)))
    weights = [*reversed(smaller), (_UNIT, _UNIT), *larger]
    first = mean - len(smaller)
    # Weights fall on both sides of the mean, so none before the first is larger than it.
    below = accumulate((upper for _, upper in weights), initial=first * weights[0][1])
    return first, list(below)[:-1], sum(lower for lower, _ in weights)


def _weights(ratios: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield bounds on ever smaller weights, from ``_UNIT`` on, down to ``_SMALL``."""
    lower = upper = _UNIT
    for over, under in ratios:
        if upper < _SMALL:
            return
        lower, upper = lower * over // under, ceil_div(upper * over, under)
        yield lower, upper


def seen_letters(counts: Counts) -> Sequence[tuple[int, int]]:
    """Return the letters that have records, with their counts, in the order of the letters."""
    seen, first = [], 0
    for count, letters in counts.runs:
        if count:
            seen += [(letter, count) for letter in range(first, first + letters)]
        first += letters
    return seen


def without_replacement(row: Runs, size: int, source: RandomSource) -> list[int]:
    """Return the letters of ``size`` uniform records of a row, drawn without replacement.

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


_RECORDS_MAX = 1 << 22
_PER_CELL = 20

_BITS = 16
_LEAST_SHARE = 4
"""A letter with a smaller share of the ``2^_BITS`` values is not drawn."""

_OPEN = -1
"""No letter: the place is still open."""

_TRIES = 8
"""One place in this many is tried before the places of letters drawn too often are listed."""

Seen = Sequence[tuple[int, int]]
"""Letters and their counts, in the order of the letters."""

Block = dict[int, int]
"""The count of each letter that a block holds."""


def is_worth_it(seen: Seen, parts: int) -> bool:
    """Return whether dealing out records one by one is faster than splitting their counts."""
    n = sum(count for _, count in seen)
    return n <= min(_RECORDS_MAX, _PER_CELL * len(seen) * parts)


def deal(seen: Seen, parts: int, source: RandomSource, *, evenly: bool) -> list[Block]:
    """Return the counts of ``parts`` disjoint random blocks.

    Every place in a block draws a letter, roughly in proportion to its records. Of letters
    drawn too often, uniform places are opened again, and all open places are filled with the
    remaining records in random order. All places are treated alike, so all ways to fill them
    are equally likely, however a letter is drawn.

    Args:
        seen: letters and their counts, in the order of the letters.
        parts: the number of blocks.
        source: the source of randomness.
        evenly: whether all blocks get the same number of records, the first ones one more;
            if not, adding or removing a record changes only one block.

    >>> blocks = deal([(3, 4), (7, 6)], 3, RandomSource(), evenly=True)
    >>> [sum(block.values()) for block in blocks]
    [4, 3, 3]
    """
    n = sum(count for _, count in seen)
    places = _drawn(seen, n, source)
    _fill(places, _opened(places, seen, source), source)
    each, more = divmod(n, parts)
    sizes = [each + 1] * more + [each] * (parts - more)
    if not evenly:
        sizes = [block.n for block in scatter(Counts([(n, 1)]), parts, source)]
    return [Counter(places[start:end]) for start, end in pairwise(accumulate(sizes, initial=0))]


def _drawn(seen: Seen, n: int, source: RandomSource) -> list[int]:
    """Return an independent letter for each place, roughly in proportion to its records."""
    letters = [_OPEN] * (1 << _BITS)
    end = 0
    for letter, count in seen:
        share = (count << _BITS) // n - 1
        if share >= _LEAST_SHARE:
            letters[end : end + share] = [letter] * share
            end += share
    return list(map(letters.__getitem__, source.words(_BITS, n)))


def _opened(places: list[int], seen: Seen, source: RandomSource) -> list[int]:
    """Open uniform places of letters drawn too often; return the letters now missing."""
    drawn = Counter(places)
    excess = {letter: drawn[letter] - count for letter, count in seen} | {_OPEN: 0}
    left = sum(more for more in excess.values() if more > 0)
    tried: Sequence[int] = range(len(places))
    while left:
        for i in _uniform(len(tried), len(tried) // _TRIES + 1, source):
            letter = places[tried[i]]
            if excess[letter] > 0:
                excess[letter] -= 1
                places[tried[i]] = _OPEN
                left -= 1
        if left:
            tried = [place for place in tried if excess[places[place]] > 0]
    return [letter for letter, _ in seen for _ in range(-excess[letter])]


def _fill(places: list[int], missing: list[int], source: RandomSource) -> None:
    """Fill the open places with the missing letters, in random order."""
    _shuffle(missing, source)
    place = -1
    for letter in missing:
        place = places.index(_OPEN, place + 1)
        places[place] = letter


def _shuffle(letters: list[int], source: RandomSource) -> None:
    """Shuffle letters in place (Fisher and Yates), from the last one down."""
    last = len(letters) - 1
    while last > 0:
        for other in source.words(last.bit_length(), last):
            if other <= last:
                letters[last], letters[other] = letters[other], letters[last]
                last -= 1


def _uniform(below: int, size: int, source: RandomSource) -> list[int]:
    """Return ``size`` uniform integers below a bound, by rejection."""
    drawn: list[int] = []
    while missing := size - len(drawn):
        words = source.words((below - 1).bit_length(), missing)
        drawn += [word for word in words if word < below]
    return drawn
