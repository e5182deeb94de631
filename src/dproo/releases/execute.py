"""The only path from data to output: validate, reserve, count, draw, record, return.

Everything that can be refused is refused before the charge, the charge is durable before any
data is read, and the release is recorded before any of it is shown. From the reservation until
the receipt is written, every failure or interrupt is one fixed sentence that says what became of
the charge.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from dproo import engines
from dproo.alphabet import Record
from dproo.core.exact import decimal_text
from dproo.core.randomness import RandomSource
from dproo.exceptions import ReleaseError
from dproo.ledger import Ledger, LedgerError
from dproo.mechanisms import REPLACE
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


@dataclass(frozen=True)
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
        """The released record, or the first of several."""
        return self.values[0]


def execute(
    request: Request,
    data: Any,
    *,
    column: str | None = None,
    table: str | tuple[str, ...] | None = None,
    engine: str | None = None,
    master: str | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
) -> Release:
    """Check the data, reserve the budget, release and record; see :func:`dproo.sample`."""
    where: dict[str, Any] = {"table": table, "engine": engine, "master": master}
    if request.person is not None:
        where |= {"person": request.person, "kept": request.records_per_person}
    alphabets = request.counted_alphabets
    if len(alphabets) == 1:
        scan = engines.prepare(data, alphabet=alphabets[0], column=column, **where)
    else:
        scan = engines.prepare_several(data, alphabets=alphabets, columns=request.columns, **where)
    book = _open(ledger, dataset)
    if book is None:
        return release(request, scan)
    entry = guarded(
        lambda: book.reserve(
            str(dataset),
            epsilon=request.cost,
            delta=request.delta,
            neighbours=request.neighbours,
            records_per_person=request.records_per_person,
            request=request.public_choices | ({} if request.person is None else _COUNTS_PEOPLE),
        ),
        kept="The charge may stand; see 'dproo ledger show'.",
        refusals=(LedgerError, TypeError, ValueError),
    )
    kept = f"The charge stays: entry {entry.number} of {entry.dataset!r}."
    drawn = guarded(lambda: release(request, scan), kept=kept)
    kept = f"{kept} 'dproo ledger print {entry.number}' prints the release if it was recorded."
    receipt = guarded(lambda: book.record(entry, drawn.receipt), kept=kept)
    return replace(drawn, receipt=receipt)


def _open(ledger: Ledger | str | os.PathLike[str] | None, dataset: str | None) -> Ledger | None:
    if ledger is None:
        if dataset is not None:
            raise ValueError("ledger must be given with a dataset: it keeps the dataset's budget.")
        return None
    if dataset is None:
        raise ValueError("dataset must be given with a ledger: it names the budget to charge.")
    return ledger if isinstance(ledger, Ledger) else Ledger(Path(ledger))


def release(request: Request, scan: engines.Scan) -> Release:
    """Count, draw and write the receipt; what it costs must have been charged before."""
    return guarded(lambda: _release(request, scan))


def _release(request: Request, scan: engines.Scan) -> Release:
    tables = scan.count_several()
    if request.is_n_public and tables[0].n < request.records_needed:
        raise ReleaseError(f"the data has fewer than {request.records_needed} records.")
    drawn = request.draw(tables, RandomSource())
    return Release(drawn.values, _receipt(request, drawn, tables[0].n))


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


def _receipt(request: Request, drawn: Drawn, n: int) -> dict[str, Any]:
    receipt: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "epsilon": str(request.cost),
        "epsilon_decimal": decimal_text(request.cost),
        "neighbours": request.neighbours,
        "protects": request.protects,
        **drawn.facts,
        "certificate": drawn.certificate,
        "ledger": None,
        "software": _software(),
    }
    if request.neighbours == REPLACE:
        receipt["n"] = n
    if drawn.worst_alpha is not None:
        receipt["worst_alpha"] = float(drawn.worst_alpha)
    return receipt


@cache
def _software() -> str:
    return f"dproo {version('dproo')}"
