"""Data is no source of letters, and no message tells what is in a file of letters."""

from __future__ import annotations

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.draws import DICE
from support.releasing import check, sample

import dproo
from dproo import Alphabet, Ledger
from dproo.cli.commands import run
from dproo.core.paths import Origin
from dproo.integrations.agent import Desk

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
    names = SECRETS * DICE.randint(2, 9)
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


def table(data: Path, letters: Alphabet) -> object:
    return dproo.open(data).synthesize(letters, epsilon=1)


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
            (table, {"letters": Alphabet.of({"species": letters})}),
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
        if name == "a copy":
            continue  # of other data: only a first line tells, and that may be a record
        options = {"column": "own", "epsilon": 1, "ledger": ledger, "dataset": str(data)}
        sentence = refused(sample, data, alphabet=f"{path}:species", **options)
        assert sentence.startswith(
            "alphabet must be public, got the data itself, a copy of it, or a file"
        ), name
    book = tmp_path / "book.csv"
    book.write_text("column,value,label\nown,Adelie,x\n", encoding="utf-8")
    read = dproo.CodeBook.of(book)
    visits = dproo.open(data, ledger=ledger)
    visits.row(read, epsilon="0.01")
    ledger.declare(str(book), budget=9, neighbours="replace")
    spent = [account.spent for account in ledger.show()]
    for codebook in (book, read, dproo.CodeBook.of(str(book))):
        for action in (visits.row, visits.rows, visits.synthesize):
            sentence = refused(action, codebook, epsilon=1)
            assert sentence.partition(" ")[2].startswith("must be public, got the data itself")
    assert [account.spent for account in ledger.show()] == spent
    sample(data, alphabet=["Adelie"], **options)


@pytest.mark.parametrize("added", ["2025.csv", "_temporary", "broken.csv"])
def test_a_pattern_with_a_budget_protects_its_files_even_where_it_is_refused(
    added: str, penguins: Path, tmp_path: Path
) -> None:
    """A folder or link that a program adds to the files of a dataset frees none of them."""
    distinct(penguins)
    (tmp_path / "mine").write_text("own\nAdelie\n", encoding="utf-8")
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    mine = {"column": "own", "epsilon": 1, "ledger": ledger, "dataset": str(tmp_path / "mine")}
    for name in (mine["dataset"], str(tmp_path / "**" / "*.csv")):
        ledger.declare(name, budget=9, neighbours="replace")
    if added == "broken.csv":
        (tmp_path / added).symlink_to("nowhere")
    else:
        (tmp_path / added).mkdir()
    if added == "_temporary":
        shutil.copy(penguins, tmp_path / added)
    with pytest.raises(ValueError, match=r"data must be a (pattern without|readable file)"):
        dproo.open(tmp_path / "**" / "*.csv").value("species", SECRETS, epsilon=1)
    sentence = refused(sample, tmp_path / "mine", alphabet=f"{penguins}:species", **mine)
    assert sentence.startswith("alphabet must be public, got the data itself")


BOOK = {"schema": {"fields": [{"name": "own", "type": "string", "categories": ["flu"]}]}}


