"""Every edit of a ledger file is found: of its rows, its tables, and its bytes."""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from support.draws import DICE, SOAK
from support.edits import events, randomly

from dproo.cli.commands import run
from dproo.core.checks import refusal
from dproo.ledger import CorruptLedgerError, Ledger, LedgerError
from dproo.ledger.account import Replay
from dproo.ledger.events import NO_EVENT, Event
from dproo.ledger.stores import sqlite

PARTS = 4
EDITS = (10_000 if SOAK else 300) // PARTS
TRIGGERS = ("event_is_next", "event_is_final", "event_stays")

Edit = Callable[[sqlite3.Connection], None]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    ledger = Ledger.create(tmp_path_factory.mktemp("original") / "ledger.sqlite3")
    ledger.declare("patients", budget="2", neighbours="replace")
    ledger.declare("visits", budget="1/3", neighbours="add-remove", records_per_person=4)
    for epsilon in ("0.5", "1/3", "0.25"):
        entry = ledger.reserve(
            "patients", epsilon=epsilon, neighbours="replace", request={"k": 9, "size": 1}
        )
        ledger.record(entry, {"values": ["flu"], "worst_alpha": 0.25})
    ledger.reserve("visits", epsilon="0.1", neighbours="add-remove", records_per_person=4)
    ledger.verify()
    return ledger.path.read_bytes()


