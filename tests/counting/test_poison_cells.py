"""One poison cell, style or text anywhere in an Excel, SPSS or Stata file is one record outside.

It must not fail the count, nor skip a record, nor make one count twice.
"""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest
from support.draws import DICE
from support.row_files import excel, raw_sheet

from dproo import counting
from dproo.counting.layout import Layout
from dproo.counting.sources.rows import statistics as statistics_files
from dproo.counting.sources.rows.excel import format_of
from dproo.counting.sources.rows.statistics import LongText

DIGITS = "9" * 5000


# Excel


def parts_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as book:
        return {part: book.read(part) for part in book.namelist()}


def put(path: Path, parts: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as book:
        for part, content in parts.items():
            book.writestr(part, content)
    return path


ROW = '<row r="{r}"><c r="A{r}" t="str"><v>a</v></c></row>'
CELLS = [
    f"<c>{ROW.format(r=9)}<v>1</v></c>",
    f'<c r="B9"><v>1</v>{ROW.format(r=77)}{ROW.format(r=78)}</c>',
    ROW.format(r=5),
    f"<extLst><ext><sheetData>{ROW.format(r=5)}</sheetData></ext></extLst>",
    f"<worksheet><sheetData>{ROW.format(r=5)}</sheetData></worksheet>",
    "<si><t>x</t></si><sst><si><t>x</t></si></sst>",
    f'<c r="B9" s="{DIGITS}"><v>1</v></c>',
    f'<c r="B9" t="s"><v>{DIGITS}</v></c>',
    f'<c r="B9" t="b"><v>{DIGITS}</v></c>',
    f'<c r="B9" t="d"><v>{DIGITS}</v></c>',
    f'<c r="B9"><v>{DIGITS}</v></c>',
    f'<c r="B9"><v>1e{DIGITS}</v></c>',
    f'<c r="{DIGITS}"><v>1</v></c>',
    f'<c r="A{DIGITS}"/>',
    '<c r="B9" t="inlineStr"><is><r><t>_xD800_</t></r><is><t>x</t></is></is></c>',
    '<c r="B9" t="d"><v>2024-02-30T99:99:99+99:99</v></c>',
    '<c r="B9" t="str"><v>_xFFFF__xDFFF_</v></c>',
]


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("until", [b"</sheetData>", b'<row r="2"', b'<row r="3"'])
def test_a_poison_cell_of_a_sheet_is_one_record_wherever_it_stands(
    cell: str, until: bytes, tmp_path: Path
) -> None:
    path = raw_sheet(tmp_path, cell, until=until)
    assert counting.count(path, column="n", alphabet=[1, 2]).n == 3
    assert counting.count(path, column="code", alphabet=["a", "b"]).n == 3


@pytest.mark.parametrize(
    ("number", "code"),
    [
        ("164", DIGITS),
        (DIGITS, None),
        (DIGITS, "yyyy"),
        ("164", "[" * 10**6),
        ("164", '"' * 10**6 + "yyyy"),
        ("164", "\u0661" * 5000),
        ("-1", None),
        ("", ""),
        ("14.0", None),
    ],
)
def test_a_poison_format_of_numbers_is_one_of_plain_numbers(
    number: str, code: str | None, tmp_path: Path
) -> None:
    path = raw_sheet(tmp_path, '<c r="B9" s="1"><v>2</v></c>')
    parts = parts_of(path)
    forms = (
        ""
        if code is None
        else f"<numFmts><numFmt numFmtId='{number}' formatCode='{code}'/></numFmts>"
    )
    name = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    parts["xl/styles.xml"] = (
        f"<styleSheet xmlns='{name}'>{forms}<cellXfs><xf numFmtId='0'/><xf numFmtId='{number}'/>"
        "</cellXfs></styleSheet>"
    ).encode()
    found = counting.count(put(path, parts), column="n", alphabet=[1, 2])
    assert list(found) == ([1, 1, 1] if (number, code) == (DIGITS, "yyyy") else [1, 2, 0])


def test_a_code_of_digits_is_not_the_number_of_a_format() -> None:
    forms = [("164", "14"), ("14", None), ("46", None)]
    kinds = [format_of(number, code).kind(7) for number, code in forms]
    assert kinds == ["number", "moment", "span"]


# SPSS and Stata

TEXTS = ["a", "é", "€", "\U0001f600", "x" * 3000, "", "b"]


def stata(path: Path, texts: list[str], version: int = 118, order: str = "<") -> Path:
    frame = pd.DataFrame({"n": [1.0] * len(texts), "code": texts, "s": ["a"] * len(texts)})
    frame.to_stata(path, version=version, convert_strl=["code"], write_index=False, byteorder=order)
    return path


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", [117, 118, 119])
def test_long_text_of_stata_has_any_character(order: str, version: int, tmp_path: Path) -> None:
    letters = TEXTS if version > 117 else ["a", "x" * 3000, "", "b"]
    path = stata(tmp_path / "a.dta", letters, version, order)
    found = counting.count(path, column="code", alphabet=[text for text in letters if text])
    assert list(found) == [1] * len(letters)
    both = {"s": ["a"], "code": ["b"], "n": [1]}
    assert list(counting.count(path, alphabet=both)) == [1, len(letters) - 1]


@pytest.mark.parametrize("bad", [b"\xff\xfe\xfd", b"\0\0\0", b"\xe2\x82\0", b"\xed\xa0\x80"])
def test_long_text_of_stata_that_is_in_no_encoding_is_one_record(
    bad: bytes, tmp_path: Path
) -> None:
    path = stata(tmp_path / "a.dta", ["a", "€", "b"])
    path.write_bytes(path.read_bytes().replace("€".encode(), bad))
    assert list(counting.count(path, column="code", alphabet=["a", "b"])) == [1, 1, 1]


def test_an_entry_of_long_text_that_is_damaged_is_one_record(tmp_path: Path) -> None:
    path = stata(tmp_path / "a.dta", ["a", "€", "b"])
    whole = path.read_bytes()
    starts = [at for at in range(len(whole)) if whole.startswith(b"GSO", at)]
    last, size = starts[-1], 3 + 4 + 8
    for change in (b"\x81", b"\xff", b"\0"):  # bytes of any kind, and kinds that there are not
        path.write_bytes(whole[: last + size] + change + whole[last + size + 1 :])
        assert list(counting.count(path, column="code", alphabet=["a", "b"])) == [1, 0, 2]
    key = whole.index(b"<data>") + len(b"<data>") + 8
    path.write_bytes(whole[:key] + b"\xee" * 8 + whole[key + 8 :])  # the key of no entry
    assert list(counting.count(path, column="code", alphabet=["a", "b"])) == [0, 1, 2]


def test_a_text_longer_than_any_letter_is_told_from_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics_files, "LONGEST", 3)
    path = stata(tmp_path / "a.dta", ["abcd", "abcde", "abcd", "ab"])
    assert list(counting.count(path, column="code", alphabet=["ab", "abcd"])) == [1, 0, 3]
    counted = counting.count(path, column="s", alphabet=["a"], person="code")
    assert counted.n == 3


