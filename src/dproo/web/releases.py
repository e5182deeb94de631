"""Releases that the page runs: each in a process of its own, which a person can stop.

A signal reaches the main thread of a process, so a release that is stopped ends exactly as on
the command line by Ctrl-C: at once, and with a sentence on what became of the charge. Whatever
else may happen to it, the page goes on.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dproo.ledger.events import now
from dproo.report import FAILED, verdict
from dproo.web.answering import Verdict
from dproo.web.folder import Folder
from dproo.web.orders import Order

_ENDED = "the release ended without an answer. See the ledger for what was charged."
_START = "import sys; sys.path[:] = {path!r}; from dproo.web.releases import main; main()"


@dataclass(frozen=True)
class Releases:
    """The releases that are running, each by the nonce that confirmed it."""

    _running: dict[str, _Running] = field(default_factory=dict)

    @property
    def datasets(self) -> dict[str, str]:
        """The datasets that are being released from, and since when."""
        return {one.dataset: one.since for one in list(self._running.values())}

    def run(self, nonce: str, order: Order, folder: Folder) -> Mapping[str, Any]:
        """Return the receipt of a release.

        Raises:
            Verdict: it was refused, it failed, or it was stopped.
        """
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-I", "-c", _START.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # what a library writes there could quote the data
            start_new_session=True,  # Ctrl-C in the terminal is for the server
        )
        self._running[nonce] = _Running(order.account.dataset, now(), process)
        try:
            told, _ = process.communicate(pickle.dumps((order, folder)))
        finally:
            del self._running[nonce]
        if not told:
            raise Verdict(FAILED, _ENDED)
        code, found = pickle.loads(told)  # noqa: S301 - of our own child
        if code is not None:
            raise Verdict(code, found)
        receipt: Mapping[str, Any] = found
        return receipt

    def stop(self, nonce: object) -> bool:
        """Interrupt a release as Ctrl-C does, and return whether it was running."""
        running = self._running.get(nonce) if isinstance(nonce, str) else None
        if running is not None:
            running.process.send_signal(signal.SIGINT)
        return running is not None


@dataclass(frozen=True)
class _Running:
    dataset: str
    since: str
    process: subprocess.Popen[bytes]


def main() -> None:
    """Carry out the order that arrives; hand back the receipt, or the verdict on an error."""
    out = sys.stdout.buffer
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        order, folder = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the server
        told: tuple[int | None, Any] = None, order.release(folder).receipt
    except BaseException as error:  # noqa: BLE001 - as on the command line
        told = verdict(error)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the release is over
    out.write(pickle.dumps(told))
    out.flush()
