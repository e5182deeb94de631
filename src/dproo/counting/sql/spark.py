"""The SQL dialect of Spark, whether its casts fail (ANSI mode) or give null.

No expression here raises, whatever the cell: casts that may fail are ``try_cast``, and ``rint``
replaces ``floor``, which fails on a large double. No literal contains a quote or a backslash,
whose meaning is a setting of the session.
"""

from __future__ import annotations

import re

from dproo.counting.sql import statements as sql
from dproo.counting.sql.reading import Reader
from dproo.schema.cell import INTEGER_TEXT, NUMBER_TEXT
from dproo.schema.reading import BLANKS

_KINDS = {
    r"(string|char|varchar)\b.*|void": sql.TEXT,
    r"(tiny|small|big)?int": sql.INTEGER,
    r"float|double": sql.FLOAT,
    r"decimal\(.*\)": sql.DECIMAL,
    "boolean": sql.BOOLEAN,
    "date": sql.DATE,
    "timestamp_ntz": sql.TIMESTAMP,
    "timestamp": sql.INSTANT,
}
_MICROSECONDS = f"{24 * 60 * 60 * 10**6}L"  # per day
_BINARY = "collate({}, 'UTF8_BINARY')"  # under others, different texts may be equal
# Rounds down, before 1970 too, whatever the session's time zone.
_UTC_DAY = (
    f"date_from_unix_date(CAST(unix_micros({{}}) DIV {_MICROSECONDS}"
    f" - CASE WHEN unix_micros({{}}) % {_MICROSECONDS} < 0 THEN 1 ELSE 0 END AS INT))"
)


def kind_of(name: str) -> str | None:
    """Return what a column holds, by Spark's name of its type; None if no letters."""
    return next((kind for words, kind in _KINDS.items() if re.fullmatch(words, name)), None)


def cell_of(column: str, name: str) -> str:
    """Return a column as an expression under which equal cells are the same letter.

    Moments become their days, and text is compared bytewise.
    """
    kind = kind_of(name)
    if kind == sql.TIMESTAMP:
        return f"CAST({column} AS DATE)"
    if kind == sql.INSTANT:
        return _UTC_DAY.replace("{}", column)
    if kind != sql.TEXT or name == "string":
        return column
    if name == "void":
        return f"CAST({column} AS STRING)"
    text = _BINARY.replace("{}", column)
    return f"rtrim({text})" if name.startswith("char(") else text  # without its padding


def literal(text: str) -> str:
    """Return a text as an SQL literal, written by its bytes."""
    return f"decode(X'{text.encode().hex()}', 'UTF-8')"


_AS_TEXT = "CAST({} AS STRING)"
# Zero is made positive: a set of more than ten numbers distinguishes the two zeros.
_AS_DOUBLE = "(CAST({} AS DOUBLE) + 0.0D)"
_TO_DOUBLE = "(try_cast({} AS DOUBLE) + 0.0D)"
_VALID = "make_valid_utf8({})"  # bytes that are not text become U+FFFD, as they do in files
# The end of the text: in Java "$" also matches before a final line break.
_PATTERN = "replace({pattern}, '$', chr(92) || 'z')"
# By its parts: spark.sql.legacy.timeParserPolicy decides which calendar a cast to text follows.
_DAY = " || '-' || ".join(
    f"lpad(CAST({part}({{}}) AS STRING), {digits}, '0')"
    for part, digits in (("year", 4), ("month", 2), ("day", 2))
)
_DAY = f"CASE WHEN year({{}}) BETWEEN 1 AND 9999 THEN {_DAY} END"
_WHOLE = sql.whole_float(_AS_DOUBLE, cast="try_cast", floor="rint", text="STRING")


def _is_like(text: str, pattern: str) -> str:
    return f"{text} RLIKE {_PATTERN.replace('{pattern}', literal(pattern))}"


