"""What trials prove: lower bounds on odds and probabilities, and a test of independence.

``x`` successes in ``m`` independent trials of probability ``theta`` refute every ``theta`` whose
upper tail ``P(Bin(m, theta) >= x)`` is at most ``alpha``. The tail grows with ``theta``, so all
refuted values lie below one bound, which exceeds the true probability with probability at most
``alpha``, whatever it is. It is computed with the standard library and never rounded up.

A seed, a cache or a counter makes trials repeat each other. Take three trials ``a, b, c`` on one
dataset, ``a`` and ``b`` adjacent in time and ``c`` from an earlier round: "only ``b`` equals ``a``"
and "only ``c`` equals ``a``" are equally likely if the trials are independent, since exchanging
``b`` and ``c`` turns one into the other. So which of the two occurs is a fair coin toss, whatever
the sampler's law.

Reference: Clopper and Pearson (1934).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import exp, lgamma, log, log1p

TRIALS_MAX = 2 * 10**8

# The logarithm of TRIALS_MAX factorial is near 4e9, where a few units in the last place are
# below 1e-5; the tail is enlarged by ten times that before it is compared.
_ROUNDING = 1e-4
_HALVINGS = 50
_LEAST = -50.0  # no odds that trials can show are smaller
_SLACK = 1e-9  # for the rounding of the last steps


def log_odds_lower(successes: int, trials: int, *, alpha: float) -> float:
    """Return a lower confidence bound on ``log(theta / (1 - theta))``, and at least 0.

    Guarantee: it exceeds both 0 and the true log odds with probability at most ``alpha``.

    >>> round(log_odds_lower(731, 1000, alpha=0.01), 3)
    0.833
    >>> log_odds_lower(500, 1000, alpha=0.01)
    0.0
    """
    if successes <= trials - successes or not _is_refuted(0.0, successes, trials, alpha):
        return 0.0
    return _last_refuted(0.0, successes, trials, alpha)


def chance_lower(successes: int, trials: int, *, alpha: float) -> float:
    """Return a lower confidence bound on ``theta``, and at least 0.

    Guarantee: it exceeds the true chance with probability at most ``alpha``.

    >>> round(chance_lower(5, 1000, alpha=0.01), 5), chance_lower(0, 1000, alpha=0.01)
    (0.00128, 0.0)
    """
    if successes == 0 or not _is_refuted(_LEAST, successes, trials, alpha):
        return 0.0
    log_odds = _last_refuted(_LEAST, successes, trials, alpha)
    return exp(-_softplus(-log_odds)) * (1 - _SLACK)


def _last_refuted(low: float, successes: int, trials: int, alpha: float) -> float:
    """Return the largest refuted log odds, starting from refuted ones."""
    failures = trials - successes
    # At the observed odds the tail is about a half or more, and below them its terms fall.
    high = log(successes / failures) if failures else log(trials) + 50
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _is_refuted(middle, successes, trials, alpha):
            low = middle
        else:
            high = middle
    return low


def _is_refuted(log_odds: float, successes: int, trials: int, alpha: float) -> bool:
    """Return whether ``P(Bin(trials, theta) >= successes)`` is certain to be at most ``alpha``.

    The ratio of consecutive terms is below one and falls, so a geometric series bounds the
    remaining ones.
    """
    failures = trials - successes
    ways = lgamma(trials + 1) - lgamma(successes + 1) - lgamma(failures + 1)
    term = exp(ways + successes * log_odds - trials * _softplus(log_odds))
    term *= 1 + _ROUNDING
    total, odds = term, exp(log_odds)
    for j in range(successes, trials):
        factor = odds * (trials - j) / (j + 1)
        term *= factor
        total += term
        if total > alpha:
            return False
        left = term * factor / (1 - factor)
        if left <= 1e-9 * total:
            return total + left <= alpha
    return total <= alpha


def _softplus(number: float) -> float:
    """Return ``log(1 + e^number)``."""
    return max(number, 0.0) + log1p(exp(-abs(number)))


class Repetition:
    """A running test on rounds of letters drawn on one dataset.

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
        """Return False if adjacent letters repeat more, or less, than by chance.

        Guarantee: for independent letters it is False with probability at most ``alpha``.
        """
        more, few = max(self._near, self._far), self._near + self._far
        return log_odds_lower(more, few, alpha=alpha / 2) == 0
