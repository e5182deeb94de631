"""The share of the data that has been read, to be shown while it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction

Share = Callable[[], Fraction | None]

_followed: ContextVar[list[Share] | None] = ContextVar("followed", default=None)


@contextmanager
def watched() -> Iterator[Share]:
    """Yield a function for the share that has been read; it returns None while unknown.

    >>> with watched() as share:
    ...     before = share()
    ...     follow(lambda: Fraction(1, 2))
    ...     before, share()
    (None, Fraction(1, 2))
    """
    followed: list[Share] = []
    token = _followed.set(followed)
    try:
        yield lambda: followed[-1]() if followed else None
    finally:
        _followed.reset(token)


def follow(share: Share) -> None:
    """Let :func:`watched` return the share that a reader has read."""
    followed = _followed.get()
    if followed is not None:
        followed.append(share)
