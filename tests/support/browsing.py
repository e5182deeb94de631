"""A real browser on the page, and a watch over everything that must not happen in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

from support.serving import PATIENCE, Served

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
OVERFLOW = "document.body.scrollWidth - document.body.clientWidth"
LOSE = """(name) => {
  const real = window.fetch;
  window.fetch = async (address, ...rest) => {
    const answer = await real(address, ...rest);
    if (address !== `/api/${name}`) return answer;
    window.fetch = real;
    throw new TypeError("lost");
  };
}"""
"""Lose the next answer to a question, which the server answers all the same."""

ROOMS = ("release", "plan", "understand", "ledger")

_WATCH = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`violates the policy: ${event.violatedDirective} ${event.blockedURI}`));
"""


@contextmanager
def visit(
    browser: Any, served: Served, room: str, *, refusals: int = 0, **options: Any
) -> Iterator[Any]:
    """Open a room; on leaving demand a clean console, no violation and no foreign request.

    Args:
        browser: a browser of Playwright.
        served: the page.
        room: the room to enter.
        refusals: how many answers of the server will be refusals; the browser logs each.
        options: of the browser's context, as ``color_scheme``.
    """
    context = browser.new_context(**{"viewport": WIDE, "reduced_motion": "reduce", **options})
    troubles: list[str] = []
    context.add_init_script(_WATCH)
    context.on(
        "console",
        lambda message: message.type in {"error", "warning"} and troubles.append(message.text),
    )
    context.on("weberror", lambda error: troubles.append(str(error.error)))
    context.on(
        "request",
        lambda request: (
            request.url.startswith((served.origin, "data:", "blob:"))
            or troubles.append(f"external request: {request.url}")
        ),
    )
    try:
        context.set_default_timeout(PATIENCE * 1000)
        page = context.new_page()
        page.goto(served.link())
        page.wait_for_url("**/release")
        if room != "release":
            page.goto(f"{served.origin}/{room}")
        yield page
        page.wait_for_timeout(50)
        while len(_refused(troubles)) < refusals:  # what was asked last may be refused later
            context.wait_for_event("console")
    finally:
        context.close()
    refused = _refused(troubles)
    if len(refused) != refusals or troubles != refused:
        raise AssertionError(f"{refusals} refusals and nothing else, got {troubles}")


def _refused(troubles: list[str]) -> list[str]:
    return [text for text in troubles if text.startswith("Failed to load resource: the server")]


def settled(page: Any, room: str) -> None:
    """Wait until everything of a room stands there."""
    parts = {
        "plan": ("#accuracy .curve.chosen", "#answers:not(:has(.past)) td.number"),
        "understand": ("#paint svg", "#laws svg", "#draws svg", "#witness td"),
        "release": ("#columns .column",),
        "ledger": ("#accounts .card",),
    }
    if room == "release":
        choose(page, "admissions.csv")
    for part in parts[room]:
        page.wait_for_selector(part, state="attached")


def choose(page: Any, name: str) -> None:
    """Choose a file by its card, and wait for its columns."""
    page.check(f'[name=data][value="{name}"]')
    page.wait_for_selector("#columns .column")


@contextmanager
def seen(page: Any, condition: str) -> Iterator[None]:
    """Demand that a condition holds at some moment of the block, be it ever so short.

    Whoever looks from outside may come too late, so the page itself looks at every change.
    """
    page.evaluate(f"""() => {{
      delete document.body.dataset.seen;
      const watch = new MutationObserver(() => {{
        if ({condition}) document.body.dataset.seen = "yes";
      }});
      watch.observe(document.body, {{ subtree: true, childList: true }});
    }}""")
    yield
    page.wait_for_selector("body[data-seen]")


def tab_to(page: Any, selector: str) -> None:
    """Press Tab until the focus is where it should be."""
    for _ in range(80):
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached by Tab")


def faultless(page: Any) -> None:
    """Demand that axe-core finds nothing wrong with a page as it stands."""
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    faults = {one["id"]: [node["html"] for node in one["nodes"]] for one in found}
    if faults:
        raise AssertionError(f"axe-core must find nothing, got {faults}")
