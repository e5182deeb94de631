"""The only path from data to output: check everything, count, draw, and write the receipt."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dproo._check import refusal, whole
from dproo.alphabet import Alphabet, Letter
from dproo.counts import Counts
from dproo.exact import Number
from dproo.mechanisms import REPLACE, Mechanism, mechanism
from dproo.privacy import certify

SCHEMA_VERSION = 1


class ReleaseError(RuntimeError):
    """The release failed after data was touched; the message says nothing of the data."""


@dataclass(frozen=True)
class Release:
    """What left the house.

    Attributes:
        values: the released letters.
        receipt: how they were drawn, JSON-able; nothing in it that is not public or released.
    """

    values: tuple[Letter, ...]
    receipt: dict[str, Any]

    @property
    def value(self) -> Letter:
        """The released letter, or the first of several."""
        return self.values[0]


def sample(
    data: Iterable[object] | str | Path,
    *,
    alphabet: Iterable[Letter] | Alphabet | str | Path,
    epsilon: Number,
    sampler: str = "ls-roo",
    column: str | None = None,
    size: int = 1,
    neighbours: str = REPLACE,
) -> Release:
    """Release one representative record of ``data``, or a few, under epsilon-DP.

    Args:
        data: the records' letters, or the path of a CSV file with a header.
        alphabet: the public letters, or the path of a text file with one a line. Cells
            outside it count as the extra letter ``other``.
        epsilon: the privacy parameter, for all released records together.
        sampler: the name of a sampler.
        column: the column of the file.
        size: how many records; several are drawn jointly, by samplers that can.
        neighbours: ``"replace"`` (n is public) or ``"add-remove"`` (n is private).

    >>> release = sample(["a"] * 60 + ["b"] * 40, alphabet=["a", "b"], epsilon=1)
    >>> release.value in {"a", "b", "other"}, release.receipt["n"]
    (True, 100)

    Raises:
        TypeError, ValueError: an argument is wrong; no data was read.
        ReleaseError: the data could not be counted.
    """
    size = whole("size", size, at_least=1)
    alphabet = _alphabet(alphabet)
    options: dict[str, Any] = {"epsilon": epsilon, "neighbours": neighbours, "k": alphabet.k}
    if size > 1:
        options["draws"] = size
    is_n_public = neighbours == REPLACE
    # Made before any data is read, so that a wrong argument is refused there.
    law = _law(sampler, **options, **({"n": size} if is_n_public else {}))
    counts = _count(data, column, alphabet)
    if is_n_public:
        if counts.n < size:
            raise ReleaseError(f"the data has fewer than {size} records.")
        law = _law(sampler, **options, n=counts.n)
    letters = tuple(alphabet[letter] for letter in law.draw(counts))
    return Release(letters, _receipt(law, alphabet, letters))


def _law(sampler: str, **options: Any) -> Mechanism:
    law = mechanism(sampler, **options)
    if not isinstance(law, Mechanism):
        raise ValueError(  # noqa: TRY004 - a name of the wrong value, not of the wrong type
            refusal("sampler", "be one that can be certified", sampler)
        )
    return law


def _alphabet(alphabet: Iterable[Letter] | Alphabet | str | Path) -> Alphabet:
    if isinstance(alphabet, Alphabet):
        return alphabet
    if isinstance(alphabet, str | Path):
        return Alphabet.read(alphabet)
    return Alphabet.of(alphabet)


def _count(data: Iterable[object] | str | Path, column: str | None, alphabet: Alphabet) -> Counts:
    if not isinstance(data, str | Path):
        return alphabet.count(data)
    if column is None:
        raise ValueError("column must be given for a file.")
    if not Path(data).is_file():
        raise ValueError(refusal("data", "be a file that exists", str(data)))
    try:
        with Path(data).open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            header = next(rows, [])
            if column not in header:
                raise ValueError(refusal("column", "be in the header of the file", column))
            place = header.index(column)
            return alphabet.count(row[place] if place < len(row) else None for row in rows)
    except (OSError, UnicodeDecodeError, csv.Error):
        raise ReleaseError("the data file could not be read.") from None


def _receipt(law: Mechanism, alphabet: Alphabet, letters: tuple[Letter, ...]) -> dict[str, Any]:
    certificate = certify(law)
    receipt = {
        "schema_version": SCHEMA_VERSION,
        "values": list(letters),
        "sampler": law.name,
        "epsilon": str(law.epsilon),
        "neighbours": law.neighbours,
        "k": law.k,
        "alphabet_sha256": alphabet.digest,
        "certificate": {
            "holds": certificate.holds,
            "epsilon": certificate.epsilon,
            "ratio": str(certificate.ratio),
        },
        "ledger": None,
        "software": f"dproo {version('dproo')}",
    }
    if law.neighbours == REPLACE:
        receipt["n"] = law.n
        receipt["worst_alpha"] = float(law.worst_alpha)
    return receipt
