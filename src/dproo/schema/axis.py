"""The letters of one column: a list, a range, bins of a number, or any text."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Self

from dproo.core.checks import bounded, exact, one_of, refusal, require_unicode, whole
from dproo.core.paths import Origin
from dproo.schema.cell import EXACT_FLOAT, plain, text_of
from dproo.schema.reading import (
    EXACT,
    INTEGER,
    KINDS,
    NUMBER,
    TEXT,
    YEAR,
    Periods,
    Reading,
    loose_integer,
)

Letter = str | int | bool

OTHER: Final = "other"

RANGE_LIMIT = 10**18
LONGEST = len(str(-RANGE_LIMIT))  # text of an integer of a range

_DIGITS = 308  # of a letter; a ledger takes no number beyond the range of floats
_MARGIN = 100  # characters, such as blanks and zeros, beyond the longest letter


@dataclass(frozen=True)
class Axis(ABC):
    """The public letters of one column, in order.

    Attributes:
        is_open: whether every cell outside is one more letter, the last one, ``other``.
        reading: how a cell is read before it is compared.
        origin: the file that the letters were read from, if any.
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
        """The canonical content, for JSON; the digest is computed from it."""

    @abstractmethod
    def letter(self, place: int) -> Letter:
        """Return the letter at this place."""

    @abstractmethod
    def place(self, cell: object) -> int | None:
        """Return the place of a cell's letter, or None if it is outside."""

    @property
    def is_withheld(self) -> bool:
        """Whether no message may quote the letters: the list that they are from may be data."""
        return self.origin is not None and not self.origin.is_described

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
        """The length of the longest letter, in characters."""
        return LONGEST

    @abstractmethod
    def check_reading(self, reading: Reading) -> None:
        """Refuse a reading after which no cell could be a letter."""

    def read_as(self, reading: Reading) -> Self:
        """Return the same letters, with cells read in this way.

        Raises:
            ValueError: no cell could be a letter then.
        """
        self.check_reading(reading)
        return replace(self, reading=reading)

    def text_of(self, cell: object) -> str | None:
        """Return the text that a cell is compared by, or None if it has none."""
        if self.is_read and isinstance(cell, str) and len(cell) > self.room:
            return None
        text = self.reading.text(cell)
        is_exact = self.reading.kind == EXACT
        return loose_integer(text) if text and is_exact and self.is_of_integers else text

    @property
    def is_read(self) -> bool:
        """Whether text is transformed before it is compared."""
        return self.reading.kind != EXACT or self.is_of_integers

    @property
    def room(self) -> int:
        """The most characters that a cell may have if it is transformed before it is compared."""
        return self.longest + _MARGIN

    @property
    def read_content(self) -> dict[str, Any]:
        """The content, and the reading of cells unless it is the default."""
        if self.reading == Reading():
            return self.content
        return {**self.content, "reading": asdict(self.reading)}

    def __getitem__(self, index: int) -> Letter:
        return OTHER if index == self.listed else self.letter(index)

    def index(self, cell: object) -> int | None:
        """Return the place of a cell's letter; on an open axis every cell has one."""
        place = self.place(cell)
        return self.listed if place is None and self.is_open else place


_FIRST_YEAR = 1000  # the first year of four digits


