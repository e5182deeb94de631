"""The door, in a real browser: what other pages, other tabs and the history get of its secrets."""

import contextlib
import http.server
import json
import os
import shutil
import sqlite3
import threading
from contextlib import contextmanager

import pytest
from support.browsing import settled, visit
from support.serving import ORDER, PATIENCE, admissions, served, token_of

pytestmark = pytest.mark.one_of(4)

pytest.importorskip("playwright", reason="Playwright is not installed.")

ATTACK = """async (page) => {
  const found = [];
  const attempt = async (what) => {
    try { found.push(await what()); } catch (error) { found.push(error.name); }
  };
  const options = { mode: "cors", credentials: "include" };
  await attempt(async () => (await fetch(`${page}/api/ledger`, options)).text());
  await attempt(async () => (await fetch(`${page}/static/plan.js`, options)).text());
  await attempt(async () => {
    const headers = { "Content-Type": "application/json", "Dproo-Key": "guess" };
    const sent = { ...options, method: "POST", headers, body: "{}" };
    return (await fetch(`${page}/api/release`, sent)).text();
  });
  await attempt(async () => {
    const sent = { mode: "no-cors", credentials: "include", method: "POST", body: "token=guess" };
    return (await fetch(`${page}/`, sent)).text();
  });
  for (const room of ["", "plan", "release"]) {
    const frame = Object.assign(document.createElement("iframe"), { src: `${page}/${room}` });
    document.body.append(frame);
    await new Promise((resolve) => { frame.onload = resolve; });
    await attempt(async () => frame.contentDocument?.body.innerText ?? "nothing of it");
  }
  return [...found, JSON.stringify(sessionStorage), JSON.stringify(localStorage), document.cookie];
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder, ledger = admissions(tmp_path_factory.mktemp("door"), budget="3")
    with served(folder, ledger) as page:
        yield page


@contextmanager
def neighbour():
    """Serve another page on another port of this machine, and keep all that it is sent."""
    received = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            received.append(f"{self.path}\n{self.headers}")
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>neighbour</title>")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", received
        finally:
            server.shutdown()


def key_of(tab):
    return tab.evaluate("sessionStorage.getItem('dproo-key')")


def enter(context, page):
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE * 1000)
    tab.goto(page.link())
    tab.wait_for_url("**/release")
    settled(tab, "release")
    return tab


def test_a_server_on_another_port_gets_no_secret_and_releases_nothing(browser, page):
    context = browser.new_context()
    with neighbour() as (other, received):
        tab = enter(context, page)
        key = key_of(tab)
        assert page.post("/api/order", ORDER).status == 200
        before = page.ledger.read_bytes()
        assert tab.goto(f"{other}/after").ok  # in the same tab
        beside = context.new_page()
        beside.goto(f"{other}/beside")
        found = [text for one in (tab, beside) for text in one.evaluate(ATTACK, page.origin)]
        assert context.cookies() == []
        assert page.ledger.read_bytes() == before
        assert len(received) >= 2
        for text in [*received, *found]:
            assert key not in text
            assert "cookie" not in text.lower()
            assert "datasets" not in text
        tab.goto(f"{page.origin}/release")  # and back, it is still the owner's
        settled(tab, "release")
        assert key_of(tab) == key
    context.close()


def test_a_reload_another_tab_and_the_way_back_need_no_new_link(browser, page):
    context = browser.new_context()
    tab = enter(context, page)
    tab.reload()
    settled(tab, "release")
    tab.click("nav >> text=Plan")
    settled(tab, "plan")
    tab.go_back()
    settled(tab, "release")
    with context.expect_page() as opened:
        tab.click("nav >> text=Understand", modifiers=["ControlOrMeta"])
    settled(opened.value, "understand")
    typed = context.new_page()
    typed.goto(f"{page.origin}/")
    typed.wait_for_url("**/release")
    settled(typed, "release")
    context.close()


def test_another_browser_is_told_what_to_do(browser, page):
    owner, stranger = browser.new_context(), browser.new_context()
    enter(owner, page)
    tab = stranger.new_page()
    tab.goto(f"{page.origin}/release")
    tab.wait_for_selector("#closed:visible")
    assert "press Enter" in tab.inner_text("main")
    assert "admissions" not in tab.content()
    assert key_of(tab) is None
    owner.close()
    stranger.close()


def test_a_link_that_is_pasted_where_a_tab_waits_for_a_key_opens_it(browser, page):
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(f"{page.origin}/")
    tab.wait_for_selector("#closed:visible")
    tab.goto(page.link())  # only what is behind the # differs
    tab.wait_for_url("**/release")
    settled(tab, "release")
    context.close()


def test_a_link_that_was_used_says_so(browser, page):
    context = browser.new_context()
    enter(context, page)
    tab = context.new_page()
    tab.goto(page.url)
    tab.wait_for_selector("text=This link was used before")
    assert "press Enter" in tab.inner_text("main")
    assert token_of(page.url) not in tab.url
    context.close()


def test_a_new_link_that_is_pasted_where_an_old_one_was_refused_opens_the_page(browser, page):
    context = browser.new_context()
    page.open(page.url)  # now it is used
    tab = context.new_page()
    tab.goto(page.url)
    tab.wait_for_selector("text=This link was used before")
    tab.goto(page.link())  # only what is behind the # differs
    tab.wait_for_url("**/release")
    settled(tab, "release")
    context.close()


def test_a_key_that_the_server_does_not_know_is_forgotten(browser, page):
    with visit(browser, page, "plan", refusals=2) as tab:
        settled(tab, "plan")
        tab.evaluate("sessionStorage.setItem('dproo-key', 'of another launch')")
        tab.goto(f"{page.origin}/release")
        tab.wait_for_selector("#data-refused:has-text('This tab has no key')")
        assert key_of(tab) is None
        tab.goto(f"{page.origin}/api/ledger")
        assert "This tab has no key" in tab.inner_text("main")


def test_no_history_holds_a_working_secret(browser, tmp_path):
    folder, ledger = admissions(tmp_path, budget="3")
    private, profile = tmp_path / "private", tmp_path / "profile"
    private.mkdir(mode=0o700)
    environment = {"BROWSER": "true", "XDG_RUNTIME_DIR": str(private)}
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with served(folder, ledger, "--open", environment=environment) as page:
        (file,) = private.glob("*/*")
        histories, keys = [], []
        for link in (file.as_uri, page.link):
            context = browser.browser_type.launch_persistent_context(
                profile, executable_path=shutil.which("chromium"), args=arguments
            )
            tab = context.new_page()
            tab.goto(link())
            tab.wait_for_url("**/release")
            keys.append(key_of(tab))
            context.close()
            histories.append(history(profile))
            assert f"{page.origin}/release" in histories[-1]
        by_file, by_link = histories
        assert not any(secret in url for url in by_file for secret in (token_of(page.url), *keys))
        assert not any(key in url for url in by_link for key in keys)
        for url in by_link:  # a browser keeps a link that was typed, but it opens nothing now
            assert page.open(url).status == 403


def history(profile):
    """Return the addresses that a browser has kept at its end."""
    with contextlib.closing(sqlite3.connect(profile / "Default" / "History")) as kept:
        return [url for (url,) in kept.execute("SELECT url FROM urls")]


def test_a_receipt_of_the_past_is_saved_as_a_file(browser, page):
    nonce = page.post("/api/order", ORDER).json["nonce"]
    receipt = page.post("/api/release", {"nonce": nonce}).json
    with visit(browser, page, "ledger") as tab:
        settled(tab, "ledger")
        with tab.expect_download() as download:
            tab.click("#accounts button")
        assert json.loads(download.value.path().read_text(encoding="utf-8")) == receipt
        assert download.value.suggested_filename == "dproo-receipt-2.json"
