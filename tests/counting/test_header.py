"""The header: whatever the file, nothing behind its first line break is shown."""

from __future__ import annotations

import codecs
import encodings
import itertools
import pkgutil
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyreadstat
import pytest
from support.draws import DICE, some
from support.releasing import check
from support.row_files import excel

import dproo
from dproo import counting, draft_codebook
from dproo.cli.commands import run
from dproo.counting.layout import Layout
from dproo.counting.sources.text.header import BAD_NAMES, NO_HEADER, Header, text_encoding
from dproo.web.codebook import columns
from dproo.web.folder import Folder

CODECS = sorted(module.name for module in pkgutil.iter_modules(encodings.__path__))
CANARY = "Braund"
FILE = f"name,sex,age\n{CANARY},male,22\n{CANARY}s,female,38\n".encode()


def shown(path: Path, **options: Any) -> str:
    """Return all that can be seen of a file before a charge: a draft, a check, the page."""
    seen = []
    form = {"source": "file", "data": path.name, **options}
    for action in (
        lambda: draft_codebook(path, **options),
        lambda: check(path, alphabet=["x"], column="sex", **options),
        lambda: check(path, alphabet={"sex": ["x"], "none": ["x"]}, **options),
        lambda: columns(form, Folder(path.parent)),
        lambda: counting.prepare(path, alphabets=[["x"]], columns=["se"], layout=Layout(**options)),
    ):
        try:
            seen.append(repr(action()))
        except (TypeError, ValueError) as error:
            seen.append(str(error))
    return "\n".join(seen)


