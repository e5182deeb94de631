"""The events of a ledger: what happened, in order, each linked by a hash to all before it."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from dproo.ledger.rules import NO_LIMITS, Limits

DECLARED, RESERVED, RECORDED, RESTORED = "declared", "reserved", "recorded", "restored"
REQUESTED, APPROVED, DENIED = "requested", "approved", "denied"
CHARGES = (RESERVED, RESTORED)
"""The kinds of events that charge a budget."""

NO_EVENT = "0" * 64
"""The hash before the first event."""

COLUMNS = "seq, kind, dataset, entry, nano, atto, at, role, id, body, hash"

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


class Event(NamedTuple):
    """One row of the ledger, never changed once written.

    Attributes:
        seq: its number, from 1 without gaps.
        kind: what happened.
        dataset: the declared name.
        entry: the number of the event that this one answers: the charge that is recorded, or
            the request that is decided or charged; else 0.
        nano: the budget or the charge, in nano-epsilon.
        atto: the same in atto-delta.
        at: the time, UTC; empty for a record, since it would show how long counting took.
        role: the role of the database that wrote it; empty in a file.
        id: random, so that no event equals one of another ledger or copy.
        body: everything else, as the JSON text that was hashed.
        hash: SHA-256 of the previous event's hash and all fields above.
    """

    seq: int
    kind: str
    dataset: str
    entry: int
    nano: int
    atto: int
    at: str
    role: str
    id: str
    body: str
    hash: str

    def link(self, previous: str) -> str:
        """Return the hash that this event must have after an event of hash ``previous``.

        The fields are lines. Only the last could contain a line break, but it is ASCII without
        any, so no two events share a text.
        """
        text = "\n".join(map(str, (previous, *self[:-1])))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def fields(self) -> dict[str, Any]:
        """The content of the body."""
        return json.loads(self.body)  # type: ignore[no-any-return]

    def shown(self) -> dict[str, Any]:
        """Return the event for export, with its body parsed if possible."""
        try:
            body: Any = self.fields
        except (ValueError, RecursionError):
            body = self.body
        return {**self._asdict(), "body": body}


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The content of an event that does not yet have a number, a time and a hash.

    Attributes:
        kind, dataset, entry, nano, atto, body: as in :class:`Event`.
        limits: rules that a charge must obey in addition to those of its budget.
        room: bytes of disk to set aside with a charge, for its record.
        id: as in :class:`Event`.
    """

    kind: str
    dataset: str
    body: Mapping[str, Any]
    entry: int = 0
    nano: int = 0
    atto: int = 0
    limits: Limits = NO_LIMITS
    room: int = 0
    id: str = field(default_factory=lambda: secrets.token_hex(16))

    def event(self, *, after: Event | None, at: str) -> Event:
        """Return the event that follows another one, or is the first."""
        seq, previous = (1, NO_EVENT) if after is None else (after.seq + 1, after.hash)
        numbers, body = (self.entry, self.nano, self.atto), canonical(self.body)
        event = Event(seq, self.kind, self.dataset, *numbers, at, "", self.id, body, "")
        return event._replace(hash=event.link(previous))


def canonical(value: object) -> str:
    """Return the canonical JSON of ``value``: printable ASCII, sorted names, no blanks.

    >>> canonical({"b": 1, "a": [True, None]})
    '{"a":[true,null],"b":1}'
    """
    return _ENCODER.encode(value).replace("\x7f", "\\u007f")


def now() -> str:
    """Return the time in the form of events: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
