"""What is known of a dataset in a shared ledger since the last event that was written to it here.

No event is ever changed. So while the ledger still holds that event, with the same hash, all of
this holds, and only what came after it has to be asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dproo.ledger.chain import RECORDED, RESERVED, Draft, Event
from dproo.ledger.limits import OF_HISTORY
from dproo.ledger.rules import private_field
from dproo.ledger.store import Standing


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known of a dataset.

    Attributes:
        origin: the first event of the ledger, which is its identity.
        last: the last event that is known.
        stands: how the dataset stood after it.
    """

    origin: Event
    last: Event
    stands: Standing

    def answers(self, draft: Draft) -> bool:
        """Return whether all is known that an event of a draft is held against.

        What is not public is never sent, not even to be rolled back.
        """
        declared = self.stands.declared.fields
        if private_field(draft.body, declared["neighbours"]) is not None:
            return False
        if draft.kind == RECORDED:
            return (self.last.kind, self.last.seq) == (RESERVED, draft.entry)
        has_no_history = OF_HISTORY.isdisjoint(declared.get("limits", ()))
        return draft.kind == RESERVED and "delta" not in draft.body and has_no_history

    def after(self, events: Sequence[Event]) -> Known | None:
        """Return what is known after further events, if they follow in the chain.

        Args:
            events: all after the last one that is known, whose hash is in the next one's.
        """
        stands, last = self.stands, self.last
        for event in events:
            if event.seq != last.seq + 1 or event.hash != event.link(last.hash):
                return None
            stands, last = stands.after(event), event
        return Known(origin=self.origin, last=last, stands=stands)
