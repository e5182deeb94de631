"""A validated count that has not started: what every engine returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

from dproo.core.counts import Counts
from dproo.core.draw import RandomSource
from dproo.counting.boundary import attempt
from dproo.counting.fit import Column
from dproo.counting.query import CountQuery
from dproo.counting.tally import Tally, named_counts
from dproo.errors import DamagedFileError, ReleaseError

COUNT_FAILED = "the data could not be counted; details are withheld because they could reveal data."
DAMAGED = (
    "the data could not be counted: a compressed file is damaged or incomplete. Test it, as in"
    " gzip -t FILE, and fetch or write it again."
)


@dataclass(frozen=True, kw_only=True)
class Scan:
    """A validated count that has not started.

    Attributes:
        engine: which engine will count, as in ``"files"``; public.
        columns: the columns to count, as the header or schema describes them, if there is one.
        warnings: why cells that should be letters may be outside, judged by header or schema.
        notes: what was taken from the header line, such as the separator.
        ready: how many records there are, if the data is ready counts.
    """

    engine: str
    columns: tuple[Column, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    ready: int | None = None
    _query: CountQuery = field(repr=False)
    _read: Callable[[], Sequence[Tally | Counts]]
    _rehearse: Callable[[], object] | None = None
    _close: Callable[[], object] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what was opened: connections with their locks, engines, files.

        A count does so at its end. A scan that is not counted must be closed, since an exception
        may keep it alive. It may be closed twice.
        """
        if self._close is not None:
            attempt(self._close)

    def rehearse(self) -> None:
        """Do everything that a count does except read a record, so that failures happen now.

        Libraries are loaded, engines are started, and queries run on no record.
        """
        if self._rehearse is not None:
            self._rehearse()

    def imagined(self, n: int) -> tuple[Counts, ...]:
        """Return counts in the form that the scan returns, of ``n`` imaginary records."""
        axis = self._query.open_axis
        if axis is not None:
            return named_counts([("", n)] if n else [], axis)
        return tuple(
            Tally(alphabet=alphabet, seen={0: n}, outside=0).counts()
            for alphabet in self._query.alphabets
        )

    def count(self, source: RandomSource | None = None) -> Counts:
        """Return the counts by the only alphabet, as :meth:`count_several` does.

        Guarantee: every record counts for exactly one letter.
        """
        if len(self._query.alphabets) > 1:
            raise ValueError("the scan is for several alphabets: call count_several.")
        return self.count_several(source)[0]

    def count_several(self, source: RandomSource | None = None) -> tuple[Counts, ...]:
        """Read the data once and return the counts by each alphabet.

        Guarantee: all counts are of the same records.

        Args:
            source: the source of randomness for the ``"uniform"`` policy.

        Raises:
            ReleaseError: it failed; the message is fixed, and there is no cause.
        """
        tables = attempt(lambda: self._counted(source))
        if tables == ():
            raise ReleaseError(DAMAGED)
        if tables is None or len({counts.n for counts in tables}) > 1:
            raise ReleaseError(COUNT_FAILED)
        return tables

    def _counted(self, source: RandomSource | None) -> tuple[Counts, ...]:
        """Return the counts by each alphabet, or () if a file cannot be unpacked."""
        try:
            tables = self._read()
        except DamagedFileError:
            return ()
        finally:
            self.close()
        return tuple(
            table.counts(source) if isinstance(table, Tally) else table for table in tables
        )
