"""How SQLite and MariaDB say a cell, ``{}`` in place of its name: text as bytes."""

from __future__ import annotations

from dproo.engines import query as sql

# SQLite has cells of any type in any column; only text comes as bytes.
SQLITE_CELL = (
    "CASE typeof({}) WHEN 'text' THEN CASE WHEN length(CAST({} AS BLOB)) <= {most}"
    " THEN CAST({} AS BLOB) END WHEN 'blob' THEN NULL ELSE {} END"
)
# It has no booleans, which are 0 and 1, and no moments, which are text with a day and an hour.
SQLITE_TYPES = {
    "BOOLEAN": sql.INTEGER,
    **dict.fromkeys(("DATETIME", "TIMESTAMP"), sql.TIMESTAMP),
}
_SQLITE_PERSON = "CASE typeof({}) WHEN 'text' THEN CAST({} AS BLOB) ELSE {} END"
_BYTES = "CAST(CONVERT({} USING utf8mb4) AS BINARY)"
_TEXT = f"CASE WHEN length({_BYTES}) <= {{most}} THEN {_BYTES} END"
_UNPADDED = "TRIM(TRAILING ' ' FROM {})"  # some modes of a session show the padding of a CHAR
# How a cell is said whatever its length, where it names a person.
PERSONS = {
    SQLITE_CELL: _SQLITE_PERSON,
    _TEXT: _BYTES,
    _TEXT.replace("{}", _UNPADDED): _BYTES.replace("{}", _UNPADDED),
}
# What a column of MariaDB holds, and how a cell of it is said; every other type is refused.
MARIADB_TYPES = {
    **dict.fromkeys(("VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT"), (sql.TEXT, _TEXT)),
    **dict.fromkeys(("LONGTEXT", "ENUM"), (sql.TEXT, _TEXT)),
    "CHAR": (sql.TEXT, _TEXT.replace("{}", _UNPADDED)),
    **dict.fromkeys(("TINYINT", "SMALLINT", "MEDIUMINT", "INTEGER"), (sql.INTEGER, "{}")),
    **dict.fromkeys(("BIGINT", "YEAR"), (sql.INTEGER, "{}")),
    **dict.fromkeys(("DECIMAL", "NUMERIC"), (sql.DECIMAL, "{}")),
    # A float is shown with six digits.
    **dict.fromkeys(("FLOAT", "DOUBLE", "REAL"), (sql.FLOAT, "CAST({} AS DOUBLE)")),
    "DATE": (sql.DATE, "{}"),
    "DATETIME": (sql.TIMESTAMP, "{}"),
    # In UTC, whatever zone the session is in; zero is no moment at all.
    "TIMESTAMP": (sql.INSTANT, "TIMESTAMPADD(SECOND, NULLIF(UNIX_TIMESTAMP({}), 0), '1970-01-01')"),
}