@pytest.mark.parametrize(
    "codec", some([*CODECS, "rot13", "latin1", "u16", "csHPRoman8"], one_of=10)
)
def test_no_codec_of_python_makes_a_record_a_name(codec: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(FILE)
    assert CANARY not in shown(tmp_path / "a.csv", encoding=codec)
    for own in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp037", "utf-7"):
        (tmp_path / "a.csv").write_bytes(FILE.decode().encode(own))
        assert CANARY not in shown(tmp_path / "a.csv", encoding=codec)


@pytest.mark.parametrize("codec", some(CODECS, one_of=10))
def test_in_an_encoding_that_is_read_ascii_means_ascii(codec: str) -> None:
    """Checked here by random text of any length, there by every pair of bytes."""
    name = text_encoding(codec)
    if name is None or name == "utf-16":
        return
    decoder = codecs.getincrementaldecoder(name)(errors="replace")
    for length in range(1, 60):
        text = bytes(DICE.choices(range(128), k=length))
        assert text.decode(name) == text.decode("ascii")
        junk = DICE.randbytes(length)
        decoder.reset()
        lines = decoder.decode(junk + b"\n" * 9 + b"x,y\n")
        assert lines.endswith("\nx,y\n")
        assert lines.count("\n") == junk.count(b"\n") + 10


@pytest.mark.one_of(3)
def test_the_encodings_that_are_read_are_those_that_extend_ascii() -> None:
    read = {name for name in CODECS if text_encoding(name)}
    for name in ("cp037", "cp500", "cp864", "utf_16_le", "utf_16_be", "utf_32", "utf_7", "idna"):
        assert name not in read
    for name in ("punycode", "rot_13", "hz", "iso2022_jp", "iso2022_kr", "unicode_escape"):
        assert name not in read
    assert {"utf_8", "utf_16", "latin_1", "cp1252", "shift_jis", "gb18030", "euc_kr"} <= read
    assert len(read) > 70


HOSTILE = {
    "an open quote": b'name,"sex,age\n' + FILE,
    "an open quote at the end": b'name,sex,age"\n'.replace(b'age"', b'"age') + FILE,
    "a quote around two lines": b'"name\n' + CANARY.encode() + b'",sex\n1,2\n',
    "no header but a record": b"",
    "a null": b"name\0,sex\n" + FILE,
    "an escape sequence": b"na\x1b[31mme,sex\n" + FILE,
    "a tab": b'"na\tme",sex\n' + FILE,
    "a change of direction": "na\u202eme,sex\n".encode() + FILE,
    "an isolate": "na\u2066me,sex\n".encode() + FILE,
    "a separator of lines": "na\u2028me,sex\n".encode() + FILE,
    "a next line": "na\x85me,sex\n".encode() + FILE,
    "a hidden tag": "na\U000e0041me,sex\n".encode() + FILE,
    "a long name": b"n" * 257 + b",sex\n" + FILE,
    "a long header": b"name,sex" + b",x" * 40_000 + b"\n" + FILE,
    "one line": CANARY.encode() * 20_000,
    "no UTF-8": b"n\xe4me,sex\n" + FILE,
    "half a character": "n\ud800me,sex\n".encode(errors="surrogatepass") + FILE,
    "a mark of UTF-16": codecs.BOM_UTF16_LE + FILE.decode().encode("utf-16-le"),
    "a Parquet file": b"PAR1\x15\x04" + FILE,
    "an archive": b"PK\x03\x04" + FILE,
    "gzip": b"\x1f\x8b\x08\x00" + FILE,
    "only blanks": b",,\n" + FILE,
    "an empty line": b"\n" + FILE,
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_header_is_refused_in_one_sentence(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    for action in (
        draft_codebook,
        lambda data: columns({"source": "file", "data": data.name}, Folder(tmp_path)),
    ):
        with pytest.raises(ValueError, match="header") as refused:
            action(path)
        assert str(refused.value) == NO_HEADER
    assert check(path, alphabet=["x"], column="sex").refusals == (NO_HEADER,)
    assert (
        run(
            [
                "sample",
                str(path),
                "--column",
                "sex",
                "--alphabet",
                "0..2",
                "--epsilon",
                "1",
                "--no-ledger",
            ]
        )
        == 2
    )


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", some(["utf-8", "utf-8-sig", "latin-1", "utf-16"], one_of=4))
@pytest.mark.parametrize("order", ["le", "be"])
def test_a_header_ends_at_its_line_break_of_any_kind(
    line_break: str, encoding: str, order: str, tmp_path: Path
) -> None:
    text = line_break.join(["a\u010a,b", "1,x", "2,\u0a0d", "3,x", ""])
    mark, own = b"", encoding
    if encoding == "utf-16":
        own = f"utf-16-{order}"
        mark = "\ufeff".encode(own)
    if encoding == "latin-1":
        text = text.replace("\u010a", "\xe4").replace("\u0a0d", "\xe4")
    path = tmp_path / "a.csv"
    path.write_bytes(mark + text.encode(own))
    layout = Layout(encoding=encoding)
    assert list(counting.count(path, column="b", alphabet=["x"], layout=layout)) == [2, 1]


def test_a_header_is_as_long_as_it_may_be(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"b," + b"n" * 256 + b"\nx,1\n")
    assert list(counting.count(path, column="b", alphabet=["x"])) == [1, 0]
    for names in (65536 // 2 - 1, 65536 // 2):
        header = b"b" + b",x" * names + b"\n"
        found = itertools.repeat(header, 1)
        if len(header) <= 65536:
            options = {"encoding": "utf-8", "delimiter": ",", "quote": '"'}
            assert len(Header.of(found, **options).names) == names + 1
        else:
            with pytest.raises(ValueError, match="at most 64 KiB"):
                Header.of(found, encoding="utf-8", delimiter=",", quote='"')


def test_a_header_is_read_a_byte_at_a_time_as_at_once() -> None:
    for content in (b"a,b\r\n1,2", b"a,b\r1,2", b"a,b\n1,2", b"\xef\xbb\xbfa,b\r\n", b"a,b"):
        found = {
            Header.of(blocks, encoding="utf-8", delimiter=",", quote='"')
            for blocks in ([content], [bytes([byte]) for byte in content])
        }
        assert {header.names for header in found} == {("a", "b")}
        assert len(found) == 1


def test_a_file_without_a_header_has_columns_by_number(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(FILE.partition(b"\n")[2])
    layout = Layout(has_header=False)
    found = counting.count(path, column="2", alphabet=["male"], layout=layout)
    assert list(found) == [1, 1]
    assert list(counting.count(path, column="77", alphabet=["x"], layout=layout)) == [0, 2]
    for column in (CANARY, "0", "01", "-1", "1e3", "\u0661", "10000", ""):
        with pytest.raises(ValueError, match="be a number from 1 to 9999"):
            counting.count(path, column=column, alphabet=["x"], layout=layout)
    options = ["--column", "2", "--alphabet", "0..2", "--no-header"]
    assert run(["check", str(path), *options]) == 0
    assert run(["sample", str(path), *options, "--epsilon", "1", "--no-ledger"]) == 0
    out, err = capsys.readouterr()
    assert CANARY not in out + err
    with pytest.raises(ValueError, match="utf-16 for a file without a header"):
        Layout(has_header=False, encoding="utf-16")


NAMES = ["a\nb", "a\x1b[2J", "\u202eb", "n" * 257, "\x00", "a\u2029b"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_a_schema_are_shown_by_the_same_rules(name: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": ["1"], name: ["2"]})
    frame.to_parquet(tmp_path / "a.parquet")
    sources: list[tuple[Any, dict[str, str]]] = [(frame, {}), (tmp_path / "a.parquet", {})]
    if name != "\x00":
        with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
            quoted = name.replace('"', '""')
            connection.execute(f'CREATE TABLE t AS SELECT 1 AS x, 2 AS "{quoted}"')
        sources.append((tmp_path / "a.duckdb", {"table": "t"}))
    if not set(name) & set("\x1b\x00"):
        sources.append((excel(tmp_path, ["x", name], ["1", "2"]), {}))
    for data, options in sources:
        with pytest.raises(ValueError, match="names") as refused:
            draft_codebook(data, **options)
        assert str(refused.value) == BAD_NAMES
        where = {} if isinstance(data, pd.DataFrame) else options
        assert counting.count(data, column="x", alphabet=["1"], **where).n == 1


def test_a_file_is_what_its_name_or_its_owner_says(tmp_path: Path) -> None:
    path = tmp_path / "export"
    path.write_bytes(FILE)
    with pytest.raises(ValueError, match="add delimiter=, for others format="):
        counting.count(path, column="sex", alphabet=["male"])
    for said in ({"format": "csv"}, {"delimiter": ","}):
        layout = Layout(**said)
        assert list(counting.count(path, column="sex", alphabet=["male"], layout=layout)) == [1, 1]
    pyreadstat.write_sav(pd.DataFrame({"sex": ["male"]}), str(tmp_path / "spss"))
    excel(tmp_path, ["sex"], ["male"], name="sheet.xlsx").rename(tmp_path / "sheet")
    pd.DataFrame({"sex": ["male"]}).to_parquet(tmp_path / "arrow")
    for name, form in {"spss": "sav", "sheet": "xlsx", "arrow": "parquet"}.items():
        layout = Layout(format=form)
        found = counting.count(tmp_path / name, column="sex", alphabet=["male"], layout=layout)
        assert list(found) == [1, 0]
        assert draft_codebook(tmp_path / name, format=form)["schema"]["fields"][0]["name"] == "sex"
        assert check(tmp_path / name, column="sex", alphabet=["male"], format=form).holds
    for form in ("exe", "csv.bz2", "parquet.gz", "", 7, "../csv", ".csv"):
        with pytest.raises(ValueError, match="format must be one of"):
            Layout(format=form)


@pytest.mark.parametrize("line", ['{"a": 1, "b": "x"}', '["Ann", 3]', "[[1, 2]]", ' {"a": 1}'])
def test_a_first_line_that_is_a_record_is_no_header(line, tmp_path):
    """As of JSON lines that are taken for a CSV file: names would show the record."""
    path = tmp_path / "a.csv"
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="data must begin with a header line") as refused:
        dproo.open(path).columns  # noqa: B018 - it reads the header
    assert "Ann" not in str(refused.value)


@pytest.mark.parametrize("sign", ['"', "'"])
def test_a_quote_separates_no_names(sign: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"sep={sign}\na{sign}b\n1{sign}2\n")
    scan = counting.prepare(tmp_path / "a.csv", alphabets=[["x"]], columns=[f"sep={sign}"])
    assert [column.name for column in scan.columns] == [f"sep={sign}"]
