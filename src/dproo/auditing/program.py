"""Any program as a sampler: each run prints one letter."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock

from dproo.core.checks import refusal
from dproo.counting.boundary import apart

PLACE = "{}"


@dataclass(frozen=True)
class Failure:
    """The letter of a failed run: failing on one dataset only tells the two apart as well."""

    status: int

    def __str__(self) -> str:
        return f"exit status {self.status}"


class Command:
    """A program that is run once for each letter, on the path of a dataset.

    No shell is involved. What a run prints, stripped, is its letter; a run with an exit status
    other than 0 gives a :class:`Failure`, whatever it printed. A few runs are concurrent, each in
    a process group of its own; an interrupt kills them, so a program that hangs can be stopped.

    Args:
        template: the program and its arguments; ``{}`` stands for the path.

    >>> Command("echo flu in {}").draw_many("ward.csv", 2)
    ['flu in ward.csv', 'flu in ward.csv']

    Raises:
        ValueError: the program does not exist, or there is no place for the path.
    """

    def __init__(self, template: str) -> None:
        try:
            self._arguments = shlex.split(template)
        except ValueError:
            raise ValueError(refusal("command", "have balanced quotes", template)) from None
        if not any(PLACE in argument for argument in self._arguments):
            raise ValueError(
                refusal("command", f"contain {PLACE} where the dataset's path goes", template)
            )
        if shutil.which(self._arguments[0]) is None:
            raise ValueError(
                refusal("command", "start with a program that exists", self._arguments[0])
            )

    def draw_many(self, path: str, size: int) -> list[Hashable]:
        """Return the letters of ``size`` runs, in the order they were started."""
        arguments = [argument.replace(PLACE, path) for argument in self._arguments]
        runs, pool = _Runs(), ThreadPoolExecutor(os.cpu_count())
        try:
            return apart(lambda: list(pool.map(runs.letter, [arguments] * size)), stop=runs.stop)
        finally:
            runs.stop()
            pool.shutdown(cancel_futures=True)


class _Runs:
    """Runs of a program, which can be stopped together."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_stopped = False

    def letter(self, arguments: list[str]) -> Hashable:
        with self._lock:
            if self._is_stopped:
                return None
            process = self._started(arguments)
            self._running.add(process)
        output, _ = process.communicate()
        with self._lock:
            self._running.remove(process)
        if process.returncode:
            return Failure(process.returncode)
        return output.decode("utf-8", "backslashreplace").strip()

    def stop(self) -> None:
        """Kill what still runs, with all that it started, and let nothing more begin."""
        with self._lock:
            self._is_stopped = True
            for process in self._running:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    @staticmethod
    def _started(arguments: list[str]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603 - the auditor's own command, without a shell
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                process_group=0,
            )
        except OSError:
            raise ValueError(refusal("command", "be a program that starts", arguments[0])) from None
