"""What is remembered of a ledger outside of it, and whether the ledger still holds it.

The file itself cannot show that an old copy was restored, that a stale journal was rolled back
over later charges, or that a disk lost its last writes. So witnesses note every event after its
commit, and before data is read for it. Every opening compares.

After a crash between commit and note, the notes are behind the ledger: the newest one is an
earlier event of the same chain, and the next write catches up. The notes are never ahead of the
ledger unless it has lost something, provided that they are read *before* the state of the ledger
with which they are compared: a charge in between only makes that state newer.

A note is a line of JSON for one event, without its request and receipt. The newest note of a ledger
is the last one in the file. A file that begins with anything else, such as data or a ledger, is not
a witness, whatever path or link leads to it: it is neither searched nor appended to.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol, TypeGuard

from dproo.core.checks import exact, refusal
from dproo.core.paths import named_file, user_folder
from dproo.errors import (
    ChargedError,
    CorruptLedgerError,
    RolledBackError,
    UnusableWitnessError,
)
from dproo.ledger.events import CHARGES, Event
from dproo.ledger.location import GATE, fullness, make_folder, sync_folder, wait_for_lock

_HASH = re.compile("[0-9a-f]{64}")
_HEAD = 1 << 12  # bytes at the beginning of a witness, which hold at least the start of a note
_TAIL = 1 << 16  # bytes at its end, which nearly always hold the wanted notes
_PATIENCE = 60  # seconds to wait for the lock, which others hold for one write each
_ROOM = 1 << 20  # bytes; a disk that is full after the commit would cost a charge


@dataclass(frozen=True, kw_only=True)
class Note:
    """One event as noted by a witness.

    Attributes:
        ledger: the identity of the ledger.
        seq: the number of the event.
        hash: its hash, which covers all events up to it.
        dataset: the declared name.
        nano: what it charges, in nano-epsilon.
        atto: what it charges, in atto-delta.
    """

    ledger: str
    seq: int
    hash: str
    dataset: str
    nano: int
    atto: int

    @classmethod
    def of(cls, ledger: str, event: Event) -> Note:
        """Return the note of an event."""
        is_charge = event.kind in CHARGES
        return cls(
            ledger=ledger,
            seq=event.seq,
            hash=event.hash,
            dataset=event.dataset,
            nano=event.nano if is_charge else 0,
            atto=event.atto if is_charge else 0,
        )


_NAMES = {field.name for field in fields(Note)}
_NUMBERS = ("seq", "nano", "atto")
_BEYOND = 1 << 63  # what neither store of a ledger can hold


@dataclass(frozen=True)
class Witness:
    """A file to which notes are only appended.

    Attributes:
        path: the file.
        is_made: whether it is created if missing, as the user's own. Any other must exist, since
            its disk may not be mounted.
    """

    path: Path
    is_made: bool = False

    def newest(self, ledger: str) -> Note | None:
        """Return the last note of a ledger, or None."""
        with self._reading() as file:
            return _newest(file, ledger)

    def lineage(self, ledger: str, *, until: Note | None = None) -> list[Note]:
        """Return the notes up to ``until`` or the newest one, without those of lost branches."""
        return self._branches(ledger, until)[0]

    def forgotten(self, ledger: str, *, until: Note | None = None) -> list[tuple[str, Note]]:
        """Return the charges of lost branches that were lost together with their declaration.

        They could not be charged again. Each follows the hash of its declaration: where that comes
        back with a newer copy, the charge is due.
        """
        return self._branches(ledger, until)[1]

    def _branches(
        self, ledger: str, until: Note | None
    ) -> tuple[list[Note], list[tuple[str, Note]]]:
        with self._reading() as file:
            content = os.pread(file, os.fstat(file).st_size, 0)
        lineage: list[Note] = []
        forgotten: list[tuple[str, Note]] = []
        for note in _notes(iter(content.splitlines()), ledger):
            kept = bisect_left(lineage, note.seq, key=lambda one: one.seq)
            if lost := lineage[kept:]:
                del lineage[kept:]
                known = {one.dataset for one in lineage}
                declared: dict[str, str] = {}  # the first event of a dataset is its declaration
                for one in lost:
                    declaration = declared.setdefault(one.dataset, one.hash)
                    if one.dataset not in known and one.nano + one.atto > 0:
                        forgotten.append((declaration, one))
            forgotten = [parts for parts in forgotten if parts[0] != note.hash]
            lineage.append(note)
            if note == until:
                break
        return lineage, forgotten

    def require_notes(self) -> None:
        """Raise if the file cannot be read, or holds more than notes."""
        with self._reading():
            pass

    def require_writable(self, *, room: int = _ROOM) -> None:
        """Raise unless a note can be appended, as far as that can be checked in advance.

        Args:
            room: bytes that must be free on the disk, and below a limit of file sizes.
        """
        with self._errors("written"):
            if self.is_made:
                make_folder(self.path.parent)
            target = self.path
            try:
                found = target.stat(follow_symlinks=not self.is_made)
                if not stat.S_ISREG(found.st_mode):
                    raise OSError(None, "it is not a plain file")
            except FileNotFoundError:
                if not self.is_made:
                    raise
                target = self.path.parent
            if not os.access(target, os.R_OK | os.W_OK):
                raise OSError(None, "it is read-only")
            if what := fullness(self.path, target, room):
                raise OSError(None, f"hardly any space is left on the {what}")

    def append(self, notes: Sequence[Note], *, after: Note | None) -> None:
        """Write notes to disk, except those that another process has written meanwhile.

        Args:
            notes: notes of consecutive events, oldest first.
            after: the newest note when the first of these events was written.
        """
        last = notes[-1]
        with self._errors("written"), self._locked() as file:
            _require_notes(file)
            size = os.fstat(file).st_size
            text = b""
            if not _ends_with(file, size, after):
                newest = _newest(file, last.ledger)
                if newest in notes:
                    notes = notes[notes.index(newest) + 1 :]
                elif newest != after:
                    if _has(file, last):  # another process was faster
                        return
                    raise OSError(None, "another copy of the ledger was charged meanwhile")
                if size and os.pread(file, 1, size - 1) != b"\n":
                    text = b"\n"  # a crash cut off the last note
            text += b"".join(map(_line, notes))
            while text:
                text = text[os.write(file, text) :]
            os.fsync(file)

    @contextmanager
    def _reading(self) -> Iterator[int]:
        with self._errors("read"):
            try:
                file = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe is not waited for
            except (FileNotFoundError, NotADirectoryError):
                if not self.is_made:
                    raise
                file = os.open(os.devnull, os.O_RDONLY)
            try:
                _require_notes(file)
                yield file
            finally:
                os.close(file)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Lock the file, however impatient the caller is: without its note, a charge is wasted."""
        if not GATE.acquire(timeout=_PATIENCE):
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        try:
            is_new = self.is_made and not self.path.exists()
            flags = os.O_RDWR | os.O_APPEND | (os.O_CREAT | os.O_NOFOLLOW if self.is_made else 0)
            file = os.open(self.path, flags, 0o600)
            try:
                if is_new:
                    sync_folder(self.path.parent)
                wait_for_lock(file, _PATIENCE)
                yield file
            finally:
                os.close(file)
        finally:
            GATE.release()

    @contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "no such path can exist"
            remedy = "Set XDG_STATE_HOME to a folder" if self.is_made else "Name another"
            raise UnusableWitnessError(
                f"the witness {self.path}, which remembers the ledger's newest event, could not "
                f"be {what}: {reason}. {remedy} that can be."
            ) from None


