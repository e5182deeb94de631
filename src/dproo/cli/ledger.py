"""The command ``dproo ledger``: budgets, their rules, and the report for an auditor."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from glob import glob
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any

import click

from dproo.cli import ending, output
from dproo.cli.options import book_of, with_options
from dproo.cli.output import echo as echo_line
from dproo.cli.output import (
    json_option,
    json_text,
    ledger_option,
    neighbours_option,
    print_json,
    visible,
)
from dproo.core.checks import refusal
from dproo.core.numbers import counted
from dproo.counting.layout import FORMATS, PLAIN
from dproo.errors import Stopped
from dproo.ledger import (
    Account,
    ApprovalRequest,
    Database,
    Ledger,
    Limits,
    Line,
    Loss,
    accept_restore,
    copy,
    in_delta,
    in_epsilon,
    install,
)
from dproo.ledger.rules import RULES, dataset_of
from dproo.releases.charge import dataset_name, distinct_names, published
from dproo.report import accounts_object, released_object, released_text
from dproo.schema.codebook import CodeBook


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command an option for each rule, and pass them as one argument ``limits``."""

    @wraps(command)
    def limited(*arguments: Any, **options: Any) -> Any:
        given = {name: options.pop(name) for name in RULES}
        if columns := given["columns"]:
            given["columns"] = [name.strip() for name in columns.split(",")]
        if codebook := given["codebook"]:
            given["codebook"] = CodeBook.of(codebook).digest
        return command(*arguments, limits=Limits(**given), **options)

    named = (
        click.option(f"--{name.replace('_', '-')}", help=rule.help) for name, rule in RULES.items()
    )
    return with_options(tuple(named))(limited)


_SHOWN = 5
"""The most entries, or values of a release, in one line."""


def echo(line: str, *, err: bool = False) -> None:
    """Print one line of a ledger, whose texts are other people's, with escapes even in a pipe.

    Unlike the result of a release, it is for people only, who may use a pager.
    """
    echo_line(visible(line), err=err)


@contextmanager
def writing() -> Iterator[None]:
    """Let an interrupt of a command that writes a ledger claim nothing about what was written."""
    try:
        yield
        ending.enter(ending.PRINTED)
    except KeyboardInterrupt:
        raise Stopped(
            "stopped; the ledger may have been written: see 'dproo ledger show'."
        ) from None


@click.group("ledger")
def ledger_command() -> None:
    """Declare, show and verify privacy budgets.

    A ledger, a file or a database, keeps a budget for each declared dataset. Every release is
    charged before data is read, and no charge is ever refunded.

    \b
    Examples:
      dproo ledger init data.csv --budget 3
      dproo ledger show
      dproo ledger report --out releases.html
      dproo ledger verify --head HASH
    """


@ledger_command.command("init")
@click.argument("dataset", shell_complete=output.files)
@click.option("--budget", required=True, help="The total epsilon; it cannot be raised later.")
@click.option(
    "--delta", default="0", help="The total delta; without it the budget is pure epsilon."
)
@neighbours_option
@click.option(
    "--records-per-person", default=1, show_default=True, help="The most records of one person."
)
@click.option(
    "--unit",
    type=click.Choice(["record", "person"]),
    default="record",
    show_default=True,
    help="What its releases protect; 'person' for releases with --person.",
)
@limit_options
@ledger_option
@writing()
def init(dataset: str, *, path: str | None, limits: Limits, **terms: Any) -> None:
    """Declare the budget of DATASET.

    DATASET is a name, or a file, whose full path becomes the name.
    """
    name = dataset_name(dataset)
    is_file = PLAIN.ending_of(dataset)[0] in FORMATS or os.sep in dataset
    found = map(os.path.exists, (dataset, *glob(dataset)))  # noqa: PTH207 - in any folder
    if is_file and "://" not in dataset and not any(found):
        raise ValueError(
            refusal("dataset", "be a file that exists, or a name that no file has", dataset)
            + " The budget would belong to nothing."
        )
    try:
        dataset_of(name)
    except ValueError as error:
        raise ValueError(
            f"{error} Choose another name, and add --dataset NAME to releases."
        ) from None
    Ledger.create(book_of(path)).declare(name, limits=limits, **terms)
    delta = "" if terms["delta"] == "0" else f" and delta {terms['delta']}"
    unit = "" if terms["unit"] == "record" else ", for people"
    echo(
        f"{name}: {terms['budget']}{delta} declared, {terms['neighbours']}{unit}, in"
        f" {book_of(path)}"
    )


