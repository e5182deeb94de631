"""What every kind of release has in common: what the one path from data to output must know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from dproo.analysis.certificate import certify
from dproo.core.counts import Counts
from dproo.core.draw import RandomSource
from dproo.core.numbers import fraction_text
from dproo.ledger.ledger import ROOM
from dproo.mechanisms import REPLACE, Mechanism
from dproo.releases.assurance import Assurance
from dproo.releases.protection import Groups, Protection
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


@dataclass(frozen=True, kw_only=True)
class PureRequest:
    """The choices that decide whom a pure release protects.

    Attributes:
        epsilon: for all released records together, or for each group.
        protection: whom the release protects, and against which change of the data.
        groups: the groups to release a record for each of.
        delta: the probability with which epsilon may fail; 0 where every letter is listed.
    """

    epsilon: Fraction
    protection: Protection = field(default_factory=Protection)
    groups: Groups | None = None
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.protection.person is None:
            return
        if self.groups is not None and self.groups.are_public:
            raise ValueError(
                "groups cannot be public with person: a person may have records in several groups,"
                " and which one is kept is not public."
            )

    @property
    def is_n_public(self) -> bool:
        """Whether the number of records, in each group, may be known."""
        return self.protection.neighbours == REPLACE and (
            self.groups is None or self.groups.are_public
        )

    @property
    def room(self) -> int:
        """Bytes of the ledger that the receipt may need."""
        return ROOM

    @property
    def cost(self) -> Fraction:
        """What the release costs: a record that moves between two groups is seen in both."""
        return self.epsilon * (2 if self._is_moving else 1)

    def covers(self, *, of_a_person: bool = False) -> str:
        """Return what the certified worst loss is the loss of.

        Args:
            of_a_person: whether it is that of all records of a person together.
        """
        several, is_named = self.protection.records, self.protection.person is not None
        kept = "kept " if is_named else ""
        whom, who = ("one person", "they") if is_named else ("one record", "it")
        if several > 1:
            all_or_each = "all" if of_a_person else f"each of {several}"
            whom = f"{all_or_each} {kept}records of a person"
        if self.groups is None:
            return whom
        return f"{whom} in one group" + (
            f"; replaced, {who} may be in two" if self._is_moving else ""
        )

    @property
    def _is_moving(self) -> bool:
        return (
            self.groups is not None
            and self.protection.neighbours == REPLACE
            and not self.is_n_public
        )
