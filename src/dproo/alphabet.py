"""The alphabet: the public letters a record can have, and the one for everything else."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dproo._check import refusal
from dproo.counts import Counts

Letter = str | int | float | bool

OTHER = "other"


@dataclass(frozen=True)
class Alphabet:
    """The public letters, in order, followed by an extra letter for every other cell.

    It is never learned from the data: which letters occur is itself private.

    >>> colours = Alphabet.of(["red", "green"])
    >>> colours.k, colours[2]
    (3, 'other')
    >>> list(colours.count(["red", None, "blue", "red"]))
    [2, 0, 2]
    """

    letters: tuple[Letter, ...]

    @classmethod
    def of(cls, letters: Iterable[Letter]) -> Alphabet:
        """Return the alphabet of these letters.

        Raises:
            TypeError: a letter is no text, number or boolean.
            ValueError: there are none, one stands twice, two are equal across types, or one
                is called like the extra letter.
        """
        if isinstance(letters, str | bytes) or not isinstance(letters, Iterable):
            raise TypeError(refusal("alphabet", "be a list of letters", letters))
        letters = tuple(letters)
        if not letters:
            raise ValueError("alphabet must have at least one letter, got none.")
        for letter in letters:
            if not isinstance(letter, Letter) or letter != letter:  # noqa: PLR0124 - NaN
                raise TypeError(refusal("letter", "be text, a number or a boolean", letter))
        repeated, times = Counter(letters).most_common(1)[0]
        if times > 1:
            equal = sorted({repr(letter) for letter in letters if letter == repeated})
            raise ValueError(f"letters must all differ, got {' and '.join(equal)} {times} times.")
        if OTHER in letters:
            raise ValueError(f"letter must not be {OTHER!r}: it stands for every other cell.")
        return cls(letters)

    @classmethod
    def read(cls, path: str | Path) -> Alphabet:
        """Return the alphabet in a text file, one letter a line; blank lines are left out."""
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            raise ValueError(
                refusal("alphabet", "be a readable UTF-8 text file", str(path))
            ) from None
        return cls.of(line for line in lines if line)

    @property
    def k(self) -> int:
        """The number of letters, the extra one included."""
        return len(self.letters) + 1

    def __getitem__(self, index: int) -> Letter:
        return self.letters[index] if index < len(self.letters) else OTHER

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the letters and their order, for the receipt."""
        text = json.dumps([[type(letter).__name__, letter] for letter in self.letters])
        return hashlib.sha256(text.encode()).hexdigest()

    def count(self, cells: Sequence[object] | Iterable[object]) -> Counts:
        """Return how often each letter occurs; every cell counts for exactly one letter."""
        index: dict[object, int] = {
            (type(letter), letter): i for i, letter in enumerate(self.letters)
        }
        counts = [0] * self.k
        for cell in cells:
            try:
                letter = index.get((type(cell), cell), -1)
            except TypeError:  # an unhashable cell is no letter
                letter = -1
            counts[letter] += 1
        return Counts.of(counts)
