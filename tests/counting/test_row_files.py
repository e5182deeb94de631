"""Excel sheets, SPSS and Stata files as data: every row is a record, whatever is in it."""

from __future__ import annotations

import datetime as dt
import re
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from counting.test_parity import assert_parity, batches
from support.draws import DICE
from support.releasing import check, sample
from support.row_files import excel, raw_sheet, write_excel, write_statistics

import dproo
from dproo import Alphabet, counting, draft_codebook, import_codebook
from dproo.counting.layout import Layout
from dproo.counting.sources.rows import excel as excel_sheets
from dproo.counting.sources.rows import statistics as statistics_files
from dproo.schema.cell import BEYOND, text_of

FORMATS = {"rows.xlsx": write_excel, "rows.sav": write_statistics, "rows.dta": write_statistics}


@pytest.mark.untraced
@pytest.mark.parametrize("name", FORMATS)
def test_files_count_the_same_on_nasty_tables(name: str, tmp_path: Path) -> None:
    for nasty in batches():
        cells = FORMATS[name](nasty.rows, tmp_path / name)
        # What the format cannot hold is a null there.
        held = [
            cell if kept is not None else None
            for cell, kept in zip(nasty.cells, cells, strict=True)
        ]
        column = pa.array(held, nasty.rows["cell"].type)
        assert_parity(
            replace(nasty, rows=nasty.rows.set_column(1, "cell", column)),
            counting.count,
            tmp_path / name,
        )


def spss(folder: Path, name: str = "a.sav", **columns: list[object]) -> Path:
    write = pyreadstat.write_sav if name.endswith("sav") else pyreadstat.write_dta
    write(pd.DataFrame(columns), str(folder / name))
    return folder / name


# SPSS and Stata


def test_text_that_is_in_no_encoding_stops_nothing(tmp_path: Path) -> None:
    for name in ("a.sav", "a.dta"):
        path = spss(tmp_path, name, code=["a", "bé", "ü"])
        path.write_bytes(path.read_bytes().replace("bé".encode(), b"b\xff\xfe"))
        found = counting.count(path, column="code", alphabet=["a", "b??", "ü"])
        assert list(found) == [1, 0, 1, 1]


def test_a_file_in_an_encoding_that_python_calls_otherwise_or_not_at_all(tmp_path: Path) -> None:
    content = spss(tmp_path, code=["a", "ก"], นับ=[1.0, 2.0]).read_bytes()
    for name in ("windows-874", "VISCII"):
        path = tmp_path / f"{name}.sav"
        length = len(name).to_bytes(4, "little")
        written = content.replace(b"\5\0\0\0UTF-8", length + name.encode())
        path.write_bytes(written.replace("ก".encode(), b"\xa1  "))
    code = {"column": "code", "alphabet": ["a", "ก"]}
    assert list(counting.count(tmp_path / "windows-874.sav", **code)) == [1, 1, 0]
    with pytest.raises(ValueError, match="encoding must be given, since Python"):
        counting.prepare(tmp_path / "VISCII.sav", columns=["code"], alphabets=[["a"]])
    found = counting.count(tmp_path / "VISCII.sav", layout=Layout(encoding="tis-620"), **code)
    assert list(found) == [1, 1, 0]


def test_an_encoding_can_be_said(tmp_path: Path) -> None:
    path = spss(tmp_path, "a.dta", code=["bé"])
    path.write_bytes(path.read_bytes().replace("bé".encode(), b"b\xe9\0"))
    layout = Layout(encoding="latin-1")
    assert list(counting.count(path, column="code", alphabet=["bé"], layout=layout)) == [1, 0]
    assert list(counting.count(path, column="code", alphabet=["bé"])) == [0, 1]


def labelled(folder: Path, name: str, **options: Any) -> Path:
    write = pyreadstat.write_sav if name.endswith("sav") else pyreadstat.write_dta
    labels = {"ward": {1: "North", 2: "XXX", 3: "south-west"}}
    frame = pd.DataFrame({"ward": [1, 2, 2, 3], "XX": [1, 2, 2, 3], "text": ["a", "b", "c", "d"]})
    write(frame, str(folder / name), variable_value_labels=labels, **options)
    return folder / name


