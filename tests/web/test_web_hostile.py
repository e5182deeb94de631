"""Hostile requests, over the socket: every one is refused, and the ledger keeps every byte.

Each is a release, or the declaration of a budget, that would be carried out but for the one thing
that is wrong with it: what is behind it was reviewed a moment before, and its nonce is fresh.
"""

import json

import pytest
from support.serving import ORDER, admissions, request, served, token_of

from dproo.ledger import Ledger

BODY_MAX = 64 << 10

HOSTS = {
    "another site": "evil.example",
    "another site, our port": "evil.example:{port}",
    "a name that is rebound to us": "rebound.evil.example:{port}",
    "a public name of loopback": "127.0.0.1.nip.io:{port}",
    "our name as a subdomain": "localhost.evil.example:{port}",
    "no port": "127.0.0.1",
    "another port": "127.0.0.1:1",
    "all interfaces": "0.0.0.0:{port}",
    "the sixth version": "[::1]:{port}",
    "a short form": "127.1:{port}",
    "a number": "2130706433:{port}",
    "a user before it": "evil@127.0.0.1:{port}",
    "a user after it": "127.0.0.1:{port}@evil.example",
    "a dot after it": "localhost.:{port}",
    "two in one": "127.0.0.1:{port}, evil.example",
    "an empty one": "",
}
HEADERS = {
    "no origin": {"Origin": None},
    "an empty origin": {"Origin": ""},
    "the origin of a sandbox": {"Origin": "null"},
    "another origin": {"Origin": "http://evil.example"},
    "another scheme": {"Origin": "https://127.0.0.1:{port}"},
    "an origin without a port": {"Origin": "http://127.0.0.1"},
    "another port of ours": {"Origin": "http://127.0.0.1:1"},
    "our other name": {"Origin": "http://localhost:{port}"},
    "an origin that begins like ours": {"Origin": "http://127.0.0.1:{port}.evil.example"},
    "an origin with a path": {"Origin": "http://127.0.0.1:{port}/"},
    "a referer instead of an origin": {"Origin": None, "Referer": "http://127.0.0.1:{port}/"},
    "a request across sites": {"Sec-Fetch-Site": "cross-site"},
    "a request of the same site": {"Sec-Fetch-Site": "same-site"},
    "a request typed by nobody": {"Sec-Fetch-Site": "none"},
    "an unknown kind of request": {"Sec-Fetch-Site": "same-origin, cross-site"},
    "no key": {"Dproo-Key": None},
    "an empty key": {"Dproo-Key": ""},
    "a guessed key": {"Dproo-Key": "guess"},
    "a token as the key": {"Dproo-Key": "{token}"},
    "half a key": {"Dproo-Key": "{half}"},
    "two keys in one": {"Dproo-Key": "{key}, {key}"},
    "a key beyond ASCII": {"Dproo-Key": "\xe9"},
    "the key as a cookie": {"Dproo-Key": None, "Cookie": "dproo-key={key}"},
    "the key as authorization": {"Dproo-Key": None, "Authorization": "Bearer {key}"},
    "plain text": {"Content-Type": "text/plain"},
    "a form": {"Content-Type": "application/x-www-form-urlencoded"},
    "a form of parts": {"Content-Type": "multipart/form-data; boundary=x"},
    "no type": {"Content-Type": None},
    "nearly JSON": {"Content-Type": "application/jsonp"},
    "a length that is no number": {"Content-Length": "12a"},
    "a length far too large": {"Content-Length": str(10**15)},
    "a length that Python does not read": {"Content-Length": "9" * 5000},
    "a forwarded host": {"Host": "evil.example", "X-Forwarded-Host": "127.0.0.1:{port}"},
}
METHODS = ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "post"]
BODIES = {
    "nothing": b"",
    "half an object": b"{",
    "a list": b"[]",
    "null": b"null",
    "a text": b'"nonce"',
    "no nonce": b"{}",
    "an empty nonce": b'{"nonce": ""}',
    "a null nonce": b'{"nonce": null}',
    "a number as nonce": b'{"nonce": 1}',
    "a list as nonce": b'{"nonce": []}',
    "an object as nonce": b'{"nonce": {}}',
    "a guessed nonce": b'{"nonce": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}',
    "not UTF-8": b'{"nonce": "\xff\xfe"}',
    "deep nesting": b"[" * 30_000,
    "a huge number": b'{"nonce": 1' + b"0" * 5_000 + b"}",
    "too much": b'{"nonce": "' + b"x" * BODY_MAX + b'"}',
}
OUTSIDE = {
    "the folder above": {"data": "../secret.csv"},
    "up and down again": {"data": "inner/../../secret.csv"},
    "an absolute path": {"data": "/etc/passwd"},
    "a link to outside": {"data": "link.csv"},
    "through a linked folder": {"data": "linked/secret.csv"},
    "a loop of links": {"data": "loop.csv"},
    "a pattern": {"data": "*.csv"},
    "the folder itself": {"data": "."},
    "nothing": {"data": ""},
    "a null character": {"data": "admissions.csv\0"},
    "a file URL": {"data": "file:///etc/passwd"},
    "a very long name": {"data": "a" * 5_000},
}
ORDERS = {
    "no text": {"data": ["admissions.csv"]},
    "a web address as a database": {"source": "database", "data": "http://evil.example/"},
    "a file as a database": {"source": "database", "data": "admissions.csv"},
    "a database without a budget": {"source": "database", "data": "postgresql://localhost/x"},
    "another source": {"source": "upload"},
    "an alphabet of its own": {"alphabet": "codes.txt"},
    "a path as a code book": {"codebook": "../secret.csv"},
    "values of a file": {"codebook": {"schema": {"fields": [{"name": "ward", "path": "a.csv"}]}}},
    "no code book": {"codebook": None},
    "an unknown sampler": {"sampler": "../../roo"},
    "a sampler that no release accepts": {"sampler": "laplace"},
    "a negative epsilon": {"epsilon": "-1"},
    "no number": {"epsilon": "NaN"},
    "a number for a text": {"epsilon": 1},
    "more than is left": {"epsilon": "2.000000001"},
    "an unknown field": {"as_printed": "yes"},
    "another ledger": {"ledger": "mine.sqlite3"},
    "another budget": {"dataset": "somebody's"},
}
TARGETS = [
    "/static/../gate.py",
    "/static/%2e%2e/gate.py",
    "/static/..%2fgate.py",
    "/static/....//gate.py",
    "/static//etc/passwd",
    "/static/%00",
    "/static/",
    "/..%2f..%2f..%2fetc/passwd",
    "http://evil.example/api/ledger",
    "//evil.example/api/ledger",
    "/api/ledger/0",
    "/api/ledger/-1",
    "/api/ledger/99999999999999999999",
    "/api/ledger/1",
    "/api/release?nonce=1",
    "/api/plan?n=1&k=2&epsilon=nan",
    "/api/plan?n=1&k=2&epsilon=1&seed=1",
    "/api/plan?n=1e3&k=9&epsilon=1",
    "/api/curve?n=1000&k=9&epsilon=1e-30",
    "/api/shape?name=../zipf&n=10&k=4",
    "/api/shape?name=zipf&n=10&k=1000000000",
    "/plan/../api",
    "/%2e/plan",
    "/plan?" + "x" * 5_000,
    "/openapi.json",
    "/.env",
]
BUDGET = {"source": "file", "data": "undeclared.csv", "budget": "9", "neighbours": "replace"}
BUDGETS = {
    "no number": {"budget": "much"},
    "an endless one": {"budget": "inf"},
    "no relation": {"neighbours": ""},
    "a second one": {"data": "admissions.csv"},
    "one of a file outside": {"data": "../secret.csv"},
    "one of a file by a link": {"data": "link.csv"},
    "one with a password for a name": {"dataset": "postgresql://ann:CANARY-7f3a@h/x"},
    "one in another ledger": {"ledger": "mine.sqlite3"},
    "one with a list for a number": {"budget": ["9"]},
}
BOOKS = {
    "a text": "codebook.json",
    "a path": "/etc/passwd",
    "a list": [],
    "an object without columns": {},
    "columns that are texts": {"schema": {"fields": ["a"]}},
    "no columns": {"schema": {"fields": []}},
    "a column without a name": {"schema": {"fields": [{"type": "boolean"}]}},
    "a column without values": {"schema": {"fields": [{"name": "ward", "type": "string"}]}},
    "a draft": {"draft": ["x"], "schema": {"fields": [{"name": "ward", "type": "boolean"}]}},
}
STRANGERS = [
    "/api/running",
    "/api/",
    "/api/ledger",
    "/api/files",
    "/%61pi/files",
    "/api/ledger?key={key}",
    "/api/nowhere",
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    base = tmp_path_factory.mktemp("hostile")
    folder, ledger = admissions(base, budget="2")
    (base / "secret.csv").write_text("diagnosis,code\nI50,CANARY-7f3a\nJ18,b\n")
    (folder / "inner").mkdir()
    (folder / "link.csv").symlink_to(base / "secret.csv")
    (folder / "linked").symlink_to(base)
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    (folder / "undeclared.csv").write_text("diagnosis\nCANARY-7f3a\n")
    (folder / "distinct.csv").write_text("diagnosis\nI50\nJ18\n")
    (folder / "listed.csv").write_text("diagnosis\nI50\nJ18\n")
    (folder / "twin.csv").hardlink_to(folder / "distinct.csv")
    for data in (base / "secret.csv", folder / "distinct.csv"):  # all but the path is right
        Ledger(ledger).declare(str(data.resolve()), budget="2", neighbours="replace")
    with served(folder, ledger) as page:
        yield page


@pytest.fixture
def nonce(page):
    return page.post("/api/order", ORDER).json["nonce"]


@pytest.fixture
def budget_nonce(page):
    return page.post("/api/budget", BUDGET).json["nonce"]


def refused(page, raw, statuses=range(400, 500)):
    """Send it, and demand a refusal that tells nothing and a ledger that kept every byte."""
    before = page.ledger.read_bytes()
    answer = page.send(raw)
    assert page.ledger.read_bytes() == before
    assert answer.status == 0 or answer.status in statuses, (answer.status, answer.body)
    for secret in (b"CANARY", b"Traceback", b"root:", page.key.encode()):
        assert secret not in answer.body
    assert page.process.poll() is None
    return answer


def filled(page, headers):
    """Return the page's own headers with some replaced, or left out where there is None."""
    token, key = token_of(page.url), page.key
    known = {"port": page.port, "token": token, "key": key, "half": key[: len(key) // 2]}
    mixed = {**page.headers, **headers}
    return {name: value.format(**known) for name, value in mixed.items() if value is not None}


def confirmation(nonce):
    return json.dumps({"nonce": nonce}).encode()


@pytest.mark.parametrize("host", HOSTS)
def test_a_release_for_another_host_is_refused(page, nonce, host):
    headers = filled(page, {"Host": HOSTS[host]})
    headers["Origin"] = f"http://{headers['Host']}"  # as a rebound page would send it
    refused(page, request("POST", "/api/release", headers, confirmation(nonce)))


@pytest.mark.parametrize("host", HOSTS)
def test_another_host_reads_nothing(page, host):
    headers = filled(page, {"Host": HOSTS[host]})
    answer = refused(page, request("GET", "/api/ledger", headers))
    assert b"datasets" not in answer.body


@pytest.mark.parametrize("wrong", HEADERS)
def test_a_release_with_a_wrong_header_is_refused(page, nonce, wrong):
    headers = filled(page, HEADERS[wrong])
    refused(page, request("POST", "/api/release", headers, confirmation(nonce)))


@pytest.mark.parametrize("host", HOSTS)
def test_a_budget_for_another_host_is_refused(page, budget_nonce, host):
    headers = filled(page, {"Host": HOSTS[host]})
    headers["Origin"] = f"http://{headers['Host']}"
    refused(page, request("POST", "/api/declare", headers, confirmation(budget_nonce)))


@pytest.mark.parametrize("wrong", HEADERS)
def test_a_budget_with_a_wrong_header_is_refused(page, budget_nonce, wrong):
    headers = filled(page, HEADERS[wrong])
    refused(page, request("POST", "/api/declare", headers, confirmation(budget_nonce)))


@pytest.mark.parametrize("body", BODIES)
def test_a_budget_with_a_wrong_body_is_refused(page, body):
    refused(page, request("POST", "/api/declare", page.headers, BODIES[body]))


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_wrong_budget_is_refused(page, budget):
    body = json.dumps(BUDGET | BUDGETS[budget]).encode()
    answer = refused(page, request("POST", "/api/budget", page.headers, body))
    assert "nonce" not in answer.json


@pytest.mark.parametrize("book", BOOKS)
def test_a_release_by_a_wrong_code_book_is_refused(page, book):
    order = {"source": "file", "data": "admissions.csv", "epsilon": "1", "codebook": BOOKS[book]}
    answer = refused(page, request("POST", "/api/order", page.headers, json.dumps(order).encode()))
    assert "nonce" not in answer.json


@pytest.mark.parametrize("name", ["Host", "Origin", "Content-Type", "Dproo-Key"])
def test_a_release_with_a_header_twice_is_refused(page, nonce, name):
    raw = request("POST", "/api/release", page.headers, confirmation(nonce))
    refused(page, raw.replace(b"\r\n", f"\r\n{name}: {page.headers[name]}\r\n".encode(), 1))


@pytest.mark.parametrize("method", METHODS)
def test_a_release_by_another_method_is_refused(page, nonce, method):
    target = f"/api/release?nonce={nonce}"
    refused(page, request(method, target, page.headers, confirmation(nonce)))


@pytest.mark.parametrize("body", BODIES)
def test_a_release_with_a_wrong_body_is_refused(page, body):
    refused(page, request("POST", "/api/release", page.headers, BODIES[body]))


def test_a_nonce_among_other_fields_is_refused(page, nonce):
    body = json.dumps({"nonce": nonce, "epsilon": "0.001"}).encode()
    refused(page, request("POST", "/api/release", page.headers, body))


def test_a_body_in_pieces_is_refused_when_it_gets_too_large(page, nonce):
    padded = confirmation(nonce) + b" " * BODY_MAX
    headers = {**page.headers, "Transfer-Encoding": "chunked"}
    head = request("GET", "/api/release", headers).replace(b"GET", b"POST", 1)
    piece = f"{len(padded):x}\r\n".encode() + padded + b"\r\n0\r\n\r\n"
    assert refused(page, head + piece).status == 413


def test_two_lengths_of_a_body_are_refused(page, nonce):
    headers = {**page.headers, "Transfer-Encoding": "chunked"}
    body = b"0\r\n\r\nPOST /api/release HTTP/1.1\r\n" + confirmation(nonce)
    refused(page, request("POST", "/api/release", headers, body))


def test_a_request_without_a_host_is_refused(page, nonce):
    headers = {name: value for name, value in page.headers.items() if name != "Host"}
    raw = request("POST", "/api/release", headers, confirmation(nonce))
    refused(page, raw)
    refused(page, raw.replace(b"HTTP/1.1", b"HTTP/1.0", 1))


def test_a_web_socket_is_refused(page):
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    }
    refused(page, request("GET", "/api/release", {**page.headers, **upgrade}))


@pytest.mark.parametrize("order", OUTSIDE)
def test_a_file_outside_the_folder_is_refused(page, order):
    body = json.dumps(ORDER | OUTSIDE[order]).encode()
    answer = refused(page, request("POST", "/api/order", page.headers, body))
    (name,) = OUTSIDE[order]
    assert answer.json["error"].startswith(f"{name} must be a file in the allowed folder, got ")


@pytest.mark.parametrize("path", ["columns", "budget"])
@pytest.mark.parametrize("order", OUTSIDE)
def test_no_header_is_read_outside_the_folder(page, order, path):
    body = json.dumps({"source": "file", **OUTSIDE[order]}).encode()
    answer = refused(page, request("POST", f"/api/{path}", page.headers, body))
    assert answer.json["error"].startswith("data must be a file in the allowed folder, got ")


@pytest.mark.parametrize("order", ORDERS)
def test_a_wrong_order_is_refused(page, order):
    body = json.dumps(ORDER | ORDERS[order]).encode()
    answer = refused(page, request("POST", "/api/order", page.headers, body))
    assert "nonce" not in answer.json
    assert answer.json["error"].endswith((".", "?"))


@pytest.mark.parametrize("target", TARGETS)
def test_an_address_that_leads_nowhere_is_refused(page, target):
    refused(page, request("GET", target, page.headers))


@pytest.mark.parametrize("target", STRANGERS)
def test_whoever_lacks_a_key_is_answered_nothing(page, target):
    raw = request("GET", target.format(key=page.key), {"Host": page.host})
    answer = refused(page, raw, statuses={403})
    assert answer.json == {"error": "this tab has no key: open the link that dproo serve printed."}


def test_what_is_open_to_everybody_tells_nothing_of_the_data(page):
    for target in ("/", "/plan", "/understand", "/release", "/ledger", "/static/release.js"):
        answer = page.send(request("GET", target, {"Host": page.host}))
        assert answer.status == 200
        for secret in (page.folder, page.ledger, "admissions", page.key, token_of(page.url)):
            assert str(secret).encode() not in answer.body


def test_another_site_in_the_same_browser_reads_nothing(page):
    refused(page, request("GET", "/api/ledger", filled(page, {"Sec-Fetch-Site": "cross-site"})))


def test_a_replayed_nonce_is_refused(page, nonce):
    raw = request("POST", "/api/release", page.headers, confirmation(nonce))
    before = page.ledger.read_bytes()
    assert page.send(raw).status == 200  # what all of the above would have got
    assert page.ledger.read_bytes() != before
    refused(page, raw)
    refused(page, raw)


def test_a_budget_that_is_as_it_should_be_is_declared(page, budget_nonce):
    raw = request("POST", "/api/declare", page.headers, confirmation(budget_nonce))
    assert page.send(raw).status == 200  # what all of the above would have got
    refused(page, raw)


@pytest.mark.one_of(3)
def test_there_are_enough_of_them():
    twice = len(HEADERS) + len(BODIES)
    once = sum(map(len, (METHODS, OUTSIDE, ORDERS, TARGETS, STRANGERS, BUDGETS, BOOKS)))
    assert 3 * len(HOSTS) + 2 * twice + once >= 200
