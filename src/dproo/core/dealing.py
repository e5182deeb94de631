"""Records dealt out at random to blocks, one by one; for what fits into memory.

:mod:`dproo.core.splitting` does the same from counts alone, whatever their size; where letters
and blocks are many and records are not, this is far faster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

from dproo.core.randomness import RandomSource
from dproo.core.splitting import binomial

_RECORDS_MAX = 1 << 22
_PER_CELL = 20

_BITS = 16
_LEAST_SHARE = 4
"""A letter with a smaller share of the values of so many bits is not drawn."""

_OPEN = -1
"""No letter: the place is still to be filled."""

_TRIES = 8
"""Of so many places one is tried, before those of letters drawn too often are looked up."""

Seen = Sequence[tuple[int, int]]
"""Letters and their counts, in the order of the letters."""

Block = dict[int, int]
"""The count of each letter that a block holds."""


def is_worth_it(seen: Seen, parts: int) -> bool:
    """Return whether to deal out records one by one is faster than to split their counts."""
    n = sum(count for _, count in seen)
    return n <= min(_RECORDS_MAX, _PER_CELL * len(seen) * parts)


def deal(seen: Seen, parts: int, source: RandomSource, *, evenly: bool) -> list[Block]:
    """Return the counts of ``parts`` disjoint random blocks.

    Every place in a block draws a letter, about as likely as it has records. Uniform places
    of letters that were drawn too often are opened again, and all open places are filled with
    the records that are left, in random order. All places are treated alike, so every way to
    fill them is as likely as any other, however a letter is drawn.

    Args:
        seen: letters and their counts, in the order of the letters.
        parts: how many blocks.
        source: of randomness.
        evenly: whether all blocks get the same number of records, the first ones one more;
            if not, a record more or less changes one block and no other.

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
        sizes = _chosen(n, parts, source)
    return [Counter(places[start:end]) for start, end in pairwise(accumulate(sizes, initial=0))]


def _drawn(seen: Seen, n: int, source: RandomSource) -> list[int]:
    """Return an independent letter for each place, about as likely as it has records, or none."""
    letters = [_OPEN] * (1 << _BITS)
    end = 0
    for letter, count in seen:
        share = (count << _BITS) // n - 1
        if share >= _LEAST_SHARE:
            letters[end : end + share] = [letter] * share
            end += share
    return list(map(letters.__getitem__, source.words(_BITS, n)))


def _opened(places: list[int], seen: Seen, source: RandomSource) -> list[int]:
    """Open uniform places of letters that are there too often; return what is missing then."""
    found = Counter(places)
    excess = {letter: found[letter] - count for letter, count in seen} | {_OPEN: 0}
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
    """Fill the open places with what is missing, in random order."""
    _shuffle(missing, source)
    place = -1
    for letter in missing:
        place = places.index(_OPEN, place + 1)
        places[place] = letter


def _shuffle(letters: list[int], source: RandomSource) -> None:
    """Bring letters into random order: the last one changes places with any of all, and so on."""
    last = len(letters) - 1
    while last > 0:
        for other in source.words(last.bit_length(), last):
            if other <= last:
                letters[last], letters[other] = letters[other], letters[last]
                last -= 1


def _uniform(below: int, size: int, source: RandomSource) -> list[int]:
    """Return so many uniform integers below a bound, by rejection."""
    kept: list[int] = []
    while missing := size - len(kept):
        words = source.words((below - 1).bit_length(), missing)
        kept += [word for word in words if word < below]
    return kept


def _chosen(n: int, parts: int, source: RandomSource) -> list[int]:
    """Return how many of ``n`` records choose each part, every record by itself."""
    if parts == 1 or n == 0:
        return [n] + [0] * (parts - 1)
    half = (parts + 1) // 2
    left = binomial(n, Fraction(half, parts), source)
    return _chosen(left, half, source) + _chosen(n - left, parts - half, source)
