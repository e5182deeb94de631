"""Records dealt out at random to blocks, one label each; for what fits into memory.

:mod:`dproo.core.splitting` does the same from counts alone, whatever their size; where letters
and blocks are many and records are not, this is far faster.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence

from dproo.core.randomness import RandomSource

_RECORDS_MAX = 1 << 22
_PER_CELL = 20

Block = dict[int, int]
"""The count of each letter that a block holds, in the order of the letters."""


def is_worth_it(seen: Sequence[tuple[int, int]], parts: int) -> bool:
    """Return whether to deal out records one by one is faster than to split their counts."""
    n = sum(count for _, count in seen)
    return n <= min(_RECORDS_MAX, _PER_CELL * len(seen) * parts)


def deal(
    seen: Sequence[tuple[int, int]], parts: int, source: RandomSource, *, evenly: bool
) -> list[Block]:
    """Return the counts of ``parts`` disjoint random blocks.

    Every record gets a uniform label. To make the blocks as equal in size as can be, uniform
    records of each block that is too large then fill up those that are too small. All records
    are treated alike, so every assignment with these sizes is as likely as any other.

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
    labels = _labels(n, parts, source)
    if evenly:
        _make_even(labels, parts, source)
    blocks: list[Block] = [{} for _ in range(parts)]
    start = 0
    for letter, count in seen:
        for block, inside in Counter(labels[start : start + count]).items():
            blocks[block][letter] = inside
        start += count
    return blocks


def _labels(size: int, parts: int, source: RandomSource) -> array[int]:
    """Return so many uniform integers below ``parts``, by rejection."""
    code = "H" if parts <= 1 << 16 else "I"
    kept = array(code)
    spare = 8 * kept.itemsize - (parts - 1).bit_length()
    while missing := size - len(kept):
        drawn = array(code, source.bytes(kept.itemsize * missing))
        kept.extend(label for cell in drawn if (label := cell >> spare) < parts)
    return kept


def _make_even(labels: array[int], parts: int, source: RandomSource) -> None:
    """Move uniform records from blocks that are too large to those that are too small."""
    members: list[list[int]] = [[] for _ in range(parts)]
    joins = [records.append for records in members]
    for record, join in enumerate(map(joins.__getitem__, labels)):
        join(record)
    each, more = divmod(len(labels), parts)
    excess = [len(members[block]) - each - (block < more) for block in range(parts)]
    free = (block for block in range(parts) for _ in range(-excess[block]))
    for records, surplus in zip(members, excess, strict=True):
        for record in _some(records, surplus, source):
            labels[record] = next(free)


def _some(records: list[int], size: int, source: RandomSource) -> Iterator[int]:
    """Yield so many of the records, none twice, in a random order."""
    for i in range(size):
        j = i + source.below(len(records) - i)
        records[i], records[j] = records[j], records[i]
        yield records[i]
