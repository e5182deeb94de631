"""Excel sheets as data: every row with a cell is a record, and no cell decides about others."""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.utils.datetime import CALENDAR_MAC_1904
from support.row_files import excel, raw_sheet

from dproo import Alphabet, counting
from dproo.schema.reading import Reading


def test_a_sheet_has_a_header_and_a_record_in_every_row_below(tmp_path: Path) -> None:
    path = excel(tmp_path, ["code", "n"], ["a", 1], [], [None, 2], ["b", True], ["a", "x"])
    assert list(counting.count(path, column="code", alphabet=["a", "b"])) == [2, 1, 1]
    assert list(counting.count(path, column="n", alphabet=range(3))) == [0, 1, 1, 2]


@pytest.mark.parametrize(
    "cell",
    [
        *(f'<c r="B9" t="e"><v>{error}</v></c>' for error in ("#SPILL!", "#CALC!", "#N/A", "?")),
        *(f'<c r="B9" t="{kind}"><v>99999</v></c>' for kind in ("s", "b", "d", "new")),
        *(f'<c r="B9"><v>{number}</v></c>' for number in ("one", "1e999", "NaN", "1_0", "")),
        *(f'<c r="{place}"><v>1</v></c>' for place in ("XFD1048576", "XFD9", "ZZZZ9", "?")),
        '<c r="B9" t="s"><v>-1</v></c>',
        '<c r="B9" t="inlineStr"><is><t>one</t></is></c>',
        "<c><v>7</v></c>",
        "",
    ],
)
def test_no_cell_of_a_sheet_decides_about_the_others(cell: str, tmp_path: Path) -> None:
    path = raw_sheet(tmp_path, cell)
    assert list(counting.count(path, column="code", alphabet=["a", "b"])) == [2, 1, 0]
    assert list(counting.count(path, column="n", alphabet=[1, 2])) == [1, 1, 1]
    # Nor does one beyond the header make files differ, or blank rows count.
    excel(tmp_path, ["code", "n"], ["a", 1], name="b.xlsx")
    assert counting.count(tmp_path / "?.xlsx", column="n", alphabet=[1, 2]).n == 4


def test_blank_rows_are_no_records_however_far_the_last_one_is(tmp_path: Path) -> None:
    for last in ([], [None, "x"], ["b"]):
        path = excel(tmp_path, ["code"], ["a"], [None], ["b"], *([[]] * 5), last)
        found = counting.count(path, column="code", alphabet=["a", "b"])
        assert list(found) == [1, 1 + (last == ["b"]), int(last == [None, "x"])]


def test_a_sheet_has_text_numbers_days_and_strings_of_every_kind(tmp_path: Path) -> None:
    rich = CellRichText("a", TextBlock(InlineFont(b=True), "b"))
    path = excel(tmp_path, [7, " code ", None], [True, rich], [False, "x_x000D_y"], [7, "_xD83D_"])
    texts = ["ab", "x\ry", "\ufffd"]
    assert list(counting.count(path, column="code", alphabet=texts)) == [1, 1, 1, 0]
    assert list(counting.count(path, column="7", alphabet=["true", "7"])) == [1, 1, 1]


def fill(book: openpyxl.Workbook, form: str, numbers: Iterable[float]) -> None:
    """Write a column of numbers that have this format."""
    book.active.append(["day"])
    for number in numbers:
        book.active.append([number])
        book.active.cell(book.active.max_row, 1).number_format = form


@pytest.mark.parametrize("start", [dt.date(1899, 12, 30), dt.date(1904, 1, 1)])
def test_a_number_is_a_day_by_its_format(start: dt.date, tmp_path: Path) -> None:
    days = [(start + dt.timedelta(45000)).isoformat()]
    forms = {"mmm yyyy": 1, "[$-407]d. mmm": 1, "0.00E+00": 0, "[h]:mm": 0, "General": 0}
    for form, day in forms.items():
        book = openpyxl.Workbook()
        fill(book, form, (45000, 60, 59, 0.5, 1e9, -1))
        book.epoch = CALENDAR_MAC_1904 if start.year == 1904 else book.epoch
        book.save(tmp_path / "days.xlsx")
        found = counting.count(tmp_path / "days.xlsx", column="day", alphabet=days)
        assert list(found) == [day, 6 - day]