FILES = [("a.sav", {}), ("a.zsav", {}), *(("a.dta", {"version": n}) for n in (12, 13, 14, 15))]


@pytest.mark.parametrize("odd", [b"\x81\xffX", b"\xed\xa0\x80", b"XX\xc3"])
@pytest.mark.parametrize(("name", "options"), FILES)
def test_a_label_that_is_not_text_stops_nothing(name, options, odd, tmp_path: Path) -> None:
    """Labels may be made of the data, so one record could decide whether there is a release."""
    path = labelled(tmp_path, name, **options)
    path.write_bytes(path.read_bytes().replace(b"XXX", odd))
    assert list(counting.count(path, column="ward", alphabet=["North"])) == [1, 3]
    assert list(counting.count(path, column="XX", alphabet=[1, 2])) == [1, 2, 1]
    assert [column.name for column in dproo.open(path).columns] == ["ward", "XX", "text"]


@pytest.mark.parametrize(("name", "options"), FILES)
def test_names_and_labels_are_in_the_encoding_that_is_named(name, options, tmp_path: Path) -> None:
    path = labelled(tmp_path, name, **options)
    content = path.read_bytes().replace(b"XXX", "юго".encode("cp1251"))
    path.write_bytes(content.replace(b"XX\0", "яч".encode("cp1251") + b"\0"))
    layout = Layout(encoding="cp1251")
    found = counting.count(path, column="ward", alphabet=["North", "юго"], layout=layout)
    assert list(found) == [1, 2, 1]
    if name == "a.dta":
        assert list(counting.count(path, column="яч", alphabet=[1, 2], layout=layout)) == [1, 2, 1]


def test_the_encoding_of_an_spss_file_is_found_whatever_its_labels_are(tmp_path: Path) -> None:
    labels = {"ward": {float(n): "x" * (n + 1) for n in range(20)}, "code": {"a": "first"}}
    for name in ("a.sav", "a.zsav"):
        path = tmp_path / name
        pyreadstat.write_sav(
            pd.DataFrame({"ward": [1.0, 2.0], "code": ["a", "b"], "long": ["x" * 600, ""]}),
            str(path),
            column_labels=["Where", "", "Anything"],
            note=["one line", "another"],
            variable_value_labels=labels,
            missing_ranges={"ward": [{"lo": 8, "hi": 9}, 3], "code": ["a", "b"]},
            row_compress=name == "a.sav",
        )
        content = path.read_bytes().replace(b"\5\0\0\0UTF-8", b"\x0c\0\0\0windows-1251")
        path.write_bytes(content.replace(b"xxxxx\0", "юг".encode("cp1251") + b"\x98xx\0", 1))
        with path.open("rb") as opened:
            assert statistics_files._encoding_of_spss(opened) == "windows-1251"
        found = counting.count(path, column="ward", alphabet=["xx", "xxx"])
        assert list(found) == [1, 1, 0]


@pytest.mark.parametrize(
    ("page", "codec"),
    [(2, "cp1252"), (1251, "cp1251"), (28592, "iso8859-2"), (950, "big5"), (65001, "utf-8")],
)
def test_old_spss_files_name_their_encoding_by_a_number(page, codec, tmp_path: Path) -> None:
    content = labelled(tmp_path, "a.sav").read_bytes()
    named = content.index(b"\7\0\0\0\x14\0\0\0\1\0\0\0")
    number = content.index(b"\7\0\0\0\3\0\0\0\4\0\0\0\x08\0\0\0") + 44
    content = content[:named] + content[named + 21 :]  # UTF-8
    content = content[:number] + page.to_bytes(4, "little") + content[number + 4 :]
    letter = "中" if codec == "big5" else "ó" if codec != "cp1251" else "ю"
    written = letter.encode(codec)
    (tmp_path / "a.sav").write_bytes(content.replace(b"XXX", written + b"X" * (3 - len(written))))
    letters = ["North", letter + "X" * (3 - len(written))]
    found = counting.count(tmp_path / "a.sav", column="ward", alphabet=letters)
    assert list(found) == [1, 2, 1]


