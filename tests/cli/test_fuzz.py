"""Bad arguments and broken files, thousands: one sentence, an exit code, no data, no charge."""

import io
from contextlib import redirect_stderr, redirect_stdout

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.draws import DICE, SOAK

from dproo.cli import commands
from dproo.ledger import Ledger

pytestmark = pytest.mark.untraced

ARGUMENTS, TEXTS, PARQUETS = (7000, 900, 450) if SOAK else (350, 30, 20)
CANARY = "canary5b1e"
WORDS = [
    *["sample", "synthesize", "plan", "certify", "ledger", "show", "init", "verify", "print"],
    *["export"],
    *["--n", "--k", "--epsilon", "--alpha", "--column", "--alphabet", "--size", "--json"],
    *["--sampler", "--neighbours", "--draws", "--budget", "--dataset", "--table", "--outside"],
    *["--rows", "--delta", "--releases", "--out"],
    *["--records-per-person", "--as-printed", "--enumerate", "--quiet", "--head", "--seed"],
    *["0", "1", "-1", "2", "9", "1e400", "nan", "inf", "0.1", "1/0", "", " ", "é", "\x00", "'"],
    *["roo", "ls-roo", "ds-roo", "subrr", "replace", "add-remove", "other", "uniform", "bins:"],
    *["bins:0,1", "1..0", "0..3", "9" * 40, "--", "-", "../..", "*.csv", "c", "; DROP TABLE x"],
]


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A folder with data, an alphabet, and a ledger with a budget that nothing here may touch."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPROO_LEDGER", str(tmp_path / "ledger.sqlite3"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "letters.txt").write_text("a\nb\n")
    (tmp_path / "data.csv").write_text(f"c\na\nb\n{CANARY}\n")
    book = Ledger.create(tmp_path / "ledger.sqlite3")
    book.declare("data", budget="1000", neighbours="replace")
    return tmp_path


def run(arguments):
    """Run the command line in this process; return its exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = commands.run(list(arguments))
    return code, out.getvalue(), err.getvalue()


def assert_civil(code, out, err):
    assert code in {0, 2, 3, 4}, (code, err)
    assert "Traceback" not in out + err
    assert CANARY not in out + err
    if code:
        assert out == ""
        assert err.startswith("Usage:") or err.count("\n") == 1


@pytest.mark.one_of(3)
def test_random_arguments_are_refused_in_one_sentence_and_cost_nothing(house):
    words = [*WORDS, str(house / "data.csv"), str(house / "letters.txt"), str(house)]
    spent = 0
    for _ in range(ARGUMENTS):
        arguments = [DICE.choice(words[:10]), *DICE.choices(words, k=DICE.randrange(9))]
        code, out, err = run(arguments)
        assert_civil(code, out, err)
        account = Ledger(house / "ledger.sqlite3").show()[0]
        if code in {2, 3}:
            assert account.spent == spent, arguments
        spent = account.spent


def mutated(dice, content):
    """Return bytes with a few of them lost, doubled, changed or cut off."""
    content = bytearray(content)
    for _ in range(dice.randrange(1, 6)):
        place = dice.randrange(len(content) + 1)
        match dice.randrange(4):
            case 0:
                content[place : place + dice.randrange(20)] = b""
            case 1:
                content[place:place] = bytes(dice.choices(range(256), k=dice.randrange(9)))
            case 2:
                content[place:place] = dice.choice([b'"', b"\n", b"\r", b"\x00", b",", b"\xff"])
            case _:
                content[place:] = content[place : place + dice.randrange(200)]
    return bytes(content)


def release(path):
    """Release from a file whose column may or may not have survived."""
    alphabet = str(path.parent / "letters.txt")
    options = ["--column", "c", "--alphabet", alphabet, "--epsilon", "1e-9", "--dataset", "data"]
    return run(["sample", str(path), *options])


@pytest.mark.one_of(3)
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_broken_text_files_give_a_letter_or_one_sentence(house, kind):
    rows = [f"{i},{DICE.choice(['a', 'b', CANARY, ''])}" for i in range(30)]
    whole = {
        "csv": "\n".join(["i,c", *rows]),
        "tsv": "\n".join(["i,c", *rows]).replace(",", "\t"),
        "jsonl": "\n".join(
            f'{{"i": {i}, "c": "{row.split(",")[1]}"}}' for i, row in enumerate(rows)
        ),
    }[kind].encode()
    path = house / f"broken.{kind}"
    for _ in range(TEXTS // 3):
        path.write_bytes(mutated(DICE, whole))
        code, out, err = release(path)
        assert_civil(code, out, err)
        assert code or out.strip() in {"a", "b", "other"}


@pytest.mark.one_of(3)
def test_broken_parquet_files_give_a_letter_or_one_sentence(house):
    path = house / "broken.parquet"
    table = pa.table({"c": ["a", "b", None, CANARY] * 50, "i": range(200)})
    pq.write_table(table, path)
    whole = path.read_bytes()
    for _ in range(PARQUETS):
        path.write_bytes(mutated(DICE, whole))
        code, out, err = release(path)
        assert_civil(code, out, err)
        assert code or out.strip() in {"a", "b", "other"}
