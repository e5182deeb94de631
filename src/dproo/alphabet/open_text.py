"""An open alphabet: the letters of a column that nobody can list are whatever text it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from dproo.alphabet.axis import OTHER, Axis, Letter
from dproo.alphabet.reading import EXACT, Reading
from dproo.core.checks import one_of

OPEN: Final = "open"
"""The word for an alphabet that is not listed."""

LONGEST_OPEN = 200
"""Characters of a letter; longer text is ``other``."""


@dataclass(frozen=True)
class OpenText(Axis):
    """Any text that enough records have.

    Attributes:
        minimum: the fewest records of a letter that is brought back at all.
    """

    minimum: int = 1

    @property
    def listed(self) -> int:
        """None: nobody has listed them."""
        return 0

    @property
    def content(self) -> dict[str, Any]:
        """What decides which cells are letters."""
        return {"longest": LONGEST_OPEN}

    @property
    def longest(self) -> int:
        """How many characters a letter may have."""
        return LONGEST_OPEN

    def letter(self, place: int) -> Letter:
        """Refuse: letters have no places.

        Raises:
            IndexError: always.
        """
        raise IndexError(place)

    def check_reading(self, reading: Reading) -> None:
        """Refuse every reading but the default: the letters are the cells as they stand."""
        one_of("reading of an open alphabet", reading.kind, (EXACT,))

    def place(self, cell: object) -> int | None:
        """Return nothing: letters have no places."""
        del cell
        return None


def is_open_letter(text: str) -> bool:
    """Tell whether a canonical text is a letter: short, and as it is when it is printed.

    >>> [is_open_letter(text) for text in ("LAX", "", "other", "a\\tb", "x" * 201)]
    [True, False, False, False, False]
    """
    return 0 < len(text) <= LONGEST_OPEN and text != OTHER and text.isprintable()
