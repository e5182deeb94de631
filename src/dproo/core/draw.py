"""One exact draw, or many, from a row of integer weights.

A draw is one uniform integer below the total of the weights, and the letter that holds it.
"""

from __future__ import annotations

from array import array

from dproo.core.counts import Runs
from dproo.core.randomness import RandomSource

_CELL_BITS = 16
_FEW = 1 << 12


def pick(weights: Runs, source: RandomSource) -> int:
    """Return one letter, with probability exactly its weight over the total.

    >>> pick(Runs([(0, 3), (1, 1)]), RandomSource())
    3
    """
    return weights.letter_at(source.below(weights.total))


def pick_each(weights: Runs, width: int, source: RandomSource) -> list[int]:
    """Return a letter of each ``width`` consecutive ones, as :func:`pick` would draw it.

    An incomplete rest is left out. The units of one part are consecutive in the whole row.

    >>> pick_each(Runs([(0, 3), (1, 1), (2, 1), (0, 3), (9, 3)]), 4, RandomSource())
    [3, 0]
    """
    drawn = []
    start = 0
    for first in range(0, weights.k - width + 1, width):
        end = weights.units_before(first + width)
        drawn.append(weights.letter_at(start + source.below(end - start)) - first)
        start = end
    return drawn


def pick_many(weights: Runs, size: int, source: RandomSource) -> list[int]:
    """Return ``size`` independent letters, each as :func:`pick` would draw it.

    A draw is an integer of ``width`` random bits, rejected at or above the largest multiple
    of the total; of an accepted one the quotient by ``copies`` is a uniform unit. Its first
    16 bits, its *cell*, nearly always decide the letter, so they are drawn first and looked
    up; only where a cell holds more than one letter are the other bits drawn too.
    """
    if size < _FEW:
        return [pick(weights, source) for _ in range(size)]
    width = weights.total.bit_length() + _CELL_BITS
    copies = (1 << width) // weights.total
    rest = width - _CELL_BITS
    letters = _letters_of_cells(weights, copies, rest)
    cells = array("H", source.bytes(2 * size))
    drawn = [letters[cell] for cell in cells]
    undecided = [i for i, letter in enumerate(drawn) if letter < 0]
    for i, others in zip(undecided, source.bits_of_each(rest, len(undecided)), strict=True):
        unit = (cells[i] << rest | others) // copies
        drawn[i] = weights.letter_at(unit) if unit < weights.total else pick(weights, source)
    return drawn


def _letters_of_cells(weights: Runs, copies: int, rest: int) -> list[int]:
    """Return, for each cell, the only letter it holds, or -1 where it holds several."""
    cell = 1 << rest
    letters = [-1] * (1 << _CELL_BITS)
    start = first = 0
    for weight, length in weights.runs:
        share = weight * copies
        if share >= cell:
            for letter in range(first, first + length):
                end = start + share
                inner, last = -(-start // cell), end // cell
                letters[inner:last] = [letter] * (last - inner)
                start = end
        else:
            start += share * length
        first += length
    return letters
