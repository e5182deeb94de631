"""Files by descriptor, so that what was checked is what is read.

A name can come to mean another file between check and use; a descriptor cannot.
"""

from __future__ import annotations

import errno
import glob
import os
import stat
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PosixPath
from threading import Event, Thread

from dproo.core.checks import refusal
from dproo.counting.layout import FORMATS, PLAIN, is_parquet
from dproo.counting.single_pass import STDIN, must_be_reread
from dproo.errors import POSIX_ONLY, DamagedFileError, UnpreparedError
from dproo.schema.axis import Axis

BLOCK = 1 << 16

# Iceberg numbers its files, unlike others that a folder called metadata may hold; Paimon notes its
# first snapshot. DuckLake has its log in a database, but names its files so.
_LOGS = (
    "_delta_log/",
    ".hoodie/",
    "metadata/[0-9]*.metadata.json*",
    "metadata/v[0-9]*.metadata.json*",
    "snapshot/EARLIEST",
    "ducklake-????????-????-????-????-????????????.parquet",
    "_spark_metadata/",
)
_DESCRIPTORS = "/dev/fd"
_MANY = (
    "data must not have more files than may be open at once. Raise the limit (ulimit -n), or merge"
    " the files."
)
_SPARE = 32  # for what a release opens itself, such as the ledger
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


class Unlinked(PosixPath):
    """A path without links: opening it fails if one has been put there since."""


class Opened:
    """A regular file, opened once and closed with this object.

    Attributes:
        path: the name it was opened by, for messages.
        name: a name of this file even after it was moved or deleted.
        identity: its device and inode.
        size: its length in bytes.
        passed: how many bytes of it have been read; bytes read twice count twice.

    Raises:
        ValueError: it cannot be opened, or is a pipe, a device or a folder. It never blocks.
    """

    def __init__(self, path: str, *, follows: bool = True) -> None:
        try:
            self._descriptor = (os.open if follows else _open_unlinked)(path, _FLAGS)
        except OSError as error:
            if error.errno == errno.EMFILE:
                raise ValueError(_MANY) from None
            raise ValueError(refusal("data", "be a readable file", path)) from None
        weakref.finalize(self, os.close, self._descriptor)
        status = os.fstat(self._descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(refusal("data", "be a regular file", path))
        self.identity = (status.st_dev, status.st_ino)
        self.size, self.passed = status.st_size, 0
        self.path = path
        self.name = named(self._descriptor)
        self._place = os.path.realpath(self.name)

    @property
    def is_moved(self) -> bool:
        """Whether the file was moved or deleted."""
        return os.path.realpath(self.name) != self._place

    @property
    def place(self) -> str:
        """The path that it has now, for a library that opens files by their names."""
        now = os.path.realpath(self.name)
        return now if now != self.name else os.path.realpath(self.path)  # only Linux shows it

    def is_at(self, place: str) -> bool:
        """Return whether a path means this file."""
        status = os.stat(place)  # noqa: PTH116 - the name unchanged
        return (status.st_dev, status.st_ino) == self.identity

    def blocks(self) -> Iterator[bytes]:
        """Yield the content from its beginning, chunk by chunk."""
        place = 0
        while block := os.pread(self._descriptor, BLOCK, place):
            yield block
            place += len(block)
            self.passed += len(block)

    @property
    def state(self) -> tuple[int, int, int]:
        """Its size and times, which change when it is written to."""
        status = os.fstat(self._descriptor)
        return status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def start(self, length: int = 16) -> bytes:
        """Return the first bytes, which may identify the format."""
        return self.part(0, length)

    def part(self, place: int, length: int) -> bytes:
        """Return the bytes at a place, fewer if the file ends before."""
        return os.pread(self._descriptor, length, place)


class OpenPath(PosixPath):
    """A path whose files are open: they are read even if the path now means others."""

    files: list[Opened]

    @classmethod
    def of(cls, data: str | os.PathLike[str]) -> OpenPath:
        """Open the files of a path, a pattern or a folder.

        Raises:
            ValueError: there is none, or they cannot be opened.
        """
        path = cls(data)
        path.files = [file for file in find_files(data) if isinstance(file, Opened)]
        return path


class Incoming:
    """Standard input, which can be read only once; otherwise like an :class:`Opened` file."""

    path = "-"
    is_moved = False
    identity = (-1, -1)

    def __init__(self) -> None:
        try:
            self._descriptor = os.dup(0)
        except OSError:
            raise ValueError("standard input must be open for the data '-'.") from None
        weakref.finalize(self, os.close, self._descriptor)
        if os.isatty(self._descriptor):
            raise ValueError("standard input must be a file or a pipe for the data '-'.")
        self.name = named(self._descriptor)
        self._held: list[bytes] = []
        self._file = os.fstat(self._descriptor)

    @classmethod
    def opened(cls) -> Incoming:
        """Return standard input from its beginning, including what a check has read of it.

        Raises:
            ValueError: it is not open, is a terminal, or its records have been read.
        """
        stdin = cls._first
        if stdin is None or not stdin.is_open:
            stdin = cls._first = cls()
        if not stdin._is_buffered:
            raise ValueError(must_be_reread())
        return stdin

    _first: Incoming | None = None

    @property
    def is_open(self) -> bool:
        """Whether standard input is still the same file or pipe."""
        try:
            return os.path.samestat(self._file, os.fstat(0))
        except OSError:
            return False

    def start(self) -> bytes:
        """Return the first bytes, which may identify the format."""
        while sum(map(len, self._held)) < 16 and (block := os.read(self._descriptor, BLOCK)):
            self._held.append(block)
        return b"".join(self._held)[:16]

    def blocks(self) -> Iterator[bytes]:
        """Yield the content, including what was read before the first record."""
        place = 0
        while True:
            if place == len(self._held):
                block = os.read(self._descriptor, BLOCK)
                if not block:
                    return
                if not self._is_buffered:
                    yield block
                    continue
                self._held.append(block)
            yield self._held[place]
            place += 1

    _is_buffered = True

    def let_go(self) -> None:
        """Stop buffering: what follows is read only once."""
        self._is_buffered = False


def _open_unlinked(path: str, flags: int) -> int:
    """Open a file by an absolute path on which no link is followed."""
    root, *folders, name = Path(path).parts
    passing = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
    here = os.open(root, passing)
    try:
        for folder in folders:
            inner = os.open(folder, passing, dir_fd=here)
            os.close(here)
            here = inner
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=here)
    finally:
        os.close(here)


