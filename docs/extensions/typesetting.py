"""Long names in code break where their parts meet, powers are raised, numbers keep their unit."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

_JOINT = re.compile(
    r"(?<=[^\W_]{2}[/_])(?<!test_)(?=[^\W_])|(?<=[a-z])(?=[A-Z][a-z])"  # tests/a_name, CamelCase
    r"|(?<=::|\w\(|\w=)(?=[\w&\[])|(?<=\w)(?=\.[^\W\d]\w{3,}|@\w)"  # a.py::b, call(c=d), a.name
)
_LONG = len('<span class="pre"></span>') + 18
_POWER = re.compile(r"\^(-?[^\W_]+)")
_UNIT = re.compile(r"(?<=\d) (?=[%\u00d7])")
_BLANK_LAST_LINE = re.compile(r"\n\n(?=```$)", re.MULTILINE)


class Translator(HTML5Translator):
    """Writes a page as Sphinx does, but for spaces, powers and places to break a line."""

    def visit_Text(self, node: nodes.Text) -> None:  # noqa: N802 - the name that docutils calls
        """Write a piece of text; formulas in code stay as they are typed."""
        begin = len(self.body)
        super().visit_Text(node)
        for place in range(begin, len(self.body)):
            if self.protect_literal_text:
                if len(self.body[place]) > _LONG:
                    self.body[place] = _JOINT.sub("<wbr>", self.body[place])
            else:
                raised = _POWER.sub(r"<sup>\1</sup>", self.body[place])
                self.body[place] = _UNIT.sub("&#160;", raised)


def drop_blank_last_lines(app: Sphinx, page: str, source: list[str]) -> None:
    """Leave out the blank line with which doctest ends a block of code."""
    del app, page
    source[0] = _BLANK_LAST_LINE.sub("\n", source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Take the place of Sphinx's own translator."""
    app.set_translator("html", Translator, override=True)
    app.connect("source-read", drop_blank_last_lines)
    return {"parallel_read_safe": True}
