"""What a release is charged to, and what is stated with it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from dproo.core.checks import may_hold_secret, refusal
from dproo.ledger import Address, Ledger, address_of

LONGEST = 200
"""Characters of a purpose, and of the name of whoever releases."""


@dataclass(frozen=True, kw_only=True)
class Charge:
    """The budget that a release is charged to; nothing is taken from the system.

    Attributes:
        ledger: the ledger, or the file or address of one. Without it a release is charged to no
            budget.
        dataset: the name under which the ledger holds the budget.
        purpose: what the release is for; it appears in the receipt, which may be published.
        operator: who makes it; it appears only in the ledger.

    >>> Charge(purpose="monthly bulletin").published
    {'purpose': 'monthly bulletin'}
    """

    ledger: Ledger | str | os.PathLike[str] | None = None
    dataset: str | None = None
    purpose: str | None = None
    operator: str | None = None

    def __post_init__(self) -> None:
        if self.ledger is None and self.dataset is not None:
            raise ValueError("ledger must be given with a dataset: it keeps the dataset's budget.")
        if self.ledger is not None and self.dataset is None:
            raise ValueError("dataset must be given with a ledger: it names the budget to charge.")
        for name, text in (("purpose", self.purpose), ("operator", self.operator)):
            if text is None:
                continue
            if not isinstance(text, str):
                raise TypeError(refusal(name, "be text", text))
            is_plain = 0 < len(text) <= LONGEST and text.isprintable() and not text.isspace()
            if not is_plain or may_hold_secret(text):
                condition = f"be printable text of 1 to {LONGEST} characters without a password"
                raise ValueError(refusal(name, condition, text))

    def opened(self) -> Ledger | None:
        """Return the ledger, opened and checked."""
        if self.ledger is None or isinstance(self.ledger, Ledger):
            return self.ledger
        return Ledger(self.ledger)

    @property
    def address(self) -> Address:
        """Where the ledger is, as far as it is known."""
        return (
            self.ledger.path if isinstance(self.ledger, Ledger) else address_of(self.ledger or "")
        )

    @property
    def published(self) -> dict[str, Any]:
        """What the receipt states."""
        return {"purpose": self.purpose}

    @property
    def kept(self) -> dict[str, Any]:
        """What the ledger states."""
        return {"purpose": self.purpose, "operator": self.operator}
