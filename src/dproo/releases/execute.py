"""The only path from data to output: validate, reserve, count, draw, record, return.

Everything that can be refused is refused before the charge, the charge is durable before any
data is read, and the release is recorded before any of it is shown. From the reservation until
the receipt is written, every failure or interrupt is one fixed sentence that says what became of
the charge.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from typing import Any, TypeVar

from dproo import engines
from dproo.alphabet import Record
from dproo.core.exact import decimal_text
from dproo.core.notebook import table as html_table
from dproo.core.randomness import RandomSource
from dproo.engines.source import Source
from dproo.exceptions import LedgerError, ReleaseError
from dproo.mechanisms import REPLACE
from dproo.releases.budget_name import published
from dproo.releases.charge import Charge
from dproo.releases.request import Drawn, Request, Stopped

SCHEMA_VERSION = 1
RELEASE_FAILED = (
    "the release failed after data was read; details are withheld because they could reveal data."
)

STOPPED = "the release was stopped."
EXIT = 4
"""The exit code of a release that ended after its charge."""

_COUNTS_PEOPLE = {"unit": "person"}
"""What the ledger notes of a release that counts people: it must not name the column."""

Result = TypeVar("Result")

_LOG = logging.getLogger("dproo")


@dataclass(frozen=True, repr=False)
class Release:
    """A completed release and its receipt.

    Attributes:
        values: the released records; with groups, one for each group in their order.
        receipt: how they were drawn, JSON-able; everything in it is public or released.
    """

    values: tuple[Record, ...]
    receipt: dict[str, Any]

    @property
    def value(self) -> Record:
        """The released record, where there is one only."""
        if len(self.values) != 1:
            raise ValueError(
                f"value is that of one record, but {len(self.values):,} were released: use .values."
            )
        return self.values[0]

    def __repr__(self) -> str:
        return (
            f"<Release of {self._what}: epsilon {self.receipt['epsilon_decimal']},"
            f" {self.receipt['sampler']}, {self._charged}>"
        )

    def _repr_html_(self) -> str:
        names = ("purpose", "accuracy", "epsilon_decimal", "protects", "neighbours", "sampler")
        told = [(name.partition("_")[0], self.receipt[name]) for name in names]
        warned = [("warning", warning) for warning in self.receipt["warnings"]]
        rows = [(name, text) for name, text in told if text is not None]
        return html_table(f"Release of {self._what}", [*rows, *warned, ("budget", self._charged)])

    @property
    def _what(self) -> str:
        return repr(self.values[0]) if len(self.values) == 1 else f"{len(self.values):,} records"

    @property
    def _charged(self) -> str:
        charged = self.receipt["ledger"]
        if charged is None:
            return "not charged to any budget"
        return f"entry {charged['entry']} of {charged['dataset']!r}"


def execute(request: Request, source: Source, charge: Charge) -> Release:
    """Check the data, reserve the budget, release and record.

    Args:
        request: every public choice, checked.
        source: the records, named and not opened.
        charge: the budget to charge, and what is stated with the release.
    """
    protection = request.protection
    scan = source.scan(
        request.counted_alphabets,
        request.columns,
        person=protection.person,
        kept=1 if protection.person is None else protection.records,
    )
    for warning in scan.warnings:
        _LOG.warning("Warning: %s", warning)
    book = charge.opened()
    if book is None:
        return release(request, scan, charge)
    unit = {} if protection.person is None else _COUNTS_PEOPLE
    stated = charge.kept | {"columns": list(request.columns)}
    entry = guarded(
        lambda: book.reserve(
            str(charge.dataset),
            epsilon=request.cost,
            delta=request.delta,
            neighbours=protection.neighbours,
            records_per_person=protection.records,
            request=request.public_choices | stated | unit,
        ),
        kept="The charge may stand; see 'dproo ledger show'.",
        refusals=(LedgerError, TypeError, ValueError),
    )
    kept = f"The charge stays: entry {entry.number} of {entry.dataset!r}."
    drawn = guarded(lambda: release(request, scan, charge), kept=kept)
    kept = f"{kept} 'dproo ledger print {entry.number}' prints the release if it was recorded."
    receipt = guarded(lambda: book.record(entry, drawn.receipt), kept=kept)
    return replace(drawn, receipt=published(receipt))


def release(request: Request, scan: engines.Scan, charge: Charge | None = None) -> Release:
    """Count, draw and write the receipt; what it costs must have been charged before."""
    return guarded(lambda: _release(request, scan, charge or Charge()))


def _release(request: Request, scan: engines.Scan, charge: Charge) -> Release:
    tables = scan.count_several()
    if request.is_n_public and tables[0].n < request.records_needed:
        raise ReleaseError(f"the data has fewer than {request.records_needed} records.")
    drawn = request.draw(tables, RandomSource())
    return Release(drawn.values, _receipt(request, drawn, charge, tables[0].n))


def guarded(
    action: Callable[[], Result],
    *,
    kept: str = "",
    refusals: tuple[type[Exception], ...] = (),
) -> Result:
    """Run ``action``; any failure is raised as one sentence without a cause.

    Interrupts and exits stay what they are, so that they end the program. Anything else, even a
    library's panic that is not an ``Exception``, becomes a :class:`ReleaseError`.

    Args:
        action: what touches data, or comes after a charge.
        kept: a sentence on what became of the charge.
        refusals: errors that are raised as they are.
    """
    try:
        return action()
    except refusals:
        raise
    except BaseException as error:  # noqa: BLE001 - raised below, where no cause hangs on
        end = _end(error, kept)
    raise end


def _end(error: BaseException, kept: str) -> BaseException:
    if isinstance(error, KeyboardInterrupt):
        return Stopped(f"{STOPPED} {kept}".rstrip())
    if isinstance(error, SystemExit):
        end = SystemExit(EXIT)
        end.add_note(f"{STOPPED} {kept}".rstrip())
        return end
    sentence = str(error) if isinstance(error, ReleaseError) else RELEASE_FAILED
    return ReleaseError(f"{sentence} {kept}".rstrip())


def _receipt(request: Request, drawn: Drawn, charge: Charge, n: int) -> dict[str, Any]:
    receipt: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "epsilon": str(request.cost),
        "epsilon_decimal": decimal_text(request.cost),
        "neighbours": request.protection.neighbours,
        "unit": request.protection.unit,
        "protects": request.protection.sentence,
        **charge.published,
        "column_names": list(request.columns),
        **drawn.facts,
        "accuracy": drawn.assurance.sentence,
        "warnings": drawn.assurance.warnings(request.cost, whom=request.protection.whom),
        "certificate": drawn.certificate,
        "ledger": None,
        "software": _software(),
    }
    if request.protection.neighbours == REPLACE:
        receipt["n"] = n
    if drawn.assurance.records is None and drawn.assurance.alpha is not None:
        receipt["worst_alpha"] = float(drawn.assurance.alpha)
    return receipt


@cache
def _software() -> str:
    return f"dproo {version('dproo')}"
