"""Text files of any layout: every record counts once, whatever is in it."""

from __future__ import annotations

import gzip
import io
import json
import secrets
import zipfile
from base64 import b64decode, b64encode
from dataclasses import fields
from itertools import product
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.parquet import encryption
from support.draws import DICE, few, some
from support.releasing import check

import dproo
from dproo import Alphabet, CodeBook, ReleaseError, counting
from dproo.counting.layout import Layout
from dproo.counting.sources.text.cleaning import array_lines
from dproo.counting.sources.text.files import plain_blocks

pytestmark = pytest.mark.one_of(3)

ITEMS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.json"])
def test_a_mark_at_the_beginning_of_json_is_of_no_record(name: str, tmp_path: Path) -> None:
    content = b'[{"c": "a"},\n{"c": "b"}]' if name == "a.json" else b'{"c": "a"}\n{"c": "b"}'
    content = b"\xef\xbb\xbf" + content
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert list(counting.count(tmp_path / name, column="c", alphabet=["a", "b"])) == [1, 1, 0]


@given(items=st.lists(ITEMS, max_size=5), indent=st.sampled_from([None, 1]), cut=st.integers(1, 7))
def test_the_items_of_an_array_are_its_lines_however_it_is_cut(items, indent, cut):
    content = json.dumps(items, indent=indent, ensure_ascii=False).encode(errors="surrogatepass")
    blocks = [content[start : start + cut] for start in range(0, len(content), cut)]
    lines = b"".join(array_lines(blocks)).split(b"\n")
    found = [json.loads(line.decode(errors="surrogatepass")) for line in lines if line.strip()]
    assert found == items


@pytest.mark.parametrize(
    ("content", "records"),
    [
        (b"[]", 0),
        (b" [\n]\n", 0),
        (b'[{"a": "x"}]', 1),
        (b'[{"a": "x"}, {"a": "\\"x,]}\\\\"}, nonsense, {"b": 1}]', 4),
        (b'[{"a": "x"}, {"a": "\xff\xfe"}, {"a": \x00}]', 3),
        (b'[{"a": "x"}, {"a": "' + b"y" * 100_000 + b'"}]', 2),
    ],
)
def test_every_item_of_an_array_is_one_record(tmp_path, content, records):
    (tmp_path / "a.json").write_bytes(content)
    counts = counting.count(tmp_path / "a.json", column="a", alphabet=["x"])
    assert list(counts) == [min(records, 1), max(records - 1, 0)]


@pytest.mark.parametrize(
    "encoding", some(["latin-1", "utf-16", "shift_jis", "cp1252", "gb18030", "euc_jp"], one_of=6)
)
@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize(
    ("packed", "ending"), [(bytes, ""), (gzip.compress, ".gz"), (zstandard.compress, ".zst")]
)
def test_lines_of_random_bytes_are_all_counted(tmp_path, encoding, order, packed, ending):
    layout, mark = Layout(encoding=encoding), b""
    if encoding == "utf-16":
        encoding = f"utf-16-{order}"
        mark = "\ufeff".encode(encoding)
    line = "x\n".encode(encoding)
    junk = b"".join(
        bytes(byte for byte in DICE.randbytes(6) if byte not in b'\n\r",\0') + "\n".encode(encoding)
        for _ in range(50)
    )
    if mark:  # an odd number of bytes would shift all that follows
        junk = "\ud800\n".encode(encoding, "surrogatepass") * 50
    path = tmp_path / f"a.csv{ending}"
    path.write_bytes(packed(mark + "a\n".encode(encoding) + line * 7 + junk + line))
    found = counting.count(path, column="a", alphabet=["x"], layout=layout)
    assert (found[0], found.n) == (8, 58)


CHECKED = zstandard.ZstdCompressor(write_checksum=True)