@pytest.mark.parametrize("year", [1900, 1904])
def test_the_first_day_of_a_calendar_is_a_day_if_it_exists(year: int, tmp_path: Path) -> None:
    """Day 0 of 1900 is a time without a day; that of 1904 is one where the format has days."""
    numbers, days = (0, 0.0, 0.5, 0.999, 1, -0.5, -1), ["1904-01-01", "1904-01-02", "1900-01-01"]
    for form, has_days in {
        "yyyy-mm-dd": 1,
        "mmm": 1,
        "d/m/yy h:mm;@": 1,
        "h:mm AM/PM": 0,
        "AM/PM": 0,
    }.items():
        book = openpyxl.Workbook()
        book.epoch = CALENDAR_MAC_1904 if year == 1904 else book.epoch
        fill(book, form, numbers)
        book.save(tmp_path / "days.xlsx")
        letters = Alphabet(axes=(Alphabet.of(days).axes[0].read_as(Reading(kind="date")),))
        found = counting.count(tmp_path / "days.xlsx", column="day", alphabet=letters)
        first = 4 * has_days
        assert list(found) == ([first, 1, 0, 6 - first] if year == 1904 else [0, 0, 1, 6]), form


@pytest.mark.parametrize(
    ("form", "kinds"),
    [
        ("0;yyyy-mm-dd", "n n n"),
        ("yyyy-mm-dd;0", "d d t"),
        ("yyyy-mm-dd;@", "d d t"),
        ("0;0;0;yyyy-mm-dd", "n n n"),
        ("0;0;yyyy-mm-dd", "n n t"),
        ("yyyy-mm-dd;;", "d d n"),
        ("@", "n n n"),
        ("yyyy-mm-dd", "d d t"),
        ('0" ; "yyyy-mm-dd', "d d t"),
        (r"0\;yyyy-mm-dd", "d d t"),
        (r"0;yyyy\;", "n n n"),
        ('"yyyy;";yyyy', "n n n"),
        ("[$;-407]yyyy-mm-dd", "d d t"),
        ("[>100]yyyy-mm-dd;0", "d n n"),
        ("[>100]0;yyyy-mm-dd", "n d t"),
        ("[<=7][Red]0;[=45352]yyyy-mm-dd;General", "d n n"),
        ("[>x]yyyy-mm-dd;0", "d d t"),
        ("[>1e5]0;[h]:mm;yyyy-mm-dd", "d d t"),
        ('0.0" [m]"', "n n n"),
        ('"[hh]" 0', "n n n"),
        (r"0\ \[\s\]", "n n n"),
        ('"[>100]"yyyy-mm-dd;0', "d d t"),
        ('0" [m]";[s]', "n n n"),
        ('[mm]" [m]"', "t t t"),
    ],
)
def test_the_section_of_a_format_for_a_number_decides_about_it(
    form: str, kinds: str, tmp_path: Path
) -> None:
    """A day, a number, or a time, which is outside."""
    days = {45352: "2024-03-01", 7: "1900-01-07", 0: "1899-12-31"}
    for (number, day), kind in zip(days.items(), kinds.split(), strict=True):
        book = openpyxl.Workbook()
        fill(book, form, [number])
        book.save(tmp_path / "days.xlsx")
        letters = [str(number), day]
        found = counting.count(tmp_path / "days.xlsx", column="day", alphabet=letters)
        assert list(found) == [kind == "n", kind == "d", kind == "t"], (form, number)


