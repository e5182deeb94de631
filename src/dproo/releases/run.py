"""The only path from data to output: prepare, reserve, count, draw, record, return.

Whatever can fail without data fails before the charge: the data is opened, the engine started,
and the whole release rehearsed with invented counts. The charge is durable before any data is
read, and the release is recorded before any of it is shown. From the reservation until the receipt
is written, every failure or interrupt is one fixed sentence that says whether the charge stands. If
the system keeps the ledger from recording a release that is paid for, its receipt says so.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from threading import Event
from typing import Any, TypeVar

from dproo import __version__, counting
from dproo.core.counts import Counts
from dproo.core.draw import RandomSource
from dproo.core.notebook import table as html_table
from dproo.core.numbers import delta_charge_of, float_upper
from dproo.core.partition import DEALT_MAX
from dproo.counting.boundary import anew, apart, interrupt_in, refusing, unprepared
from dproo.counting.source import Source
from dproo.errors import (
    STOPPED,
    ChargedError,
    MissingLedgerError,
    OutputError,
    ReleaseError,
    Stopped,
    UnknownDatasetError,
)
from dproo.ledger import Entry, Ledger, LedgerError
from dproo.ledger.events import canonical
from dproo.ledger.ledger import ROOM
from dproo.ledger.rules import NO_LIMITS, TERMS, public_text
from dproo.mechanisms import REPLACE
from dproo.receipt import STATED, Charged, Receipt
from dproo.releases.charge import (
    Charge,
    published,
    refuse_data_as_letters,
    refuse_own_data,
    short_name,
)
from dproo.releases.request import Drawn, Request, StagedRequest
from dproo.schema import Alphabet, Record

RELEASE_FAILED = (
    "the release failed after data was read; details are withheld because they could reveal data."
)

UNREAD = "the release failed before data was read."
MAY_STAND = "The charge may stand; see 'dproo ledger show'."
EXIT = 4
"""The exit code of a release that ended after its charge."""

Result = TypeVar("Result")

_LOG = logging.getLogger("dproo")


@dataclass(frozen=True, repr=False)
class Release:
    """A completed release and its receipt.

    Attributes:
        values: the released records; with groups, one for each group in their order.
        receipt: how they were drawn.
    """

    values: tuple[Record, ...]
    receipt: Receipt

    @property
    def value(self) -> Record:
        """The released record, if there is exactly one."""
        if len(self.values) != 1:
            raise ValueError(
                f"value needs exactly one record, but {len(self.values):,} were released: use"
                " .values."
            )
        return self.values[0]

    def __repr__(self) -> str:
        return (
            f"<Release of {self._what}: epsilon {self.receipt.epsilon_decimal},"
            f" {self.receipt.sampler}, {self._charged}>"
        )

    def _repr_html_(self) -> str:
        names = (*STATED, "accuracy", "epsilon_decimal", "protects", "neighbours", "sampler")
        named = [(name.partition("_")[0], getattr(self.receipt, name)) for name in names]
        warned = [("warning", warning) for warning in self.receipt.warnings]
        rows = [(name, text) for name, text in named if text is not None]
        return html_table(f"Release of {self._what}", [*rows, *warned, ("budget", self._charged)])

    @property
    def _what(self) -> str:
        return repr(self.values[0]) if len(self.values) == 1 else f"{len(self.values):,} records"

    @property
    def _charged(self) -> str:
        charged = self.receipt.ledger
        if charged is None:
            return "not charged to any budget"
        return f"entry {charged.entry} of {charged.dataset!r}"


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A release whose data is opened but not yet read.

    Attributes:
        scan: the opened data and the engine that counts it; to be closed.
        source: the data, for the later counts of a release in stages.
    """

    request: Request
    scan: counting.Scan
    charge: Charge
    source: Source

    def rehearse(self) -> int:
        """Draw from invented counts and write the receipt; return the most bytes of a receipt.

        Whatever is loaded, opened, constructed or certified on the way fails now, before the
        charge, or not at all. A release in stages needs a new scan afterwards.
        """
        request = self.request.rehearsal
        n = request.records_needed

        def imagine(alphabets: Sequence[Alphabet], columns: tuple[str, ...]) -> tuple[Counts, ...]:
            with _scan(request, self.source, alphabets, columns) as scan:
                scan.rehearse()
                return scan.imagined(n)

        if isinstance(request, StagedRequest):
            self.scan.close()  # a connection, or a pool of a single one, is for one scan at a time
            request = request.bound(imagine)
        else:
            self.scan.rehearse()
        drawn = request.draw(self.scan.imagined(n), RandomSource())
        receipt = published(_receipt(request, drawn, self.charge, n).as_dict())
        public_text("receipt", receipt, request.protection.neighbours)
        Receipt.of(receipt)
        if not (values := self.request.values_room):
            return self.request.room
        return ROOM + len(canonical(receipt | {"values": []})) + values

    def run(self) -> Release:
        """Count, draw and write the receipt; what it costs must have been charged before."""
        request = self.request

        def count(alphabets: Sequence[Alphabet], columns: tuple[str, ...]) -> tuple[Counts, ...]:
            with _scan(request, self.source, alphabets, columns) as scan:
                return scan.count_several()

        with self.scan:
            bound = request.bound(count) if isinstance(request, StagedRequest) else request
            return _release(bound, self.scan, self.charge)


