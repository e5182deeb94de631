"""Nasty tables: many small ones of one type in one batch, and what their counts must be."""

from __future__ import annotations

import datetime as dt
import math
import random
import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa

from dproo import Alphabet

TABLES_PER_BATCH = 50
NFC, NFD = "caf\u00e9", "cafe\u0301"
TEXTS = (
    *("", " ", "a", "A", " a", "a ", "a\n", "\na", "a\r\nb", "\t", "null", "NULL", "None", "nan"),
    *("NaN", "inf", "<NA>", "true", "True", "false", "1", "01", "1.0", "+1", "-1", "-0", "0"),
    *("1e3", "1E3", "0x1", "1_0", " 1", "1 ", "1\n", "\u0661", "\uff11", "2026-01-02", NFC, NFD),
    *("\u00a01\u202f", "\u00a0a"),
    *("2026-1-2", 'say "hi"', '"', "''", "'; DROP TABLE x; --", "a,b", "a;b", "a\tb", "#", "\\"),
    *(
        "\\N",
        "\ufeff",
        "\u200b",
        "\u2028",
        "\U0001f600",
        "9007199254740993",
        "other",
        "stra\u00dfe",
    ),
    *(
        "9223372036854775807",
        "9223372036854775808",
        "x" * 5000,
        "0.5",
        "-12.25",
        "17.999",
        "{}",
        "%s",
    ),
    *("1e-05", "1e999", "100000000000000000000", "$1", "a\x01b", "STRASSE", "\u0130", "i\u0307"),
)
INTEGERS = (
    *(0, 1, -1, 2, 7, 10, 17, 18, 64, 65, 127, -128, 255, 1000, 2**31 - 1, -(2**31), 2**31),
    *(2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 10**18 - 1, 10**18, 2**63 - 1, -(2**63)),
)
FLOATS = (
    *(0.0, -0.0, 1.0, -1.0, 1.5, 0.1, 17.999999999999996, 18.0, 64.5, 65.0, 1e-5, 1e-99),
    *(2.0**53, 2.0**53 + 2, -(2.0**53), 1e18, 1e99, float("nan"), float("inf"), -float("inf")),
)
DECIMALS = ("0.00", "1.00", "-1.00", "1.50", "7.00", "17.99", "18.00", "9007199254740993.00")
DATES = (dt.date(2026, 1, 2), dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 12, 31))
EDGES = (-2.5, 0, 0.1, 1, 7, 18, 65, 127, 2**31, 2**53)


@dataclass(frozen=True)
class Batch:
    """Tables of one type, by the number in their first column, and their common alphabet."""

    rows: pa.Table
    alphabet: Alphabet
    tables: int
    seed: int

    @property
    def cells(self) -> list[object]:
        return self.rows["cell"].to_pylist()

    def expected(self) -> Counter[object]:
        """Count by an own reading of the rules, written without the package's."""
        axis = self.alphabet.axes[1].content
        return Counter(
            (table, _letter(cell, axis))
            for table, cell in zip(self.rows["table"].to_pylist(), self.cells, strict=True)
        )