def test_a_cell_without_a_style_has_the_first_one(tmp_path: Path) -> None:
    excel(tmp_path, ["day"], [45352], name="a.xlsx")
    first = re.compile(rb'(<cellXfs[^>]*><xf [^>]*numFmtId=)"0"')
    with zipfile.ZipFile(tmp_path / "a.xlsx") as plain:
        parts = {name: plain.read(name) for name in plain.namelist()}
    parts["xl/styles.xml"], found = first.subn(rb'\1"14"', parts["xl/styles.xml"])
    assert found
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as styled:
        for name, part in parts.items():
            styled.writestr(name, part)
    letters = ["45352", "2024-03-01"]
    for path, counts in {"a.xlsx": [1, 0, 0], "b.xlsx": [0, 1, 0]}.items():
        assert list(counting.count(tmp_path / path, column="day", alphabet=letters)) == counts


def test_dates_of_a_sheet_are_days(tmp_path: Path) -> None:
    moments = [dt.date(2024, 1, 2), dt.datetime(2024, 1, 3, 4, 5), dt.time(1), 1e300]  # noqa: DTZ001
    path = excel(tmp_path, ["day", "n"], *([moment, 1] for moment in moments))
    days = ["2024-01-02", "2024-01-03"]
    assert list(counting.count(path, column="day", alphabet=days)) == [1, 0, 3]
    months = "2024-01..2024-02"
    assert list(counting.count(path, column="day", alphabet=months)) == [2, 2]


def test_several_sheets_are_told_apart_by_name(tmp_path: Path) -> None:
    path = excel(tmp_path, ["code"], ["a"], sheets=2)
    assert counting.count(path, column="code", alphabet=["a"], table="Sheet").n == 1
    for table, words in {
        None: "table must name the sheet of an Excel file that has several",
        "sheet": "table must be a sheet of the Excel file, got 'sheet'. Add table=",
        "Sheet1": "data must be a sheet with a header row",
    }.items():
        with pytest.raises(ValueError, match=words):
            counting.count(path, column="code", alphabet=["a"], table=table)


def test_a_row_of_a_formula_without_its_value_is_a_record(tmp_path):
    book = openpyxl.Workbook()
    for row in (["c", "d"], ["a", "u"], ["=A1", None], ["b", "v"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    found = counting.count(tmp_path / "a.xlsx", alphabet=["a", "b"], column="c")
    assert list(found) == [1, 1, 1]


def parts_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as book:
        return {name: book.read(name) for name in book.namelist()}


@pytest.mark.parametrize("part", ["styles", "sharedStrings"])
def test_a_sheet_that_lacks_a_part_is_refused_before_the_charge(part: str, tmp_path: Path) -> None:
    parts = parts_of(excel(tmp_path, ["n"], [1]))
    relations = parts["xl/_rels/workbook.xml.rels"].replace(b"/styles", b"/other")
    parts["xl/_rels/workbook.xml.rels"] = relations.replace(b"/theme", f"/{part}".encode(), 1)
    del parts["xl/theme/theme1.xml"]
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as book:
        for name, content in parts.items():
            book.writestr(name, content)
    with pytest.raises(ValueError, match="data must be a readable Excel file"):
        counting.prepare(tmp_path / "a.xlsx", columns=["n"], alphabets=[[1]])


def test_shared_texts_of_an_unknown_encoding_are_refused_before_the_charge(tmp_path: Path) -> None:
    parts = parts_of(excel(tmp_path, ["n"], [1]))
    relations = parts["xl/_rels/workbook.xml.rels"]
    parts["xl/_rels/workbook.xml.rels"] = relations.replace(b"/theme", b"/sharedStrings", 1)
    strings = '<?xml version="1.0" encoding="{}"?><sst><si><t>a</t></si></sst>'
    for encoding, is_known in (("windows-1252", True), ("ebcdic-cp-us", False)):
        parts["xl/theme/theme1.xml"] = strings.format(encoding).encode()
        with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as book:
            for name, content in parts.items():
                book.writestr(name, content)
        with nullcontext() if is_known else pytest.raises(ValueError, match="a readable Excel"):
            found = counting.count(tmp_path / "a.xlsx", alphabet=[1], column="n")
            assert list(found) == [1, 0]
