"""A toy sampler, as a file of `mechanisms/`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dproo.core.counts import Counts, Runs
from dproo.mechanisms.base import Mechanism, Transition


@dataclass(frozen=True, kw_only=True)
class SeenOrNot(Mechanism):
    """Draw a letter that somebody has, ``e^epsilon`` times as likely as one that nobody has.

    Guarantee: epsilon-DP when one record is replaced. A letter's weight has two values, so it
    grows by at most ``e^epsilon``. If it does, the total does not fall: a letter that becomes
    unseen is made up for by the one that becomes seen. If it stays, the total falls by at most
    the step of one letter, and the ratio is the smaller one.
    """

    name = "seen-or-not"

    def weights(self, counts: Counts) -> Runs:
        """Return one of two weights for every letter."""
        seen, unseen = self.growth.as_integer_ratio()
        return counts.map(lambda count: seen if count else unseen)

    @cached_property
    def worst(self) -> Transition:
        """A letter's only record moves to a letter that nobody had, if there can be one."""
        if self.k == 2 and self.n > 1:
            return self._transition({1: self.n}, {0: 1, 1: self.n - 1})
        rest = {2: self.n - 1} if self.n > 1 else {}
        return self._transition({1: 1, **rest}, {0: 1, **rest})

    def _transition(self, before: dict[int, int], after: dict[int, int]) -> Transition:
        return Transition(Counts.sparse(before, k=self.k), Counts.sparse(after, k=self.k))

    @property
    def worst_alpha(self) -> Fraction:
        """``1 - min_y P(y)``, a bound: no letter is ever less likely than that minimum."""
        return 1 - 1 / (1 + (self.k - 1) * self.growth)
