"""The only path from data to output: check everything, count, draw, and write the receipt."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from dproo import engines
from dproo._check import whole
from dproo.alphabet import Alphabet, Record
from dproo.engines import ReleaseError
from dproo.exact import Number
from dproo.mechanisms import REPLACE, Mechanism, mechanism
from dproo.privacy import certify

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Release:
    """What left the house.

    Attributes:
        values: the released letters.
        receipt: how they were drawn, JSON-able; nothing in it that is not public or released.
    """

    values: tuple[Record, ...]
    receipt: dict[str, Any]

    @property
    def value(self) -> Record:
        """The released letter, or the first of several."""
        return self.values[0]


def sample(
    data: Any,
    *,
    alphabet: Any,
    epsilon: Number,
    sampler: str = "ls-roo",
    column: str | None = None,
    table: str | tuple[str, str] | None = None,
    size: int = 1,
    neighbours: str = REPLACE,
) -> Release:
    """Release one representative record of ``data``, or a few, under epsilon-DP.

    Args:
        data: any source that :func:`dproo.engines.prepare` takes: a list, an array, a frame,
            a file, a database, ready counts.
        alphabet: the public letters, in any way that :meth:`dproo.Alphabet.of` takes. Cells
            outside it count as the extra letter ``other``.
        epsilon: the privacy parameter, for all released records together.
        sampler: the name of a sampler.
        column: the column of a file, table or frame.
        table: the table of a database.
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
    alphabet = Alphabet.of(alphabet)
    options: dict[str, Any] = {"epsilon": epsilon, "neighbours": neighbours, "k": alphabet.k}
    if size > 1:
        options["draws"] = size
    is_n_public = neighbours == REPLACE
    # Made before any data is read, so that a wrong argument is refused there.
    law = mechanism(sampler, **options, **({"n": size} if is_n_public else {}))
    counts = engines.prepare(data, alphabet=alphabet, column=column, table=table).count()
    if is_n_public:
        if counts.n < size:
            raise ReleaseError(f"the data has fewer than {size} records.")
        law = mechanism(sampler, **options, n=counts.n)
    letters = tuple(alphabet[letter] for letter in law.draw(counts))
    return Release(letters, _receipt(law, alphabet, letters))


def _receipt(law: Mechanism, alphabet: Alphabet, letters: tuple[Record, ...]) -> dict[str, Any]:
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
