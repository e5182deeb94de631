"""The alphabet: a record's possible letters, which are public, and the policy for other cells."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from io import StringIO
from math import prod
from pathlib import Path
from typing import Any, Final, Literal

from dproo.core.checks import exact, one_of, refusal, whole
from dproo.core.paths import Origin, path_of, read_public
from dproo.schema.axis import OPEN, OTHER, Axis, Bins, IntegerRange, Letter, Letters
from dproo.schema.cell import INTEGER_TEXT, library_of
from dproo.schema.reading import DATE, MONTH, Reading, periods

_LIBRARIES = {"numpy", "pandas", "polars", "pyarrow"}


def listed(letters: Any) -> Any:
    """Return the plain list that an object of another library holds; anything else unchanged.

    An ``enum.Enum`` stands for the values of its members, pandas' ``CategoricalDtype`` and
    Polars' ``Enum`` for their categories.

    Raises:
        TypeError: it has more than one column, or no stated categories.

    >>> listed(Enum("Sex", {"F": "f", "M": "m"})), listed(range(3))
    (['f', 'm'], range(0, 3))
    """
    if isinstance(letters, str):  # also a NumPy string, or a member of an enumeration of texts
        return exact(letters)
    if isinstance(letters, type) and issubclass(letters, Enum):
        return [member.value for member in letters]
    if library_of(letters) in _LIBRARIES:
        return _of_library(letters)
    return letters


def _of_library(letters: Any) -> Any:
    name = type(letters).__name__
    if name in {"CategoricalDtype", "Enum"}:
        letters = letters.categories
    is_list = isinstance(letters, Iterable) and getattr(letters, "ndim", 1) == 1
    if not is_list or name == "DataFrame":
        raise TypeError(refusal("alphabet", "be a list of letters, or hold one", name))
    # Not tolist, which makes some moments of NumPy integers.
    return letters.to_pylist() if hasattr(type(letters), "to_pylist") else list(letters)


UNIFORM: Final = "uniform"
Policy = Literal["other", "uniform"]

Record = Letter | dict[str, Letter]

LINES_MAX = 5 * 10**6

_NEVER_INFERRED = (
    "alphabet must be given. It is never inferred: which letters occur in the data is private."
    " List every letter that could occur, from a code book."
)
_LISTED = (
    "be a file that lists every possible value once, none of them 'other', in at most 5,000,000"
    " lines"
)
_WITHHELD = " What is wrong is withheld, because the file may be data: inspect it yourself."
_PERIODS = re.compile(r"([0-9]{4}-[0-9]{2}(-[0-9]{2})?)\.\.([0-9]{4}-[0-9]{2}(?:-[0-9]{2})?)")
_LONGEST = 40  # characters of an end of a range, far more than any has
_RANGE = re.compile(r"(-?[0-9]+)\.\.(-?[0-9]+)")


@dataclass(frozen=True, kw_only=True)
class Alphabet:
    """The public letters, in order, and the policy for every cell outside them.

    It is never learned from the data, because which letters occur is private. With the policy
    ``"other"``, an extra letter of that name stands for every cell outside; with
    ``"uniform"``, each such cell becomes a fresh uniform letter before the draw.

    Guarantee: every record is exactly one letter, whatever it holds.

    Attributes:
        axes: the letters of each column.
        columns: their names if there are several; a record is then a dict.
        policy: ``"other"`` or ``"uniform"``.

    >>> colours = Alphabet.of(["red", "green"])
    >>> colours.k, colours[0], colours[2]
    (3, 'red', 'other')
    >>> cells = Alphabet.of({"sex": ["f", "m"], "age": range(120)}, policy="uniform")
    >>> cells.k, cells[121], cells.index(("m", 1))
    (240, {'sex': 'm', 'age': 1}, 121)
    """

    axes: tuple[Axis, ...]
    columns: tuple[str, ...] = ()
    policy: Policy = OTHER

    def __post_init__(self) -> None:
        object.__setattr__(self, "policy", one_of("policy", self.policy, (OTHER, UNIFORM)))
        if self.policy == OTHER and not self.columns and self.axes[0].index(OTHER) is not None:
            if self.axes[0].is_withheld:
                raise ValueError(f"alphabet must {_LISTED}.{_WITHHELD}")
            raise ValueError(f"letter must not be {OTHER!r}: it stands for every other cell.")

    @classmethod
    def of(cls, letters: Any, *, policy: Policy = OTHER) -> Alphabet:
        """Return the alphabet of these letters.

        Args:
            letters: a list of letters, or an array or series of NumPy, pandas, Polars or Arrow;
                a ``range``; an ``enum.Enum``, pandas' ``CategoricalDtype`` or Polars' ``Enum``;
                text as on the command line, see :meth:`parse`; bins; a dict of columns and
                their letters; or an alphabet.
            policy: for cells outside, ``"other"`` or ``"uniform"``.

        Raises:
            TypeError: a letter is not text, an integer, a boolean or a date.
            ValueError: there are no letters, two are equal, or they would have to be inferred.
        """
        letters = listed(letters)
        match letters:
            case Alphabet():
                return letters
            case None:
                raise ValueError(_NEVER_INFERRED)
            case str():
                return cls.parse(letters, policy=policy)
            case Path():
                return cls.read(letters, policy=policy)
            case range() if letters.step == 1:
                letters = IntegerRange.of(letters.start, letters.stop)
            case Mapping():
                return cls.product(letters, policy=policy)
        axis = letters if isinstance(letters, Axis) else Letters.of(letters)
        return cls(axes=(axis,), policy=policy)

    @classmethod
    def read(
        cls, path: str | Path, *, column: str | None = None, policy: Policy = OTHER
    ) -> Alphabet:
        """Return the alphabet in a text file, one letter per line, or in a column of a CSV file.

        Blank lines are skipped. At most 64 MiB and 5,000,000 lines are read.

        Raises:
            ValueError: it cannot be read, or is not such a list. The message quotes and counts
                nothing in the file, which may be data.
        """
        path, column = path_of("path", path), exact(column)
        origin = Origin.found(path)
        text = read_public("alphabet", path)
        header: list[str] = []
        unlisted = ValueError(refusal("alphabet", _LISTED, str(path)) + _WITHHELD)
        if text.count("\n") > LINES_MAX:
            raise unlisted
        if column is None:
            separator = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
            if separator and separator in text.partition("\n")[0]:  # the column was forgotten
                raise ValueError(
                    refusal("alphabet", "name a column of a CSV file", str(path))
                    + f" Write its name after a colon: {path}:COLUMN."
                )
            lines = [line.removesuffix("\r") for line in text.split("\n")]
        else:
            try:
                # newline="" preserves line breaks inside a letter.
                rows = list(csv.reader(StringIO(text, newline=""), strict=True)) or [[]]
            except csv.Error:
                raise unlisted from None
            header = rows[0]
            lines = _column(rows, column)
        try:
            origin = replace(origin, header=tuple(header)) if origin else None
            axis = replace(Letters.of(filter(None, lines)), origin=origin)
            return cls(axes=(axis,), policy=policy)
        except (TypeError, ValueError):
            raise unlisted from None

    @classmethod
    def integers(cls, start: int, stop: int, *, policy: Policy = OTHER) -> Alphabet:
        """Return the alphabet of the integers from ``start`` up to, not including, ``stop``."""
        return cls(axes=(IntegerRange.of(start, stop),), policy=policy)

    @classmethod
    def bins(cls, edges: Iterable[float], *, policy: Policy = OTHER) -> Alphabet:
        """Return the alphabet of the half-open bins between increasing edges."""
        return cls(axes=(Bins.of(edges),), policy=policy)

    @classmethod
    def product(cls, columns: Mapping[str, Any], *, policy: Policy = OTHER) -> Alphabet:
        """Return the alphabet of all combinations of the letters of several columns.

        It is never written out: its size may be 10^12 and more.

        Args:
            columns: for each column, anything that :meth:`of` accepts for one column.
            policy: for records with any cell outside.
        """
        if not isinstance(columns, Mapping):
            raise TypeError(refusal("columns", "be a mapping of columns to letters", columns))
        columns = {exact(name): letters for name, letters in columns.items()}
        if not columns or not all(isinstance(name, str) and name for name in columns):
            raise ValueError("alphabet must have a name for each of its columns.")
        axes: list[Axis] = []
        for letters in columns.values():
            # The policy of the product decides; within a column "other" is an ordinary letter.
            part = None if isinstance(letters, Mapping) else cls.of(letters, policy=UNIFORM)
            if part is None or part.columns:
                raise ValueError("alphabet must not nest a product of columns in another.")
            axes.append(part.axes[0])
        return cls(axes=tuple(axes), columns=tuple(columns), policy=policy)

    @classmethod
    def parse(cls, text: str, *, policy: Policy = OTHER) -> Alphabet:
        """Return the alphabet that a command-line argument stands for.

        ``A,B,C`` are values unless a file is called so, ``codes.txt`` is a file,
        ``codes.csv:code`` a column of one, ``0..120`` a range whose stop is left out,
        ``2024-01..2025-01`` months or ``2024-01-01..2025-01-01`` days, which cells are read as,
        and ``bins:0,18,65`` bins.

        >>> Alphabet.parse("0..120").k, Alphabet.parse("bins:0,18,65")[1]
        (121, '[18, 65)')
        """
        spelled = cls.spelled(text, policy=policy)
        if spelled is not None:
            return spelled
        if text in {"auto", "infer"}:
            raise ValueError(_NEVER_INFERRED)
        if text == OPEN:
            raise ValueError(
                "alphabet must list its letters here. An open one is for Dataset.value, for one"
                " record of one column."
            )
        if values := values_in(text):
            return cls.of(values, policy=policy)
        path, colon, column = text.rpartition(":")
        if colon and not os.path.exists(text) and os.path.exists(path):  # noqa: PTH110 - as above
            return cls.read(path, column=column, policy=policy)
        return cls.read(text, policy=policy)

    @classmethod
    def spelled(cls, text: str, *, policy: Policy = OTHER) -> Alphabet | None:
        """Return the alphabet that a text spells out, or None if it can only name a file."""
        if days := _PERIODS.fullmatch(text):
            kind = DATE if days[2] else MONTH
            # The stop is excluded, as for integers.
            letters = Letters.of(periods(days[1], days[3], kind)[:-1])
            return cls(axes=(letters.read_as(Reading(kind=kind)),), policy=policy)
        if ends := _RANGE.fullmatch(text):
            if max(map(len, ends.groups())) > _LONGEST:
                raise ValueError(refusal("alphabet", "have ends of at most 18 digits", text))
            return cls.integers(int(ends[1]), int(ends[2]), policy=policy)
        if text.startswith("bins:"):
            try:
                edges = [float(edge) for edge in text.removeprefix("bins:").split(",")]
            except ValueError:
                raise ValueError(refusal("edges", "be numbers with commas", text)) from None
            return cls.bins(edges, policy=policy)
        return None

    def read_as(self, kind: str, **options: str) -> Alphabet:
        """Return the same alphabet of one column, with its cells read in this way.

        Args:
            kind: such as ``"integer"``, ``"month"`` or ``"lower"``; see :class:`dproo.Reading`.
            options: ``decimal``, ``thousands`` or ``format``.

        >>> Alphabet.of(range(120)).read_as("integer", thousands=",").index([" 037"])
        37
        """
        if self.columns:
            raise ValueError("reading must be given for each column of several by itself.")
        return replace(self, axes=(self.axes[0].read_as(Reading(kind=kind, **options)),))

    @cached_property
    def size(self) -> int:
        """The number of letters, without the extra one."""
        return prod(axis.size for axis in self.axes)

    @property
    def k(self) -> int:
        """The number of letters, with the extra one."""
        return self.size + (self.policy == OTHER)

    def __getitem__(self, index: int) -> Record:
        if not 0 <= index < self.k:
            raise IndexError(refusal("index", f"be below {self.k}", index))
        if index == self.size:
            return OTHER
        letters: list[Letter] = []
        for axis in reversed(self.axes):
            index, place = divmod(index, axis.size)
            letters.append(axis[place])
        letters.reverse()
        return dict(zip(self.columns, letters, strict=True)) if self.columns else letters[0]

    def records(self, indices: Sequence[int]) -> list[Record]:
        """Return the letters at these places, computing each only once.

        >>> Alphabet.of(["red", "green"]).records([1, 1, 2])
        ['green', 'green', 'other']
        """
        if not isinstance(indices, Iterable):
            raise TypeError(refusal("indices", "be a sequence of places", indices))
        places, last = [*indices], self.k - 1
        # 1 == True, so a set would merge what has to be refused; millions of integers are fine.
        checked = {*places} if {*map(type, places)} <= {int} else places
        letters = {
            place: self[place]
            for place in (whole("index", one, at_least=0, at_most=last) for one in checked)
        }
        return [letters[place] for place in places]

    def index(self, cells: Sequence[object]) -> int | None:
        """Return the place of a record's letter, or None if it is outside.

        Args:
            cells: one cell for each column.
        """
        index = 0
        for axis, cell in zip(self.axes, cells, strict=True):
            place = axis.index(cell)
            if place is None:
                return None
            index = index * axis.size + place
        return index

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the canonical letters, their order and the policy."""
        content = {
            "axes": [axis.read_content | {"is_open": axis.is_open} for axis in self.axes],
            "columns": list(self.columns),
            "policy": self.policy,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def values_in(text: str) -> list[str] | list[int]:
    """Return the values that a text lists between commas, or [] if it names a file.

    >>> values_in("A, B,C"), values_in("1,2"), values_in("codes.txt")
    (['A', 'B', 'C'], [1, 2], [])
    """
    parts = [part for each in text.split(",") if (part := each.strip())]
    files = (text, text.rpartition(":")[0])
    if "," not in text or any(map(os.path.exists, files)):  # Path raises, as for a name too long
        return []
    is_integer = all(re.fullmatch(INTEGER_TEXT, part) for part in parts)
    return list(map(int, parts)) if is_integer else parts


def _column(rows: Sequence[Sequence[str]], column: str) -> list[str]:
    """Return the cells of one column; the first row is the header."""
    header, *cells = rows
    if header.count(column) != 1:
        raise ValueError(
            refusal("column", "be exactly one column of the alphabet's header", column)
        )
    place = header.index(column)
    return [row[place] if place < len(row) else "" for row in cells]