def find_files(data: str | os.PathLike[str]) -> list[Opened] | list[Incoming]:
    """Open the files that :func:`paths_of` finds; ``-`` is standard input.

    A file found under two names, one of them a link, is opened once: its records count once.
    """
    path = os.fspath(data)
    if path == STDIN:
        return [Incoming.opened()]
    if isinstance(data, OpenPath):
        return data.files
    is_unlinked = isinstance(data, Unlinked)
    paths = [path] if is_unlinked else [str(Path(match).absolute()) for match in paths_of(path)]
    refuse_tables(paths)
    opened = [Opened(path, follows=not is_unlinked) for path in paths]
    return list({file.identity: file for file in reversed(opened)}.values())[::-1]


def require_spare(number: int) -> None:
    """Refuse files unless so many more can be open: libraries open them anew while they count."""
    try:
        import resource  # noqa: PLC0415 - only POSIX has it

        used = len(os.listdir(_DESCRIPTORS))  # noqa: PTH208 - faster than a Path
    except (ModuleNotFoundError, FileNotFoundError):  # a system that does not tell
        return
    except (ImportError, OSError):  # not one more can be open
        raise ValueError(_MANY) from None
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and used + number + _SPARE > most:
        raise ValueError(_MANY)


def paths_of(path: str) -> list[str]:
    """Return the files of :func:`files_of`, all of which are to be read.

    Raises:
        ValueError: there is none, or a pattern leaves out folders of data.
    """
    found, folders = _matched(path)
    is_folder = os.path.isdir(path)  # noqa: PTH112 - Path raises where a name is too long
    if not is_folder and _left_out(folders, found):
        raise ValueError(
            refusal("data", "be a pattern without folders of data, such as Spark writes", path)
            + " Name the files in them, too, as '**/*.parquet' does."
        )
    if not found:
        what = "be a file, or a folder with Parquet files" if is_folder else "be a file that exists"
        raise ValueError(refusal("data", what, path))
    # Below such names Spark keeps what a writer has not finished, perhaps the same records again.
    for file in found:
        own = Path(file).relative_to(path).parts if is_folder else _matched_folders(file, path)
        if any(part.startswith("_") and "=" not in part for part in own):
            refuse_tables([str(Path(file).absolute())])  # whose logs have such names, too
            what = "a folder without Parquet files" if is_folder else "a pattern without files"
            raise ValueError(
                refusal("data", f"be {what} below names that begin with _", path)
                + " Most programs leave such files out. Move them, or give a pattern: '*.parquet'."
            )
    return found


def files_of(path: str) -> list[str]:
    """Return a file, all files that a pattern matches, or all Parquet files of a folder.

    Protected data stays so where a release of it would be refused.
    """
    return _matched(path)[0]


