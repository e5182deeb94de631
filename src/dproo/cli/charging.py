"""What every charging command needs: the ledger, and the printing of what was charged."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from dproo.alphabet import Alphabet
from dproo.alphabet.axis import Letters
from dproo.cli import ending
from dproo.cli.output import write_whole
from dproo.exceptions import MissingLedgerError, ReleaseError, UnknownDatasetError
from dproo.ledger import Address, Ledger, LedgerError, address_of, default_path
from dproo.releases.budget_name import dataset_name, remedy, reprint
from dproo.releases.execute import STOPPED
from dproo.releases.request import Stopped


@contextmanager
def charging(
    data: str, path: str | None, dataset: str | None, *, no_ledger: bool
) -> Iterator[dict[str, Any]]:
    """Yield the ledger and the dataset to charge; a missing budget is named with its remedy.

    An interrupt between the steps of a release says so, if something was charged meanwhile.
    """
    if no_ledger:
        yield {}
        return
    name, book = dataset or dataset_name(data), book_of(path)
    before = None
    try:
        ledger = Ledger(book)
        before = ledger.head()
        yield {"ledger": ledger, "dataset": name}
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


def texts(alphabet: Alphabet, groups: dict[str, Alphabet] | None = None) -> Iterator[str]:
    """Yield the names and letters that could be printed; numbers need no look."""
    for part in (alphabet, *(groups or {}).values()):
        yield from part.columns
        for axis in part.axes:
            if isinstance(axis, Letters):
                yield from map(str, axis.letters)
    yield from groups or {}
