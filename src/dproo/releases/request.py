"""What every kind of release has in common: what the one path from data to output must know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from dproo.alphabet import Alphabet, Record
from dproo.core.counts import Counts
from dproo.core.randomness import RandomSource
from dproo.mechanisms import Mechanism, Relation


class Stopped(KeyboardInterrupt):
    """A release was interrupted after it was charged; the message says so."""


@dataclass(frozen=True)
class Drawn:
    """Records that were drawn and not yet shown.

    Attributes:
        samplers: the certified ones that they were drawn by.
        values: the records.
        facts: what the receipt says of them besides; public or released.
    """

    samplers: Sequence[Mechanism]
    values: tuple[Record, ...]
    facts: dict[str, Any]


class Request(Protocol):
    """The public choices of a release, checked; nothing of the data is in it."""

    @property
    def alphabet(self) -> Alphabet:
        """The letters."""

    @property
    def counted_alphabet(self) -> Alphabet:
        """The alphabet to count by."""

    @property
    def cost(self) -> Fraction:
        """The epsilon of the whole release."""

    @property
    def delta(self) -> Fraction:
        """The delta of the whole release; 0 is pure."""

    @property
    def neighbours(self) -> Relation:
        """The relation it protects under."""

    @property
    def records_per_person(self) -> int:
        """The most records that one protected person may own."""

    @property
    def records_needed(self) -> int:
        """The fewest records that the data must have, where their number is public."""

    @property
    def is_n_public(self) -> bool:
        """Whether the number of records may be known."""

    @property
    def public_choices(self) -> dict[str, Any]:
        """The choices as they stand in the ledger."""

    def draw(self, counts: Counts, source: RandomSource) -> Drawn:
        """Return the records, drawn by certified samplers."""