@pytest.mark.parametrize("name", ["a.sav", "a.dta"])
def test_days_and_moments(name: str, tmp_path: Path) -> None:
    day = [dt.date(2024, 1, 2), None, dt.date(2024, 3, 1)]
    moment = [dt.datetime(2024, 1, 2, 23, 59), None, dt.datetime(2024, 3, 1)]  # noqa: DTZ001
    path = spss(tmp_path, name, day=day, moment=moment)
    for column in ("day", "moment"):
        assert list(counting.count(path, column=column, alphabet="2024-01..2024-04")) == [
            1,
            0,
            1,
            1,
        ]
    with pytest.raises(ValueError, match=r"Add .read_as\('date'\)"):
        counting.count(path, column="moment", alphabet=["2024-01-02"])
    with pytest.raises(ValueError, match="holds dates, which can never be one of the integers"):
        counting.count(path, column="day", alphabet=range(3))


@pytest.mark.parametrize("day", [dt.date(1972, 6, 30), dt.date(2016, 12, 31), dt.date(2023, 5, 9)])
def test_moments_of_stata_that_count_leap_seconds(day: dt.date, tmp_path: Path) -> None:
    """Otherwise the last half minute of a day, in `%tC`, would be in the next day."""
    inserted = {1972: 1, 2016: 27, 2023: 27}[day.year]  # with the one at the end of this day
    midnight = 1000 * (86400 * (day + dt.timedelta(1) - dt.date(1960, 1, 1)).days + inserted)
    path = tmp_path / "a.dta"
    frame = pd.DataFrame({"t": [midnight - 1000.0, midnight - 1, midnight, None]})
    pyreadstat.write_dta(frame, path, variable_format={"t": "%tC"})
    days = Alphabet.of([day, day + dt.timedelta(1)]).read_as("date")
    assert list(counting.count(path, column="t", alphabet=days)) == [2, 1, 1]


def test_a_moment_beyond_the_calendar_is_outside() -> None:
    """SPSS can hold 10^300 seconds."""
    read = {"column_names": ["d"], "original_variable_types": {"d": "DATE11"}}
    header = type("Header", (), read | {"readstat_variable_types": {"d": "double"}})
    reading = statistics_files._reading(header, "d", ".sav", "utf-8", is_whole=False)
    found = [reading(cell) for cell in (1e300, float("nan"), None, "x")]
    assert found == [BEYOND, None, None, None]
    assert text_of(BEYOND) is None
    assert reading(86400.0) == dt.date(1582, 10, 15)


def test_values_that_spss_calls_missing_are_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.sav"
    frame = pd.DataFrame({"x": [1.0, 9.0, None]})
    pyreadstat.write_sav(frame, str(path), missing_ranges={"x": [9]})
    assert list(counting.count(path, column="x", alphabet=[1, 9])) == [1, 1, 1]


def test_periods_and_times_have_no_letters(tmp_path: Path) -> None:
    path = tmp_path / "a.sav"
    frame = pd.DataFrame({"t": [dt.time(1, 2)], "n": [1.0]})
    pyreadstat.write_sav(frame, str(path))
    with pytest.raises(ValueError, match="column 't' must hold text, numbers, booleans or dates"):
        counting.count(path, column="t", alphabet=[1])


def test_rows_are_read_a_part_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for rows in (1, 2, 3, 4, 6, 7):
        path = spss(tmp_path, "a.sav", code=["a"] * rows)
        for size in (1, 3):
            # As many bytes as so many cells take.
            monkeypatch.setattr(statistics_files, "BYTES", size * (statistics_files._OBJECT + 8))
            assert list(counting.count(path, column="code", alphabet=["a"])) == [rows, 0]


# All of them


