"""The SQL dialect of PostgreSQL."""

from __future__ import annotations

from dataclasses import replace

from dproo.counting.sql import statements as sql
from dproo.counting.sql.reading import Reader, literal
from dproo.schema.cell import INTEGER_TEXT, NUMBER_TEXT
from dproo.schema.reading import BLANKS

KINDS = {
    **dict.fromkeys(("int2", "int4", "int8", "oid"), sql.INTEGER),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "char", "enum"), sql.TEXT),
    **dict.fromkeys(("float4", "float8"), sql.FLOAT),
    "numeric": sql.DECIMAL,
    "bool": sql.BOOLEAN,
    "date": sql.DATE,
    "timestamp": sql.TIMESTAMP,
    "timestamptz": sql.INSTANT,
}
# Types with few casts are first cast to a plain type of their kind. The collation "C" compares
# bytes, whatever the column or database declares: under another collation, different texts may
# be equal, to a letter, to another identifier or to the empty text.
CELLS = {
    **{name: 'CAST({} AS TEXT) COLLATE "C"' for name, kind in KINDS.items() if kind == sql.TEXT},
    # As the type itself prints a cell: its owner could define a cast that sees other records.
    "enum": 'CASE WHEN {} IS NOT NULL THEN concat({}) END COLLATE "C"',
    "oid": "CAST({} AS BIGINT)",
}

_AS_TEXT = 'CAST({} AS TEXT) COLLATE "C"'
_AS_DOUBLE = "CAST({} AS DOUBLE PRECISION)"
# Regular expressions are not applied to long text: they take eight times its memory, and the
# server refuses one of 256 MiB. No readable number has as many characters.
_IS_SHORT = f"octet_length({_AS_TEXT}) <= 64"
# The stored bytes: some databases hold text that cannot be converted to another encoding.
_STORED = "convert_to({}, getdatabaseencoding())"
_WHOLE = sql.whole_float(_AS_DOUBLE)
_WIDE = sql.wide_float(
    f"(CASE WHEN abs({_AS_DOUBLE}) < 1e38 THEN {_AS_DOUBLE} END)",
    bigint="CAST(trunc({}) AS BIGINT)",
    decimal="NUMERIC",
    number="DOUBLE PRECISION",
)
_DAY = (
    "CASE WHEN {} >= TIMESTAMP '0001-01-01' AND {} < TIMESTAMP '9999-12-31' + INTERVAL '1 day'"
    " THEN to_char({}, 'YYYY-MM-DD') END"
)
_DATE = (
    "CASE WHEN {} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
    # As a timestamp without a zone; otherwise it would be in the session's zone.
    " THEN to_char(CAST({} AS TIMESTAMP), 'YYYY-MM-DD') END"
)
POSTGRESQL = sql.Dialect(
    texts={
        sql.TEXT: _AS_TEXT,
        sql.INTEGER: _AS_TEXT,
        sql.DECIMAL: f"substring({_AS_TEXT} FROM '^(-?[0-9]+)(?:[.]0+)?$')",
        sql.FLOAT: _WHOLE,
        sql.BOOLEAN: "CASE WHEN {} THEN 'true' WHEN NOT {} THEN 'false' END",
        sql.DATE: _DATE,
        sql.TIMESTAMP: _DAY,
        sql.INSTANT: _DAY.replace("{}", "({} AT TIME ZONE 'UTC')"),
    },
    numbers={
        sql.TEXT: (
            f"CASE WHEN {_IS_SHORT} THEN"
            f" CASE WHEN {_AS_TEXT} ~ '{NUMBER_TEXT}' THEN {_AS_DOUBLE} END END"
        ),
        sql.INTEGER: _AS_DOUBLE,
        # Casting a numeric beyond the range of doubles is an error: a larger one is beyond every
        # bin, a smaller one is zero.
        sql.DECIMAL: (
            "CASE WHEN abs({}) < 2.4703282292062328e-324 THEN 0"
            f" WHEN abs({{}}) < 1.7976931348623158e308 THEN {_AS_DOUBLE} END"
        ),
        sql.FLOAT: _AS_DOUBLE,
    },
    is_letter="{} = ANY(%(letters{column})s)",
    is_integer=f"CASE WHEN octet_length({{}}) <= 64 THEN {{}} ~ '{INTEGER_TEXT}' END",
    reader=Reader(
        trimmed="btrim({}, ' ')",
        is_like="{} ~ {pattern}",
        replaced="regexp_replace({}, {pattern}, '')",
        shaped="regexp_replace({}, {pattern}, '9', 'g')",
        extracted="(regexp_match({}, {pattern}))[{group}]",
        double="CAST({} AS DOUBLE PRECISION)",
        bigint="CAST({} AS BIGINT)",
        literal=lambda text: literal(text).replace("%", "%%"),  # a sign of parameters
    ),
    missing={
        **dict.fromkeys((sql.FLOAT, sql.DECIMAL), "({} IS NULL OR {} = 'NaN')"),
        sql.TEXT: "({} IS NULL OR octet_length({}) = 0)",
    },
    identifiers={
        **dict.fromkeys((sql.TEXT, sql.INTEGER), _AS_TEXT),
        sql.BOOLEAN: "CASE WHEN {} THEN 'true' ELSE 'false' END",
        sql.DATE: _DATE,
        sql.DECIMAL: f"CASE WHEN strpos({_AS_TEXT}, '.') > 0"
        f" THEN rtrim(rtrim({_AS_TEXT}, '0'), '.') ELSE replace({_AS_TEXT}, 'Infinity', 'inf') END",
        sql.FLOAT: (
            f"CASE WHEN abs({_AS_DOUBLE}) < 1e38 AND floor({_AS_DOUBLE}) = {_AS_DOUBLE}"
            f" THEN coalesce({_WHOLE}, CAST({_WIDE} AS TEXT))"
            # Without an exponent, as in Python.
            f" WHEN abs({_AS_DOUBLE}) BETWEEN 1e15 AND 1e16"
            f" THEN CAST(CAST(CAST({_AS_DOUBLE} AS TEXT) AS NUMERIC) AS TEXT)"
            f" ELSE replace(CAST({_AS_DOUBLE} AS TEXT), 'Infinity', 'inf') END"
        ),
    },
    # By comparing bytes: extracting the first character fails if it is incomplete.
    is_short=(
        "(octet_length({}) <= 64"
        """ AND NOT ({} COLLATE "C" >= '#' AND {} COLLATE "C" < '$'))"""
    ),
    digest=f"encode(sha256({_STORED}), 'hex')",
    # In other encodings these are bytes of two characters: none has U+FFFD.
    is_replaced="(getdatabaseencoding() IN ('UTF8', 'SQL_ASCII')"
    f" AND position('\\xefbfbd'::bytea IN {_STORED}) > 0)",
)


def dialect_in(encoding: str) -> sql.Dialect:
    """Return the dialect in a database's encoding, which may lack blanks beyond ASCII."""
    blanks = "".join(blank for blank in BLANKS if blank.encode(encoding, errors="ignore"))
    reader = replace(POSTGRESQL.reader, encoding=encoding)
    if blanks != " ":
        # A subquery, so that it is evaluated once.
        signs = f"(SELECT convert_from('\\x{blanks.encode().hex()}'::bytea, 'UTF8'))"
        reader = replace(reader, trimmed=f"btrim({{}}, {signs})")
    return replace(POSTGRESQL, reader=reader)
