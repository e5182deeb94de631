"""The data that the page names: a file in the allowed folder, or a table of a database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from dproo.core.checks import one_of, refusal
from dproo.counting.layout import Layout
from dproo.counting.source import Source as Records
from dproo.counting.sources import postgresql_url
from dproo.counting.sql.query import table_parts
from dproo.releases.charge import dataset_name
from dproo.web.folder import Folder

FILE, DATABASE = "file", "database"
FIELDS = ("source", "data", "password", "table", "dataset", "delimiter", "encoding")


@dataclass(frozen=True, kw_only=True)
class Source:
    """Data that was named and not opened.

    Attributes:
        data: a file, or the URL of a database.
        name: the file as it was named, or "the database".
        dataset: the name of its budget.
        table: the table of a database or DuckDB file.
        layout: how a text file is laid out, as far as it was said.
    """

    data: Path | str = field(repr=False)
    name: str
    dataset: str
    table: str | None
    layout: Layout

    @classmethod
    def of(cls, texts: Mapping[str, str], folder: Folder) -> Source:
        """Return the data that the fields of a form name.

        Raises:
            ValueError: it is neither a file in the folder nor the URL of a database.
        """
        is_file = one_of("source", texts["source"], (FILE, DATABASE)) == FILE
        data: Path | str
        if is_file:
            data = folder.find("data", texts["data"])
        else:
            data = _with_password(_url(texts["data"]), texts["password"])
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
    def records(self) -> Records:
        """The data, for a release or a check."""
        return Records(data=self.data, table=self.table, layout=self.layout)

    @property
    def is_file(self) -> bool:
        """Whether it is a file of the folder."""
        return isinstance(self.data, Path)

    @property
    def where(self) -> str:
        """What a person calls it."""
        return self.name if self.table is None else f"table “{self.table}” of {self.name}"

    def require_unchanged(self, folder: Folder) -> None:
        """Raise if the file is no longer the one that was named."""
        if self.is_file and folder.find("data", str(self.data)) != self.data:
            raise ValueError(refusal("data", "be the file that was shown", str(self.data)))


def texts_of(
    form: object, names: tuple[str, ...], *, besides: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return the texts of a form, empty where they are missing.

    Args:
        form: what was sent.
        names: the fields that are texts.
        besides: further fields that it may have.

    Raises:
        TypeError, ValueError: it has other fields, or one is not a text.
    """
    known = (*names, *besides)
    if not isinstance(form, Mapping) or set(form) - set(known):
        raise ValueError(f"request must be an object of {', '.join(known)} only.")
    texts = {name: form.get(name) or "" for name in names}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(refusal(name, "be text", text))
    return texts


def _url(text: str) -> str:
    if not postgresql_url.is_url(text):
        raise ValueError("data must be a postgresql:// URL.")  # withheld: it may hold a password
    postgresql_url.parsed(text)
    return text


def _with_password(url: str, password: str) -> str:
    """Return a URL with the password that was typed apart from it."""
    if not password:
        return url
    settings = postgresql_url.parsed(url)
    if "password" in settings or "user" not in settings:
        raise ValueError("password must be given once, with a URL that names a user.")
    user, at, rest = url.partition("://")[2].partition("@")
    if not at:
        raise ValueError("password must be given with a URL such as postgresql://user@host/name.")
    return f"postgresql://{user}:{quote(password, safe='')}@{rest}"