@ledger_command.command("show")
@ledger_option
@json_option
def show(*, path: str | None, as_json: bool) -> None:
    """Show every budget, what is left, and what was released for which purpose."""
    accounts = Ledger(book_of(path)).show()
    if as_json:
        print_json(accounts_object(accounts))
        return
    for account in accounts:
        echo(f"{account.dataset}: {_left(account)}")
        if rules := account.limits.text:
            echo(f"  rules: {rules}")
        for line in account.lines:
            echo(f"  entry {line.entry}  {line.at}  {_cost(line)}  {state_of(line)}")
            for name, text in _details(line).items():
                echo(f"    {name:<8}  {text}")
    warn_of_problems(accounts)


def _left(account: Account) -> str:
    """Return what is left of a budget, and for whom its epsilons add up."""
    left = f"{in_epsilon(account.left)} left of {in_epsilon(account.budget)}"
    if account.delta:
        left += f", delta {in_delta(account.delta_left)} left of {in_delta(account.delta)}"
    people = ", people" if account.unit == "person" else ""
    return f"{left} ({account.neighbours}{people})"


def _cost(of: Line | Loss | ApprovalRequest) -> str:
    """Return what was charged, or would be: epsilon, and delta if there is one."""
    return in_epsilon(of.charge) + (f" and {in_delta(of.delta)}" if of.delta else "")


def warn_of_problems(accounts: Iterable[Account]) -> None:
    """Print a warning with the entries that differ from what this software writes."""
    accounts = list(accounts)
    marked = [str(line.entry) for one in accounts for line in one.lines if line.problem]
    if marked:
        entries = ", ".join(marked[:_SHOWN]) + (", ..." if len(marked) > _SHOWN else "")
        echo(
            f"Warning: something is wrong with entry {entries}; they are marked, and their charges"
            " count. See 'dproo ledger verify'.",
            err=True,
        )
    elif problem := next((one.problem for one in accounts if one.problem), None):
        echo(f"Warning: {problem} Charges may be missing. See 'dproo ledger verify'.", err=True)


def _details(line: Line) -> dict[str, str]:
    """Return what was released with an entry, why, by whom, and how accurately."""
    released = released_object(line)
    parts = [", ".join(map(str, released["columns"])), released_text(line, most=_SHOWN)]
    details = {
        "what": ": ".join(filter(None, parts)),
        "purpose": released["purpose"] or "not stated",
        "by": author_of(line) or "not stated",
        "accuracy": released["accuracy"] or "",
        "problem": line.problem or "",
    }
    return {name: text for name, text in details.items() if text and not line.is_restored}


def author_of(line: Line) -> str:
    """Return whom a charge states, and the role of the database that made it, which is certain."""
    role = f"(role {line.spender})" if line.spender else ""
    stated = line.request.get("operator") or ("not stated" if role else "")
    return f"{stated} {role}".strip()


@ledger_command.command("report")
@click.option("--out", required=True, help="A new file to write: .csv, or .html for a browser.")
@click.option("--year", type=int, help="Only what was charged in this year (UTC).")
@ledger_option
def report(*, out: str, year: int | None, path: str | None) -> None:
    """Write all releases to a table, for an auditor.

    Each line says what was released, when, why, by whom, at what cost and how accurately.
    """
    accounts = Ledger(book_of(path)).show()
    lines = write_report(accounts, out, year=year)
    echo(f"{lines} {'entry' if lines == 1 else 'entries'} in {out}")
    warn_of_problems(accounts)