@pytest.mark.parametrize(
    ("content", "read"),
    [
        (json.dumps(BOOK), lambda path: dproo.CodeBook.of(path).alphabet),
        ("own,b\nflu,x\n", lambda path: Alphabet.parse(f"{path}:own")),
    ],
)
def test_a_pipe_of_letters_may_be_gone_once_it_is_read(
    content: str, read: Callable[[str], Alphabet], tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        with pipe.open("w", encoding="utf-8") as file:
            pipe.unlink()
            file.write(content)

    writer = Thread(target=write)
    writer.start()
    assert read(str(pipe)).axes[0].letter(0) == "flu"
    writer.join()


def test_data_may_have_the_number_of_a_file_that_was_removed(tmp_path: Path) -> None:
    """A file system gives it again, often at once."""
    paths = data, book, codes = [tmp_path / name for name in ("data.csv", "book.json", "codes")]
    for path, text in zip(paths, ("own\nflu\n", json.dumps(BOOK), "flu\n"), strict=True):
        path.write_text(text, encoding="utf-8")
    (own,) = dproo.CodeBook.of(book).letters("own").axes
    (listed,) = Alphabet.parse(str(codes)).axes
    identity = Origin.of(data).identity
    for axis in (own, listed):
        assert axis.origin is not None
        reused = replace(axis, origin=replace(axis.origin, identity=identity))
        alphabet = Alphabet(axes=(reused,))
        assert dproo.open(data).value("own", alphabet, epsilon=1).value in {"flu", "other"}
        data.rename(tmp_path / "moved")
        os.link(tmp_path / "moved", data)  # which is still the same file
        same = Alphabet(axes=(replace(axis, origin=Origin.of(data)),))
        sentence = refused(dproo.open(tmp_path / "moved").value, "own", same, epsilon=1)
        assert sentence.startswith("alphabet must be public and a file of its own")
        data.unlink()
        (tmp_path / "moved").rename(data)


def test_the_letters_of_a_code_book_may_be_quoted_wherever_it_is(tmp_path: Path) -> None:
    book, codes = tmp_path / "book.json", tmp_path / "codes"
    book.write_text(json.dumps(BOOK), encoding="utf-8")
    codes.write_text("flu\n", encoding="utf-8")
    data = dproo.open([{"own": "flu"}])
    for stated in (BOOK, book, str(book)):
        for letters in ([stated], ["own", dproo.CodeBook.of(stated)]):
            assert [one.near for one in data.check(*letters, cell="flux").cells] == ["flu"]
    assert [one.near for one in data.check("own", str(codes), cell="flux").cells] == [None]


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


PROTECTED = {
    "letters": "code,name\nA,Ann\nB,Bob\nC,Eve\n",
    "the other letter": "code,name\nA,Ann\nB,Bob\nC,other\n",
    "repeated": "code,name\nA,Ann\nB,Bob\nC,Bob\n",
    "a long record": "code,name\nA,Ann\nB,Bob\nC," + "x" * 300_000 + "\n",
    "unclosed": 'code,name\nA,Ann\nB,Bob\nC,"\n',
    "no text": "code,name\nA,Ann\nB,Bob\nC,\udcff\n",
}


@pytest.mark.parametrize(
    ("form", "is_own"),
    [("itself", False), ("link", False), ("itself", True), ("link", True), ("copy", True)],
)
def test_nothing_of_a_protected_file_decides_how_it_is_refused(
    form: str, *, is_own: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Before its content is looked at, whatever the command, whether or not it charges."""
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    (tmp_path / "codes.txt").write_text("a\nb\n", encoding="utf-8")
    (tmp_path / "public.csv").write_text("c,d\na,a\nb,a\n", encoding="utf-8")
    ward = tmp_path / "ward.csv"
    ward.write_text("code,name\n", encoding="utf-8")
    ledger.declare(str(ward), budget=1, neighbours="replace")
    ledger.declare(str(tmp_path / "public.csv"), budget=1, neighbours="replace")
    data, column = ("ward.csv", "code") if is_own else ("public.csv", "c")
    named = {"itself": "ward.csv", "link": "link.csv", "copy": "copy.csv"}[form]
    common = [str(tmp_path / data), "--column", column, "--alphabet"]
    book, letters = ["--ledger", str(ledger.path)], f"{tmp_path / named}:name"
    commands = [
        ["sample", *common, letters, "--epsilon", "0.1", *book],
        ["check", *common, letters],
        ["synthesize", *common, letters, "--epsilon", "0.1", "--rows", "2", *book],
        ["sample", *common, str(tmp_path / "codes.txt"), "--by", column, "--groups", letters],
        ["sample", str(tmp_path / data), "--codebook", str(tmp_path / named), *book],
    ]
    commands[3] += ["--epsilon", "0.1", "--no-ledger"]
    commands[4] += ["--epsilon", "0.1"]
    if not is_own:
        commands += [["codebook", "import", str(tmp_path / named)]]
    for command in commands:
        seen = set()
        for content in PROTECTED.values():
            ward.write_bytes(content.encode(errors="surrogateescape"))
            (tmp_path / "link.csv").unlink(missing_ok=True)
            (tmp_path / "link.csv").symlink_to(ward)
            shutil.copy(ward, tmp_path / "copy.csv")
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("DPROO_LEDGER", str(ledger.path))
                seen.add((run(command), *capfd.readouterr()))
        ((code, out, err),) = seen
        assert (code, out) == (2, ""), command
        assert "must be public, got the data itself" in err, command
    assert all(account.spent == 0 for account in ledger.show())


CONTENTS = {
    **PROTECTED,
    "nothing": "",
    "one object": '{"schema": {"fields": [{"name": "Eve"}]}}\n',
    "another object": '{"draft": ["Eve"], "datasets": 1, "dproo_model": 2}\n',
    "a list": '["Eve"]\n',
    "a key": "Eve = 1\n",
    "a table": "[datasets.Eve]\ndata = 1\n",
    "options": '[sample]\nEve = "1"\n',
}

AGENTS = """
[datasets.a]
data = "own.csv"
codebook = "{codebook}"
model = "{model}"
epsilon_per_call = 1
epsilon_per_day = 1
"""


def readers(ledger: Path, ward: str) -> dict[str, list[str]]:
    """Return every command that reads a public file, here a protected one."""
    of, own = ["--ledger", str(ledger)], [str(ledger.parent / "own.csv"), "--column", "c"]
    book, free = ["--codebook", ward], ["--epsilon", "0.1", "--no-ledger"]
    agents = ledger.parent / "codebook.toml"
    agents.write_text(f"ledger = '{ledger}'" + AGENTS.format(codebook=ward, model="m.json"))
    models = ledger.parent / "models.toml"
    models.write_text(f"ledger = '{ledger}'" + AGENTS.format(codebook="book.json", model=ward))
    return {
        "rows": ["rows", ward, "--rows", "2"],
        "rows in a file": ["rows", ward, "--rows", "2", "--out", str(ledger.parent / "x.csv")],
        "config": ["--config", ward, "plan", "--k", "9", "--epsilon", "1", "--alpha", "0.1"],
        "mcp": ["mcp", ward],
        "an agent's code book": ["mcp", str(agents)],
        "an agent's model": ["mcp", str(models)],
        "preview": ["codebook", "preview", ward],
        "import": ["codebook", "import", ward],
        "plan": ["plan", *book, "--n", "100", "--epsilon", "1"],
        "init": ["ledger", "init", "new", "--budget", "1", *of, *book],
        "a row": ["sample", own[0], *book, "--epsilon", "0.1", *of],
        "a table": ["synthesize", own[0], *book, "--rows", "2", "--epsilon", "0.1", *of],
        "check a code book": ["check", own[0], *book],
        "check": ["check", *own, "--alphabet", ward],
        "a value": ["sample", *own, "--alphabet", f"{ward}:name", "--epsilon", "0.1", *of],
        "groups": ["sample", *own, "--alphabet", "a,b", "--by", "d", "--groups", ward, *free],
    }


def functions(ledger: Ledger, ward: str) -> dict[str, Callable[[], object]]:
    """Return every function that reads a public file where a ledger is known, or none can be."""
    folder = Path(str(ledger.path)).parent
    own = dproo.open(folder / "own.csv", ledger=ledger, dataset=str(folder / "own.csv"))
    return {
        "Model.load": lambda: dproo.Model.load(ward),
        "Desk.of": lambda: Desk.of(ward),
        "an agent's code book": lambda: Desk.of(folder / "codebook.toml"),
        "an agent's model": lambda: Desk.of(folder / "models.toml"),
        "check": lambda: own.check("c", Path(ward)),
        "check a code book": lambda: own.check(ward),
        "value": lambda: own.value("c", Path(ward), epsilon="0.1"),
        "values": lambda: own.values("c", f"{ward}:name", size=2, epsilon="0.1"),
        "groups": lambda: own.values("c", "a,b", by={"d": Path(ward)}, size=1, epsilon="0.1"),
        "row": lambda: own.row(ward, epsilon="0.1"),
        "rows": lambda: own.rows(ward, size=2, epsilon="0.1"),
        "synthesize": lambda: own.synthesize(ward, epsilon="0.1"),
    }


@pytest.mark.one_of(3)
def test_every_reader_of_a_public_file_gives_one_answer_for_a_protected_one(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    monkeypatch.setenv("DPROO_LEDGER", str(ledger.path))
    (tmp_path / "own.csv").write_text("c,d\na,a\nb,a\n")
    field = {"name": "c", "type": "string", "categories": ["a", "b"]}
    (tmp_path / "book.json").write_text(json.dumps({"schema": {"fields": [field]}}))
    for name in ("own.csv", "ward.csv", "ward.json"):
        (tmp_path / name).touch()
        ledger.declare(str(tmp_path / name), budget=1, neighbours="replace")
    for ward in map(str, (tmp_path / "ward.csv", tmp_path / "ward.json")):
        commands = readers(Path(str(ledger.path)), ward)
        if ward.endswith("json"):
            del commands["import"]  # its ending is refused
        calls = functions(ledger, ward)
        seen: dict[str, set[tuple[int, str, str]]] = defaultdict(set)
        for content in CONTENTS.values():
            Path(ward).write_bytes(content.encode(errors="surrogateescape"))
            for name, command in commands.items():
                seen[f"dproo: {name}"].add((run(command), *capfd.readouterr()))
            for name, call in calls.items():
                seen[f"Python: {name}"].add((2, "", refused(call)))
        for name, answers in seen.items():
            assert len(answers) == 1, (name, answers)
            ((code, out, sentence),) = answers
            assert (code, out) == (2, ""), name
            assert "Eve" not in sentence, name
    assert all(account.spent == 0 for account in ledger.show())


def test_no_first_record_of_data_without_a_header_is_told_by_guesses(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Letters are told from a copy of other data by a header, which a first line may not be."""
    monkeypatch.setenv("DPROO_LEDGER", str(tmp_path / "ledger.sqlite3"))
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    data, other = tmp_path / "data.csv", tmp_path / "other.csv"
    data.write_text("Ann Smith,flu\nBob,cold\n", encoding="utf-8")
    other.write_text("a,b\nx,y\n", encoding="utf-8")
    for path in (data, other):
        ledger.declare(str(path), budget=9, neighbours="replace")
    letters = tmp_path / "letters.csv"
    for question in ([str(data), "--no-header", "--column", "2"], [str(other), "--column", "b"]):
        seen = set()
        for first in ("Ann Smith", "Bob"):
            letters.write_text(f"{first},flu\nx,y\n", encoding="utf-8")
            asked = ["sample", *question, "--alphabet", f"{letters}:flu", "--epsilon", "900"]
            seen.add((run(asked), *capfd.readouterr()))
        ((code, _, _),) = seen
        assert code == 3


def test_a_ledger_that_cannot_be_read_stops_nothing_that_needs_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.sqlite3").write_bytes(b"no ledger")
    (tmp_path / "dproo.toml").write_text('[certify]\nsampler = "roo"\n', encoding="utf-8")
    (tmp_path / "data.csv").write_text("c\na\n", encoding="utf-8")
    (tmp_path / "codes.txt").write_text("a\nb\n", encoding="utf-8")
    data, codes = str(tmp_path / "data.csv"), str(tmp_path / "codes.txt")
    for ledger in (str(tmp_path / "broken.sqlite3"), "postgresql://127.0.0.1:9/none"):
        monkeypatch.setenv("DPROO_LEDGER", ledger)
        config = ["--config", str(tmp_path / "dproo.toml")]
        assert run([*config, "certify", "--n", "10", "--k", "3", "--epsilon", "1"]) == 0
        asked = ["--column", "c", "--alphabet", codes]
        assert run(["check", data, *asked]) == 0
        assert run(["sample", data, *asked, "--epsilon", "1", "--no-ledger"]) == 0


def test_a_file_of_letters_is_public_where_no_ledger_says_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("code,name\na,Ann\nb,Bob\n", encoding="utf-8")
    data = [{"code": "a"}] * 5
    assert sample(data, alphabet=f"{path}:code", column="code", epsilon="9").value in {
        *("a", "b", "other")
    }
