"""Ready counts: :class:`Counts`, or a mapping of letters to their counts."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

from dproo.core.checks import whole
from dproo.core.counts import Counts
from dproo.counting.asked import Asked
from dproo.counting.cells import cells_of
from dproo.counting.scan import Scan
from dproo.counting.tally import Tally
from dproo.schema import Alphabet


def open_scan(data: Any, asked: Asked) -> Scan | None:
    """Return the scan of ready counts, or None if data is not counts.

    Raises:
        TypeError: the data is a mapping of something else.
        ValueError: the counts are of another alphabet, or a person column is given.
    """
    alphabet = asked.alphabets[0]
    if asked.person is not None and isinstance(data, Counts | Mapping):
        raise ValueError("person must be used with records: counts do not show whose they are.")
    if asked.open_axis is not None and isinstance(data, Counts | Mapping):
        raise ValueError("alphabet must list the letters of ready counts; records can be open.")
    if isinstance(data, Counts):
        if data.k != alphabet.k:
            raise ValueError(f"counts must have {alphabet.k} letters, as the alphabet has.")
        return Scan(engine="counts", _asked=asked, _read=lambda: (data,))
    if isinstance(data, Mapping):
        # Only for a plain dict: reading another mapping may run code of its own.
        if isinstance(data, dict) and not all(map(_is_count, dict.values(data))):
            raise TypeError(
                "data must be records, or a mapping of letters to how often each occurs. For a"
                " mapping of columns to their cells, pass a frame: pandas.DataFrame(data)."
            )
        return Scan(engine="counts", _asked=asked, _read=lambda: (_tally(data, alphabet),))
    return None


def _is_count(number: object) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool) and int(number) >= 0


def _tally(data: Mapping[Any, int], alphabet: Alphabet) -> Tally:
    columns = alphabet.columns
    rows = (
        (*(cells_of(key, columns) if columns else (key,)), whole("counts", number, at_least=0))
        for key, number in data.items()
    )
    return Tally.of(rows, alphabet=alphabet)
