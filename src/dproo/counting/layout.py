"""The format of a file and its layout: compression, separators, encoding, header.

All of it comes from the file's name or its owner, never from its content: in a file without a
header the first bytes are a record, which must not decide anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, TypedDict

from dproo.core.checks import exact, flag, one_of, refusal, whole
from dproo.counting.sources.text.header import UTF_16, text_encoding

CSV, JSON, ARRAY, PARQUET, DUCKDB, EXCEL, SPSS, STATA, SQLITE = (
    *("csv", "json", "array", "parquet", "duckdb", "excel", "spss", "stata", "sqlite"),
)
DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
FORMATS = {
    **dict.fromkeys(DELIMITERS, CSV),
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".jsonl": JSON,
    ".ndjson": JSON,
    ".json": ARRAY,
    ".duckdb": DUCKDB,
    ".ddb": DUCKDB,
    ".xlsx": EXCEL,
    ".xlsm": EXCEL,
    ".sav": SPSS,
    ".zsav": SPSS,
    ".dta": STATA,
    ".sqlite": SQLITE,
    ".sqlite3": SQLITE,
    ".db": SQLITE,
}
"""The format of a file, by the ending of its name."""

GZIP, ZSTD, ZIP = "gz", "zst", "zip"
COMPRESSED = {".gz": GZIP, ".zst": ZSTD, ".zip": ZIP}
"""The compression of a file, by the last ending of its name."""

TEXT = {CSV, JSON, ARRAY}
"""The formats that may be compressed, and may come from standard input."""

ROWS = {EXCEL, SPSS, STATA, SQLITE}
"""The formats that are read row by row."""

UTF_8 = "utf-8"

_OWN_ENCODING = {
    EXCEL: "an Excel file",
    SQLITE: "an SQLite file",
    PARQUET: "a Parquet file",
    DUCKDB: "a DuckDB file",
}

_LINES_MAX = 1000
_QUOTES = ('"', "'")
_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
_FIXED: dict[str, tuple[Any, ...]] = {
    "doubleQuote": (True,),
    "escapeChar": (None, ""),
    "lineTerminator": ("\n", "\r\n"),
    "commentRows": ([], [0]),
    "nullSequence": (None, ""),
    "skipInitialSpace": (False,),
}


class LayoutOptions(TypedDict, total=False):
    """How a text file is laid out: the fields of :class:`dproo.Layout`."""

    format: str | None
    delimiter: str | None
    encoding: str | None
    has_header: bool
    skip_rows: int
    comment: str


def _names(given: object) -> tuple[str, ...]:
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise TypeError(refusal("names", "be a list of texts", given))
    if len({*given}) < len(given):
        raise ValueError(refusal("names", "all differ", given))
    return tuple(given)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What the owner of a file states about its format and layout.

    Attributes:
        delimiter: what separates cells; by default what separates the names in the header line,
            or a comma or a tab by the file's name.
        encoding: of characters; by default UTF-8.
        format: the ending that the file's name should have: ``csv``, ``jsonl.gz``.
        quote: what encloses cells with separators in them.
        has_header: whether the first line of a CSV file names the columns.
        names: the columns in their order if it does not; by default they are numbers, from 1.
        skip_rows: how many lines of a CSV file, or rows of a sheet, come before the header.
        comment: how further lines before the header begin, such as ``#``.

    >>> Layout(format="csv.gz").ending_of("export"), Layout().ending_of("visits.TSV")
    (('.csv', 'gz'), ('.tsv', None))
    """

    delimiter: str | None = None
    encoding: str | None = None
    format: str | None = None
    quote: str = '"'
    has_header: bool = True
    names: tuple[str, ...] = ()
    skip_rows: int = 0
    comment: str = ""

    def __post_init__(self) -> None:
        vars(self).update({name: exact(given) for name, given in vars(self).items()})
        vars(self).update(
            delimiter=None if self.delimiter is None else _delimiter(self.delimiter),
            has_header=flag("has_header", self.has_header),
            skip_rows=whole("skip_rows", self.skip_rows, at_least=0, at_most=_LINES_MAX),
            names=_names(self.names),
        )
        if self.quote not in _QUOTES:
            raise ValueError(refusal("quote", "be a quotation mark", self.quote))
        if self.names and self.has_header:
            raise ValueError("names must be used without a header, which has names of its own.")
        if self.delimiter == self.quote:
            raise ValueError(refusal("delimiter", "differ from the quotation mark", self.delimiter))
        if not isinstance(self.comment, str) or not self.comment.isascii():
            raise ValueError(refusal("comment", "be signs of ASCII such as #", self.comment))
        if (self.skip_rows or self.comment) and not self.has_header:
            raise ValueError(
                "skip_rows and comment must be used with a header: they describe the lines"
                " before it."
            )
        if self.encoding is not None:
            vars(self)["encoding"] = _encoding(self.encoding)
        if self.format is not None:
            _check_format(self.format)
        if self.encoding == UTF_16 and not self.has_header:
            raise ValueError(
                "encoding must not be utf-16 for a file without a header line: the first record"
                " would decide how all are read. Convert the file to UTF-8."
            )

    def ending_of(self, path: str) -> tuple[str, str | None]:
        """Return the ending that a file's name has or should have, and the file's compression."""
        name = PurePath(path if self.format is None else f"data.{self.format}")
        compression = COMPRESSED.get(name.suffix.lower())
        if compression is not None:
            name = name.with_suffix("")
        return name.suffix.lower(), compression

    def refuse_lines(self, *, is_sheet: bool = False) -> None:
        """Refuse options that only a CSV file has; a sheet may have rows before its header too."""
        if self.delimiter is not None:
            raise ValueError(refusal("delimiter", "be given for a CSV file only", self.delimiter))
        if self.comment or (self.skip_rows and not flag("is_sheet", is_sheet)):
            raise ValueError(
                "skip_rows and comment must be used with a CSV file, skip_rows also with a sheet."
            )
        if not self.has_header:
            raise ValueError("has_header=False must be used with a CSV file.")
        if self.quote != PLAIN.quote:
            raise ValueError(refusal("quote", "be given for a CSV file only", self.quote))

    def refuse_encoding(self, file_format: str) -> None:
        """Refuse an encoding for a format in which files state theirs, or all have the same."""
        own = _OWN_ENCODING.get(file_format)
        if own is not None and self.encoding is not None:
            raise ValueError(refusal("encoding", f"be left out: {own} has its own", self.encoding))

    @property
    def is_utf_8(self) -> bool:
        """Whether characters are encoded in UTF-8, or in ASCII, its subset."""
        return self.encoding in {None, UTF_8, "utf-8-sig", "ascii"}

    @classmethod
    def of(cls, descriptor: Mapping[str, Any]) -> Layout:
        """Return the layout that a code book declares.

        Raises:
            ValueError: it declares an unsupported one; the message names the place.
        """
        dialect = descriptor.get("dialect", {})
        if not isinstance(dialect, Mapping):
            raise ValueError(refusal("dialect", "be an object", dialect))  # noqa: TRY004 - of a file
        known = {"delimiter", "quoteChar", "header", "headerRows", "commentChar", "table"}
        known |= {"sheetName", *_FIXED}
        for key, value in dialect.items():
            if key.startswith("$"):
                continue
            one_of("dialect", key, known)
            if key in _FIXED and value not in _FIXED[key]:
                raise ValueError(refusal(f"dialect.{key}", "have its default", value))
        compression = descriptor.get("compression")
        if compression is not None:
            one_of("compression", compression, COMPRESSED.values())
        quote = dialect.get("quoteChar", '"')
        if quote not in _QUOTES:
            raise ValueError(refusal("dialect.quoteChar", "be a quotation mark", quote))
        has_header = dialect.get("header", True)
        if not isinstance(has_header, bool):
            raise ValueError(  # noqa: TRY004 - of a file
                refusal("dialect.header", "be true or false", has_header)
            )
        rows = dialect.get("headerRows", [1])
        if not (isinstance(rows, list) and len(rows) == 1 and isinstance(rows[0], int) and rows[0]):
            raise ValueError(refusal("dialect.headerRows", "be one row, such as [1]", rows))
        fields = descriptor.get("schema", {}).get("fields", [])
        names = () if has_header else tuple(field.get("name") for field in fields)
        return cls(
            delimiter=dialect.get("delimiter"),
            encoding=descriptor.get("encoding"),
            quote=quote,
            has_header=has_header,
            names=names,
            skip_rows=rows[0] - 1,
            comment=dialect.get("commentChar") or "",
        )

    def over(self, declared: Layout) -> Layout:
        """Return this layout, completed by another: what has its default here is as there."""
        stated = {name: value for name, value in vars(self).items() if value != vars(PLAIN)[name]}
        return replace(declared, **stated)