def test_a_file_of_stata_that_ends_within_its_rows_fails(tmp_path: Path) -> None:
    path = stata(tmp_path / "a.dta", ["a"] * 9)
    with path.open("rb") as file:
        rows = LongText.of(file.fileno())
    path.write_bytes(path.read_bytes()[: rows.rows + 5])
    with path.open("rb") as file, pytest.raises(ValueError, match="ends too early"):
        list(rows.__class__(**{**vars(rows), "descriptor": file.fileno()}).texts([1], 9))
    (tmp_path / "b.dta").write_bytes(b"nonsense")
    with (tmp_path / "b.dta").open("rb") as file, pytest.raises(ValueError, match="not a Stata"):
        LongText.of(file.fileno())


@pytest.mark.parametrize("name", ["a.sav", "a.dta", "long.dta"])
def test_rows_of_random_bytes_are_all_counted(name: str, tmp_path: Path) -> None:
    """Whatever bytes the rows of a file are, each is one record."""
    path, rows = tmp_path / name, 60
    frame = pd.DataFrame(
        {
            "n": [struct.unpack("<d", b"\1\2\3\4\5\6\7\x40")[0]] * rows,
            "code": ["abcdefgh"] * rows,
            "day": pd.to_datetime(["2024-01-02"] * rows),
        }
    )
    if name == "long.dta":
        frame.to_stata(path, version=118, convert_strl=["code"], write_index=False)
    else:
        (pyreadstat.write_sav if name == "a.sav" else pyreadstat.write_dta)(frame, str(path))
    whole = path.read_bytes()
    start = whole.index(b"\1\2\3\4\5\6\7\x40")
    width = whole.index(b"\1\2\3\4\5\6\7\x40", start + 1) - start
    letters = {"n": [1], "code": ["abcdefgh"], "day": "2024-01..2024-02"}
    for _ in range(20):
        path.write_bytes(
            whole[:start] + DICE.randbytes(rows * width) + whole[start + rows * width :]
        )
        for column, alphabet in letters.items():
            for encoding in (None, "latin-1", "shift_jis"):
                layout = Layout(encoding=encoding)
                found = counting.count(path, column=column, alphabet=alphabet, layout=layout)
                assert found.n == rows, (column, encoding)


def test_a_sheet_whose_rows_nest_is_drafted_by_its_first_row(tmp_path: Path) -> None:
    path = excel(tmp_path, ["code"], ["a"])
    parts = parts_of(path)
    sheet = "xl/worksheets/sheet1.xml"
    inner = b'<row r="1"><c t="str"><v>secret</v></c></row>'
    nested = b'<row r="1"><c r="A1" t="str"><v>code</v>' + inner + b"</c></row>"
    start = parts[sheet].index(b"<sheetData>") + len(b"<sheetData>")
    end = parts[sheet].index(b"</row>") + len(b"</row>")
    parts[sheet] = parts[sheet][:start] + nested + parts[sheet][end:]
    assert list(counting.count(put(path, parts), column="code", alphabet=["a"])) == [1, 0]
