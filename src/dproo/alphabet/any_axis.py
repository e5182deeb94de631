"""What the letters of one column have in common, whichever way they are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Self

from dproo.alphabet.reading import EXACT, Reading, loose_integer
from dproo.core.paths import Origin

Letter = str | int | bool

OTHER: Final = "other"

RANGE_LIMIT = 10**18
LONGEST = len(str(-RANGE_LIMIT))  # text of an integer of a range


@dataclass(frozen=True)
class Axis(ABC):
    """The public letters of one column, in order.

    Attributes:
        is_open: whether every cell outside is one more letter, the last one, ``other``.
        reading: how a cell is read before it is compared.
        origin: the file that the letters were read from, if they were.
    """

    is_open: bool = field(default=False, kw_only=True)
    reading: Reading = field(default=Reading(), kw_only=True)
    origin: Origin | None = field(default=None, kw_only=True, compare=False, repr=False)

    @property
    @abstractmethod
    def listed(self) -> int:
        """The number of letters, ``other`` not included."""

    @property
    @abstractmethod
    def content(self) -> dict[str, Any]:
        """What the digest is taken of: the canonical content, JSON-able."""

    @abstractmethod
    def letter(self, place: int) -> Letter:
        """Return the letter at this place."""

    @abstractmethod
    def place(self, cell: object) -> int | None:
        """Return the place of the letter that a cell is, or nothing if it is outside."""

    @property
    def size(self) -> int:
        """The number of letters."""
        return self.listed + self.is_open

    @property
    def is_of_integers(self) -> bool:
        """Whether all letters are integers."""
        return False

    @property
    def longest(self) -> int:
        """How many characters the longest text of a letter has."""
        return LONGEST

    @abstractmethod
    def check_reading(self, reading: Reading) -> None:
        """Refuse a reading after which no cell could be a letter."""

    def read_as(self, reading: Reading) -> Self:
        """Return the same letters, and how cells are read.

        Raises:
            ValueError: no cell could be a letter then.
        """
        self.check_reading(reading)
        return replace(self, reading=reading)

    def text_of(self, cell: object) -> str | None:
        """Return the text that a cell is compared by, or nothing if it has none."""
        if self.is_read and isinstance(cell, str) and len(cell) > self.room:
            return None
        text = self.reading.text(cell)
        is_exact = self.reading.kind == EXACT
        return loose_integer(text) if text and is_exact and self.is_of_integers else text

    @property
    def is_read(self) -> bool:
        """Whether text is not compared as it stands."""
        return self.reading.kind != EXACT or self.is_of_integers

    @property
    def room(self) -> int:
        """How many characters a cell may have that is not compared as it stands."""
        return self.reading.room(self.longest)

    @property
    def read_content(self) -> dict[str, Any]:
        """The content, and how cells are read where that is not by default."""
        if self.reading == Reading():
            return self.content
        return {**self.content, "reading": asdict(self.reading)}

    def __getitem__(self, index: int) -> Letter:
        return OTHER if index == self.listed else self.letter(index)

    def index(self, cell: object) -> int | None:
        """Return the place of a cell, which an open axis has for every cell."""
        place = self.place(cell)
        return self.listed if place is None and self.is_open else place
