"""Where a PostgreSQL database is: connection strings, read by the driver's own parser.

A connection string may hold a password. It is passed only to the driver: no message, name or
object of this package repeats it.
"""

from __future__ import annotations

import logging
import os
import re
from types import ModuleType
from urllib.parse import quote

from dproo.counting.boundary import load, required

SCHEMES = ("postgresql://", "postgres://")
CONNECT_TIMEOUT = 10
"""Seconds to wait for a host, unless URL or environment set a limit."""

_LOOKS_LIKE_ONE = re.compile(r"\s*(?:jdbc:)?postgres(?:ql)?(?:\+\w+)?:", re.IGNORECASE)
_PORT = "5432"
_SILENT = logging.NullHandler()


def is_url(data: object) -> bool:
    """Return whether this is meant to be a PostgreSQL URL, valid or not."""
    return isinstance(data, str) and _LOOKS_LIKE_ONE.match(data) is not None


def driver() -> ModuleType:
    """Return psycopg, which logs nothing unless the application has configured its logger."""
    logging.getLogger("psycopg").addHandler(_SILENT)
    return load("psycopg", extra="postgresql")


def parsed(url: str, *, name: str = "data") -> dict[str, str]:
    """Return the settings of a URL, for the driver only; ``name`` is what a refusal calls it."""
    psycopg = driver()
    if not url.startswith(SCHEMES):
        raise ValueError(
            f"{name} must be a URL that starts with postgresql://, without a driver's name."
        )
    # For the driver, user and password end at the first @, unless a slash comes before it: with
    # other signs in it, the rest of a password would be taken for a host, a port or a database.
    before, at, after = url.partition("://")[2].partition("@")
    if at and ("/" in before or "@" in after):
        raise ValueError(
            f"{name} must be a URL with / and @ written as %2F and %40 in user, password and"
            " options."
        )
    found = required(  # the driver's message quotes the URL
        lambda: psycopg.conninfo.conninfo_to_dict(url),
        f"{name} must be a URL that psycopg can read: postgresql://user@host:port/database."
        " Write characters other than letters and digits as %XX.",
    )
    settings = {key: str(value) for key, value in found.items()}
    if re.fullmatch("[0-9,]*", settings.get("port", "")) is None:
        raise ValueError(
            f"{name} must be a URL with a number as its port."
            " Write / in a password as %2F, or keep the password in a password file."
        )
    return settings


def public_name(url: str) -> str:
    """Return what identifies the data of a URL: host, port and database, and nothing else.

    Omitted parts come from where the driver takes them, such as ``PGHOST``. The user is not part
    of it, because the budget belongs to the data, not to a reader.

    >>> public_name("postgresql://ann:S3CR#T@db.example/clinic?%70assword=x&sslmode=require")
    'postgresql://db.example/clinic'
    """
    given = parsed(url)
    if "service" in given or "PGSERVICE" in os.environ:
        raise ValueError(
            "dataset must be given for a URL with a service: its file elsewhere names the database."
        )
    known = {
        option.keyword.decode(): option.val.decode(errors="replace")
        for option in driver().pq.Conninfo.get_defaults()
        if option.val is not None
    } | given
    hosts = (known.get("host") or known.get("hostaddr") or "").split(",")
    ports = known.get("port", _PORT).split(",")
    ports = ports * len(hosts) if len(ports) == 1 else ports
    places = ",".join(
        _host(host) + (f":{port}" if port not in {"", _PORT} else "")
        for host, port in zip(hosts, ports, strict=False)
    )
    return f"postgresql://{places}/{quote(known.get('dbname') or known.get('user', ''), safe='')}"


def _host(host: str) -> str:
    if ":" in host:
        return f"[{host.lower()}]"
    return quote(host if host.startswith("/") else host.lower(), safe="")
