"""What a program sets for itself changes no release, and spends no charge without one.

Its decimals, numpy's errors, warnings, the digits of an integer, its streams, its time zone: it may
have set each of them for calculations of its own, before it releases anything.
"""

from __future__ import annotations

import decimal
import json
import os
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.contexts import CONTEXTS
from support.draws import DICE, some
from support.sources import SOURCES

import dproo
from dproo.errors import UnpreparedError
from dproo.ledger import Ledger
from dproo.releases.protection import Protection

Setting = Callable[[], AbstractContextManager[Any]]


@contextmanager
def with_setting(put: Callable[[Any], object], value: object, before: object) -> Iterator[None]:
    put(value)
    try:
        yield
    finally:
        put(before)


def context_of_threads(context: decimal.Context) -> None:
    """Set what each new thread starts with."""
    own = decimal.DefaultContext
    own.prec, own.rounding, own.traps = context.prec, context.rounding, context.traps


def streams(three: tuple[Any, Any, Any]) -> None:
    sys.stdout, sys.stderr, sys.stdin = three


def time_zone(name: str) -> None:
    os.environ["TZ"] = name
    time.tzset()


SETTINGS: dict[str, Setting] = {
    **{f"decimals: {name}": partial(decimal.localcontext, own) for name, own in CONTEXTS.items()},
    "decimals of threads": lambda: with_setting(
        context_of_threads, CONTEXTS["strict with everything"], decimal.DefaultContext.copy()
    ),
    "digits": lambda: with_setting(sys.set_int_max_str_digits, 640, sys.get_int_max_str_digits()),
    "numpy raises": lambda: np.errstate(all="raise"),
    "numpy prints": lambda: np.errstate(all="print"),
    "numpy prints little": lambda: np.printoptions(precision=1, threshold=1, edgeitems=1),
    "pandas": lambda: pd.option_context("mode.string_storage", "python", "display.precision", 1),
    "polars": lambda: pl.Config(fmt_str_lengths=1, tbl_rows=1, thousands_separator=True),
    "sockets": lambda: with_setting(socket.setdefaulttimeout, 1e-6, None),
    "stacks of threads": lambda: with_setting(threading.stack_size, 256 << 10, 0),
    "streams": lambda: with_setting(
        streams, (None, None, None), (sys.stdout, sys.stderr, sys.stdin)
    ),
    "time zone": lambda: with_setting(time_zone, "Pacific/Apia", os.environ.get("TZ", "UTC")),
    "warnings": lambda: warnings.catch_warnings(action="error"),
}


def rows() -> pa.Table:
    size = 120
    return pa.table(
        {
            "table": range(size),
            "cell": [Decimal(DICE.randrange(40)) / 4 for _ in range(size)],
            "kind": [DICE.choice(["a", "b", "zürich", None]) for _ in range(size)],
            "day": [f"2024-{DICE.randint(1, 12):02}-0{DICE.randint(1, 9)}" for _ in range(size)],
            "who": [Decimal(place) / 8 for place in range(size)],
        }
    )


BOOK = {
    "schema": {
        "fields": [
            {"name": "kind", "type": "string", "categories": ["a", "b", "zürich"]},
            {"name": "cell", "type": "number", "bins": [0, 2, 4, 8]},
            {
                "name": "day",
                "type": "date",
                "constraints": {"minimum": "2024-01-01", "maximum": "2024-12-31"},
            },
        ]
    }
}
PROTECTIONS = {
    "records": Protection(),
    "people": Protection(person="who"),
    "people, in number unknown": Protection(neighbours="add-remove", person="who", records=2),
}
KINDS: dict[str, Callable[[dproo.Dataset], Any]] = {
    "value": lambda data: data.value("cell", "bins:0,2,4,8", epsilon="1/3"),
    "groups": lambda data: data.values(
        "cell", "bins:0,2,4,8", by=dproo.Groups("kind", ["a", "b"]), epsilon="1/3"
    ),
    "open": lambda data: data.value("kind", "open", epsilon=3, delta="1e-6"),
    "rows": lambda data: data.rows(BOOK, size=2, epsilon="73"),
    "table": lambda data: data.synthesize(BOOK, epsilon="3/7"),
    "Gaussian": lambda data: data.synthesize(BOOK, epsilon="3/7", delta="1e-9"),
    "found": lambda data: data.synthesize(columns=["kind", "day"], epsilon="500/7", delta="1e-6"),
}


def shown(release: Any) -> list[str]:
    """Return all that a program may ask of a release."""
    receipt = release.receipt
    parts = [repr(release), release._repr_html_(), json.dumps(receipt.as_dict())]
    if isinstance(release, dproo.Model):
        table, counts = release.rows(5), release.counts("kind")
        parts += [release.text, table.text, *map(repr, (table, counts))]
    return parts


TABLES = sorted({*SOURCES} - {"cells", "generator_of_dicts", "numpy_objects", "arrow_reader"})
"""Sources with columns by name that can be read more than once."""

CASES = [(setting, kind) for setting in SETTINGS for kind in KINDS]


@pytest.mark.parametrize(("setting", "kind"), some(CASES, one_of=24))
def test_a_release_is_the_same_whatever_the_program_has_set(
    setting: str, kind: str, tmp_path: Path
) -> None:
    held, protection = rows(), DICE.choice([*PROTECTIONS.values()])
    for name in DICE.sample(TABLES, 2):
        data, options = SOURCES[name](held, tmp_path)
        with SETTINGS[setting]():
            ledger = Ledger.create(tmp_path / f"{name}.sqlite3")
            ledger.declare(name, budget=1000, delta="1e-3", **vars(protection.basis))
            opened = dproo.open(data, neighbours=protection, ledger=ledger, dataset=name, **options)
            assert all(shown(KINDS[kind](opened)))
            assert ledger.verify().events == 3  # the budget, the charge and its release


def test_an_engine_of_polars_that_is_not_installed_costs_nothing(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("visits", budget=9, neighbours="replace")
    frame = pl.from_arrow(rows()).lazy()
    with pl.Config(engine_affinity="gpu"), pytest.raises(UnpreparedError, match="install it again"):
        KINDS["value"](dproo.open(frame, ledger=ledger, dataset="visits"))
    assert ledger.budget("visits").spent == 0