def _line(note: Note) -> bytes:
    return f"{json.dumps(vars(note))}\n".encode()


_OPENING = b'{"ledger": "'
_BEGUN = re.compile(re.escape(_OPENING) + rb'[0-9a-f]{64}"')
_CUT = re.compile(rb"[0-9a-f]{0,64}")


def _require_notes(file: int) -> None:
    """Raise unless a file is empty, or begins with a note or with what a crash has left of one."""
    size = os.fstat(file).st_size
    for line in os.pread(file, min(size, _HEAD), 0).splitlines():
        if _BEGUN.match(line):
            return
        cut = line.strip(b"\0")  # blocks that were never written are read as zeros
        opening, identity = cut[: len(_OPENING)], cut[len(_OPENING) :]
        if not (_OPENING.startswith(opening) and _CUT.fullmatch(identity)):
            break
    else:
        if size <= _HEAD:
            return
    raise OSError(None, "it holds more than notes of a ledger")


def _ends_with(file: int, size: int, note: Note | None) -> bool:
    """Return whether a note is the last line of a file, reading only that line."""
    if note is None:
        return size == 0
    line = _line(note)
    return os.pread(file, len(line), max(0, size - len(line))) == line


def _newest(file: int, ledger: str) -> Note | None:
    return next(_backwards(file, ledger), None)


