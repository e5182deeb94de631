"""What is remembered of a ledger, and whether the ledger still holds it.

From its own file it cannot be seen that an old copy was put back, that a stale journal was
rolled back over later charges, or that a disk forgot its last writes. So every event is noted by
witnesses: after its commit, and before data is read for it. Every opening compares.

A crash between commit and note leaves the notes behind the ledger: the newest one is then an
earlier event of the same chain, and the next write catches up. The notes are never ahead of the
ledger unless it has lost something.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path

from dproo.exceptions import (
    ChargedError,
    CorruptLedgerError,
    RolledBackError,
    UnusableWitnessError,
)
from dproo.ledger.address import Address
from dproo.ledger.chain import Connection, Event, events
from dproo.ledger.witness import Note, Witness

_HASH = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class News:
    """What one witness lacks."""

    witness: Witness
    newest: Note | None
    notes: list[Note]


@dataclass(frozen=True, kw_only=True)
class Memory:
    """The witnesses of a ledger, looked at while a connection holds a lock on it.

    Attributes:
        connection: to the ledger; its lock keeps commits out between the looks at both.
        chosen: the witness that the user named.
        recent: events that the store knows without asking, oldest first and up to the last one.
    """

    connection: Connection
    chosen: Path | None
    recent: Sequence[Event] = ()

    @cached_property
    def ledger(self) -> str:
        """The identity: the hash of the first event, which holds a random number."""
        first = self._event(1)
        if first is None:
            return ""
        if not _HASH.fullmatch(str(first.hash)):  # it becomes the name of a file
            raise CorruptLedgerError(
                "the ledger is corrupt: the chain of hashes breaks at event 1."
            )
        return first.hash

    @cached_property
    def witnesses(self) -> list[Witness]:
        """The chosen one, and one in the user's state folder."""
        named = [] if self.chosen is None else [Witness(self.chosen)]
        state = os.environ.get("XDG_STATE_HOME", "")
        try:
            folder = state if state.startswith("/") else str(Path.home() / ".local" / "state")
        except RuntimeError:  # there is no home
            return named
        return [*named, _own(folder, self.ledger)]

    @cached_property
    def newest(self) -> dict[Witness, Note | None]:
        """The newest note of each witness; none for a ledger without events."""
        ledger = self.ledger
        return {one: one.newest(ledger) for one in self.witnesses} if ledger else {}

    def lost(self) -> list[Note]:
        """Return the notes of events that the ledger lacks."""
        if all(map(self._holds, self.newest.values())):
            return []
        held = {event.hash for event in events(self.connection)}
        ledger = self.ledger
        noted = {note.hash: note for one in self.newest for note in one.lineage(ledger)}
        return [note for digest, note in noted.items() if digest not in held]

    def _holds(self, note: Note | None) -> bool:
        if note is None or note.hash in self._held:
            return True
        if found := self._event(note.seq):
            self._held.add(found.hash)
        return note.hash in self._held

    def _event(self, seq: int) -> Event | None:
        known = (event for event in self.recent if event.seq == seq)
        asked = events(self.connection, where="seq = ?", of=(seq,))
        return next(chain(known, asked), None)

    def _since(self, seq: int) -> Iterable[Event]:
        known = [event for event in self.recent if event.seq > seq]
        if self.recent and self.recent[-1].seq - seq == len(known):  # none is missing
            return known
        return events(self.connection, where="seq > ?", of=(seq,))

    @cached_property
    def _held(self) -> set[str]:
        """Hashes that were found in the ledger, where no event is ever changed."""
        return set()

    def require_all(self, path: Address) -> None:
        """Raise unless the ledger holds every event that was noted."""
        if lost := self.lost():
            raise RolledBackError(
                f"the ledger {path} lacks {len(lost)} of its events, the last one of "
                f"{lost[-1].dataset!r}: it is an old copy, or a crash lost them. Put the newest "
                "copy back, or continue with this one: 'dproo ledger accept-restore' charges again "
                "what was lost."
            )

    def require_writable(self) -> None:
        """Raise unless a witness can be written; the user's own need not be beside another."""
        if not self.writable:
            raise UnusableWitnessError(
                "the ledger's newest event must be remembered outside of it, and there is no home "
                "folder. Set XDG_STATE_HOME to a folder of yours."
            )

    @cached_property
    def writable(self) -> list[Witness]:
        """The witnesses that can be written; the first one must be."""
        found = []
        for one in self.witnesses:
            try:
                one.require_writable()
                found.append(one)
            except UnusableWitnessError:
                if not found:
                    raise
        return found

    def news(self) -> list[News]:
        """Return what the witnesses lack, for :func:`tell` after the commit."""
        known = self if self.ledger else replace(self)  # the first event is the identity
        return [known.news_for(one) for one in known.writable]

    def news_for(self, witness: Witness) -> News:
        """Return what one witness lacks."""
        ledger = self.ledger
        newest = self.newest.get(witness)
        since = newest.seq if newest is not None else 0
        if not self._holds(newest):  # an accepted restore: go on from the last event of both
            noted = {note.hash for note in witness.lineage(ledger)}
            held = events(self.connection)
            since = max((event.seq for event in held if event.hash in noted), default=0)
        notes = [Note.of(ledger, event) for event in self._since(since)]
        return News(witness=witness, newest=newest, notes=notes)


@lru_cache
def _own(folder: str, ledger: str) -> Witness:
    """Return the user's own witness of a ledger."""
    return Witness(Path(folder) / "dproo" / f"{ledger[:32]}.jsonl", is_made=True)


def tell(news: Iterable[News], *, timeout: float) -> None:
    """Write to the witnesses what was committed.

    Raises:
        ChargedError: it could not be written; the event is in the ledger all the same.
    """
    try:
        for one in news:
            if one.notes:
                one.witness.append(one.notes, after=one.newest, timeout=timeout)
    except UnusableWitnessError as error:
        raise ChargedError(f"{error} The ledger was written; a charge in it stays.") from None


def named_witness(chosen: str | os.PathLike[str] | None) -> Path | None:
    """Return the witness that was chosen, else that of ``DPROO_WITNESS``."""
    named = chosen or os.environ.get("DPROO_WITNESS")
    return Path(named).absolute() if named else None
