"""A real cluster of Spark: one master, two workers, one of them killed in the middle of a scan."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest
from support.draws import SOAK
from support.spark_driver import LETTERS

from dproo.ledger import Ledger

pytestmark = [
    pytest.mark.untraced,
    pytest.mark.skipif(not SOAK, reason="a cluster takes a minute; set DPROO_SOAK=1"),
]

ROWS, FILES = 20_000, 40
PATIENCE = 300


class Cluster:
    """The processes of a cluster, each the head of a group of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.heads: list[subprocess.Popen[bytes]] = []

    def start(self, role: str, *arguments: str) -> tuple[int, Path]:
        """Start a master or a worker; return its group and where it writes its log."""
        import pyspark  # noqa: PLC0415 - slow, and not for every worker

        home = Path(pyspark.__file__).parent
        log = self.folder / f"{role}-{len(self.heads)}.log"
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{role}"]
        command += ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0", *arguments]
        known = {"SPARK_HOME": str(home), "SPARK_LOCAL_DIRS": str(self.folder)}
        known |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}
        with log.open("wb") as output:
            child = subprocess.Popen(
                command,
                env=os.environ | known,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.heads.append(child)
        return child.pid, log

    def wait(self, log: Path, pattern: str) -> str:
        """Return what a log says of this, once it does."""
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, text := log.read_text())):
            assert time.monotonic() < deadline, text[-2000:]
            time.sleep(0.1)
        return found[0]

    def stop(self) -> None:
        for head in self.heads:
            with suppress(ProcessLookupError):  # one of them was killed by the test
                os.killpg(head.pid, signal.SIGKILL)
            head.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    if shutil.which("java") is None:
        pytest.skip("Java is not installed (Debian package default-jre-headless).")
    running = Cluster(tmp_path)
    yield running
    running.stop()


def test_a_worker_killed_in_the_middle_of_a_scan_changes_no_count(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Tasks are repeated, some of them on purpose; every record counts once, and costs once."""
    folder = tmp_path / "visits"
    folder.mkdir()
    for i in range(FILES):
        duckdb.sql(
            f"SELECT 'letter' || (i * i % 12) AS code FROM range({i}, {ROWS}, {FILES}) AS rows(i)"
        ).write_parquet(str(folder / f"{i}.parquet"))
    expected = [sum(i * i % 12 == letter for i in range(ROWS)) for letter in range(12)]
    expected = [*expected[:10], sum(expected[10:])]
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("visits", budget="1", neighbours="replace")

    _, log = cluster.start("master.Master")
    master = cluster.wait(log, r"spark://127\.0\.0\.1:[0-9]+")
    size = "--cores", "1", "--memory", "2g", "--work-dir", str(tmp_path / "work")
    doomed, first = cluster.start("worker.Worker", *size, master)
    _, second = cluster.start("worker.Worker", *size, master)
    for log in (first, second):
        cluster.wait(log, "Successfully registered with master")

    driver = [sys.executable, str(Path(__file__).parents[1] / "support" / "spark_driver.py")]
    arguments = [master, str(folder), str(ledger.path), str(doomed)]
    result = subprocess.run(
        driver + arguments, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert result.returncode == 0, result.stderr[-2000:]
    found = json.loads(result.stdout.splitlines()[-1])
    assert found["counts"] == expected
    assert found["receipt"]["n"] == ROWS
    assert 0 < found["done"] < found["tasks"], "the worker was not killed in the middle"
    assert found["executors"] == 1
    assert ledger.show()[0].spent == 400_000_000

    letters = tmp_path / "letters.txt"
    letters.write_text("\n".join(LETTERS))
    command = [str(Path(sys.executable).parent / "dproo"), "sample", str(folder), "--json"]
    command += ["--engine", "spark", "--master", master, "--column", "code", "--epsilon", "0.4"]
    command += ["--alphabet", str(letters), "--ledger", str(ledger.path), "--dataset", "visits"]
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE, cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr[-2000:]
    assert json.loads(result.stdout)["n"] == ROWS
    assert ledger.verify().accounts[0].spent == 800_000_000
