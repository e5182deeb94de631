"""Identifiers whose bytes are not all text name nobody, wherever they come from."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from dproo import Alphabet, Layout, counting
from dproo.counting.sources.rows import excel
from dproo.counting.sources.text.cleaning import short_runs

pytestmark = pytest.mark.one_of(3)

LETTERS = ["a", "b"]
LONG = "x" * 20_000


def kept(path: Path, *, encoding: str | None = None, person: str = "p") -> list[int]:
    layout = Layout(encoding=encoding)
    return list(
        counting.count(str(path), alphabet=LETTERS, column="c", person=person, layout=layout)
    )


def test_bytes_in_parquet_that_are_not_text_name_nobody(tmp_path: Path) -> None:
    cells = pa.array([b"a\xff", b"a\xfe", b"ok", b"\xff"], pa.binary()).buffers()
    people = pa.Array.from_buffers(pa.string(), 4, cells)
    pq.write_table(pa.table({"p": people, "c": ["a"] * 4}), tmp_path / "x.parquet")
    assert kept(tmp_path / "x.parquet") == [1, 0, 1]


def test_a_question_mark_in_parquet_cannot_be_told_from_such_bytes(tmp_path: Path) -> None:
    pq.write_table(pa.table({"p": ["a?", "b?", "c"], "c": ["a"] * 3}), tmp_path / "x.parquet")
    assert kept(tmp_path / "x.parquet") == [1, 0, 1]


@pytest.mark.parametrize("suffix", ["sav", "dta"])
@pytest.mark.parametrize(
    ("encoding", "first", "second"),
    [
        ("cp1252", b"\x81", b"\x8d"),
        ("ascii", b"\x81", b"\x8d"),
        ("cp1253", b"\xaa", b"\xd2"),
        ("shift_jis", b"\xff", b"\xfe"),
        ("utf-8", b"\xff", b"\xfe"),
    ],
)
def test_bytes_in_a_statistics_file_that_are_not_text_name_nobody(
    tmp_path: Path, suffix: str, encoding: str, first: bytes, second: bytes
) -> None:
    path = tmp_path / f"x.{suffix}"
    frame = pd.DataFrame({"p": ["aQ", "aW", "a?", "ok"], "c": ["a"] * 4})
    (pyreadstat.write_sav if suffix == "sav" else pyreadstat.write_dta)(frame, str(path))
    stored = path.read_bytes()
    path.write_bytes(stored.replace(b"aQ", b"a" + first).replace(b"aW", b"a" + second))
    assert kept(path, encoding=encoding) == [2, 0, 1]


def test_long_text_of_stata_names_nobody_in_the_same_way(tmp_path: Path) -> None:
    frame = pd.DataFrame({"p": ["Q1" * 1500, "Q2" * 1500, "?" * 3000], "c": ["a"] * 3})
    path = tmp_path / "x.dta"
    frame.to_stata(path, version=118, convert_strl=["p"], write_index=False)
    path.write_bytes(path.read_bytes().replace(b"Q1", b"\xffQ").replace(b"Q2", b"\xfeQ"))
    assert kept(path, encoding="ascii") == [1, 0, 1]


def test_bytes_of_any_kind_in_long_text_of_stata_name_nobody(tmp_path: Path) -> None:
    """They are not missing: an identifier that is not read is one person's for all its records."""
    frame = pd.DataFrame({"p": ["Q1" * 1500, "Q1" * 1500, "b" * 3000], "c": ["a"] * 3})
    path = tmp_path / "x.dta"
    frame.to_stata(path, version=118, convert_strl=["p"], write_index=False)
    text, other = (bytes([kind]) + (3001).to_bytes(4, "little") + b"Q1" for kind in (130, 129))
    path.write_bytes(path.read_bytes().replace(text, other))
    asked: dict[str, Any] = {"alphabet": LETTERS, "column": "c", "person": "p"}
    assert list(counting.count(path, **asked, is_each_missing=True)) == [1, 0, 1]


def test_long_text_of_stata_with_a_zero_byte_names_nobody(tmp_path: Path) -> None:
    """It was cut there, so several people were one, or missing."""
    frame = pd.DataFrame({"p": ["aQ1", "aQ2", "a", "Q3", "Q4", "b"], "c": ["a"] * 6})
    path = tmp_path / "x.dta"
    frame.to_stata(path, version=118, convert_strl=["p"], write_index=False)
    path.write_bytes(path.read_bytes().replace(b"Q", b"\0"))
    assert kept(path) == [2, 0, 1]
    asked: dict[str, Any] = {"alphabet": LETTERS, "column": "c", "person": "p"}
    assert list(counting.count(path, **asked, is_each_missing=True)) == [2, 0, 1]


@pytest.mark.parametrize("column", ["p", "c"])
def test_bytes_of_any_kind_in_spss_are_refused(column: str, tmp_path: Path) -> None:
    """The library ends a text at a zero byte, so several people would be one."""
    frame = pd.DataFrame({"p": ["a", "b"], "c": ["a", "b"]})
    path = tmp_path / "x.sav"
    pyreadstat.write_sav(frame, path, variable_format={column: "AHEX2"})
    with pytest.raises(ValueError, match=f"column '{column}' must hold text.* got type AHEX[.]"):
        kept(path)