@dataclass(frozen=True)
class Letters(Axis):
    """A list of letters; a cell is the letter with the same canonical text.

    >>> codes = Letters.of(["A01", 7, True])
    >>> codes.index("7"), codes.index(7.0), codes.index("true"), codes.index("a01")
    (1, 1, 2, None)
    """

    letters: Sequence[Letter]

    @classmethod
    def of(cls, letters: Iterable[object]) -> Letters:
        """Return the list of these letters, all different as text; a date becomes its text."""
        # A set is unordered, and the order is part of the public alphabet.
        is_unordered = isinstance(letters, str | bytes | set | frozenset)
        if is_unordered or not isinstance(letters, Iterable):
            raise TypeError(refusal("alphabet", "be a list of letters", letters))
        cleaned = tuple(map(_letter, bounded("letters", letters)))
        if not cleaned:
            raise ValueError("alphabet must have at least one letter, got none.")
        if len(set(map(text_of, cleaned))) < len(cleaned):
            raise ValueError(
                "letters must all differ as text, got two that do not. The number 1 and the"
                " text '1' are one letter."
            )
        # 1 == True, so a dict would merge two letters.
        if len(set(cleaned)) < len(cleaned):
            raise ValueError("letters must all differ, got a boolean and an equal integer.")
        return cls(cleaned)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each letter, by its canonical text."""
        return {str(text_of(letter)): place for place, letter in enumerate(self.letters)}

    @property
    def listed(self) -> int:
        """The number of letters."""
        return len(self.letters)

    @property
    def content(self) -> dict[str, Any]:
        """The canonical texts."""
        return {"letters": list(self.places)}

    def letter(self, place: int) -> Letter:
        """Return the letter at this place."""
        return self.letters[place]

    def place(self, cell: object) -> int | None:
        """Return the place of the letter with the cell's canonical text."""
        text = self.text_of(cell)
        return None if text is None else self.places.get(text)

    @cached_property
    def is_of_integers(self) -> bool:
        """Whether all letters are integers."""
        return all(type(letter) is int for letter in self.letters)

    @cached_property
    def longest(self) -> int:
        """The length of the longest letter, in characters."""
        return max(map(len, self.places))

    def check_reading(self, reading: Reading) -> None:
        """Refuse a reading after which no cell could be one of the letters."""
        one_of("reading", reading.kind, set(KINDS) - {NUMBER})
        for text in self.places:
            if reading.text(text) != text:
                shown = KINDS[reading.kind].letters
                raise ValueError(f"letters must be {shown} for this reading. Rewrite the list.")


@dataclass(frozen=True)
class PeriodRange(Letters):
    """All days or months from a first to a last; listed only for engines that need a list.

    >>> days = PeriodRange(Periods(738886, 366, "date"))
    >>> days.size, days[59], days.index("2024-12-31"), days.index("2023-01-01")
    (366, '2024-02-29', 365, None)
    """

    letters: Periods

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each period, by its text."""
        return dict(zip(self.letters, range(len(self.letters)), strict=True))

    def place(self, cell: object) -> int | None:
        """Return the place of the period with the cell's canonical text."""
        text = self.text_of(cell)
        return None if text is None else self.letters.place(text)

    @property
    def is_of_integers(self) -> bool:
        """Whether all letters are integers: never."""
        return False

    @property
    def longest(self) -> int:
        """The length of every letter, in characters."""
        return len(self.letters[0])

    def check_reading(self, reading: Reading) -> None:
        """Refuse a reading after which no cell could be one of the letters.

        Only the shape of a letter decides, and all letters have the same shape.
        """
        Letters((self.letters[0], self.letters[-1])).check_reading(reading)


def _letter(letter: object) -> Letter:
    letter = exact(plain(letter))
    if isinstance(letter, date) and not isinstance(letter, datetime):
        return letter.isoformat()
    if isinstance(letter, float):
        raise TypeError(
            refusal("letter", "be text, an integer, a boolean or a date", letter)
            + " Give bins of a numeric column by their edges."
        )
    if not isinstance(letter, Letter):
        raise TypeError(refusal("letter", "be text, an integer, a boolean or a date", letter))
    if letter == "":
        raise ValueError("letter must not be empty: an empty cell counts as missing.")
    if isinstance(letter, str):
        require_unicode("letter", letter)
        return letter
    if abs(letter) >= 10**_DIGITS:
        raise ValueError(refusal("letter", f"have at most {_DIGITS} digits", letter))
    return letter


