"""No record decides about a release: the first, the last, the longest is swapped for any other.

Messages, exit code and output stay the same, up to the value that is drawn, in every file source.
"""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
import sqlalchemy as sa
import zstandard
from support.draws import DICE, few, some
from support.sources import SOURCES as HOLDERS

import dproo
from dproo import counting
from dproo.cli.commands import run

RECORDS = [b"a", b"b", b"a", b"a longer one", b"b"]
HOSTILE = [
    *(b"PAR1", b"PAR1 PAR1", b"PK\x03\x04", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", b"DUCK"),
    *(b"\xff\xfea\x00", b"\xfe\xff\x00a", b"\xef\xbb\xbfa", b"\xff\xfe\x00\x00", b"\x00", b"\x1a"),
    *(b"[", b"{", b"]", b"null", b"1", b"NaN", b"#", b"<?xml", b"%PDF", b"\x89PNG", b"$FL2"),
    *(b"\xff" * 9, b"x" * 100_000, "\u202e\u2028".encode(), b"other", b"a\r", b" a"),
]


def texts(records: list[bytes]) -> list[str]:
    return [record.decode(errors="replace") for record in records]


def lines(records: list[bytes], head: bytes = b"") -> bytes:
    return head + b"".join(record + b"\n" for record in records)


def json_lines(records: list[bytes]) -> bytes:
    """Return a line for each record; a hostile one is the line itself."""
    plain = set(RECORDS)
    return lines([b'{"c": "%b"}' % record if record in plain else record for record in records])


def json_array(records: list[bytes]) -> bytes:
    return json.dumps([{"c": text} for text in texts(records)]).encode()


def parquet(records: list[bytes]) -> bytes:
    cells = pa.Array.from_buffers(
        pa.string(),
        len(records),
        pa.array(records, pa.binary()).buffers(),
    )
    out = io.BytesIO()
    pq.write_table(pa.table({"c": cells}), out)
    return out.getvalue()


def sheet(records: list[bytes]) -> bytes:
    book, out = openpyxl.Workbook(), io.BytesIO()
    for text in ["c", *texts(records)]:
        clean = "".join(sign for sign in text[:30_000] if sign >= " ") or "?"
        book.active.append([clean])
        book.active.cell(book.active.max_row, 1).data_type = "s"
    book.save(out)
    return out.getvalue()


def saved(write: Callable[[pd.DataFrame, str], None], path: Path, records: list[bytes]) -> bytes:
    write(
        pd.DataFrame({"c": [text.replace("\0", "?")[:2000] for text in texts(records)]}), str(path)
    )
    return path.read_bytes()


HEADED = ["--column", "c"]
BARE = ["--column", "1", "--no-header"]
SOURCES: dict[str, tuple[str, Callable[[list[bytes]], bytes], list[str]]] = {
    "csv": ("a.csv", lambda records: lines(records, b"c\n"), HEADED),
    "csv of windows": ("a.csv", lambda r: lines(r, b"c\n").replace(b"\n", b"\r\n"), HEADED),
    "csv without a header": ("a.csv", lines, BARE),
    "the same of windows": ("a.csv", lambda r: lines(r).replace(b"\n", b"\r\n"), BARE),
    "in latin 1": ("a.csv", lines, [*BARE, "--encoding", "latin-1"]),
    "in shift jis": ("a.csv", lines, [*BARE, "--encoding", "shift_jis"]),
    "in gb18030": ("a.csv", lines, [*BARE, "--encoding", "gb18030"]),
    "tsv without a header": ("a.tsv", lines, BARE),
    "gzip without a header": ("a.csv.gz", lambda r: gzip.compress(lines(r)), BARE),
    "zstd without a header": ("a.csv.zst", lambda r: zstandard.compress(lines(r)), BARE),
    "by its format": ("a", lines, [*BARE, "--format", "csv"]),
    "json lines": ("a.jsonl", json_lines, HEADED),
    "json lines in gzip": ("a.jsonl.gz", lambda r: gzip.compress(json_lines(r)), HEADED),
    "json lines by their format": ("a.csv", json_lines, [*HEADED, "--format", "jsonl"]),
    "json array": ("a.json", json_array, HEADED),
    "parquet": ("a.parquet", parquet, HEADED),
    "excel": ("a.xlsx", sheet, HEADED),
}


def ends(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Return all that a command shows, but for the value that it draws."""
    code = run(arguments)
    out, err = capsys.readouterr()
    if out.startswith("{"):
        shown = json.loads(out)
        for name in ("value", "values", "released", "records", "letters"):
            shown.pop(name, None)
        out = json.dumps(shown)
    return code, out, err


def swapped() -> list[tuple[int, bytes]]:
    """Return every hostile record in the first place, and some, drawn anew, in two others."""
    longest = RECORDS.index(max(RECORDS, key=len))
    drawn = DICE.sample(HOSTILE, 4)
    others = [(at, record) for at in (len(RECORDS) - 1, longest) for record in drawn]
    return [(0, record) for record in HOSTILE] + others


@pytest.mark.one_of(3)
@pytest.mark.parametrize("source", some(SOURCES, one_of=4))
def test_no_record_decides_what_is_seen(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, write, options = SOURCES[source]
    path = tmp_path / name
    (tmp_path / "codes.txt").write_text("a\nb\n", encoding="utf-8")
    options = [*options, "--alphabet", str(tmp_path / "codes.txt")]
    release = ["sample", str(path), *options, "--epsilon", "1", "--no-ledger", "--json"]
    checked = ["check", str(path), *options]
    path.write_bytes(write(RECORDS))
    expected = [ends(release, capsys), ends(checked, capsys)]
    assert [code for code, *_ in expected] == [0, 0]
    for at, record in few(swapped(), 6):
        if source == "json array" and b"\xff" in record:
            continue  # which JSON cannot hold
        path.write_bytes(write([*RECORDS[:at], record, *RECORDS[at + 1 :]]))
        assert ends(release, capsys) == expected[0], (at, record[:20])
    assert ends(checked, capsys) == expected[1]


@pytest.mark.parametrize("name", ["a.sav", "a.dta", "a.duckdb"])
def test_no_record_of_other_files_decides_what_is_seen(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    (tmp_path / "codes.txt").write_text("a\nb\n", encoding="utf-8")
    options = ["--column", "c", "--alphabet", str(tmp_path / "codes.txt")]
    options += ["--table", "t"] if name == "a.duckdb" else []
    release = ["sample", str(path), *options, "--epsilon", "1", "--no-ledger", "--json"]

    def write(records: list[bytes]) -> None:
        if name != "a.duckdb":
            saved(pyreadstat.write_sav if name == "a.sav" else pyreadstat.write_dta, path, records)
            return
        path.unlink(missing_ok=True)
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE t (c VARCHAR)")
            connection.executemany("INSERT INTO t VALUES (?)", [[text] for text in texts(records)])

    write(RECORDS)
    expected = ends(release, capsys)
    assert expected[0] == 0
    for at, record in few(swapped(), 6):
        write([*RECORDS[:at], record, *RECORDS[at + 1 :]])
        assert ends(release, capsys) == expected, (at, record[:20])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", some(HOLDERS, one_of=4))
def test_no_record_of_a_frame_or_list_decides_what_is_seen(name: str, tmp_path: Path) -> None:
    """What is told before a record is read, and how many there are."""

    def told(records: list[bytes]) -> tuple[object, ...]:
        cells = pa.array(texts(records), pa.string())
        rows = pa.table({"table": [0] * len(records), "cell": cells})
        data, options = HOLDERS[name](rows, tmp_path)
        alphabet = {"table": [0], "cell": ["a", "b"]}
        scan = counting.prepare(data, alphabets=[alphabet], **options)
        return scan.engine, scan.columns, scan.warnings, scan.count().n

    expected = told(RECORDS)
    for at, record in few(swapped(), 5):
        assert told([*RECORDS[:at], record, *RECORDS[at + 1 :]]) == expected, (at, record[:20])


@pytest.mark.one_of(3)
@pytest.mark.parametrize("form", some(["csv", "csv.gz", "jsonl"], one_of=6))
def test_no_record_of_standard_input_decides_what_is_seen(form: str, tmp_path: Path) -> None:
    (tmp_path / "codes.txt").write_text("a\nb\n", encoding="utf-8")
    options = [*(HEADED if form == "jsonl" else BARE), "--format", form, "--quiet"]
    options += ["--alphabet", "codes.txt", "--epsilon", "1", "--no-ledger"]
    code = "import sys; from dproo.cli.commands import run; sys.exit(run(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "sample", "-", *options]
    seen = set()
    for first in (b"a", b"PAR1", b"\x1f\x8b", b"\xff\xfe", b"\xef\xbb\xbf"):
        records = [first, *RECORDS[1:]]
        content = json_lines(records) if form == "jsonl" else lines(records)
        packed = gzip.compress(content) if form == "csv.gz" else content
        done = subprocess.run(command, input=packed, capture_output=True, cwd=tmp_path, check=False)
        assert done.stdout.strip() in {b"a", b"b", b"other"}
        seen.add((done.returncode, done.stderr))
    assert len(seen) == 1


@pytest.mark.one_of(3)
@pytest.mark.parametrize("database", ["postgresql", "mariadb", "sqlite", "spark"])
def test_no_record_of_a_database_decides_what_is_seen(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Neither the check, nor the receipt without its value."""
    url = f"sqlite:///{tmp_path / 'rows.sqlite3'}"
    source = url if database == "sqlite" else request.getfixturevalue(database)
    if database == "postgresql":
        source = source.replace("postgresql://", "postgresql+psycopg://")

    def data(records: list[bytes]) -> object:
        cells = [text.replace("\0", "?") for text in texts(records)]
        if database == "spark":
            return source.createDataFrame([(cell,) for cell in cells], "c string")
        engine = sa.create_engine(source, poolclass=sa.pool.NullPool)
        with engine.begin() as connection:
            if database == "mariadb":
                connection.exec_driver_sql("CREATE DATABASE IF NOT EXISTS swapped")
                connection.exec_driver_sql("USE swapped")
            columns = "c LONGTEXT" if database == "mariadb" else "c TEXT"
            connection.exec_driver_sql("DROP TABLE IF EXISTS swapped")
            connection.exec_driver_sql(f"CREATE TABLE swapped ({columns})")
            connection.execute(
                sa.text("INSERT INTO swapped VALUES (:c)"), [{"c": cell} for cell in cells]
            )
        return engine

    def told(records: list[bytes]) -> tuple[object, ...]:
        options = (
            {}
            if database == "spark"
            else {"table": "swapped.swapped" if database == "mariadb" else "swapped"}
        )
        rows = dproo.open(data(records), **options)
        receipt = rows.value("c", ["a", "b"], epsilon="1").receipt.as_dict()
        return rows.check("c", ["a", "b"]), {**receipt, "values": None}

    expected = told(RECORDS)
    for at, record in few(swapped(), 3 if database == "spark" else 5):
        assert told([*RECORDS[:at], record, *RECORDS[at + 1 :]]) == expected, (at, record[:20])
