"""The door, over the socket: links work once, and whoever hangs locks nobody out."""

import asyncio
import contextlib
import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import uvicorn
from support.commands import Started
from support.serving import COMMAND, ORDER, PATIENCE, admissions, request, served, token_of

from dproo.web import gate
from dproo.web import server as web_server
from dproo.web.gate import Door
from dproo.web.server import MOST_WAITING, Connection

pytestmark = pytest.mark.one_of(4)

SPENT = "This link was used before, or is no longer valid."


@pytest.fixture
def page(admissions_page):
    return admissions_page


def test_a_link_works_once(page):
    link = page.link()
    first, second = page.open(link), page.open(link)
    assert (first.status, second.status) == (200, 403)
    assert SPENT in second.body.decode()
    assert "data-key" not in second.body.decode()


def test_a_new_link_voids_the_last_one(page):
    first, second = page.link(), page.link()
    assert page.open(page.url).status == 403
    assert page.open(first).status == 403
    assert page.open(second).status == 200


def test_a_wrong_token_does_not_use_the_link_up(page):
    link = page.link()
    assert page.open(link + "x").status == 403
    assert page.open(f"{link}&token={token_of(link)}").status == 403
    assert page.open(link).status == 200


def test_a_link_grows_old(monkeypatch):
    old = Door("http://127.0.0.1:1")
    token = token_of(old.link())
    now = gate.time.monotonic()
    monkeypatch.setattr(gate.time, "monotonic", lambda: now + gate.LINK_SECONDS + 1)
    assert old.open(token) is None


def test_a_token_is_no_key_and_a_key_no_token(page):
    token = token_of(page.link())
    headers = {**page.headers, "Dproo-Key": token}
    assert page.send(request("GET", "/api/ledger", headers)).status == 403
    assert page.open(f"#{page.key}").status == 403


def test_every_link_opens_with_a_key_of_its_own(page):
    bodies = {page.open(page.link()).body for _ in range(3)}
    assert len(bodies) == 3


WRONG = {
    "a page on another port": {"Origin": "null", "Sec_Fetch_Site": "same-site"},
    "the origin of another port": {"Origin": "http://127.0.0.1:1"},
    "another site": {"Origin": "http://evil.example"},
    "a frame": {"Sec_Fetch_Dest": "iframe"},
    "a script": {"Sec_Fetch_Dest": "empty"},
    "a rebound name": {"Host": "rebound.evil.example"},
    "JSON": {"Content_Type": "application/json"},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_token_is_taken_only_from_where_a_browser_sends_it(page, wrong):
    link = page.link()
    assert page.open(link, **WRONG[wrong]).status in {403, 415, 421}
    assert page.open(link).status == 200, "it would have been right, and was not used up"


def test_a_token_in_an_address_opens_nothing(page):
    link = page.link()
    for target in (f"/?token={token_of(link)}", f"/plan?token={token_of(link)}"):
        answer = page.send(request("GET", target, {"Host": page.host}))
        assert 'data-key=""' in answer.body.decode() or "data-key" not in answer.body.decode()
        assert "set-cookie" not in answer.headers
    assert page.open(link).status == 200


NAVIGATION = {"Accept": "text/html,*/*;q=0.8", "Sec-Fetch-Mode": "navigate"}
SHOWN = {
    "/nowhere": (404, "There is nothing at this address."),
    "/static/nowhere.js": (404, "There is nothing at this address."),
    "/api/ledger": (403, "This tab has no key"),
    "/plan?" + "x" * 5_000: (414, "The address must be at most 4096 bytes."),
}


@pytest.mark.parametrize("target", SHOWN, ids=lambda target: target[:20])
def test_a_person_reads_a_page_and_a_program_an_object(page, target):
    status, sentence = SHOWN[target]
    shown = page.send(request("GET", target, {"Host": page.host, **NAVIGATION}))
    assert (shown.status, shown.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert sentence in shown.body.decode()
    told = page.send(request("GET", target, {"Host": page.host}))
    assert told.status == status
    assert told.json["error"].lower().startswith(sentence.lower())


def test_a_refused_page_repeats_nothing_of_the_request(page):
    target = "/%3Cscript%3Ealert(1)%3C/script%3E"
    raw = request("GET", target, {"Host": '"><script>alert(1)</script>', **NAVIGATION})
    assert b"alert" not in page.send(raw).body


@pytest.fixture
def opened(tmp_path):
    """Serve with --open, in a browser that tells what it was started with and does not return."""
    told, end, private = (tmp_path / name for name in ("told", "end", "private"))
    private.mkdir(mode=0o700)
    os.mkfifo(told)
    os.mkfifo(end)
    script = tmp_path / "browser"
    lines = [f"tr '\\0' '\\n' < /proc/$$/cmdline > {told}", f"exec cat {end} > /dev/null 2>&1"]
    script.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    script.chmod(0o755)
    folder, ledger = admissions(tmp_path, budget="1")
    environment = {"BROWSER": f"{script} %s", "XDG_RUNTIME_DIR": str(private)}
    with served(folder, ledger, "--open", environment=environment) as page:
        arguments = told.read_text().splitlines()
        with end.open("w"):
            yield page, arguments, private


def test_the_list_of_processes_shows_no_secret(opened):
    page, arguments, private = opened
    file = Path(arguments[-1].removeprefix("file://"))
    assert token_of(page.url) not in " ".join(arguments)
    assert token_of(page.url) in file.read_text()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]
    assert file.parent.parent == private
    assert page.get("/api/ledger").status == 200, "it serves, though the browser has not returned"


def test_the_file_of_the_launch_is_gone_once_it_was_used(opened):
    page, arguments, private = opened
    assert Path(arguments[-1].removeprefix("file://")).exists()
    assert page.open(page.url).status == 200
    assert list(private.iterdir()) == []


def test_the_file_of_the_launch_is_gone_at_the_end(tmp_path):
    (tmp_path / "data").mkdir()
    environment = {"BROWSER": "true", "XDG_RUNTIME_DIR": str(tmp_path / "private")}
    (tmp_path / "private").mkdir(mode=0o700)
    ledger = tmp_path / "ledger.sqlite3"
    with served(tmp_path / "data", ledger, "--open", environment=environment):
        assert len(list((tmp_path / "private").iterdir())) == 1
    assert list((tmp_path / "private").iterdir()) == []


@pytest.mark.parametrize("folder", ["shared", "nowhere", ""])
def test_a_folder_that_others_can_enter_is_not_used(tmp_path, monkeypatch, folder):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o755)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / folder) if folder else "")
    door = Door("http://127.0.0.1:1")
    _, path = web_server.prepare(door)
    assert not path.is_relative_to(tmp_path)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    door.link()
    assert not path.parent.exists()


