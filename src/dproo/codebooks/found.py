"""What released noisy counts show about a column: its type, its range, its letters.

Nothing here reads data: every argument is public or was released, so all of it is free.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from dproo.schema.axis import Axis, Bins, IntegerRange, Letters
from dproo.schema.cell import EXACT_FLOAT, INTEGER_TEXT
from dproo.schema.reading import NUMBER, SHAPE, YEAR, Reading

TEXT, NUMERIC, DATES = "text", "number", "date"

CATEGORIES = 20
"""A column of numbers with more different values than this has bins."""

NARROW = 40
"""In a range of at most this width every integer is a letter."""

BINS = 10
CELLS = 64
"""How many bins a number has, and of how many cells of a grid they are made."""

SPARSE = 0.2
"""A column holds numbers, or dates, if at least this share of its cells looks like that."""

RARE = 0.1
"""A column is left out where less than this share of its records would be covered."""

YEARS = range(1800, 2200)
MONTHS = 36
"""Dates are shown by month if that makes no more letters than these, else by year."""

_ERROR = 0.001  # how often noise alone may look like a count
_NEAR = 3

_ISO, _POINTS, _SLASHES = "YYYY-MM-DD", "DD.MM.YYYY", "DD/MM/YYYY"
_FORMS = {
    **dict.fromkeys(
        (
            *("9-9-9", "9-9", "9-9-9 9:9", "9-9-9 9:9:9", "9-9-9 9:9:9.9"),
            *("9-9-9T9:9", "9-9-9T9:9:9", "9-9-9T9:9:9Z", "9-9-9T9:9:9.9Z"),
        ),
        _ISO,
    ),
    **dict.fromkeys(("9.9.9", "9.9.9 9:9", "9.9.9 9:9:9"), _POINTS),
    **dict.fromkeys(("9/9/9", "9/9/9 9:9", "9/9/9 9:9:9"), _SLASHES),
}
_WHOLE = ("9", "-9")
_POINT = ("9.9", "-9.9", "9e-9", "9.9e-9", "-9.9e-9", "9.9e+9", "-9.9e+9", "9,9.9", "-9,9.9")
_COMMA = ("9,9", "-9,9", "9.9,9", "-9.9,9")
SHAPES = (*_WHOLE, *_POINT, *_COMMA, *_FORMS)
"""The shapes of text that are distinguished: numbers and dates."""


@dataclass(frozen=True)
class Guess:
    """How the cells of a column are written.

    Attributes:
        kind: ``"text"``, ``"number"`` or ``"date"``.
        is_whole: whether numbers are integers.
        decimal: the decimal sign of numbers in text.
        thousands: the sign between their groups of digits.
        format: how dates are written.
        may_group: whether the decimal comma may be a sign between groups of digits: 1,234.
    """

    kind: str = TEXT
    is_whole: bool = False
    decimal: str = "."
    thousands: str = ""
    format: str = _ISO
    may_group: bool = False

    @property
    def grouped(self) -> Guess:
        """The same numbers with a comma between groups of digits."""
        return replace(self, decimal=".", thousands=",", may_group=False)

    @property
    def descriptor(self) -> dict[str, Any]:
        """The keys by which a code book states the signs of numbers."""
        signs = {"decimalChar": self.decimal} if self.decimal != "." else {}
        return signs | ({"groupChar": self.thousands} if self.thousands else {})

    def octaves(self) -> Axis:
        """Return the bins between signed powers of two, reading numbers written like this."""
        return self.bins(octave_edges())

    def bins(self, edges: Sequence[float]) -> Axis:
        """Return the bins between edges, reading numbers written like this."""
        reading = Reading(kind=NUMBER, decimal=self.decimal, thousands=self.thousands)
        return Bins.of(edges).read_as(reading)

    def years(self) -> Axis:
        """Return the years as letters, reading dates written like this."""
        years = IntegerRange.of(YEARS.start, YEARS.stop)
        return years.read_as(Reading(kind=YEAR, format=self.format))


def shapes() -> Axis:
    """Return the shapes of text, as letters."""
    return Letters.of(SHAPES).read_as(Reading(kind=SHAPE))


def level(cells: int, scale: float) -> float:
    """Return a count that noise alone hardly ever reaches in any of this many cells."""
    return math.log(cells / _ERROR) * scale


def spread(noisy: Sequence[int], scale: float) -> range:
    """Return the places from the first to the last noisy count that stands out of the noise.

    Next to one that does, a smaller count is enough: a mistake there widens the range by one.

    >>> spread([5, 30, 0, 900, 3, 1], 1.0)
    range(0, 4)
    """
    strict = level(len(noisy), scale)
    clear = [place for place, number in enumerate(noisy) if number > strict]
    if not clear:
        return range(0)
    first, last = clear[0], clear[-1]
    while first > 0 and noisy[first - 1] > _NEAR * scale:
        first -= 1
    while last < len(noisy) - 1 and noisy[last + 1] > _NEAR * scale:
        last += 1
    return range(first, last + 1)


def guessed(noisy: Sequence[int], *, records: float, scale: float) -> Guess:
    """Return how text is written, from noisy counts of :data:`SHAPES` and of all other shapes."""
    least = level(len(noisy), scale)
    # The noise of many cells adds up: only what stands out of it counts.
    counts = {
        shape: count if count > least else 0 for shape, count in zip(SHAPES, noisy, strict=False)
    }
    forms = {form: _sum(counts, [s for s, f in _FORMS.items() if f == form]) for form in _ORDER}
    whole, point, comma = (_sum(counts, part) for part in (_WHOLE, _POINT, _COMMA))
    numbers, dates = whole + point + comma, max(forms.values())
    if max(numbers, dates) < SPARSE * records:
        return Guess()
    if dates > numbers:
        return Guess(DATES, format=max(_ORDER, key=lambda form: forms[form]))
    is_comma = comma > max(point, least)
    grouped = ("9.9,9", "-9.9,9") if is_comma else ("9,9.9", "-9,9.9")
    thousands = "." if is_comma else ","
    is_grouped = _sum(counts, grouped) > least
    decimals = max(point, comma)
    return Guess(
        NUMERIC,
        is_whole=decimals <= min(2 * least, whole),  # as integers, decimal numbers would be lost
        decimal="," if is_comma else ".",
        thousands=thousands if is_grouped else "",
        may_group=is_comma and not is_grouped,
    )


_ORDER = (_ISO, _POINTS, _SLASHES)


def _sum(counts: Mapping[str, int], names: Sequence[str]) -> int:
    return sum(counts[name] for name in names)


def regrouped(guess: Guess, shaped: tuple[Sequence[int], float], *, numbers: float) -> Guess | None:
    """Return the guess with a comma between groups of digits, or None if too few texts have them.

    So many numbers were found as if all had; the noisy counts of shapes have noise of a scale.
    """
    noisy, scale = shaped
    counts = dict(zip(SHAPES, noisy, strict=False))
    whole, point, comma = (_sum(counts, part) for part in (_WHOLE, _POINT, _COMMA[:2]))
    if numbers < whole + comma / 2:  # text such as 1,5 has no groups of three digits
        return None
    is_whole = point <= min(2 * level(len(noisy), scale), whole + comma)
    return replace(guess.grouped, is_whole=is_whole)


def are_whole(shaped: tuple[Sequence[int], float], *, numbers: float) -> bool:
    """Return whether so many numbers are integers, from noisy counts of shapes and their scale.

    Decimals that are not text, as in lists and JSON, are numbers and have no shape.
    """
    noisy, scale = shaped
    whole = sum(noisy[: len(_WHOLE)])
    return numbers - whole <= min(2 * level(len(noisy), scale), whole)


def octave_edges() -> tuple[float, ...]:
    """Return the signed powers of two; between the smallest two is 0.

    >>> edges = octave_edges()
    >>> edges[0] == -edges[-1], len(edges)
    (True, 130)
    """
    powers = [2.0**exponent for exponent in range(-16, 49)]
    return (*(-power for power in reversed(powers)), *powers)


def grid(noisy: Sequence[int], scale: float, *, is_whole: bool) -> tuple[float, ...]:
    """Return the edges of a fine grid over the range of the numbers, or () if there are none.

    The range is where noisy counts between powers of two stand out of the noise; the last count is
    of all cells outside. Each interval is divided into equal cells by its share of the records. No
    cell of integers is narrower than 1, and a narrow range of integers has a cell for each.
    """
    edges = octave_edges()
    inside = spread(noisy[:-1], scale)
    if not inside:
        return ()
    total = sum(max(0, noisy[place]) for place in inside)
    least, most = edges[inside.start], edges[inside.stop]
    if is_whole and math.ceil(most) - math.ceil(least) <= NARROW:
        whole = tuple(map(float, range(math.ceil(least), math.ceil(most) + 1)))
        return whole if len(whole) > 1 else ()  # a range without an integer is only noise
    ends = {most}
    for place in inside:
        low, high = edges[place], edges[place + 1]
        parts = 1
        while low * high > 0 and 2 * parts * total <= CELLS * noisy[place]:
            parts *= 2
        low = low if low * high > 0 or place > inside.start else 0.0  # nothing is below zero
        ends |= {low + part * (high - low) / parts for part in range(parts)}
    return tuple(sorted({float(math.ceil(end)) for end in ends} if is_whole else ends))


def quantiles(
    edges: Sequence[float], noisy: Sequence[int], noise: float, *, most: int = BINS
) -> list[float]:
    """Return those edges of cells between which there are about equally many records.

    The noise is the deviation of the sum of all noisy counts; each bin holds several times that.
    """
    running = list(accumulate(max(0, number) for number in noisy[: len(edges) - 1]))
    bins = max(1, min(BINS, most, int(running[-1] / max(4 * noise, 1))))
    places = (bisect_left(running, running[-1] * place / bins) for place in range(1, bins))
    return sorted({edges[0], edges[-1], *(edges[place + 1] for place in places)})


def bins_field(name: str, edges: Sequence[float], guess: Guess) -> dict[str, Any]:
    """Return the field of a number with bins."""
    shown = [int(edge) if edge.is_integer() else edge for edge in map(float, edges)]
    kind = "integer" if guess.is_whole else "number"
    return {"name": name, "type": kind, "bins": shown, **guess.descriptor}


def integers_field(
    name: str, edges: Sequence[float], noisy: Sequence[int], scale: float
) -> tuple[dict[str, Any], int] | None:
    """Return the field of few integers, and about how many records it covers.

    The last edge is above the last integer, and the last count is of all cells outside.
    """
    inside = spread(noisy[:-1], scale)
    if not inside:
        return None
    ends = {"minimum": int(edges[inside[0]]), "maximum": int(edges[inside[-1]])}
    covered = sum(noisy[place] for place in inside)
    return {"name": name, "type": "integer", "constraints": ends}, covered


def bins_of_letters(letters: Mapping[str, int], *, most: int = BINS) -> list[float]:
    """Return edges between which there are about equally many records, from counts of integers.

    >>> bins_of_letters({str(age): 10 for age in range(30)})[:3]
    [0.0, 3.0, 6.0]
    """
    numbers = sorted((int(letter), count) for letter, count in letters.items())
    edges = [float(number) for number, _ in numbers]
    return quantiles([*edges, edges[-1] + 1], [count for _, count in numbers], 0, most=most)


def are_integers(letters: Mapping[str, int]) -> bool:
    """Return whether all values are integers as code books write them."""
    return all(re.fullmatch(INTEGER_TEXT, letter) for letter in letters)


def have_bins(letters: Mapping[str, int]) -> bool:
    """Return whether values are integers that bins describe better: many, and exact floats."""
    is_many = len(letters) > CATEGORIES and are_integers(letters)
    return is_many and all(abs(int(letter)) < EXACT_FLOAT for letter in letters)


def category_field(
    name: str, letters: Mapping[str, int], *, most: int, room: int
) -> dict[str, Any]:
    """Return the field of a category: the ``most`` most frequent values, sorted.

    As JSON they take at most ``room`` bytes.

    >>> category_field("ward", {"B": 70, "A": 60, "C": 9}, most=2, room=100)
    {'name': 'ward', 'type': 'string', 'categories': ['A', 'B']}
    """
    frequent = sorted(letters, key=lambda letter: (-letters[letter], letter))[:most]
    sizes = accumulate(len(json.dumps(letter)) + 2 for letter in frequent)
    frequent = [letter for letter, size in zip(frequent, sizes, strict=True) if size <= room]
    if are_integers(letters):
        return {"name": name, "type": "integer", "categories": sorted(map(int, frequent))}
    return {"name": name, "type": "string", "categories": sorted(frequent)}


def dates_field(
    name: str, noisy: Sequence[int], scale: float, guess: Guess, *, most: int
) -> tuple[dict[str, Any], int] | None:
    """Return the field of dates, by month or year, and about how many records it covers.

    The noisy counts are of :data:`YEARS`, and of all cells outside. Of more than ``most`` years,
    those in a row are taken that cover most.
    """
    inside = spread(noisy[:-1], scale)
    if not inside:
        return None
    if len(inside) > most:
        rows = (inside[at : at + most] for at in range(len(inside) - most + 1))
        inside = max(rows, key=lambda row: sum(noisy[place] for place in row))
    first, last = YEARS[inside[0]], YEARS[inside[-1]]
    covered = sum(noisy[place] for place in inside)
    form = {} if guess.format == _ISO else {"format": _STRFTIME[guess.format]}
    kind, ends = "year", (first, last)
    # Between slashes, either of two numbers may be the month.
    if 12 * len(inside) <= min(MONTHS, most) and guess.format != _SLASHES:
        kind, ends = "yearmonth", (f"{first}-01", f"{last}-12")  # type: ignore[assignment]
    bounds = {"minimum": ends[0], "maximum": ends[1]}
    return {"name": name, "type": kind, "constraints": bounds, **form}, covered


_STRFTIME = {_POINTS: "%d.%m.%Y", _SLASHES: "%d/%m/%Y"}
