"""Public questions: bounded, killed when nobody waits, and in nobody's way."""

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.responses import Response
from support.serving import PATIENCE, admissions, request, served

from dproo.web import worker
from dproo.web.pool import WAITING_FOR_A_TAB, Pool
from dproo.web.questions import ANSWERS

LONG_DAYS = {"type": "date", "constraints": {"minimum": "1820-01-01", "maximum": "2019-12-31"}}


def book(*fields):
    return {"schema": {"fields": list(fields)}}


SLOW = {
    "codebook": book(
        *(
            {"name": f"c{i}", "type": "integer", "constraints": {"minimum": 0, "maximum": i + 1}}
            for i in range(1000)
        )
    ),
    "n": "1000000",
    "epsilon": "1",
    "network": "independent",
}
"""A question that takes longer than any other request here."""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page with invented data."""
    folder, ledger = admissions(tmp_path_factory.mktemp("page"), budget="100")
    with served(folder, ledger) as page:
        yield page


def asked(page, path, body, place):
    """Return a connection on which a question was asked and not yet answered."""
    headers = page.headers | {"Dproo-Place": place}
    connection = socket.create_connection(("127.0.0.1", page.port), timeout=PATIENCE)
    connection.sendall(request("POST", path, headers, json.dumps(body).encode()))
    return connection


def status_of(connection):
    with connection:
        return int(connection.makefile("rb").readline().split()[1])


def is_answered(connection):
    return bool(select.select([connection], [], [], 0)[0])


def test_the_days_of_a_column_are_counted_and_not_listed(page):
    fields = [{"name": f"day {i}", **LONG_DAYS} for i in range(12)]
    found = page.post("/api/codebook", {"codebook": book(*fields)}).json
    assert [line["k"] for line in found["columns"]] == [73050] * 12
    assert found["is_complete"]
    found = page.post(
        "/api/codebook",
        {"codebook": book(*fields, *({"name": f"more {i}", **LONG_DAYS} for i in range(988)))},
    ).json
    assert not found["is_complete"]
    assert found["error"].startswith("columns of days must have at most 1,000,000 together")


def test_slow_questions_keep_neither_the_ledger_nor_another_tab_waiting(page):
    with contextlib.ExitStack() as stack:
        slow = [
            stack.enter_context(asked(page, "/api/row-plan", SLOW, f"tab.{i}")) for i in range(6)
        ]
        assert page.get("/api/ledger").status == 200
        assert page.get("/api/files").status == 200
        other = asked(page, "/api/codebook", {"codebook": book({"name": "a", **LONG_DAYS})}, "b.0")
        assert status_of(other) == 200
        assert not any(map(is_answered, slow))


def test_the_next_question_of_a_place_replaces_the_last(page):
    first = asked(page, "/api/row-plan", SLOW, "tab.forecast")
    again = asked(page, "/api/row-plan", {**SLOW, "n": "0"}, "tab.forecast")
    assert (status_of(first), status_of(again)) == (409, 400)


def test_a_tab_may_ask_a_few_questions_at_once(page):
    with contextlib.ExitStack() as stack:
        slow = [
            stack.enter_context(asked(page, "/api/row-plan", SLOW, f"greedy.{i}"))
            for i in range(WAITING_FOR_A_TAB)
        ]
        assert not any(map(is_answered, slow))
        refused = asked(page, "/api/row-plan", SLOW, "greedy.more")
        readable, _, _ = select.select([refused], [], [], PATIENCE)
        assert readable
        assert status_of(refused) == 429
        assert not any(map(is_answered, slow))


def children_of(pid):
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_worker_that_was_killed_is_replaced(page):
    assert page.get("/api/plan?n=1000&k=3&epsilon=1").status == 200
    (forking,) = children_of(page.process.pid)
    os.kill(forking, signal.SIGKILL)
    assert page.get("/api/plan?n=1001&k=3&epsilon=1").status == 200
    assert children_of(page.process.pid) != [forking]


def test_questions_that_a_killed_worker_took_along_are_asked_once_more(monkeypatch):
    """Whoever notices first replaces it; the others must not kill the new one."""
    started = []

    def start():
        started.append(begin())
        return started[-1]

    async def answers():
        pool = Pool(start())
        asked = [
            asyncio.ensure_future(pool._answer(tab, "plan", {"n": "9", "k": "3", "epsilon": "1"}))
            for tab in "abc"
        ]
        os.kill(started[0].process.pid, signal.SIGSTOP)  # it answers none of them
        await asyncio.sleep(0)
        started[0].process.kill()
        statuses = [answer.status_code for answer in await asyncio.gather(*asked)]
        pool.stop()
        return statuses

    begin = worker.Worker.start
    monkeypatch.setattr(worker.Worker, "start", start)
    with ThreadPoolExecutor(1) as apart:  # a browser of other tests has a loop in this thread
        assert apart.submit(asyncio.run, answers()).result() == [200, 200, 200]
    assert len(started) == 2


@contextlib.contextmanager
def forking(answer, *, seconds=worker.SECONDS):
    """Run the process that forks, whose only answer to "plan" is this one."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        ANSWERS["plan"] = answer
        worker.SECONDS = seconds
        with contextlib.suppress(BaseException):
            worker.main(theirs.detach())
        os._exit(0)
    theirs.close()
    with ours:
        yield ours
    os.waitpid(pid, 0)  # it ends with the server


