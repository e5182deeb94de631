"""What was shown to a person and waits for a confirmation."""

from __future__ import annotations

import secrets
import threading
import time
from typing import Generic, TypeVar

PATIENCE = 600
"""Seconds for which something can be confirmed."""

_MOST = 32

Shown = TypeVar("Shown")


class Nonces(Generic[Shown]):
    """Hand out a nonce for each thing that is shown.

    Guarantee: each is handed out once at most, for the nonce that it was shown with.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, tuple[float, Shown]] = {}

    def add(self, shown: Shown) -> str:
        """Keep what was shown and return the nonce that confirms it; too many drop the oldest."""
        nonce = secrets.token_urlsafe(32)
        with self._lock:
            self._waiting[nonce] = time.monotonic() + PATIENCE, shown
            while len(self._waiting) > _MOST:
                del self._waiting[next(iter(self._waiting))]
        return nonce

    def take(self, nonce: object) -> Shown:
        """Return what was shown with a nonce, once.

        Raises:
            ValueError: there is none, it was used, or it is too old.
        """
        with self._lock:
            held = self._waiting.pop(nonce, None) if isinstance(nonce, str) else None
        if held is None or held[0] < time.monotonic():
            raise ValueError(
                "nonce must be of what was shown and not yet confirmed. Review it again."
            )
        return held[1]
