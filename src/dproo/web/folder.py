"""The data that the page can use: files in the allowed folder, or tables of a database."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from dproo.core.checks import one_of, refusal
from dproo.counting.layout import Layout
from dproo.counting.source import Source
from dproo.counting.sources.descriptors import Unlinked
from dproo.counting.sources.postgresql import url as postgresql_url
from dproo.counting.sql.statements import table_parts
from dproo.releases.charge import dataset_name

_DEEPEST = 4
_MOST_FILES = 500


@dataclass(frozen=True)
class Folder:
    """A folder that neither a path nor a link can leave.

    Guarantee: every file that :meth:`find` returns is in the folder once all links are
    followed, and a link that replaces a part of its path later is not followed when it is opened.
    A missing file and one outside are refused with the same sentence.
    """

    root: Path

    def __post_init__(self) -> None:
        root = Path(os.path.realpath(self.root))  # Path raises at a loop of links
        if not os.path.isdir(root):  # noqa: PTH112 - Path raises where it may not look
            raise ValueError(refusal("folder", "be a folder that exists", str(self.root)))
        object.__setattr__(self, "root", root)

    def find(self, name: str, text: object) -> Unlinked:
        """Return the file that ``text`` names; ``name`` is what a refusal calls it."""
        path = self._file(text) if isinstance(text, str) else None
        if path is None:
            raise ValueError(refusal(name, "be a file in the allowed folder", text))
        return Unlinked(path)

    def _file(self, text: str) -> Path | None:
        try:
            path = Path(os.path.realpath(self.root / text))
            return path if path.is_relative_to(self.root) and path.is_file() else None
        except (OSError, ValueError):  # a name too long
            return None

    def list(self, *suffixes: str) -> list[str]:
        """Return the names of the files with these endings, except hidden ones."""
        names = []
        for folder, inner, files in os.walk(self.root):
            here = Path(folder).relative_to(self.root)
            inner[:] = [name for name in inner if not name.startswith(".")]
            if len(here.parts) >= _DEEPEST:
                inner.clear()
            shown = [n for n in files if n.lower().endswith(suffixes) and not n.startswith(".")]
            names += [text for name in shown if self._file(text := str(here / name))]
        return sorted(names)[:_MOST_FILES]


FILE, DATABASE = "file", "database"
FIELDS = ("source", "data", "password", "table", "dataset", "delimiter", "encoding")


@dataclass(frozen=True, kw_only=True)
class NamedData:
    """Data that is named but not yet opened.

    Attributes:
        data: a file, or the URL of a database.
        name: the file's name as given, or "the database".
        dataset: the name of its budget.
    """

    data: Path | str = field(repr=False)
    name: str
    dataset: str
    table: str | None
    layout: Layout

    @classmethod
    def of(cls, texts: Mapping[str, str], folder: Folder) -> NamedData:
        """Return what a form names: a file in the folder, or a database by its URL."""
        is_file = one_of("source", texts["source"], (FILE, DATABASE)) == FILE
        data: Path | str
        if is_file:
            data = folder.find("data", texts["data"])
        else:
            data = _url(texts["data"], texts["password"])
        if texts["table"]:
            table_parts(texts["table"])
        return cls(
            data=data,
            name=texts["data"] if is_file else "the database",
            dataset=texts["dataset"] or dataset_name(str(data)),
            table=texts["table"] or None,
            layout=Layout(delimiter=texts["delimiter"] or None, encoding=texts["encoding"] or None),
        )

    @property
    def records(self) -> Source:
        """The data, for a release or a check."""
        return Source(data=self.data, table=self.table, layout=self.layout)

    @property
    def is_file(self) -> bool:
        """Whether it is a file of the folder."""
        return isinstance(self.data, Path)

    @property
    def where(self) -> str:
        """Its name for people."""
        return self.name if self.table is None else f"table “{self.table}” of {self.name}"

    def require_unchanged(self, folder: Folder) -> None:
        """Raise if the name no longer means the same file."""
        if self.is_file and folder.find("data", str(self.data)) != self.data:
            raise ValueError(refusal("data", "be the file that was shown", str(self.data)))


def texts_of(
    form: object, names: tuple[str, ...], *, besides: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return the texts of a form, empty if missing; only ``besides`` may be further fields."""
    known = (*names, *besides)
    if not isinstance(form, Mapping) or set(form) - set(known):
        raise ValueError(f"request must be an object of {', '.join(known)} only.")
    texts = {name: "" if form.get(name) is None else form[name] for name in names}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(refusal(name, "be text", text))
    return texts


def integer_of(name: str, text: object) -> int:
    """Return the integer that a field of a form holds, in digits."""
    if not (isinstance(text, str) and _INTEGER.fullmatch(text)):
        raise ValueError(refusal(name, "be an integer", text))
    return int(text)


_INTEGER = re.compile("-?[0-9]{1,30}")  # more digits than any bound on an integer has


def _url(url: str, password: str) -> str:
    """Return a URL with a password that was typed separately, if there is one."""
    if not postgresql_url.is_url(url):
        raise ValueError("data must be a postgresql:// URL.")  # withheld: it may hold a password
    settings = postgresql_url.parsed(url)
    if not password:
        return url
    if "password" in settings or "user" not in settings:
        raise ValueError("password must be given once, with a URL that names a user.")
    user, at, rest = url.partition("://")[2].partition("@")
    if not at:
        raise ValueError("password must be given with a URL such as postgresql://user@host/name.")
    return f"postgresql://{user}:{quote(password, safe='')}@{rest}"
