"""Paths: public files, which are read and written whole, and the user's folders.

Settings are never read from the working folder.
"""

from __future__ import annotations

import csv
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dproo.core.checks import plain_text, refusal

BYTES_MAX = 64 << 20
_BLOCK = 1 << 20
_READABLE = "be a readable UTF-8 text file"


def path_of(name: str, path: object) -> Path:
    """Return a path; a text of a subclass of ``str`` stands for its own characters.

    Raises:
        TypeError: it is neither a text nor a path.
    """
    place = os.fspath(path) if isinstance(path, os.PathLike) else path
    return Path(plain_text(name, place, "be a text or a path"))


@dataclass(frozen=True)
class Origin:
    """The file that letters come from, to be compared with protected data.

    Attributes:
        identity: its device and inode, which a link to it shares.
        header: the columns of a CSV file, which a copy of it shares.
        path: where it was; another file may get the identity of one that was removed.
        is_described: whether it is a code book, whose letters may be quoted; a list may be data.
    """

    identity: tuple[int, int]
    header: tuple[str, ...] = ()
    path: str = ""
    is_described: bool = False

    @classmethod
    def of(cls, path: str | Path, header: Sequence[str] = ()) -> Origin:
        """Return the origin of letters read from a file."""
        place = path_of("path", path)
        status = place.stat()
        identity = status.st_dev, status.st_ino
        return cls(identity, tuple(header), os.path.abspath(place))  # noqa: PTH100 - as it is named

    @classmethod
    def found(cls, path: Any) -> Origin | None:
        """Return the origin of letters that are still to be read: a pipe may be gone afterwards.

        It is None for anything but a path of a file, which whoever reads it will say.
        """
        with suppress(OSError, TypeError, ValueError):
            return cls.of(path)
        return None

    def is_data(self, identity: tuple[int, int], header: Sequence[str]) -> bool:
        """Return whether it is this file of data, or looks like a copy of it.

        One column proves nothing: a list of codes may be named like the column that it is for.
        """
        if self.identity == identity and self._is_there():
            return True
        return len(self.header) > 1 and self.header == tuple(header)

    def _is_there(self) -> bool:
        found = Origin.found(self.path) if self.path else self
        return found is not None and found.identity == self.identity


_GUARDS: ContextVar[tuple[Callable[[Origin], bool], ...]] = ContextVar("guards", default=())


@contextmanager
def guarding(is_data: Callable[[Origin], bool]) -> Iterator[None]:
    """Refuse protected data, before it is parsed, where a public file is expected.

    Otherwise the message would say what is wrong in the file, and one record may decide that.

    Args:
        is_data: whether a file is protected.
    """
    token = _GUARDS.set((*_GUARDS.get(), is_data))
    try:
        yield
    finally:
        _GUARDS.reset(token)


def require_public(name: str, origin: Origin) -> None:
    """Raise if a file is protected data, or looks like a copy of it.

    Args:
        name: what a refusal calls it.
        origin: the file.

    Raises:
        ValueError: it is data.
    """
    if any(is_data(origin) for is_data in _GUARDS.get()):
        raise ValueError(
            f"{name} must be public, got the data itself, a copy of it, or a file that has a budget"
            " in the ledger. List the possible values from a code book."
        )


def read_public(
    name: str, path: str | Path, *, at_most: int = BYTES_MAX, condition: str | None = None
) -> str:
    """Return the text of a public file or pipe, without its byte-order mark.

    Anything else, such as a device that never ends, is not opened.

    Args:
        name: what a refusal calls it.
        path: a file, or a pipe such as the shell's ``<(...)``.
        at_most: how many bytes are read.
        condition: what the content must be, in the words of the caller's own refusal. It is for
            callers that may not know yet which ledger protects the file: then all unsuitable
            content must be refused in the same words.

    Raises:
        ValueError: it is not a file or a pipe, cannot be read, is not UTF-8, or is too long.
    """
    path = path_of(name, path)
    unreadable = ValueError(refusal(name, _READABLE, str(path)))
    try:
        mode = path.stat().st_mode
        origin = Origin.of(path)
    except (OSError, ValueError):  # ValueError: a name with a null character
        raise unreadable from None
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise ValueError(refusal(name, "be a file or a pipe", str(path)))
    require_public(name, origin)
    try:
        content = _content(path, at_most + 1)
    except OSError:
        raise unreadable from None
    require_public(name, replace(origin, header=_header(content)))
    if len(content) > at_most:
        condition = condition or f"have at most {at_most:,} bytes"
        raise ValueError(refusal(name, condition, str(path)))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        condition = condition or _READABLE
        raise ValueError(refusal(name, condition, str(path))) from None