@pytest.mark.parametrize("name", ["a.sav", "a.zsav", "a.dta"])
def test_numbers_are_read_by_their_labels_unless_the_letters_are_numbers(tmp_path, name):
    labels = {
        code: DICE.choice(["never", "always", f"a{code}"]) for code in DICE.sample(range(9), 4)
    }
    codes = [DICE.randrange(9) for _ in range(40)]
    frame = pd.DataFrame({"sex": list(map(float, codes)), "who": [float(i) for i in range(40)]})
    write = pyreadstat.write_dta if name.endswith("dta") else pyreadstat.write_sav
    both = {"sex": labels, "who": {float(i): "one" for i in range(40)}}
    write(frame, str(tmp_path / name), variable_value_labels=both)
    texts = [labels.get(code, str(code)) for code in codes]
    letters = ["always", "never", "5", *(f"a{code}" for code in range(9))]
    bins = Alphabet.bins([0, 3, 9])
    for person in (None, "who"):  # people are told apart by what is stored
        count = partial(counting.count, tmp_path / name, column="sex", person=person)
        found = [*map(texts.count, letters)]
        assert list(count(alphabet=letters)) == [*found, 40 - sum(found)]
        assert list(count(alphabet=range(9))) == [*map(codes.count, range(9)), 0]
        low = sum(code < 3 for code in codes)
        assert list(count(alphabet=bins)) == [low, 40 - low, 0]
    (column, _) = dproo.open(tmp_path / name).columns
    assert (column.kind, column.type_name, column.values) == ("text", "labels", ())
    for secret in set(labels.values()):
        assert secret not in repr(dproo.open(tmp_path / name).check("sex", ["x"]))


@pytest.mark.parametrize("version", [114, 117, 118, 119])
def test_text_of_stata_is_in_the_encoding_of_its_release(version: int, tmp_path: Path) -> None:
    """Before 118 it is Windows-1252, which no header states; pandas writes long text in UTF-8."""
    path, texts = tmp_path / "a.dta", ["\u00e9", "\u00fc", "a", "\u00e9"]
    for long in [[], ["code"]] if version > 114 else [[]]:
        frame = pd.DataFrame({"code": texts, "who": texts})
        frame.to_stata(path, version=version, convert_strl=long or None, write_index=False)
        letters = {"code": sorted({*texts})}
        assert list(counting.count(path, alphabet=letters)) == [1, 2, 1, 0]
        assert list(counting.count(path, alphabet=letters, person="who")) == [1, 1, 1, 0]
        named = counting.count(path, alphabet=letters, layout=Layout(encoding="cp1250"))
        is_unicode = version > 117 or bool(long)
        assert list(named) == ([1, 0, 0, 3] if is_unicode else [1, 2, 1, 0])


@pytest.mark.parametrize("name", ["a.xlsx", "a.sav", "a.dta"])
def test_several_files_people_rows_and_open_values(name: str, tmp_path: Path) -> None:
    codes, people = ["a", "b", "a", "b"], ["p", "p", "q", None]
    for i in range(2):
        if name.endswith("xlsx"):
            rows = ([code, person] for code, person in zip(codes, people, strict=True))
            excel(tmp_path, ["code", "who"], *rows, name=f"{i}{name}")
        else:
            who = [person or "" for person in people]
            spss(tmp_path, f"{i}{name}", code=codes, who=who)
    pattern = str(tmp_path / f"?{name}")
    assert list(counting.count(pattern, column="code", alphabet=["a", "b"])) == [4, 4, 0]
    # One record of each of two people, and one of nobody.
    assert counting.count(pattern, column="code", alphabet=["a", "b"], person="who").n == 3
    both = {"code": ["a", "b"], "who": ["p", "q"]}
    assert list(counting.count(pattern, alphabet=both)) == [2, 2, 2, 0, 2]
    released = sample(pattern, column="code", alphabet="open", epsilon=20, delta="0.1")
    assert released.value in {"a", "b", "other", None} or released.value


@pytest.mark.parametrize("end", ["sav", "dta"])
def test_numbers_with_labels_do_not_tell_people_of_several_files_apart(
    end: str, tmp_path: Path
) -> None:
    """In each file, the number 1 is the first of its own people."""
    write = pyreadstat.write_dta if end == "dta" else pyreadstat.write_sav
    for place, labels in enumerate(({1.0: "Ann", 2.0: "Bob"}, {1.0: "Bob", 2.0: "Cy"}, {})):
        rows = pd.DataFrame({"who": [1.0, 2.0], "code": ["a", "b"]})
        write(rows, str(tmp_path / f"{place}.{end}"), variable_value_labels={"who": labels})
    asked: dict[str, Any] = {"column": "code", "alphabet": ["a", "b"]}
    for pattern in ("[01]", "[02]"):
        files = tmp_path / f"{pattern}.{end}"
        with pytest.raises(ValueError, match="person must be a column without value labels"):
            counting.count(files, person="who", **asked)
        assert list(counting.count(files, **asked)) == [2, 2, 0]
    assert list(counting.count(tmp_path / f"0.{end}", person="who", **asked)) == [1, 1, 0]


