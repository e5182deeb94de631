"""A count that was checked and not begun: what every engine returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dproo.core.counts import Counts
from dproo.core.randomness import RandomSource
from dproo.engines.boundary import attempt
from dproo.engines.tally import Tally
from dproo.exceptions import ReleaseError

COUNT_FAILED = "the data could not be counted; no detail is shown, it could quote the data."


@dataclass(frozen=True, kw_only=True)
class Scan:
    """A count that was checked and not begun.

    Attributes:
        engine: which engine will count, as in ``"files"``; public.
    """

    engine: str
    _read: Callable[[], Tally | Counts]

    def count(self, source: RandomSource | None = None) -> Counts:
        """Read the data once and return how many records each letter has.

        Guarantee: every record counts for exactly one letter.

        Args:
            source: of the randomness that a ``"uniform"`` policy needs.

        Raises:
            ReleaseError: it failed; the message is always the same, and holds no cause.
        """
        counts = attempt(lambda: self._counted(source))
        if counts is None:
            raise ReleaseError(COUNT_FAILED)
        return counts

    def _counted(self, source: RandomSource | None) -> Counts:
        found = self._read()
        return found.counts(source) if isinstance(found, Tally) else found
