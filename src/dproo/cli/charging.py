"""What every charging command needs: the ledger, and the printing of what was charged."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dproo.cli import ending
from dproo.cli.output import echo, write_whole
from dproo.core.numbers import decimal_text
from dproo.core.paths import Origin
from dproo.counting.layout import Layout
from dproo.counting.source import Source
from dproo.errors import MissingLedgerError, ReleaseError, UnknownDatasetError
from dproo.ledger import Address, Ledger, LedgerError, address_of, default_path, in_epsilon
from dproo.mechanisms import REPLACE
from dproo.releases.assurance import epsilon_warnings
from dproo.releases.charge import Charge, dataset_name, protected, remedy, reprint
from dproo.releases.dataset import Dataset
from dproo.releases.protection import PERSON, Groups, Protection
from dproo.releases.request import Stopped
from dproo.releases.run import STOPPED
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


def told_before(cost: Fraction, protection: Protection, *, groups: Groups | None) -> list[str]:
    """Say on standard error, before the charge, what it will be where that may surprise."""
    told = []
    if groups is not None and protection.neighbours == REPLACE and not groups.are_public:
        cost *= 2
        why = "a record that is replaced can leave one group and enter another."
        told = [f"With --by this costs 2 x epsilon = {decimal_text(cost)}: {why}"]
    return warn([*told, *epsilon_warnings(cost, whom=protection.whom)])


def warn(sentences: Iterable[str]) -> list[str]:
    """Print warnings on standard error, and return them."""
    sentences = list(sentences)
    with suppress(OSError):  # the result does not depend on what is beside it
        for sentence in sentences:
            echo(f"Warning: {sentence}", err=True)
    return sentences


def _public(receipt: dict[str, Any]) -> dict[str, object]:
    """Return which letters a release was out of."""
    if "longest" in receipt:
        least = f"of {receipt['minimum_people']} or more, {receipt['longest']} characters at most"
        return {"letters": f"open: text {least}"}
    if "codebook_sha256" not in receipt:
        letters = {"letters k": receipt["k"]}
        return letters | {"alphabet": f"sha256 {receipt['alphabet_sha256'][:16]}"}
    if "model" in receipt:
        edges = (f"{' - '.join(family['columns'])}" for family in receipt["families"])
        return {
            "network": f"{receipt['network']}: {'; '.join(edges)}",
            "noise": f"{receipt['noise']}, exact",
            "model": f"sha256 {receipt['model']['sha256'][:16]}",
            "code book": f"sha256 {receipt['codebook_sha256'][:16]}",
        }
    arrows = (
        f"{', '.join(step['parents'])} -> {step['column']}" if step["parents"] else step["column"]
        for step in receipt["columns"]
    )
    return {
        "network": f"{receipt['network']}: {'; '.join(arrows)}",
        "code book": f"sha256 {receipt['codebook_sha256'][:16]}",
    }


def _sampler(receipt: dict[str, Any]) -> str:
    return f"{receipt['sampler']} (auto)." if receipt["sampler_reason"] else receipt["sampler"]


def facts(receipt: dict[str, Any]) -> dict[str, object]:
    """Return what a person wants to read of a receipt."""
    charged = receipt["ledger"]
    several = {"rows": f"{receipt['rows']:,}, {receipt['way']}"} if "rows" in receipt else {}
    if receipt.get("delta", "0") != "0":
        several["delta"] = receipt["delta_decimal"]
    stated = {"purpose": receipt["purpose"]} if receipt["purpose"] else {}
    return {
        **stated,
        **several,
        "sampler": " ".join(filter(None, (_sampler(receipt), receipt["sampler_reason"]))),
        "accuracy": receipt["accuracy"],
        "epsilon": f"{receipt['epsilon_decimal']} (worst loss, certified:"
        f" {receipt['certificate']['epsilon']:.9g} for {receipt['certificate']['covers']})",
        "protects": f"{receipt['protects']}, {receipt['neighbours']}",
        f"{'people' if receipt['unit'] == PERSON else 'records'} n": receipt.get("n", "private"),
        **_public(receipt),
        "ledger": f"entry {charged['entry']} of {charged['dataset']!r},"
        f" charged {in_epsilon(charged['charge_nano_epsilon'])}"
        if charged
        else "none: not charged to any budget",
        "software": receipt["software"],
    }