def batch(seed: int) -> Batch:
    """Return the batch of a seed."""
    rng = random.Random(seed)  # noqa: S311 - a test's tables
    pools = {
        pa.string(): TEXTS,
        pa.int64(): INTEGERS,
        pa.int32(): [i for i in INTEGERS if -(2**31) <= i < 2**31],
        pa.int8(): [i for i in INTEGERS if -128 <= i < 128],
        pa.uint64(): [*(i for i in INTEGERS if i >= 0), 2**63, 2**64 - 1],
        pa.float64(): FLOATS,
        pa.float32(): [0.0, -0.0, 1.0, 7.0, 1.5, float("nan"), float("inf"), 2.0**24, 2.0**30],
        pa.decimal128(20, 2): [Decimal(text) for text in DECIMALS],
        pa.bool_(): (True, False),
        pa.date32(): DATES,
        pa.dictionary(pa.int32(), pa.string()): TEXTS,
    }
    weights = [6, 3, 1, 1, 1, 3, 1, 1, 1, 1, 1]
    kind = rng.choices(list(pools), weights)[0]
    pool = [*rng.sample(pools[kind], rng.randint(1, min(30, len(pools[kind])))), None]
    tables = TABLES_PER_BATCH
    sizes = [rng.choice((0, 1, 2, 5, 20)) for _ in range(tables)]
    ids = [table for table, size in enumerate(sizes) for _ in range(size)]
    rng.shuffle(ids)
    pools_of_tables = [rng.sample(pool, rng.randint(1, len(pool))) for _ in range(tables)]
    cells = [rng.choice(pools_of_tables[table]) for table in ids]
    rows = pa.table({"table": pa.array(ids, pa.int64()), "cell": pa.array(cells, kind)})
    axis = _axis(rng, pool, kind)
    return Batch(rows, Alphabet.of({"table": range(tables), "cell": axis}), tables, seed)


def _axis(rng: random.Random, pool: list[object], kind: pa.DataType) -> object:
    is_number = kind not in {pa.bool_(), pa.date32()}
    match rng.choice(
        ("letters", "letters", "letters", "range", "bins") if is_number else ("letters",)
    ):
        case "range":
            start = rng.choice((-(10**18) + 1, -5, 0, 1, 17))
            return range(start, rng.choice((18, 1000, 2**53 + 1, 10**18)))
        case "bins":
            return Alphabet.bins(sorted(rng.sample(EDGES, rng.randint(2, len(EDGES)))))
    texts = [_text(cell) for cell in pool] + rng.sample(TEXTS, 8)
    texts += [str(i) for i in rng.sample(INTEGERS, 3)] + ["true", "2026-01-02"]
    letters = [text for text in dict.fromkeys(texts) if text]
    # One that a cell of the type can be: a column without any is refused.
    possible = {pa.bool_(): "true", pa.date32(): "2026-01-02"}.get(kind, str(INTEGERS[0]))
    chosen = rng.sample(letters, rng.randint(1, len(letters)))
    return list(dict.fromkeys([*chosen, possible]))


def _text(cell: object) -> str | None:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float | Decimal):
        if not math.isfinite(cell):
            return None
        exact = Fraction(cell)
        is_letter = exact.denominator == 1 and (isinstance(cell, Decimal) or abs(exact) <= 2**53)
        return str(exact.numerator) if is_letter else None
    return None if cell is None or cell == "" else str(cell)


def _letter(cell: object, axis: dict[str, object]) -> object:
    """Return the letter as text or as the number of its bin; nothing outside."""
    if "letters" in axis:
        return text if (text := _text(cell)) in axis["letters"] else None
    if "start" in axis:
        if isinstance(cell, str) and len(cell) <= 100:
            cell = cell.strip(" \u00a0\u2007\u202f")
            if found := re.fullmatch("([+-]?)0*([0-9]+)([.]0*)?", cell):
                cell = found[2] if found[1] != "-" or found[2] == "0" else f"-{found[2]}"
        digits = (_text(cell) or "").removeprefix("-")
        is_integer = digits.isascii() and digits.isdigit() and str(int(digits)) == digits
        text = _text(cell)
        inside = is_integer and text != "-0" and axis["start"] <= int(text) < axis["stop"]
        return text if inside else None
    edges = [float(edge) for edge in axis["edges"]]
    if isinstance(cell, str):
        is_plain = cell.isascii() and cell[-1:].isdigit() and cell[:1] in "-0123456789"
        is_plain = is_plain and not set(cell) & set("x_ \n\t\r") and "1e999" not in cell
        try:
            cell = float(cell) if is_plain and len(cell) < 40 else None
        except ValueError:
            cell = None
    if isinstance(cell, bool | dt.date) or cell is None:
        return None
    place = bisect_right(edges, float(cell)) - 1
    return place if 0 <= place < len(edges) - 1 and math.isfinite(cell) else None
