"""An opened source: its columns, and how to count some of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from dproo.counting.fit import Column, check_fit, require_columns
from dproo.counting.query import CountQuery
from dproo.counting.scan import Scan


@dataclass(frozen=True, kw_only=True)
class Table:
    """Data that has been opened: what every source provides; no record has been read.

    Attributes:
        columns: its columns, as the header or schema describes them; only those to read, if the
            records alone could show all; None if they have no names, as in a list.
        plan: returns the scan of the columns at these places, the person's last. They fit the
            letters; it refuses whatever else can be known before a record is read.
        close: closes what was opened.
    """

    columns: tuple[Column, ...] | None
    plan: Callable[[Sequence[int], CountQuery], Scan] = field(repr=False)
    close: Callable[[], object] = field(default=lambda: None, repr=False)

    def scan(self, query: CountQuery) -> Scan:
        """Check the columns against the letters, and plan the count; a refusal closes the table.

        Raises:
            ValueError: a column is missing or cannot hold the letters, or the source refuses.
        """
        try:
            if self.columns is None:
                return self.plan((), query)
            if not query.read and len(self.columns) > 1:
                query.require_column("table")
            # In pandas a name may be anything, such as NA, which nothing can be compared with.
            names = [column.name for column in self.columns if isinstance(column.name, str)]
            require_columns(query.read, among=names)
            by_name = {column.name: place for place, column in enumerate(self.columns)}
            places = [by_name[name] for name in query.read] or [0]
            columns = tuple(self.columns[place] for place in places)
            warnings = check_fit(columns, query.axes)
            scan = self.plan(places, query)
        except BaseException:
            self.close()
            raise
        return replace(
            scan,
            columns=columns[: len(query.axes)],
            warnings=(*warnings, *scan.warnings),
            _close=self.close,
        )