@pytest.fixture(autouse=True)
def _nothing_is_remembered(
    original: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Show what the file says by itself: no witness of the original is there."""
    del original
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "edited.sqlite3"


def write(path: Path, data: bytes) -> None:
    path.touch()
    with path.open("r+b") as file:  # in place: some file systems sync a file that is replaced
        file.write(data)
        file.truncate()


def is_found(path: Path, data: bytes, **expected: str) -> bool:
    write(path, data)
    try:
        Ledger(path, timeout=0).verify(**expected)
    except LedgerError:
        return True
    return False


def is_found_or_harmless(path: Path, data: bytes, original: bytes) -> bool:
    """Return whether an edit of bytes is found, or hits bytes that SQLite never looks at.

    Such bytes change no event and no sum, and the next charge is made and verified as ever.
    """
    if is_found(path, data):
        return True
    edited = Ledger(path, timeout=0)
    left = edited.budget("patients").left
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as elsewhere:
        patch.setenv("XDG_STATE_HOME", elsewhere)
        try:
            edited.reserve("patients", epsilon="0.01", neighbours="replace")
        except LedgerError:
            return True  # found at the latest here
        assert edited.verify().events == 10
        found = rows(path.read_bytes())[:-1]
    return (found, left) == (rows(original), 2 * 10**9 - 1_083_333_334)


def edited_bytes(original: bytes) -> bytes:
    data = bytearray(original)
    start = DICE.randrange(len(data))
    end = start + DICE.choice([1, 1, 2, 4, 32, 600])
    match DICE.randrange(8):
        case 0 | 1:
            data[start] ^= 1 << DICE.randrange(8)
        case 2 | 3:
            data[start:end] = DICE.randbytes(len(data[start:end]))
        case 4:
            data[DICE.randrange(100)] = DICE.randrange(256)
        case 5:
            page = 4096 * DICE.randrange(len(data) // 4096)
            other = 4096 * DICE.randrange(len(data) // 4096)
            data[page : page + 4096] = original[other : other + 4096]
        case 6:
            del data[start:]
        case 7:
            data += DICE.randbytes(end - start)
    return bytes(data)


def edited_rows(original: bytes, path: Path, edit: Edit, *, rehash: bool = False) -> bytes:
    """Edit by SQL, as someone who knows the triggers, perhaps the chain."""
    write(path, original)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("BEGIN")
        for name in TRIGGERS:
            connection.execute(f"DROP TRIGGER {name}")
        edit(connection)
        previous = NO_EVENT
        for event in events(connection) if rehash else []:
            previous = event.link(previous)
            connection.execute("UPDATE event SET hash = ? WHERE seq = ?", (previous, event.seq))
        for trigger in sqlite.SCHEMA[3:]:
            connection.execute(trigger)
        connection.execute("COMMIT")
    return path.read_bytes()


def by(*statements: str) -> Edit:
    def edit(connection: sqlite3.Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    return edit


@pytest.mark.one_of(3)
@pytest.mark.untraced
@pytest.mark.parametrize("part", range(PARTS))
def test_random_edits_are_all_found(original: bytes, path: Path, part: int) -> None:
    for i in range(EDITS):
        if i % 2:
            data = edited_bytes(original)
            assert is_found_or_harmless(path, data, original), f"missed in part {part}"
        else:
            data = original
            while rows(data) == rows(original):
                with suppress(sqlite3.IntegrityError):
                    data = edited_rows(original, path, randomly)
            assert is_found(path, data), f"missed in part {part}"
            with suppress(LedgerError):
                assert all(account.problem for account in Ledger(path).show())
        if i % 50 == 0:  # what finds everything must not find fault with the original
            assert not is_found(path, original)


def rows(data: bytes) -> list[Event]:
    """Return the events in the bytes of a file."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(data)
        return events(connection)


@pytest.mark.skipif(not SOAK, reason="every byte takes minutes; set DPROO_SOAK=1")
def test_an_edit_of_any_single_byte_is_found_or_harmless(original: bytes, path: Path) -> None:
    for i in range(len(original)):
        data = bytearray(original)
        data[i] ^= DICE.randint(1, 255)
        assert is_found_or_harmless(path, bytes(data), original), f"byte {i}"


def test_without_the_chain_edits_of_rows_are_missed(
    original: bytes, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Event, "link", lambda self, _: self.hash)
    for _ in range(300):
        with suppress(sqlite3.IntegrityError):
            if not is_found(path, edited_rows(original, path, randomly)):
                return
    pytest.fail("every edit was found without the chain")


def test_without_the_rules_edits_of_a_chain_written_anew_are_missed(
    original: bytes, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = edited_rows(
        original, path, by("UPDATE event SET nano = 1 WHERE kind = 'reserved'"), rehash=True
    )
    assert is_found(path, data)
    monkeypatch.setattr(Replay, "_apply", lambda *_: None)
    assert not is_found(path, data)


def test_an_edited_ledger_is_shown_with_a_mark_and_charged_no_more(
    original: bytes, path: Path
) -> None:
    edit = by("UPDATE event SET body = replace(body, '1/2', '1/4') WHERE seq = 3")
    edited_rows(original, path, edit)
    ledger = Ledger(path)
    lines = ledger.show()[0].lines
    assert [line.problem for line in lines] == ["the chain of hashes breaks", None, None]
    assert ledger.show()[0].spent == Ledger(path).show()[0].spent > 0
    for call in (ledger.head, ledger.verify, lambda: ledger.budget("patients")):
        with pytest.raises(CorruptLedgerError, match="hashes breaks at event 3"):
            call()
    with pytest.raises(CorruptLedgerError, match="hashes breaks at event 3"):
        ledger.reserve("patients", epsilon="0.01", neighbours="replace")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET nano = 1 WHERE kind = 'reserved'",
        "UPDATE event SET nano = 10 * nano WHERE kind = 'declared'",
        "UPDATE event SET nano = 7 WHERE kind = 'recorded'",
        "UPDATE event SET entry = 1 WHERE seq = 4",
        "UPDATE event SET entry = 2 WHERE seq = 6",
        "UPDATE event SET entry = 1 WHERE seq = 3",
        "UPDATE event SET kind = 'refunded' WHERE seq = 3",
        "UPDATE event SET kind = 'reserved' WHERE seq = 4",
        "UPDATE event SET dataset = 'visits' WHERE seq = 3",
        "UPDATE event SET dataset = 'unheard' WHERE seq = 3",
        "UPDATE event SET dataset = 'patients' WHERE seq = 2",
        "UPDATE event SET atto = 1 WHERE kind = 'reserved'",
        "UPDATE event SET at = '2000-01-01T00:00:00+00:00' WHERE seq = 9",
        "UPDATE event SET id = (SELECT id FROM event WHERE seq = 1) WHERE seq = 3",
        "UPDATE event SET body = '[]' WHERE seq = 3",
        "UPDATE event SET body = '{' WHERE seq = 3",
        "UPDATE event SET body = '{}' WHERE seq = 3",
        "UPDATE event SET body = replace(body, '1/2', '1/4') WHERE seq = 3",
        "UPDATE event SET body = replace(body, '1/2', '0') WHERE seq = 3",
        (
            "INSERT INTO event SELECT 10, kind, dataset, 0, nano, atto, at, role, 'new', body, hash"
            " FROM event WHERE seq = 1"
        ),
        (
            "INSERT INTO event SELECT 10, kind, dataset, 0, 10 * nano, atto, at, role, 'new',"
            " replace(body, '1/4', '5/2'), hash FROM event WHERE seq = 7"
        ),
    ],
)
def test_events_that_break_the_rules_are_found_even_in_a_new_chain(
    original: bytes, path: Path, statement: str
) -> None:
    edited_rows(original, path, by(statement), rehash=True)
    with pytest.raises(CorruptLedgerError, match=r"event \d+ breaks the rules|belongs to no bud"):
        Ledger(path).verify()
    assert all(account.problem for account in Ledger(path).show())  # it goes on


