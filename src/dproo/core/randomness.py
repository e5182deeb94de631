"""The only module that draws: uniform integers from the operating system's generator."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Sequence
from fractions import Fraction


class RandomSource:
    """Uniform integers, by rejection, from a supplier of random bytes.

    Nothing is kept between calls, so a fork or a crash can never repeat a draw. There is no
    seed. The supplier is an argument so that a test can walk every branch of a draw; a
    release always uses the operating system's.

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

        Of events with probabilities ``x/1, x/2, x/3, ...`` the first that fails is an odd one
        with probability ``exp(-x)``, for ``x`` up to 1; a larger rate is survived piece by piece.

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
