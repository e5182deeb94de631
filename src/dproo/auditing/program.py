"""Any program as a sampler: each run prints one letter."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from dproo.core.checks import refusal

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
    other than 0 gives a :class:`Failure`, whatever it printed. A few runs are concurrent.

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
        pool = ThreadPoolExecutor(os.cpu_count())
        try:
            return list(pool.map(self._run, [path] * size))
        finally:
            pool.shutdown(cancel_futures=True)

    def _run(self, path: str) -> Hashable:
        arguments = [argument.replace(PLACE, path) for argument in self._arguments]
        try:
            result = subprocess.run(  # noqa: S603 - the auditor's own command, without a shell
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                check=False,
            )
        except OSError:
            raise ValueError(refusal("command", "be a program that starts", arguments[0])) from None
        if result.returncode:
            return Failure(result.returncode)
        return result.stdout.decode("utf-8", "backslashreplace").strip()