def zipped(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", content)
    return packed.getvalue()


PACKED = {"gz": gzip.compress, "zst": CHECKED.compress, "zip": zipped}
DAMAGES = [
    *product(("gz", "zst"), ("cut", "changed", "behind")),
    ("zip", "changed"),  # the list of what is in it is at its end
]


@pytest.mark.parametrize("person", [None, "b"])
@pytest.mark.parametrize(("ending", "damage"), some(DAMAGES, one_of=4))
def test_a_damaged_file_is_said_to_be_one(person, damage, ending, tmp_path):
    whole = PACKED[ending](b"a,b\n" + secrets.token_hex(1 << 21).replace("7", ",7\n").encode())
    middle = len(whole) // 2
    changed = (
        whole[:middle] + bytes(255 - byte for byte in whole[middle:][:99]) + whole[middle + 99 :]
    )
    path = tmp_path / f"a.csv.{ending}"
    path.write_bytes({"cut": whole[:-100], "changed": changed, "behind": whole + b"x" * 99}[damage])
    scan = counting.prepare(path, columns=["a"], alphabets=[["7"]], person=person)
    with pytest.raises(ReleaseError, match="a compressed file is damaged or incomplete"):
        scan.count()


def test_a_zstd_file_may_begin_with_a_frame_to_skip(tmp_path):
    path = tmp_path / "a.csv.zst"
    path.write_bytes(b"\x50\x2a\x4d\x18\4\0\0\0size" + zstandard.compress(b"a\nx\n"))
    assert list(counting.count(path, alphabet=["x"], column="a")) == [1, 0]


def test_members_and_padding_of_compressed_files_are_read():
    parts = [b"x", b"y", b""]
    several = b"".join(map(zstandard.compress, parts))
    assert b"".join(plain_blocks([several[:9], several[9:]], "zst")) == b"xy"
    padded = gzip.compress(b"x") + b"\0" * 9
    assert b"".join(plain_blocks([padded], "gz")) == b"x"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": ";;"}, "delimiter must be one character such as ; or tab, got ';;'"),
        ({"delimiter": "a"}, "delimiter must be one character"),
        ({"delimiter": "\n"}, "delimiter must be one character"),
        ({"delimiter": "'", "quote": "'"}, "delimiter must differ from the quotation mark"),
        ({"encoding": "latin"}, None),
        ({"encoding": "nonsense"}, "encoding must be utf-8, utf-16 or one that extends ASCII"),
        ({"encoding": "idna"}, "encoding must be utf-8, utf-16 or one"),
        ({"encoding": "utf-7"}, "encoding must be utf-8, utf-16 or one"),
        ({"encoding": "base64"}, "encoding must be utf-8, utf-16 or one"),
        ({"encoding": 7}, "encoding must be utf-8, utf-16 or one"),
        ({"quote": "''"}, "quote must be a quotation mark"),
        ({"names": ["a"]}, "names must be used without a header"),
        ({"names": ["a", "a"], "has_header": False}, "names must all differ"),
    ],
)
def test_a_layout_that_is_not_read_is_refused(options, message):
    if message is None:
        assert Layout(**options).encoding == "iso8859-1"
        return
    with pytest.raises(ValueError, match=message):
        Layout(**options)


SEX = {"name": "sex", "type": "string", "categories": ["f", "m"]}


@pytest.mark.parametrize(
    ("descriptor", "message"),
    [
        ({"dialect": []}, "dialect must be an object"),
        ({"dialect": {"delimeter": ";"}}, "dialect must be one of .* Did you mean 'delimiter'"),
        ({"dialect": {"quoteChar": "|"}}, "dialect.quoteChar must be a quotation mark"),
        ({"dialect": {"header": "no"}}, "dialect.header must be true or false"),
        ({"dialect": {"escapeChar": "x"}}, "dialect.escapeChar must have its default"),
        ({"compression": "bz2"}, "compression must be one of gz, zip, zst"),
        ({"encoding": "x"}, "encoding must be utf-8, utf-16 or one"),
    ],
)
def test_a_code_book_with_a_layout_that_is_not_read_is_refused(tmp_path, descriptor, message):
    (tmp_path / "a.csv").write_text("sex\nf\n", encoding="utf-8")
    book = {"schema": {"fields": [SEX]}, **descriptor}
    with pytest.raises(ValueError, match=message):
        check(tmp_path / "a.csv", codebook=book)