def _header(content: bytes) -> tuple[str, ...]:
    """Return the names in the first line of a file, which are its columns if it is a table."""
    first = content[:_BLOCK].partition(b"\n")[0].decode("utf-8-sig", "replace").removesuffix("\r")
    with suppress(csv.Error):
        return tuple(next(csv.reader([first], delimiter=max(",;\t|", key=first.count)), ()))
    return ()


def _content(path: Path, at_most: int) -> bytes:
    content = bytearray()
    with path.open("rb", buffering=0) as file:
        while len(content) < at_most and (block := file.read(_BLOCK)):
            content += block
    return bytes(content)


def may_exist(path: Path) -> bool:
    """Return whether a file exists, or is where the system refuses to look."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # a folder that may not be searched, a name that is too long
        pass
    return True


def folder_of(name: str, path: str | Path) -> Path:
    """Return a folder to write to, and make it if it is missing.

    Raises:
        ValueError: there is none, and none can be made, or it cannot be written.
    """
    folder = path_of(name, path)
    if path == "":  # as from a variable that is not set: a path would be the working folder
        raise ValueError(refusal(name, "be a folder that can be written", path))
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):  # noqa: PTH112 - Path raises
        raise ValueError(refusal(name, "be a folder that can be written", str(folder)))
    return folder


@contextmanager
def written(path: str | os.PathLike[str], mode: str = "w") -> Iterator[Any]:
    """Open a file to write; if it cannot be written whole, it is removed.

    Devices, pipes and links are never removed.

    Args:
        path: the file.
        mode: as :func:`open` takes it; text is written as UTF-8, its line ends as they are.
    """
    kind = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    path = path_of("path", path)
    with path.open(mode, **kind) as file:  # type: ignore[call-overload]
        try:
            yield file
            file.flush()
        except BaseException:
            with suppress(OSError):
                if stat.S_ISREG(path.lstat().st_mode):
                    path.unlink()
            raise


def user_folder(variable: str, *default: str) -> Path | None:
    """Return a user's folder by the XDG standard, which ignores relative paths.

    Args:
        variable: the environment variable that may name it.
        default: otherwise, its path within the user's home.

    Returns:
        The folder, or None where the user has no home.
    """
    named = os.environ.get(variable, "")
    if os.path.isabs(named):  # noqa: PTH117 - an empty Path is a dot
        return Path(named)
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):  # noqa: PTH117
        home = _registered_home()
    return Path(home, *default) if home else None


def named_file(variable: str) -> Path | None:
    """Return the file that an environment variable names.

    Raises:
        ValueError: it is relative, so it would depend on the working folder.
    """
    named = os.environ.get(variable)
    if named and not os.path.isabs(named):  # noqa: PTH117
        raise ValueError(refusal(variable, "be an absolute path", named))
    return Path(named) if named else None


def _registered_home() -> str:
    """Return the home folder that the system has registered for the user, or ''."""
    try:
        import pwd  # noqa: PLC0415 - rarely needed, and not on every system

        home = pwd.getpwuid(os.getuid()).pw_dir
    except ImportError:
        home = os.path.expanduser("~")  # noqa: PTH111 - Path.home raises where there is none
    except KeyError:
        return ""
    return home if os.path.isabs(home) else ""  # noqa: PTH117
