"""Randomness: uniform integers from the operating system, and exact draws from integer weights.

This is the only module that draws. A draw is one uniform integer below the total of the weights,
mapped to the letter that holds it.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Sequence
from fractions import Fraction

from dproo.core.counts import Runs


class RandomSource:
    """Uniform integers, by rejection, from a supplier of random bytes.

    It has no state and no seed, so a fork or a crash can never repeat a draw. The supplier is
    an argument so that a test can walk every branch of a draw; a release always uses the
    operating system's.

    Guarantee: if every byte is uniform and independent, so is every integer.

    >>> 0 <= RandomSource().below(6) < 6
    True
    """

    def __init__(self, entropy: Callable[[int], bytes] = os.urandom) -> None:
        self.bytes = entropy

    def bits(self, count: int) -> int:
        """Return ``count`` random bits as an integer below ``2^count``."""
        length = (count + 7) // 8
        return int.from_bytes(self.bytes(length), "big") >> (8 * length - count)

    def bits_of_each(self, count: int, size: int) -> list[int]:
        """Return ``size`` integers of ``count`` random bits each, as :meth:`bits` would."""
        length = (count + 7) // 8
        drawn, spare = self.bytes(length * size), 8 * length - count
        parts = (drawn[start : start + length] for start in range(0, length * size, length))
        return [int.from_bytes(part, "big") >> spare for part in parts]

    def words(self, count: int, size: int) -> Sequence[int]:
        """Return ``size`` integers of ``count`` random bits each, up to 32, at once.

        >>> len(RandomSource().words(16, 1000)), max(RandomSource().words(1, 1000))
        (1000, 1)
        """
        code = "H" if count <= 16 else "I"
        words = array(code)
        words.frombytes(self.bytes(words.itemsize * size))
        spare = 8 * words.itemsize - count
        return [word >> spare for word in words] if spare else words

    def below(self, bound: int) -> int:
        """Return an integer from 0 to ``bound - 1``, each with the same probability."""
        width = (bound - 1).bit_length()
        while (value := self.bits(width)) >= bound:
            pass
        return value

    def is_survived(self, rate: Fraction) -> bool:
        """Return True with probability exactly ``exp(-rate)``, for ``rate >= 0``.

        In a series of events with probabilities ``x/1, x/2, x/3, ...``, the first to fail has an
        odd number with probability ``exp(-x)``, for ``x`` up to 1; a larger rate is split.

        Reference: Canonne, Kamath and Steinke (2020), Algorithm 1.

        >>> RandomSource().is_survived(Fraction(0))
        True
        """
        whole, rest = divmod(rate, 1)
        return all(self._is_first_failure_odd(Fraction(1)) for _ in range(whole)) and (
            self._is_first_failure_odd(rest)
        )

    def _is_first_failure_odd(self, x: Fraction) -> bool:
        number = 1
        while self.below(x.denominator * number) < x.numerator:
            number += 1
        return number % 2 == 1


_CELL_BITS = 16
_FEW = 1 << 12


def first_taken(size: int, is_taken: Callable[[int], bool], source: RandomSource) -> int:
    """Return the first place that is taken, of all ``size`` in uniformly random order."""
    waiting = list(range(size))
    while True:
        place = waiting.pop(source.below(len(waiting)))
        if is_taken(place):
            return place


def pick(weights: Runs, source: RandomSource) -> int:
    """Return one letter, with probability exactly its weight over the total.

    >>> pick(Runs([(0, 3), (1, 1)]), RandomSource())
    3
    """
    return weights.letter_at(source.below(weights.total))


def pick_each(weights: Runs, width: int, source: RandomSource) -> list[int]:
    """Return one letter of each ``width`` consecutive ones, as :func:`pick` would draw it.

    An incomplete rest is skipped. The units of one part are consecutive in the whole row.

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
    of the total; divided by ``copies``, an accepted one is a uniform unit. Its first 16 bits,
    its *cell*, nearly always decide the letter, so they are drawn first; the other bits are
    drawn only where a cell holds more than one letter.
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
