"""Copies of a ledger: moving one elsewhere, and continuing with an old one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from dproo.core.checks import refusal
from dproo.errors import NotEmptyLedgerError
from dproo.ledger.account import Replay
from dproo.ledger.events import RESTORED, Draft
from dproo.ledger.ledger import Ledger
from dproo.ledger.location import Database, address_of
from dproo.ledger.rules import TERMS
from dproo.ledger.stores import PATIENCE, LedgerSession, seconds, store_of
from dproo.ledger.witness import News, Note, named_witness, write_notes


@dataclass(frozen=True, kw_only=True)
class Loss:
    """What a ledger lacks for one dataset after an old copy was restored.

    Attributes:
        dataset: the declared name.
        charge: the sum of the lost charges, in nano-epsilon.
        delta: the same in atto-delta.
        is_declared: whether the ledger has its declaration, so that it can be charged again.
    """

    dataset: str
    charge: int
    delta: int
    is_declared: bool


def copy(source: Ledger, target: str | os.PathLike[str] | Database) -> Ledger:
    """Copy every event of a ledger into an empty one.

    Both are then the same ledger, by chain and identity: a charge to one of them makes the other
    an old copy, which a witness refuses. The copy that is returned has the source's witness.

    Args:
        source: the ledger to read; it is verified first.
        target: a new file, or a database with an empty ledger, whose tables the role must own,
            like the role that installed it.

    Raises:
        NotEmptyLedgerError: the target holds events.
    """
    if not isinstance(source, Ledger):
        raise TypeError(refusal("source", "be a Ledger", source))
    with source._reading() as session:  # noqa: SLF001 - in this package
        session.require_intact()
        chain = list(session.events())
    Replay.of(chain).require_intact(source.path)
    made = Ledger.create(target, witness=source.witness)

    def write(session: LedgerSession) -> None:
        held = list(session.events())
        if held and not (session.is_again and held == chain):
            raise NotEmptyLedgerError(f"the ledger {made.path} must be empty to be copied into.")
        if not held:
            session.insert(chain)

    made._write(write)  # noqa: SLF001
    made.verify()
    return made


def accept_restore(
    path: str | os.PathLike[str] | Database,
    *,
    timeout: float = PATIENCE,
    witness: str | Path | None = None,
) -> list[Loss]:
    """Charge again what an old copy of a ledger lacks, so that it becomes usable.

    Guarantee: no budget has more left than before the loss, as far as a witness noted it.

    Args:
        path: the ledger, as in :class:`Ledger`.
        timeout: seconds to wait for other processes.
        witness: as in :class:`Ledger`.

    Returns:
        What was lost for each dataset. One whose declaration was lost cannot be charged. Of
        several callers at the same time only one charges it, and others may get the same list.

    Raises:
        ValueError: the ledger lacks nothing.
    """
    address = address_of(path)
    store = store_of(address, timeout=seconds(timeout), witness=named_witness(witness))

    def restore(session: LedgerSession) -> tuple[list[Loss], list[News]]:
        memory = session.memory
        memory.require_writable()
        lost = memory.lost(session)
        if not lost:
            raise ValueError(f"the ledger {address} lacks nothing; there is no restore to accept.")
        names = session.names()
        again = {event.fields["head"] for event in session.events() if event.kind == RESTORED}
        due = [
            note
            for note in lost
            if note.dataset in names and note.nano + note.atto > 0 and note.hash not in again
        ]
        news = memory.news(session)
        if not due and any(newest in lost and not notes for _, newest, notes in news):
            due = [replace(lost[-1], dataset=names[0], nano=0, atto=0)]  # an event to note
        for note in due:
            draft = Draft(
                kind=RESTORED,
                dataset=note.dataset,
                nano=min(note.nano, TERMS["budget_max"]),
                atto=min(note.atto, TERMS["atto"]),
                body={"head": note.hash},
            )
            session.append(draft)
        return _losses(lost, names), memory.news(session)

    losses, news = store.write(restore)
    write_notes(news)
    return losses


def _losses(lost: Iterable[Note], declared: list[str]) -> list[Loss]:
    """Return what was lost for each dataset, including those without a charge."""
    sums: dict[str, tuple[int, int]] = {}
    for note in lost:
        nano, atto = sums.get(note.dataset, (0, 0))
        sums[note.dataset] = nano + note.nano, atto + note.atto
    return [
        Loss(dataset=name, charge=nano, delta=atto, is_declared=name in declared)
        for name, (nano, atto) in sums.items()
    ]
