"""What every kind of release has in common: what the one path from data to output must know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from dproo.analysis.certificate import certify
from dproo.core.counts import Counts
from dproo.core.draw import RandomSource
from dproo.core.numbers import fraction_text
from dproo.mechanisms import Mechanism
from dproo.releases.assurance import Assurance
from dproo.releases.protection import Protection
from dproo.schema import Alphabet, Record

FEW = 4
"""Of how many records a release is rehearsed at most."""


class Stopped(KeyboardInterrupt):
    """A release was interrupted after it was charged; the message says so."""


@dataclass(frozen=True)
class Drawn:
    """Records that were drawn and not yet shown.

    Attributes:
        values: the records.
        facts: what the receipt says of them besides; public or released.
        certificate: the worst loss of what they were drawn by, for the receipt.
        assurance: the largest distance between their law and the data, or a bound on it.
    """

    values: tuple[Record, ...]
    facts: dict[str, Any]
    certificate: dict[str, Any]
    assurance: Assurance

    @classmethod
    def by(
        cls,
        samplers: Sequence[Mechanism],
        values: tuple[Record, ...],
        facts: dict[str, Any],
        *,
        covers: str,
        assurance: Assurance,
    ) -> Drawn:
        """Return records that were drawn by these certified samplers."""
        certificates = [certify(sampler) for sampler in samplers]
        worst = max(certificates, key=lambda certificate: certificate.ratio)
        return cls(
            values=values,
            facts=facts,
            certificate={
                "holds": all(certificate.holds for certificate in certificates),
                "epsilon": worst.epsilon,
                "ratio": fraction_text(worst.ratio),
                "covers": covers,
            },
            assurance=assurance,
        )


class Request(Protocol):
    """The public choices of a release, checked; nothing of the data is in it."""

    @property
    def counted_alphabets(self) -> tuple[Alphabet, ...]:
        """The alphabets to count by, all of the same records."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, in the order of the data's own; none without names."""

    @property
    def cost(self) -> Fraction:
        """The epsilon of the whole release."""

    @property
    def delta(self) -> Fraction:
        """The delta of the whole release; 0 is pure."""

    @property
    def protection(self) -> Protection:
        """Whom it protects."""

    @property
    def records_needed(self) -> int:
        """The fewest records that the data must have, where their number is public."""

    @property
    def is_n_public(self) -> bool:
        """Whether the number of records may be known."""

    @property
    def public_choices(self) -> dict[str, Any]:
        """The choices as they stand in the ledger."""

    @property
    def room(self) -> int:
        """Bytes of the ledger that the receipt may need."""

    @property
    def rehearsal(self) -> Request:
        """The same release of at most :data:`FEW` records: to rehearse it takes no longer."""

    def draw(self, tables: Sequence[Counts], source: RandomSource) -> Drawn:
        """Return the records, drawn by certified samplers."""
