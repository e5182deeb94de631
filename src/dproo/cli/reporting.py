"""The releases of a ledger as a table for an auditor: ``dproo ledger report``."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from html import escape
from io import StringIO
from pathlib import Path

from dproo.cli.output import visible
from dproo.core.checks import refusal
from dproo.ledger import Account, Line, in_delta, in_epsilon
from dproo.releases.budget_name import published
from dproo.report import released_object, released_text

CSV, HTML = ".csv", ".html"

_MOST = 100
"""So many values of one release are written out."""

_TITLES = (
    *("dataset", "entry", "charged at (UTC)", "state", "columns", "released", "purpose"),
    *("by", "accuracy", "sampler", "epsilon", "delta", "protects"),
    *("code book or alphabet (SHA-256)",),
)

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem; color: #1b1f24; background: #fff; }
table { border-collapse: collapse; margin: 0 0 2rem; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; }
th, td { border: 1px solid #c8ccd1; padding: .3rem .5rem; text-align: left; vertical-align: top; }
th { background: #f1f3f5; }
td { overflow-wrap: anywhere; min-width: 4rem; }
"""


def write_report(accounts: Iterable[Account], out: str, *, year: int | None) -> int:
    """Write a new file with one line for each charge, and return how many there are."""
    path = Path(out)
    if path.suffix.lower() not in {CSV, HTML}:
        raise ValueError(refusal("out", "end in .csv or .html", out))
    accounts = list(accounts)
    rows = {account.dataset: list(_rows(account, year)) for account in accounts}
    text = _csv(rows) if path.suffix.lower() == CSV else _html(accounts, rows, year)
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError:
        raise ValueError(refusal("out", "be a new file in a folder that exists", out)) from None
    return sum(map(len, rows.values()))


def _rows(account: Account, year: int | None) -> Iterator[list[str]]:
    for line in account.lines:
        if year is None or line.at.startswith(f"{year:04}-"):
            yield [visible(cell) for cell in (_name(account), *_cells(account, line))]


def _name(account: Account) -> str:
    """Return the name of the budget without the folders that a file is in."""
    name: str = published({"ledger": {"dataset": account.dataset}})["ledger"]["dataset"]
    return name


def _cells(account: Account, line: Line) -> Iterator[str]:
    found = released_object(line)
    yield str(line.entry)
    yield line.at
    yield state_of(line)
    yield ", ".join(map(str, found["columns"]))
    yield released_text(line, most=_MOST)
    yield found["purpose"] or ""
    yield found["operator"] or ""
    yield found["accuracy"] or ""
    yield found["sampler"] or ""
    yield in_epsilon(line.charge)
    yield in_delta(line.delta) if line.delta else "0"
    yield f"{account.protects}, {account.neighbours}"
    yield found["codebook_sha256"] or found["alphabet_sha256"] or ""


def state_of(line: Line) -> str:
    """Return what became of a charge."""
    if line.problem:
        return f"charged; marked: {line.problem}"
    if line.is_restored:
        return "lost with an older copy, charged again"
    return "released" if line.is_recorded else "charged, never released"


def _csv(rows: dict[str, list[list[str]]]) -> str:
    file = StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(_TITLES)
    for found in rows.values():
        writer.writerows([_harmless(cell) for cell in row] for row in found)
    return file.getvalue()


def _harmless(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula.

    >>> _harmless("=1+1"), _harmless("-3"), _harmless("flu")
    ("'=1+1", '-3', 'flu')
    """
    is_number = cell.lstrip("+-").replace(".", "", 1).isdecimal()
    return f"'{cell}" if cell[:1] in {"=", "+", "-", "@", "\t", "\r"} and not is_number else cell


def _html(accounts: list[Account], rows: dict[str, list[list[str]]], year: int | None) -> str:
    title = "Releases" if year is None else f"Releases of {year}"
    tables = "".join(_table(account, rows[account.dataset]) for account in accounts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{title}</h1>\n{tables}</body>\n</html>\n"
    )


def _table(account: Account, rows: list[list[str]]) -> str:
    left = f"{in_epsilon(account.left)} left of {in_epsilon(account.budget)}"
    heads = "".join(f'<th scope="col">{escape(title)}</th>' for title in _TITLES[1:])
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:]) + "</tr>\n" for row in rows
    )
    caption = f"{escape(visible(_name(account)))}: epsilon {left} ({account.neighbours})"
    return f"<table>\n<caption>{caption}</caption>\n<tr>{heads}</tr>\n{lines}</table>\n"
