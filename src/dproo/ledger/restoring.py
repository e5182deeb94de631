"""Continuing with an old copy of a ledger when no newer one is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from dproo.core.numbers import ATTO
from dproo.ledger.address import Database, address_of
from dproo.ledger.chain import RESTORED, Connection, Draft, events, now
from dproo.ledger.memory import Memory, News, named_witness, tell
from dproo.ledger.opening import PATIENCE, store_of
from dproo.ledger.witness import Note


@dataclass(frozen=True, kw_only=True)
class Loss:
    """What a ledger lacks of one dataset after an old copy was put back.

    Attributes:
        dataset: the declared name.
        charge: the sum of the lost charges, in nano-epsilon.
        delta: the same in atto-delta.
        is_declared: whether the ledger has its declaration, and can charge it again.
    """

    dataset: str
    charge: int
    delta: int
    is_declared: bool


def accept_restore(
    path: str | Path | Database, *, timeout: float = PATIENCE, witness: str | Path | None = None
) -> list[Loss]:
    """Charge again what an old copy of a ledger lacks, so that it can be used.

    Guarantee: no budget has more left than before the loss, as far as a witness noted it.

    Args:
        path: the ledger, as in :class:`Ledger`.
        timeout: seconds to wait for other processes.
        witness: as in :class:`Ledger`.

    Returns:
        What was lost of each dataset. One whose declaration was lost cannot be charged.

    Raises:
        ValueError: the ledger lacks nothing.
    """
    address = address_of(path)
    store = store_of(address, timeout=timeout)

    def restore(connection: Connection, *, is_again: bool) -> tuple[list[Loss], list[News]]:
        del is_again  # what a crash cut off is completed, whichever it was
        memory = Memory(connection=connection, chosen=named_witness(witness))
        memory.require_writable()
        lost = memory.lost()
        if not lost:
            raise ValueError(f"the ledger {address} lacks nothing; there is no restore to accept.")
        declared = [event.dataset for event in events(connection, where="kind = 'declared'")]
        found = _losses(lost, declared)
        newest = lost[-1].hash
        restored = list(events(connection, where="kind = 'restored'"))
        if all(event.fields["head"] != newest for event in restored):  # else a crash came between
            nothing = Loss(dataset=declared[0], charge=0, delta=0, is_declared=True)
            for loss in [loss for loss in found if loss.is_declared] or [nothing]:
                body = {"at": now(), "head": newest}
                if loss.delta:
                    body["delta"] = str(Fraction(min(loss.delta, ATTO - 1), ATTO))
                draft = Draft(
                    kind=RESTORED,
                    dataset=loss.dataset,
                    nano=loss.charge,
                    body=body,
                    entry=0,
                )
                store.append(connection, draft)
        return found, memory.news()

    found, news = store.write(restore)
    tell(news, timeout=timeout)
    return found


def _losses(lost: Iterable[Note], declared: Iterable[str]) -> list[Loss]:
    """Return what was lost of each dataset, those without a charge included."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for note in lost:
        sums[note.dataset][0] += note.nano
        sums[note.dataset][1] += note.atto
    known = set(declared)
    return [
        Loss(dataset=name, charge=nano, delta=atto, is_declared=name in known)
        for name, (nano, atto) in sums.items()
    ]
