"""The page's releases, each in its own process, and what the page shows of tables.

A signal reaches the main thread of a process, so a stopped release ends exactly as with Ctrl-C
on the command line: at once, with a sentence that says whether the charge stands. Whatever else
happens to it, the page keeps running.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from base64 import b64encode
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

from dproo.core.checks import one_of, whole
from dproo.core.progress import Share, watched
from dproo.ledger.events import now
from dproo.receipt import Receipt
from dproo.releases.charge import reprint
from dproo.releases.run import between_steps, guarded
from dproo.report import FAILED, USAGE, Verdict, verdict
from dproo.synthesis.model import COUNTED, Model
from dproo.web.folder import Folder, integer_of
from dproo.web.orders import Order

ROWS_MAX = 100_000
"""Rows that the page makes at once; the command line makes any number."""

_SHOWN_ROWS = 12
_MOST_COLUMNS = 60
_MOST_VALUES = 40
_ENDED = "the release ended without an answer. See the ledger for what was charged."
_UNBEGUN = "the release could not begin. Nothing was read or charged."
_BEGUN = "begun"
_START = "import sys; sys.path[:] = {path!r}; from dproo.web.releases import main; main()"


@dataclass(frozen=True)
class Releases:
    """The running releases, each by the nonce that confirmed it."""

    _running: dict[str, _Running] = field(default_factory=dict)
    _stopped: deque[str] = field(default_factory=lambda: deque(maxlen=100))

    @property
    def datasets(self) -> dict[str, str]:
        """The datasets of running releases, and when the first of each began."""
        return {one.dataset: one.since for one in reversed(list(self._running.values()))}

    def run(self, nonce: str, order: Order, folder: Folder) -> Mapping[str, Any]:
        """Return the receipt of a release, or raise the verdict on it."""
        try:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-I", "-c", _START.format(path=sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # what a library writes there could quote the data
                start_new_session=True,  # Ctrl-C in the terminal is for the server
            )
        except OSError:  # too many processes, too little memory
            raise Verdict(USAGE, _UNBEGUN) from None
        running = self._running[nonce] = _Running(order.account.dataset, now(), process)
        if nonce in self._stopped:
            running.stop()
        try:
            answer = running.answer(pickle.dumps((order, folder)))
        finally:
            del self._running[nonce]
        if answer is None:
            raise Verdict(*running.end)
        code, found = answer
        if code is not None:
            raise Verdict(code, found)
        receipt: Mapping[str, Any] = found
        return receipt

    def stop(self, nonce: object) -> bool:
        """Interrupt a release as Ctrl-C does, and return whether it was running.

        A release that has yet to begin is stopped then: its request may arrive after this one.
        """
        self._stopped.append(str(nonce))  # first, because a release checks after it is registered
        running = self._running.get(str(nonce))
        if running is not None:
            running.stop()
        return running is not None

    def share(self, nonce: object) -> float | None:
        """Return the share of its data that a running release has read, or None."""
        running = self._running.get(str(nonce))
        return None if running is None or running.share is None else float(running.share)


def shown(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as the page shows it: some rows and counts in place of a table's model.

    Both come from the model, which is public.
    """
    stored = receipt.as_dict()
    if "model" not in stored:
        return stored
    model = Model.of_receipt(stored)
    some = [column for column in model.columns if len(column.letters) <= _MOST_VALUES]
    counts = {
        column.name: [
            {"value": str(letter), **{name: row[name] for name in COUNTED}}
            for letter, row in zip(
                column.shown(labels=True), model.counts(column.name).rows, strict=True
            )
        ]
        for column in some[:_MOST_COLUMNS]
    }
    rows = [list(map(str, row.values())) for row in model.rows(_SHOWN_ROWS, labels=True)]
    preview = {"columns": model.names, "rows": rows}  # without the columns that were left out
    return {**stored, "model": {"sha256": model.sha256}, "preview": preview, "counts": counts}


