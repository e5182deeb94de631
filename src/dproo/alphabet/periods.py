"""Days and months as letters, by their first and last."""

from __future__ import annotations

import re
from datetime import date, timedelta

from dproo.core.checks import refusal

PERIODS_MAX = 10**6
"""Days that one list may have: it is held in memory, and more would take minutes."""

_SHAPES = {"date": "[0-9]{4}-[0-9]{2}-[0-9]{2}", "yearmonth": "[0-9]{4}-[0-9]{2}"}


def periods(first: object, last: object, kind: str) -> list[str]:
    """Return all days or months from the first to the last, both included.

    Args:
        first: as ``2024-01-31``, or ``2024-01``.
        last: in the same form.
        kind: ``"date"`` or ``"yearmonth"``.

    >>> periods("2023-12", "2024-02", "yearmonth"), len(periods("2024-01-01", "2024-12-31", "date"))
    (['2023-12', '2024-01', '2024-02'], 366)

    Raises:
        ValueError: an end is none, the last comes before the first, or they are too many.
    """
    start, stop = _day(first, kind), _day(last, kind)
    if not start <= stop:
        raise ValueError(refusal("maximum", f"not come before {first}", last))
    if kind == "date":
        if (stop - start).days >= PERIODS_MAX:
            raise ValueError(refusal("maximum", f"be within {PERIODS_MAX:,} days of {first}", last))
        return [(start + timedelta(i)).isoformat() for i in range((stop - start).days + 1)]
    months = range(start.year * 12 + start.month - 1, stop.year * 12 + stop.month)
    return [f"{month // 12:04}-{month % 12 + 1:02}" for month in months]


def _day(text: object, kind: str) -> date:
    try:
        if isinstance(text, str) and re.fullmatch(_SHAPES[kind], text):
            return date.fromisoformat(text if kind == "date" else f"{text}-01")
    except ValueError:
        pass
    shown = "YYYY-MM-DD" if kind == "date" else "YYYY-MM"
    raise ValueError(refusal("minimum and maximum", f"look like {shown}", text))
