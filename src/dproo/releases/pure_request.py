"""What every pure release shares: whom it protects, in which groups, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dproo.core.arguments import one_of, whole
from dproo.mechanisms import ADD_REMOVE, REPLACE, Relation
from dproo.releases.groups import Groups


@dataclass(frozen=True, kw_only=True)
class PureRequest:
    """The choices that decide whom a pure release protects.

    Attributes:
        epsilon: for all released records together, or for each group.
        groups: the groups to release a record for each of.
        neighbours: ``"replace"`` or ``"add-remove"``.
        records_per_person: the most records that one protected person may own.
    """

    epsilon: Fraction
    groups: Groups | None = None
    neighbours: Relation = REPLACE
    records_per_person: int = 1

    def __post_init__(self) -> None:
        one_of("neighbours", self.neighbours, (REPLACE, ADD_REMOVE))
        whole("records_per_person", self.records_per_person, at_least=1)

    @property
    def is_n_public(self) -> bool:
        """Whether the number of records, in each group, may be known."""
        return self.neighbours == REPLACE and (self.groups is None or self.groups.is_public)

    @property
    def cost(self) -> Fraction:
        """What the release costs: a record that moves between two groups is seen in both."""
        return self.epsilon * (2 if self._is_moving else 1)

    def covers(self, *, of_a_person: bool = False) -> str:
        """Return what the certified worst loss is the loss of.

        Args:
            of_a_person: whether it is that of all records of a person together.
        """
        person = self.records_per_person
        whom = "one record"
        if person > 1:
            whom = (
                "all records of a person"
                if of_a_person
                else f"each of {person} records of a person"
            )
        if self.groups is None:
            return whom
        return f"{whom} in one group" + ("; replaced, it may be in two" if self._is_moving else "")

    @property
    def _is_moving(self) -> bool:
        return self.groups is not None and self.neighbours == REPLACE and not self.is_n_public

    @property
    def delta(self) -> Fraction:
        """None: the release is pure."""
        return Fraction(0)
