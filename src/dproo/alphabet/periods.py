"""Days and months as letters, by their first and last; never written out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import overload

from dproo.core.checks import refusal

PERIODS_MAX = 10**6
"""Days that one column may have: counting lists them all."""

_SHAPES = {"date": "[0-9]{4}-[0-9]{2}-[0-9]{2}", "yearmonth": "[0-9]{4}-[0-9]{2}"}


@dataclass(frozen=True)
class Periods(Sequence[str]):
    """All days or months from a first to a last, in order, each computed when it is needed.

    Attributes:
        first: the number of the first.
        size: how many there are.
        kind: ``"date"`` or ``"yearmonth"``.
    """

    first: int
    size: int
    kind: str

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...

    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        numbers = range(self.first, self.first + self.size)
        if isinstance(place, slice):
            return tuple(map(self._text, numbers[place]))
        return self._text(numbers[place])

    def __iter__(self) -> Iterator[str]:
        return map(self._text, range(self.first, self.first + self.size))

    def place(self, text: str) -> int | None:
        """Return the place of a period by its text, or None if it is not one of them."""
        try:
            place = _number(text, self.kind) - self.first
        except ValueError:
            return None
        return place if 0 <= place < self.size else None

    def _text(self, number: int) -> str:
        if self.kind == "date":
            return date.fromordinal(number).isoformat()
        return f"{number // 12:04}-{number % 12 + 1:02}"


def periods(first: object, last: object, kind: str) -> Periods:
    """Return all days or months from the first to the last, both included.

    Args:
        first: as ``2024-01-31``, or ``2024-01``.
        last: in the same form.
        kind: ``"date"`` or ``"yearmonth"``.

    >>> list(periods("2023-12", "2024-02", "yearmonth"))
    ['2023-12', '2024-01', '2024-02']
    >>> len(periods("2024-01-01", "2024-12-31", "date"))
    366

    Raises:
        ValueError: an end is not a period, the last comes before the first, or they are too many.
    """
    start, stop = _number(first, kind), _number(last, kind)
    if not start <= stop:
        raise ValueError(refusal("maximum", f"not come before {first}", last))
    if stop - start >= PERIODS_MAX:
        raise ValueError(refusal("maximum", f"be within {PERIODS_MAX:,} days of {first}", last))
    return Periods(start, stop - start + 1, kind)


def _number(text: object, kind: str) -> int:
    """Return the number of a day since the year 1, or of a month since the year 0."""
    try:
        if isinstance(text, str) and re.fullmatch(_SHAPES[kind], text):
            day = date.fromisoformat(text if kind == "date" else f"{text}-01")
            return day.toordinal() if kind == "date" else day.year * 12 + day.month - 1
    except ValueError:
        pass
    shown = "YYYY-MM-DD" if kind == "date" else "YYYY-MM"
    raise ValueError(refusal("minimum and maximum", f"look like {shown}", text))