@pytest.mark.parametrize("browser", ["w3m", "/usr/bin/lynx", "/nowhere/at/all %s"])
def test_without_a_browser_for_scripts_the_link_is_left_to_the_person(tmp_path, browser):
    command = [*COMMAND, "serve", "--open", "--folder", str(tmp_path)]
    environment = {**os.environ, "BROWSER": browser, "PATH": str(tmp_path)}
    with Started(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        told = process.stderr.readline()
        process.send_signal(signal.SIGINT)
    assert told == "No browser could be opened. Open the link yourself.\n"


HALF = {
    "nothing": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: 127.0.0.1",
    "half a body": b"POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 99\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\ntoken=",
    "a refused body without end": b"POST /api/release HTTP/1.1\r\nHost: {host}\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
}


def half(page, name):
    return HALF[name].replace(b"{host}", page.host.encode())


def hang(stack, page, number):
    """Open so many connections that never say all they have to say; return them."""
    for i in range(number):
        connection = stack.enter_context(socket.create_connection(("127.0.0.1", page.port)))
        with contextlib.suppress(OSError):  # cut off already
            connection.sendall(
                [*HALF.values()][i % len(HALF)].replace(b"{host}", page.host.encode())
            )
        yield connection


@pytest.mark.parametrize("number", [300, 2000])
def test_the_owner_releases_while_others_hang(page, number):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < number + 200:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(number + 200, hard), hard))
    with contextlib.ExitStack() as stack:
        assert len(list(hang(stack, page, number))) == number
        nonce = page.post("/api/order", ORDER).json["nonce"]
        assert page.post("/api/release", {"nonce": nonce}).status == 200
        held = len(list(Path(f"/proc/{page.process.pid}/fd").iterdir()))
        assert held < MOST_WAITING + 50


def test_whoever_never_finishes_or_takes_no_answer_is_cut_off(page):
    """However many bytes trickle in: the clock is not turned back by them."""
    with ThreadPoolExecutor(len(HALF) + 1) as pool:
        taking = pool.submit(take_no_answer, page)
        list(pool.map(lambda name: wait_to_be_cut_off(page, name), HALF))
        taking.result()