def test_a_code_book_says_how_its_file_is_written(tmp_path):
    text = "sex;city\n'f;';'Köln'\nm;Köln\n"
    (tmp_path / "a.txt").write_text(text, encoding="latin-1")
    described = [SEX, {"name": "city", "type": "string", "categories": ["Köln"]}]
    book = CodeBook.of(
        {
            "schema": {"fields": described},
            "encoding": "latin-1",
            "dialect": {"delimiter": ";", "quoteChar": "'", "$schema": "x"},
        }
    )
    assert check(tmp_path / "a.txt", codebook=book).holds
    layout = Layout.of(book.descriptor)
    found = counting.count(tmp_path / "a.txt", alphabet=book.table([1]), layout=layout)
    assert list(found) == [2, 0]
    other = Layout(delimiter=",").over(layout)
    assert (other.delimiter, other.encoding) == (",", "iso8859-1")


STATED = {
    "delimiter": (";", {"dialect": {"delimiter": "|"}}),
    "encoding": ("latin-1", {"encoding": "cp1252"}),
    "format": ("csv.gz", {}),
    "quote": ("'", {}),
    "has_header": (False, {}),
    "names": (("a", "b"), {"dialect": {"header": False}}),
    "skip_rows": (2, {"dialect": {"headerRows": [5]}}),
    "comment": ("#", {"dialect": {"commentChar": "%"}}),
}


@pytest.mark.parametrize("name", [field.name for field in fields(Layout)])
def test_a_part_of_the_layout_holds_wherever_it_is_stated(name):
    value, book = STATED[name]
    stated = {name: value} | ({"has_header": False} if name == "names" else {})
    wanted = getattr(Layout(**stated), name)
    assert wanted != getattr(Layout(), name)
    others = {"quote": "'"} if name != "quote" else {"delimiter": ";"}
    for options in (
        stated,
        {"layout": Layout(**stated)},
        {"layout": Layout(**stated), **others},
        {"layout": Layout(**others), **stated},
    ):
        source = dproo.open("a.csv", **options).source
        assert getattr(source.layout, name) == wanted
        assert getattr(source.described_by(book).layout, name) == wanted
        assert getattr(source.described_by({}).layout, name) == wanted


@pytest.mark.parametrize(
    "data", [["a"], {"a": 1}, pd.DataFrame({"a": ["x"]}), iter("a"), "postgresql://h/d"], ids=type
)
@pytest.mark.parametrize("name", [field.name for field in fields(Layout)])
def test_only_a_file_has_a_layout(name, data):
    value, book = STATED[name]
    stated = {name: value} | ({"has_header": False} if name == "names" else {})
    for where in ({"data": data}, {"data": "a.parquet", "engine": "spark"}):
        with pytest.raises(ValueError, match="format and layout must be left out"):
            dproo.open(**where, layout=Layout(**stated))
    # A code book may describe a file that the same records also stand in.
    assert dproo.open(data).source.described_by(book).data is data


@pytest.mark.parametrize(
    ("descriptor", "name", "value"),
    [
        *((book, name, None) for name, (_, book) in STATED.items() if book and name != "names"),
        ({"dialect": {"quoteChar": "'"}}, "quote", "'"),
        ({"dialect": {"header": False}}, "has_header", False),
        ({"dialect": {"header": False}, "schema": {"fields": [SEX]}}, "names", ("sex",)),
    ],
)
def test_a_code_book_completes_what_is_stated_elsewhere(descriptor, name, value):
    declared = getattr(Layout.of(descriptor), name)
    assert declared != getattr(Layout(), name)
    assert declared == value or value is None
    source = dproo.open("a.txt", format="csv").source
    assert getattr(source.described_by(descriptor).layout, name) == declared


