"""Data that can be read only once: iterators, streams and standard input."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

STDIN = "-"

_AGAIN = (
    "for another release: an iterator, a stream or standard input is used up by the first one."
    " Read it into a list or a table, or save it to a file."
)


def is_single_pass(data: Any) -> bool:
    """Return whether data can be read only once; nothing is read.

    >>> [is_single_pass(data) for data in (["a"], iter(["a"]), "-")]
    [False, True, True]
    """
    if isinstance(data, str | os.PathLike):
        if os.fspath(data) == STDIN:
            return True
        with suppress(OSError, ValueError):
            mode = os.stat(data).st_mode  # noqa: PTH116 - a text need not be a path
            return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
        return False
    # A reader of Arrow need not be an iterator. A frame's attribute may be a column.
    return isinstance(data, Iterator) or hasattr(type(data), "read_next_batch")


def must_be_reread(why: str = _AGAIN) -> str:
    """Return the sentence that refuses data that can be read only once."""
    return f"data must be readable more than once {why}"


class Pass:
    """The single pass over data that can be read only once: the first release to take it has it.

    It is taken before the charge, so that no other release is charged for data that is gone, and
    given back if nothing was read.
    """

    def __init__(self) -> None:
        self._left = deque([True])  # only one thread can pop the item

    def require(self) -> None:
        """Raise a ``ValueError`` if the pass has been taken."""
        if not self._left:
            raise ValueError(must_be_reread())

    def take(self) -> None:
        """Take the pass; raise a ``ValueError`` if it has been taken."""
        try:
            self._left.pop()
        except IndexError:
            raise ValueError(must_be_reread()) from None

    def give_back(self) -> None:
        """Let another release read the data, since nothing was read."""
        self._left.append(True)
