"""The description that a package index shows: the README, with links that work outside of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?!https?://|#)(?P<target>[^)]+)\)")


class Description(MetadataHookInterface):
    """Called by hatchling for every wheel and source distribution."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the description."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata["urls"]["Source"]
        text = description(text, source=source, tag=f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def description(text: str, *, source: str, tag: str) -> str:
    """Return a README whose links lead to a tag of the repository.

    As long as nobody has said where that is, links become plain text and pictures are left out.
    """

    def absolute(link: re.Match[str]) -> str:
        if is_placeholder(source):
            return "" if link["picture"] else link["text"]
        folder = "raw" if link["picture"] else "blob"
        return f"{link['picture']}[{link['text']}]({source}/{folder}/{tag}/{link['target']})"

    return _LINK.sub(absolute, text)


def is_placeholder(value: str) -> bool:
    """Return whether an address is still the one that a maintainer has to replace."""
    return "example.org" in value
