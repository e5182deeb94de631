"""The public groups of a release: one record, or one row, for each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dproo.core.checks import refusal
from dproo.schema import UNIFORM, Alphabet
from dproo.schema.axis import Axis


@dataclass(frozen=True)
class Groups:
    """One record is released for each public group.

    Attributes:
        by: the column that tells a record's group.
        groups: the public list of groups, in any form that :meth:`dproo.Alphabet.of` takes.
        are_public: whether everybody may know which record is in which group. If not, a release
            under replace costs epsilon twice, since a record can leave one group and enter
            another.

    >>> Groups("ward", ["A", "B"]).axis.size
    2
    """

    by: str
    groups: Any
    are_public: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.by, str) or not self.by:
            raise ValueError(refusal("by", "be the name of a column", self.by))
        alphabet = Alphabet.of(self.groups, policy=UNIFORM)
        if alphabet.columns:
            raise ValueError("groups must be those of one column.")
        object.__setattr__(self, "groups", alphabet)

    @property
    def axis(self) -> Axis:
        """The groups as the letters of their column."""
        axis: Axis = self.groups.axes[0]
        return axis

    def require_apart(self, columns: Iterable[str]) -> None:
        """Raise if the groups are told by a column that is released itself."""
        if self.by in columns:
            raise ValueError(refusal("by", "be a column that is not released", self.by))

    @property
    def facts(self) -> dict[str, Any]:
        """What a receipt says of the groups."""
        return {"by": self.by, "number": self.axis.size, "are_public": self.are_public}
