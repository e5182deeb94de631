"""How data is read: the options of every command that reads it, and the alphabet that they give."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from itertools import repeat
from time import monotonic
from typing import Any

import click
from click.core import ParameterSource

from dproo.cli import ending
from dproo.cli.output import echo, json_object, print_facts, refuse_unused, waiting, write_whole
from dproo.core.numbers import decimal_text, parse_epsilon
from dproo.core.paths import Origin
from dproo.counting.layout import FORMATS, Layout, LayoutOptions, fields_for
from dproo.counting.source import Source, stated_for
from dproo.counting.sources.descriptors import files_of
from dproo.counting.sources.postgresql.url import is_url
from dproo.errors import STOPPED, MissingLedgerError, ReleaseError, Stopped, UnknownDatasetError
from dproo.ledger import Address, Ledger, address_of, default_path, in_epsilon
from dproo.ledger.rules import PERSON
from dproo.mechanisms import REPLACE
from dproo.receipt import STATED, Receipt
from dproo.releases.charge import STATEMENTS, Charge, dataset_name, protected, remedy, reprint
from dproo.releases.dataset import Dataset
from dproo.releases.discovery import DISCOVERY
from dproo.releases.protection import Groups, Protection
from dproo.releases.request import epsilon_warnings
from dproo.releases.run import between_steps
from dproo.report import as_options
from dproo.schema import UNIFORM, Alphabet, Policy
from dproo.schema.axis import Bins, Letters
from dproo.schema.reading import EXACT, INTEGER, NUMBER, READINGS, UNTYPED

TABLE_OPTION = click.option(
    "--table", help="The table of a database or DuckDB file: table or schema.table."
)
LAYOUT_OPTIONS = (
    click.option(
        "--format",
        help="What a file is, such as csv, jsonl or csv.gz. [default: how its name ends]",
    ),
    click.option(
        "--delimiter", help="What separates cells, such as ';' or tab. [default: as in the header]"
    ),
    click.option(
        "--encoding", help="The encoding of a text file, such as latin-1. [default: utf-8]"
    ),
    click.option(
        "--skip-rows", default=0, metavar="N", help="Lines before the header, of a sheet its rows."
    ),
    click.option("--comment", default="", help="How further lines before it begin, such as '#'."),
)
_READINGS = ", ".join(reading for reading in READINGS if reading != EXACT)
HEADER_OPTION = click.option(
    "--no-header",
    "has_header",
    flag_value=False,
    type=bool,
    default=True,
    help="A CSV file has no header line: columns are called by number, --column 3.",
)
READING_OPTIONS = (
    *LAYOUT_OPTIONS,
    HEADER_OPTION,
    click.option(
        "--as",
        "readings",
        multiple=True,
        metavar="KIND",
        help=f"Read cells as {_READINGS}; dates in another form as date:DD.MM.YYYY. Give it once"
        " for all columns, or once for each.",
    ),
    click.option("--decimal", default=".", help="The decimal sign of numbers in text: . or ,"),
    click.option(
        "--thousands",
        default="",
        help="The sign between groups of three digits; a no-break blank is called nbsp.",
    ),
    click.option("--missing", multiple=True, help="A number that means missing, such as -99."),
)


def with_options(
    options: Sequence[Callable[..., Any]],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command these options."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


READING: dict[str, Any] = {"readings": (), "missing": (), "decimal": ".", "thousands": ""}
"""The options of how cells are read, which a code book replaces, and their defaults."""


def letters(options: Mapping[str, Any], outside: Policy) -> tuple[Alphabet, str | None]:
    """Return the alphabet that the options name, and the column if there is only one."""
    columns, alphabets, readings = (options[n] for n in ("columns", "alphabets", "readings"))
    if not alphabets:
        raise ValueError(
            "--alphabet must be given: it lists every value that could occur."
            " For all columns of a file: dproo codebook draft DATA."
        )
    if len(readings) not in {0, 1, len(alphabets)}:
        raise ValueError(f"--as must be given once, or for each column, got {len(readings)} times.")
    thousands = UNTYPED.get(options["thousands"], options["thousands"])
    signs = {"decimal": options["decimal"], "thousands": thousands}
    each = readings if len(readings) == len(alphabets) else repeat(readings[0] if readings else "")
    parts = [
        _read(Alphabet.parse(text, policy=UNIFORM), reading, signs, options["missing"])
        for text, reading in zip(alphabets, each, strict=False)
    ]
    if len(parts) == 1 and len(columns) < 2:
        return replace(parts[0], policy=outside), columns[0] if columns else None
    if len(columns) != len(parts):
        raise ValueError(
            f"alphabet must be given for each column, got {len(alphabets)} for {len(columns)}."
        )
    if len({*columns}) < len(columns):
        raise ValueError("column must be named once, got one twice.")
    return Alphabet.product(dict(zip(columns, parts, strict=True)), policy=outside), None


def _read(
    alphabet: Alphabet, reading: str, signs: dict[str, str], missing: tuple[str, ...]
) -> Alphabet:
    """Return an alphabet with the reading of its cells; signs alone mean numbers."""
    axis = alphabet.axes[0]
    kind, _, form = reading.partition(":")
    is_signed = signs != {"decimal": ".", "thousands": ""}
    if not kind and is_signed:
        kind = NUMBER if isinstance(axis, Bins) else INTEGER
    if kind:
        options = signs if kind in {INTEGER, NUMBER} or is_signed else {}
        alphabet = alphabet.read_as(kind, **options, **({"format": form} if form else {}))
    if not missing:
        return alphabet
    axis = alphabet.axes[0]
    if not isinstance(axis, Bins):
        raise ValueError(  # noqa: TRY004 - an option, not a type
            "--missing must be used with bins: in a list, every value that is left out is missing."
        )
    try:
        numbers = tuple(sorted(map(float, missing)))
    except ValueError:
        raise ValueError("--missing must be a number, such as -99.") from None
    return replace(alphabet, axes=(replace(axis, missing=numbers),))


@contextmanager
def _charging(data: str, options: Mapping[str, Any]) -> Iterator[Charge]:
    """Yield the budget to charge; if it is missing, the refusal says how to declare it."""
    if options["no_ledger"]:
        refuse_unused(options, {"path": None, "dataset": None}, (), "with --no-ledger")
        yield Charge()
        return
    name, book = options["dataset"], book_of(options["path"])
    if name is None:
        name = dataset_name(data)
    try:
        ledger = Ledger(book)
        with between_steps(ledger, name):
            yield Charge(ledger=ledger, dataset=name)
    except (MissingLedgerError, UnknownDatasetError) as error:
        raise type(error)(
            f"{error} {remedy(name, book)} To release without one: --no-ledger."
        ) from None


@contextmanager
def opened(data: str, options: Mapping[str, Any]) -> Iterator[Dataset]:
    """Yield the dataset that the options of a command describe, with the budget to charge."""
    source = source_of(data, options)
    protection = protection_of(options)
    stated = {name: options[name] for name in STATEMENTS}
    Charge(**stated)  # refused before a ledger is opened
    with _logging(is_verbose=options["verbose"]), _charging(data, options) as charge:
        is_by_path = options["dataset"] is None and charge.dataset is not None
        yield Dataset(
            source=source,
            protection=protection,
            charge=replace(charge, **stated),
            namesake=source if is_by_path else None,
        )


@contextmanager
def _logging(*, is_verbose: bool) -> Iterator[None]:
    """Print what the package logs: warnings in terms of options, and every step if verbose."""
    log, steps = logging.getLogger("dproo"), _Steps()
    level = log.level
    log.addFilter(_in_options)
    if is_verbose:
        log.addHandler(steps)
        log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(level)
        log.removeHandler(steps)
        log.removeFilter(_in_options)


class _Steps(logging.Handler):
    """Prints each step, with the seconds since the first."""

    def __init__(self) -> None:
        super().__init__()
        self._begun = monotonic()

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line on standard error."""
        with suppress(OSError):  # as for warnings
            echo(f"{monotonic() - self._begun:7.2f} s  {record.getMessage()}", err=True)