PLAIN = Layout()
"""The default: UTF-8 with a header line; format and separator by the file's name."""


def fields_for(file_format: str | None) -> set[str]:
    """Return the options that files of a format have; all of them for a format yet unknown."""
    if file_format in {CSV, None}:
        return {*LayoutOptions.__annotations__}
    return {
        "format",
        *(() if file_format in _OWN_ENCODING else ("encoding",)),
        *(("skip_rows",) if file_format == EXCEL else ()),
    }


def is_parquet(path: str) -> bool:
    """Return whether a file is Parquet by its name; a compressed one is too, and is refused.

    >>> is_parquet("part-0.snappy.parquet"), is_parquet("B.PQ"), is_parquet("_SUCCESS")
    (True, True, False)
    """
    ending, _ = PLAIN.ending_of(path)
    return FORMATS.get(ending) == PARQUET


def _delimiter(given: object) -> str:
    sign = _NAMED.get(given, given) if isinstance(given, str) else ""
    if len(sign) != 1 or not sign.isascii() or sign.isalnum() or sign in '"\n\r\0':
        raise ValueError(refusal("delimiter", "be one character such as ; or tab", given))
    return sign


def _encoding(given: object) -> str:
    name = text_encoding(given) if isinstance(given, str) else None
    if name is None:
        raise ValueError(
            refusal("encoding", "be utf-8, utf-16 or one that extends ASCII", given)
            + " Such are latin-1, cp1252 and shift_jis."
        )
    return name


def _check_format(name: object) -> None:
    """Refuse an unsupported format, or an unsupported compression of it."""
    known = [ending.removeprefix(".") for ending in FORMATS]
    text = [ending.removeprefix(".") for ending, kind in FORMATS.items() if kind in TEXT]
    packed = [name + ending for name in text for ending in COMPRESSED]
    if name not in packed:
        one_of("format", name, known)