def _has(file: int, note: Note) -> bool:
    """Return whether a note is in a file and no note of another branch follows it."""
    return next((one for one in _backwards(file, note.ledger) if one.seq <= note.seq), None) == note


def _backwards(file: int, ledger: str) -> Iterator[Note]:
    """Yield the notes of a ledger, newest first; the end of the file is usually enough."""
    end = os.fstat(file).st_size
    size, seen = _TAIL, 0
    while True:
        start = max(0, end - size)
        lines = os.pread(file, end - start, start).splitlines()
        notes = list(_notes(reversed(lines[1:] if start else lines), ledger))
        yield from notes[seen:]
        if start == 0:
            return
        seen, size = len(notes), 8 * size


def _notes(lines: Iterator[bytes], ledger: str) -> Iterator[Note]:
    """Yield the notes of a ledger; skip a line that a crash cut off, or that is not a note."""
    for line in lines:
        if ledger.encode() in line:
            try:
                parts = json.loads(line.decode())
            except (ValueError, RecursionError):
                continue
            if _is_note(parts) and parts["ledger"] == ledger:
                yield Note(**parts)


def _is_note(parts: object) -> TypeGuard[dict[str, Any]]:
    """Return whether a line is a note that a ledger could have written, so it can be charged."""
    return (
        isinstance(parts, dict)
        and parts.keys() == _NAMES
        and all(type(parts[name]) is int and 0 <= parts[name] < _BEYOND for name in _NUMBERS)
        and isinstance(parts["dataset"], str)
        and isinstance(parts["hash"], str)
        and _HASH.fullmatch(parts["hash"]) is not None
    )


class Held(Protocol):
    """The events of a ledger in one state, as its session reads them."""

    def event(self, seq: int) -> Event | None:
        """Return an event by its number."""

    def events(self, *, since: int = 0) -> Iterator[Event]:
        """Yield the events after a number, in order."""


News = tuple[Witness, Note | None, list[Note]]
"""A witness, its newest note, and the notes that it lacks."""


