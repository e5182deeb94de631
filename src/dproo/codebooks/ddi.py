"""DDI code books: XML with a ``var`` for each variable and a ``catgry`` for each value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

from dproo.alphabet.cell import INTEGER_TEXT
from dproo.codebooks.draft import TO_DO
from dproo.codebooks.lookup import field_of
from dproo.core.arguments import refusal
from dproo.core.public_file import read_public

STATISTICS = (
    "The file holds statistics of the data: values may come from the data too, and minima and"
    " maxima were not taken. Confirm every value from another source."
)
_STATISTICS = {"sumStat", "catStat"}


def fields_of_ddi(path: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the fields of a DDI code book, and what a person must know about it.

    Raises:
        ValueError: it is no readable XML, declares a document type, or has no variables.
    """
    text = read_public("file", path)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError(refusal("file", "be XML without a document type", path))
    try:
        root = ET.fromstring(text.encode())  # noqa: S314 - no entity is declared
    except ET.ParseError:
        raise ValueError(refusal("file", "be readable XML", path)) from None
    has_statistics = any(_tag(element) in _STATISTICS for element in root.iter())
    fields = [
        _field(element, has_statistics=has_statistics)
        for element in root.iter()
        if _tag(element) == "var" and element.get("name")
    ]
    if not fields:
        raise ValueError(refusal("file", "be a DDI code book with variables", path))
    return fields, [STATISTICS] if has_statistics else []


def _tag(element: ET.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _children(element: ET.Element, tag: str) -> Iterator[ET.Element]:
    return (child for child in element.iter() if _tag(child) == tag)


def _text(element: ET.Element, tag: str) -> str:
    found = next(_children(element, tag), None)
    return "" if found is None else "".join(found.itertext()).strip()


def _field(variable: ET.Element, *, has_statistics: bool) -> dict[str, Any]:
    name = variable.get("name", "")
    categories = [
        (_text(category, "catValu"), _text(category, "labl"), category.get("missing") == "Y")
        for category in _children(variable, "catgry")
    ]
    missing = [value for value, _, is_missing in categories if is_missing]
    listed = [(value, label) for value, label, is_missing in categories if not is_missing]
    if listed:
        field = field_of(name, listed)
    else:
        field = _unlisted(variable, name, has_statistics=has_statistics)
    return {**field, "missingValues": ["", *missing]} if missing else field


def _unlisted(variable: ET.Element, name: str, *, has_statistics: bool) -> dict[str, Any]:
    formats = list(_children(variable, "varFormat"))
    if formats and formats[0].get("type") == "character":
        return {"name": name, "type": "string", "categories": TO_DO + "list every value"}
    ranges = [part for part in _children(variable, "valrng") for part in _children(part, "range")]
    ends = [ranges[0].get("min", ""), ranges[0].get("max", "")] if ranges else []
    if ends and not has_statistics and all(re.fullmatch(INTEGER_TEXT, end) for end in ends):
        low, high = map(int, ends)
        return {"name": name, "type": "integer", "constraints": {"minimum": low, "maximum": high}}
    return {"name": name, "type": "number", "bins": TO_DO + "list the edges"}