def test_a_charge_that_was_deleted_is_not_listed_and_not_passed_over(
    original: bytes, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited_rows(original, path, by("DELETE FROM event WHERE seq IN (3, 4)"))
    for command in (["show"], ["report", "--out", str(path.with_suffix(".csv"))]):
        assert run(["ledger", *command, "--ledger", str(path)]) == 0
        assert capsys.readouterr().err == (
            "Warning: the chain of hashes breaks at event 3. Charges may be missing. See 'dproo"
            " ledger verify'.\n"
        )


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM event WHERE kind = 'declared'",
        "UPDATE event SET body = '{}' WHERE kind = 'declared'",
        "UPDATE event SET kind = 'reserved' WHERE kind = 'declared'",
    ],
)
def test_charges_without_any_budget_are_not_passed_over(
    original: bytes, path: Path, statement: str, capsys: pytest.CaptureFixture[str]
) -> None:
    edited_rows(original, path, by(statement))
    for command in (["show"], ["report", "--out", str(path.with_suffix(".csv"))]):
        assert run(["ledger", *command, "--ledger", str(path)]) == 2
        assert "is corrupt: the chain of hashes breaks at event 1." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("statement", "place", "rehash"),
    [
        ("UPDATE event SET body = replace(body, 'flu', 'flo') WHERE seq = 4", 4, False),
        ("DELETE FROM event WHERE seq = 3", 3, False),
        ("DELETE FROM event WHERE seq = 3", 3, True),
        ("UPDATE event SET seq = 12 WHERE seq = 9", 9, True),
        ("UPDATE event SET nano = x'00' WHERE seq = 5", 5, False),
    ],
)
def test_the_place_where_the_chain_breaks_is_named(
    original: bytes, path: Path, statement: str, place: int, *, rehash: bool
) -> None:
    edited_rows(original, path, by(statement), rehash=rehash)
    with pytest.raises(CorruptLedgerError, match=f"chain of hashes breaks at event {place}"):
        Ledger(path).verify()


def test_every_field_of_an_event_and_the_one_before_it_are_in_its_hash(
    original: bytes, path: Path
) -> None:
    write(path, original)
    with Ledger(path)._reading() as session:
        event = session.event(4)
    others = {"seq": 9, "kind": "", "dataset": "", "entry": 9, "nano": 9, "atto": 9, "at": "x"}
    others |= {"role": "x", "id": "x", "body": ""}
    links = {event._replace(**{name: other}).link(NO_EVENT) for name, other in others.items()}
    assert len(links | {event.link(NO_EVENT), event.hash}) == len(others) + 2


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE more (a)",
        "CREATE INDEX more ON event (nano)",
        "CREATE VIEW more AS SELECT * FROM event",
        "ALTER TABLE event ADD COLUMN more",
        "PRAGMA user_version = 2",
        "PRAGMA application_id = 0",
        "CREATE TRIGGER more AFTER INSERT ON event BEGIN SELECT 1; END",
    ],
)
def test_other_tables_and_rows_are_found(original: bytes, path: Path, statement: str) -> None:
    assert is_found(path, edited_rows(original, path, by(statement)))


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_dropped_triggers_are_found(original: bytes, path: Path, trigger: str) -> None:
    write(path, original)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute("COMMIT")
    with pytest.raises(CorruptLedgerError, match="tables or settings are not a ledger's"):
        Ledger(path)


def test_an_editor_who_changes_nothing_is_not_found(original: bytes, path: Path) -> None:
    assert not is_found(path, edited_rows(original, path, by()))  # else the tests above say nothing


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET nano = 1",
        "DELETE FROM event",
        "INSERT OR REPLACE INTO event SELECT * FROM event WHERE seq = 1",
        (
            "INSERT INTO event SELECT 99, kind, dataset, entry, nano, atto, at, role, id, body,"
            " hash FROM event"
        ),
    ],
)
def test_events_are_append_only(original: bytes, statement: str) -> None:
    with sqlite3.connect(":memory:", isolation_level=None) as connection:
        connection.deserialize(original)
        with pytest.raises(sqlite3.IntegrityError, match="events are"):
            connection.execute(statement)


def test_a_head_kept_elsewhere_finds_what_the_file_alone_cannot(
    original: bytes, path: Path
) -> None:
    assert not is_found(path, original)
    head = Ledger(path).head()
    for forged in (
        edited_rows(original, path, by("DELETE FROM event WHERE seq = 9")),
        edited_rows(
            original, path, by("UPDATE event SET body = replace(body, 'flu', 'flo')"), rehash=True
        ),
    ):
        assert not is_found(path, forged)  # a perfect forgery: honest about the limit
        assert is_found(path, forged, expect_head=head)
    assert not is_found(path, original, expect_head=head)


@pytest.mark.parametrize(
    "wrong", ["", "null", "ABC", "a" * 63, "A" * 64, f" {'a' * 64} ", "a" * 65]
)
def test_a_head_that_is_not_a_hash_is_refused_and_no_ledger_called_corrupt(
    original: bytes, path: Path, wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(path, original)
    sentence = refusal("head", "be 64 lower-case hexadecimal digits", wrong)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        Ledger(path).verify(expect_head=wrong)
    assert run(["ledger", "verify", "--head", wrong, "--ledger", str(path)]) == 2
    assert capsys.readouterr().err == f"Error: {sentence}\n"


def test_the_head_of_any_earlier_receipt_is_expected_in_the_chain(
    original: bytes, path: Path
) -> None:
    assert not is_found(path, original)
    ledger = Ledger(path)
    for event in ledger.export():
        assert ledger.verify(expect_head=event["hash"]).events == 9
    with pytest.raises(CorruptLedgerError, match=r"lacks the event of the expected head\."):
        ledger.verify(expect_head="f" * 64)