def _in_options(record: logging.LogRecord) -> bool:
    """Rewrite a warning in terms of options, like every message of a command."""
    if isinstance(record.args, tuple):
        record.args = tuple(as_options(str(part)) for part in record.args)
    return True


def source_of(data: str, options: Mapping[str, Any]) -> Source:
    """Return the data that a command names; the user's defaults are for files that have them."""
    given = click.get_current_context().get_parameter_source
    engine = options.get("engine")
    used: set[str] = set()
    if engine is None and not is_url(data):
        first = next(iter(files_of(data)), data)  # of a folder or a pattern
        ending, _ = Layout(format=options["format"]).ending_of(first)
        used = fields_for(FORMATS.get(ending))
    layout = Layout(
        **{
            name: options[name]
            for name in LayoutOptions.__annotations__
            if name in used or given(name) is not ParameterSource.DEFAULT_MAP
        }
    )
    return Source(
        data=data,
        table=options["table"],
        engine=engine,
        layout=stated_for(data, layout, engine),
    )


def protection_of(options: Mapping[str, Any]) -> Protection:
    """Return whom a command protects."""
    return Protection(
        neighbours=options["neighbours"],
        person=options["person"],
        records=options["records_per_person"],
        missing=options["missing_person"],
    )


def _print_release(text: str, receipt: Receipt, book: Address | None) -> None:
    """Print a release on standard output; if that fails, say how to print it again.

    Once the last byte is written, the command has succeeded: no signal changes the exit code 0.
    """
    end: BaseException = Stopped(f"{STOPPED} {reprint(receipt, book)}")
    with suppress(KeyboardInterrupt):
        try:
            ending.enter(ending.PRINTING)
            if not text or write_whole(text):
                ending.enter(ending.PRINTED)
                return
        except Exception:  # noqa: BLE001 - a closed pipe, a full disk, an encoding
            with suppress(OSError, ValueError):  # the rest of the buffer goes nowhere
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            end = ReleaseError(f"the release could not be printed. {reprint(receipt, book)}")
    raise end