@dataclass(frozen=True)
class IntegerRange(Axis):
    """The integers from ``start`` up to, not including, ``stop``; never written out.

    >>> ages = IntegerRange.of(0, 120)
    >>> ages.size, ages.index("37"), ages.index("037"), ages.index(120)
    (120, 37, 37, None)
    """

    start: int
    stop: int

    @classmethod
    def of(cls, start: int, stop: int) -> IntegerRange:
        """Return the range, which must not be empty; both ends have at most 18 digits."""
        start = whole("start", start, at_least=1 - RANGE_LIMIT, at_most=RANGE_LIMIT)
        return cls(start, whole("stop", stop, at_least=start + 1, at_most=RANGE_LIMIT))

    @property
    def listed(self) -> int:
        """The number of letters."""
        return self.stop - self.start

    @property
    def content(self) -> dict[str, Any]:
        """The two ends."""
        return {"start": self.start, "stop": self.stop}

    def letter(self, place: int) -> Letter:
        """Return the letter at this place."""
        return self.start + place

    def place(self, cell: object) -> int | None:
        """Return the place of the integer that the cell's text spells."""
        text = self.text_of(cell)
        if text is None or len(text) > LONGEST:
            return None
        try:
            number = int(text)
        except ValueError:
            return None
        is_letter = str(number) == text and self.start <= number < self.stop
        return number - self.start if is_letter else None

    @property
    def is_of_integers(self) -> bool:
        """Whether all letters are integers: always."""
        return True

    def check_reading(self, reading: Reading) -> None:
        """Refuse a reading after which no cell could be an integer."""
        one_of("reading", reading.kind, (EXACT, TEXT, INTEGER, YEAR))


@dataclass(frozen=True)
class Bins(Axis):
    """Half-open intervals of a number between public edges.

    A cell is compared as the double nearest to it. The letter is its text, ``[18, 65)``.

    >>> ages = Bins.of([0, 18, 65, 120])
    >>> ages[1], ages.index(18), ages.index("17.9"), ages.index(120)
    ('[18, 65)', 1, 0, None)

    Numbers that mean a ``missing`` cell are in no bin.
    """

    edges: tuple[float, ...]
    missing: tuple[float, ...] = ()

    @classmethod
    def of(cls, edges: Iterable[float]) -> Bins:
        """Return the bins between these edges: two or more finite, increasing numbers."""
        if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
            raise TypeError(refusal("edges", "be a list of numbers", edges))
        edges = tuple(map(plain, bounded("edges", edges)))
        for edge in edges:
            if isinstance(edge, bool) or not isinstance(edge, int | float):
                raise TypeError(refusal("edge", "be a number", edge))
            is_exact = math.isfinite(edge) if isinstance(edge, float) else abs(edge) <= EXACT_FLOAT
            if not is_exact:
                raise ValueError(
                    refusal("edge", "be finite and, if an integer, from -2^53 to 2^53", edge)
                )
        exact = tuple(float(edge) + 0.0 for edge in edges)
        if len(exact) < 2 or any(low >= high for low, high in pairwise(exact)):
            raise ValueError(refusal("edges", "be two or more increasing numbers", edges))
        return cls(exact)

    @cached_property
    def keys(self) -> tuple[float, ...]:
        """A number in each bin that a cell can be read as; engines name the bin by it."""
        keys = []
        is_whole = self.reading.kind in {INTEGER, YEAR}
        for low, high in pairwise(self.edges):
            key = low
            if is_whole:
                least = max(low, _FIRST_YEAR if self.reading.kind == YEAR else -EXACT_FLOAT)
                key = float(math.ceil(least)) if math.ceil(least) < high else low
            while key in self.missing:
                key = key + 1 if is_whole else math.nextafter(key, high)
            keys.append(key)
        return tuple(keys)

    @property
    def listed(self) -> int:
        """The number of bins."""
        return len(self.edges) - 1

    @property
    def content(self) -> dict[str, Any]:
        """The edges, and the numbers that are in no bin."""
        missing = {"missing": [_edge(number) for number in self.missing]} if self.missing else {}
        return {"edges": [_edge(edge) for edge in self.edges], **missing}

    def check_reading(self, reading: Reading) -> None:
        """Refuse a reading after which no cell could be a number."""
        one_of("reading", reading.kind, (EXACT, INTEGER, NUMBER, YEAR))
        is_whole = reading.kind in {INTEGER, YEAR}
        if is_whole and (self.edges[1] <= -EXACT_FLOAT or self.edges[-2] > EXACT_FLOAT):
            # No float there is an exact integer, so engines could not name the bin.
            raise ValueError(
                refusal("bins", "each have an edge from -2^53 to 2^53", list(self.edges))
            )
        if reading.kind == YEAR and self.edges[1] <= _FIRST_YEAR:
            # Years before 1000 are 0999 as text and 999 as numbers: engines could not name them.
            raise ValueError(refusal("bins", "each hold a year from 1000 on", self.letter(0)))

    def letter(self, place: int) -> Letter:
        """Return the letter at this place."""
        return f"[{_edge(self.edges[place])}, {_edge(self.edges[place + 1])})"

    def place(self, cell: object) -> int | None:
        """Return the place of the bin that the cell's number is in."""
        is_long = isinstance(cell, str) and self.reading.kind != EXACT and len(cell) > self.room
        number = None if is_long else self.reading.number(cell)
        if number is None or number in self.missing or not self.edges[0] <= number < self.edges[-1]:
            return None
        return bisect_right(self.edges, number) - 1


