"""Passwords of databases: in no name, no message, no object and no file, however they are given."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from support.draws import DICE
from support.serving import listed

from dproo import counting
from dproo.cli.commands import run
from dproo.core.checks import may_hold_secret, refusal
from dproo.counting.sources.postgresql.url import is_url, public_name
from dproo.errors import LedgerError
from dproo.ledger import Ledger
from dproo.releases.charge import dataset_name, remedy

# Pieces of one password; none of them may be seen anywhere.
CANARIES = ("K4NAR1", "V0GEL")
SECRETS = [
    f"K4NAR1{sign}V0GEL"
    for sign in ("", "#", "?", "/", "@", ":", "[", "]", "%23", "&", "=", " ", "?a=b", "@h/d", "%")
]
URLS = [
    *(f"postgresql://ann:{secret}@db.invalid/clinic" for secret in SECRETS),
    *(f"postgres://db.invalid/clinic?user=ann&password={secret}" for secret in SECRETS),
    *(
        f"postgresql://ann@db.invalid/clinic?{key}=K4NAR1V0GEL"
        for key in ("%70assword", "sslpassword", "passfile", "sslkey", "options", "unknown")
    ),
    "postgresql+psycopg://ann:K4NAR1V0GEL@db.invalid/clinic",
    "POSTGRESQL://ann:K4NAR1V0GEL@db.invalid/clinic",
    "jdbc:postgresql://db.invalid/clinic?user=ann&password=K4NAR1V0GEL",
    "postgresql:ann:K4NAR1V0GEL@db.invalid/clinic",
    "postgresql://[ann:K4NAR1V0GEL@db.invalid/clinic",
]
OTHERS = [
    "host=db.invalid user=ann password=K4NAR1V0GEL",
    "host=db.invalid user=ann password = 'K4NAR1 V0GEL'",
    "Driver={PostgreSQL};Server=db;Uid=ann;Pwd=K4NAR1V0GEL;",
    "mysql://ann:K4NAR1V0GEL@db.invalid/clinic",
    "https://example.invalid/a.csv?token=K4NAR1V0GEL",
    "ann:K4NAR1V0GEL@db.invalid",
]


def assert_silent(*texts: str) -> None:
    for text in texts:
        assert not [canary for canary in CANARIES if canary in text], text


@pytest.mark.parametrize("url", [*URLS, *OTHERS])
def test_no_name_holds_a_secret(url: str) -> None:
    try:
        name = dataset_name(url)
    except ValueError as error:
        assert_silent("".join(traceback.format_exception(error)), repr(pickle.dumps(error)))
    else:
        assert name == "postgresql://db.invalid/clinic"


def test_most_passwords_are_no_reason_to_refuse() -> None:
    refused = []
    for url in URLS:
        try:
            dataset_name(url)
        except ValueError:
            refused.append(url)
    assert len(refused) < len(URLS) / 2


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer for every host at once: nobody is there."""
    monkeypatch.setenv("PGHOSTADDR", "127.0.0.1")
    monkeypatch.setenv("PGPORT", "9")


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize("url", [*URLS, *OTHERS])
def test_no_refusal_before_the_charge_holds_a_secret(url: str, tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.sqlite3")
    book = Ledger.create(Path(path))
    with pytest.raises((TypeError, ValueError)) as refused:
        counting.prepare(url, alphabets=[["a"]], columns=["c"], table="t")
    assert_silent("".join(traceback.format_exception(refused.value)), repr(refused.value.args))
    assert refused.value.__context__ is None or refused.value.__suppress_context__
    for terms in ({"table": (url, "t")}, {"table": url}):
        with pytest.raises((TypeError, ValueError)) as refused:
            counting.prepare(url, alphabets=[["a"]], columns=["c"], **terms)
        assert_silent(str(refused.value))
    with pytest.raises(ValueError, match="dataset must be ") as refused:
        book.declare(url, budget=1, neighbours="replace")
    assert_silent(str(refused.value), remedy(url, Path("x")), Path(path).read_text("latin-1"))


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize("url", [*URLS[:6], *URLS[-5:], *OTHERS])
def test_no_command_repeats_a_secret(
    url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    letters = tmp_path / "letters.txt"
    letters.write_text("a\nb\n")
    ledger = str(tmp_path / "ledger.sqlite3")
    monkeypatch.setenv("DPROO_LEDGER", ledger)
    Ledger.create(Path(ledger))
    asked = ["--column", "c", "--alphabet", str(letters), "--epsilon", "1"]
    for arguments in (
        ["sample", url, *asked, "--table", "t"],
        ["sample", url, *asked, "--table", "t", "--json"],
        ["sample", url, *asked, "--table", "t", "--no-ledger"],
        ["sample", "x.csv", *asked, "--dataset", url],
        ["sample", "x.csv", *asked, "--table", url],
        ["sample", "x.csv", url, *asked],
        ["sample", "x.csv", "--column", "c", "--alphabet", url, "--epsilon", "1"],
        ["sample", "x.csv", *asked, f"--ledger={url}"],
        ["sample", "x.csv", *asked, "--ledger", url, "--dataset", "d"],
        ["synthesize", url, *asked, "--rows", url],
        [url],
        [f"--{url}"],
        ["--config", url, "plan"],
        ["plan", "--k", url],
        ["ledger", "show", "--ledger", url],
        ["serve", "--folder", url],
    ):
        assert run(arguments) == 2, arguments
        assert_silent("".join(capfd.readouterr()))
    run(["ledger", "init", url, "--budget", "1"])
    run(["ledger", "show"])
    assert_silent("".join(capfd.readouterr()), Path(ledger).read_text("latin-1"))


@pytest.mark.parametrize("url", [*URLS, *OTHERS])
def test_no_file_is_called_after_a_secret(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((LedgerError, ValueError), match="ledger") as no:
        Ledger.create(url.replace("db.invalid", "127.0.0.1"))
    assert_silent(str(no.value), repr(no.value))
    assert not list(tmp_path.iterdir())


def test_two_ways_to_write_a_database_are_one_budget() -> None:
    same = [
        "postgresql://DB.example:5432/clinic",
        "postgres://ann@db.example/clinic",
        "postgresql://bob:x@db.example/clinic?sslmode=require",
        "postgresql:///clinic?host=db.example&application_name=x",
    ]
    assert {public_name(url) for url in same} == {"postgresql://db.example/clinic"}
    others = {
        "postgresql://db.example:5433/clinic": "postgresql://db.example:5433/clinic",
        "postgresql://a:1,b:2/c": "postgresql://a:1,b:2/c",
        "postgresql://[::1]/clinic": "postgresql://[::1]/clinic",
        "postgresql:///a%20b?host=/tmp/Pg": "postgresql://%2Ftmp%2FPg/a%20b",
    }
    assert {url: public_name(url) for url in others} == others
    assert not [name for name in others.values() if may_hold_secret(name)]


def test_what_a_url_leaves_out_is_named_by_where_the_driver_finds_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PGHOST", "db.example")
    monkeypatch.setenv("PGDATABASE", "clinic")
    monkeypatch.setenv("PGPASSWORD", "K4NAR1V0GEL")
    assert public_name("postgresql://") == "postgresql://db.example/clinic"
    for url in ("postgresql:///?service=clinic", "postgresql://h/d?service=x"):
        with pytest.raises(ValueError, match="dataset must be given for a URL with a service"):
            public_name(url)


def test_without_the_driver_nothing_is_named_and_the_extra_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    sentence = "psycopg must be installed for this: pip install 'dproo\\[postgresql\\]'."
    for url in URLS:
        with pytest.raises(ValueError, match=sentence):
            dataset_name(url)
        with pytest.raises(ValueError, match=sentence):
            counting.prepare(url, alphabets=[["a"]], columns=["c"], table="t")


def test_paths_and_plain_addresses_are_still_told() -> None:
    for text in ("a.csv", "/data/year=2026/a.parquet", "s3://bucket/a-*.parquet", "C:\\a.csv"):
        assert repr(text) in refusal("data", "be a file that exists", text)
        assert not is_url(text)
    assert dataset_name("s3://bucket/visits") == "s3://bucket/visits"


def test_a_secret_is_in_no_object_that_holds_a_database(postgresql: str, tmp_path: Path) -> None:
    from dproo.web.folder import Folder  # noqa: PLC0415
    from dproo.web.orders import Order  # noqa: PLC0415

    url = f"{postgresql}&password=K4NAR1V0GEL"
    scan = counting.prepare(url, alphabets=[["pg_class"]], columns=["relname"], table="pg_class")
    session = scan._close.__self__
    assert_silent(repr(scan), repr(session), repr(session.connection))
    book = Ledger.create(tmp_path / "ledger.sqlite3")
    book.declare("d", budget=1, neighbours="replace")
    asked = {"source": "database", "data": url, "dataset": "d", "table": "pg_class"}
    asked |= {"what": "value", "codebook": listed("relname", "pg_class")}
    asked |= {"sampler": "roo", "epsilon": "1"}
    order = Order.of(asked, folder=Folder(tmp_path), ledger=book.path)
    assert_silent(repr(order), json.dumps(order.shown))


@pytest.mark.one_of(3)
def test_a_password_file_is_enough(postgresql: str, tmp_path: Path) -> None:
    """The recommended way: the secret is in no argument, and so in no list of processes."""
    import psycopg  # noqa: PLC0415

    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("CREATE ROLE keeper LOGIN PASSWORD 'K4NAR1V0GEL'")
        connection.execute("CREATE TABLE kept AS SELECT 'a'::text AS c FROM generate_series(1, 9)")
        connection.execute("GRANT SELECT ON kept TO keeper")
        ((rules, folder),) = connection.execute(
            "SELECT pg_read_file(setting), setting FROM pg_settings WHERE name = 'hba_file'"
        ).fetchall()
        asking = "local all keeper scram-sha-256\n" + rules
        copied = f"COPY (SELECT unnest(%s::text[])) TO '{folder}'"
        client = psycopg.ClientCursor(connection)
        client.execute(copied, [[line for line in asking.splitlines() if "\t" not in line]])
        client.execute("SELECT pg_reload_conf()")
        url = postgresql.replace("user=dproo", "user=keeper")
        try:
            passwords = tmp_path / "pgpass"
            passwords.write_text("*:*:*:keeper:K4NAR1V0GEL\n")
            passwords.chmod(0o600)
            code = (
                "import sys; from dproo import counting;"
                "print(list(counting.count(sys.argv[1], alphabet=['a'], column='c', table='kept')))"
            )
            for environment, answer in (
                ({"PGPASSFILE": str(passwords)}, "[9, 0]"),
                ({"PGPASSFILE": "/nowhere"}, "asks for a password and none was found"),
                ({"PGPASSWORD": "V0GEL"}, "the server refused the connection"),
            ):
                done = subprocess.run(
                    [sys.executable, "-c", code, url],
                    env=os.environ | environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert answer in done.stdout + done.stderr
                assert_silent(done.stdout, done.stderr)
        finally:
            client.execute(copied, [[line for line in rules.splitlines() if "\t" not in line]])
            client.execute("SELECT pg_reload_conf()")


SECRET = re.compile(r"(?i)(?:pass|pwd|secret|token|credential|apikey|accountkey)\w*\s*=|:[^@\s]*@")
PIECES = ["pass", "pwd", "TOKEN", "a", "_", "=", " ", "\t", ":", "@", "\u00e9", "1", "-", "\n"]


@pytest.mark.one_of(3)
def test_what_may_be_a_secret_is_found_in_one_pass() -> None:
    """A text of 64 KiB of colons took 47 seconds, and nothing else was answered meanwhile."""
    for _ in range(3000):
        text = "".join(DICE.choices(PIECES, k=DICE.randrange(9)))
        assert may_hold_secret(text) == (SECRET.search(text) is not None), text
    for piece in PIECES:
        assert may_hold_secret(piece * 10**6) == (SECRET.search(piece * 9) is not None)
