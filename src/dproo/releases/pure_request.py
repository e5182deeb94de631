"""What every pure release shares: whom it protects, in which groups, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dproo.ledger.ledger import ROOM
from dproo.mechanisms import REPLACE
from dproo.releases.groups import Groups
from dproo.releases.protection import Protection


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
