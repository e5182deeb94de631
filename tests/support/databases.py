"""What the tests of databases share."""

from __future__ import annotations

import getpass
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dproo import counting


class Watch:
    """A process that runs a command once this one lets go of it, or ends in any way at all."""

    def __init__(self, command: list[str]) -> None:
        waits = ["/bin/sh", "-c", 'read -r _; exec "$@"', "watch", *command]
        self._process = subprocess.Popen(
            waits,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # an interrupt of this process is not one of the watch
            cwd="/",
        )

    def let_go(self) -> None:
        """Have the command run, and wait for its end."""
        self._process.communicate()


class Server:
    """A private cluster of PostgreSQL in a folder of its own, reached by a local socket."""

    folder: Path
    data: str
    url: str
    _watch: Watch

    def __init__(self) -> None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        initdb = str(found[-1]) if found else shutil.which("initdb")
        if initdb is None:
            pytest.skip("PostgreSQL is not installed (Debian package postgresql).")
        self.programs = Path(initdb).parent
        self.as_owner: list[str] = []
        if os.geteuid() == 0:  # the server refuses to run as root
            self.as_owner = ["runuser", "-u", "postgres", "--"]
        self._settle()
        options = ["-U", "dproo", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        self._run("initdb", "-D", self.data, *options)
        self.start()
        self._watch = self._watched()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = f"-k {self.folder} -c listen_addresses= -c fsync=off"
        log = str(self.folder / "server.log")
        self._run("pg_ctl", "-D", self.data, "-w", "-l", log, "-o", settings, "start")

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._run("pg_ctl", "-D", self.data, "-w", "-m", "immediate", "stop")

    def remove(self) -> None:
        self._watch.let_go()

    def _watched(self) -> Watch:
        """Return what stops the server and removes its folder, also where a run is killed."""
        end = '"$1" -D "$2" -w -m immediate stop; rm -rf "$3" "$4"'
        paths = [str(self.programs / "pg_ctl"), self.data, str(self.folder), str(self._log)]
        if self.as_owner:
            end = f"{shlex.join(self.as_owner)} {end}"
        return Watch(["/bin/sh", "-c", end, "end", *paths])

    def copy(self) -> Server:
        """Return a standby that follows this server as a stream, in a folder of its own."""
        other = Server.__new__(Server)
        other.programs, other.as_owner = self.programs, self.as_owner
        other._settle()
        where = ["-h", str(self.folder), "-U", "dproo"]
        self._run("pg_basebackup", "-D", other.data, *where, "-R", "-c", "fast", "--no-sync")
        other.start()
        other._watch = other._watched()
        return other

    def promote(self) -> None:
        """Make a standby the server that can be written."""
        self._run("pg_ctl", "-D", self.data, "-w", "promote")

    def _settle(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="dproo-pg-"))
        if self.as_owner:
            shutil.chown(self.folder, "postgres")
        self.data = str(self.folder / "data")
        self.url = f"postgresql:///postgres?host={self.folder}&user=dproo"

    @property
    def _log(self) -> Path:
        return self.folder.parent / f"{self.folder.name}.log"

    def _run(self, tool: str, *arguments: str) -> None:
        command = [*self.as_owner, str(self.programs / tool), *arguments]
        with self._log.open("ab") as log:
            subprocess.run(command, check=True, stdout=log, stderr=log, cwd="/")


class MariaDB:
    """A private server of MariaDB in a folder of its own, reached by a local socket."""

    def __init__(self) -> None:
        install, server = shutil.which("mariadb-install-db"), shutil.which("mariadbd")
        if install is None or server is None:
            pytest.skip("MariaDB is not installed (Debian package mariadb-server-core).")
        self.folder = Path(tempfile.mkdtemp(prefix="dproo-mariadb-"))
        user = getpass.getuser()
        socket, data = self.folder / "socket", self.folder / "data"
        common = ["--no-defaults", f"--datadir={data}", f"--user={user}"]
        common.append("--innodb-use-native-aio=0")  # of which a busy machine may have none left
        with (self.folder / "log").open("wb") as log:
            made = [install, *common, "--skip-test-db"]
            for is_last in (False, True):
                done = subprocess.run(made, check=is_last, stdout=log, stderr=log)
                if done.returncode == 0:
                    break
                shutil.rmtree(data, ignore_errors=True)
            started = [server, *common, "--skip-networking", f"--socket={socket}"]
            started += ["--character-set-server=utf8mb4", "--skip-grant-tables"]
            started.append("--max-connections=999")  # engines are collected late in tests
            small = ["--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M"]
            self.process = subprocess.Popen([*started, *small], stdout=log, stderr=log)
        end = f'kill -9 {self.process.pid}; rm -rf "$1"'
        self._watch = Watch(["/bin/sh", "-c", end, "end", str(self.folder)])
        while not socket.exists():
            assert self.process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.01)
        self.url = f"mysql+pymysql://root@localhost/?unix_socket={socket}"

    def remove(self) -> None:
        self._watch.let_go()
        self.process.wait()


class Held:
    """A view, ``ward.held``, that can be checked at once, and counted when it is let go."""

    def __init__(self, server: Any) -> None:
        self.server = server
        wait = "pg_advisory_xact_lock_shared(17)"
        columns = "code, 'north'::text AS place"
        server.execute(f"CREATE VIEW held AS SELECT {columns} FROM visits, {wait}")
        server.execute("SELECT pg_advisory_lock(17)")

    def await_count(self, is_over: Callable[[], bool]) -> None:
        """Return once somebody counts, or something is over that should have begun to."""
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while self.server.execute(waiting).fetchone() == (0,) and not is_over():
            time.sleep(0.01)

    def let_go(self) -> None:
        """Let whoever waits count."""
        self.server.execute("SELECT pg_advisory_unlock_all()")


def counted(data: Any, table: Any = "ward.visits", column: str = "code") -> list[int]:
    return list(counting.count(data, alphabet=["a", "b"], column=column, table=table))


def role_of(url: str, name: str, **settings: str) -> str:
    options = "%20".join(f"-c%20{key}%3D{value}" for key, value in settings.items())
    return url.replace("user=dproo", f"user={name}") + (f"&options={options}" if options else "")
