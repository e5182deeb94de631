"""What every pure release shares: whom it protects, in which groups, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dproo.core.checks import one_of, whole
from dproo.mechanisms import ADD_REMOVE, REPLACE, Relation
from dproo.releases.groups import Groups

A_PERSON = "one person, whatever they contribute"
"""Whom a release protects that knows whose the records are."""


@dataclass(frozen=True, kw_only=True)
class PureRequest:
    """The choices that decide whom a pure release protects.

    Attributes:
        epsilon: for all released records together, or for each group.
        groups: the groups to release a record for each of.
        neighbours: ``"replace"`` or ``"add-remove"``.
        records_per_person: the most records that one protected person may own, or that are
            kept of each person.
        person: the column that names whom a record is about.
        delta: the probability with which epsilon may fail; 0 where every letter is listed.
    """

    epsilon: Fraction
    groups: Groups | None = None
    neighbours: Relation = REPLACE
    records_per_person: int = 1
    person: str | None = None
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        one_of("neighbours", self.neighbours, (REPLACE, ADD_REMOVE))
        whole("records_per_person", self.records_per_person, at_least=1)
        if self.person is None:
            return
        if self.neighbours == REPLACE and self.records_per_person > 1:
            raise ValueError(
                "records_per_person must be 1 with person under replace: the public number of"
                " records would tell how many each person has. Use neighbours='add-remove'."
            )
        if self.groups is not None and self.groups.is_public:
            raise ValueError(
                "are_groups_public must be left out with person: a person may have records in"
                " several groups, and which one is kept is not public."
            )

    @property
    def protects(self) -> str:
        """Whom it protects, for the receipt."""
        if self.person is not None:
            return A_PERSON
        records = self.records_per_person
        return "one record" if records == 1 else f"one person with up to {records} records"

    @property
    def counts_people(self) -> bool:
        """Whether the records that are counted are as many as the people."""
        return self.person is not None and self.records_per_person == 1

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
        several, kept = self.records_per_person, "" if self.person is None else "kept "
        whom, who = ("one record", "it") if self.person is None else ("one person", "they")
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
        return self.groups is not None and self.neighbours == REPLACE and not self.is_n_public