@ledger_command.command("verify")
@click.option("--head", help="A hash from an earlier receipt, which the ledger must contain.")
@ledger_option
@json_option
def verify(*, head: str | None, path: str | None, as_json: bool) -> None:
    """Check every hash and every rule of the ledger."""
    verified = Ledger(book_of(path)).verify(expect_head=head)
    if as_json:
        print_json({"is_intact": True, "events": verified.events, "head": verified.head})
    else:
        echo(f"intact: {counted(verified.events, 'event')}, head {verified.head}")


@ledger_command.command("accept-restore")
@ledger_option
@writing()
def accept(*, path: str | None) -> None:
    """Accept an older copy of the ledger.

    What the copy lacks is charged again. Every event is also remembered outside the ledger: in
    $XDG_STATE_HOME/dproo (by default ~/.local/state/dproo), and in the file that DPROO_WITNESS
    names, best on another disk. A ledger that lacks a remembered event is refused. Put its
    newest copy back; use this command only if there is none.
    """
    for loss in accept_restore(book_of(path)):
        state = "charged again" if loss.is_declared else "charged before; declare what is left"
        echo(f"{loss.dataset}: {_cost(loss)} {state}")


@ledger_command.command("export")
@click.option("--to", "target", help="A new ledger file to write instead, with the same events.")
@ledger_option
def export(*, target: str | None, path: str | None) -> None:
    """Print all events, oldest first, one JSON object per line."""
    ledger = Ledger(book_of(path))
    if target is not None:
        if not target:
            raise ValueError(refusal("to", "be the path of a new file", target))
        with writing():
            made = copy(ledger, Path(target))
            echo(f"{counted(len(made.export()), 'event')} in {made.path}")
        return
    for event in ledger.export():
        click.echo(json_text(event))


@ledger_command.command("import")
@click.argument("source")
@ledger_option
@writing()
def import_(source: str, *, path: str | None) -> None:
    """Copy the ledger SOURCE, a file, into an empty ledger.

    From then on, use only one of them: a charge to either makes the other an older copy, which
    is refused.
    """
    made = copy(Ledger(Path(source)), book_of(path))
    echo(f"{counted(len(made.export()), 'event')} in {made.path}")


@ledger_command.command("requests")
@ledger_option
def requests_(*, path: str | None) -> None:
    """Show the releases that a second person must approve."""
    for one in Ledger(book_of(path)).requests():
        line = f"request {one.number}  {one.at}  by {one.by}  {one.dataset}  {_cost(one)}"
        echo(f"{line}  {one.state}  {json_text(one.request)}")


@ledger_command.command("approve")
@click.argument("request", type=int)
@ledger_option
@writing()
def approve_(request: int, *, path: str | None) -> None:
    """Let the release of REQUEST be charged, once.

    The role that requested it cannot approve it.
    """
    Ledger(book_of(path)).approve(request)
    echo(f"request {request} approved")


@ledger_command.command("deny")
@click.argument("request", type=int)
@ledger_option
@writing()
def deny_(request: int, *, path: str | None) -> None:
    """Refuse the release of REQUEST permanently."""
    Ledger(book_of(path)).deny(request)
    echo(f"request {request} denied")


@ledger_command.command("install")
@ledger_option
@writing()
def install_(*, path: str | None) -> None:
    """Make an empty ledger in a PostgreSQL database.

    Its tables are in the schema dproo. They are written only by functions, which the roles
    dproo_owner (declares budgets) and dproo_spender (releases) may call; dproo_auditor reads.
    Missing roles are created. Then let people in: GRANT dproo_spender TO ann.
    """
    database = book_of(path)
    if not isinstance(database, Database):
        raise ValueError(  # noqa: TRY004 - the user gave a text
            "ledger must be a postgresql:// URL to be installed; 'dproo ledger init' makes a file."
        )
    echo(f"{database}: {'installed' if install(database) else 'a ledger is there already'}")


