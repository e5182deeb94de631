"""Making a ledger in PostgreSQL: its tables, its functions and the roles that may call them."""

from __future__ import annotations

from contextlib import closing
from importlib.resources import files
from typing import Any

from dproo.engines import postgresql_url
from dproo.engines.postgresql_session import connect
from dproo.exceptions import LedgerError, RoleError, UnusableLedgerError
from dproo.ledger.address import Database
from dproo.ledger.postgresql_errors import require_format

ROLES = ("dproo_owner", "dproo_spender", "dproo_auditor")

_OLDEST = 140000  # PostgreSQL 14
_ROLE = (
    "DO $$ BEGIN CREATE ROLE {} NOLOGIN; "
    "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
)


def install(database: Database) -> bool:
    """Make an empty ledger in a database, and the roles where they are missing.

    Returns:
        Whether it was made; one that is there is left as it is.

    Raises:
        LedgerError: the server cannot be reached, is too old, or does not let this role do it.
    """
    try:
        connection = connect(database.url, name="ledger")
    except ValueError as error:
        raise UnusableLedgerError(f"the ledger {database} could not be made: {error}") from None
    psycopg = postgresql_url.driver()
    failure: LedgerError
    try:
        with closing(connection), connection.transaction():
            return _make(connection, database)
    except psycopg.errors.InsufficientPrivilege:
        failure = RoleError(
            f"the ledger {database} could not be made: the role needs CREATE on the database and "
            "CREATEROLE."
        )
    except psycopg.Error:
        failure = UnusableLedgerError(
            f"the ledger {database} could not be made: the database refused; details are withheld."
        )
    raise failure


def _require_ledger(connection: Any, database: Database) -> None:
    """Raise unless the schema that is there is a ledger of this format."""
    execute = connection.execute
    if execute("SELECT to_regclass('dproo.head')").fetchone() == (None,):
        raise UnusableLedgerError(
            f"the ledger {database} could not be made: the schema dproo is there, with something "
            "else in it."
        )
    (version,) = execute("SELECT format FROM dproo.head").fetchone()
    require_format(version, database)


def _make(connection: Any, database: Database) -> bool:
    execute = connection.execute
    execute("SET LOCAL search_path = pg_catalog, pg_temp")
    execute("SET LOCAL standard_conforming_strings = on")
    execute("SELECT pg_advisory_xact_lock(hashtext('dproo ledger install'))")
    (version, encoding) = execute(
        "SELECT current_setting('server_version_num')::integer, getdatabaseencoding()"
    ).fetchone()
    if version < _OLDEST or encoding != "UTF8":
        raise UnusableLedgerError(
            f"the ledger {database} could not be made: it needs PostgreSQL 14 or later and a "
            "database in UTF8."
        )
    if execute("SELECT 1 FROM pg_namespace WHERE nspname = 'dproo'").fetchone():
        _require_ledger(connection, database)
        return False
    known = {name for (name,) in execute("SELECT rolname FROM pg_roles")}
    for role in ROLES:
        if role not in known:
            execute(_ROLE.format(role))
    execute(files("dproo.ledger").joinpath("schema.sql").read_text(encoding="utf-8"))
    return True