@dataclass
class _ChargeState:
    """Whether the charge stands, as the sentence that ends every message; empty before it.

    ``is_charged`` says whether the ledger has answered, so that data may have been read.
    """

    sentence: str = ""
    is_charged: bool = False


def execute(request: Request, source: Source, charge: Charge) -> Release:
    """Prepare the release, reserve the budget, release and record."""
    source = refusing(source.opened)()
    prepared = prepare(request, source, charge)
    try:
        for warning in prepared.scan.warnings:
            _LOG.warning("Warning: %s", warning)
        book = refusing(charge.opened)()
        room = refusing(prepared.rehearse)()
        if isinstance(request, StagedRequest):
            scan = refusing(_scan)(request, source, request.counted_alphabets, request.columns)
            prepared = replace(prepared, scan=scan)
            refusing(scan.rehearse)()
        _LOG.info("Rehearsed without data; no record was read.")
        if book is not None:
            refuse_data_as_letters(request.counted_alphabets, book)
            refuse_own_data(source, book)
            _require_room(room)
        is_read_once = source.is_read_once
        if is_read_once:
            source.reading.take()
    except BaseException:
        prepared.scan.close()
        raise
    if book is None:
        return guarded(prepared.run)
    state = _ChargeState()
    try:
        return guarded(lambda: _charged(prepared, book, state, room), state=state)
    finally:
        if not state.sentence:  # not charged, and so not read
            prepared.scan.close()
            if is_read_once:
                source.reading.give_back()


def prepare(request: Request, source: Source, charge: Charge) -> Prepared:
    """Open the data and check it by header and schema; no record is read.

    Raises:
        TypeError, ValueError: the release cannot be made.
    """
    scan = refusing(_scan)(request, source, request.counted_alphabets, request.columns)
    if request.is_dealt and (scan.ready or 0) > DEALT_MAX:
        raise ValueError(
            f"counts must sum to at most {DEALT_MAX:,} where every record is dealt at random, to a"
            " block or a letter. Use the sampler 'roo', and the policy 'other'."
        )
    if scan.ready is not None and (few := _too_few(request, scan.ready)):
        raise ValueError(few)
    for note in scan.notes:
        _LOG.info("%s", note)
    names = ", ".join(request.columns) or "a column without a name"
    _LOG.info("Checked by header and schema: %s. Engine: %s.", names, scan.engine)
    return Prepared(request=request, scan=scan, charge=charge, source=source)


def require_charge(request: Request, charge: Charge) -> bool:
    """Raise whatever the ledger would refuse; nothing is charged and no data is opened.

    Returns:
        whether the release would be charged now; if not, a second person must approve it first.

    Raises:
        ValueError: letters were read from a file that has a budget.
        LedgerError: too little is left, or a rule forbids it.
    """
    book = charge.opened()
    if book is None:
        return True
    refuse_data_as_letters(request.counted_alphabets, book)
    return book.require(
        str(charge.dataset),
        epsilon=request.cost,
        delta=request.delta,
        basis=request.protection.basis,
        request=stated(request, charge),
    )


