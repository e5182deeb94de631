"""The launch: a link for the browser that is not seen in the list of processes.

A browser is started with an address as its argument, and every user of the machine can read
the arguments of every process. So it is given the path of a file that only its owner can read,
which sends the token of a link on in a form. A token in a form enters no history either.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
import webbrowser
from functools import partial
from pathlib import Path

from dproo.web.door import Door

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>dproo</title>
<form method="post" action="{address}">
<input type="hidden" name="token" value="{token}">
<button>Open dproo</button>
</form>
<script>document.forms[0].submit()</script>
</html>
"""
_IN_A_TERMINAL = {"elinks", "links", "lynx", "w3m", "www-browser"}


def prepare(door: Door) -> tuple[str, Path]:
    """Return a new link, and a file that opens it; the file goes with the link."""
    folder = tempfile.mkdtemp(prefix="dproo-", dir=_private_folder())
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(remove)
    link = door.link(gone=remove)
    address, _, token = link.partition("#")
    path = Path(folder) / "open.html"
    path.touch(mode=0o600, exist_ok=False)
    path.write_text(_PAGE.format(address=address, token=token), encoding="utf-8")
    return link, path


def show(path: Path) -> bool:
    """Show a file in the user's browser and tell whether there is one; it may take for ever.

    A browser in the terminal counts as none: it would take the terminal, and the page needs
    scripts.
    """
    try:
        name = getattr(webbrowser.get(), "name", "")
        return Path(name).name not in _IN_A_TERMINAL and webbrowser.open(path.as_uri())
    except webbrowser.Error:
        return False


def _private_folder() -> str | None:
    """Return the user's own folder for a session, if it is there and really their own."""
    folder = os.environ.get("XDG_RUNTIME_DIR", "")
    try:
        status = Path(folder).stat()
    except OSError:
        return None
    is_own = status.st_uid == os.geteuid() and not status.st_mode & 0o077
    return folder if folder and is_own and stat.S_ISDIR(status.st_mode) else None
