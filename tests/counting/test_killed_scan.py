"""A release killed in the middle of its scan leaves its charge and not a word of the data."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.draws import DICE, SOAK

from dproo.ledger import Ledger

pytestmark = pytest.mark.untraced

CANARY = "canary-c41d"
ROWS, KILLS = 2_000_000, 12 if SOAK else 4


@pytest.mark.one_of(3)
def test_a_scan_killed_midway_stays_charged_and_leaves_no_cell_behind(tmp_path):
    data, letters = tmp_path / "data.csv", tmp_path / "letters.txt"
    data.write_text("i,c\n" + f"1,{CANARY}\n2,a\n" * (ROWS // 2))
    letters.write_text("a\nb\n")
    left = tmp_path / "left"
    left.mkdir()
    book = Ledger.create(left / "ledger.sqlite3")
    book.declare("data", budget="1000", neighbours="replace")
    command = [str(Path(sys.executable).parent / "dproo"), "sample", str(data), "--column", "c"]
    command += ["--alphabet", str(letters), "--epsilon", "1", "--ledger", str(book.path)]
    known = {"TMPDIR": str(left), "XDG_CONFIG_HOME": str(left), "HOME": str(left)}
    output, charged = b"", 0
    while charged < KILLS or all(line.is_recorded for line in book.show()[0].lines):
        child = subprocess.Popen(
            [*command, "--dataset", "data"],
            cwd=left,
            env=os.environ | known,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        while child.poll() is None and len(book.show()[0].lines) == charged:
            time.sleep(0.005)
        time.sleep(DICE.uniform(0, 0.15))  # the charge is made: the scan has begun
        child.send_signal(signal.SIGKILL)
        output += child.communicate()[0]
        charged += 1
        assert len(book.verify().accounts[0].lines) == charged
    assert CANARY.encode() not in output
    files = [path for path in left.rglob("*") if path.is_file()]
    assert book.path in files
    assert not [path for path in files if CANARY.encode() in path.read_bytes()]
