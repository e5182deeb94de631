"""The rules of a budget: the options that declare them, and how they are shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from dproo.core.numbers import budget_of, in_epsilon
from dproo.ledger import Limits
from dproo.ledger.rules import AMOUNTS
from dproo.schema.codebook import CodeBook

_OPTIONS = (
    click.option("--per-release", help="The largest epsilon of one release."),
    click.option("--per-day", help="The most epsilon to spend in a day (UTC)."),
    click.option(
        "--per-spender",
        help="The most epsilon that one database role may ever spend; PostgreSQL only.",
    ),
    click.option("--until", help="Nothing is released from this day on: 2027-01-31."),
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


def limits_text(limits: Limits) -> str:
    """Return the rules in one line, for a person.

    >>> limits_text(Limits(per_day=2, per_spender="1.5", until="2099-12-31", columns=["sex"]))
    'at most 2 a day, at most 1.5 a spender, nothing from 2099-12-31 on, only sex'
    """
    sentences = {
        "per_release": "at most {} a release",
        "per_day": "at most {} a day",
        "per_spender": "at most {} a spender",
        "until": "nothing from {} on",
        "columns": "only {}",
        "codebook": "only by the code book {}",
        "approval_above": "above {} with a second person's approval",
    }
    shown = dict(limits.declared)
    for name in set(AMOUNTS) & set(shown):
        shown[name] = in_epsilon(budget_of(shown[name]))
    if "columns" in shown:
        shown["columns"] = ", ".join(shown["columns"])
    return ", ".join(text.format(shown[name]) for name, text in sentences.items() if name in shown)
