"""What a file is and how it is laid out: format, compression, separators, encoding, header.

All of it is told by the file's name or by its owner, never by its content: where a file has no
header, its first bytes are a record, which must not decide about anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from dproo.core.checks import one_of, refusal
from dproo.counting.sources.compression import SUFFIXES as COMPRESSED
from dproo.counting.sources.header import UTF_16, text_encoding

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
}
"""The format of a file by how its name ends."""

TEXT = {CSV, JSON, ARRAY}
"""The formats that may be compressed, and may come from standard input."""

ROWS = {EXCEL, SPSS, STATA, SQLITE}
"""The formats that are read row by row."""

UTF_8 = "utf-8"

_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
_FIXED: dict[str, tuple[Any, ...]] = {
    "doubleQuote": (True,),
    "escapeChar": (None, ""),
    "headerRows": ([1],),
    "lineTerminator": ("\n", "\r\n"),
    "commentChar": (None, ""),
    "commentRows": ([], [0]),
    "nullSequence": (None, ""),
    "skipInitialSpace": (False,),
}


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What a file is and how it is laid out, as far as its owner says so.

    Attributes:
        delimiter: what separates cells; by default a comma, or a tab by the file's name.
        encoding: of characters; by default UTF-8.
        format: how the file's name would end if it told what the file is: ``csv``, ``jsonl.gz``.
        quote: what encloses cells with separators in them.
        has_header: whether the first line of a CSV file names the columns.
        names: the columns in their order where it does not; by default they are numbers, from 1.

    >>> Layout(format="csv.gz").ending_of("export"), Layout().ending_of("visits.TSV")
    (('.csv', 'gz'), ('.tsv', None))
    """

    delimiter: str | None = None
    encoding: str | None = None
    format: str | None = None
    quote: str = '"'
    has_header: bool = True
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            delimiter = _NAMED.get(self.delimiter, self.delimiter)
            is_one = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()
            if not is_one or delimiter.isalnum() or delimiter in '"\n\r\0':
                raise ValueError(
                    refusal("delimiter", "be one character such as ; or tab", self.delimiter)
                )
            object.__setattr__(self, "delimiter", delimiter)
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))
        if self.format is not None:
            _check_format(self.format)
        if self.encoding == UTF_16 and not self.has_header:
            raise ValueError(
                "encoding must not be utf-16 for a file without a header line: the first record"
                " would decide how all are read. Convert the file to UTF-8."
            )

    def ending_of(self, path: str) -> tuple[str, str | None]:
        """Return how a file's name ends, or would, and by which compression it is packed."""
        name = PurePath(path if self.format is None else f"data.{self.format}")
        compression = COMPRESSED.get(name.suffix.lower())
        if compression is not None:
            name = name.with_suffix("")
        return name.suffix.lower(), compression

    @property
    def is_utf_8(self) -> bool:
        """Whether characters are encoded in UTF-8, or in its part ASCII."""
        return self.encoding in {None, UTF_8, "utf-8-sig", "ascii"}

    @classmethod
    def of(cls, descriptor: Mapping[str, Any]) -> Layout:
        """Return the layout that a code book declares.

        Raises:
            ValueError: it declares one that is not read; the message names the place.
        """
        dialect = descriptor.get("dialect", {})
        if not isinstance(dialect, Mapping):
            raise ValueError(refusal("dialect", "be an object", dialect))  # noqa: TRY004 - of a file
        known = {"delimiter", "quoteChar", "header", "table", "sheetName", *_FIXED}
        for key, value in dialect.items():
            if key.startswith("$"):
                continue
            one_of("dialect", key, known)
            if key in _FIXED and value not in _FIXED[key]:
                raise ValueError(refusal(f"dialect.{key}", "have its default", value))
        compression = descriptor.get("compression")
        if compression is not None:
            one_of("compression", compression, ("gz", "zst"))
        quote = dialect.get("quoteChar", '"')
        if quote not in ('"', "'"):
            raise ValueError(refusal("dialect.quoteChar", "be a quotation mark", quote))
        has_header = dialect.get("header", True)
        if not isinstance(has_header, bool):
            raise ValueError(  # noqa: TRY004 - of a file
                refusal("dialect.header", "be true or false", has_header)
            )
        fields = descriptor.get("schema", {}).get("fields", [])
        names = () if has_header else tuple(field.get("name") for field in fields)
        return cls(
            delimiter=dialect.get("delimiter"),
            encoding=descriptor.get("encoding"),
            quote=quote,
            has_header=has_header,
            names=names,
        )

    def over(self, declared: Layout) -> Layout:
        """Return this layout, with what it leaves open as another declares it."""
        return Layout(
            delimiter=self.delimiter or declared.delimiter,
            encoding=self.encoding or declared.encoding,
            format=self.format,
            quote=declared.quote,
            has_header=self.has_header and declared.has_header,
            names=declared.names,
        )


PLAIN = Layout()
"""Nothing is said: UTF-8 with a header line, a format and a separator by the file's name."""


def _encoding(name: object) -> str:
    found = text_encoding(name) if isinstance(name, str) else None
    if found is None:
        raise ValueError(
            refusal("encoding", "be utf-8, utf-16 or one that extends ASCII", name)
            + " Such are latin-1, cp1252 and shift_jis."
        )
    return found


def _check_format(name: object) -> None:
    """Refuse a format that is not read, or that is not compressed so."""
    known = [ending.removeprefix(".") for ending in FORMATS]
    text = [ending.removeprefix(".") for ending, kind in FORMATS.items() if kind in TEXT]
    packed = [name + ending for name in text for ending in COMPRESSED]
    if name not in packed:
        one_of("format", name, known)
