"""A charge is spent only where a release can follow: what can fail without data fails before it."""

import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import zipfile
from itertools import product
from pathlib import Path

import duckdb
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from support.after_charge import MADE
from support.draws import DICE, SOAK, few, some
from support.releasing import sample

import dproo
from dproo import counting
from dproo.counting import boundary
from dproo.errors import UnpreparedError
from dproo.ledger.account import BudgetTally
from dproo.releases import run as releasing
from dproo.releases.value import SampleRequest

WATCHER = Path(__file__).parent.parent / "support" / "after_charge.py"
ROWS = [(str(i % 7), "ab"[i % 2]) for i in range(60)]
FILES = ["csv", "csv.gz", "jsonl", "json", "parquet", "duckdb", "xlsx", "sav", "dta", "sqlite"]
SOURCES = [*FILES, "list", "pandas", "polars", "arrow", "postgresql"]
BROKEN = ["csv", "list", "xlsx", "sav", "arrow"]
INTERRUPTED = ["csv", "parquet", "jsonl", "list", "postgresql"]
MEBIBYTES = [*range(60, 200, 20), 400, 800, 1200]
SAMPLERS = ["auto", "roo", "ls-roo", "subrr", "bal-roo", "ds-roo"]


class _PanicError(BaseException):
    """As libraries in Rust end, which is no Exception."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the same data in every form, and a ledger."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    table = "p,c\n" + "".join(f"{person},{cell}\n" for person, cell in ROWS)
    (tmp_path / "data.csv").write_text(table)
    (tmp_path / "data.csv.gz").write_bytes(gzip.compress(table.encode()))
    records = [{"p": person, "c": cell} for person, cell in ROWS]
    (tmp_path / "data.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records))
    (tmp_path / "data.json").write_text(json.dumps(records))
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "data.parquet")
    with duckdb.connect(str(tmp_path / "data.duckdb")) as file:
        file.execute(f"CREATE TABLE t AS FROM '{tmp_path}/data.parquet'")
    with sqlite3.connect(tmp_path / "data.sqlite") as database:
        database.execute("CREATE TABLE t (p TEXT, c TEXT)")
        database.executemany("INSERT INTO t VALUES (?, ?)", ROWS)
    database.close()
    book = openpyxl.Workbook()
    for row in [("p", "c"), *ROWS]:
        book.active.append(row)
    book.save(tmp_path / "data.xlsx")
    frame = pd.DataFrame(ROWS, columns=["p", "c"])
    pyreadstat.write_sav(frame, str(tmp_path / "data.sav"))
    pyreadstat.write_dta(frame, str(tmp_path / "data.dta"))
    ledger = dproo.Ledger.create(tmp_path / "ledger.sqlite3")
    for name in ("records", "people"):
        unit = "person" if name == "people" else "record"
        ledger.declare(name, budget=1000, delta="1e-3", neighbours="replace", unit=unit)
    return tmp_path


@pytest.fixture
def source(request):
    """The name of a source; its rows are in the database too where that is one."""
    if request.param == "postgresql":
        server = request.getfixturevalue("server")
        server.execute("CREATE TABLE ward.charged (p text, c text)")
        with server.cursor() as cursor:
            cursor.executemany("INSERT INTO ward.charged VALUES (%s, %s)", ROWS)
    return request.param


def run(request, *arguments):
    """Return what the watcher prints of each release."""
    command = [sys.executable, str(WATCHER), *map(str, arguments)]
    url = request.getfixturevalue("postgresql") if "postgresql" in arguments else ""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TEST_POSTGRESQL": url},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return list(map(json.loads, done.stdout.splitlines()))


def charges(folder):
    """Return for each charge whether its release was recorded."""
    accounts = dproo.Ledger(folder / "ledger.sqlite3").show()
    return [line.is_recorded for account in accounts for line in account.lines]


@pytest.mark.parametrize("fault", [MemoryError, KeyError, _PanicError])
@pytest.mark.parametrize("place", ["__init__", "files", "show"])
def test_whatever_fails_in_the_ledger_before_the_charge_is_a_refusal(
    place, fault, folder, monkeypatch
):
    (folder / "codes.txt").write_text("a\nb\n")
    ledger = folder / "ledger.sqlite3"
    visits = dproo.open(folder / "data.csv", ledger=ledger, dataset="records")

    def fail(*_, **__):
        raise fault("canary")

    monkeypatch.setattr(dproo.Ledger, place, fail)
    with pytest.raises(UnpreparedError, match=r"Nothing was read or charged\.$") as end:
        visits.value("c", str(folder / "codes.txt"), epsilon=1)
    monkeypatch.undo()
    assert "canary" not in str(end.value)
    assert charges(folder) == []


@pytest.mark.one_of(4)
@pytest.mark.untraced
@pytest.mark.parametrize("source", some(SOURCES, one_of=6), indirect=True)
def test_after_the_charge_nothing_is_loaded_or_opened_but_the_data_and_the_ledger(
    request, source, folder
):
    found = run(request, "watched", folder, source, *few(MADE, 2))
    assert [(made, person, seen) for made, person, seen in found if seen.get("result") != []] == []
    assert charges(folder) == [True] * len(found)


@pytest.mark.one_of(4)
@pytest.mark.untraced
@pytest.mark.parametrize("source", some(BROKEN, one_of=6), indirect=True)
def test_whatever_fails_before_the_charge_costs_nothing_and_is_one_sentence(
    request, source, folder
):
    """Each import and each opening before the charge fails in turn, in one way or another."""
    found = run(request, "broken", folder, source, 10_000 if SOAK else 8)
    released = 0
    for at, fault, end in found:
        assert "result" in end, (at, fault, end)
        code, message, _ = end["result"]
        assert code in {0, 2}, (at, fault, message)
        assert "canary" not in message + end["stderr"]
        assert "\n" not in message
        released += code == 0
    assert charges(folder) == [True] * released


@pytest.mark.one_of(4)
@pytest.mark.untraced
@pytest.mark.parametrize("source", some(INTERRUPTED, one_of=4), indirect=True)
def test_an_interrupt_at_any_moment_is_one_and_says_whether_the_charge_stays(
    request, source, folder
):
    found = run(request, "interrupted", folder, source, 200 if SOAK else 8, 0.5)
    released = stopped = 0
    for after, person, end in found:
        assert "result" in end, (after, person, end)
        code, message = end["result"]
        assert code in {0, 2, 4}, (after, message)
        if code:
            stays = "the release was stopped. The charge stays: entry "
            assert message.startswith(stays if code == 4 else "stopped; nothing was charged.")
        released, stopped = released + (code == 0), stopped + (code == 4)
    recorded = charges(folder)
    assert len(recorded) == released + stopped
    assert released <= sum(recorded)


@pytest.fixture
def awaiting(ledger, monkeypatch):
    """A release that sends this process a signal while it waits to be charged."""
    require_basis, stopped = BudgetTally.require_basis, threading.Event()

    def release(number):
        def interrupted(*arguments):
            os.kill(os.getpid(), number)
            stopped.wait()
            return require_basis(*arguments)

        monkeypatch.setattr(BudgetTally, "require_basis", interrupted)
        monkeypatch.setattr(releasing, "Event", lambda: stopped)
        data = dproo.open(["a", "b"] * 9, ledger=ledger, dataset="patients")
        return data.value(None, ["a", "b"], epsilon="0.5")

    return release


def test_an_interrupt_before_the_charge_itself_leaves_it_out(ledger, awaiting):
    """While the ledger is read to charge it, nothing has been charged: nothing is."""
    with pytest.raises(KeyboardInterrupt) as end:
        awaiting(signal.SIGINT)
    assert str(end.value) == ""
    assert ledger.show()[0].lines == ()


@pytest.fixture
def handled():
    """What the program's own handler of SIGALRM raises, as a limit on time does."""
    before = signal.getsignal(signal.SIGALRM)

    def by(error):
        def handler(*_):
            raise error

        signal.signal(signal.SIGALRM, handler)

    yield by
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("kind", [TimeoutError, ValueError, _PanicError])
def test_what_a_handler_raises_before_the_charge_itself_is_a_refusal(
    kind, ledger, awaiting, handled
):
    handled(kind("canary"))
    with pytest.raises(UnpreparedError) as refused:
        awaiting(signal.SIGALRM)
    assert str(refused.value) == (
        "the release cannot be prepared: something that it needs fails"
        f" ({kind.__name__}). Nothing was read or charged."
    )
    assert refused.value.__context__ is None
    assert ledger.show()[0].lines == ()


