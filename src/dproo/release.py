"""The only path from data to output: validate, reserve, count, draw, record, return.

Everything that can be refused is refused before the charge, the charge is durable before any
data is read, and the release is recorded before any of it is shown. From the first record
read until the receipt is written, every failure is one fixed sentence.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from dproo import engines
from dproo._check import one_of, refusal, whole
from dproo.alphabet import Alphabet, Record
from dproo.counts import Counts
from dproo.engines import ReleaseError
from dproo.exact import Number, parse_epsilon
from dproo.ledger import Ledger
from dproo.mechanisms import REPLACE, SAMPLERS, Mechanism
from dproo.privacy import certify
from dproo.randomness import Source
from dproo.splitting import blocks, scatter

SCHEMA_VERSION = 1
AUTO = "auto"
DEFAULT = "ls-roo"

FAILED = "the release failed after data was read; no detail is shown, it could quote the data."

Result = TypeVar("Result")


@dataclass(frozen=True)
class Release:
    """What left the house.

    Attributes:
        values: the released letters; with groups, one for each group in their order.
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
    sampler: str = DEFAULT,
    column: str | None = None,
    table: str | tuple[str, str] | None = None,
    size: int = 1,
    neighbours: str = REPLACE,
    records_per_person: int = 1,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
) -> Release:
    """Release one representative record of ``data``, or a few, under epsilon-DP.

    Args:
        data: any source that :func:`dproo.engines.prepare` takes: a list, an array, a frame,
            a file, a database, ready counts.
        alphabet: the public letters, in any way that :meth:`dproo.Alphabet.of` takes. Cells
            outside it count as the extra letter ``other``, unless it says otherwise.
        epsilon: the privacy parameter, for all released records together.
        sampler: the name of a sampler, or ``"auto"``, which chooses by public parameters.
        column: the column of a file, table or frame.
        table: the table of a database.
        size: how many records. ``roo`` and ``subrr`` draw them jointly; the others draw one
            from each of so many disjoint random blocks of the data.
        neighbours: ``"replace"`` (n is public) or ``"add-remove"`` (n is private).
        records_per_person: the most records that one protected person may own.
        ledger: the budget to charge. Without one nothing adds up this and other releases.
        dataset: the name under which the ledger keeps the budget of this data.

    >>> release = sample(["a"] * 60 + ["b"] * 40, alphabet=["a", "b"], epsilon=1)
    >>> release.value in {"a", "b", "other"}, release.receipt["n"]
    (True, 100)

    Raises:
        TypeError, ValueError: an argument is wrong; nothing was charged, no data was read.
        LedgerError: the ledger refused, for one because too little is left; no data was read.
        ReleaseError: it failed after data was touched; the charge stays.
    """
    choice = Choice(
        alphabet=Alphabet.of(alphabet),
        epsilon=parse_epsilon(epsilon),
        sampler=sampler,
        size=size,
        neighbours=neighbours,
        records_per_person=records_per_person,
    )
    scan = engines.prepare(data, alphabet=choice.alphabet, column=column, table=table)
    book = _open(ledger, dataset)
    if book is None:
        return release(choice, scan)
    entry = book.reserve(
        str(dataset),
        epsilon=choice.epsilon,
        neighbours=choice.neighbours,
        records_per_person=choice.records_per_person,
        request=choice.public,
    )
    drawn = release(choice, scan)
    return replace(drawn, receipt=_guarded(lambda: book.record(entry, drawn.receipt)))


def _open(ledger: Ledger | str | os.PathLike[str] | None, dataset: str | None) -> Ledger | None:
    if ledger is None:
        if dataset is not None:
            raise ValueError("ledger must be given with a dataset: it keeps the dataset's budget.")
        return None
    if dataset is None:
        raise ValueError("dataset must be given with a ledger: it names the budget to charge.")
    return ledger if isinstance(ledger, Ledger) else Ledger(Path(ledger))


