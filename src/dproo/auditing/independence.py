"""Do trials repeat each other? A sign test that a seed, a cache or a counter fails.

Of three trials ``a, b, c`` on one dataset, ``a`` and ``b`` neighbours in time and ``c`` of an
earlier round, "only ``b`` equals ``a``" and "only ``c`` equals ``a``" are equally likely if
the trials are independent: exchanging ``b`` and ``c`` turns one into the other. So the one
among the other is a fair coin, whatever the sampler's law.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dproo.auditing.clopper_pearson import log_odds_lower


class Repetition:
    """Rounds of letters drawn on one dataset, watched as they come.

    >>> watched = Repetition()
    >>> for second in range(40):  # as from a generator seeded with the second
    ...     watched.watch([second % 7] * 9)
    >>> watched.is_by_chance(alpha=1e-6)
    False
    """

    def __init__(self) -> None:
        self._near = self._far = 0
        self._earlier: Sequence[Hashable] = ()

    def watch(self, letters: Sequence[Hashable]) -> None:
        """Compare disjoint triples: two letters of this round and one of the round before."""
        triples = len(letters) // 3
        firsts, seconds = letters[: 2 * triples : 2], letters[1 : 2 * triples : 2]
        for a, b, c in zip(firsts, seconds, self._earlier, strict=False):
            if (a == b) != (a == c):
                self._near += a == b
                self._far += a == c
        self._earlier = letters[2 * triples :]

    def is_by_chance(self, *, alpha: float) -> bool:
        """Return False if the letters repeat more, or less, in time than by chance.

        Guarantee: of independent letters it says False with probability at most ``alpha``.
        """
        more, few = max(self._near, self._far), self._near + self._far
        return log_odds_lower(more, few, alpha=alpha / 2) == 0
