"""What a shell offers when Tab is pressed: files, columns of the header, samplers.

Of a file, at most its header or schema is read, never a record.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from dproo.mechanisms import ADD_REMOVE, AUTO, REPLACE, SAMPLERS


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
        from dproo.counting.describe import describe  # noqa: PLC0415 - it takes long

        names = (column.name for column in describe(Path(data).expanduser()))
        return [name for name in names if name.startswith(incomplete)]
    return []
