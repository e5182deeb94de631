"""Where a ledger is: a file that only its owner can change, or a database of PostgreSQL.

Anyone who can write the folder can replace the ledger, or add a journal with which SQLite would
roll back the last charges. A file that is mounted by itself, as in a container, has its journal
on another disk: a crash loses it, or replays it over later charges.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from dproo.core.checks import WITHHELD, exact, may_hold_secret, plain_text, refusal
from dproo.core.paths import named_file, user_folder
from dproo.counting.sources.postgresql import url as postgresql_url
from dproo.errors import (
    LedgerError,
    MissingLedgerError,
    NotALedgerError,
    UnsafePlaceError,
    UnusableLedgerError,
)

VARIABLE = "DPROO_LEDGER"

GATE = threading.RLock()
"""Held together with a lock on a file, and during a fork: a child would keep inherited locks."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=GATE.acquire, after_in_parent=GATE.release, after_in_child=GATE.release
    )

_LOCKED: dict[Path, int] = {}
_PAUSE = 0.005  # seconds between attempts to lock a file or folder
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_FACTS = 1 << 12  # more bytes than Linux ever returns about a handle


@dataclass(frozen=True)
class Database:
    """A database of PostgreSQL that holds a ledger.

    As text it shows only host, port and name: the URL, which only the driver gets, may hold a
    password.

    >>> print(Database("postgresql://ann:secret@db.example/clinic"))
    postgresql://db.example/clinic
    """

    url: str = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", plain_text("url", self.url))

    def __str__(self) -> str:
        """Return the part of the URL that may be shown."""
        try:
            return postgresql_url.public_name(self.url)
        except ValueError:  # a service file names the database
            return "in PostgreSQL"


Address = Path | Database


def address_of(ledger: str | os.PathLike[str] | Database) -> Address:
    """Return where a ledger is, from a path or a URL.

    Raises:
        ValueError: it begins like a PostgreSQL URL, but is not a valid one.
    """
    if isinstance(ledger, Database):
        return ledger
    if not isinstance(ledger, str | os.PathLike):
        raise TypeError(refusal("ledger", "be a path or a URL of PostgreSQL", ledger))
    place: str | os.PathLike[str] = exact(ledger)
    if place == "":
        raise ValueError(refusal("ledger", "be a path or a URL of PostgreSQL", place))
    if isinstance(place, str) and postgresql_url.is_url(place):
        postgresql_url.parsed(place, name="ledger")
        return Database(place)
    try:
        return Path(place).absolute()
    except FileNotFoundError:
        raise ValueError(refusal("ledger", "be in a folder that exists", place)) from None


def default_path() -> Address:
    """Return where the user's ledger is: ``DPROO_LEDGER``, or in the user's data folder.

    Raises:
        ValueError: the variable is a relative path, or there is neither a variable nor a home.
    """
    if postgresql_url.is_url(os.environ.get(VARIABLE)):
        return address_of(os.environ[VARIABLE])
    if chosen := named_file(VARIABLE):
        return chosen
    folder = user_folder("XDG_DATA_HOME", ".local", "share")
    if folder is None:
        raise ValueError("ledger must be given: this user has no home folder to keep one in.")
    return folder / "dproo" / "ledger.sqlite3"


def is_default(ledger: Address) -> bool:
    """Return whether a command uses this ledger unless it is given another one."""
    try:
        return ledger == default_path()
    except ValueError:  # the variable is wrong, or there is no home: then there is no default
        return False


def require_place(path: Path) -> tuple[int, int]:
    """Raise unless the ledger is a plain file that nobody else can write; return its identity."""
    require_path(path)
    with system_errors(path):
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise NotALedgerError(f"ledger must be a plain file and not a link, got {str(path)!r}.")
        require_folder(path.parent)
        require_file(path, status)
    return status.st_dev, status.st_ino


@cache
def require_path(path: Path) -> None:
    """Refuse a URL: as a path it would create folders that are named after a password."""
    is_url = any(part.endswith(":") and part[:-1].isidentifier() for part in path.parts)
    if is_url or may_hold_secret(str(path)):
        raise NotALedgerError(f"ledger must be a file, got {WITHHELD}.")


