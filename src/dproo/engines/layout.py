"""How text files are laid out: what separates cells, how characters are encoded."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dproo.core.checks import one_of, refusal

UTF_8 = "utf-8"

_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
# Encodings in which no character changes what those behind it mean.
_ENCODINGS = re.compile(
    "ascii|utf-(8|8-sig|16|16-le|16-be|32|32-le|32-be)|iso8859-[0-9]+|cp[0-9]+|mac-[a-z]+|koi8-[rtu]"
    "|shift_jis|euc_jp|euc_kr|gb2312|gbk|gb18030|big5"
)
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
    """How text files are laid out, as far as their owner says so.

    Attributes:
        delimiter: what separates cells; by default a comma, or a tab by the file's name.
        encoding: of characters; by default UTF-8.
        quote: what encloses cells with separators in them.
        names: the columns in their order, where the file has no header line.
    """

    delimiter: str | None = None
    encoding: str | None = None
    quote: str = '"'
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
            names=names,
        )

    def over(self, declared: Layout) -> Layout:
        """Return this layout, with what it leaves open as another declares it."""
        return Layout(
            delimiter=self.delimiter or declared.delimiter,
            encoding=self.encoding or declared.encoding,
            quote=declared.quote,
            names=declared.names,
        )


PLAIN = Layout()
"""Nothing is said: UTF-8, and a separator by the file's name."""


def _encoding(name: object) -> str:
    try:
        found = codecs.lookup(name if isinstance(name, str) else "").name
    except LookupError:
        found = ""
    if not _ENCODINGS.fullmatch(found):
        raise ValueError(refusal("encoding", "be one such as utf-8, latin-1 or cp1252", name))
    return found
