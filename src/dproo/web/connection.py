"""One connection of the server, and how long it is waited for."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10
MOST_WAITING = 100


class Connection(H11Protocol):
    """Serve one connection; whoever keeps us waiting is cut off.

    The clock stands still only while a whole request is being answered. While a request is
    incomplete, an answer is not taken, or nothing happens at all, it runs, and no byte that
    arrives turns it back. Where many wait, the one that has waited longest goes first: a
    request that arrives whole is answered however many others hang.

    Guarantee: at most ``MOST_WAITING`` connections wait, each for ``PATIENCE`` seconds at most.
    """

    _clocks: ClassVar[dict[Connection, asyncio.TimerHandle]] = {}
    """Those that are waited for, the one that has waited longest first."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock."""
        super().connection_made(transport)
        self._set_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        super().connection_lost(exc)
        self._stop_clock()

    def data_received(self, data: bytes) -> None:
        """Stop the clock if a request is whole."""
        super().data_received(data)
        self._set_clock()

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the end."""
        super().on_response_complete()
        self._set_clock()

    def pause_writing(self) -> None:
        """Wait for the answer to be taken."""
        super().pause_writing()
        self._set_clock()

    def resume_writing(self) -> None:
        """Go on answering."""
        super().resume_writing()
        self._set_clock()

    def shutdown(self) -> None:
        """End it: at once if it keeps us waiting, otherwise after the answer."""
        if self in self._clocks:
            self.transport.abort()
        else:
            super().shutdown()

    @property
    def _is_answering(self) -> bool:
        is_whole = self.conn.their_state not in {h11.IDLE, h11.SEND_BODY}
        is_open = self.cycle is not None and not self.cycle.response_complete
        return is_whole and is_open and not self.flow.write_paused

    def _set_clock(self) -> None:
        if self._is_answering:
            self._stop_clock()
        elif self not in self._clocks:
            self._clocks[self] = self.loop.call_later(PATIENCE, self.transport.abort)
            if len(self._clocks) > MOST_WAITING:
                longest = next(iter(self._clocks))
                longest._stop_clock()  # noqa: SLF001 - it is one of us
                longest.transport.abort()

    def _stop_clock(self) -> None:
        clock = self._clocks.pop(self, None)
        if clock is not None:
            clock.cancel()