def test_an_exit_before_the_charge_itself_keeps_its_own_code(ledger, awaiting, handled):
    """Exit code 4 means that a charge stands."""
    handled(SystemExit(7))
    with pytest.raises(SystemExit) as end:
        awaiting(signal.SIGALRM)
    assert end.value.code == 7
    assert ledger.show()[0].lines == ()


@pytest.mark.parametrize("name", ["duckdb", "psycopg", "pyreadstat", "zstandard"])
def test_a_library_that_cannot_be_loaded_is_refused_before_the_charge(
    name, folder, monkeypatch, ledger
):
    """As one is whose files are damaged, or built for another machine."""
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(boundary, "import_module", lambda _: 1 / 0)
    data, table = {
        "duckdb": (folder / "data.csv", None),
        "psycopg": ("postgresql://nobody@localhost/none", "t"),
        "pyreadstat": (folder / "data.sav", None),
        "zstandard": (folder / "data.csv.zst", None),
    }[name]
    if name == "zstandard":
        Path(data).write_bytes(bytes.fromhex("28b52ffd"))
    with pytest.raises(UnpreparedError) as refused:
        sample(
            data,
            alphabet=["a", "b"],
            column="c",
            table=table,
            epsilon=1,
            ledger=ledger,
            dataset="patients",
        )
    assert str(refused.value) == (
        f"the release cannot be prepared: {name} cannot be loaded; install it again."
        " Nothing was read or charged."
    )
    assert refused.value.__context__ is None
    assert ledger.show()[0].spent == 0