def stated(request: Request, charge: Charge) -> dict[str, Any]:
    """Return the public choices as the ledger stores them with the charge.

    An approval covers exactly these and the cost, so they include everything that changes the
    release or whom it protects.
    """
    return {
        **request.public_choices,
        **charge.stated,
        "columns": list(request.columns),
        "groups_sha256": None if request.groups is None else request.groups.groups.digest,
        "protects": request.protects,
    }


def _scan(
    request: Request, source: Source, alphabets: Sequence[Alphabet], columns: tuple[str, ...]
) -> counting.Scan:
    """Open the data to count columns by alphabets, under the protection of the request."""
    where = request.protection.where | {"order": request.columns}
    return source.scan(alphabets, columns, **where)


def _require_room(room: int) -> None:
    """Refuse a release whose receipt a ledger might not take."""
    if room > TERMS["receipt_max"]:
        raise ValueError(
            f"the receipt must have at most {TERMS['receipt_max']:,} bytes in a ledger, and this"
            f" one may have {room:,}. Release fewer records at once, or use shorter letters."
        )


def _charged(prepared: Prepared, book: Ledger, state: _ChargeState, room: int) -> Release:
    """Charge a prepared release, make it and record it; ``state`` follows the charge."""
    request, charge = prepared.request, prepared.charge
    stopped = Event()
    awaited = book.limited(NO_LIMITS, is_awaited=lambda: not stopped.is_set())

    def reserve() -> Entry:
        state.sentence = MAY_STAND
        try:
            entry = awaited.reserve(
                str(charge.dataset),
                epsilon=request.cost,
                delta=request.delta,
                **vars(request.protection.basis),
                request=stated(request, charge),
                room=room,
            )
        except (LedgerError, TypeError, ValueError) as refused:
            if not isinstance(refused, ChargedError):
                state.sentence = ""
            raise _Refused(refused) from None
        state.sentence = f"The charge stays: entry {entry.number} of {entry.dataset!r}."
        return entry

    # Reserving and recording have a thread of their own, so an interrupt finds them done or not
    # begun. A reservation that still waits for its charge is given up.
    with prepared.scan:
        entry = apart(reserve, stop=stopped.set)
        state.is_charged = True
        _LOG.info("Charged: entry %s of %r.", entry.number, entry.dataset)
        drawn = prepared.run()
    stays = state.sentence
    again = f"'dproo ledger print {entry.number}' prints the release"

    def record() -> Receipt:
        state.sentence = f"{stays} {again} if it was recorded."
        try:
            receipt = book.record(entry, drawn.receipt.as_dict())
        except Exception:  # noqa: BLE001 - whatever failed, the release is paid for, so it is shown
            return _unrecorded(drawn.receipt, entry, request)
        state.sentence = f"{stays} {again}."
        _LOG.info("Recorded.")
        return Receipt.of(published(receipt))

    # On an interrupt, a record that still waits for the ledger is given up.
    return replace(drawn, receipt=apart(record, stop=lambda: None, is_due=True))


def _unrecorded(receipt: Receipt, entry: Entry, request: Request) -> Receipt:
    """Return the receipt of a release that the ledger charged and could not record."""
    charged = Charged(
        dataset=short_name(entry.dataset),
        entry=entry.number,
        charge_nano_epsilon=entry.charge,
        charge_atto_delta=delta_charge_of(request.delta),
    )
    warning = (
        f"The ledger charged this release, entry {entry.number}, and could not record it: keep it,"
        " since 'dproo ledger print' may not print it again."
    )
    return replace(receipt, ledger=charged, warnings=(*receipt.warnings, warning))


class _Refused(Exception):  # noqa: N818 - it only carries an error
    """Carries a refusal of the ledger past the boundary, which turns errors into failures."""

    def __init__(self, refusal: Exception) -> None:
        self.refusal = refusal
        super().__init__()


def _release(request: Request, scan: counting.Scan, charge: Charge) -> Release:
    tables = scan.count_several()
    _LOG.info("Counted.")
    if few := _too_few(request, tables[0].n):
        raise ReleaseError(few)
    drawn = request.draw(tables, RandomSource())
    _LOG.info("Drawn.")
    return Release(drawn.values, _receipt(request, drawn, charge, tables[0].n))


