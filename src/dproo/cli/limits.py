"""The options for the rules of a budget."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from dproo.alphabet.codebook import CodeBook
from dproo.ledger import Limits
from dproo.ledger.limits import AMOUNTS

_OPTIONS = (
    click.option("--per-release", help="The largest epsilon of one release."),
    click.option("--per-day", help="The largest epsilon of all releases of a day (UTC)."),
    click.option(
        "--per-spender",
        help="The largest epsilon of one role of the database, in all; PostgreSQL only.",
    ),
    click.option("--until", help="The day from which on nothing is released: 2027-01-31."),
    click.option("--columns", help="The only columns that may be released: sex,age."),
    click.option("--codebook", help="The only code book that may be used, a JSON file."),
    click.option(
        "--approval-above",
        help="The epsilon above which a second person must approve; PostgreSQL only.",
    ),
)


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options, and hand them over as one argument ``limits``."""

    @wraps(command)
    def limited(*arguments: Any, columns: str | None, codebook: str | None, **options: Any) -> Any:
        names = (*AMOUNTS, "until")
        limits = Limits(
            columns=[name.strip() for name in columns.split(",")] if columns else None,
            codebook=CodeBook.of(codebook).digest if codebook else None,
            **{name: options.pop(name) for name in names},
        )
        return command(*arguments, limits=limits, **options)

    for option in reversed(_OPTIONS):
        limited = option(limited)
    return limited