def test_a_delimiter_is_for_text_files_only(tmp_path):
    (tmp_path / "a.jsonl").write_text("{}\n", encoding="utf-8")
    found = check(tmp_path / "a.jsonl", alphabet=["x"], column="a", delimiter=";")
    assert found.refusals == ("delimiter must be given for a CSV file only, got ';'.",)


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.parquet", "a.duckdb", "a.xlsx", "a.sav"])
def test_no_option_of_a_layout_is_ignored(name, tmp_path):
    """What only text files have is refused for all others, also where a code book declares it."""
    path, table = tmp_path / name, "t" if name == "a.duckdb" else None
    frame = pd.DataFrame({"a": ["x"]})
    if table is not None:
        with duckdb.connect(path) as base:
            base.execute("CREATE TABLE t AS SELECT 'x' AS a")
    write = {
        "a.jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        "a.json": lambda: frame.to_json(path, orient="records"),
        "a.parquet": lambda: frame.to_parquet(path),
        "a.xlsx": lambda: frame.to_excel(path, index=False),
        "a.sav": lambda: pyreadstat.write_sav(frame, str(path)),
    }
    write.get(name, str)()
    options = {"has_header": False, "quote": "'", "delimiter": ";", "comment": "#", "skip_rows": 1}
    options["encoding"] = "latin-1"
    allowed = {"a.jsonl": {"encoding"}, "a.json": {"encoding"}, "a.sav": {"encoding"}}
    allowed["a.xlsx"] = {"skip_rows"}
    for option, value in options.items():
        if option not in allowed.get(name, ()):
            with pytest.raises(ValueError, match=f"{option}.* must be "):
                counting.count(
                    path, table=table, column="a", alphabet=["x"], layout=Layout(**{option: value})
                )
    (field,) = [{"name": "a", "type": "string", "categories": ["x"]}]
    book = {"dialect": {"header": False}, "schema": {"fields": [field]}}
    with pytest.raises(ValueError, match="has_header=False must be used with a CSV file"):
        dproo.open(path, table=table).row(book, epsilon=1)


def test_all_refusals_of_a_code_book_are_told_at_once(tmp_path):
    (tmp_path / "a.csv").write_text("sex,age\nf,7\n", encoding="utf-8")
    age = {"name": "age", "type": "integer", "bins": [0, 9]}
    fields = [{**SEX, "name": "Sex"}, age, {**SEX, "name": "ward"}]
    found = check(tmp_path / "a.csv", codebook={"schema": {"fields": fields}})
    assert not found.holds
    assert [("'Sex'" in text, "'ward'" in text) for text in found.refusals] == [
        (True, False),
        (False, True),
    ]


def test_a_scan_tells_which_columns_it_counts(tmp_path):
    (tmp_path / "a.csv").write_text("sex,age\nf,7\n", encoding="utf-8")
    scan = counting.prepare(tmp_path / "a.csv", alphabets=[Alphabet.of({"age": range(9)})])
    assert [(column.name, column.kind) for column in scan.columns] == [("age", "text")]


def test_a_cell_far_longer_than_every_letter_is_not_read(tmp_path):
    letters = Alphabet.of(["7"]).read_as("text")
    cells = [" 7 ", " " * 99 + "7 ", " " * 100 + "7 ", " " * 9999 + "7"]
    assert [letters.index([cell]) for cell in cells] == [0, 0, None, None]
    (tmp_path / "a.csv").write_text("\n".join(["a", *cells]) + "\n", encoding="utf-8")
    assert list(counting.count(tmp_path / "a.csv", column="a", alphabet=letters)) == [2, 2]


def test_a_column_that_can_hold_no_letter_is_refused(tmp_path):
    duckdb.sql("SELECT 7 AS a").write_parquet(str(tmp_path / "a.parquet"))
    for letters in (["seven"], ["true"], ["7.0"]):
        with pytest.raises(ValueError, match="holds integers, which can never be"):
            counting.prepare(tmp_path / "a.parquet", columns=["a"], alphabets=[letters])
    scan = counting.prepare(tmp_path / "a.parquet", columns=["a"], alphabets=[["7", "seven"]])
    assert "some of the letters can never occur" in scan.warnings[0]


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_a_file_of_one_byte_is_one_record(packed, tmp_path):
    path = tmp_path / ("a.jsonl" if packed is bytes else "a.jsonl.gz")
    for line in (b"1", b"\xff"):
        path.write_bytes(packed(line))
        assert list(counting.count(path, column="x", alphabet=["a"])) == [0, 1]