@ledger_command.command("print")
@click.argument("entry", type=int)
@ledger_option
def print_again(entry: int, *, path: str | None) -> None:
    """Print a recorded release again, for free."""
    print_json(published(Ledger(book_of(path)).released(entry)))


CSV, HTML = ".csv", ".html"

_MOST = 100
"""The most values of one release in a report."""

_TITLES = (
    *("dataset", "entry", "charged at (UTC)", "state", "columns", "released", "purpose"),
    *("by", "accuracy", "sampler", "epsilon", "delta", "protects"),
    *("code book or alphabet (SHA-256)",),
)

_SEPARATORS = ";,|:\t\r\n"
_FORMULA = re.compile(
    rf"""((?:^|[{_SEPARATORS}])[\s"']*)"""  # where a part may begin: some split at semicolons
    r"(?=[=+@\uff1d\uff0b\uff0d\uff20-])"  # what begins a formula, full-width signs too
    # Except a number, or the end of a bin.
    rf"(?![+-][0-9]+(?:\.[0-9]+)?[)\]]?(?:[{_SEPARATORS}]|$))",
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
    names = distinct_names([account.dataset for account in accounts])
    rows = {names[account.dataset]: list(_rows(account, year)) for account in accounts}
    if path.suffix.lower() == CSV:
        text = _csv(rows)
    else:
        left = {names[account.dataset]: _left(account) for account in accounts}
        text = _html(left, rows, year)
    output.write_new(out, text)
    return sum(map(len, rows.values()))


def _rows(account: Account, year: int | None) -> Iterator[list[str]]:
    for line in account.lines:
        if year is None or line.at.startswith(f"{year:04}-"):
            yield [visible(cell) for cell in _cells(account, line)]


def _cells(account: Account, line: Line) -> Iterator[str]:
    released = released_object(line)
    yield str(line.entry)
    yield line.at
    yield state_of(line)
    yield ", ".join(map(str, released["columns"]))
    yield released_text(line, most=_MOST)
    yield released["purpose"] or ""
    yield author_of(line)
    for name in ("accuracy", "sampler"):
        yield released[name] or ""
    yield in_epsilon(line.charge)
    yield in_delta(line.delta) if line.delta else "0"
    yield f"{account.protects}, {account.neighbours}"
    yield released["codebook_sha256"] or released["alphabet_sha256"] or ""


def state_of(line: Line) -> str:
    """Return whether a charge was released, never used, or made again after a loss."""
    if line.problem:
        return f"charged; marked: {line.problem}"
    if line.is_restored:
        return "lost with an older copy, charged again"
    return "released" if line.is_recorded else "charged, never released"


def _csv(rows: dict[str, list[list[str]]]) -> str:
    file = StringIO()
    writer = csv.writer(file, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writerow(_TITLES)
    for name, lines in rows.items():
        writer.writerows([_harmless(cell) for cell in (visible(name), *row)] for row in lines)
    return file.getvalue()


def _harmless(cell: str) -> str:
    """Return a cell in which no spreadsheet sees a formula, wherever it splits lines.

    >>> _harmless("=1+1"), _harmless("-3"), _harmless("flu"), _harmless("a;=1+1")
    ("'=1+1", '-3', 'flu', "a;'=1+1")
    """
    return _FORMULA.sub(r"\1'", cell)


def _html(left: dict[str, str], rows: dict[str, list[list[str]]], year: int | None) -> str:
    title = "Releases" if year is None else f"Releases of {year}"
    tables = "".join(_table(name, left[name], lines) for name, lines in rows.items())
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{title}</h1>\n{tables}</body>\n</html>\n"
    )


def _table(name: str, left: str, rows: list[list[str]]) -> str:
    heads = "".join(f'<th scope="col">{escape(title)}</th>' for title in _TITLES[1:])
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows
    )
    caption = f"{escape(visible(name))}: epsilon {left}"
    return f"<table>\n<caption>{caption}</caption>\n<tr>{heads}</tr>\n{lines}</table>\n"
