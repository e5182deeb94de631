"""The commands of many records: ``dproo synthesize``, and ``dproo rows`` from its model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

import click

from dproo.cli import output
from dproo.cli.options import (
    READING,
    letters,
    release,
    source_of,
    texts,
)
from dproo.cli.output import (
    echo,
    figures,
    json_option,
    new_file,
    picture,
    plot_option,
    print_json,
    refuse_unused,
    require_printable,
    shown,
    unwritable,
    waiting,
    write_whole,
)
from dproo.cli.sample import source_options
from dproo.core.checks import refusal, whole
from dproo.core.numbers import parse_delta
from dproo.mechanisms import AUTO
from dproo.mechanisms.network import INDEPENDENT
from dproo.releases.charge import reprint
from dproo.releases.dataset import Dataset
from dproo.releases.run import guarded
from dproo.schema import UNIFORM, Alphabet
from dproo.schema.codebook import CodeBook

if TYPE_CHECKING:
    from dproo.receipt import Receipt
    from dproo.synthesis.model import Model, Rows

ROWS_MAX = 10**7
"""The most rows of one command: they are held in memory."""

PROBE = "0.05"
"""The epsilon of ``--probe``, unless another is given."""

_ENDINGS = (".csv", ".jsonl", ".parquet")


@dataclass(frozen=True, kw_only=True)
class Targets:
    """Where a model and its rows are written: new files, or standard output."""

    rows: int | None
    out: str | None = None
    model: str | None = None
    seed: int | None = None
    labels: bool = False
    within_bins: bool = False

    def check(self, columns: Sequence[str], *, is_json: bool) -> None:
        """Raise unless everything can be written, before anything is charged or drawn."""
        if self.rows is not None:
            whole("rows", self.rows, at_least=1, at_most=ROWS_MAX)
        elif self.out is not None or self.model is None:
            raise ValueError("--rows must be given: it says how many rows to draw.")
        if is_json and self.out is None and self.rows is not None:
            raise ValueError("--json must be used with --out: it prints the receipt, not the rows.")
        if self.seed is not None:
            whole("seed", self.seed, at_least=0)
        if self.model is not None:
            path = new_file("model", self.model)
            if path.suffix.lower() != ".json":
                raise ValueError(refusal("model", "end in .json", self.model))
            _rehearse("model", path, lambda made: made.write_text("{}"))
        if self.out is not None:
            self._check_out(new_file("out", self.out), columns)

    def _check_out(self, path: Path, columns: Sequence[str]) -> None:
        from dproo.synthesis.model import Rows  # noqa: PLC0415 - loads NumPy

        if path.suffix.lower() not in _ENDINGS:
            raise ValueError(refusal("out", "end in .csv, .jsonl or .parquet", str(path)))
        files = [new_file("out", str(file)) for file in (path, *_beside(path))]
        if self.model is not None and os.path.realpath(self.model) in map(os.path.realpath, files):
            raise ValueError("out, the metadata beside it, and model must be different files.")
        _rehearse("out", path, Rows({name: [] for name in columns}, "").write)

    def write(self, model: Model) -> str:
        """Write the model and its rows; return the rows to print, or '' if they are in a file.

        A file that cannot be written whole is not left behind.
        """
        if self.model is not None:
            _written(Path(self.model), model.save)
        if self.rows is None:
            return ""
        rows = self.drawn(model)
        if self.out is None:
            *lines, _ = rows.text().split("\n")
            return "".join(map(shown, lines))
        _written(Path(self.out), rows.write)
        return ""

    def drawn(self, model: Model) -> Rows:
        """Return the requested rows."""
        return model.rows(
            self.rows or 0, seed=self.seed, labels=self.labels, within_bins=self.within_bins
        )


def _beside(path: Path) -> list[Path]:
    """Return the file beside rows that marks them as synthetic, if they need one."""
    is_own = path.suffix.lower() == ".parquet"
    return [] if is_own else [path.with_name(f"{path.name}-metadata.json")]


def _rehearse(name: str, path: Path, write: Any) -> None:
    """Write a file without rows into a temporary folder beside its place, and remove it."""
    try:
        with TemporaryDirectory(dir=path.parent, prefix=".dproo-") as folder:
            write(Path(folder) / path.name)
    except ImportError:
        raise ValueError(
            "pyarrow must be installed to write Parquet: pip install 'dproo[frames]'. Or let --out"
            " end in .csv or .jsonl."
        ) from None
    except Exception:  # noqa: BLE001 - libraries raise their own
        condition = "be a file that can be written and can hold these columns"
        raise ValueError(refusal(name, condition, str(path))) from None


def _written(path: Path, write: Any) -> None:
    """Write into a temporary folder beside a file, then move the result into place, durably."""
    try:
        with TemporaryDirectory(dir=path.parent, prefix=".dproo-") as folder:
            made = Path(folder) / path.name
            write(made)
            parts = sorted(made.parent.iterdir(), key=made.__eq__)  # what is beside it first
            for part in parts:
                with part.open("rb") as file:
                    os.fsync(file.fileno())
                new_file("out", str(path.parent / part.name))  # it may be there by now
            for part in parts:  # without a wait in between, which could be interrupted
                part.replace(path.parent / part.name)
    except Exception:  # noqa: BLE001 - libraries raise their own
        raise unwritable(path) from None


@click.command("rows")
@click.argument("model", shell_complete=output.files)
@click.option("--rows", type=int, help="How many rows to draw.")
@click.option("--seed", type=int, help="For the same rows again, with the same version of NumPy.")
@click.option("--labels", is_flag=True, help="Show values by the labels of the code book.")
@click.option(
    "--within-bins", is_flag=True, help="Show a number drawn from within a bin instead of the bin."
)
@click.option(
    "--out", help="A new .csv, .jsonl or .parquet file. [default: CSV on standard output]"
)
@plot_option
@json_option
def rows_command(
    model: str, *, as_json: bool, out: str | None, plot: str | None, **options: Any
) -> None:
    """Draw more rows from the model of a private table, for free.

    MODEL is the file of a private table ('dproo synthesize --model'), or its receipt as 'dproo
    ledger print' prints it. It is public: no ledger is needed, and nothing is charged. --plot
    draws how often each value of a column occurs.

    \b
    Examples:
      dproo rows model.json --rows 500 --out more.csv
      dproo rows model.json --plot columns.png
    """
    from dproo.synthesis.model import Model  # noqa: PLC0415 - loads NumPy

    loaded = Model.load(model)
    is_plot_alone = plot is not None and options["rows"] is None and out is None
    if is_plot_alone:
        idle = {"seed": None, "within_bins": False, "as_json": False}
        refuse_unused({**options, "as_json": as_json}, idle, (), "with --plot and no --rows")
    targets = Targets(out=out, **options)
    if not is_plot_alone:
        targets.check(loaded.names, is_json=False)
    if not is_plot_alone and out is None:
        lists = (column.shown(labels=options["labels"]) for column in loaded.columns)
        require_printable(() if as_json else (*loaded.names, *map(str, chain.from_iterable(lists))))
    if plot is not None:
        path, draw = picture(plot), figures()
        tables = {name: loaded.counts(name, labels=options["labels"]) for name in loaded.names}
        draw.write(path, lambda: draw.draw_columns(tables))
        if is_plot_alone:
            return
    with waiting("drawing"):
        if as_json and out is None:
            rows = list(targets.drawn(loaded))
            print_json({"synthetic": True, "model_sha256": loaded.sha256, "rows": rows})
            return
        text = targets.write(loaded)
    if text:
        write_whole(text)
    elif as_json:
        print_json({"synthetic": True, "model_sha256": loaded.sha256, "out": out})
    else:
        echo(
            f"{options['rows']:,} synthetic rows in {out}, of the model {loaded.sha256[:16]}",
            err=True,
        )


def _probe(context: click.Context, _: click.Parameter, value: bool) -> bool:  # noqa: FBT001
    """Give epsilon its default before click requires it."""
    if value:
        context.default_map = {**(context.default_map or {}), "epsilon": PROBE}
    return value


@click.command("synthesize")
@source_options
@click.option(
    "--codebook",
    help="A JSON file that lists the public columns: release a private table.",
    shell_complete=output.files,
)
@click.option(
    "--network",
    default=AUTO,
    show_default=True,
    help="Which columns of a table are counted together: 'declared' in the code book, 'learned'"
    " privately, or 'independent'.",
)
@click.option(
    "--model", help="A new .json file for the model of a table, which more rows come from."
)
@click.option("--rows", type=int, help="How many records to release.")
@click.option(
    "--delta",
    default="0",
    help="The probability with which epsilon may fail; choose one far below 1/records.",
)
@click.option(
    "--out", help="A new .csv, .jsonl or .parquet file. [default: CSV on standard output]"
)
@click.option(
    "--probe",
    is_flag=True,
    is_eager=True,
    callback=_probe,
    help="Release only the share of 'other' in each column, and no rows. Epsilon is"
    f" {PROBE} unless you give one.",
)
def synthesize_command(data: str, **options: Any) -> None:
    """Release a private table of DATA, for one epsilon, and rows of it.

    Noisy counts of the columns are released once, as a model that any number of rows come from,
    now and later ('dproo rows'), for nothing. A --codebook lists the columns and their possible
    values, or --column and --alphabet do. Without them the values are found privately first, for
    a quarter of epsilon and half of --delta ('dproo codebook discover'); the table has the rest,
    and it is one charge.
    A release with a delta needs a budget with one: dproo ledger init DATA --budget 3 --delta 1e-6.

    \b
    Examples:
      dproo synthesize visits.csv --epsilon 2 --delta 1e-9 --rows 1000 --out safe.csv
      dproo synthesize visits.csv --codebook codebook.json --epsilon 1
          --rows 10000 --out table.csv --model model.json
      dproo synthesize visits.parquet --column diagnosis --alphabet codes.txt
          --column age --alphabet bins:0,18,65,120 --rows 500 --epsilon 0.5
      dproo synthesize visits.csv --codebook codebook.json --probe
    """
    book = _book(options)
    targets = Targets(**{name: options[name] for name in ("rows", "out", "model")})
    if not options["probe"]:
        _release(data, book, targets, options)
        return
    if targets != Targets(rows=None) or options["network"] != AUTO:
        raise ValueError("--probe cannot be used with --rows, --out, --model or --network.")
    _release_shares(data, book, options)


def _book(options: Mapping[str, Any]) -> CodeBook | None:
    """Return the code book of a file or of listed letters, or None if they are to be found."""
    codebook = options["codebook"]
    if codebook is None and options["alphabets"]:
        alphabet, column = letters(options, UNIFORM)
        if column is not None:
            alphabet = Alphabet.product({column: alphabet}, policy=UNIFORM)
        if not alphabet.columns:
            raise ValueError("--column must be given with --alphabet: a table names its columns.")
        return CodeBook.of(alphabet)
    used = () if codebook else ("columns",)
    why = "with --codebook, which describes every column" if codebook else "without --alphabet"
    refuse_unused(options, {"alphabets": (), "columns": (), **READING}, used, why)
    return None if codebook is None else CodeBook.of(codebook)


def _release_shares(data: str, book: CodeBook | None, options: Mapping[str, Any]) -> None:
    """Release only which share of each column is outside its letters."""
    if book is None:
        raise ValueError("--probe must be used with --codebook, or with --column and --alphabet.")
    names = [field.name for field in book.fields if field.outside is None]
    if not names:
        raise ValueError("--probe needs a column whose cells may be 'other'; here is none.")
    require_printable(() if options["as_json"] else names)

    def made(dataset: Dataset) -> tuple[Receipt, str]:
        model = dataset.synthesize(
            book, epsilon=options["epsilon"], delta=options["delta"], network=INDEPENDENT
        )
        width = max(map(len, names))
        lines = []
        for name in names:
            outside = model.counts(name).rows[-1]
            least, count, most = (
                min(1, outside[end] / max(model.records, 1)) for end in ("low", "count", "high")
            )
            share = f"{100 * count:.0f} % other, {100 * least:.0f} to {100 * most:.0f} %"
            lines.append(shown(f"{name:<{width}}  {share} with the noise"))
        return cast("Receipt", model.receipt), "".join(lines)

    release(data, options, made, what="counting", is_probe=True)


def _release(
    data: str, book: CodeBook | None, targets: Targets, options: Mapping[str, Any]
) -> None:
    if book is None and not parse_delta(options["delta"]):
        raise ValueError(
            "--delta must be given without --codebook, such as --delta 1e-9: the letters are"
            " found privately. Or list them: dproo codebook draft DATA."
        )
    names = book.columns if book else options["columns"]
    names = names or tuple(column.name for column in source_of(data, options).columns)
    targets.check(names, is_json=options["as_json"])
    if options["as_json"] or not targets.out:
        listed = book if not options["as_json"] else None
        require_printable((*listed.columns, *texts(listed.alphabet)) if listed else ())

    def made(dataset: Dataset) -> tuple[Receipt, str]:
        model = dataset.synthesize(
            book,
            columns=None if book else options["columns"] or None,
            epsilon=options["epsilon"],
            delta=options["delta"],
            network=options["network"],
        )
        receipt = cast("Receipt", model.receipt)
        charged = reprint(receipt, dataset.charge.address)
        return receipt, guarded(lambda: targets.write(model), charged=charged)

    release(data, options, made, what="synthesizing")
