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
        is_moving = self.groups is not None and self.neighbours == REPLACE
        return self.epsilon * (2 if is_moving and not self.is_n_public else 1)

    @property
    def delta(self) -> Fraction:
        """None: the release is pure."""
        return Fraction(0)
