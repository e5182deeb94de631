"""Every record of a CSV file is read by itself, wherever it stands and whatever is before it."""

from __future__ import annotations

import csv
import gzip
import io
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from support.draws import DICE, SOAK, some

from dproo import Layout, counting
from dproo.counting.query import Where
from dproo.counting.sources import file_scan
from dproo.counting.sources.text.records import Parts, Syntax

ROUNDS = 400 if SOAK else 6


def pieces(delimiter: str, quote: str) -> list[str]:
    """Return what odd records are made of."""
    quoted = [f"{quote}{text}{quote}" for text in (f"x{delimiter}y", "x\ny", f"q{quote * 2}q", "")]
    plain = ["a", "bb", " ", "  ", "\u00e9", "\t", "#", "\\", "'", '"', f"5{quote} p"]
    return [*quoted, *plain, delimiter, delimiter, quote, quote, "\n", "\n", "\n", "\r\n"]


def cells_of(text: str, *, delimiter: str, quote: str, columns: int) -> Iterator[list[str]]:
    """Yield the cells of each record, character by character."""
    cells, place, cell, behind, is_begun = [""], "start", "", "", False
    for sign in [*text, None]:
        if sign is None or (place != "quoted" and sign in {delimiter, "\n"}):
            if sign is None and not (is_begun or cells[1:]):
                return
            cells[-1] = cell + behind.rstrip(" \r") if place == "closed" else cell
            if sign == delimiter:
                cells.append("")
            else:
                cells[-1] = cells[-1] if place == "quoted" else cells[-1].removesuffix("\r")
                if columns == 1 or cells != [""] or place in {"closed", "quoted"}:
                    yield (cells + [""] * columns)[:columns]
                cells = [""]
            place, cell, behind, is_begun = "start", "", "", False
            continue
        is_begun = True
        if place == "quoted":
            place, cell = ("closed", cell) if sign == quote else (place, cell + sign)
        elif place == "closed" and sign == quote:
            place, cell, behind = "quoted", cell + (behind or quote), ""
        elif place == "closed":
            behind += sign
        elif sign == quote and place in {"start", "blank"}:
            place, cell = "quoted", ""
        else:
            place, cell = ("blank" if place == "start" and sign == " " else "plain"), cell + sign


@pytest.mark.one_of(3)
@pytest.mark.parametrize(("columns", "part"), some(product([1, 2, 3], [1, 1 << 26]), one_of=3))
def test_no_record_changes_how_another_is_read(
    columns: int, part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_scan, "PART", part)
    monkeypatch.setattr(file_scan, "BLOCK", DICE.choice([1, 7, 64, 1 << 16]))
    for _ in range(ROUNDS):
        delimiter, quote = DICE.choice(",;\t |."), DICE.choice("\"'")
        odd = "".join(DICE.choices(pieces(delimiter, quote), k=DICE.randrange(200)))
        syntax = {"delimiter": delimiter, "quote": quote}
        cells = list(cells_of(odd, columns=columns, **syntax))
        header = delimiter.join(f"n{i}" for i in range(columns))
        path = tmp_path / "x.csv"
        path.write_text(f"{header}\n{odd}", newline="")
        for i in range(columns):
            expected = Counter(row[i] for row in cells)
            letters = [text for text in expected if text] or ["none"]
            found = counting.count(path, alphabet=letters, column=f"n{i}", layout=Layout(**syntax))
            inside = [expected[letter] for letter in letters]
            assert list(found) == [*inside, len(cells) - sum(inside)], odd


@pytest.mark.parametrize("first", ['a,"b""c"', 'a,"b"c', '"a"b', "a"])
def test_quotes_in_a_record_leave_the_next_one_alone(first: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(f'size\n{first}\n5" pipe\n')
    assert list(counting.count(tmp_path / "x.csv", alphabet=['5" pipe'], column="size")) == [1, 1]


FILLINGS = "\n", "xxx\n", '""', "a,", '"",a\n'


@pytest.mark.one_of(3)
@pytest.mark.parametrize(
    ("filling", "ending", "part"), some(product(FILLINGS, ["", "\n"], [1, 1 << 26]), one_of=4)
)
def test_a_record_too_long_by_its_own_breaks_and_quotes_is_one(
    filling: str, ending: str, part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_scan, "PART", part)
    monkeypatch.setattr(file_scan, "_LONGEST_CSV", 3 << 16)
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerows([["n", "who"], *[["x", "1"]] * 3, [filling * (5 << 16), "1"], *[["y", "2"]] * 9])
    rows.writerows([[filling * (5 << 16), "3"]] * (ending == ""))
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(written.getvalue().encode(), 1))
    data, letters = tmp_path / "x.csv.gz", ["x", "y"]
    long = 2 - bool(ending)
    assert list(counting.count(data, alphabet=letters, column="n")) == [3, 9, long]
    people = counting.prepare(data, alphabets=[letters], columns=["n"], person="who").count()
    assert list(people) == [1, 1, 1]  # all that cannot be read is of one person


def test_parts_have_whole_records_and_fit_into_the_buffer() -> None:
    text = "".join(DICE.choices(pieces(",", '"'), k=20_000)).encode()
    blocks = [text[at : at + 64] for at in range(0, len(text), 64)]
    for length in (1, 1000, 10_000):
        parts = Parts(blocks, Syntax(delimiter=b",", quote=b'"'), length=length, longest=500)
        found = [b"".join(part) for part in parts]
        assert max(map(len, found)) <= length + 5 * (500 + 2 * 64) // 2
        assert all(part.endswith(b"\n") for part in found if part)  # the last one may be empty


@pytest.mark.parametrize("who", [{}, {"person": "p"}])
def test_cells_outside_are_not_kept_however_long_they_are(who: Where) -> None:
    records = ({"p": i, "c": f"{i:6}" * 500, "d": "a"} for i in range(20_000))
    tracemalloc.start()
    try:
        counts = counting.count(records, alphabet={"c": ["a"], "d": ["a"]}, **who)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert list(counts) == [0, 20_000]
    assert most < 25 << 20  # all cells have 60 MB