@pytest.mark.parametrize("name", ["a.xlsx", "a.sav"])
def test_the_header_alone_is_looked_at_before_the_charge(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = (
        excel(tmp_path, ["code", "n"], ["a", 1])
        if name == "a.xlsx"
        else spss(tmp_path, code=["a"], n=[1.0])
    )
    for reader in (excel_sheets, statistics_files):

        def never(*_: object) -> Any:
            raise AssertionError

        monkeypatch.setattr(reader, "rows_of", never)
    assert [column.name for column in check(path, column="code", alphabet=["a"]).columns] == [
        "code"
    ]
    assert [field["name"] for field in draft_codebook(path)["schema"]["fields"]] == ["code", "n"]
    for column, words in {"Code": "Did you mean 'code'", "x": "List the columns"}.items():
        with pytest.raises(ValueError, match=words):
            counting.count(path, column=column, alphabet=["a"])


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("a.sav", {"table": "x"}, "table must be left out for an SPSS or Stata file"),
        ("a.xlsx", {"layout": {"encoding": "latin-1"}}, "encoding must be left out: an Excel"),
        ("a.sav", {"layout": {"delimiter": ";"}}, "delimiter must be given for a CSV file only"),
        ("a.sav", {"column": None}, "column must be given for a file"),
        ("bad.sav", {}, "data must be a readable SPSS or Stata file"),
        ("bad.xlsx", {}, "data must be a readable Excel file"),
        ("none.xlsx", {}, "data must be a file that exists"),
        ("?.sav", {}, "data must be files with the same columns, got"),
        ("bad.s*", {}, "data must be named by a pattern with their ending, as in '*.sav'."),
        ("a.ods", {}, "got '.ods'. Save it as an Excel workbook (.xlsx) or as CSV"),
        ("broken.xlsx", {}, "data must be a readable Excel file"),
    ],
)
def test_what_cannot_be_read_is_refused(
    name: str, options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    spss(tmp_path, code=["a"])
    spss(tmp_path, "b.sav", other=["a"])
    excel(tmp_path, ["code"], ["a"])
    for bad in ("bad.sav", "bad.xlsx", "a.ods"):
        (tmp_path / bad).write_bytes(b"nonsense")
    raw_sheet(tmp_path, "</broken>", name="broken.xlsx", until=b"<sheetData>")
    asked = {"column": "code", "alphabet": ["a"], **options}
    asked["layout"] = Layout(**options.get("layout", {}))
    with pytest.raises(ValueError, match=re.escape(words)):
        counting.count(tmp_path / name, **asked)


@pytest.mark.parametrize("name", ["a.sav", "a.zsav", "a.dta"])
def test_statistics_files_need_no_pandas(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = spss(tmp_path, name, code=["a", "b", "b"])
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert list(counting.count(path, column="code", alphabet=["a", "b"])) == [1, 2, 0]
    assert [field["name"] for field in import_codebook(path)["schema"]["fields"]] == ["code"]


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = spss(tmp_path, code=["a"])
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(ValueError, match=r"pip install 'dproo\[spss\]'"):
        counting.count(path, column="code", alphabet=["a"])
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ValueError, match=r"pip install 'dproo\[excel\]'"):
        import_codebook(excel(tmp_path, ["code"], ["a"]))


def test_files_of_a_pattern_may_differ_in_the_types_that_one_cell_decides(tmp_path: Path) -> None:
    """A single large number makes a column of a Stata file ``double``."""
    cells: dict[str, list[object]] = {"1": [7, 8], "2": [7, 2.0**40], "3": [7.5, None]}
    for name, numbers in cells.items():
        spss(tmp_path, f"{name}.dta", code=numbers)
        with closing(sqlite3.connect(tmp_path / f"{name}.sqlite")) as file, file:
            pd.DataFrame({"code": numbers}).to_sql("t", file, index=False)
    spss(tmp_path, "4.dta", code=["7", ""])
    for pattern, table, rest in ("[123].dta", None, 4), ("?.dta", None, 5), ("?.sqlite", "t", 4):
        found = counting.count(tmp_path / pattern, column="code", alphabet=["7"], table=table)
        assert list(found) == [2 + (rest == 5), rest]