@contextmanager
def system_errors(path: Path) -> Iterator[None]:
    """Turn every error of the system, when a file is found or opened, into one sentence."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise system_error(path, error) from None


def system_error(path: Path, error: OSError | ValueError) -> LedgerError:
    """Return the error to raise where the system refuses a file."""
    if isinstance(error, FileNotFoundError):
        return MissingLedgerError(
            f"ledger must be a file that exists, got {str(path)!r}. 'dproo ledger init' adds one."
        )
    reason = getattr(error, "strerror", None) or "no such path can exist"
    return UnusableLedgerError(f"the ledger {path} could not be opened: {reason}.")


def require_folder(folder: Path) -> None:
    """Raise unless only the owner and root can change what the folder holds.

    For the folders above, the sticky bit suffices: it keeps others from renaming the next one.
    Every folder is checked under its own name, and where links lead.
    """
    links = [_require_part(part, is_last=part is folder) for part in (folder, *_above(folder))]
    if any(links) or ".." in folder.parts:
        real = Path(os.path.realpath(folder, strict=True))
        for part in (real, *_above(real)):
            _require_part(part, is_last=part is real)


@cache
def _above(folder: Path) -> tuple[Path, ...]:
    return tuple(folder.parents)


def _require_part(part: Path, *, is_last: bool) -> bool:
    """Raise if others can change a folder or the link that leads to it.

    Returns:
        Whether the name is a link.
    """
    link, status = part.lstat(), part.stat()
    is_sticky = not is_last and status.st_mode & stat.S_ISVTX
    # The owner of a link can point it elsewhere.
    is_owned = {status.st_uid, link.st_uid} <= _trusted()
    if not is_owned or (not is_sticky and _others_write(part, status)):
        raise UnsafePlaceError(
            f"the folder {part} can be changed by others, who could replace the ledger. "
            "Remove their write access (chmod go-w, chown), or keep the ledger elsewhere."
        )
    return stat.S_ISLNK(link.st_mode)


def require_file(path: Path, status: os.stat_result) -> None:
    """Raise unless only the owner and root can write an existing file."""
    if status.st_uid not in {0, os.geteuid()} or _others_write(path, status):
        raise UnsafePlaceError(
            f"the ledger {path} can be changed by others. "
            "Remove their write access (chmod go-w, chown), or keep the ledger elsewhere."
        )


def require_unmounted(path: Path) -> None:
    """Raise if a file is mounted by itself."""
    is_on_other_device = path.stat().st_dev != path.parent.stat().st_dev
    if is_on_other_device or _mount(path) != _mount(path.parent):
        raise UnsafePlaceError(
            f"the ledger {path} is mounted as a single file, and a crash would lose the journal "
            "that SQLite keeps beside it. Mount its folder instead."
        )


def _others_write(path: Path, status: os.stat_result) -> bool:
    """Return whether others may write; the owner's private group does not count.

    In a file with an access control list (ACL), the group's bits are the most that the list
    grants to anyone.
    """
    writers = status.st_mode & _OTHERS_WRITE
    if writers != stat.S_IWGRP:
        return bool(writers)
    return not _is_alone(status.st_uid, status.st_gid) or _has_access_list(path)


@cache
def _is_alone(user: int, group: int) -> bool:
    """Return whether a group is a user's private one, as many systems create."""
    import grp  # noqa: PLC0415 - POSIX, and rarely needed
    import pwd  # noqa: PLC0415

    try:
        owner, owned = pwd.getpwuid(user), grp.getgrgid(group)
    except KeyError:
        return False
    is_private = owned.gr_name == owner.pw_name and owner.pw_gid == group
    return is_private and set(owned.gr_mem) <= {owner.pw_name}


def _has_access_list(path: Path) -> bool:
    try:
        os.getxattr(path, "system.posix_acl_access")
    except (OSError, AttributeError):  # it has none, or the system has no ACLs
        return False
    return True


@cache
def _trusted() -> frozenset[int]:
    """Return who may own a folder: this user, root, and root as seen in a container.

    In a user namespace every owner from outside, including root, appears as the overflow id.
    """
    owners = {0, os.geteuid()}
    try:
        inside = Path("/proc/self/uid_map").read_text(encoding="ascii").split()
        if inside != ["0", "0", "4294967295"]:
            overflow = Path("/proc/sys/kernel/overflowuid").read_text(encoding="ascii")
            owners.add(int(overflow))
    except (OSError, ValueError):
        pass
    return frozenset(owners)


def _mount(path: Path) -> bytes | None:
    """Return the mount that a path is on, if the system shows it (Linux)."""
    if not hasattr(os, "O_PATH"):
        return None
    handle = os.open(path, os.O_PATH)  # closing it releases none of SQLite's locks
    try:
        facts = os.open(f"/proc/self/fdinfo/{handle}", os.O_RDONLY)
        try:
            lines = os.read(facts, _FACTS).splitlines()
        finally:
            os.close(facts)
    except OSError:
        return None
    finally:
        os.close(handle)
    return next((line for line in lines if line.startswith(b"mnt_id")), None)


def fullness(path: Path, folder: Path, needed: int) -> str:
    """Return what has too little space for a file of a folder to grow, or '' if nothing has."""
    import resource  # noqa: PLC0415 - POSIX; needed only with a ledger

    disk = os.statvfs(folder)
    if disk.f_blocks and disk.f_bavail * disk.f_frsize < needed:
        return "disk"
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = path.stat().st_size if path.exists() else 0
    is_limited = limit != resource.RLIM_INFINITY and limit < size + needed
    return "file, whose size is limited (ulimit -f)" if is_limited else ""


def wait_for_lock(handle: int, patience: float) -> None:
    """Lock an open file or folder against other processes.

    Raises:
        BlockingIOError: others hold it for longer than so many seconds.
    """
    import fcntl  # noqa: PLC0415 - POSIX; needed only with a ledger

    end = time.monotonic() + patience
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(_PAUSE)


def lock_folder(folder: Path, patience: float) -> None:
    """Lock a folder until ``unlock_folder``; ``GATE`` must be held.

    SQLite's locks of a file end as soon as anything else in the process closes that file, such as
    a backup; this one does not. On a file system without such locks, SQLite's are all there is.
    """
    try:
        if folder not in _LOCKED:  # or an interrupt has left it locked
            _LOCKED[folder] = os.open(folder, os.O_RDONLY)
        wait_for_lock(_LOCKED[folder], patience)
    except OSError as error:
        if isinstance(error, BlockingIOError):
            raise


def unlock_folder(folder: Path) -> None:
    """Unlock a folder, if this process has locked it."""
    import fcntl  # noqa: PLC0415 - POSIX; needed only with a ledger

    if folder in _LOCKED:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(_LOCKED[folder], fcntl.LOCK_UN)  # first: an interrupt may come in between
        os.close(_LOCKED.pop(folder))


def make_folder(folder: Path) -> None:
    """Make a private folder and its parents, and sync them to disk."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Sync a folder's list of files to disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
