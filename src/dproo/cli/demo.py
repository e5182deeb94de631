"""A walk through planning, releasing and being refused, on invented data: ``dproo demo``."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import click

from dproo.cli.charging import facts
from dproo.cli.output import echo, print_facts
from dproo.core.numbers import percent
from dproo.ledger import BudgetRefused, Ledger, in_epsilon
from dproo.mechanisms import choose
from dproo.releases.dataset import open as open_dataset
from dproo.schema import Alphabet

_ADMISSIONS = {"I50": 1600, "J18": 1200, "S72": 700, "I63": 350, "E11": 140, "B20": 0, "": 10}
_BUDGET, _EPSILON = "1.5", "1"
_AGES = {"I50": 78, "J18": 66, "S72": 81, "I63": 72, "E11": 49, "": 30}
_CODEBOOK = {
    "schema": {
        "fields": [
            {
                "name": "diagnosis",
                "type": "string",
                "categories": [code for code in _ADMISSIONS if code],
            },
            {"name": "sex", "type": "string", "categories": ["F", "M"], "parents": ["diagnosis"]},
            {
                "name": "age",
                "type": "integer",
                "bins": [0, 18, 65, 80, 120],
                "parents": ["diagnosis"],
            },
        ]
    }
}


@click.command("demo")
def demo_command() -> None:
    """See a plan, a release and a refusal, on invented data."""
    codes = [code for code in _ADMISSIONS if code]
    records = sum(_ADMISSIONS.values())
    with TemporaryDirectory(prefix="dproo-demo-") as folder:
        os.environ["XDG_STATE_HOME"] = folder  # nothing stays to be remembered
        data = Path(folder) / "admissions.csv"
        lines = [
            f"{code},{'FM'[i % 2]},{_AGES[code] + i % 23 - 11}"
            for code, times in _ADMISSIONS.items()
            for i in range(times)
        ]
        data.write_text("\n".join(["diagnosis,sex,age", *lines]) + "\n", encoding="utf-8")
        alphabet = Alphabet.of(codes)
        _step(f"1. The data: {records:,} invented admissions; the public codes: {', '.join(codes)}")
        _step("   and the extra letter 'other'. Nobody has B20; that must stay secret.")

        chosen = choose(n=records, k=alphabet.k, epsilon=Fraction(_EPSILON))
        _step(
            f"\n2. Plan: epsilon = {_EPSILON} means that no single record changes the odds of any"
        )
        _step("   conclusion by more than a factor of 2.72. The released code then differs from a")
        _step(f"   random record's in at most {percent(chosen.alpha)} of all draws.")

        ledger = Ledger.create(Path(folder) / "ledger.sqlite3")
        ledger.declare("admissions", budget=_BUDGET, neighbours="replace")
        admissions = open_dataset(data, ledger=ledger, dataset="admissions")
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

        _step(
            f"\n5. A whole row: a code book lists the letters of all columns, and the {left} that"
        )
        _step("   is left buys one private record with every column:\n")
        row = admissions.row(_CODEBOOK, epsilon=left)
        for column, letter in cast("dict[str, Any]", row.value).items():
            echo(f"{column:<10} {letter}")
        _step("\n   Printing a release again is free, and the ledger verifies:")
        _step(f"   {ledger.verify().events} events, intact.")
        _step("\nFor your own data: dproo ledger init DATA --budget 1, then dproo sample --help.")


def _step(text: str) -> None:
    for line in text.split("\n"):
        echo(line, err=True)