def between(low: float, high: float, share: float) -> float:
    """Return the number that lies at a share of a bin, never its upper edge.

    >>> between(18, 65, 0.5), between(-1e308, 1e308, 0.75)
    (41.5, 5e+307)
    """
    number = 2 * (low / 2 + share * (high / 2 - low / 2))  # the width itself may overflow
    return max(min(number, math.nextafter(high, low)), low)


def whole_numbers(low: float, high: float) -> range:
    """Return the integers in a bin that have at most 18 digits, like integers in cells.

    >>> whole_numbers(0.5, 3), whole_numbers(1e17, 1e300)
    (range(1, 3), range(100000000000000000, 1000000000000000000))
    """
    return range(max(math.ceil(low), 1 - RANGE_LIMIT), min(math.ceil(high), RANGE_LIMIT))


def _edge(edge: float) -> str:
    return str(int(edge)) if edge.is_integer() and abs(edge) <= EXACT_FLOAT else repr(edge)


OPEN: Final = "open"
"""The word for an alphabet that is not listed."""

LONGEST_OPEN = 200
"""The most characters of a letter; longer text is ``other``."""


@dataclass(frozen=True)
class OpenText(Axis):
    """Any text that enough records have.

    Attributes:
        minimum: an engine returns only letters with at least this many records.
    """

    minimum: int = 1

    @property
    def listed(self) -> int:
        """Zero: the letters are not listed."""
        return 0

    @property
    def content(self) -> dict[str, Any]:
        """What decides which cells are letters."""
        return {"longest": LONGEST_OPEN}

    @property
    def longest(self) -> int:
        """The most characters that a letter may have."""
        return LONGEST_OPEN

    def letter(self, place: int) -> Letter:
        """Refuse: letters have no places."""
        raise IndexError(place)

    def check_reading(self, reading: Reading) -> None:
        """Refuse every reading but the default: the letters are the unchanged cells."""
        one_of("reading of an open alphabet", reading.kind, (EXACT,))

    def place(self, cell: object) -> int | None:
        """Return None: letters have no places."""
        del cell
        return None


def is_open_letter(text: str) -> bool:
    """Return whether a canonical text is a letter: short and printable.

    >>> [is_open_letter(text) for text in ("LAX", "", "other", "a\\tb", "x" * 201)]
    [True, False, False, False, False]
    """
    return 0 < len(text) <= LONGEST_OPEN and text != OTHER and text.isprintable()
