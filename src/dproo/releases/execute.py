"""The only path from data to output: validate, reserve, count, draw, record, return.

Everything that can be refused is refused before the charge, the charge is durable before any
data is read, and the release is recorded before any of it is shown. From the reservation until
the receipt is written, every end, be it a failure or an interrupt, is one fixed sentence that
says what became of the charge.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from dproo import engines
from dproo.alphabet import Alphabet, Record
from dproo.analysis.certificate import certify
from dproo.core.exact import Number, decimal_text, fraction_text, parse_epsilon
from dproo.core.randomness import RandomSource
from dproo.exceptions import ReleaseError
from dproo.ledger import Ledger, LedgerError
from dproo.mechanisms import DEFAULT, REPLACE, Relation
from dproo.releases.request import Drawn, Request, Stopped
from dproo.releases.sample_request import Groups, SampleRequest

SCHEMA_VERSION = 1
RELEASE_FAILED = (
    "the release failed after data was read; no detail is shown, it could quote the data."
)

STOPPED = "the release was stopped."
EXIT = 4
"""The exit code of a release that ended after its charge."""

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
    table: str | tuple[str, ...] | None = None,
    size: int = 1,
    by: Mapping[str, Any] | None = None,
    are_groups_public: bool = False,
    neighbours: Relation = REPLACE,
    records_per_person: int = 1,
    guess: str | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    engine: str | None = None,
    master: str | None = None,
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
        table: the table of a database, as in ``"table"`` or ``"schema.table"``.
        size: how many records. ``roo`` and ``subrr`` draw them jointly; the others draw one
            from each of so many disjoint random blocks of the data.
        by: a column and the public list of its groups: one record is released for each group.
            Under add-remove this costs epsilon once, since a record is in one group; under
            replace it costs it twice, since a record can leave one group and enter another.
        are_groups_public: whether everybody may know which record is in which group. Then
            it costs epsilon once under replace too.
        neighbours: ``"replace"`` (n is public) or ``"add-remove"`` (n is private).
        records_per_person: the most records that one protected person may own.
        guess: what the public knows of the shape of the data, for ``als-roo``: ``"sparse"``,
            ``"heavy tail"`` or ``"dense"``. It must not come from the data.
        ledger: the budget to charge. Without one nothing adds up this and other releases.
        dataset: the name under which the ledger keeps the budget of this data.
        engine: ``"spark"`` to have Spark read ``data``, a table's name or Parquet files.
        master: the cluster that Spark runs on, by default this machine.

    >>> release = sample(["a"] * 60 + ["b"] * 40, alphabet=["a", "b"], epsilon=1)
    >>> release.value in {"a", "b", "other"}, release.receipt["n"]
    (True, 100)

    Raises:
        TypeError, ValueError: an argument is wrong; nothing was charged, no data was read.
        LedgerError: the ledger refused, for one because too little is left; no data was read.
        ReleaseError: it failed after data was touched; the charge stays.
        KeyboardInterrupt: stopped; if the message says that the charge stays, it does.
    """
    request = SampleRequest(
        alphabet=Alphabet.of(alphabet),
        epsilon=parse_epsilon(epsilon),
        sampler=sampler,
        size=size,
        groups=None if by is None else Groups.of(by, column, is_public=are_groups_public),
        neighbours=neighbours,
        records_per_person=records_per_person,
        guess=guess,
    )
    return execute(
        request,
        data,
        column=None if request.groups else column,  # groups name their columns
        table=table,
        engine=engine,
        master=master,
        ledger=ledger,
        dataset=dataset,
    )


