"""The public groups of a release: one record, or one row, for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dproo.alphabet import UNIFORM, Alphabet
from dproo.alphabet.axis import Axis
from dproo.core.checks import refusal


@dataclass(frozen=True, kw_only=True)
class Groups:
    """The public groups, one record to be released for each.

    Attributes:
        axis: the groups.
        by: the column that tells a record's group.
        columns: the columns that are released.
        is_public: whether everybody may know which record is in which group.
    """

    axis: Axis
    by: str
    columns: tuple[str, ...]
    is_public: bool

    @classmethod
    def of(cls, by: Mapping[str, Any], columns: tuple[str, ...], *, is_public: bool) -> Groups:
        """Return the groups that ``{column: groups}`` names."""
        if not isinstance(by, Mapping) or len(by) != 1:
            raise ValueError(refusal("by", "be one column and the list of its groups", by))
        ((name, groups),) = by.items()
        alphabet = Alphabet.of(groups, policy=UNIFORM)
        if alphabet.columns or name in columns:
            raise ValueError(refusal("by", "be one column, and not one that is released", name))
        return cls(axis=alphabet.axes[0], by=name, columns=columns, is_public=is_public)

    @property
    def facts(self) -> dict[str, Any]:
        """What a receipt says of the groups."""
        return {"by": self.by, "number": self.axis.size, "are_public": self.is_public}