def release(
    data: str,
    options: Mapping[str, Any],
    made: Callable[[Dataset], tuple[Receipt, str]],
    *,
    what: str,
    groups: Groups | None = None,
    is_probe: bool = False,
) -> None:
    """Make a release, print it, and its facts on standard error.

    Args:
        data: the data that the command names.
        options: its options.
        made: makes the release; returns its receipt, and the text to print unless as JSON.
        what: the activity to show while it runs.
        groups: the groups to release for.
        is_probe: whether the text itself states the shares of ``other``.
    """
    is_shown = not (options["as_json"] or options["quiet"])
    warned: list[str] = []
    if is_shown:
        warned = _warned_before(parse_epsilon(options["epsilon"]), protection_of(options), groups)
    with opened(data, options) as dataset:
        with waiting(what):
            receipt, text = made(dataset)
        text = json_object(receipt.as_dict()) if options["as_json"] else text
        _print_release(text, receipt, dataset.charge.address)
    if is_shown:
        discovery = receipt.details.get("discovery", {})
        shares = {} if is_probe else receipt.details.get("other", discovery.get("other", {}))
        with suppress(OSError):  # as for warnings
            for column, share in shares.items():
                if share >= _MUCH:
                    echo(
                        f"{column}: about {100 * share:.0f} % of the records are 'other'.", err=True
                    )
            for column, why in discovery.get("left_out", {}).items():
                echo(f"{column}: left out; {why}.", err=True)
        print_facts(facts(receipt))
        warn(set(receipt.warnings) - set(warned))
    elif not options["as_json"] and receipt.ledger is not None and receipt.ledger.head is None:
        warn(receipt.warnings[-1:])  # it is kept nowhere else


def book_of(path: str | None) -> Address:
    """Return the ledger that an option names, or the user's own."""
    return default_path() if path is None else address_of(path)


def texts(alphabet: Alphabet | None, groups: Groups | None = None) -> Iterator[str]:
    """Yield the names and letters that may be printed; numbers are always printable."""
    axes = () if alphabet is None else alphabet.axes
    yield from () if alphabet is None else alphabet.columns
    if groups is not None:
        yield groups.by
        axes = (*axes, groups.axis)
    for axis in axes:
        if isinstance(axis, Letters):
            yield from map(str, axis.letters)


