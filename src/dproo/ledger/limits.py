"""Rules that an owner declares with a budget, beside its total."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date
from functools import cached_property
from typing import Any

from dproo.core.checks import refusal
from dproo.core.numbers import Number, budget_of, in_epsilon, rational
from dproo.exceptions import RuleRefused

AMOUNTS = ("per_release", "per_day", "per_spender", "approval_above")
"""The rules that are an epsilon."""

OF_HISTORY = frozenset({"per_day", "per_spender", "approval_above"})
"""The rules that ask for earlier charges or requests."""

_OF_SEVERAL = ("per_spender", "approval_above")
_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What every single release of a dataset must keep to.

    Attributes:
        per_release: the largest epsilon of one release.
        per_day: the largest epsilon of all releases of one day, in UTC.
        per_spender: the largest epsilon of all releases of one role of the database.
        until: the day, as in ``2027-01-31``, from which on nothing is released.
        columns: the only columns that may be released or grouped by.
        codebook: the only code book or alphabet, by its SHA-256 as receipts name it.
        approval_above: the epsilon above which a second person must approve a release.

    >>> Limits(per_day="0.5", until="2027-01-31").declared
    {'per_day': '1/2', 'until': '2027-01-31'}
    """

    per_release: Number | None = None
    per_day: Number | None = None
    per_spender: Number | None = None
    until: str | None = None
    columns: Iterable[str] | None = None
    codebook: str | None = None
    approval_above: Number | None = None

    def __post_init__(self) -> None:
        for name in AMOUNTS:
            amount = getattr(self, name)
            if amount is not None:
                self._keep(name, str(rational(name, amount)))
                _nano(name, getattr(self, name))
        if self.until is not None:
            try:
                is_day = date.fromisoformat(self.until).isoformat() == self.until
            except (TypeError, ValueError):
                is_day = False
            if not is_day:
                raise ValueError(refusal("until", "be a day such as 2027-01-31", self.until))
        if self.columns is not None:
            names = [self.columns] if isinstance(self.columns, str) else list(self.columns)
            if not names or not all(isinstance(name, str) and name for name in names):
                raise ValueError(refusal("columns", "be names", names))
            self._keep("columns", tuple(sorted(set(names))))
        if self.codebook is not None and not _DIGEST.fullmatch(str(self.codebook)):
            raise ValueError(refusal("codebook", "be a SHA-256 in hexadecimal", self.codebook))

    def _keep(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @cached_property
    def declared(self) -> dict[str, Any]:
        """The rules as they stand in the ledger."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        found = {name: value for name, value in given.items() if value is not None}
        return found | ({"columns": list(self.columns)} if self.columns is not None else {})

    def require_one_owner(self) -> None:
        """Raise if a rule tells people apart, which a file cannot do."""
        for name in _OF_SEVERAL:
            if getattr(self, name) is not None:
                raise ValueError(f"{name} needs a ledger in PostgreSQL: a file has one owner.")

    def needs_approval(self, charge: int) -> bool:
        """Return whether a charge, in nano-epsilon, is for two people to decide."""
        limit = self.approval_above
        return limit is not None and charge > _nano("approval_above", limit)

    def require(
        self,
        dataset: str,
        *,
        charge: int,
        request: Mapping[str, Any],
        at: str,
        spent_today: int,
        spent_by_spender: int | None,
    ) -> None:
        """Raise unless a release keeps every rule.

        Args:
            dataset: the declared name.
            charge: what it costs, in nano-epsilon.
            request: its public parameters.
            at: the time, as events keep it.
            spent_today: what was charged on the same day, in nano-epsilon.
            spent_by_spender: what the same spender has charged, if it is known who spends.

        Raises:
            RuleRefused: it breaks one; the message names it.
        """
        if self.until is not None and at[:10] >= self.until:
            raise RuleRefused("until", dataset, f"nothing is released from {self.until} on")
        if self.per_release is not None:
            self._require_at_most("per_release", dataset, charge, "a release")
        if self.per_day is not None:
            self._require_at_most("per_day", dataset, spent_today + charge, "a day")
        if self.per_spender is not None:
            if spent_by_spender is None:
                raise RuleRefused("per_spender", dataset, "a file does not know who spends")
            self._require_at_most("per_spender", dataset, spent_by_spender + charge, "one spender")
        if self.columns is not None:
            _require_columns(dataset, request, self.columns)
        if self.codebook is not None:
            used = {request.get("codebook_sha256"), request.get("alphabet_sha256")}
            if self.codebook not in used:
                raise RuleRefused("codebook", dataset, f"the code book is {self.codebook}")

    def _require_at_most(self, rule: str, dataset: str, amount: int, span: str) -> None:
        most = _nano(rule, getattr(self, rule))
        if amount > most:
            condition = f"at most {in_epsilon(most)} is charged for {span}"
            raise RuleRefused(rule, dataset, f"{condition}, and this makes {in_epsilon(amount)}")


def _nano(name: str, amount: Number) -> int:
    try:
        return budget_of(amount)
    except ValueError:
        raise ValueError(refusal(name, "be between 1e-9 and 1000000", amount)) from None


def _require_columns(dataset: str, request: Mapping[str, Any], allowed: Iterable[str]) -> None:
    by = request.get("by")
    asked = {
        *request.get("columns", ()),
        *([] if by is None else [by] if isinstance(by, str) else by),
    }
    if not asked or not asked <= set(allowed):
        raise RuleRefused("columns", dataset, f"only {', '.join(allowed)} may be released")
