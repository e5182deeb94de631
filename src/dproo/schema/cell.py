"""The canonical text of a cell: what every engine compares.

| cell | canonical text |
|---|---|
| text | itself, character by character: nothing is trimmed, folded or normalised |
| integer of any width, decimal with an integral value | its decimal digits |
| float with an integral value of at most 2^53 | its decimal digits |
| boolean | ``true`` or ``false`` |
| date | ``YYYY-MM-DD`` |
| anything else: null, NaN, empty text, a time, bytes, a list, an array | none: not a letter |

Every engine implements the same rules; a test compares all of them with these functions.
"""

from __future__ import annotations

import math
import re
import sys
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

EXACT_FLOAT = 2**53
FINE = "ns]", "ps]", "fs]", "as]"  # units of NumPy for which Python has no type
BEYOND = object()
"""Neither letter, person nor missing: an unreadable cell, or a day beyond the years 1 to 9999."""
_DIGITS = 1000  # a number with more is not a letter; printing it could take forever

# Every dialect of regular expressions reads these alike: no \d, no lookahead.
INTEGER_TEXT = "^(0|-?[1-9][0-9]{0,17})$"
NUMBER_TEXT = "^-?[0-9]{1,20}([.][0-9]{1,20})?([eE][+-]?[0-9]{1,2})?$"

_NUMBER = re.compile(NUMBER_TEXT)


def plain(cell: Any) -> Any:
    """Return the value of a scalar of NumPy or Arrow, or of an enumeration's member.

    Anything else is returned unchanged.
    """
    if isinstance(cell, Enum):
        cell = cell.value
    if type(cell).__module__ == "pyarrow.lib" and hasattr(type(cell), "as_py"):
        return cell.as_py()
    if not is_scalar(cell):
        return cell
    value = cell.item()
    if isinstance(value, int) and cell.dtype.kind in "mM":  # Python has no type for this unit
        is_fine = cell.dtype.kind == "M" and cell.dtype.name.endswith(FINE)
        value = cell.astype("M8[us]").item() if is_fine else None  # otherwise outside the calendar
        return value if isinstance(value, datetime) else None
    return value


def library_of(value: object) -> str:
    """Return the name of the library that a value's type comes from.

    >>> library_of(Decimal(1)), library_of(1)
    ('decimal', 'builtins')
    """
    return type(value).__module__.partition(".")[0]


def is_scalar(cell: object) -> bool:
    """Return whether this is a scalar of NumPy; an array is not, even of one element or none."""
    numpy = sys.modules.get("numpy") if type(cell).__module__ == "numpy" else None
    return numpy is not None and isinstance(cell, numpy.generic)


def text_of(cell: object) -> str | None:
    """Return the canonical text of a cell, or None if it cannot be a letter of a list.

    >>> [text_of(cell) for cell in ("007", 7, 7.0, True, date(2026, 1, 2), 7.5, None, "")]
    ['007', '7', '7', 'true', '2026-01-02', None, None, None]
    """
    if type(cell) is str:  # the usual case
        return cell or None
    cell = plain(cell)
    text = None
    match cell:
        case str():
            text = str.__str__(cell)  # ignoring a subclass's own __str__
        case bool():
            text = "true" if cell else "false"
        case int() if abs(cell) < 10**_DIGITS:
            text = str(int(cell))
        case float() if abs(cell) <= EXACT_FLOAT and cell.is_integer():
            text = str(int(cell))
        case Decimal() if _is_whole(cell):
            text = str(int(cell))
        case date() if not isinstance(cell, datetime):
            text = cell.isoformat()
    return text or None


def _is_whole(number: Decimal) -> bool:
    is_short = number.is_finite() and number.adjusted() < _DIGITS
    return is_short and number == number.to_integral_value()


def number_of(cell: object) -> float | None:
    """Return the double nearest to a numeric cell, or None if it is not a number.

    Text is a number if it looks like ``-12``, ``0.5`` or ``1e-05``, up to 20 digits before
    and after the point and two in the exponent.

    >>> [number_of(cell) for cell in ("1.50", 2, 1e-5, True, "1,5", " 1", None)]
    [1.5, 2.0, 1e-05, None, None, None, None]
    """
    cell = plain(cell)
    if isinstance(cell, str):
        return float(cell) if _NUMBER.fullmatch(cell) else None
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal):
        return None
    try:
        number = float(cell)
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) else None