def wait_to_be_cut_off(page, name):
    with socket.create_connection(("127.0.0.1", page.port), timeout=PATIENCE) as connection:
        connection.sendall(half(page, name))
        connection.settimeout(0.2)
        while True:
            try:
                connection.sendall(b"x")
                if not connection.recv(1 << 16):
                    break
            except TimeoutError:
                continue
            except OSError:
                break


def take_no_answer(page):
    raw = request("GET", "/static/page.css", {"Host": page.host}).replace(b"close", b"keep-alive")
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(PATIENCE)
        connection.connect(("127.0.0.1", page.port))
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            connection.sendall(raw * 10**6)


def test_an_answer_may_take_as_long_as_it_needs(monkeypatch):
    """Only those who keep us waiting are cut off, not those whom we keep waiting."""
    monkeypatch.setattr(web_server, "PATIENCE", 2)
    ready = threading.Event()

    async def slow(scope, receive, send):
        del scope, receive
        await asyncio.get_running_loop().run_in_executor(None, ready.wait)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})

    settings = {"http": Connection, "ws": "none", "lifespan": "off", "log_config": None}
    server = uvicorn.Server(uvicorn.Config(slow, **settings))
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        serving = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        serving.start()
        asking, hanging = (
            stack.enter_context(socket.create_connection(listener.getsockname())) for _ in range(2)
        )
        asking.sendall(request("GET", "/", {"Host": "127.0.0.1"}))
        with contextlib.suppress(ConnectionResetError):
            assert hanging.recv(1) == b""
        ready.set()
        assert asking.recv(15) == b"HTTP/1.1 200 OK"
        server.should_exit = True
        serving.join()


def test_an_interrupt_does_not_wait_for_whoever_hangs(tmp_path):
    folder, ledger = admissions(tmp_path, budget="1")
    with contextlib.ExitStack() as stack, served(folder, ledger) as page:
        list(hang(stack, page, len(HALF)))
        assert page.get("/api/ledger").status == 200


def test_requests_one_after_the_other_on_one_connection_are_answered(page):
    raw = request("GET", "/api/ledger", page.headers).replace(b"close", b"keep-alive")
    with socket.create_connection(("127.0.0.1", page.port), timeout=PATIENCE) as connection:
        connection.sendall(raw * 3)
        received = b""
        while received.count(b'"datasets"') < 3:
            part = connection.recv(1 << 16)
            assert part
            received += part
    assert received.count(b"HTTP/1.1 200 OK") == 3


IN_A_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_a_page_in_the_background_of_a_terminal_goes_on(tmp_path):
    """And prints links when it is in the foreground again."""
    master, terminal = pty.openpty()
    shell = [shutil.which("bash"), "--norc", "--noprofile", "-i"]
    command = [sys.executable, "-c", IN_A_TERMINAL, *shell]
    shown = ""

    def press(keys, until):
        """Press keys again and again until something is shown."""
        nonlocal shown
        while not (found := re.findall(until, shown)):
            os.write(master, keys)
            while select.select([master], [], [], 0.5)[0]:
                shown += os.read(master, 1 << 16).decode()
        return found[-1]

    with Started(command, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        os.write(master, f"{COMMAND[0]} serve --folder {tmp_path} &\n".encode())
        link = press(b"", r"(http://127\S+)\s")
        port = int(link.split(":")[2].partition("/")[0])
        press(b"\n", r"(?s)Press Enter for another(?:.*\n){3}")  # for the shell, not for the page
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
            connection.sendall(request("GET", "/plan", {"Host": f"127.0.0.1:{port}"}))
            assert connection.recv(15) == b"HTTP/1.1 200 OK"
        os.write(master, b"fg\n")
        assert press(b"\n", r"(?s)fg\s.*(http://127\S+)\s") != link
        os.write(master, b"\x03")
        while process.poll() is None:
            os.write(master, b"exit\n")
            if select.select([master], [], [], 0.5)[0]:  # not if the shell has ended meanwhile
                os.read(master, 1 << 16)
    os.close(master)
    os.close(terminal)


def test_each_link_is_an_object_if_asked(tmp_path):
    command = [*COMMAND, "serve", "--json", "--folder", str(tmp_path)]
    with Started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        links = []
        for _ in range(2):
            links.append(json.loads("".join(process.stdout.readline() for _ in range(5)))["url"])
            process.stdin.write("\n")
            process.stdin.flush()
        process.send_signal(signal.SIGINT)
    assert links[0] != links[1]
