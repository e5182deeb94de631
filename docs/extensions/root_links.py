"""Links to pages outside of docs lead to their copies in the site."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

PAGES = {
    "README.md": "/index.md",
    "SECURITY.md": "/security.md",
    "CONTRIBUTING.md": "/contributing.md",
    "CHANGELOG.md": "/changes.md",
    "GOVERNANCE.md": "/governance.md",
    "CODE_OF_CONDUCT.md": "/conduct.md",
    "benchmarks/ratios.md": "/ratios.md",
    "benchmarks/growth.md": "/growth.md",
    "benchmarks/rows.md": "/rows.md",
    "benchmarks/table.md": "/table.md",
}
_LINK = re.compile(rf"\]\((?:\.\./)+({'|'.join(map(re.escape, PAGES))})")


def lead_into_the_site(app: Sphinx, page: str, source: list[str]) -> None:
    """Rewrite the links of a page as it is read."""
    del app, page
    source[0] = _LINK.sub(lambda link: f"]({PAGES[link[1]]}", source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Listen to pages being read."""
    app.connect("source-read", lead_into_the_site)
    return {"parallel_read_safe": True}