@dataclass(frozen=True, kw_only=True)
class Choice:
    """All public choices of a release, checked; nothing of the data is in it.

    Attributes:
        alphabet: the public letters.
        epsilon: for all released records together.
        sampler: the name of a sampler, or ``"auto"``.
        size: how many records.
        neighbours: ``"replace"`` or ``"add-remove"``.
        records_per_person: the most records that one protected person may own.
    """

    alphabet: Alphabet
    epsilon: Fraction
    sampler: str = DEFAULT
    size: int = 1
    neighbours: str = REPLACE
    records_per_person: int = 1

    def __post_init__(self) -> None:
        one_of("sampler", self.sampler, (*SAMPLERS, AUTO))
        whole("size", self.size, at_least=1)
        whole("records_per_person", self.records_per_person, at_least=1)
        if self.alphabet.k < 2:
            raise ValueError(refusal("alphabet", "have at least 2 letters", self.alphabet.k))
        self.law(self.size if self.is_joint else 1)  # refuses what no data could make right

    @property
    def is_n_public(self) -> bool:
        """Whether the number of records may be known."""
        return self.neighbours == REPLACE

    @property
    def chosen(self) -> str:
        """The sampler; ``"auto"`` takes the one that is never worse than its peers' bound."""
        return DEFAULT if self.sampler == AUTO else self.sampler

    @property
    def is_joint(self) -> bool:
        """Whether several records are drawn jointly rather than from disjoint blocks."""
        return self.size == 1 or "draws" in self._options

    @property
    def _options(self) -> set[str]:
        return {field.name for field in fields(SAMPLERS[self.chosen])}

    @property
    def public(self) -> dict[str, Any]:
        """The choices as they stand in the ledger."""
        return {
            "sampler": self.chosen,
            "size": self.size,
            "k": self.alphabet.k,
            "alphabet_sha256": self.alphabet.digest,
        }

    def law(self, n: int) -> Mechanism:
        """Return the certified sampler for a dataset, or a block, of ``n`` records."""
        options: dict[str, Any] = {"k": self.alphabet.k, "neighbours": self.neighbours}
        epsilon = self.epsilon
        if self.is_n_public:
            options["n"] = n
        if self.is_joint and self.size > 1:
            options["draws"] = self.size
        if "records_per_person" in self._options:
            options["records_per_person"] = self.records_per_person
        else:  # whoever changes several records changes the law once for each of them
            epsilon /= self.records_per_person
        return _certified(self.chosen, epsilon, tuple(options.items()))


@lru_cache(maxsize=64)
def _certified(sampler: str, epsilon: Fraction, options: tuple[tuple[str, Any], ...]) -> Mechanism:
    """Return the sampler of these public parameters; several releases share its tables."""
    return SAMPLERS[sampler](epsilon=epsilon, **dict(options))


def release(choice: Choice, scan: engines.Scan) -> Release:
    """Count, draw and write the receipt; what it costs must have been charged before."""
    counts = scan.count()
    if choice.is_n_public and counts.n < choice.size:
        raise ReleaseError(f"the data has fewer than {choice.size} records.")
    laws, letters = _guarded(lambda: _draw(choice, counts, Source()))
    values = tuple(choice.alphabet[letter] for letter in letters)
    return Release(values, _receipt(choice, laws, values, counts.n))


def _draw(choice: Choice, counts: Counts, source: Source) -> tuple[list[Mechanism], Sequence[int]]:
    """Return the certified laws that were drawn from, and the letters."""
    if choice.is_joint:
        law = choice.law(counts.n)
        return [law], law.draw(counts, source=source)
    parts = (blocks if choice.is_n_public else scatter)(counts, choice.size, source)
    laws = {n: choice.law(n) for n in {part.n for part in parts}} if choice.is_n_public else {}
    law = choice.law(1)
    letters = [laws.get(part.n, law).draw(part, source=source)[0] for part in parts]
    return list(laws.values()) or [law], letters


def _guarded(action: Callable[[], Result]) -> Result:
    """Run ``action``; whatever goes wrong in it is one sentence without a cause."""
    try:
        return action()
    except Exception:  # noqa: BLE001, S110 - raised below, where no cause hangs on
        pass
    raise ReleaseError(FAILED)


def _receipt(
    choice: Choice, laws: Sequence[Mechanism], values: Sequence[Record], n: int
) -> dict[str, Any]:
    certificates = [certify(law) for law in laws]
    worst = max(certificates, key=lambda certificate: certificate.ratio)
    person = choice.records_per_person
    receipt: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "values": list(values),
        "sampler": choice.chosen,
        "epsilon": str(choice.epsilon),
        "epsilon_decimal": _decimal(choice.epsilon),
        "neighbours": choice.neighbours,
        "protects": "one record" if person == 1 else f"one person with up to {person} records",
        "several": None
        if choice.size == 1
        else ("drawn jointly" if choice.is_joint else "one from each of as many disjoint blocks"),
        "k": choice.alphabet.k,
        "alphabet_sha256": choice.alphabet.digest,
        "certificate": {
            "holds": all(certificate.holds for certificate in certificates),
            "epsilon": worst.epsilon,
            "ratio": str(worst.ratio),
        },
        "ledger": None,
        "software": _software(),
    }
    if choice.is_n_public:
        receipt["n"] = n
        receipt["worst_alpha"] = max(float(law.worst_alpha) for law in laws)
    return receipt


@cache
def _software() -> str:
    return f"dproo {version('dproo')}"


def _decimal(epsilon: Fraction) -> str:
    return str(Decimal(epsilon.numerator) / Decimal(epsilon.denominator))