SIGNS = [b"\r", b"\r\r", b"\r\r\r", b"\rb", b"b\r", b"x\ry", b"\r,\r", b"\ra" * 50, b"7\r", b"\r7"]
ENDS = [b"\n", b"\r\n", b"\r\r\n"]


@pytest.mark.parametrize(("ending", "packed"), some(product(ENDS, [False, True]), one_of=6))
def test_a_line_break_of_another_kind_within_a_record_changes_no_other(tmp_path, ending, packed):
    """One record ended in CR CR LF, and the first cell of the next was another one."""
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")

    def counted(record, **options):
        lines = [b"c,who", b"a,7", record, *[b"a,7", b"b,8"] * 4]
        content = b"".join(line + ending for line in lines)
        path.write_bytes(gzip.compress(content) if packed else content)
        return list(counting.count(path, alphabet=["a", "b"], **options))

    for sign in few(SIGNS, 2):
        for record in (sign + b",9", b"x," + sign, b"x,z" + sign, sign + b"y"):
            # The record is one, and it is outside unless its first cell is whole.
            assert counted(record, column="c") == [5, 4, 1], record
            assert sum(counted(record, column="c", person="who")) in {2, 3}, record
            assert sum(counted(record, column="who")) == 10, record


@pytest.mark.parametrize(("ending", "size"), list(product(ENDS, [b"5", b'5"', b'"5"x'])))
def test_line_breaks_within_quotes_tell_cells_and_people_apart(tmp_path, ending, size):
    """CR CR LF was read as CR LF there, so that two people were one."""
    path = tmp_path / "a.csv"
    cells = [b"a\r\r\nb", b"a\r\nb", b"a\nb", b"a"]
    lines = [b"who,c,size", *(b'"%b",x,%b' % (cell, size) for cell in cells), b""]
    path.write_bytes(ending.join(lines))
    letters = ["a\ufffd\r\nb", "a\r\nb", "a\nb", "a"]
    assert list(counting.count(path, alphabet=letters, column="who")) == [1, 1, 1, 1, 0]
    # The first one names nobody: what stands for its line break stands for others too.
    assert list(counting.count(path, alphabet=["x"], column="c", person="who")) == [3, 1]