def execute(
    request: Request,
    data: Any,
    *,
    column: str | None = None,
    table: str | tuple[str, ...] | None = None,
    engine: str | None = None,
    master: str | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
) -> Release:
    """Check the data, reserve the budget, release and record; :func:`sample` says what is what."""
    scan = engines.prepare(
        data,
        alphabet=request.counted_alphabet,
        column=column,
        table=table,
        engine=engine,
        master=master,
    )
    book = _open(ledger, dataset)
    if book is None:
        return release(request, scan)
    entry = guarded(
        lambda: book.reserve(
            str(dataset),
            epsilon=request.cost,
            delta=request.delta,
            neighbours=request.neighbours,
            records_per_person=request.records_per_person,
            request=request.public_choices,
        ),
        kept="The charge may stand: 'dproo ledger show' tells.",
        refusals=(LedgerError, TypeError, ValueError),
    )
    kept = f"The charge stays: entry {entry.number} of {entry.dataset!r}."
    drawn = guarded(lambda: release(request, scan), kept=kept)
    kept = f"{kept} 'dproo ledger print {entry.number}' prints the release if it was recorded."
    receipt = guarded(lambda: book.record(entry, drawn.receipt), kept=kept)
    return replace(drawn, receipt=receipt)


def _open(ledger: Ledger | str | os.PathLike[str] | None, dataset: str | None) -> Ledger | None:
    if ledger is None:
        if dataset is not None:
            raise ValueError("ledger must be given with a dataset: it keeps the dataset's budget.")
        return None
    if dataset is None:
        raise ValueError("dataset must be given with a ledger: it names the budget to charge.")
    return ledger if isinstance(ledger, Ledger) else Ledger(Path(ledger))


def release(request: Request, scan: engines.Scan) -> Release:
    """Count, draw and write the receipt; what it costs must have been charged before."""
    return guarded(lambda: _release(request, scan))


def _release(request: Request, scan: engines.Scan) -> Release:
    counts = scan.count()
    if request.is_n_public and counts.n < request.records_needed:
        raise ReleaseError(f"the data has fewer than {request.records_needed} records.")
    drawn = request.draw(counts, RandomSource())
    return Release(drawn.values, _receipt(request, drawn, counts.n))


def guarded(
    action: Callable[[], Result],
    *,
    kept: str = "",
    refusals: tuple[type[Exception], ...] = (),
) -> Result:
    """Run ``action``; however it ends early, one sentence without a cause is raised.

    An interrupt stays an interrupt and an exit an exit, so that they end the program. Anything
    else, a library's panic that is no ``Exception`` included, becomes a :class:`ReleaseError`.

    Args:
        action: what touches data, or comes after a charge.
        kept: a sentence on what became of the charge.
        refusals: errors that are raised as they are.
    """
    try:
        return action()
    except refusals:
        raise
    except BaseException as error:  # noqa: BLE001 - raised below, where no cause hangs on
        end = _end(error, kept)
    raise end


def _end(error: BaseException, kept: str) -> BaseException:
    if isinstance(error, KeyboardInterrupt):
        return Stopped(f"{STOPPED} {kept}".rstrip())
    if isinstance(error, SystemExit):
        end = SystemExit(EXIT)
        end.add_note(f"{STOPPED} {kept}".rstrip())
        return end
    sentence = str(error) if isinstance(error, ReleaseError) else RELEASE_FAILED
    return ReleaseError(f"{sentence} {kept}".rstrip())


def _receipt(request: Request, drawn: Drawn, n: int) -> dict[str, Any]:
    certificates = [certify(sampler) for sampler in drawn.samplers]
    worst = max(certificates, key=lambda certificate: certificate.ratio)
    person = request.records_per_person
    receipt: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "epsilon": str(request.cost),
        "epsilon_decimal": decimal_text(request.cost),
        "neighbours": request.neighbours,
        "protects": "one record" if person == 1 else f"one person with up to {person} records",
        **drawn.facts,
        "k": request.alphabet.k,
        "alphabet_sha256": request.counted_alphabet.digest,
        "certificate": {
            "holds": all(certificate.holds for certificate in certificates),
            "epsilon": worst.epsilon,
            "ratio": fraction_text(worst.ratio),
        },
        "ledger": None,
        "software": _software(),
    }
    if request.neighbours == REPLACE:
        receipt["n"] = n
    if request.is_n_public:
        receipt["worst_alpha"] = max(float(sampler.worst_alpha) for sampler in drawn.samplers)
    return receipt


@cache
def _software() -> str:
    return f"dproo {version('dproo')}"
