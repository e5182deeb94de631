"""Readings: what a cell is read as, and what no cell could be read as."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dproo import Alphabet, CodeBook, Reading
from dproo.schema.reading import READINGS, lowered, periods, upper_forms

KINDS = [Reading(kind=kind) for kind in READINGS] + [
    Reading(kind="integer", decimal=",", thousands="."),
    Reading(kind="date", format="DD.MM.YYYY"),
    Reading(kind="month", format="MM/DD/YYYY"),
    Reading(kind="year", format="YYYYMMDD"),
]


@given(cell=st.text(alphabet=" 0123456789.,-/T+xÄ\n", max_size=24), reading=st.sampled_from(KINDS))
def test_what_is_read_once_is_read_again_as_itself(cell, reading):
    text = reading.text(cell)
    assert text is None or reading.text(text) == text


@given(cell=st.from_regex(r" ?[+-]{0,2}[0-9]{0,18}([.]0*)?[x\n ]?", fullmatch=True))
def test_text_among_integers_is_read_as_an_integer(cell):
    (axis,) = Alphabet.of(range(-1000, 1000)).axes
    assert axis.place(cell) == axis.read_as(Reading(kind="integer")).place(cell)


@pytest.mark.parametrize(
    ("reading", "cell", "text"),
    [
        (Reading(kind="integer"), "-007.00", "-7"),
        (Reading(kind="integer"), "-0.0", "0"),
        (Reading(kind="integer"), "7.5", None),
        (Reading(kind="integer"), True, None),
        (Reading(kind="integer"), 7.0, "7"),
        (Reading(kind="integer", thousands=","), "12,34", None),
        (Reading(kind="integer", decimal=",", thousands="."), "1.234.567,00", "1234567"),
        (Reading(kind="date"), dt.datetime(2024, 3, 1, 23), "2024-03-01"),  # noqa: DTZ001
        (Reading(kind="date"), dt.date(2024, 3, 1), "2024-03-01"),
        (
            Reading(kind="date"),
            dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(1 / 24))),
            None,
        ),
        (Reading(kind="date", format="DD.MM.YYYY"), "31.12.2024 08:00", "2024-12-31"),
        (Reading(kind="date", format="DD.MM.YYYY"), "2024-12-31", "2024-12-31"),
        (Reading(kind="year", format="YYYYMMDD"), "20241231", "2024"),
        (Reading(kind="year"), 2024, "2024"),
        (Reading(kind="month"), "2024-03-01T08:00:00Z", "2024-03"),
        (Reading(kind="month"), "2024-02-99", "2024-02"),
        (Reading(kind="lower"), " KÖLN ", "köln"),
        (Reading(kind="lower"), None, None),
        (Reading(kind="exact"), dt.datetime(2024, 3, 1), None),  # noqa: DTZ001
    ],
)
def test_a_cell_is_read(reading, cell, text):
    assert reading.text(cell) == text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "int"}, "reading must be one of .* Did you mean 'integer'"),
        ({"kind": "number", "decimal": ";"}, "decimal must be '.' or ',', got ';'"),
        ({"kind": "number", "thousands": "x"}, "thousands must be a blank or one of"),
        ({"kind": "number", "thousands": "., "}, "thousands must be a blank or one of"),
        (
            {"kind": "number", "decimal": ",", "thousands": ","},
            "must differ from the decimal sign, got .,.. If .,. groups digits, .* is .\\..: give b",
        ),
        ({"kind": "number", "thousands": "."}, "If .\\.. groups digits, the decimal sign is .,."),
        ({"kind": "date", "thousands": ","}, "must be used with integers or numbers"),
        ({"kind": "date", "format": "any"}, "format must be a date format"),
        ({"kind": "date", "format": "YYYY-DD-MM"}, "format must be a date format"),
        ({"kind": "date", "format": "DD.MM.DD"}, "format must be a date format"),
        ({"kind": "lower", "format": "DD.MM.YYYY"}, "Such are DD.MM.YYYY"),
    ],
)
def test_a_reading_that_means_nothing_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Reading(**options)


@pytest.mark.parametrize(
    ("letters", "kind", "message"),
    [
        (["Yes"], "lower", "letters must be in lower case for this reading."),
        ([" a"], "text", "letters must be without blanks around them"),
        (["a"], "integer", "letters must be integers of at most 18 digits"),
        (["Monday"], "date", "letters must be YYYY-MM-DD"),
        (["2024-01-01"], "month", "letters must be YYYY-MM"),
        (["2024-01"], "year", "letters must be YYYY"),
        (["1.5"], "number", "reading must be one of"),
        (range(9), "date", "reading must be one of exact, integer, text, year"),
        (Alphabet.bins([0, 1]), "lower", "reading must be one of exact, integer, number, year"),
    ],
)
def test_letters_that_no_cell_is_read_as_are_refused(letters, kind, message):
    with pytest.raises(ValueError, match=message):
        Alphabet.of(letters).read_as(kind)


def test_a_product_is_read_column_by_column():
    with pytest.raises(ValueError, match="for each column of several by itself"):
        Alphabet.of({"a": ["x"]}).read_as("lower")


def test_the_digest_tells_how_cells_are_read():
    letters = Alphabet.of(["7", "8"])
    digests = {letters.read_as(kind).digest for kind in ("exact", "integer", "lower", "text")}
    assert len(digests) == 4
    assert letters.digest == letters.read_as("exact").digest


def test_every_character_in_lower_case_is_known_by_its_other_forms():
    upper, lower = upper_forms(["kß"])
    assert (upper, lower) == ("K\u1e9e\u212a", "kßk")
    assert lowered("\u0130") == "\u0130"
    assert not any(lowered(chr(code)) != chr(code) for code in range(0x1E922, 0x110000))


@pytest.mark.parametrize(
    ("text", "first", "last", "size"),
    [
        ("2024-01..2025-01", "2024-01", "2024-12", 12),
        ("2024-02-28..2024-03-02", "2024-02-28", "2024-03-01", 3),
    ],
)
def test_months_and_days_are_spelled_by_their_ends(text, first, last, size):
    letters = Alphabet.parse(text)
    assert (letters[0], letters[size - 1], letters.size) == (first, last, size)
    assert letters.index([f"{first}-03"[:10] + "T08:30"]) == 0


@pytest.mark.parametrize("text", ["2024-13..2025-01", "2024-01-01..2024-02", "2024-02..2024-01"])
def test_ends_that_are_no_months_or_days_are_refused(text):
    with pytest.raises(ValueError, match=r"must look like YYYY|must not come before"):
        Alphabet.parse(text)


def test_more_days_than_memory_should_hold_are_refused():
    sentence = "maximum must be within 1,000,000 days of 0001-01-01, got '9999-12-31'."
    with pytest.raises(ValueError, match=sentence):
        periods("0001-01-01", "9999-12-31", "date")
    assert len(periods("0001-01", "9999-12", "month")) == 9999 * 12


@pytest.mark.parametrize(
    ("field", "cells", "letter"),
    [
        ({"type": "integer", "constraints": {"minimum": 1, "maximum": 12}}, ["07", "7.0", 7], 7),
        ({"type": "integer", "categories": [1234], "groupChar": ","}, ["1,234"], 1234),
        ({"type": "boolean"}, ["TRUE", "true", True], True),
        ({"type": "date", "categories": ["2024-03-01"]}, ["2024-03-01T08:00"], "2024-03-01"),
        (
            {
                "type": "yearmonth",
                "constraints": {"minimum": "2024-01", "maximum": "2024-12"},
                "format": "%d.%m.%Y",
            },
            ["31.03.2024", dt.date(2024, 3, 1)],
            "2024-03",
        ),
        ({"type": "year", "constraints": {"minimum": 2000, "maximum": 2024}}, ["2024-03"], 2024),
        ({"type": "string", "categories": ["yes"], "as": "lower"}, ["YES "], "yes"),
        ({"type": "number", "bins": [0, 1, 2], "decimalChar": ","}, ["1,5", 1.5], "[1, 2)"),
    ],
)
def test_a_field_reads_cells_by_its_type(field, cells, letter):
    (found,) = CodeBook.of({"schema": {"fields": [{"name": "a", **field}]}}).fields
    assert [found[found.axis.index(cell)] for cell in cells] == [letter] * len(cells)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ({"type": "boolean", "trueValues": ["1"]}, r"fields\[0\].trueValues must be left out"),
        ({"type": "date", "categories": ["x"]}, "letters must be YYYY-MM-DD"),
        ({"type": "date", "categories": ["2024-01-01"], "format": "any"}, "date format"),
        ({"type": "date", "categories": ["2024-01-01"], "format": 7}, "format must be a text"),
        ({"type": "integer", "categories": [1], "as": "lower"}, "left out for other types"),
        ({"type": "string", "categories": ["a"], "as": "upper"}, r"fields\[0\].as must be one of"),
        (
            {"type": "yearmonth", "constraints": {"minimum": "2024", "maximum": "2025"}},
            "look like YYYY-MM",
        ),
        (
            {
                "type": "integer",
                "constraints": {"minimum": 0, "maximum": 120},
                "missingValues": ["99"],
            },
            "not also be missing values",
        ),
    ],
)
def test_a_field_that_cannot_be_read_is_refused_with_its_place(field, message):
    with pytest.raises(ValueError, match=message):
        CodeBook.of({"schema": {"fields": [{"name": "a", **field}]}})


def test_missing_numbers_are_in_no_bin():
    field = {"name": "a", "type": "number", "bins": [-100, 0, 100], "missingValues": ["", "-99"]}
    (found,) = CodeBook.of({"schema": {"fields": [field]}}).fields
    assert [found.axis.place(cell) for cell in ("-99", -99.0, "-99.0", -98, "")] == [
        *(None, None, None, 0, None)
    ]


def test_bins_of_years_begin_with_one_of_four_digits():
    """Engines name a bin by a number in it, and 999 is no year as ``YYYY``."""
    for edges in ([0, 1000, 2000], [1, 500]):
        with pytest.raises(ValueError, match="bins must each hold a year from 1000 on, got"):
            Alphabet.bins(edges).read_as("year")
    early = Alphabet.bins([0, 1001, 2000]).read_as("year").axes[0]
    assert [early.index(key) for key in early.keys] == [0, 1]
    assert early.index("0999-01-01") == 0
