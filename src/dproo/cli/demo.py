"""A walk through planning, releasing and being refused, on invented data: ``dproo demo``."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import click

from dproo.cli.options import facts
from dproo.cli.output import echo, print_facts, write_new
from dproo.core.numbers import percent
from dproo.core.paths import folder_of, may_exist
from dproo.ledger import BudgetRefused, Ledger, in_epsilon
from dproo.mechanisms import choose
from dproo.releases.dataset import open as open_dataset
from dproo.schema import Alphabet
from dproo.study.invented import FIELDS, RECORDS, SHARES, invented

_BUDGET, _EPSILON = "1.5", "1"


@click.command("demo")
@click.option(
    "--save",
    "folder",
    type=click.Path(file_okay=False),
    help="Write the invented data, its code book and its list of codes to this folder, and stop.",
)
def demo_command(folder: str | None) -> None:
    """See a plan, a release and a refusal, on invented data."""
    if folder is not None:
        _save(folder)
        return
    with TemporaryDirectory(prefix="dproo-demo-") as temporary:
        os.environ["XDG_STATE_HOME"] = temporary  # the witness goes away with the ledger
        _save(Path(temporary))
        _walk(Path(temporary))


def _save(place: str | Path) -> None:
    """Write the invented admissions, and what is public about them; overwrite nothing."""
    fields = ",\n".join(f"      {json.dumps(field)}" for field in FIELDS)
    texts = {
        "admissions.csv": invented(),
        "codebook.json": '{\n  "name": "admissions",\n  "path": "admissions.csv",\n'
        f'  "schema": {{\n    "fields": [\n{fields}\n    ]\n  }}\n}}\n',
        "diagnosis_codes.txt": "".join(f"{code}\n" for code in SHARES),
    }
    folder = folder_of("save", place)
    missing = [name for name in texts if not may_exist(folder / name)]
    for name in texts.keys() - {*missing}:
        if not _holds(folder / name, texts[name]):
            raise click.UsageError(f"--save must name a folder without another {name}.")
    for name in missing:
        write_new(str(folder / name), texts[name])


def _holds(path: Path, text: str) -> bool:
    """Return whether this is a file with such a text."""
    try:
        return path.is_file() and path.read_bytes() == text.encode()
    except OSError:
        return False


def _walk(folder: Path) -> None:
    """Plan, release, be refused, and release a row."""
    codes = list(SHARES)
    alphabet = Alphabet.of(codes)
    _step(f"1. The data: {RECORDS:,} invented admissions; the public codes:")
    _step(f"   {', '.join(codes)}")
    _step("   and the extra letter 'other'. Nobody has B20; that must stay secret.")

    chosen = choose(n=RECORDS, k=alphabet.k, epsilon=Fraction(_EPSILON))
    _step(f"\n2. Plan: epsilon = {_EPSILON} means that no single record changes the odds of any")
    _step("   conclusion by more than a factor of 2.72. The released code then differs from a")
    _step(f"   random record's in at most {percent(chosen.alpha)} of all draws.")

    ledger = Ledger.create(folder / "ledger.sqlite3")
    ledger.declare("admissions", budget=_BUDGET, neighbours="replace")
    admissions = open_dataset(folder / "admissions.csv", ledger=ledger, dataset="admissions")
    _step(f"\n3. Release: a budget of {_BUDGET} is declared, {_EPSILON} of it is charged, and")
    _step("   only then is the data read:\n")
    release = admissions.value("diagnosis", alphabet, epsilon=_EPSILON)
    echo(release.value)
    print_facts(facts(release.receipt))

    left = in_epsilon(ledger.show()[0].left)
    _step(f"\n4. Refusal: the same again for {_EPSILON}, with only {left} left:")
    try:
        admissions.value("diagnosis", alphabet, epsilon=_EPSILON)
    except BudgetRefused as refused:
        _step(f"   refused: {refused}")

    _step(f"\n5. A whole row: a code book lists the letters of all columns, and the {left} that")
    _step("   is left buys one private record with every column:\n")
    row = admissions.row(folder / "codebook.json", epsilon=left)
    for column, letter in cast("dict[str, Any]", row.value).items():
        echo(f"{column:<10} {letter}")
    _step("\n   Printing a release again is free, and the ledger verifies:")
    _step(f"   {ledger.verify().events} events, intact.")
    _step("\nThe same data, to try things out: dproo demo --save examples.")
    _step(
        "For your own data: dproo ledger init DATA --budget 1, then dproo sample --help for one\n"
        "record, or dproo synthesize --help for a table."
    )


def _step(text: str) -> None:
    for line in text.split("\n"):
        echo(line, err=True)
