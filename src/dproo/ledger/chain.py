"""The chain of events: what happened, in order, each event sealed to all before it."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Protocol

from dproo.core.checks import refusal
from dproo.core.numbers import delta_charge_of
from dproo.exceptions import UnknownDatasetError, UnknownEntryError

DECLARED, RESERVED, RECORDED, RESTORED = "declared", "reserved", "recorded", "restored"
REQUESTED, APPROVED, DENIED = "requested", "approved", "denied"
NO_EVENT = "0" * 64
"""The hash before the first event."""

CHARGED = "kind IN ('reserved', 'restored')"
"""The SQL condition of an event that charges."""

ASKED = ("delta", "epsilon", "request")
"""The fields of a body that fix which release it is about."""

COLUMNS = "seq, kind, dataset, entry, nano, body, hash"
_NAMES = COLUMNS.split(", ")
_INSERT = f"INSERT INTO event ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - no outside text

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]\d+)?')


class Rows(Protocol):
    """The answer to a query."""

    def fetchone(self) -> Any:
        """Return the next row, if there is one."""

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows."""


class Connection(Protocol):
    """A ledger inside a transaction; the table ``event`` is read by SQL of our own."""

    def execute(self, query: str, parameters: tuple[Any, ...] = ..., /) -> Rows:
        """Run a query whose parameters are written as question marks."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line of the ledger, never changed after it was written.

    Attributes:
        seq: its number, from 1 without gaps.
        kind: ``"declared"``, ``"reserved"``, ``"recorded"`` or ``"restored"``; or, about the
            word of a second person, ``"requested"``, ``"approved"`` or ``"denied"``.
        dataset: the declared name.
        entry: the ``seq`` of the reservation or request it belongs to, or 0.
        nano: the budget or the charge, in nano-epsilon; 0 for a record or a decision.
        body: everything else, as canonical JSON.
        hash: SHA-256 of the previous event's hash and of all fields above.
    """

    seq: int
    kind: str
    dataset: str
    entry: int
    nano: int
    body: str
    hash: str

    @classmethod
    def of(cls, row: Iterable[Any]) -> Event:
        """Return the event of a row of :data:`COLUMNS`."""
        return cls(**dict(zip(_NAMES, row, strict=True)))

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The content of the body."""
        return json.loads(self.body)  # type: ignore[no-any-return]

    @property
    def charge(self) -> tuple[int, int]:
        """What it charges, in nano-epsilon and atto-delta."""
        if self.kind not in {RESERVED, RESTORED}:
            return 0, 0
        delta = self.fields.get("delta")
        return self.nano, 0 if delta is None else delta_charge_of(delta)

    @property
    def is_canonical(self) -> bool:
        """Whether the body is the one text of its content, but for the digits of floats."""
        text = _json(self.fields)
        return self.body == text or _TOKEN.sub(_shortest, self.body) == text

    def link(self, previous: str) -> str:
        """Return the hash this event must have after an event of hash ``previous``.

        A JSON list determines its items, so no two events share a text.
        """
        text = _json(
            [previous, self.seq, self.kind, self.dataset, self.entry, self.nano, self.body]
        )
        return hashlib.sha256(text.encode()).hexdigest()

    def shown(self) -> dict[str, Any]:
        """Return the event for export, its body unfolded."""
        return {**asdict(self), "body": self.fields}


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What an event is to say, before it has a number and a hash; fields as in :class:`Event`.

    Without an ``entry`` it starts its own.
    """

    kind: str
    dataset: str
    nano: int
    body: dict[str, Any]
    entry: int | None = None


def canonical(value: object) -> str:
    """Return the one JSON text of ``value``: ASCII, sorted names, no blanks.

    It is written twice because the names of the first text, not those of ``value``, are what
    a reader sorts again.

    >>> canonical({"b": 1, "a": [True, None]}), canonical({10: 1, 9: 2})
    ('{"a":[true,null],"b":1}', '{"10":1,"9":2}')
    """
    return _json(json.loads(_json(value)))


