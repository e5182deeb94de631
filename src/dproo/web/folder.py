"""The allowed folder: the only files that the page can name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dproo.core.checks import refusal

_DEEPEST = 4
_MOST_FILES = 500


@dataclass(frozen=True)
class Folder:
    """A folder that cannot be left, neither by a path nor by a link.

    Guarantee: every file that :meth:`find` returns is in the folder once all links are
    followed. A file that is not there and one that is outside are refused alike.
    """

    root: Path

    def __post_init__(self) -> None:
        root = Path(self.root).resolve()
        if not root.is_dir():
            raise ValueError(refusal("folder", "be a folder that exists", str(self.root)))
        object.__setattr__(self, "root", root)

    def find(self, name: str, text: object) -> Path:
        """Return the file that ``text`` names; ``name`` is what a refusal calls it.

        Raises:
            ValueError: it is no file in the folder.
        """
        path = self._file(text) if isinstance(text, str) else None
        if path is None:
            raise ValueError(refusal(name, "be a file in the allowed folder", text))
        return path

    def _file(self, text: str) -> Path | None:
        try:
            path = (self.root / text).resolve()
            return path if path.is_relative_to(self.root) and path.is_file() else None
        except (OSError, RuntimeError, ValueError):  # a loop of links, a name too long
            return None

    def list(self, *suffixes: str, most: int | None = _MOST_FILES) -> list[str]:
        """Return the names of the files that end so, hidden ones left out."""
        return sorted(self._files(tuple(suffixes)))[:most]

    def _files(self, suffixes: tuple[str, ...]) -> Iterator[str]:
        for folder, inner, files in os.walk(self.root):
            here = Path(folder).relative_to(self.root)
            inner[:] = [name for name in inner if not name.startswith(".")]
            if len(here.parts) >= _DEEPEST:
                inner.clear()
            for name in files:
                text = str(here / name)
                is_wanted = name.lower().endswith(suffixes) and not name.startswith(".")
                if is_wanted and self._file(text) is not None:
                    yield text