@pytest.mark.parametrize(
    "fault", [MemoryError, OSError(28, "canary"), KeyError("canary"), _PanicError]
)
@pytest.mark.parametrize("step", ["scan", "rehearse", "draw"])
def test_a_step_of_the_preparation_that_fails_is_refused_before_the_charge(
    step, fault, ledger, monkeypatch
):
    def fail(*_, **__):
        raise fault

    home = {"scan": counting.Source, "rehearse": counting.Scan, "draw": SampleRequest}[step]
    monkeypatch.setattr(home, step, fail)
    with pytest.raises(
        UnpreparedError, match=r"cannot be prepared.*Nothing was read or charged\.$"
    ) as refused:
        sample(["a"] * 9, alphabet=["a", "b"], epsilon=1, ledger=ledger, dataset="patients")
    assert "canary" not in str(refused.value)
    assert ledger.show()[0].spent == 0


@pytest.mark.untraced
@pytest.mark.parametrize(("limit", "mebibytes"), some(list(product("vd", MEBIBYTES)), one_of=10))
def test_a_limit_of_memory_is_refused_before_the_charge(limit, mebibytes, folder):
    command = Path(sys.executable).parent / "dproo"
    (folder / "codes.txt").write_text("a\nb\n")
    line = (
        f"ulimit -{limit} {mebibytes * 1024}; exec {command} sample {folder}/data.csv --column c"
        f" --alphabet {folder}/codes.txt --epsilon 1 --dataset records --ledger"
        f" {folder}/ledger.sqlite3"
    )
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "MiB of addresses, and a limit leaves less; raise it (ulimit -v, -d)." in done.stderr
    assert charges(folder) == []


