"""A dataset: records, whom they protect and what they are charged to, in one object.

Every release of the package, by Python, the command line, the page or an agent, is made by one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from dproo.core.checks import refusal
from dproo.core.numbers import Number, parse_delta, parse_epsilon
from dproo.core.paths import guarding
from dproo.counting.fit import Column
from dproo.counting.layout import Layout
from dproo.counting.source import Source
from dproo.ledger import Budget, Ledger
from dproo.mechanisms import AUTO, REPLACE, Relation
from dproo.mechanisms.network import Wiring
from dproo.releases.charge import Charge, dataset_name, protected, reprint
from dproo.releases.check import Check, check
from dproo.releases.many_values import SynthesisRequest
from dproo.releases.open_value import OpenRequest
from dproo.releases.protection import Groups, Protection
from dproo.releases.request import Request
from dproo.releases.row import RowRequest
from dproo.releases.run import Release, execute, guarded
from dproo.releases.value import SampleRequest
from dproo.schema import Alphabet
from dproo.schema.axis import OPEN
from dproo.schema.codebook import CodeBook

if TYPE_CHECKING:
    from dproo.synthesis.model import Model


class LayoutOptions(TypedDict, total=False):
    """How a text file is laid out: the fields of :class:`dproo.Layout`."""

    format: str
    delimiter: str
    encoding: str
    has_header: bool


def open(  # noqa: A001 - dproo.open, as for any other file
    data: Any,
    *,
    table: str | tuple[str, ...] | None = None,
    engine: str | None = None,
    person: str | None = None,
    neighbours: Relation | Protection = REPLACE,
    ledger: Ledger | str | os.PathLike[str] | Charge | None = None,
    dataset: str | None = None,
    layout: Layout | None = None,
    **reading: Unpack[LayoutOptions],
) -> Dataset:
    """Return a dataset; no record is read.

    Args:
        data: a file, a pattern of several, the URL or connection of a database, a frame, an
            array, a list of cells or records.
        table: the table of a database or DuckDB file, the sheet of an Excel file.
        engine: ``"spark"``, or a cluster such as ``"spark://host:7077"``, to read by Spark.
        person: the column that names whom a record is about: releases then protect a person,
            whatever they contribute.
        neighbours: ``"replace"`` (n is public) or ``"add-remove"`` (n is private); or a
            :class:`dproo.Protection` for people who own several records.
        ledger: the ledger that releases are charged to, its file or address; or a
            :class:`dproo.Charge`. Without one, they are charged to no budget.
        dataset: the name of the budget; by default the path of a file.
        layout: how a text file is laid out.
        reading: parts of the layout, such as ``format``, ``delimiter`` and ``encoding``.

    >>> import dproo
    >>> visits = dproo.open([{"diagnosis": "flu"}] * 70 + [{"diagnosis": "cold"}] * 30)
    >>> visits.value("diagnosis", ["flu", "cold"], epsilon="1").value in {"flu", "cold", "other"}
    True

    Raises:
        TypeError, ValueError: an argument is wrong.
    """
    said = Layout(**reading)
    if isinstance(neighbours, Protection):
        if person is not None:
            raise ValueError("person must be given once: the protection has one of its own.")
        protection = neighbours
    else:
        protection = Protection(neighbours=neighbours, person=person)
    if isinstance(ledger, Charge):
        if dataset is not None:
            raise ValueError("dataset must be given once: the charge has one of its own.")
        charge = ledger
    elif ledger is None:
        charge = Charge(dataset=dataset)
    else:
        charge = Charge(ledger=ledger, dataset=dataset or _name_of(data))
    source = Source(
        data=data,
        table=table,
        engine=engine,
        layout=said if layout is None else said.over(layout),
    )
    return Dataset(source=source, protection=protection, charge=charge)


def _name_of(data: Any) -> str:
    if isinstance(data, str | os.PathLike):
        return dataset_name(os.fspath(data))
    raise ValueError("dataset must be given with a ledger: it names the budget to charge.")


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Records to release from: made by :func:`dproo.open`.

    Attributes:
        source: where the records are.
        protection: whom every release protects.
        charge: the budget that every release is charged to.
    """

    source: Source
    protection: Protection = field(default_factory=Protection)
    charge: Charge = field(default_factory=Charge)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns with their types, by header or schema; no record is read."""
        return self.source.columns

    @property
    def budget(self) -> Budget:
        """The budget: what was declared, what was spent and what is left."""
        ledger = self.charge.opened()
        if ledger is None:
            raise ValueError("ledger must be given: it keeps the budget.")
        return ledger.budget(str(self.charge.dataset))

    def check(self, what: Any, letters: Any = None) -> Check:
        """Return what a release would refuse or warn of; it is free, and no record is read.

        Args:
            what: a code book, or the name of a column.
            letters: the possible values of the column.
        """
        if letters is None:
            book = self._book(what)
            source = self.source.described_by(book.descriptor)
            return check(source, book.alphabet, person=self.protection.person)
        column, alphabet = self._letters(what, letters)
        return check(self.source, alphabet, column=column, person=self.protection.person)

    def value(
        self,
        column: str | None,
        letters: Any,
        *,
        epsilon: Number,
        sampler: str = AUTO,
        delta: Number | None = None,
        minimum_people: int | None = None,
        purpose: str | None = None,
    ) -> Release:
        """Release one value of a column.

        Args:
            column: its name; None where the data is a plain list of cells, or where ``letters``
                is a mapping of several columns.
            letters: its possible values, in any form that :meth:`dproo.Alphabet.of` takes; cells
                outside them count as the extra value ``other``. Or ``"open"``, where nobody can
                list them: a value that enough records have, for a ``delta``.
            epsilon: the privacy parameter.
            sampler: the name of a sampler; ``"auto"`` takes the one with the smallest proven
                worst case, and the receipt says why.
            delta: the probability with which epsilon may fail, for open values.
            minimum_people: an open value that fewer records, or people, have is never shown; by
                default 2.
            purpose: what the release is for, as receipt and ledger will say.

        >>> visits = open(["flu"] * 70 + ["cold"] * 30)
        >>> visits.value(None, ["flu", "cold", "plague"], epsilon="1").value in {
        ...     "flu", "cold", "plague", "other"}
        True

        Raises:
            TypeError, ValueError: an argument is wrong; nothing was charged, no record was read.
            LedgerError: the ledger refused; no record was read.
            ReleaseError: it failed after the charge, which stays.
            KeyboardInterrupt: stopped; the charge stays if the message says so.
        """
        if isinstance(letters, str) and letters == OPEN:
            if sampler != AUTO:
                raise ValueError("sampler must be left out with open values: they have their own.")
            request: Request = OpenRequest(
                column=column,
                epsilon=parse_epsilon(epsilon),
                delta=parse_delta(0 if delta is None else delta),
                protection=self.protection,
                minimum_people=2 if minimum_people is None else minimum_people,
            )
            return self.release(request, purpose=purpose)
        if delta is not None or minimum_people is not None:
            raise ValueError("letters must be 'open' with delta or minimum_people.")
        return self.values(column, letters, epsilon=epsilon, sampler=sampler, purpose=purpose)

    def values(
        self,
        column: str | None,
        letters: Any,
        *,
        size: int = 1,
        by: Groups | None = None,
        epsilon: Number,
        delta: Number = 0,
        sampler: str = AUTO,
        purpose: str | None = None,
    ) -> Release:
        """Release several values of a column for one epsilon, or one for each group.

        Args:
            column: as for :meth:`value`.
            letters: as for :meth:`value`, but listed.
            size: how many. ``roo`` and ``subrr`` draw them jointly; the others split the data at
                random into as many disjoint blocks and draw one from each.
            by: release one value for each public group instead.
            epsilon: for all values together.
            delta: with one, the values are drawn independently, and epsilon may fail with this
                probability; for many values that is far more accurate.
            sampler: as for :meth:`value`.
            purpose: as for :meth:`value`.
        """
        column, alphabet = self._letters(column, letters)
        exact = parse_delta(delta)
        request: Request
        request = SampleRequest(
            alphabet=alphabet,
            column=column,
            epsilon=parse_epsilon(epsilon),
            sampler=sampler,
            size=1 if exact else size,
            groups=by,
            protection=self.protection,
        )
        if exact:
            if by is not None:
                raise ValueError("delta must be left out with groups.")
            request = SynthesisRequest(request=request, rows=size, delta=exact)
        return self.release(request, purpose=purpose)

    def row(
        self,
        codebook: Any,
        *,
        epsilon: Number,
        network: Wiring = AUTO,
        shares: Mapping[str, Number] | None = None,
        within_bins: bool = False,
        purpose: str | None = None,
    ) -> Release:
        """Release one whole row, a dict of all columns of a code book.

        Args:
            codebook: the public columns and their letters, in any form that
                :meth:`dproo.CodeBook.of` takes.
            epsilon: for the whole row, the choice of the network included.
            network: how the columns depend on each other: ``"declared"`` by the code book,
                ``"learned"`` privately for a fifth of epsilon, or ``"independent"``; by default
                declared where the code book names parents, and learned where it does not.
            shares: the epsilon of every column, instead of the default, which is the best by the
                worst case.
            within_bins: whether a bin is shown as a number drawn inside it.
            purpose: what the release is for, as receipt and ledger will say.
        """
        return self.rows(
            codebook,
            epsilon=epsilon,
            network=network,
            shares=shares,
            within_bins=within_bins,
            purpose=purpose,
        )

    def rows(
        self,
        codebook: Any,
        *,
        size: int = 1,
        by: Groups | None = None,
        epsilon: Number,
        network: Wiring = AUTO,
        shares: Mapping[str, Number] | None = None,
        within_bins: bool = False,
        purpose: str | None = None,
    ) -> Release:
        """Release several rows for one epsilon, or one for each group.

        Args:
            codebook: as for :meth:`row`.
            size: how many; each pays its share of epsilon.
            by: release one row for each public group instead.
            epsilon: for all rows together.
            network: as for :meth:`row`.
            shares: as for :meth:`row`.
            within_bins: as for :meth:`row`.
            purpose: as for :meth:`row`.
        """
        book = self._book(codebook)
        request = RowRequest(
            codebook=book,
            epsilon=parse_epsilon(epsilon),
            network=network,
            shares=_shares(shares, book),
            groups=by,
            size=size,
            protection=self.protection,
            is_within_bins=within_bins,
        )
        described = replace(self, source=self.source.described_by(book.descriptor))
        return described.release(request, purpose=purpose)

    def synthesize(
        self,
        codebook: Any,
        *,
        epsilon: Number,
        delta: Number = 0,
        network: Wiring = AUTO,
        purpose: str | None = None,
    ) -> Model:
        """Release a private table: a model that any number of rows and counts come from.

        Args:
            codebook: as for :meth:`row`.
            epsilon: for everything that the model will ever tell.
            delta: with one, Gaussian noise is used where that is expected to be closer.
            network: which columns are counted together: ``"declared"`` by the code book,
                ``"learned"`` privately, or ``"independent"``; by default declared where the code
                book names parents, and learned where it does not.
            purpose: as for :meth:`row`.

        >>> book = {"schema": {"fields": [{"name": "ill", "type": "boolean", "outside": False}]}}
        >>> model = open([{"ill": True}] * 90 + [{"ill": False}] * 10).synthesize(book, epsilon=1)
        >>> len(model.rows(5)), model.receipt["certificate"]["holds"]
        (5, True)
        """
        from dproo.releases.table import ModelRequest  # noqa: PLC0415 - loads NumPy
        from dproo.synthesis.model import Model  # noqa: PLC0415

        book = self._book(codebook)
        request = ModelRequest(
            codebook=book,
            epsilon=parse_epsilon(epsilon),
            delta=parse_delta(delta),
            network=network,
            protection=self.protection,
        )
        described = replace(self, source=self.source.described_by(book.descriptor))
        receipt = described.release(request, purpose=purpose).receipt
        kept = reprint(receipt, self.charge.address)
        return guarded(lambda: Model.of_receipt(receipt), kept=kept)

    def release(self, request: Request, *, purpose: str | None = None) -> Release:
        """Charge a checked request, read the data and release."""
        charge = self.charge if purpose is None else replace(self.charge, purpose=purpose)
        return execute(request, self.source, charge)

    def _letters(self, column: Any, letters: Any) -> tuple[str | None, Alphabet]:
        with guarding(protected(self.charge.opened, self.source)):
            alphabet = Alphabet.of(letters)
        if column is not None and not isinstance(column, str):
            raise TypeError(refusal("column", "be the name of a column", type(column)))
        if alphabet.columns and column is not None:
            raise ValueError(refusal("column", "be None: the letters name their columns", column))
        return column, alphabet

    def _book(self, codebook: Any) -> CodeBook:
        with guarding(protected(self.charge.opened, self.source)):
            return CodeBook.of(codebook)


def sample(cells: Any, letters: Any, *, epsilon: Number) -> Release:
    """Release one representative value of cells in memory, charged to no budget.

    Args:
        cells: a list, an array or a series.
        letters: the possible values, in any form that :meth:`dproo.Alphabet.of` takes.
        epsilon: the privacy parameter.

    >>> sample(["a"] * 60 + ["b"] * 40, ["a", "b"], epsilon="1").value in {"a", "b", "other"}
    True
    """
    return open(cells).value(None, letters, epsilon=epsilon)


def _shares(shares: Mapping[str, Number] | None, book: CodeBook) -> tuple[Fraction, ...]:
    """Return the epsilon of each column, in the order of the code book."""
    if shares is None:
        return ()
    if not isinstance(shares, Mapping) or set(shares) != set(book.columns):
        raise ValueError(refusal("shares", "name the epsilon of every column", shares))
    return tuple(parse_epsilon(shares[column]) for column in book.columns)
