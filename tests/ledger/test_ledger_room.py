"""A nearly full disk: what is charged can be recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import full_disk
from support.draws import DICE, SOAK
from support.mounts import mounted

from dproo import errors
from dproo.ledger import Ledger
from dproo.ledger.ledger import ROOM
from dproo.ledger.stores import sqlite

REPLACE: dict[str, Any] = {"neighbours": "replace"}


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


def outcomes(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, receipt: dict[str, Any]) -> list[str]:
    """Return what becomes of a release for every number of pages that the disk has left."""
    found = []
    original = ledger.path.read_bytes()
    pragmas = sqlite._PRAGMAS
    for pages in range(len(original) // 4096, len(original) // 4096 + 60):
        monkeypatch.setenv("XDG_STATE_HOME", str(ledger.path.parent / f"state-{pages}"))
        ledger.path.write_bytes(original)
        monkeypatch.setattr(sqlite, "_PRAGMAS", (*pragmas, f"max_page_count = {pages}"))
        try:
            entry = ledger.reserve("patients", epsilon="0.1", **REPLACE)
        except errors.FullDiskError:
            found.append("refused")
            continue
        try:
            ledger.record(entry, receipt)
        except errors.FullDiskError:
            found.append("charged")
        else:
            found.append("recorded")
    return found


def test_a_disk_refuses_the_charge_or_takes_the_record_too(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = outcomes(ledger, monkeypatch, {"values": ["x" * (ROOM - 8192)]})
    assert set(found) == {"refused", "recorded"}


@pytest.mark.one_of(3)
def test_without_room_set_aside_a_charge_would_be_wasted(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite.SqliteSession, "_set_aside", lambda *_: None)
    found = outcomes(ledger, monkeypatch, {"values": ["x" * (ROOM - 8192)]})
    assert "charged" in found


def test_a_disk_with_hardly_any_space_is_refused_before_the_charge(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_FREE", 1 << 80)
    with pytest.raises(errors.FullDiskError, match="hardly any space is left on the disk"):
        ledger.reserve("patients", epsilon="0.1", **REPLACE)
    assert ledger.budget("patients").spent == 0


@pytest.mark.one_of(3)
@pytest.mark.parametrize("disks", [1, 2])
def test_a_real_disk_refuses_the_charge_or_takes_all_that_follows_it(
    tmp_path: Path, disks: int
) -> None:
    """The ledger and its witness share a disk, as they do by default, or have one each."""
    folders = [tmp_path / "ledger", tmp_path / "state"][:disks]
    for folder in folders:
        folder.mkdir(mode=0o700)
    cases = []
    for _ in range(60 if SOAK else 20):
        room, first = (DICE.choice([ROOM, DICE.randrange(ROOM, 3 << 20)]) for _ in range(2))
        request = DICE.choice([0, DICE.randrange(200_000)])
        # Around what is needed, and around what either part of it would need alone.
        least = (1 << 20) + DICE.choice([0, room, 2 * room, room + first]) + request
        free = DICE.randrange(max(0, least - (1 << 17)), least + (1 << 18))
        waiting = DICE.randrange(2)
        known = {"room": room, "first": first, "waiting": waiting, "request": request}
        cases.append(known | {"free": free})
    mount = 'mount -t tmpfs -o size=32m,mode=700 tmpfs "$1"'
    if disks > 1:
        mount += ' && mount -t tmpfs -o size=32m,mode=700 tmpfs "$2"'
    done = mounted(
        f'{mount} && exec \'{sys.executable}\' \'{full_disk.__file__}\' "$1" "$2" "$3"',
        folders[0],
        folders[-1],
        json.dumps(cases),
    )
    assert done.returncode == 0, done.stderr
    found = list(zip(json.loads(done.stdout), cases, strict=True))
    assert [pair for pair in found if pair[0].startswith("charged")] == []
    assert {what for what, _ in found} == {"refused", "recorded"}


LIMITED = """
import resource, sys
from dproo import errors
from dproo.ledger import Ledger

ledger = Ledger(sys.argv[1])
for limit in map(int, sys.argv[2:]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        entry = ledger.reserve("patients", epsilon="0.01", neighbours="replace")
    except (errors.FullDiskError, errors.UnusableWitnessError) as error:
        assert "whose size is limited (ulimit -f)" in str(error)
    else:
        ledger.record(entry, {"values": ["flu"]})
"""


def test_a_limit_of_file_sizes_refuses_the_charge_or_takes_its_record(ledger: Ledger) -> None:
    grown = ledger.path.stat().st_size + ROOM
    limits = [*range(grown, grown + 3 * 4096, 4096), 2 << 20]
    limits += [DICE.randrange(1 << 14, 2 << 20) for _ in range(20)]
    command = [sys.executable, "-c", LIMITED, str(ledger.path), *map(str, limits)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = ledger.show()[0].lines
    assert len(lines) > 0
    assert all(line.is_recorded for line in lines)


LONG_WITNESS = """
import resource, sys
from pathlib import Path
from dproo import errors
from dproo.ledger import Ledger

ledger = Ledger(sys.argv[1], witness=sys.argv[2])
ledger.declare("more", budget=1, neighbours="replace")
with Path(sys.argv[2]).open("a") as file:
    file.write(" " * (4 << 20) + "\\n")
resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, resource.RLIM_INFINITY))
try:
    ledger.reserve("patients", epsilon="0.01", neighbours="replace")
except errors.UnusableWitnessError as error:
    assert "whose size is limited (ulimit -f)" in str(error)
"""


def test_a_limit_of_file_sizes_that_a_witness_has_reached_refuses_the_charge(
    ledger: Ledger, tmp_path: Path
) -> None:
    witness = tmp_path / "witness"
    witness.touch()
    command = [sys.executable, "-c", LONG_WITNESS, str(ledger.path), str(witness)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert ledger.show()[0].lines == ()


@pytest.mark.parametrize(
    "room", [-1, (1 << 24) + 1, 1_200_000_000, 1 << 63, 1.5, float("nan"), True, "1"]
)
def test_room_is_a_number_of_bytes(ledger: Ledger, room: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="room must be"):
        ledger.reserve("patients", epsilon="0.1", **REPLACE, room=room)
    assert ledger.budget("patients").spent == 0


def test_charges_that_never_end_keep_little_room(ledger: Ledger) -> None:
    ledger.declare("many", budget=100, **REPLACE)
    for _ in range(40):
        ledger.reserve("many", epsilon="0.1", **REPLACE)
    assert ledger.path.stat().st_size < 17 * (ROOM + 8192) + 100_000
