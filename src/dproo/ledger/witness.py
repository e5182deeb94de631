"""A witness: a file outside of a ledger that notes what the ledger has held.

A note is one line of JSON for one event, without request and receipt. The newest note of a
ledger is the last one in the file.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

from dproo.exceptions import UnusableWitnessError
from dproo.ledger.chain import Event
from dproo.ledger.place import make_folder, sync_folder

_TAIL = 1 << 12  # the newest note is nearly always in here
_PAUSE = 0.005
_ROOM = 1 << 20  # a disk that is full after the commit would cost a charge


@dataclass(frozen=True, kw_only=True)
class Note:
    """One event as a witness keeps it.

    Attributes:
        ledger: the identity of the ledger.
        seq: the number of the event.
        hash: its hash, which stands for all events up to it.
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
        nano, atto = event.charge
        return cls(
            ledger=ledger,
            seq=event.seq,
            hash=event.hash,
            dataset=event.dataset,
            nano=nano,
            atto=atto,
        )


_NAMES = {field.name for field in fields(Note)}


@dataclass(frozen=True)
class Witness:
    """A file that notes are only ever appended to.

    Attributes:
        path: the file.
        is_made: whether it is made where it is missing. The user's own is; any other must be
            there, since the disk it is on may not be.
    """

    path: Path
    is_made: bool = False

    def newest(self, ledger: str) -> Note | None:
        """Return the last note of a ledger."""
        with self._reading() as file:
            return _newest(file, ledger)

    def lineage(self, ledger: str) -> list[Note]:
        """Return the notes of the events up to the newest one, without those of lost branches."""
        with self._reading() as file:
            content = os.pread(file, os.fstat(file).st_size, 0)
        kept: list[Note] = []
        for note in _notes(iter(content.splitlines()), ledger):
            while kept and kept[-1].seq >= note.seq:
                kept.pop()
            kept.append(note)
        return kept

    def require_writable(self) -> None:
        """Raise unless a note can be appended, as far as that can be known before."""
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
            disk = os.statvfs(target)
            if disk.f_blocks and disk.f_bavail * disk.f_frsize < _ROOM:
                raise OSError(None, "hardly any space is left on the disk")

    def append(self, notes: Sequence[Note], *, after: Note | None, timeout: float) -> None:
        """Write notes to the disk, but for those that another process has written meanwhile.

        Args:
            notes: of consecutive events, oldest first.
            after: the newest note when the first of these events was written.
            timeout: seconds to wait for other processes, which hold the lock for one write.
        """
        last = notes[-1]
        with self._errors("written"), self._locked(timeout) as file:
            size = os.fstat(file).st_size
            text = b""
            if not _ends_with(file, size, after):
                newest = _newest(file, last.ledger)
                if newest in notes:
                    notes = notes[notes.index(newest) + 1 :]
                elif newest != after:
                    if last in self.lineage(last.ledger):
                        return
                    raise OSError(None, "another copy of the ledger was charged meanwhile")
                if size and os.pread(file, 1, size - 1) != b"\n":
                    text = b"\n"  # a crash cut the last note off
            text += b"".join(map(_line, notes))
            while text:
                text = text[os.write(file, text) :]
            os.fsync(file)

    @contextmanager
    def _reading(self) -> Iterator[int]:
        with self._errors("read"):
            try:
                file = os.open(self.path, os.O_RDONLY)
            except (FileNotFoundError, NotADirectoryError):
                if not self.is_made:
                    raise
                file = os.open(os.devnull, os.O_RDONLY)
            try:
                yield file
            finally:
                os.close(file)

    @contextmanager
    def _locked(self, timeout: float) -> Iterator[int]:
        import fcntl  # noqa: PLC0415 - POSIX; without it one can still release without a ledger

        is_new = self.is_made and not self.path.exists()
        flags = os.O_RDWR | os.O_APPEND | (os.O_CREAT | os.O_NOFOLLOW if self.is_made else 0)
        file = os.open(self.path, flags, 0o600)
        try:
            if is_new:
                sync_folder(self.path.parent)
            end = time.monotonic() + timeout
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise
                    time.sleep(_PAUSE)
            yield file
        finally:
            os.close(file)

    @contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            remedy = "Set XDG_STATE_HOME to a folder" if self.is_made else "Name another"
            raise UnusableWitnessError(
                f"the witness {self.path}, which remembers the ledger's newest event, could not "
                f"be {what}: {error.strerror}. {remedy} that can be."
            ) from None


def _line(note: Note) -> bytes:
    return f"{json.dumps(vars(note))}\n".encode()


def _ends_with(file: int, size: int, note: Note | None) -> bool:
    """Return whether a note is the last line of a file, without reading others."""
    if note is None:
        return size == 0
    line = _line(note)
    return os.pread(file, len(line), max(0, size - len(line))) == line


def _newest(file: int, ledger: str) -> Note | None:
    end = os.fstat(file).st_size
    for start in dict.fromkeys((max(0, end - _TAIL), 0)):
        content = os.pread(file, end - start, start)
        if note := next(_notes(reversed(content.splitlines()), ledger), None):
            return note
    return None


def _notes(lines: Iterator[bytes], ledger: str) -> Iterator[Note]:
    """Yield the notes of a ledger; a line that a crash cut off is none."""
    for line in lines:
        if ledger.encode() in line:
            try:
                found = json.loads(line.decode())
            except ValueError:
                continue
            if isinstance(found, dict) and found.keys() == _NAMES and found["ledger"] == ledger:
                yield Note(**found)