def _matched(path: str) -> tuple[list[str], set[str]]:
    """Return the files of :func:`files_of`, and the folders that the pattern matches."""
    is_folder = os.path.isdir(path)  # noqa: PTH112 - Path raises where a name is too long
    if not is_folder and os.path.exists(path):  # noqa: PTH110
        return [path], set()
    # A folder of Parquet files, as Spark writes it.
    pattern = os.path.join(glob.escape(path), "**", "*") if is_folder else path  # noqa: PTH118
    named = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
    files = [name for name in named if not os.path.isdir(name)]  # noqa: PTH112
    return list(filter(is_parquet, files)) if is_folder else files, {*named} - {*files}


def _left_out(folders: Iterable[str], files: Iterable[str]) -> set[Path]:
    """Return the folders that are called like a file of data, but have none of these files."""
    of_data = {Path(folder) for folder in folders if PLAIN.ending_of(folder)[0] in FORMATS}
    return of_data and of_data - {above for file in files for above in Path(file).parents}


def _matched_folders(file: str, pattern: str) -> set[str]:
    """Return the names of the folders above a file that its pattern does not spell out."""
    spelled = {*Path(pattern).parts}
    return {part for part in Path(file).parent.parts if not {part, glob.escape(part)} & spelled}


def refuse_tables(paths: Iterable[str]) -> None:
    """Refuse files in the folder of a table that has a log of which files are part of it.

    Only names decide. A folder that may not be listed counts as one without a log.
    """
    files = (place(path) for path in paths for place in (os.path.abspath, os.path.realpath))
    folders = {Path(file).parent for file in files}
    for place in sorted({above for folder in folders for above in (folder, *folder.parents)}):
        if any(glob.glob(log, root_dir=place) for log in _LOGS):  # noqa: PTH207 - never raises
            condition = (
                "be outside the folders of Delta, Iceberg and Hudi tables and the like, which hold"
                " deleted records too"
            )
            raise ValueError(
                refusal("data", condition, str(place))
                + " Pass the table itself, such as DeltaTable(path).to_pyarrow_dataset()."
            )


def refuse_own_letters(
    opened: Sequence[Opened | Incoming], header: Sequence[str], axes: Sequence[Axis]
) -> None:
    """Refuse letters from a file of the data, or from one with all of its columns: a copy."""
    origins = [axis.origin for axis in axes if axis.origin is not None]
    if any(origin.is_data(file.identity, header) for origin in origins for file in opened):
        raise ValueError(
            "alphabet must be public and a file of its own, got the data or a copy of it. List"
            " the possible values from a code book."
        )


def named(descriptor: int) -> str:
    """Return a file name for an open descriptor."""
    if not os.path.isdir(_DESCRIPTORS):  # noqa: PTH112 - a Path takes as long as opening the file
        raise UnpreparedError(POSIX_ONLY)
    return f"{_DESCRIPTORS}/{descriptor}"


class Pipe:
    """The reading end of a pipe; its name stays the same when it is filled again."""

    def __init__(self) -> None:
        self._descriptor, writing = os.pipe()
        os.close(writing)
        weakref.finalize(self, os.close, self._descriptor)
        self.name = named(self._descriptor)

    @contextmanager
    def filled(self, blocks: Iterator[bytes]) -> Iterator[None]:
        """Let a thread write blocks into the pipe while they are read.

        Raises:
            DamagedFileError: the file that the blocks come from cannot be unpacked.
            OSError: not all blocks could be written, so what was read is incomplete.
        """
        reading, writing = os.pipe()
        os.dup2(reading, self._descriptor, inheritable=False)
        os.close(reading)
        is_over, is_whole = Event(), Event()
        failures: list[Exception] = []

        def fill() -> None:
            try:
                for block in blocks:
                    if is_over.is_set():
                        return
                    rest = memoryview(block)
                    while rest:
                        rest = rest[os.write(writing, rest) :]
                is_whole.set()
            except Exception as error:  # noqa: BLE001 - the reader reports it
                failures.append(error)
            finally:
                os.close(writing)  # or the reader would wait forever

        thread = Thread(target=fill, name="dproo-pipe", daemon=True)
        try:
            thread.start()
        except BaseException:
            os.close(writing)
            raise
        try:
            yield
        finally:
            # If the reader gave up, the writer may block on a full pipe: drain it.
            is_over.set()
            while os.read(self._descriptor, BLOCK):
                pass
            thread.join()
        if any(isinstance(error, DamagedFileError) for error in failures):
            raise DamagedFileError
        if not is_whole.is_set():
            raise OSError(errno.EIO, "a file could not be read to its end")