def _too_few(request: Request, n: int) -> str:
    """Return the sentence about data with too few records, or '' if it has enough."""
    needed = request.records_needed
    if not request.is_n_public or n >= needed:
        return ""
    return f"the data has {f'fewer than {needed:,}' if needed > 1 else 'no'} records."


def guarded(
    action: Callable[[], Result], *, state: _ChargeState | None = None, charged: str = ""
) -> Result:
    """Run ``action``; any failure is raised as one sentence without a cause.

    Interrupts and exits stay what they are, so that they end the program. Anything else, even a
    library's panic that is not an ``Exception``, becomes a :class:`ReleaseError`, or a refusal
    while the charge is still awaited: what the program's own handler of a signal raises there.

    Args:
        action: what touches data, or comes after a charge.
        state: the charge that ``action`` makes.
        charged: the sentence about an earlier charge instead.
    """
    handled = sys.exception()
    try:
        return action()
    except _Refused as refused:
        end: BaseException = refused.refusal
        end.__context__ = end.__cause__ = None
    except BaseException as error:  # noqa: BLE001 - raised below, without its cause
        interrupt = interrupt_in(error, but=handled)
        if state and not state.sentence:
            end = _bare_end(error, interrupt)
        else:
            is_unread = state is not None and not state.is_charged
            end = _end(error, interrupt, state.sentence if state else charged, is_unread=is_unread)
    raise end


@contextmanager
def between_steps(ledger: Ledger, dataset: str) -> Iterator[None]:
    """Let an interrupt between the steps of a release say if a charge may stand.

    Within a step, :func:`guarded` does. Here it may stand if the dataset was charged meanwhile.
    """
    before = _spent(ledger, dataset)
    try:
        yield
    except Stopped:
        raise
    except KeyboardInterrupt:
        after = None
        with suppress(KeyboardInterrupt):  # a second one
            after = _spent(ledger, dataset)
        if after == before is not None:
            raise
        raise Stopped(f"{STOPPED} {MAY_STAND}") from None


def _spent(ledger: Ledger, dataset: str) -> int | None:
    """Return what a dataset was charged, or None if the ledger cannot be read."""
    try:
        return ledger.budget(dataset).spent
    except (MissingLedgerError, UnknownDatasetError):
        return 0
    except LedgerError:
        return None


def _bare_end(error: BaseException, interrupt: type[BaseException] | None) -> BaseException:
    """Return what to raise where nothing was charged, and so nothing was read."""
    if interrupt is None:
        return unprepared(error)
    return error if isinstance(error, SystemExit) else anew(interrupt)


def _end(
    error: BaseException, interrupt: type[BaseException] | None, charged: str, *, is_unread: bool
) -> BaseException:
    """Return what to raise after the charge, if there is one."""
    if interrupt is KeyboardInterrupt:
        return Stopped(f"{STOPPED} {charged}".rstrip())
    if interrupt is SystemExit:
        end = SystemExit(EXIT)
        end.add_note(f"{STOPPED} {charged}".rstrip())
        return end
    if is_unread:
        return ChargedError(f"{UNREAD} {charged}")
    sentence = str(error) if isinstance(error, ReleaseError | OutputError) else RELEASE_FAILED
    return ReleaseError(f"{sentence} {charged}".rstrip())


def _receipt(request: Request, drawn: Drawn, charge: Charge, n: int) -> Receipt:
    protection, assurance = request.protection, drawn.assurance
    alpha = None if assurance.records is not None else assurance.alpha
    return Receipt(
        epsilon=request.cost,
        neighbours=protection.neighbours,
        unit=protection.unit,
        protects=request.protects,
        **{name: charge.stated[name] for name in STATED},
        column_names=tuple(request.columns),
        details=drawn.facts,
        accuracy=assurance.sentence,
        warnings=tuple(assurance.warnings(request.cost, whom=protection.whom)),
        certificate=drawn.certificate,
        software=f"dproo {__version__}",
        n=n if protection.neighbours == REPLACE else None,
        worst_alpha=None if alpha is None else float_upper(alpha),
    )