@pytest.mark.one_of(4)
@pytest.mark.untraced
def test_a_copy_without_metadata_releases_as_any_other(folder):
    """As one inside another package has none, or one in a zip file."""
    archive = folder / "vendored.zip"
    package = Path(dproo.__file__).parent
    with zipfile.ZipFile(archive, "w") as file:
        for path in package.rglob("*"):
            if path.suffix in {".py", ".json", ".toml"}:
                file.write(path, Path("dproo") / path.relative_to(package))
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import importlib.metadata as m\n"
        "def none(name): raise m.PackageNotFoundError(name)\n"
        "m.version = m.distribution = none\n"
        "import dproo\n"
        "assert sys.argv[1] in dproo.__file__\n"
        "asked = {'ledger': sys.argv[2], 'dataset': 'records'}\n"
        "made = dproo.open(['a'] * 9, **asked).value(None, ['a', 'b'], epsilon=1)\n"
        "print(made.receipt.software)\n"
    )
    command = [sys.executable, "-c", code, str(archive), str(folder / "ledger.sqlite3")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout) == ("", f"dproo {dproo.__version__}\n")
    assert charges(folder) == [True]


@pytest.mark.one_of(4)
def test_what_is_accepted_can_be_drawn_at_any_number_of_records():
    """The rehearsal draws from few records; no other number may fail where it did not."""
    for _ in range(2000 if SOAK else 25):
        options = {
            "alphabet": [f"letter {i}" for i in range(DICE.choice([2, 3, 10, 300]))],
            "epsilon": f"{DICE.choice([1, 3, 7])}e{DICE.randint(-12, 1)}",
            "sampler": DICE.choice(SAMPLERS),
            "neighbours": DICE.choice(["replace", "add-remove"]),
            "size": DICE.choice([1, 1, 2, 5]),
            "records_per_person": DICE.choice([1, 1, 2, 9]),
        }
        # Blocks of records are split bit by bit: 2**31 of them take seconds, 10**12 hours.
        huge = [2**31, 10**12] if options["size"] == 1 else [2**20]
        most = DICE.choice([options["size"], 7, 100, *huge])
        data = {"letter 0": max(most, options["size"]), "letter 1": DICE.randint(0, 3)}
        try:
            sample({"letter 0": options["size"]}, **options)
        except ValueError:
            continue
        sample(data, **options)


@pytest.mark.parametrize(("size", "few"), [(1, "no"), (3, "fewer than 3")])
def test_ready_counts_of_too_few_records_are_refused_before_their_charge(size, few, ledger):
    for data in ({"x": size - 1}, dproo.Counts.of([size - 1, 0, 0])):
        visits = dproo.open(data, ledger=ledger, dataset="patients")
        with pytest.raises(ValueError, match=f"the data has {few} records"):
            visits.values(None, ["x", "y"], epsilon="0.1", size=size, sampler="ls-roo")
    assert not ledger.show()[0].spent


@pytest.mark.parametrize(
    "data", [{"a": ["x"] * 3}, {"a": "3"}, {"a": 2.0}, {"a": True}, {"a": -1}, {"a": None}]
)
def test_a_mapping_that_holds_no_counts_is_refused_before_its_charge(data, ledger):
    visits = dproo.open(data, ledger=ledger, dataset="patients")
    before = ledger.head()
    for ask in (visits.check, lambda *letters: visits.value(*letters, epsilon="0.1")):
        with pytest.raises(TypeError, match="data must be records, or a dict of letters to"):
            ask("a", ["x", "y"])
    assert ledger.head() == before


THREADS = """
import sys, threading, dproo

def read(name):
    together.wait()
    if name.endswith("frame"):
        import pandas
        data = pandas.read_csv("data.csv")
    else:
        data = name
    results.append(dproo.open(data).value("c", ["a", "b"], epsilon=1).value)

results, names = [], sys.argv[1:]
together = threading.Barrier(len(names))
threads = [threading.Thread(target=read, args=(name,)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(results) == len(names)
"""


@pytest.mark.one_of(4)
def test_the_first_releases_of_a_process_may_be_made_in_threads_at_once(folder):
    """A library that one thread still loads is not ready for another."""
    names = [f"data.{ending}" for ending in ("csv", "csv", "parquet", "xlsx", "sav", "frame")]
    command = [sys.executable, "-c", THREADS, *names]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