def table_rows(receipt: Mapping[str, Any], rows: Any, kind: Any = "csv") -> dict[str, Any]:
    """Return rows of a private table as the text of a CSV file, or as Parquet in base64."""
    one_of("format", kind, ("csv", "parquet"))
    size = whole("rows", integer_of("rows", rows), at_least=1, at_most=ROWS_MAX)
    made = Model.of_receipt(receipt).rows(size)
    if kind == "csv":
        return {"text": made.text()}
    with TemporaryDirectory(prefix="dproo-") as folder:
        path = Path(folder) / "table.parquet"
        try:
            made.write(path)
        except ModuleNotFoundError:
            raise ValueError(
                "format must be csv: Parquet needs pyarrow. Install it: pip install"
                " 'dproo[frames]'."
            ) from None
        return {"base64": b64encode(path.read_bytes()).decode()}


def table_pair(receipt: Mapping[str, Any], first: Any, second: Any) -> dict[str, Any]:
    """Return the counts of two columns of a private table together; they cost nothing."""
    model = Model.of_receipt(receipt)
    pair = [one_of("column", name, model.names) for name in (first, second)]
    columns = [model.columns[model.names.index(name)] for name in pair]
    if max(len(column.letters) for column in columns) > _MOST_VALUES:
        raise ValueError(f"columns must have at most {_MOST_VALUES} values to be shown together.")
    cells = [[row["count"], row["low"], row["high"]] for row in model.counts(*pair, labels=True)]
    labels = [list(map(str, column.shown(labels=True))) for column in columns]
    return {"values": labels, "cells": cells}


def table_model(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """Return the file of a private table, as ``dproo rows`` takes it."""
    return {"text": Model.of_receipt(receipt).text}


@dataclass
class _Running:
    dataset: str
    since: str
    process: subprocess.Popen[bytes]
    share: Fraction | None = None
    has_begun: bool = False
    is_stopped: bool = False

    def stop(self) -> None:
        """Interrupt it; a process that has just started may not react yet."""
        self.is_stopped = True
        self.process.send_signal(signal.SIGINT)

    @property
    def end(self) -> tuple[int, str]:
        """The verdict on a process that ended without one."""
        if self.has_begun:
            return FAILED, _ENDED
        return verdict(KeyboardInterrupt()) if self.is_stopped else (USAGE, _UNBEGUN)

    def answer(self, order: bytes) -> tuple[int | None, Any] | None:
        """Send an order and return its answer; the shares of the data that come first are noted."""
        with self.process as process:
            with suppress(BrokenPipeError), process.stdin:  # type: ignore[union-attr]
                process.stdin.write(order)  # type: ignore[union-attr]
            while True:
                try:
                    message = pickle.load(process.stdout)  # type: ignore[arg-type] # noqa: S301
                except (EOFError, pickle.UnpicklingError):  # it was killed
                    return None
                if message == _BEGUN:
                    self.has_begun = True
                    if self.is_stopped:
                        self.stop()
                elif isinstance(message, Fraction):
                    self.share = message
                else:
                    return message  # type: ignore[no-any-return]


def main() -> None:
    """Carry out the order on standard input; return the receipt, or the verdict on an error."""
    is_over = Event()
    with watched() as share:
        teller = Thread(target=_tell, args=(share, is_over), daemon=True)
        try:
            signal.signal(signal.SIGINT, _interrupt)
            order, folder = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the server
            _send(_BEGUN)
            teller.start()
            with between_steps(order.ledger, order.account.dataset):
                receipt = order.release(folder).receipt
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # the release is over
            charged = reprint(receipt, order.ledger.path)
            answer: tuple[int | None, Any] = None, guarded(lambda: shown(receipt), charged=charged)
        except BaseException as error:  # noqa: BLE001 - as on the command line
            answer = verdict(error)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    is_over.set()
    if teller.ident is not None:
        teller.join()
    _send(answer)


def _interrupt(*_: object) -> None:
    """Stop the release; a second interrupt cannot suppress its last sentence."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _tell(share: Share, is_over: Event) -> None:
    """Send every second the share of the data that has been read, if it is known."""
    while not is_over.wait(1):
        if (read := share()) is not None:
            _send(read)


def _send(message: object) -> None:
    sys.stdout.buffer.write(pickle.dumps(message))
    sys.stdout.buffer.flush()