def is_protected(origin: Origin, options: Mapping[str, Any]) -> bool:
    """Return whether a file is the data of a command, looks like a copy of it, or has a budget."""
    data = options.get("data")
    source = source_of(data, options) if isinstance(data, str) and "table" in options else None
    return protected(lambda: Ledger(book_of(options.get("path"))), source)(origin)


def _warned_before(cost: Fraction, protection: Protection, groups: Groups | None) -> list[str]:
    """Print warnings of a charge that may surprise, before it is made, and return them."""
    warned = []
    if groups is not None and protection.neighbours == REPLACE and not groups.are_public:
        cost *= 2
        why = "a record that is replaced can leave one group and enter another."
        warned = [f"With --by this costs 2 x epsilon = {decimal_text(cost)}: {why}"]
    return warn([*warned, *epsilon_warnings(cost, whom=protection.whom)])


def warn(sentences: Iterable[str]) -> list[str]:
    """Print warnings on standard error, and return them."""
    sentences = list(sentences)
    with suppress(OSError):  # the result counts, even if nobody reads standard error
        for sentence in sentences:
            echo(f"Warning: {sentence}", err=True)
    return sentences


_MUCH = 0.05
"""The share of ``other`` in a column from which it is mentioned."""


def _public(details: Mapping[str, Any]) -> dict[str, object]:
    """Return what letters a release drew from, or found."""
    if details["sampler"] == DISCOVERY:
        discovery = details["discovery"]
        return {
            "columns": f"{len(discovery['codebook']['schema']['fields'])} found,"
            f" {len(discovery['left_out'])} left out",
            "code book": f"sha256 {(discovery['codebook_sha256'] or 'none')[:16]}",
        }
    if "longest" in details:
        least = f"of {details['minimum_people']} or more, {details['longest']} characters at most"
        return {"letters": f"open: text {least}"}
    if "codebook_sha256" not in details:
        letters = {"letters k": details["k"]}
        return letters | {"alphabet": f"sha256 {details['alphabet_sha256'][:16]}"}
    if "model" in details:
        edges = (f"{' - '.join(family['columns'])}" for family in details["families"])
        paid: dict[str, object] = {}
        if discovery := details.get("discovery"):
            parts = (f"{n} {decimal_text(Fraction(discovery[n]))}" for n in ("epsilon", "delta"))
            paid = {"code book found": f"for {', '.join(parts)} of these"}
        return paid | {
            "network": f"{details['network']}: {'; '.join(edges)}",
            "noise": f"{details['noise']}, exact",
            "model": f"sha256 {details['model']['sha256'][:16]}",
            "code book": f"sha256 {details['codebook_sha256'][:16]}",
        }
    arrows = (
        f"{', '.join(step['parents'])} -> {step['column']}" if step["parents"] else step["column"]
        for step in details["columns"]
    )
    return {
        "network": f"{details['network']}: {'; '.join(arrows)}",
        "code book": f"sha256 {details['codebook_sha256'][:16]}",
    }


def facts(receipt: Receipt) -> dict[str, object]:
    """Return the facts of a receipt that people read."""
    details, charged, certified = receipt.details, receipt.ledger, receipt.certificate
    reason = details["sampler_reason"]
    several = {"rows": f"{details['rows']:,}, {details['way']}"} if "rows" in details else {}
    if receipt.delta:
        several["delta"] = details["delta_decimal"]
    return {
        **{name: text for name in STATED if (text := getattr(receipt, name))},
        **several,
        "sampler": f"{receipt.sampler} (auto). {reason}" if reason else receipt.sampler,
        "accuracy": receipt.accuracy,
        "epsilon": f"{receipt.epsilon_decimal} (worst loss, certified:"
        f" {certified['epsilon']:.9g} for {certified['covers']})",
        "protects": f"{receipt.protects}, {receipt.neighbours}",
        f"{'people' if receipt.unit == PERSON else 'records'} n": (
            "private" if receipt.n is None else receipt.n
        ),
        **_public(details),
        "ledger": f"entry {charged.entry} of {charged.dataset!r},"
        f" charged {in_epsilon(charged.charge_nano_epsilon)}"
        if charged
        else "none: not charged to any budget",
        "software": receipt.software,
    }