@pytest.mark.parametrize(
    "text", ["c,d\r\r\na,x\r\r\nb,y\r\r\n", "c,d\ra,x\rb,y\r", "c,d\na,x\r\nb,y"]
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_lines_end_as_their_header_does(tmp_path, text, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(encoding))
    options = {"layout": Layout(encoding=encoding)}
    assert list(counting.count(path, alphabet=["a", "b"], column="c", **options)) == [1, 1, 0]
    assert list(counting.count(path, alphabet=["x", "y"], column="d", **options)) == [1, 1, 0]


def with_window(text):
    """Return text in zstd with a window that nobody unpacks unless asked to."""
    wide = zstandard.ZstdCompressionParameters.from_level(3, window_log=31, enable_ldm=True)
    packing = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    return packing.compress(text) + packing.flush()


def with_dictionary(text):
    """Return text in zstd by a dictionary, which the file lacks."""
    words = zstandard.train_dictionary(999, [secrets.token_bytes(50) + b"a,b" * 9] * 99)
    return zstandard.ZstdCompressor(dict_data=words).compress(text)


def by_another_method(text):
    """Return a ZIP archive with a file that is compressed in a way of its own."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", text)
    packed = bytearray(file.getvalue())
    for mark, place in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        packed[packed.find(mark) + place] = 93
    return bytes(packed)


@pytest.mark.parametrize(
    ("ending", "packed"),
    [
        (".zst", with_window),
        (".zst", with_dictionary),
        (".zip", by_another_method),
        (".gz", lambda text: gzip.compress(text)[:2] + b"\7" + gzip.compress(text)[3:]),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_file_that_cannot_be_unpacked_is_refused_before_its_charge(
    tmp_path, name, ending, packed
):
    path = tmp_path / f"{name}{ending}"
    path.write_bytes(packed(b"a,b\nx,y\n" if name == "a.csv" else b'{"a": "x"}\n'))
    with pytest.raises(ValueError, match="in a way that can be unpacked here"):
        counting.prepare(path, alphabets=[["x"]], columns=["a"])


def test_no_byte_in_the_list_of_an_archive_leads_to_an_error_of_the_library(tmp_path):
    """It may name a version, or have a name in no encoding, for which the library has others."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("ä.csv", b"a,b\nx,y\n")
    packed, path = file.getvalue(), tmp_path / "a.csv.zip"
    for place, byte in product(range(packed.index(b"PK\1\2"), len(packed)), (0, 99, 255)):
        path.write_bytes(packed[:place] + bytes([byte]) + packed[place + 1 :])
        try:
            counting.prepare(path, alphabets=[["x"]], columns=["a"])
        except ValueError as error:
            assert str(error).startswith("data must be"), (place, byte)  # noqa: PT017


class Keys(encryption.KmsClient):
    """Hides no key."""

    def wrap_key(self, key, _):
        return b64encode(key)

    def unwrap_key(self, key, _):
        return b64decode(key)


@pytest.mark.parametrize("plaintext_footer", [True, False])
def test_an_encrypted_parquet_file_is_refused_before_its_charge(tmp_path, plaintext_footer):
    """Its schema may be in plain text, and then every count of a column would fail."""
    rows = pa.table({"a": ["x"], "b": ["y"]})
    config = encryption.EncryptionConfiguration(
        footer_key="f", column_keys={"c": ["a"]}, plaintext_footer=plaintext_footer
    )
    known = encryption.CryptoFactory(lambda _: Keys())
    made = known.file_encryption_properties(encryption.KmsConnectionConfig(), config)
    with pq.ParquetWriter(tmp_path / "a.parquet", rows.schema, encryption_properties=made) as file:
        file.write_table(rows)
    for column in rows.column_names:
        with pytest.raises(ValueError, match="must be a readable file"):
            counting.prepare(tmp_path / "a.parquet", alphabets=[["x"]], columns=[column])


def test_a_parquet_file_that_nothing_unpacks_is_refused_before_its_charge(tmp_path):
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "a.parquet", compression="lz4")
    content = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(content.replace(b"\x15\x0e", b"\x15\x06"))  # LZO
    assert pq.read_metadata(tmp_path / "a.parquet").row_group(0).column(0).compression == "LZO"
    with pytest.raises(ValueError, match="Parquet files without LZO compression"):
        counting.prepare(tmp_path / "a.parquet", alphabets=[["x"]], columns=["a"])


def test_every_encoding_of_a_parquet_file_is_read(tmp_path):
    """A file of a pattern may have another encoding than the others."""
    numbers = [7, None, 8]
    types = pa.int32(), pa.float16(), pa.float64(), pa.decimal128(5, 1), pa.decimal128(38, 0)
    columns = {str(dtype): pa.array(numbers, dtype) for dtype in types}
    columns["who"] = columns[str(types[3])]
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    pq.write_table(
        pa.table(columns),
        tmp_path / "b.parquet",
        use_dictionary=False,
        column_encoding=dict.fromkeys(columns, "BYTE_STREAM_SPLIT"),
    )
    for data in (tmp_path / "b.parquet", tmp_path / "*.parquet"):
        times = 1 + ("*" in str(data))
        for column in list(columns)[:-1]:
            found = counting.count(data, alphabet=[7, 8], column=column)
            assert list(found) == [times] * 3, column
            found = counting.count(data, alphabet=[7, 8], column=column, person="who")
            assert list(found) == [1, 1, 1], column


def test_a_long_cell_is_unpacked_in_parts():
    content = zstandard.compress(bytes(1 << 27))
    assert len(content) < 1 << 16  # one block of a file
    lengths = [len(block) for block in plain_blocks([content], "zst")]
    assert sum(lengths) == 1 << 27
    assert max(lengths) <= 1 << 26
