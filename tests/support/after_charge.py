"""Releases in processes of their own that watch what is loaded and opened, or make it fail.

Each release runs in a fork of a process that has imported nothing but the release itself, so that
what it needs is loaded there, before its charge or after it.
"""

# ruff: noqa: PLC0415, T201 - what is loaded when is what it watches, and it prints what it saw

from __future__ import annotations

import io
import json
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, suppress
from itertools import product
from typing import Any

WATCHED = {"import", "open", "socket.connect", "subprocess.Popen", "os.exec", "ctypes.dlopen"}


def data_of(kind: str, folder: str) -> tuple[Any, dict[str, Any]]:
    """Return the data of a kind, loaded as a user would, and the arguments that go with it."""
    data: Any = f"{folder}/data.{kind}"
    options: dict[str, Any] = {}
    if kind in {"duckdb", "sqlite"}:
        options["table"] = "t"
    if kind == "list":
        data = [{"p": str(i % 7), "c": "ab"[i % 2]} for i in range(60)]
    elif kind == "postgresql":
        data, options["table"] = os.environ["TEST_POSTGRESQL"], "ward.charged"
    elif kind == "sqlite":
        import sqlalchemy

        data = sqlalchemy.create_engine(f"sqlite:///{data}")
    elif kind == "pandas":
        import pandas as pd

        data = pd.read_parquet(f"{folder}/data.parquet")
    elif kind == "polars":
        import polars as pl

        data = pl.read_parquet(f"{folder}/data.parquet")
    elif kind == "arrow":
        import pyarrow.parquet as pq

        data = pq.read_table(f"{folder}/data.parquet")
    return data, options


BOOK = {"schema": {"fields": [{"name": "c", "type": "string", "categories": ["a", "b"]}]}}
LETTERS = {"c": ["a", "b"]}
FOUND = {"epsilon": 50, "delta": "1e-6"}
MADE: dict[str, Callable[[Any], Any]] = {
    "value": lambda data: data.value(None, LETTERS, epsilon="0.001"),
    "open value": lambda data: data.value("c", "open", **FOUND),
    "values": lambda data: data.values(None, LETTERS, size=3, epsilon="0.001"),
    "rows": lambda data: data.rows(BOOK, size=2, epsilon="0.001", within_bins=True),
    "rows of a table": lambda data: data.rows(BOOK, size=7, epsilon="0.001"),
    "table": lambda data: data.synthesize(BOOK, epsilon=1, delta="1e-6").rows(9).text(),
    "code book": lambda data: data.codebook(columns=["c"], **FOUND),
    "found table": lambda data: data.synthesize(columns=["c"], **FOUND).rows(9).text(),
}


def release(kind: str, folder: str, *, person: bool, made: str = "value") -> Any:
    """Release of some data what is named, charged to the ledger in the folder."""
    import dproo

    data, options = data_of(kind, folder)
    name = "people" if person else "records"
    if person:
        options["person"] = "p"
    ledger = dproo.Ledger(f"{folder}/ledger.sqlite3")
    opened = dproo.open(data, ledger=ledger, dataset=name, **options)
    return lambda: MADE[made](opened)


def watched(kind: str, folder: str, *, person: bool, made: str) -> list[str]:
    """Return what was loaded, opened or connected to between the charge and the end."""
    from dproo.errors import ReleaseError
    from dproo.ledger import Ledger

    ready = release(kind, folder, person=person, made=made)
    seen: list[str] = []
    is_charged: list[bool] = []
    reserve = Ledger.reserve

    def reserved(*arguments: Any, **options: Any) -> Any:
        entry = reserve(*arguments, **options)
        is_charged.append(True)
        return entry

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        is_descriptor = event == "open" and isinstance(arguments[0], int)
        if is_charged and event in WATCHED and not is_descriptor:
            seen.append(f"{event} {arguments[0]}")

    Ledger.reserve = reserved  # type: ignore[method-assign]
    sys.addaudithook(hear)
    with suppress(ReleaseError):  # letters of few people may not be found
        ready()
    # The ledger looks at its folder, and whether its file is a mount of its own.
    ours = (f"{folder}/ledger", f"{folder}/state/", "/proc/self/fdinfo/")
    return [
        event
        for event in seen
        if event != f"open {folder}" and not any(name in event for name in ours)
    ]


