"""Data is no source of letters, and no message tells what is in a file of letters."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.releasing import check, sample, synthesize

from dproo import Alphabet, Ledger
from dproo.cli.commands import run
from dproo.web.folder import Folder
from dproo.web.orders import Order

SECRETS = ["Adelie", "Gentoo", "Chinstrap"]


@pytest.fixture
def penguins(tmp_path: Path) -> Path:
    path = tmp_path / "penguins.csv"
    rows = [f"{name},{i},f" for i, name in enumerate(SECRETS * 50 + ["Adelie"] * 2)]
    path.write_text("\n".join(["species,mass,sex", *rows]) + "\n", encoding="utf-8")
    return path


BAD = {
    "repeated": "Adelie\nGentoo\nAdelie\nAdelie\n",
    "the other letter": "Adelie\nother\n",
    "nothing": "\n\n\n",
    "half of a pair": "Adelie\n\ud800\n",
    "unclosed": 'species\n"Adelie\nGentoo\n',
}


def refused(action: object, *arguments: object, **options: object) -> str:
    with pytest.raises((TypeError, ValueError)) as error:
        action(*arguments, **options)  # type: ignore[operator]
    return str(error.value)


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_no_refusal_of_a_file_of_letters_tells_what_is_in_it(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plain, table = Path("codes.txt"), Path("codes.csv")
    plain.write_bytes(content.encode(errors="surrogatepass"))
    table.write_bytes(b"species\n" + content.encode(errors="surrogatepass"))
    for action, text in ((Alphabet.read, plain), (Alphabet.parse, f"{table}:species")):
        if content == BAD["unclosed"] and text == plain:
            continue
        sentence = refused(action, text)
        rest = sentence.replace("5,000,000", "")
        assert not any(name in rest for name in (*SECRETS, "ud800"))
        assert not any(sign.isdigit() for sign in rest.replace("UTF-8", ""))


def test_every_refusal_of_a_file_of_letters_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    found = set()
    for content in (
        "s\na\na\n",
        "s\n" + "a\n" * 99,
        "s\nother\nb\n",
        "s\n",
        's\n"a\n',
        's\n"a"b\n',
    ):
        path.write_text(content, encoding="utf-8")
        found.add(refused(Alphabet.parse, f"{path}:s"))
    assert len(found) == 1


@pytest.mark.parametrize("hold", [np.array, pd.Series, pl.Series, pa.array, list])
def test_no_refusal_of_letters_quotes_or_counts_them(hold: type) -> None:
    names = SECRETS * random.Random().randint(2, 9)  # noqa: S311 - a test's letters
    letters = hold(names)
    assert refused(Alphabet.of, letters) == refused(Alphabet.of, hold(["x", "x"]))
    reading = refused(Alphabet.of(hold(SECRETS)).read_as, "lower")
    assert not any(name in reading for name in SECRETS)


def test_no_warning_about_letters_quotes_them(tmp_path: Path) -> None:
    (tmp_path / "codes.txt").write_text("Adelie\n7\n", encoding="utf-8")
    pd.DataFrame({"n": [7]}).to_parquet(tmp_path / "a.parquet")
    found = check(tmp_path / "a.parquet", column="n", alphabet=tmp_path / "codes.txt")
    assert "some of the letters can never occur" in found.warnings[0]
    assert "Adelie" not in str(found)


def twins(path: Path) -> dict[str, Path]:
    """Return other names of a file, and a copy of it."""
    folder = path.parent
    os.link(path, folder / "hard.txt")
    (folder / "soft.csv").symlink_to(path)
    (folder / "farther.csv").symlink_to(folder / "soft.csv")
    shutil.copy(path, folder / "copy.csv")
    return {
        "itself": path,
        "another way to it": folder / "." / ".." / folder.name / path.name,
        "a hard link": folder / "hard.txt",
        "a soft link": folder / "soft.csv",
        "a link to a link": folder / "farther.csv",
        "a copy": folder / "copy.csv",
    }


def distinct(path: Path) -> None:
    path.write_text("species,mass\nAdelie,1\nGentoo,2\n", encoding="utf-8")


def test_the_data_itself_is_no_source_of_letters(penguins: Path) -> None:
    distinct(penguins)
    for name, path in twins(penguins).items():
        letters = Alphabet.parse(f"{path}:species")
        for action, options in (
            (sample, {"alphabet": letters, "column": "species", "epsilon": 1}),
            (sample, {"alphabet": {"species": letters, "mass": ["1"]}, "epsilon": 1}),
            (
                sample,
                {"alphabet": ["1"], "column": "mass", "by": {"species": letters}, "epsilon": 1},
            ),
            (synthesize, {"alphabet": letters, "column": "species", "rows": 2, "epsilon": 1}),
        ):
            sentence = refused(action, penguins, **options)
            assert sentence.startswith("alphabet must be public and a file of its own"), name
        assert not check(penguins, alphabet=letters, column="species").holds
    own = penguins.parent / "codes.csv"
    own.write_text("species,label\nAdelie,x\n", encoding="utf-8")
    assert check(penguins, alphabet=Alphabet.parse(f"{own}:species"), column="species").holds


def test_a_file_with_a_budget_is_no_source_of_letters(penguins: Path, tmp_path: Path) -> None:
    distinct(penguins)
    data = tmp_path / "mine.csv"
    data.write_text("own\nAdelie\n", encoding="utf-8")
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    for name in (str(penguins), str(data), "a name", "/not/there"):
        ledger.declare(name, budget=9, neighbours="replace")
    for name, path in twins(penguins).items():
        options = {"column": "own", "epsilon": 1, "ledger": ledger, "dataset": str(data)}
        sentence = refused(sample, data, alphabet=f"{path}:species", **options)
        assert sentence.startswith("alphabet must be public, got a file that has a budget"), name
    assert all(account.spent == 0 for account in ledger.show())
    sample(data, alphabet=["Adelie"], **options)


def test_the_page_takes_no_letters_from_what_it_lists_as_data(
    penguins: Path, tmp_path: Path
) -> None:
    distinct(penguins)
    (tmp_path / "visits.csv").write_text("own\nAdelie\n", encoding="utf-8")
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare(str(tmp_path / "visits.csv"), budget=9, neighbours="replace")
    form = {"source": "file", "data": "visits.csv", "column": "own", "epsilon": "1"}
    for name, path in twins(penguins).items():
        asked = {**form, "alphabet": f"{path}:species"}
        found = Folder(tmp_path)
        sentence = refused(Order.of, asked, folder=found, ledger=ledger.path)
        assert "got one that is listed as data" in sentence, name


def test_the_command_line_tells_nothing_of_a_protected_file(
    penguins: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of records with a value must not be in a refusal."""
    arguments = ["--column", "species", "--epsilon", "1", "--no-ledger"]
    monkeypatch.chdir(penguins.parent)
    alphabet = "penguins.csv:species"
    assert run(["sample", "penguins.csv", "--alphabet", alphabet, *arguments]) == 2
    out, err = capsys.readouterr()
    assert not any(name in out + err for name in SECRETS)
    assert "52" not in err