def with_bytes(book: openpyxl.Workbook, folder: Path, changed: dict[bytes, bytes]) -> Path:
    """Save a workbook that holds what openpyxl would not write."""
    book.save(folder / "x.xlsx")
    with (
        zipfile.ZipFile(folder / "x.xlsx") as old,
        zipfile.ZipFile(folder / "y.xlsx", "w") as new,
    ):
        for part in old.namelist():
            content = old.read(part)
            for here, there in changed.items():
                content = content.replace(here, there)
            new.writestr(part, content)
    return folder / "y.xlsx"


def test_a_lone_surrogate_in_a_sheet_names_nobody(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["p", "c"], *([who, "a"] for who in ("_xD800_", "_xD801_", "?", "x_xDC00_"))):
        book.active.append(row)
    path = with_bytes(book, tmp_path, {b"_x005F_": b"_"})  # openpyxl escapes the escapes
    assert kept(path) == [1, 0, 1]


@pytest.mark.parametrize(
    "sign",
    [
        *("\ufffe", "\uffff", "\x01", "\x1f", "&#1;", "&#x0001F;", "&#xFFFF;", "&#xd800;"),
        *("&#1114112;", "&#00000000000000000000;", "\udcff"),
    ],
)
@pytest.mark.parametrize("block", [1, 2, 3, 7, 1 << 16])
def test_no_character_in_a_cell_makes_a_sheet_unreadable(
    tmp_path: Path, sign: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a block of the file ends within the character."""
    monkeypatch.setattr(excel, "_BLOCK", block)
    book = openpyxl.Workbook()
    rows = [["p", "c"], ["1", "a"], ["2", "MARK"], ["3", "a"]]
    for row in [*rows, *([str(i), f"b{i}"] for i in range(20))]:
        book.active.append(row)
    mark = sign.encode(errors="surrogateescape")
    path = with_bytes(book, tmp_path, {b"<t>b": b"<t>" + mark, b"MARK": mark})
    counts = counting.count(str(path), alphabet=LETTERS, column="c")
    assert list(counts) == [2, 0, 21]


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "utf-16", "iso-8859-1", "windows-1252"])
def test_a_sheet_is_read_alike_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    book = openpyxl.Workbook()
    for cell in ("c", "\xe9", "b&#1;", "\xff"):
        book.active.append([cell])
    book.save(path := tmp_path / "x.xlsx")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "y.xlsx", "w") as new:
        for part in old.namelist():
            content = old.read(part)
            if part.endswith(("sheet1.xml", "sharedStrings.xml")):
                text = content.decode().replace("&amp;#1;", "&#1;").partition("?>")
                body = text[2] or text[0]  # openpyxl may declare nothing
                content = f"<?xml version='1.0' encoding='{encoding}'?>{body}".encode(encoding)
            new.writestr(part, content)
    letters = ["\xe9", "b\ufffd", "\xff"]
    counts = counting.count(tmp_path / "y.xlsx", alphabet=letters, column="c")
    assert list(counts) == [1, 1, 1, 0]


def test_a_sheet_in_an_unknown_encoding_is_refused_before_its_charge(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["c"])
    declared = b"<?xml version='1.0' encoding='x'?><worksheet"
    path = with_bytes(book, tmp_path, {b"<worksheet": declared})
    with pytest.raises(ValueError, match="be a readable Excel file"):
        counting.prepare(path, alphabets=[["a"]], columns=["c"])


def test_a_character_that_a_sheet_refers_to_is_itself(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["p", "c"], ["1", "MARK"], ["2", "MARK2"]):
        book.active.append(row)
    path = with_bytes(book, tmp_path, {b"MARK": b"&#65;&#x1F600;&amp;#1;"})
    letters = ["A\U0001f600&#1;", "A\U0001f600&#1;2"]
    assert list(counting.count(str(path), alphabet=letters, column="c")) == [1, 1, 0]


@pytest.mark.parametrize(
    "cell",
    [
        *('t="e"><v>#N/A', 't="s"><v>999', 't="b"><v>2', 't="d"><v>soon', "><v>1_0", "><v>1e999"),
        *('s="1"><v>0.5', 's="2"><v>60'),
    ],
)
def test_a_cell_of_a_sheet_that_cannot_be_read_names_nobody(cell: str, tmp_path: Path) -> None:
    """It is not missing either: all such records together are one person's."""
    book = openpyxl.Workbook()
    for row in (["p", "c"], ["who", "a"], ["who", "a"], ["ann", "b"], ["bob", "b"]):
        book.active.append(row)
    for at, form in (("D1", "h:mm"), ("D2", "yyyy-mm-dd")):
        book.active[at].number_format = form
    who = b't="inlineStr"><is><t>who</t></is>'
    path = with_bytes(book, tmp_path, {who: f"{cell}</v>".encode()})
    asked: dict[str, Any] = {"alphabet": LETTERS, "column": "c", "person": "p"}
    assert list(counting.count(path, **asked, is_each_missing=True)) == [0, 2, 1]


def test_long_integers_of_a_sheet_are_different_people(tmp_path: Path) -> None:
    """As doubles they would be one; so would those beyond all doubles, which name nobody."""
    book = openpyxl.Workbook()
    numbers = ["90071992547409931", "90071992547409932", "1e309", "1e310", f"1{'0' * 999}"]
    for row in (["p", "c"], *([f"N{place}", "a"] for place in range(len(numbers)))):
        book.active.append(row)
    written = {
        b't="inlineStr"><is><t>N%d</t></is>' % place: f"><v>{number}</v>".encode()
        for place, number in enumerate(numbers)
    }
    path = with_bytes(book, tmp_path, written)
    assert kept(path) == [3, 0, 1]
    letters = [90071992547409931, 7]
    assert list(counting.count(path, column="p", alphabet=letters)) == [1, 0, 4]


@pytest.mark.parametrize(
    "lines",
    [
        [LONG.encode() + b"\xff", LONG.encode() + b"\xfe"],
        [LONG.encode() + b"\xff" + LONG.encode(), LONG.encode() + b"\xfe" + LONG.encode()],
        [LONG.encode() + b"\r", LONG.encode() + "\ufffd".encode()],
        [b"\xff" + LONG.encode(), b"\xfe" + LONG.encode()],
        [b'"xx' + LONG.encode() + b'"' + b"x"],  # the same text as the long one below
        [b'"xx"' + LONG.encode() + b"x"],
    ],
)
def test_the_end_of_a_long_identifier_is_looked_at(tmp_path: Path, lines: list[bytes]) -> None:
    known = b"xxx" + LONG.encode()
    text = b"".join(line + b",a\n" for line in [*lines, known, b'"' + known + b'"'])
    (tmp_path / "x.csv").write_bytes(b"p,c\n" + text)
    assert kept(tmp_path / "x.csv") == [1, 0, 1]


def test_odd_quotes_do_not_split_a_shorter_person(tmp_path: Path) -> None:
    text = LONG[:9000].encode()
    (tmp_path / "x.csv").write_bytes(b'p,c\n%b,a\n"x"%b,a\n' % (text, text[1:]))
    assert kept(tmp_path / "x.csv") == [1, 0, 0]


@pytest.mark.parametrize("at", range(1, 6))
def test_a_sign_in_two_blocks_is_found(at: int) -> None:
    run = b"x" * 8 + "\ufffd".encode() + b"y" * 3
    blocks = [run[: 7 + at], run[7 + at : 8 + at], run[8 + at :]]
    assert b"".join(short_runs(blocks, marks=[b","], longest=6)).endswith("\ufffd".encode())


@pytest.mark.one_of(4)
@pytest.mark.parametrize("suffix", ["jsonl", "json"])
@pytest.mark.parametrize("token", ["NaN", "nan", "-NaN", "null", '""'])
def test_a_missing_identifier_of_json_names_nobody(tmp_path: Path, suffix: str, token: str) -> None:
    lines = [f'{{"p": {token}, "c": "{letter}"}}' for letter in "ab"]
    lines.append('{"p": "nan", "c": "a"}')
    text = "\n".join(lines) if suffix == "jsonl" else f"[{','.join(lines)}]"
    (tmp_path / f"x.{suffix}").write_text(text)
    path = str(tmp_path / f"x.{suffix}")
    assert kept(Path(path)) == [1, 0, 1]
    each = counting.count(path, alphabet=LETTERS, column="c", person="p", is_each_missing=True)
    assert list(each) == [2, 1, 0]


@pytest.mark.parametrize("is_by_cell", [False, True])
@pytest.mark.parametrize("of_type", [pa.decimal128(38, 2), pa.decimal256(38, 0)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_decimal_with_too_many_digits_names_nobody(
    of_type: pa.DataType,
    sign: int,
    is_by_cell: bool,  # noqa: FBT001
) -> None:
    """It is not missing: all such records together are one person's."""
    stored = [sign * 10**38, sign * (10**38 + 7), 700, 7]
    bits = b"".join(number.to_bytes(of_type.byte_width, "little", signed=True) for number in stored)
    people = pa.Array.from_buffers(of_type, 4, [None, pa.py_buffer(bits)])
    table = pa.table({"p": people, "c": ["a"] * 4})
    data = table.to_pandas(types_mapper=pd.ArrowDtype) if is_by_cell else table
    if is_by_cell:
        data["c"] = data["c"].astype(object)
    asked: dict[str, Any] = {"alphabet": LETTERS, "column": "c", "person": "p"}
    assert list(counting.count(data, **asked, is_each_missing=True)) == [2, 0, 1]
    assert list(counting.count(data, column="p", alphabet=[7])) == [1, 3]
    bins = Alphabet.bins([-1e40, 0, 1e40])
    assert list(counting.count(data, column="p", alphabet=bins)) == [0, 2, 2]