def broken(kind: str, folder: str, at: int | None, fault: str) -> tuple[int, str, int]:
    """Make the ``at``-th load or opening before the charge fail; return how that ends.

    Returns:
        the exit code, the message, and how many loads and openings there were.
    """
    from dproo.ledger import Ledger
    from dproo.report import verdict

    ready = release(kind, folder, person=False)
    number = 0
    is_over: list[bool] = []
    reserve = Ledger.reserve

    def reserved(*arguments: Any, **options: Any) -> Any:
        is_over.append(True)
        return reserve(*arguments, **options)

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal number
        del arguments
        if is_over or event not in WATCHED:
            return
        number += 1
        if number == at:
            raise {"memory": MemoryError, "system": OSError, "bug": KeyError}[fault]("canary")

    Ledger.reserve = reserved  # type: ignore[method-assign]
    sys.addaudithook(hear)
    code, message = 0, ""
    try:
        ready()
    except BaseException as error:  # noqa: BLE001 - it is told
        is_over.append(True)
        code, message = verdict(error)
    return code, message, number


def interrupted(kind: str, folder: str, after: float, *, person: bool) -> tuple[int, str]:
    """Interrupt a release after some seconds; return the exit code and the message."""
    from dproo.report import verdict

    ready = release(kind, folder, person=person)

    def strike(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, strike)
    code, message = 0, ""
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        ready()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException as error:  # noqa: BLE001 - it is told
        code, message = verdict(error)
    return code, message


def forked(action: Callable[[], Any]) -> Any:
    """Return the JSON-able result of an action in a fork, or how the fork ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        errors = io.StringIO()
        try:
            with redirect_stderr(errors):
                result = {"result": action(), "stderr": errors.getvalue()}
        except BaseException:  # noqa: BLE001 - it is told
            result = {"error": traceback.format_exc(), "stderr": errors.getvalue()}
        with os.fdopen(writing, "w") as answer:
            json.dump(result, answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else {"ended": os.waitstatus_to_exitcode(status)}


def main() -> None:
    """Run the releases that the arguments name, and print what became of each."""
    what, folder, *rest = sys.argv[1:]
    import dproo.releases.dataset  # noqa: F401 - what is loaded besides is what the data needs

    random.seed(f"{os.environ.get('DPROO_SEED')} {rest}")
    if what == "watched":
        kind, *several = rest
        for who, made in product((False, True), several):
            found = forked(lambda p=who, m=made: watched(kind, folder, person=p, made=m))
            print(json.dumps([made, who, found]), flush=True)
    elif what == "broken":
        kind, times = rest[0], int(rest[1])
        first = forked(lambda: broken(kind, folder, None, "bug"))
        total = first["result"][2]
        places = range(1, total + 1)
        chosen = places if times >= total else sorted(random.sample(places, times))
        print(json.dumps([0, "", first]), flush=True)
        for at in chosen:
            fault = random.choice(["memory", "system", "bug"])  # noqa: S311 - it chooses faults
            found = forked(lambda a=at, f=fault: broken(kind, folder, a, f))
            print(json.dumps([at, fault, found]), flush=True)
    else:
        kind, times, longest = rest[0], int(rest[1]), float(rest[2])
        for _ in range(times):
            after = random.uniform(1e-4, longest)  # noqa: S311 - it chooses moments
            person = random.random() < 0.5  # noqa: S311
            found = forked(lambda a=after, p=person: interrupted(kind, folder, a, person=p))
            print(json.dumps([after, person, found]), flush=True)


if __name__ == "__main__":
    main()
