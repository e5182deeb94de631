"""Broken requests, a thousand: the server lives, tells nothing, and charges nothing."""

import asyncio
import json
import threading

import pytest
from support.draws import DICE, SOAK
from support.serving import ORDER, admissions, request, served

from dproo.web.gate import Gate

pytestmark = [pytest.mark.untraced, pytest.mark.one_of(3)]

TIMES = 10 if SOAK else 1
BYTES, OBJECTS, QUERIES = 300 * TIMES, 400 * TIMES, 300 * TIMES

VALUES = [
    *[
        None,
        True,
        False,
        0,
        -1,
        1.5,
        10**30,
        1e308,
        "",
        " ",
        "0",
        "nan",
        "1/0",
        "é",
        "\0",
        "\ud800",
    ],
    *[[], {}, [1, 2], [-1, 2], [[1]], ["a"], {"a": 1}, "9" * 5000, [1] * 40, [10**6, 1], [0, 0]],
    *[
        "roo",
        "ls-roo",
        "laplace",
        "../x",
        "admissions.csv",
        "codes.txt:x",
        "0..-5",
        "bins:",
        "auto",
    ],
    *[{"schema": {"fields": [{"name": "ward", "type": kind}]}} for kind in ("boolean", "x", None)],
    *["postgresql://", "file", "database", "diagnosis", "'; DROP TABLE x", "1e-30", "1000"],
]
NAMES = [*ORDER, "table", "dataset", "nonce", "counts", "size", "__class__", ""]
NAMES += ["codebook", "network", "person", "purpose", "password", "delimiter", "encoding"]
NAMES += ["budget", "neighbours", "records_per_person", "n", "columns", "delta", "what", "k"]
PATHS = ["order", "release", "law", "draws"]
PATHS += ["columns", "codebook", "row-plan", "budget", "declare", "decide"]
PATHS += ["table-plan", "found-plan", "value-plan"]
POSTS = [f"/api/{path}" for path in PATHS]
DATA = {"source", "data", "password", "table", "dataset", "delimiter", "encoding"}
TAKEN = {
    "/api/order": {*ORDER},
    "/api/columns": DATA,
    "/api/budget": {*DATA, "budget", "neighbours", "records_per_person"},
    "/api/row-plan": {"codebook", "n", "epsilon", "network", "neighbours"},
    "/api/table-plan": {"codebook", "n", "epsilon", "network", "neighbours"},
    "/api/found-plan": {"columns", "delta", "n", "epsilon", "neighbours"},
    "/api/value-plan": {"k", "sampler", "n", "epsilon", "neighbours"},
}
BOOK = {"schema": {"fields": [{"name": "ward", "type": "boolean"}]}}
GETS = ["plan", "curve", "certify", "tables", "shape", "ledger/1", "ledger/x", "files"]
GETS += ["ledger/1/pair", "ledger/1/rows", "requests"]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder, ledger = admissions(tmp_path_factory.mktemp("fuzz"), budget="1000")
    with served(folder, ledger) as page:
        yield page


def endure(page, requests, *, patience=30):
    """Send them all; a refusal or an answer is right, a bug, a secret or a charge is not."""
    before = page.ledger.read_bytes()
    statuses = set()
    for raw in requests:
        answer = page.send(raw, patience=patience)
        statuses.add(answer.status)
        assert answer.status != 500, raw
        for secret in (b"CANARY", b"Traceback", b".py"):
            assert secret not in answer.body, raw
    assert page.process.poll() is None
    assert page.ledger.read_bytes() == before
    assert {200, 400} <= statuses, "some were right, so the wrong ones were not refused by chance"


def test_requests_with_broken_bytes_are_endured(page):
    whole = request("POST", "/api/order", page.headers, json.dumps(ORDER).encode())

    def broken():
        raw = bytearray(whole)
        for _ in range(DICE.randrange(3)):
            place = DICE.randrange(len(raw))
            raw[place : place + 1] = DICE.choice([bytes(raw[place : place + 1]) * 2, b"\r", b" "])
        return bytes(raw)

    # A length that was broken makes the server wait for what will never come.
    endure(page, (broken() for _ in range(BYTES)), patience=0.5)


def test_objects_of_any_kind_are_endured(page):

    def any_object():
        fields = (
            {**ORDER, "counts": [3, 1], "size": 1, "codebook": BOOK, "n": "9"}
            if DICE.random() < 0.8
            else {}
        )
        for _ in range(DICE.randrange(4)):
            fields[DICE.choice(NAMES)] = DICE.choice(VALUES)
        path = DICE.choice(POSTS)
        if path in TAKEN and DICE.random() < 0.8:
            fields = {name: value for name, value in fields.items() if name in TAKEN[path]}
        return request("POST", path, page.headers, json.dumps(fields).encode())

    endure(page, (any_object() for _ in range(OBJECTS)))


def test_queries_of_any_kind_are_endured(page):
    texts = [
        "1",
        "2",
        "9",
        "0.1",
        "0.05",
        "-1",
        "nan",
        "1e3",
        "",
        "%00",
        "%ff",
        "x" * 99,
        "zipf",
        "roo",
    ]

    def any_query():
        names = DICE.sample(["n", "k", "epsilon", "alpha", "sampler", "name", "as_printed"], 3)
        if DICE.random() < 0.3:
            names = ["n", "k", "epsilon"]
        query = "&".join(f"{name}={DICE.choice(texts)}" for name in names)
        return request("GET", f"/api/{DICE.choice(GETS)}?{query}", page.headers)

    endure(page, (any_query() for _ in range(QUERIES)))


@pytest.mark.one_of(3)
def test_a_bug_behind_the_gate_is_one_sentence():
    async def broken(scope, receive, send):
        del scope, receive, send
        raise RuntimeError("CANARY-7f3a")

    start, body = ask(Gate(broken, port=1), "/plan")
    assert start["status"] == 500
    assert json.loads(body["body"])["error"] == "this is a bug in dproo; no detail is shown."


def test_a_body_that_is_cut_by_the_end_of_its_client_does_not_pass():
    seen = []

    async def page(scope, receive, send):
        del scope, receive, send
        seen.append("a request")

    parts = [
        {"type": "http.request", "body": b'{"nonce": "x"}', "more_body": True},
        {"type": "http.disconnect"},
    ]
    headers = [(b"origin", b"http://127.0.0.1:1"), (b"content-type", b"application/json")]
    ask(Gate(page, port=1), "/api/release", method="POST", headers=headers, parts=parts)
    assert seen == []


def test_the_port_of_http_is_left_out_of_a_host_as_browsers_do():
    async def page(scope, receive, send):
        del scope, receive
        await send({"type": "http.response.start", "status": 200, "headers": []})

    found = {
        host: ask(Gate(page, port=80), "/plan", host=host)[0]["status"]
        for host in (b"127.0.0.1", b"localhost", b"127.0.0.1:1", b"evil.example")
    }
    assert [*found.values()] == [200, 200, 421, 421]


def ask(gate, path, *, method="GET", headers=(), parts=(), host=b"127.0.0.1:1"):
    """Return the messages that a gate sends for one request."""
    sent, parts = [], list(parts)
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", host), *headers],
    }

    async def receive():
        return parts.pop(0) if parts else {"type": "http.request"}

    async def send(message):
        sent.append(message)

    # In a thread of its own: a test of the page may have left a loop running in this one.
    answering = threading.Thread(target=lambda: asyncio.run(gate(scope, receive, send)))
    answering.start()
    answering.join()
    return sent