def ask(control):
    ours, theirs = socket.socketpair()
    ours.settimeout(PATIENCE)
    with theirs:
        socket.send_fds(control, [b"?"], [theirs.fileno()])
    sent = json.dumps(["plan", {}]).encode()
    ours.sendall(worker.LENGTH.pack(len(sent)) + sent)
    return ours


def test_a_question_that_nobody_waits_for_is_killed():
    told, telling = os.pipe()

    def forever(_):
        os.write(telling, f"{os.getpid()}\n".encode())
        while True:
            time.monotonic()

    with forking(forever, seconds=0) as control:  # and no clock
        with ask(control):
            pid = int(os.read(told, 20))
            watch = os.pidfd_open(pid)
        assert select.select([watch], [], [], PATIENCE)[0]
        os.close(watch)


def test_a_question_that_takes_too_long_is_killed():
    def forever(_):
        while True:
            time.monotonic()

    with forking(forever, seconds=0.01) as control, ask(control) as question:
        assert question.recv(1) == b""


def test_a_question_that_takes_too_much_memory_is_refused():
    with (
        forking(lambda _: {"huge": len(bytes(worker.MEMORY))}) as control,
        ask(control) as question,
    ):
        assert question.makefile("rb").read().startswith(b"500 ")


def test_a_large_answer_arrives_whole():
    with (
        forking(lambda _: {"long": "x" * (8 << 20)}) as control,
        ask(control) as question,
    ):
        status, _, text = question.makefile("rb").read().partition(b" ")
        assert status == b"200"
        assert len(json.loads(text)["long"]) == 8 << 20


class Busy(Pool):
    """A pool whose first answers come too late."""

    def __init__(self, statuses):
        super().__init__(worker.Worker(None, None))
        self.statuses = iter(statuses)

    async def _answer(self, tab, name, fields):
        del tab, name, fields
        status = next(self.statuses)
        if status is None:
            raise OSError("no process can be started")
        return Response(status_code=status)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("status", [200, 400, None])
def test_only_what_was_answered_beforehand_is_remembered(status):
    async def known():
        pool = Busy([status])
        pool.prepare([("plan", {"n": "10"})])
        await asyncio.wait(pool._known.values())
        await asyncio.sleep(0)
        return list(pool._known)

    with ThreadPoolExecutor(1) as apart:  # a browser of other tests has a loop in this thread
        assert bool(apart.submit(asyncio.run, known()).result()) == (status == 200)