def _json(value: object) -> str:
    return _ENCODER.encode(value)


def _shortest(token: re.Match[str]) -> str:
    """Return a float as Python writes it, and any other token as it is."""
    text = token[0]
    is_float = text[0] != '"' and not text.lstrip("-").isdigit()
    return repr(float(text)) if is_float else text


def now() -> str:
    """Return the time as events keep it: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def fresh_id() -> str:
    """Return a text by which an event differs from every other, also from those of a copy."""
    return secrets.token_hex(16)


def _has_ids(first: Event | None) -> bool:
    """Return whether the events of a ledger have ids; the first one is what it is known by.

    A ledger that was made before there were any goes on without.
    """
    return first is None or "id" in first.fields


def events(
    connection: Connection, *, where: str = "1 = 1", of: tuple[Any, ...] = ()
) -> Iterator[Event]:
    """Yield the events in order, or those that meet an SQL condition of our own."""
    rows = connection.execute(f"SELECT {COLUMNS} FROM event WHERE {where} ORDER BY seq", of)  # noqa: S608 - no outside text
    yield from map(Event.of, rows)


def head(connection: Connection) -> tuple[int, str]:
    """Return number and hash of the last event."""
    row = connection.execute("SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1").fetchone()
    return row or (0, NO_EVENT)


def append(connection: Connection, draft: Draft, *, known: Sequence[Event]) -> Event:
    """Write the next event.

    Args:
        connection: to the ledger.
        draft: what it says.
        known: the first event and the last; none in a ledger without events.
    """
    last, previous = (known[-1].seq, known[-1].hash) if known else (0, NO_EVENT)
    seq, body = last + 1, draft.body
    if "id" in body and not _has_ids(known[0] if known else None):
        body = {name: value for name, value in body.items() if name != "id"}
    entry = seq if draft.entry is None else draft.entry
    row = (seq, draft.kind, draft.dataset, entry, draft.nano, canonical(body))
    event = Event.of((*row, Event.of((*row, "")).link(previous)))
    connection.execute(_INSERT, (*row, event.hash))
    return event


def undeclared(connection: Connection, dataset: object) -> UnknownDatasetError:
    """Return what to raise for a name without a budget."""
    declared = [event.dataset for event in events(connection, where="kind = 'declared'")]
    near = difflib.get_close_matches(str(dataset), declared, n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]!r}?" if near else "'dproo ledger init' declares one."
    return UnknownDatasetError(f"{refusal('dataset', 'have a declared budget', dataset)} {hint}")


def pair(
    found: Iterable[Event], number: int, *, reservation: str | None = None
) -> tuple[Event, Event | None]:
    """Return a reservation and, if there is one, its record.

    Args:
        found: what the ledger holds of an entry.
        number: of the entry.
        reservation: the hash that the reservation must have, if it is known.
    """
    kinds = {event.kind: event for event in found}
    if RESERVED not in kinds or reservation not in {None, kinds[RESERVED].hash}:
        raise UnknownEntryError(
            refusal("entry", "be the number of a charge in this ledger", number)
        )
    return kinds[RESERVED], kinds.get(RECORDED)


def declared_in(found: Iterable[Event]) -> Event:
    """Return the declaration of a dataset."""
    return next(event for event in found if event.kind == DECLARED)


def receipt_of(reserved: Event, recorded: Event) -> dict[str, Any]:
    """Return the receipt of a release with what the ledger knows of it."""
    charged = {"charge_nano_epsilon": reserved.nano}
    if delta := reserved.fields.get("delta"):
        charged["charge_atto_delta"] = delta_charge_of(delta)
    return {
        **recorded.fields["receipt"],
        "ledger": {
            "dataset": reserved.dataset,
            "entry": reserved.seq,
            **charged,
            "head": recorded.hash,
        },
    }


def sent_before(connection: Connection, fresh: str) -> Event | None:
    """Return the event that was committed although the answer was lost."""
    return next(events(connection, where="id = ?", of=(fresh,)), None)
