"""The page: how soon its first chart is drawn in a browser, and what the extra weighs.

python benchmarks/page.py
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

ROUNDS = 7
FIRST_CHART = "#accuracy .curve.chosen"
TITLES = (
    "from process start: the link is printed",
    "    the page is answered",
    "    the first chart is drawn",
    "from opening Plan: the first time",
    "    again",
)


def moments(browser: Any, folder: str) -> tuple[float, ...]:
    """Return the seconds that each of ``TITLES`` took, in a server of their own."""
    command = [str(Path(sys.executable).parent / "dproo"), "serve", "--folder", folder]
    page = browser.new_context().new_page()
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        url = process.stdout.readline().strip() if process.stdout else ""
        printed = time.perf_counter() - start
        page.goto(url, wait_until="commit")
        answered = time.perf_counter() - start
        page.wait_for_url("**/release")
        opened = time.perf_counter() - start
        page.click("nav >> text=Plan")
        page.wait_for_selector(FIRST_CHART)
        drawn = time.perf_counter() - start
        page.reload()
        page.wait_for_selector(FIRST_CHART)
        again = time.perf_counter() - start
        page.context.close()
        process.send_signal(signal.SIGINT)
    return printed, answered, drawn, drawn - opened, again - drawn


def needed(name: str, *, extra: str | None = None) -> set[str]:
    """Return what a distribution needs, with an extra or without, and what that needs."""
    found: set[str] = set()
    waiting = [(name, extra)]
    while waiting:
        current, chosen = waiting.pop()
        for text in distribution(current).requires or ():
            requirement, _, condition = text.partition(";")
            extras = re.findall(r"extra == ['\"]([\w-]+)", condition)
            is_wanted = not extras or chosen in extras
            is_here = not re.search(r"python_version|sys_platform|platform_system", condition)
            other = re.split(r"[\[<>=!~ ]", requirement.strip())[0].lower()
            if is_wanted and is_here and other not in found:
                found.add(other)
                waiting.append((other, None))
    return found


def megabytes(names: set[str]) -> float:
    """Return the size of the installed files of these distributions."""
    files = (file for name in names for file in distribution(name).files or ())
    paths = {Path(str(file.locate())) for file in files}
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def main() -> None:
    """Print both tables."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("Chromium is not installed: the page was not measured.")
    else:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
            browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
            moments(browser, folder)
            rounds = [moments(browser, folder) for _ in range(ROUNDS)]
            browser.close()
        print(f"seconds, {ROUNDS} rounds                        best  median")
        for title, column in zip(TITLES, zip(*rounds, strict=True), strict=True):
            print(f"{title:<39} {min(column):5.2f}  {statistics.median(column):6.2f}")
    base, web = needed("dproo"), needed("dproo", extra="web")
    print(f"\nthe extra web adds {', '.join(sorted(web - base))}")
    print(f"{'installed size of the extra':<39} {megabytes(web - base):5.1f} MB")
    print(f"{'with all that dproo needs':<39} {megabytes(web | base):5.1f} MB")


if __name__ == "__main__":
    main()
