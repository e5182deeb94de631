"""The receipt of a release: how it was made. Everything in it is public, or was released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Any

from dproo.core.numbers import decimal_text

SCHEMA_VERSION = 1

STATED = ("purpose",)
"""The statements about a release that appear in its receipt."""


@dataclass(frozen=True, kw_only=True)
class Charged:
    """The entry of a ledger that a release was charged to.

    Attributes:
        dataset: the name of the budget.
        entry: the number of the charge.
        charge_nano_epsilon: the epsilon charged, in billionths.
        charge_atto_delta: the delta charged, in units of 10^-18.
        head: the hash of the record in the ledger; None if it could not be recorded.
    """

    dataset: str
    entry: int
    charge_nano_epsilon: int
    charge_atto_delta: int = 0
    head: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as an object of JSON, without a delta of zero or a missing head."""
        return {name: value for name, value in asdict(self).items() if value not in {0, None}}


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """How records were released.

    Attributes:
        epsilon: what the release cost.
        neighbours: the relation that it is private for.
        unit: whether one record is protected or one person.
        protects: the same as a sentence.
        purpose: what it was for.
        column_names: the columns that were released.
        details: what only this kind of release has, such as its sampler, values or network.
        accuracy: the proven worst case, as a sentence.
        warnings: what users of the release should know.
        certificate: the worst loss, and what it covers.
        ledger: the entry it was charged to, or None.
        software: the version that made it.
        n: the number of records, or None if it is private.
        worst_alpha: the largest distance from the data's distribution, or None if it is private.

    >>> receipt = Receipt.of(
    ...     dict(schema_version=1, epsilon="1/2", neighbours="replace", unit="record", protects="",
    ...          sampler="roo", certificate={"holds": True}, software="dproo", n=9)
    ... )
    >>> receipt.epsilon, receipt.sampler, receipt.n, receipt.ledger, receipt.as_dict()["epsilon"]
    (Fraction(1, 2), 'roo', 9, None, '1/2')
    """

    epsilon: Fraction
    neighbours: str
    unit: str
    protects: str
    purpose: str | None = None
    column_names: tuple[str, ...] = ()
    details: Mapping[str, Any]
    accuracy: str | None = None
    warnings: tuple[str, ...] = ()
    certificate: Mapping[str, Any]
    ledger: Charged | None = None
    software: str
    n: int | None = None
    worst_alpha: float | None = None

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Receipt:
        """Return the receipt that an object of JSON holds.

        Raises:
            ValueError: it was not made by :meth:`as_dict`.
        """
        names = {field.name for field in fields(cls)} - {"details"}
        known: dict[str, Any] = {"ledger": None, "column_names": (), "warnings": ()}
        details: dict[str, Any] = {}
        for name, value in stored.items():
            if name not in {"schema_version", "epsilon_decimal"}:
                (known if name in names else details)[name] = value
        try:
            charged = known["ledger"]
            known["ledger"] = None if charged is None else Charged(**charged)
            for name in ("column_names", "warnings"):
                known[name] = tuple(known[name])
            return cls(**known | {"epsilon": Fraction(known["epsilon"])}, details=details)
        except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError):
            raise ValueError("receipt must be an object that a release wrote.") from None

    def as_dict(self) -> dict[str, Any]:
        """Return it as an object of JSON."""
        required = {
            "schema_version": SCHEMA_VERSION,
            "epsilon": str(self.epsilon),
            "epsilon_decimal": self.epsilon_decimal,
            "neighbours": self.neighbours,
            "unit": self.unit,
            "protects": self.protects,
            **{name: getattr(self, name) for name in STATED},
            "column_names": list(self.column_names),
            **self.details,
            "accuracy": self.accuracy,
            "warnings": list(self.warnings),
            "certificate": dict(self.certificate),
            "ledger": None if self.ledger is None else self.ledger.as_dict(),
            "software": self.software,
        }
        optional = {"n": self.n, "worst_alpha": self.worst_alpha}
        return required | {name: value for name, value in optional.items() if value is not None}

    @property
    def epsilon_decimal(self) -> str:
        """Epsilon as a decimal number."""
        return decimal_text(self.epsilon)

    @property
    def sampler(self) -> str:
        """The name of the sampler."""
        return str(self.details["sampler"])

    @property
    def delta(self) -> Fraction:
        """The delta of the release, zero for pure differential privacy."""
        return Fraction(self.details.get("delta", 0))
