"""HTML tables, as notebooks show an object."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def table(caption: str, rows: Iterable[Sequence[object]], *, heads: Sequence[str] = ()) -> str:
    """Return an HTML table; every cell is text.

    >>> table("a < b", [("k", 9)])
    '<table><caption>a &lt; b</caption><tr><th>k</th><td>9</td></tr></table>'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    lines = "".join(
        f"<tr><th>{escape(str(first))}</th>"
        + "".join(f"<td>{escape(str(cell))}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    header = f"<tr>{head}</tr>" if head else ""
    return f"<table><caption>{escape(caption)}</caption>{header}{lines}</table>"
