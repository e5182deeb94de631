"""The file of a ledger: who may open it, what it must be, and what is said when it fails."""

from __future__ import annotations

import inspect
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dproo import errors
from dproo.ledger import Ledger, accept_restore, default_path, in_epsilon
from dproo.ledger.stores import sqlite

REPLACE: dict[str, Any] = {"neighbours": "replace"}


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


def left(ledger: Ledger) -> str:
    return in_epsilon(ledger.show()[0].left)


def test_the_file_is_for_its_owner_only_and_so_are_new_folders(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        ledger = Ledger.create(tmp_path / "new" / "deeper" / "ledger.sqlite3")
    finally:
        os.umask(before)
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(ledger.path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(ledger.path.parent.parent.stat().st_mode) == 0o700


def test_creating_again_opens_what_is_there(ledger: Ledger) -> None:
    before = ledger.path.read_bytes()
    assert Ledger.create(ledger.path) == ledger
    assert ledger.path.read_bytes() == before


def test_an_empty_file_left_by_a_crash_is_completed(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    path.touch()
    with pytest.raises(errors.NotALedgerError):
        Ledger(path)
    assert Ledger.create(path).verify().events == 0


UNUSABLE = [float("nan"), float("inf"), -1, -1e-9, 86_401, 10**400, Decimal("NaN"), True, "1", None]


@pytest.mark.parametrize("timeout", UNUSABLE, ids=str)
def test_a_timeout_that_nobody_can_wait_for_is_refused_before_anything_is_charged(
    ledger: Ledger, timeout: Any
) -> None:
    for call in (Ledger, Ledger.create, accept_restore):
        with pytest.raises((TypeError, ValueError), match=r"^timeout must "):
            call(ledger.path, timeout=timeout)
    assert ledger.verify().events == 1


@pytest.mark.parametrize("timeout", [0, 0.5, 86_400, Fraction(1, 3), Decimal("0.5")], ids=str)
def test_any_number_of_seconds_up_to_a_day_can_be_waited_for(ledger: Ledger, timeout: Any) -> None:
    Ledger(ledger.path, timeout=timeout).reserve("patients", epsilon="0.1", **REPLACE)
    assert left(ledger) == "0.9"


@pytest.mark.parametrize("name", ["a b?mode=memory#%41.db", ":memory:", "é'\";--", "x" * 200])
def test_any_file_name_is_a_file_name(tmp_path: Path, name: str) -> None:
    Ledger.create(tmp_path / name).declare("patients", budget=1, **REPLACE)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_the_default_path_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPROO_LEDGER", "/mine.db")
    assert default_path() == Path("/mine.db")
    monkeypatch.delenv("DPROO_LEDGER")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert default_path() == Path("/data/dproo/ledger.sqlite3")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")  # to be ignored, says its standard
    assert default_path() == Path.home() / ".local/share/dproo/ledger.sqlite3"


def test_writes_are_synced_to_the_last_step(ledger: Ledger) -> None:
    def look(connection: Any) -> None:
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)

    ledger._write(look)


def test_a_missing_ledger_is_never_made_by_the_way(tmp_path: Path) -> None:
    path = tmp_path / "no.sqlite3"
    with pytest.raises(errors.MissingLedgerError) as refused:
        Ledger(path)
    assert str(refused.value) == (
        f"ledger must be a file that exists, got '{path}'. 'dproo ledger init' adds one."
    )
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"value,ledger\n1,2\n" * 100, b"SQLite format 3\0"])
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(errors.NotALedgerError) as refused:
        Ledger(path)
    assert str(refused.value) == f"the ledger {path} is not a ledger."
    assert path.read_bytes() == content


