"""What is stated with a release: its purpose, for everybody, and who made it, for the ledger."""

from __future__ import annotations

from dataclasses import dataclass

from dproo.core.checks import may_hold_secret, refusal

LONGEST = 200


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What whoever releases says about it; nothing is taken from the system.

    Attributes:
        purpose: what the release is for; it appears in the receipt, which may be published.
        operator: who made it; it appears only in the ledger.
        columns: the columns that are released, where they have names.

    >>> Statement(purpose="monthly bulletin", columns=("diagnosis",)).published
    {'purpose': 'monthly bulletin', 'column_names': ['diagnosis']}
    """

    purpose: str | None = None
    operator: str | None = None
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, text in (("purpose", self.purpose), ("operator", self.operator)):
            if text is None:
                continue
            if not isinstance(text, str):
                raise TypeError(refusal(name, "be text", text))
            is_plain = 0 < len(text) <= LONGEST and text.isprintable() and not text.isspace()
            if not is_plain or may_hold_secret(text):
                condition = f"be printable text of 1 to {LONGEST} characters without a password"
                raise ValueError(refusal(name, condition, text))

    @property
    def published(self) -> dict[str, object]:
        """What stands in the receipt."""
        return {"purpose": self.purpose, "column_names": list(self.columns)}

    @property
    def kept(self) -> dict[str, object]:
        """What stands in the ledger besides."""
        return {"purpose": self.purpose, "operator": self.operator, "columns": list(self.columns)}
