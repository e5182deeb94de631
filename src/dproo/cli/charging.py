"""What every charging command needs: the ledger, and the printing of what was charged."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from dproo.cli import ending
from dproo.cli.output import write_whole
from dproo.core.paths import Origin
from dproo.engines.layout import Layout
from dproo.engines.source import Source
from dproo.errors import MissingLedgerError, ReleaseError, UnknownDatasetError
from dproo.ledger import Address, Ledger, LedgerError, address_of, default_path
from dproo.releases.budget_name import dataset_name, protected, remedy, reprint
from dproo.releases.charge import Charge
from dproo.releases.dataset import Dataset
from dproo.releases.execute import STOPPED
from dproo.releases.groups import Groups
from dproo.releases.protection import Protection
from dproo.releases.request import Stopped
from dproo.schema import Alphabet
from dproo.schema.axis import Letters


@contextmanager
def charging(
    data: str, path: str | None, dataset: str | None, *, no_ledger: bool
) -> Iterator[Charge]:
    """Yield the budget to charge; a missing one is named with its remedy.

    An interrupt between the steps of a release says so, if something was charged meanwhile.
    """
    if no_ledger:
        yield Charge()
        return
    name, book = dataset or dataset_name(data), book_of(path)
    before = None
    try:
        ledger = Ledger(book)
        before = ledger.head()
        yield Charge(ledger=ledger, dataset=name)
    except (MissingLedgerError, UnknownDatasetError) as error:
        raise type(error)(
            f"{error} {remedy(name, book)} To release without one: --no-ledger."
        ) from None
    except Stopped:
        raise
    except KeyboardInterrupt:
        if before is None or _head(ledger) == before:
            raise
        raise Stopped(f"{STOPPED} The charge stays; see 'dproo ledger show'.") from None


@contextmanager
def opened(data: str, options: Mapping[str, Any]) -> Iterator[Dataset]:
    """Yield the dataset that the options of a command describe, with the budget to charge."""
    source = source_of(data, options)
    protection = protection_of(options)
    stated = {name: options[name] for name in ("purpose", "operator")}
    Charge(**stated)  # refused before a ledger is opened
    given = options["path"], options["dataset"]
    with charging(data, *given, no_ledger=options["no_ledger"]) as charge:
        yield Dataset(source=source, protection=protection, charge=replace(charge, **stated))


def source_of(data: str, options: Mapping[str, Any]) -> Source:
    """Return the data that a command names."""
    said = ("delimiter", "encoding", "format", "has_header")
    layout = Layout(**{name: options[name] for name in said})
    return Source(data=data, table=options["table"], engine=options.get("engine"), layout=layout)


def protection_of(options: Mapping[str, Any]) -> Protection:
    """Return whom a command protects."""
    return Protection(
        neighbours=options["neighbours"],
        person=options["person"],
        records=options["records_per_person"],
        missing=options["missing_person"],
    )


def _head(ledger: Ledger) -> str | None:
    with suppress(LedgerError):
        return ledger.head()
    return None


def print_release(text: str, receipt: dict[str, Any], book: Address) -> None:
    """Print a release on standard output, and say where it is if that fails.

    It was charged, and it is kept. From its last byte on, the command has succeeded: whatever
    signal comes then, the exit code is 0.
    """
    end: BaseException | None = None
    try:
        ending.enter(ending.PRINTING)
        if not text or write_whole(text):
            ending.enter(ending.PRINTED)
        else:
            end = Stopped(f"{STOPPED} {reprint(receipt, book)}")
    except Exception:  # noqa: BLE001 - a closed pipe, a full disk, an encoding
        with suppress(OSError, ValueError):  # what is left in the buffer goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        end = ReleaseError(f"the release could not be printed. {reprint(receipt, book)}")
    except KeyboardInterrupt:
        end = Stopped(f"{STOPPED} {reprint(receipt, book)}")
    if end is not None:
        raise end


def book_of(path: str | None) -> Address:
    """Return the ledger that an option names, or the user's own."""
    return address_of(path) if path else default_path()


def texts(alphabet: Alphabet | None, groups: Groups | None = None) -> Iterator[str]:
    """Yield the names and letters that could be printed; numbers are always printable."""
    axes = () if alphabet is None else alphabet.axes
    yield from () if alphabet is None else alphabet.columns
    if groups is not None:
        yield groups.by
        axes = (*axes, groups.axis)
    for axis in axes:
        if isinstance(axis, Letters):
            yield from map(str, axis.letters)


def is_protected(origin: Origin, options: Mapping[str, Any]) -> bool:
    """Return whether a file is the data of a command, or has a budget, or is a copy of such.

    Args:
        origin: the file.
        options: those of the command; the ledger may be one of them.
    """
    data = options.get("data")
    source = source_of(data, options) if isinstance(data, str) and "table" in options else None
    return protected(lambda: Ledger(book_of(options.get("path"))), source)(origin)