# If casts do not fail, small decimals are printed as 1.5E-7, and zero as 0E-9.
_PLAIN_DECIMAL = (
    f"CASE WHEN contains({_AS_TEXT}, 'E')"
    " THEN concat(CASE WHEN {} < 0 THEN '-' ELSE '' END, '0.',"
    f" repeat('0', try_cast(substring_index({_AS_TEXT}, 'E-', -1) AS INT) - 1),"
    f" translate(substring_index({_AS_TEXT}, 'E', 1), '-.', '')) ELSE {_AS_TEXT} END"
)
# A double as the shortest decimal that is read back as it, as in Python: Java's is sometimes
# longer. A fraction that Python prints without exponent has at most 21 digits after the point.
_SHORTEST = " ".join(
    f"WHEN {_TO_DOUBLE.replace('{}', written)} = {_AS_DOUBLE} THEN {written}"
    for written in (f"format_string('%.{digits}e', {_AS_DOUBLE})" for digits in (0, 14, 15))
)
_SHORTEST = f"CASE {_SHORTEST} ELSE format_string('%.16e', {_AS_DOUBLE}) END"
_WIDE = sql.wide_float(
    f"(CASE WHEN abs({_AS_DOUBLE}) < 1E38D THEN {_AS_DOUBLE} END)",
    bigint="try_cast({} AS BIGINT)",
    decimal="DECIMAL(38, 0)",
    number="DOUBLE",
)
_DOUBLE_NAME = (
    f"CASE WHEN abs({_AS_DOUBLE}) = double('Infinity')"
    f" THEN CASE WHEN {_AS_DOUBLE} > 0 THEN 'inf' ELSE '-inf' END"
    f" WHEN rint({_AS_DOUBLE}) = {_AS_DOUBLE} AND abs({_AS_DOUBLE}) < 1E38D"
    f" THEN coalesce({_WHOLE}, CAST({_WIDE} AS STRING))"
    f" WHEN abs({_AS_DOUBLE}) BETWEEN 1E-4D AND 1E16D"
    f" THEN trim(TRAILING '0' FROM CAST(try_cast({_SHORTEST} AS DECIMAL(38, 21)) AS STRING))"
    f" ELSE regexp_replace({_SHORTEST}, '[.]?0+e', 'e') END"
)
SPARK = sql.Dialect(
    texts={
        sql.TEXT: _VALID,
        sql.INTEGER: _AS_TEXT,
        sql.DECIMAL: (
            f"CASE WHEN {_AS_TEXT} RLIKE '^-?0E-[0-9]+$' THEN '0'"
            f" ELSE nullif(regexp_extract({_AS_TEXT}, '^(-?[0-9]+)([.]0+)?$', 1), '') END"
        ),
        sql.FLOAT: _WHOLE,
        sql.BOOLEAN: "CASE WHEN {} THEN 'true' WHEN NOT {} THEN 'false' END",
        sql.DATE: _DAY,
    },
    numbers={
        sql.TEXT: f"CASE WHEN {_is_like('{}', NUMBER_TEXT)} THEN {_TO_DOUBLE} END",
        sql.INTEGER: _AS_DOUBLE,
        # Via text, which rounds once.
        sql.DECIMAL: _TO_DOUBLE.replace("{}", _AS_TEXT),
        sql.FLOAT: _AS_DOUBLE,
    },
    is_letter="{} IN (SELECT letter FROM letters{column})",
    is_integer=_is_like("{}", INTEGER_TEXT),
    reader=Reader(
        trimmed=f"trim(BOTH '{BLANKS}' FROM {{}})",
        is_like=f"{{}} RLIKE {_PATTERN}",
        replaced=f"regexp_replace({{}}, {_PATTERN}, '')",
        shaped=f"regexp_replace({{}}, {_PATTERN}, '9')",
        extracted=f"regexp_extract({{}}, {_PATTERN}, {{group}})",
        double=_TO_DOUBLE,
        bigint="try_cast({} AS BIGINT)",
        string="STRING",
        literal=literal,
    ),
    missing={
        sql.FLOAT: "({} IS NULL OR isnan({}))",
        sql.TEXT: "({} IS NULL OR {} = '')",
    },
    identifiers={
        **dict.fromkeys((sql.INTEGER, sql.BOOLEAN), _AS_TEXT),
        sql.DATE: _DAY,
        sql.TEXT: _VALID,
        sql.DECIMAL: (
            f"CASE WHEN contains({_AS_TEXT}, '.') OR contains({_AS_TEXT}, 'E')"
            f" THEN trim(TRAILING '.' FROM trim(TRAILING '0' FROM {_PLAIN_DECIMAL}))"
            f" ELSE {_AS_TEXT} END"
        ),
        sql.FLOAT: _DOUBLE_NAME,
    },
    is_short="(octet_length({}) <= 64 AND NOT startswith({}, '#'))",
    digest="sha2({}, 256)",
    is_replaced="contains({}, '\ufffd')",
    double="DOUBLE",
)
