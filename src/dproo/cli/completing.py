"""What a shell offers when Tab is pressed: files, columns of the header, samplers.

Of a file, at most its header or schema is read, never a record.
"""

from __future__ import annotations

import csv
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from dproo.mechanisms import ADD_REMOVE, AUTO, REPLACE, SAMPLERS

_HEADER_MAX = 1 << 16
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer files, as the shell knows them."""
    return [CompletionItem(incomplete, type="file")]


def samplers(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Offer the samplers, and ``auto``."""
    return [name for name in (AUTO, *SAMPLERS) if name.startswith(incomplete)]


def relations(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Offer the relations."""
    return [name for name in (REPLACE, ADD_REMOVE) if name.startswith(incomplete)]


def columns(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Offer the columns of the file that was named before; none if it cannot be told."""
    # An option that still lacks its value stops the parser before the argument.
    data = context.params.get("data") or next(iter(context.args), "")
    with suppress(Exception):  # a shell shows no errors, and a file may be anything
        path = Path(data).expanduser()
        return [name for name in _header(path) if name.startswith(incomplete)]
    return []


def _header(path: Path) -> list[str]:
    if path.suffix in _DELIMITERS:
        with path.open(encoding="utf-8-sig", newline="") as file:
            line = file.readline(_HEADER_MAX)
        return next(csv.reader([line], delimiter=_DELIMITERS[path.suffix]))
    if path.suffix == ".parquet":
        import duckdb

        with duckdb.connect() as connection:
            found = connection.execute(
                "SELECT name FROM parquet_schema(?) WHERE type IS NOT NULL", [str(path)]
            )
            return [name for (name,) in found.fetchall()]
    return []