def test_another_database_is_no_ledger_not_even_to_create(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE patients (name)")
    before = path.read_bytes()
    for way in (Ledger, Ledger.create):
        with pytest.raises(errors.NotALedgerError, match=r"is not a ledger\.$"):
            way(path)
    assert path.read_bytes() == before


def test_a_link_or_a_folder_is_no_ledger(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(ledger.path)
    (tmp_path / "folder").mkdir()
    for name in ("link", "folder"):
        with pytest.raises(errors.NotALedgerError) as refused:
            Ledger(tmp_path / name)
        assert str(refused.value) == (
            f"ledger must be a plain file and not a link, got '{tmp_path / name}'."
        )
    os.link(ledger.path, tmp_path / "hard")  # two names would mean two journals
    with pytest.raises(errors.NotALedgerError, match="plain file and not a link"):
        ledger.show()


def test_a_newer_format_is_refused_by_name(ledger: Ledger) -> None:
    with closing(sqlite3.connect(ledger.path)) as connection:
        connection.execute("PRAGMA user_version = 6")
    with pytest.raises(errors.NewerFormatError) as refused:
        Ledger(ledger.path)
    assert str(refused.value) == (
        f"the ledger {ledger.path} must have format 5, got 6. A later version of dproo can read it."
    )


@pytest.mark.parametrize("version", [0, 1, 4])
def test_an_earlier_format_is_refused_with_the_remedy(ledger: Ledger, version: int) -> None:
    with closing(sqlite3.connect(ledger.path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(errors.UnusableLedgerError) as refused:
        Ledger(ledger.path)
    assert str(refused.value) == (
        f"the ledger {ledger.path} must have format 5, got {version}. A development version of "
        "dproo made it: 'dproo ledger show' of that version shows what is left of each budget. "
        "Declare that in a new ledger."
    )


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda data: data[:12288], "SQLite cannot read it."),
        (
            lambda data: data.replace(b"_stays", b"\xe6stays").replace(b"DELETE", b"delXte"),
            "SQLite cannot read it.",
        ),
        (
            lambda data: data.replace(b"never deleted", b"often deleted"),
            "tables or settings are not a ledger's.",
        ),
    ],
)
def test_a_corrupt_ledger_is_refused(ledger: Ledger, spoil: Any, sentence: str) -> None:
    ledger.path.write_bytes(spoil(ledger.path.read_bytes()))
    with pytest.raises(errors.CorruptLedgerError) as refused:
        ledger.show()
    assert str(refused.value).startswith(f"the ledger {ledger.path} is corrupt: ")
    assert str(refused.value).endswith(sentence)


def test_a_ledger_turned_to_write_ahead_logging_is_refused(ledger: Ledger) -> None:
    with closing(sqlite3.connect(ledger.path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    with pytest.raises(
        errors.CorruptLedgerError, match="its tables or settings are not a ledger's"
    ):
        ledger.show()


def test_a_path_that_cannot_exist_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "ledger", tmp_path / ("x" * 300), tmp_path / "a\0b"):
        for way in (Ledger, Ledger.create):
            with pytest.raises(errors.UnusableLedgerError, match=r"could not be opened: .*\.$"):
                way(path)


def test_a_locked_ledger_says_so_in_time_and_charges_nothing(ledger: Ledger) -> None:
    impatient = Ledger(ledger.path, timeout=0.01)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(errors.BusyLedgerError) as refused:
            impatient.reserve("patients", epsilon=1, **REPLACE)
    assert str(refused.value) == (
        f"the ledger {ledger.path} was held by other processes for too long; try again."
    )
    assert left(ledger) == "1"


def test_a_reader_in_the_way_of_a_commit_leaves_nothing_charged(ledger: Ledger) -> None:
    impatient = Ledger(ledger.path, timeout=0.01)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM event").fetchall()
        with pytest.raises(errors.BusyLedgerError):
            impatient.reserve("patients", epsilon=1, **REPLACE)
    assert left(ledger) == "1"
    ledger.verify()


def test_a_backup_while_the_ledger_is_charged_lets_no_other_process_in(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing a file ends SQLite's locks of it, whatever in the process has opened it."""
    charge = (
        "import sys; from dproo.ledger import Ledger; Ledger(sys.argv[1], timeout=0.01)"
        ".reserve('patients', epsilon='0.1', neighbours='replace')"
    )
    commit, others = sqlite._commit, []

    def backed_up(connection: sqlite3.Connection, path: Path) -> None:
        path.read_bytes()
        command = [sys.executable, "-c", charge, str(path)]
        others.append(subprocess.run(command, check=False, capture_output=True, text=True).stderr)
        commit(connection, path)

    monkeypatch.setattr(sqlite, "_commit", backed_up)
    ledger.reserve("patients", epsilon="0.1", **REPLACE)
    assert "BusyLedgerError" in others[0]
    monkeypatch.undo()
    assert ledger.verify().events == 2


@pytest.mark.parametrize(
    ("pragma", "error", "sentence"),
    [
        ("query_only = ON", errors.ReadOnlyLedgerError, "cannot be written: it is read-only."),
        (
            "max_page_count = 1",
            errors.FullDiskError,
            "cannot be written: no space is left on the disk.",
        ),
    ],
)
def test_a_ledger_that_cannot_be_written_charges_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, pragma: str, error: Any, sentence: str
) -> None:
    monkeypatch.setattr(sqlite, "_PRAGMAS", (*sqlite._PRAGMAS, pragma))
    opened = Ledger(ledger.path)
    with pytest.raises(error) as refused:
        opened.reserve("patients", epsilon=1, request={"a": "x" * 9999}, **REPLACE)
    assert str(refused.value) == f"the ledger {ledger.path} {sentence}"
    monkeypatch.undo()
    assert left(ledger) == "1"
    ledger.verify()


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (sqlite3.SQLITE_IOERR_FSYNC, "could not be read or written by the system."),
        (
            sqlite3.SQLITE_CANTOPEN,
            "could not be opened; check the permissions of the file and its folder.",
        ),
    ],
)
def test_a_failing_system_is_one_sentence(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, code: int, sentence: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = code
        raise error

    monkeypatch.setattr(sqlite, "_commit", fail)
    with pytest.raises(errors.UnusableLedgerError) as refused:
        ledger.reserve("patients", epsilon=1, **REPLACE)
    assert str(refused.value) == f"the ledger {ledger.path} {sentence}"
    monkeypatch.undo()
    assert left(ledger) == "1"


def renamed(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def replaced(path: Path) -> None:
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    copy.chmod(0o600)
    copy.replace(path)


def looped(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


USES: dict[str, Callable[[Ledger, Any], object]] = {
    "declare": lambda ledger, _: ledger.declare("others", budget=1, **REPLACE),
    "reserve": lambda ledger, _: ledger.reserve("patients", epsilon="0.1", **REPLACE),
    "record": lambda ledger, entry: ledger.record(entry, {"values": ["flu"]}),
    "show": lambda ledger, _: ledger.show(),
    "verify": lambda ledger, _: ledger.verify(),
    "budget": lambda ledger, _: ledger.budget("patients"),
    "create": lambda ledger, _: Ledger.create(ledger.path),
    "accept-restore": lambda ledger, _: accept_restore(ledger.path),
}


@pytest.mark.parametrize("lose", [Path.unlink, renamed, replaced, looped])
@pytest.mark.parametrize(
    "moment",
    [
        "GATE.acquire",
        "require_unmounted",
        "_require_format",
        "Memory",
        "_checked",
        "_commit",
        "closing",
    ],
)
@pytest.mark.parametrize("use", USES)
def test_a_file_that_goes_away_at_any_moment_is_a_ledger_error(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, use: str, moment: str, lose: Any
) -> None:
    """A write of which the file is gone afterwards is never said to have succeeded."""
    entry = ledger.reserve("patients", epsilon="0.1", **REPLACE)
    lost = []

    def wrapped(*given: Any, **named: Any) -> Any:
        result = original(*given, **named)
        if not lost:
            lost.append(lose(ledger.path))
        return result

    if moment == "GATE.acquire":
        original = sqlite.GATE.acquire
        gate = type("Gate", (), {"acquire": staticmethod(wrapped), "release": sqlite.GATE.release})
        monkeypatch.setattr(sqlite, "GATE", gate)
    else:
        original = getattr(sqlite, moment)
        monkeypatch.setattr(sqlite, moment, wrapped)
    failure = ""
    try:
        USES[use](ledger, entry)
    except errors.LedgerError as error:
        failure = str(error)
    except ValueError as error:  # accept-restore, which has nothing to do
        failure = str(error)
    assert "it is read-only" not in failure
    is_opened = lose is not replaced or moment not in {"GATE.acquire", "require_unmounted"}
    if lost and is_opened and use in {"declare", "reserve", "record"}:
        assert failure


def test_every_way_to_fail_is_a_ledger_error_with_its_reason() -> None:
    for _, kind in inspect.getmembers(errors, inspect.isclass):
        known = errors.LedgerError, errors.ReleaseError, errors.UnpreparedError
        assert issubclass(
            kind, (*known, errors.DamagedFileError, errors.OutputError, errors.Stopped)
        )
        assert kind.__doc__
