"""Where a ledger may be: nobody else can write there, and it is not mounted by itself."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

import pytest
from support.mounts import mounted

from dproo import errors
from dproo.ledger import Ledger, location
from dproo.releases.charge import Charge

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away.")
SOMEBODY = 65533


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


def refused(path: Path) -> str:
    with pytest.raises(errors.UnsafePlaceError) as found:
        Ledger(path)
    return str(found.value)


@pytest.mark.parametrize("mode", [0o602, 0o622, 0o666])
def test_a_file_that_others_may_write_is_refused(ledger: Ledger, mode: int) -> None:
    ledger.path.chmod(mode)
    assert refused(ledger.path) == (
        f"the ledger {ledger.path} can be changed by others. "
        "Remove their write access (chmod go-w, chown), or keep the ledger elsewhere."
    )
    ledger.path.chmod(0o644)
    Ledger(ledger.path)


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o703, 0o1702])
def test_a_folder_that_others_may_write_is_refused_sticky_or_not(ledger: Ledger, mode: int) -> None:
    """In a sticky folder others cannot remove the ledger, but add a journal to it."""
    ledger.path.parent.chmod(mode)
    assert refused(ledger.path) == (
        f"the folder {ledger.path.parent} can be changed by others, who could replace the ledger. "
        "Remove their write access (chmod go-w, chown), or keep the ledger elsewhere."
    )
    with pytest.raises(errors.UnsafePlaceError):
        Ledger.create(ledger.path.with_name("new.sqlite3"))
    assert not ledger.path.with_name("new.sqlite3").exists()
    ledger.path.parent.chmod(0o755)
    Ledger(ledger.path)


def test_a_folder_above_may_be_sticky_but_not_open_to_others(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "above" / "mine" / "ledger.sqlite3")
    above = tmp_path / "above"
    above.chmod(0o1777)
    Ledger(ledger.path)
    above.chmod(0o777)
    assert f"the folder {above} can be" in refused(ledger.path)


def test_the_folder_that_a_link_leads_to_counts_like_its_own(
    ledger: Ledger, tmp_path: Path
) -> None:
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    ledger.path.rename(real / "ledger.sqlite3")
    (tmp_path / "link").symlink_to(real)
    Ledger(tmp_path / "link" / "ledger.sqlite3")
    real.chmod(0o777)
    assert "can be changed by others" in refused(tmp_path / "link" / "ledger.sqlite3")


@AS_ROOT
def test_what_belongs_to_somebody_else_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    os.chown(ledger.path, SOMEBODY, -1)
    assert f"the ledger {ledger.path} can be" in refused(ledger.path)
    os.chown(ledger.path, 0, -1)
    os.chown(tmp_path, SOMEBODY, -1)
    assert f"the folder {tmp_path} can be" in refused(ledger.path)
    os.chown(tmp_path, 0, -1)
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    ledger.path.rename(tmp_path / "real" / "ledger.sqlite3")
    os.chown(tmp_path / "link", SOMEBODY, -1, follow_symlinks=False)
    assert f"the folder {tmp_path / 'link'} can be" in refused(tmp_path / "link/ledger.sqlite3")


@AS_ROOT
def test_a_group_may_write_only_where_it_is_the_owners_own(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.path.chmod(0o660)
    monkeypatch.setattr(location, "_is_alone", lambda user, group: (user, group) == (0, 0))
    Ledger(ledger.path)
    os.chown(ledger.path, 0, SOMEBODY)
    assert "can be changed by others" in refused(ledger.path)


def test_a_private_group_has_its_owners_name_and_no_other_member() -> None:
    assert not location._is_alone(0, SOMEBODY)
    assert not location._is_alone(SOMEBODY, 0)


def test_a_list_of_rights_counts_even_if_the_group_is_the_owners_own(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(location, "_is_alone", lambda *_: True)
    entries = [(0x01, 6, -1), (0x02, 6, SOMEBODY), (0x04, 0, -1), (0x10, 6, -1), (0x20, 0, -1)]
    content = struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", tag, rights, who & 0xFFFFFFFF) for tag, rights, who in entries
    )
    try:
        os.setxattr(ledger.path, "system.posix_acl_access", content)
    except (OSError, AttributeError):
        pytest.skip("The file system keeps no lists of rights.")
    assert ledger.path.stat().st_mode & 0o777 == 0o660
    assert "can be changed by others" in refused(ledger.path)


def test_a_ledger_that_is_mounted_by_itself_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    """As a container does with `-v ledger.sqlite3:/ledger.sqlite3`."""
    (tmp_path / "inside").mkdir(mode=0o700)
    target = tmp_path / "inside" / "ledger.sqlite3"
    target.touch(mode=0o600)
    code = "import sys; from dproo.ledger import Ledger; Ledger(sys.argv[1]).show()"
    script = f'mount --bind "$1" "$2" && \'{sys.executable}\' -c \'{code}\' "$2"'
    done = mounted(script, ledger.path, target)
    assert done.stderr.strip().endswith(
        f"UnsafePlaceError: the ledger {target} is mounted as a single file, and a crash would "
        "lose the journal that SQLite keeps beside it. Mount its folder instead."
    )


def test_a_ledger_whose_folder_is_mounted_works(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir(mode=0o700)
    code = "import sys; from dproo.ledger import Ledger; print(Ledger(sys.argv[1]).show()[0].left)"
    done = mounted(
        f'mount --bind "$1" "$2" && \'{sys.executable}\' -c \'{code}\' "$2/ledger.sqlite3"',
        ledger.path.parent,
        tmp_path / "inside",
    )
    assert (done.returncode, done.stdout) == (0, "1000000000\n"), done.stderr


@pytest.mark.parametrize("ledger", ["ledger.sqlite3", Path("x/ledger.sqlite3")])
def test_a_relative_ledger_in_a_folder_that_is_gone_is_refused(
    ledger: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for call in (Ledger, Ledger.create, lambda place: Charge(ledger=place, dataset="a")):
        with pytest.raises(ValueError, match="ledger must be in a folder that exists, got "):
            call(ledger)
