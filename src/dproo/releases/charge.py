"""The budget that a release is charged to: its default name, and the files that it protects."""

from __future__ import annotations

import glob
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from dproo.core.checks import may_hold_secret, plain_text, refusal
from dproo.core.paths import Origin, guarding, require_public
from dproo.counting.boundary import refusing
from dproo.counting.single_pass import STDIN
from dproo.counting.source import Source, are_files, full_path
from dproo.counting.sources.descriptors import OpenPath, files_of
from dproo.counting.sources.postgresql import url as postgresql_url
from dproo.errors import LedgerError
from dproo.ledger import Address, Ledger, address_of
from dproo.ledger.location import is_default
from dproo.ledger.rules import dataset_of
from dproo.receipt import Receipt
from dproo.schema import Alphabet

STATEMENTS = {
    "purpose": "What the release is for, as the receipt and the ledger will state.",
    "operator": "Who makes it, as only the ledger will state.",
}
"""What may be stated with a release; the receipt shows :data:`dproo.receipt.STATED` of it."""

LONGEST = 200
"""Characters of a statement."""


@dataclass(frozen=True, kw_only=True)
class Charge:
    """The budget that a release is charged to; there is no default.

    Attributes:
        ledger: the ledger, or its file or address. Without it a release is charged to no budget.
        dataset: the name under which the ledger holds the budget.
        purpose: what the release is for; it appears in the receipt, which may be published.
        operator: who makes it; it appears only in the ledger.
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
        if isinstance(self.ledger, str | os.PathLike):  # made absolute: the folder may change
            object.__setattr__(self, "ledger", address_of(self.ledger))
        if self.dataset is not None:
            object.__setattr__(self, "dataset", plain_text("dataset", self.dataset))
        for name, given in self.stated.items():
            if given is None:
                continue
            text = plain_text(name, given)
            is_plain = 0 < len(text) <= LONGEST and text.isprintable() and not text.isspace()
            if not is_plain or may_hold_secret(text):
                condition = f"be printable text of 1 to {LONGEST} characters without a password"
                raise ValueError(refusal(name, condition, text))
            object.__setattr__(self, name, text)

    def opened(self) -> Ledger | None:
        """Return the ledger, opened and checked."""
        if self.ledger is None or isinstance(self.ledger, Ledger):
            return self.ledger
        return Ledger(self.ledger)

    @property
    def address(self) -> Address | None:
        """Where the ledger is."""
        if self.ledger is None:
            return None
        return self.ledger.path if isinstance(self.ledger, Ledger) else address_of(self.ledger)

    @property
    def stated(self) -> dict[str, Any]:
        """What is stated with the release."""
        return {name: getattr(self, name) for name in STATEMENTS}


def dataset_name(data: str) -> str:
    """Return the default name of a budget: a file's full path, else the text itself.

    A pattern gets a full path too, as it means other files in another folder. Names appear in
    ledgers and receipts, so a database is named by host, port and name only.

    Raises:
        ValueError: it may hold a password, or data from standard input has no name.

    >>> dataset_name("postgresql://ann:secret@db.example/clinic?password=secret&sslmode=require")
    'postgresql://db.example/clinic'
    """
    if postgresql_url.is_url(data):
        return postgresql_url.public_name(data)
    if data == STDIN:
        raise ValueError(
            "dataset must be given for data from standard input: it names the budget."
            " Add dataset=NAME, or ledger=None."
        )
    if are_files(data):
        return full_path(data)
    if may_hold_secret(data):
        raise ValueError(refusal("dataset", "be a public name", data))
    return data


@refusing
def refuse_data_as_letters(alphabets: Iterable[Alphabet], ledger: Ledger) -> None:
    """Refuse letters from a file with a budget, or a copy of one: it is protected data."""
    origins = {axis.origin for alphabet in alphabets for axis in alphabet.axes}
    with guarding(protected(lambda: ledger)):
        for origin in filter(None, origins):
            require_public("alphabet", origin)


@refusing
def refuse_own_data(source: Source, ledger: Ledger) -> None:
    """Refuse data that a charge would be written to: the ledger, or a witness of it.

    Raises:
        ValueError: the charge would count as records.
    """
    if not (files := _identities(source)):
        return
    own = {identity for file in ledger.files() for identity in _files(glob.escape(str(file)))}
    if files & own:
        raise ValueError(
            "data must not hold the ledger or a witness of it, to which the charge would be"
            " written. Move the ledger, or name another file in DPROO_WITNESS."
        )


def protected(
    opened: Callable[[], Ledger | None], source: Source | None = None
) -> Callable[[Origin], bool]:
    """Return a function: whether a file is the data, looks like a copy of it, or has a budget.

    Every dataset of the ledger that ``opened`` opens is protected.
    """

    @cache
    @refusing
    def datasets() -> tuple[str, ...]:
        with suppress(LedgerError, ValueError):  # a charge to it will say what is wrong
            ledger = opened()
            return () if ledger is None else tuple(account.dataset for account in ledger.show())
        return ()

    def is_data(origin: Origin) -> bool:
        if source is not None and isinstance(source.data, str | Path):
            columns = _columns(source) if len(origin.header) > 1 else []
            if any(origin.is_data(file, columns) for file in _files(str(source.data))):
                return True
        # By identity alone: whether the first line of these files is a header is not known.
        named = (name for name in datasets() if Path(name).is_absolute())
        return any(origin.is_data(file, ()) for name in named for file in _files(name))

    return is_data


def require_named(source: Source, name: str) -> None:
    """Raise unless the open files of a source are the ones that a name means.

    Raises:
        ValueError: a link on the way to them was changed while they were opened.
    """
    if isinstance(source.data, OpenPath) and _identities(source) != {*_files(name)}:
        raise ValueError(
            "data must mean the same files while they are opened: a link or a folder has changed."
            " Nothing was read or charged; try again."
        )


def _identities(source: Source) -> set[tuple[int, int]]:
    """Return the identities of the files of a source, if it has any."""
    if isinstance(source.data, OpenPath):
        return {file.identity for file in source.data.files}
    return set(_files(str(source.data))) if isinstance(source.data, str | Path) else set()


def _files(path: str) -> list[tuple[int, int]]:
    """Return the identities of the files that a path or a pattern means; a broken link has none."""
    with suppress(OSError, ValueError):  # a file of another machine, or an impossible name
        return [found.identity for found in map(Origin.found, files_of(path)) if found is not None]
    return []


def _columns(source: Source) -> list[str]:
    """Return the names of the columns, if the data has any."""
    with suppress(OSError, TypeError, ValueError):
        return [column.name for column in source.columns]
    return []


def short_name(dataset: str) -> str:
    """Return the name of a file without its folders, which are not to be published."""
    return Path(dataset).name if Path(dataset).is_absolute() else dataset


def distinct_names(datasets: Sequence[str]) -> dict[str, str]:
    """Return the short names, with the last folders of those that would otherwise be the same.

    >>> distinct_names(["/a/23/visits.csv", "/a/24/visits.csv", "/a/flu.csv"]).values()
    dict_values(['23/visits.csv', '24/visits.csv', 'flu.csv'])
    """
    ends = {dataset: [*_ends(dataset), dataset] for dataset in datasets}
    held = Counter(chain.from_iterable(map(set, ends.values())))
    return {name: next((end for end in own if held[end] == 1), name) for name, own in ends.items()}


def _ends(dataset: str) -> list[str]:
    parts = Path(dataset).parts if Path(dataset).is_absolute() else ()
    return ["/".join(parts[-count:]) for count in range(1, len(parts))]


def published(receipt: dict[str, Any]) -> dict[str, Any]:
    """Return a receipt that has the short name of its dataset.

    >>> published({"ledger": {"dataset": "/home/ann/visits.csv", "entry": 2}})
    {'ledger': {'dataset': 'visits.csv', 'entry': 2}}
    """
    if (charged := receipt["ledger"]) is None:
        return receipt
    return receipt | {"ledger": charged | {"dataset": short_name(charged["dataset"])}}


def remedy(dataset: str, ledger: Address) -> str:
    """Return the sentence that says how to declare a missing budget.

    >>> remedy("visits", Path("/data/book"))
    'Declare a budget first: dproo ledger init visits --budget EPSILON --ledger /data/book.'
    """
    options = f"--budget EPSILON{_elsewhere(ledger)}"
    try:
        name = shlex.quote(dataset_of(dataset))
    except ValueError:  # a path may be longer, or in another normal form
        return f"Declare a budget first: dproo ledger init NAME {options}, and add --dataset NAME."
    # A name that begins like an option must come after "--".
    arguments = f"{options} -- {name}" if dataset.startswith("-") else f"{name} {options}"
    return f"Declare a budget first: dproo ledger init {arguments}."


def reprint(receipt: Receipt, ledger: Address | None) -> str:
    """Return the sentence that says where to find a release that could not be shown."""
    if receipt.ledger is None or ledger is None:
        return "It was charged to no ledger, so it is lost."
    again = f"dproo ledger print {receipt.ledger.entry}{_elsewhere(ledger)}"
    if receipt.ledger.head is None:
        return f"The charge stays. If the release was recorded after all, {again} prints it again."
    return f"The charge stays, and the release is kept: {again} prints it again, for free."


def _elsewhere(ledger: Address) -> str:
    return "" if is_default(ledger) else f" --ledger {_argument(str(ledger), 'FILE')}"


def _argument(text: str, placeholder: str) -> str:
    is_shown = text.isprintable() and not may_hold_secret(text)
    return shlex.quote(text) if is_shown else placeholder