@dataclass(kw_only=True)
class Memory:
    """What the witnesses of a ledger held when they were read.

    Attributes:
        ledger: its identity: the hash of the first event, which contains a random number; empty
            for a ledger without events.
        chosen: the witness named by the user.
        witnesses: the chosen one, and one in the user's state folder.
        newest: the newest note of each.
        needs_room: whether the disk must have space to spare, as before a charge. A charge may use
            some of it up, so its record is written whatever is left.
    """

    ledger: str
    chosen: Path | None
    needs_room: bool = field(default=True, init=False)
    witnesses: list[Witness] = field(init=False)
    newest: dict[Witness, Note | None] = field(init=False)

    def __post_init__(self) -> None:
        if self.ledger and not _HASH.fullmatch(self.ledger):  # it becomes a file's name
            raise CorruptLedgerError(
                "the ledger is corrupt: the chain of hashes breaks at event 1."
            )
        self.witnesses = [] if self.chosen is None else [Witness(self.chosen)]
        if folder := user_folder("XDG_STATE_HOME", ".local", "state"):
            path = folder / "dproo" / f"{self.ledger[:32]}.jsonl"
            self.witnesses.append(Witness(path, is_made=True))
        readable = self.witnesses if self.ledger else []
        self.newest = {witness: witness.newest(self.ledger) for witness in readable}

    def lost(self, held: Held) -> list[Note]:
        """Return the notes of events that the ledger lacks."""
        if all(self._is_held(note, held) for note in self.newest.values()):
            return []
        hashes = {event.hash for event in held.events()}
        noted: dict[str, Note] = {}
        for witness, newest in self.newest.items():
            if newest is not None:
                forgotten = witness.forgotten(self.ledger, until=newest)
                back = [note for declaration, note in forgotten if declaration in hashes]
                lineage = witness.lineage(self.ledger, until=newest)
                noted |= {note.hash: note for note in (*back, *lineage)}
        return [note for digest, note in noted.items() if digest not in hashes]

    @staticmethod
    def _is_held(note: Note | None, held: Held) -> bool:
        if note is None:
            return True
        event = held.event(note.seq)
        return event is not None and event.hash == note.hash

    def require_all(self, held: Held, path: object) -> None:
        """Raise unless the ledger holds every noted event."""
        if lost := self.lost(held):
            raise RolledBackError(
                f"the ledger {path} lacks {len(lost)} of its events, the last one of "
                f"{lost[-1].dataset!r}: it is an old copy, or a crash lost them. Put the newest "
                "copy back, or continue with this one: 'dproo ledger accept-restore' charges again "
                "what was lost."
            )

    def require_writable(self) -> list[Witness]:
        """Return the witnesses that can be written.

        Raises:
            UnusableWitnessError: the first one cannot, or there is none. If one was chosen, the
                user's own is optional.
        """
        if not self.witnesses:
            raise UnusableWitnessError(
                "the ledger's newest event must be remembered outside of it, and there is no home "
                "folder. Set XDG_STATE_HOME to a folder of yours."
            )
        writable: list[Witness] = []
        for witness in self.witnesses:
            try:
                witness.require_writable(room=_ROOM if self.needs_room or writable else 0)
                writable.append(witness)
            except UnusableWitnessError:
                if not writable:
                    raise
        return writable

    def news(self, held: Held) -> list[News]:
        """Return what the witnesses lack, for :func:`write_notes` after the commit."""
        first = held.event(1)
        if first is None:
            return []
        known = self if self.ledger else Memory(ledger=first.hash, chosen=self.chosen)
        return [known.news_for(one, held) for one in known.require_writable()]

    def news_for(self, witness: Witness, held: Held) -> News:
        """Return what one witness lacks."""
        newest = self.newest.get(witness)
        since = newest.seq if newest is not None else 0
        if not self._is_held(newest, held):  # a restore was accepted: start at the common event
            noted = {note.hash for note in witness.lineage(self.ledger, until=newest)}
            since = max((event.seq for event in held.events() if event.hash in noted), default=0)
        notes = [Note.of(self.ledger, event) for event in held.events(since=since)]
        return witness, newest, notes


def write_notes(news: Iterable[News]) -> None:
    """Let the witnesses note what was committed.

    Raises:
        ChargedError: one could not be written; the event is in the ledger nevertheless.
    """
    try:
        for witness, newest, notes in news:
            if notes:
                witness.append(notes, after=newest)
    except UnusableWitnessError as error:
        raise ChargedError(f"{error} The ledger was written; a charge in it stays.") from None


def named_witness(chosen: str | os.PathLike[str] | None) -> Path | None:
    """Return the chosen witness, else the one in ``DPROO_WITNESS``, or None.

    Raises:
        ValueError: the path is empty; or the variable is a relative one, which would depend on the
            working folder.
    """
    if chosen is None:
        return named_file("DPROO_WITNESS")
    if not isinstance(chosen, str | os.PathLike):
        raise TypeError(refusal("witness", "be the path of a file", chosen))
    if not (path := exact(chosen)):
        raise ValueError(refusal("witness", "be the path of a file", chosen))
    return Path(path).absolute()
