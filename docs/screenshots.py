"""Take the screenshots of the page that the documentation shows.

python docs/screenshots.py
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"

# A ledger with a history: the clock of its entries goes on by days.
SERVE = """
from datetime import UTC, datetime, timedelta
from dproo.cli import main
from dproo.ledger import events

class Calendar(datetime):
    moment = datetime(2026, 3, 2, 9, 5, tzinfo=UTC)

    @classmethod
    def now(cls, zone):
        Calendar.moment += timedelta(days=2, minutes=23)
        return Calendar.moment

events.datetime = Calendar
main()
"""

LOOKS: dict[str, dict[str, Any]] = {
    "wide": {"viewport": {"width": 1400, "height": 900}, "color_scheme": "light"},
    "narrow": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1100, "height": 900}, "color_scheme": "dark"},
}


def plan(page: Any) -> None:
    """Wait for the answer and the chart."""
    for part in ("#target:not(:empty)", "#accuracy .curve.chosen"):
        page.wait_for_selector(part)


def understand(page: Any) -> None:
    """Take an epsilon at which every sampler has a law of its own, and draw."""
    for part in ("#laws svg", "#witness td"):
        page.wait_for_selector(part)
    with page.expect_response("**/api/law"):
        page.fill("#epsilon", "0.5")
    page.click("#draw-many")
    page.wait_for_selector("#drawn:has-text('100 draws')")


def describe(page: Any) -> None:
    """Choose a file and open a code book."""
    page.check("[name=data][value='admissions.csv']")
    page.wait_for_selector("#columns .column")
    page.set_input_files("#open-book", ROOT / "examples" / "codebook.json")
    page.wait_for_selector("#save-book:enabled")


def budget(page: Any) -> None:
    """Declare a budget, in the first look."""
    page.wait_for_selector("#step-budget:visible, #in-sight:visible")
    if page.is_visible("#budget"):
        page.fill("#budget", "9")
        page.click("#declare")
        page.wait_for_selector("#confirm:visible")


def found(page: Any) -> None:
    """Have the values found, see what that is worth, and declare a budget with a delta."""
    page.check("[name=data][value='admissions.csv']")
    page.wait_for_selector("#columns .column")
    page.check("[name=how][value=found]")
    page.fill("#n", "4,000")
    page.fill("#epsilon", "3")
    page.wait_for_selector("#forecast:has-text('ε = 3,')")
    budget(page)


def row(page: Any) -> None:
    """Release two rows."""
    describe(page)
    budget(page)
    page.check("[name=what][value=row]")
    page.fill("#n", "4,000")
    for purpose, epsilon in (("annual report", "0.5"), ("a lecture", "1")):
        page.fill("#epsilon", epsilon)
        page.fill("#purpose", purpose)
        page.wait_for_selector(f"#forecast:has-text('ε = {epsilon},')")
        page.click("#review")
        page.click("#go")
        page.wait_for_selector(f"#facts:visible:has-text('{purpose}')")


def table(page: Any) -> None:
    """Release a private table."""
    describe(page)
    budget(page)
    page.fill("#n", "4,000")
    page.fill("#epsilon", "1")
    page.fill("#purpose", "a course")
    page.wait_for_selector("#forecast:has-text('ε = 1,')")
    page.click("#review")
    page.click("#go")
    page.wait_for_selector("#released-table:visible")


def ledger(page: Any) -> None:
    """Wait for the history."""
    page.wait_for_selector("#accounts tbody tr")


VIEWS: dict[str, tuple[str, Callable[[Any], None]]] = {
    "describe": ("release", describe),
    "found": ("release", found),
    "release": ("release", row),
    "table": ("release", table),
    "plan": ("plan", plan),
    "understand": ("understand", understand),
    "ledger": ("ledger", ledger),
}


# Where the pictures were taken is of no use to a reader.
SHOWN_FOLDER = "/home/ann/hospital"
RENAME = """([folder, shown]) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode())
    walker.currentNode.nodeValue = walker.currentNode.nodeValue.replaceAll(folder, shown);
  for (const field of document.querySelectorAll("input"))
    if (field.type !== "file") field.value = field.value.replaceAll(folder, shown);
}"""


def take(browser: Any, process: subprocess.Popen[str], folder: str) -> None:
    """Take every view in every look; each look is a browser of its own and needs its own link."""
    for look, options in LOOKS.items():
        context = browser.new_context(reduced_motion="reduce", **options)
        page = context.new_page()
        link = process.stdout.readline().strip() if process.stdout else ""
        page.goto(link)
        page.wait_for_url("**/release")
        print(file=process.stdin, flush=True)  # Enter, for the next link
        for view, (room, prepare) in VIEWS.items():
            page.goto("about:blank")
            page.goto(f"{link.partition('/#')[0]}/{room}")
            prepare(page)
            page.wait_for_load_state("networkidle")  # the ledger is shown anew after a release
            page.evaluate(RENAME, [folder, SHOWN_FOLDER])
            page.mouse.move(0, 0)
            page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
            page.screenshot(path=IMAGES / f"page-{view}-{look}.png", full_page=True)
        context.close()


def shrink() -> None:
    """Keep 256 colours of each image, which the hue of a line needs: a third of the size."""
    from PIL import Image  # noqa: PLC0415 - it comes with matplotlib

    for path in IMAGES.glob("page-*.png"):
        image = Image.open(path).convert("RGB")
        image.quantize(dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    """Serve a copy of the examples, and take the pictures of it."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("Chromium is not installed: the screenshots stay as they are.")
        return
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hospital-") as folder:
        for name in ("admissions.csv", "diagnosis_codes.txt"):
            shutil.copy(ROOT / "examples" / name, folder)
        ledger = str(Path(folder) / "ledger.sqlite3")
        serve = ["serve", "--folder", folder, "--ledger", ledger]
        command = [sys.executable, "-c", SERVE, *serve]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
                take(browser, process, folder)
                browser.close()
            process.send_signal(signal.SIGINT)
    shrink()
    size = sum(path.stat().st_size for path in IMAGES.glob("page-*.png"))
    print(f"{len(LOOKS) * len(VIEWS)} screenshots, {size // 1024} KiB")


if __name__ == "__main__":
    main()
