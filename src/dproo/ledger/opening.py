"""An open ledger: what keeps it, and what is remembered of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Self

from dproo.ledger.address import Address, Database, address_of
from dproo.ledger.chain import Connection, Draft
from dproo.ledger.limits import Limits
from dproo.ledger.memory import Memory, News, named_witness, tell
from dproo.ledger.postgresql import PostgresqlStore
from dproo.ledger.sqlite import SqliteStore
from dproo.ledger.store import Action, Result, Store

PATIENCE = 30
"""Seconds to wait for other processes."""


@dataclass(frozen=True, init=False, repr=False)
class Book:
    """A ledger that can be opened; :class:`Ledger` says what it is for."""

    path: Address
    timeout: float = field(default=PATIENCE, kw_only=True)
    witness: Path | None = field(default=None, kw_only=True)
    limits: Limits = field(default_factory=Limits, kw_only=True, repr=False)

    def __init__(
        self,
        path: str | os.PathLike[str] | Database,
        *,
        timeout: float = PATIENCE,
        witness: Path | None = None,
    ) -> None:
        object.__setattr__(self, "path", address_of(path))
        object.__setattr__(self, "timeout", timeout)
        object.__setattr__(self, "limits", Limits())
        object.__setattr__(self, "witness", named_witness(witness))
        with self._reading():
            pass

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str] | Database,
        *,
        timeout: float = PATIENCE,
        witness: Path | None = None,
    ) -> Self:
        """Create an empty ledger in a file, or open an existing one."""
        store_of(address_of(path), timeout=timeout).create()
        return cls(path, timeout=timeout, witness=witness)

    def __repr__(self) -> str:
        return f"<Ledger {str(self.path)!r}>"

    def limited(self, limits: Limits) -> Self:
        """Return the same ledger, whose releases through it must keep further rules."""
        other = copy(self)
        object.__setattr__(other, "limits", limits)
        other.__dict__["_store"] = self._store
        return other

    def __getstate__(self) -> dict[str, object]:
        """Leave connections behind, which no other process can use."""
        return {name: value for name, value in self.__dict__.items() if name != "_store"}

    @cached_property
    def _store(self) -> Store:
        return store_of(self.path, timeout=self.timeout)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._store.reading() as connection:
            self._memory(connection).require_all(self.path)
            yield connection

    def _write(self, action: Action[Result], *, likely: Draft | None = None) -> Result:
        """Run ``action`` as :meth:`Store.write` does; witnesses then note what it wrote."""

        def remembered(connection: Connection, *, is_again: bool) -> tuple[Result, list[News]]:
            memory = self._memory(connection)
            memory.require_all(self.path)
            memory.require_writable()
            return action(connection, is_again=is_again), memory.news()

        result, news = self._store.write(remembered, likely=likely)
        tell(news, timeout=self.timeout)
        return result

    def _memory(self, connection: Connection) -> Memory:
        recent = self._store.recent(connection)
        return Memory(connection=connection, chosen=self.witness, recent=recent)


def store_of(address: Address, *, timeout: float) -> Store:
    """Return what keeps the ledger; nothing is opened yet."""
    if isinstance(address, Database):
        return PostgresqlStore(address, timeout=timeout)
    return SqliteStore(address, timeout=timeout)
