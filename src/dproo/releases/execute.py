"""The only path from data to output: validate, reserve, count, draw, record, return.

Everything that can be refused is refused before the charge, the charge is durable before any
data is read, and the release is recorded before any of it is shown. From the reservation until
the receipt is written, every failure or interrupt is one fixed sentence that says what became of
the charge.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from importlib.metadata import version
from typing import Any, TypeVar

from dproo import engines
from dproo.alphabet import Record
from dproo.core.draw import RandomSource
from dproo.core.notebook import table as html_table
from dproo.core.numbers import decimal_text
from dproo.engines.layout import PLAIN, Layout
from dproo.exceptions import BudgetRefused, ReleaseError
from dproo.ledger import Ledger, LedgerError
from dproo.mechanisms import REPLACE
from dproo.releases.budget_name import published
from dproo.releases.request import Drawn, Request, Stopped
from dproo.releases.statement import Statement

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


@contextmanager
def _naming_text(epsilon: object) -> Iterator[None]:
    """Add to a refusal that a float costs its binary value, and how to write what was meant."""
    try:
        yield
    except BudgetRefused as refused:
        if isinstance(epsilon, float) and Fraction(epsilon) != Fraction(repr(epsilon)):
            refused.add_note(
                f"A float is charged at its exact binary value, rounded up. Write {str(epsilon)!r}"
                " as text to be charged exactly that."
            )
        raise


def execute(
    request: Request,
    data: Any,
    *,
    column: str | None = None,
    table: str | tuple[str, ...] | None = None,
    engine: str | None = None,
    master: str | None = None,
    layout: Layout = PLAIN,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    operator: str | None = None,
    asked: object = None,
) -> Release:
    """Check the data, reserve the budget, release and record; see :func:`dproo.sample`.

    ``asked`` is epsilon as it was written, for a refusal to name.
    """
    where: dict[str, Any] = {"table": table, "engine": engine, "master": master, "layout": layout}
    if request.person is not None:
        where |= {"person": request.person, "kept": request.records_per_person}
    alphabets = request.counted_alphabets
    columns = request.columns or ((column,) if column else ())
    stated = Statement(purpose=purpose, operator=operator, columns=columns)
    if len(alphabets) == 1:
        scan = engines.prepare(data, alphabet=alphabets[0], column=column, **where)
    else:
        scan = engines.prepare_several(data, alphabets=alphabets, columns=request.columns, **where)
    for warning in scan.warnings:
        _LOG.warning("Warning: %s", warning)
    book = _open(ledger, dataset)
    if book is None:
        return release(request, scan, stated)
    unit = {} if request.person is None else _COUNTS_PEOPLE
    with _naming_text(asked):
        entry = guarded(
            lambda: book.reserve(
                str(dataset),
                epsilon=request.cost,
                delta=request.delta,
                neighbours=request.neighbours,
                records_per_person=request.records_per_person,
                request=request.public_choices | stated.kept | unit,
            ),
            kept="The charge may stand; see 'dproo ledger show'.",
            refusals=(LedgerError, TypeError, ValueError),
        )
    kept = f"The charge stays: entry {entry.number} of {entry.dataset!r}."
    drawn = guarded(lambda: release(request, scan, stated), kept=kept)
    kept = f"{kept} 'dproo ledger print {entry.number}' prints the release if it was recorded."
    receipt = guarded(lambda: book.record(entry, drawn.receipt), kept=kept)
    return replace(drawn, receipt=published(receipt))


def _open(ledger: Ledger | str | os.PathLike[str] | None, dataset: str | None) -> Ledger | None:
    if ledger is None:
        if dataset is not None:
            raise ValueError("ledger must be given with a dataset: it keeps the dataset's budget.")
        return None
    if dataset is None:
        raise ValueError("dataset must be given with a ledger: it names the budget to charge.")
    return ledger if isinstance(ledger, Ledger) else Ledger(ledger)


def release(request: Request, scan: engines.Scan, stated: Statement | None = None) -> Release:
    """Count, draw and write the receipt; what it costs must have been charged before."""
    return guarded(lambda: _release(request, scan, stated or Statement()))


def _release(request: Request, scan: engines.Scan, stated: Statement) -> Release:
    tables = scan.count_several()
    if request.is_n_public and tables[0].n < request.records_needed:
        raise ReleaseError(f"the data has fewer than {request.records_needed} records.")
    drawn = request.draw(tables, RandomSource())
    return Release(drawn.values, _receipt(request, drawn, stated, tables[0].n))


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


def _receipt(request: Request, drawn: Drawn, stated: Statement, n: int) -> dict[str, Any]:
    receipt: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "epsilon": str(request.cost),
        "epsilon_decimal": decimal_text(request.cost),
        "neighbours": request.neighbours,
        "protects": request.protects,
        **stated.published,
        **drawn.facts,
        "accuracy": drawn.assurance.sentence,
        "warnings": drawn.assurance.warnings(request.cost, whom=request.protects.partition(",")[0]),
        "certificate": drawn.certificate,
        "ledger": None,
        "software": _software(),
    }
    if request.neighbours == REPLACE:
        receipt["n"] = n
    if drawn.assurance.records is None and drawn.assurance.alpha is not None:
        receipt["worst_alpha"] = float(drawn.assurance.alpha)
    return receipt


@cache
def _software() -> str:
    return f"dproo {version('dproo')}"
