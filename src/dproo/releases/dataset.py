"""A dataset in one object: its records, whom releases protect, and which budget they charge.

Python, the command line, the page and agents all release through one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from dproo.codebooks.draft import resource_of
from dproo.core.checks import exact, plain_text, refusal
from dproo.core.numbers import Number, parse_delta, parse_epsilon
from dproo.core.paths import guarding
from dproo.counting.fit import Column
from dproo.counting.layout import Layout, LayoutOptions
from dproo.counting.single_pass import must_be_reread
from dproo.counting.source import Source, stated_for
from dproo.counting.sql import statements as sql
from dproo.errors import ReleaseError
from dproo.ledger import Address, Budget, Ledger
from dproo.mechanisms import AUTO, REPLACE, Relation
from dproo.mechanisms.network import Wiring
from dproo.receipt import Receipt
from dproo.releases.charge import Charge, dataset_name, protected, reprint, require_named
from dproo.releases.check import Check, check, check_kinds, try_cells
from dproo.releases.discovery import DiscoveryRequest
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
    from dproo.releases.table import ModelRequest
    from dproo.synthesis.model import Model

TABLE_FROM = 5
"""From this many rows for one epsilon, a private table is expected to be closer than rows that each
pay a share. For the code books of the benchmark, the plan finds two to five rows."""


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
            array, a list of cells or records. An iterator, a stream or standard input (``"-"``)
            can be released from once; open it once.
        table: the table of a database or DuckDB file, the sheet of an Excel file.
        engine: ``"spark"``, or a cluster such as ``"spark://host:7077"``, to read by Spark.
        person: the column that identifies people: releases then protect a person with all of
            their records.
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
    if unknown := sorted(reading.keys() - Layout.__dataclass_fields__.keys()):
        raise TypeError(f"dproo.open has no argument {unknown[0]!r}.")
    parts = Layout(**reading)
    if not isinstance(layout, Layout | None):
        raise TypeError(refusal("layout", "be a dproo.Layout", layout))
    if isinstance(neighbours, Protection):
        if person is not None:
            raise ValueError("person must be part of the protection: Protection(person=...).")
        protection = neighbours
    else:
        protection = Protection(neighbours=neighbours, person=person)
    source = Source(
        data=data,
        table=table,
        engine=engine,
        layout=stated_for(data, parts if layout is None else parts.over(layout), engine),
    )
    if isinstance(ledger, Charge):
        if dataset is not None:
            raise ValueError("dataset must be given once: the charge has one of its own.")
        return Dataset(source=source, protection=protection, charge=ledger)
    namesake = None
    if ledger is not None and dataset is None and isinstance(data, str | os.PathLike):
        namesake, dataset = source, _name_of(source)
    charge = Charge(ledger=ledger, dataset=dataset)
    return Dataset(source=source, protection=protection, charge=charge, namesake=namesake)


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Records to release from: made by :func:`dproo.open`.

    Attributes:
        source: where the records are.
        protection: whom every release protects.
        charge: the budget that every release is charged to.
        namesake: the data that names the budget, unless the budget was given a name. The name is
            determined for each release, because a link may lead to another file by then.
    """

    source: Source
    protection: Protection = field(default_factory=Protection)
    charge: Charge = field(default_factory=Charge)
    namesake: Source | None = field(default=None, repr=False)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns with their types, by header or schema; no record is read."""
        return self.source.columns

    @property
    def budget(self) -> Budget:
        """What was declared, what was spent and what is left."""
        ledger = self.charge.opened()
        if ledger is None:
            raise ValueError("ledger must be given: it keeps the budget.")
        return ledger.budget(str(self._named_charge().dataset))

    def check(
        self, what: Any, letters: Any = None, *, cell: str | Mapping[str, str] | None = None
    ) -> Check:
        """Return what a release would refuse or warn of; it is free, and no record is read.

        Args:
            what: a code book, or the name of a column.
            letters: the possible values of the column.
            cell: an invented cell for every column, or a dict of cells for some of them, to see
                which value it would count as.

        >>> prices = open(["13,755.00"]).check(None, "bins:0,10000,20000", cell="13,755.00")
        >>> print(*prices.cells)
        '13,755.00' counts as other; with .read_as('number', thousands=',') as [10000, 20000).
        """
        if letters is None:
            book = self._book(what)
            checked = self._checked(book, book.alphabet)
            kinds = check_kinds(book, self.protection)
            checked = replace(checked, warnings=(*checked.warnings, *kinds))
            return checked if cell is None else try_cells(checked, book, cell)
        column, alphabet = self._letters(what, letters)
        checked = self._checked(letters, alphabet, column)
        return checked if cell is None else try_cells(checked, alphabet, cell, column=column)

    def _checked(self, given: Any, alphabet: Alphabet, column: str | None = None) -> Check:
        described = self._described(given)
        return check(described.source, alphabet, column=column, **described.protection.where)

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
            letters: its possible values, in any form that :meth:`dproo.Alphabet.of` takes, or a
                code book that describes the column; cells outside them count as the extra value
                ``other``. Or ``"open"``, where nobody can list them: a value that enough records
                have, for a ``delta``.
            epsilon: the privacy parameter.
            sampler: the name of a sampler; ``"auto"`` takes the one with the smallest proven
                worst case, and the receipt gives the reason.
            delta: the probability with which epsilon may fail, for open values.
            minimum_people: an open value that fewer records, or people, have is never shown; by
                default 2.
            purpose: what the release is for, as the receipt and the ledger will state.

        >>> visits = open(["flu"] * 70 + ["cold"] * 30)
        >>> visits.value(None, ["flu", "cold", "plague"], epsilon="1").value in {
        ...     "flu", "cold", "plague", "other"}
        True

        Raises:
            TypeError, ValueError: an argument is wrong; nothing was charged, no record was read.
            LedgerError: the ledger refused; no record was read. A ChargedError: a charge may stand.
            ReleaseError: it failed after the charge, which stays.
            KeyboardInterrupt: stopped; the charge stays if the message says so.
        """
        column, sampler = _column(column), exact(sampler)
        if isinstance(letters, str) and exact(letters) == OPEN:
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
            epsilon: for all values together. For many, a private table of the one column is far
                more accurate: see :meth:`synthesize`.
            sampler: as for :meth:`value`.
            purpose: as for :meth:`value`.
        """
        column, alphabet = self._letters(column, letters)
        described = self._described(letters)
        request = SampleRequest(
            alphabet=alphabet,
            column=column,
            epsilon=parse_epsilon(epsilon),
            sampler=sampler,
            size=size,
            groups=by,
            protection=described.protection,
        )
        return described.release(request, purpose=purpose)

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
            purpose: as for :meth:`value`.
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

        Five or more come from a private table for the same epsilon, which is then expected to be
        closer. The receipt holds its model, so further rows are free.

        Args:
            codebook: as for :meth:`row`.
            size: how many. Each row pays a share of epsilon if they are few, if there are
                ``shares``, or if the code book is too large for a table.
            by: release one row for each public group instead.
            epsilon: for all rows together.
            network: as for :meth:`row`.
            shares: as for :meth:`row`.
            within_bins: as for :meth:`row`.
            purpose: as for :meth:`row`.
        """
        book = self._book(codebook)
        described = self._described(book)
        request = RowRequest(
            codebook=book,
            epsilon=parse_epsilon(epsilon),
            network=network,
            shares=_shares(shares, book),
            groups=by,
            size=size,
            protection=described.protection,
            is_within_bins=within_bins,
        )
        if request.size < TABLE_FROM or by is not None or shares is not None:
            return described.release(request, purpose=purpose)
        try:
            table = self._table(book, epsilon=epsilon, network=network)
        except ValueError:  # too large to count pairs of columns
            return described.release(request, purpose=purpose)
        receipt = described.release(table, purpose=purpose).receipt
        model, charged = self._model(receipt), reprint(receipt, self.charge.address)
        rows = guarded(lambda: model.rows(request.size, within_bins=within_bins), charged=charged)
        return Release(tuple(rows), receipt)

    def codebook(
        self,
        *,
        epsilon: Number,
        delta: Number,
        columns: Sequence[str] | None = None,
        purpose: str | None = None,
    ) -> CodeBook:
        """Release a code book: the letters of columns that enough people share.

        Values of text that enough people share become categories, numbers become bins of about
        equally many records, dates become months or years. Everything else is ``other``; a column
        of free text is left out. ``receipt.details["discovery"]`` says which, and about
        which share of each column is ``other``.

        Args:
            epsilon: for the whole code book; every column has the same share.
            delta: the probability with which epsilon may fail, far below 1/records.
            columns: their names; by default all but the person's.
            purpose: as for :meth:`value`.

        >>> visits = open([{"ward": "A"}] * 500 + [{"ward": "B"}] * 500)
        >>> book = visits.codebook(epsilon=1, delta="1e-6", columns=["ward"])
        >>> [field.axis.letters for field in book.fields]
        [('A', 'B')]

        Raises:
            ReleaseError: no column has a value that enough people share; the charge stays.
        """
        request = discovery_of(self, epsilon=epsilon, delta=delta, columns=columns)
        receipt = self.release(request, purpose=purpose).receipt
        codebook = receipt.details["discovery"]["codebook"]
        if not codebook["schema"]["fields"]:
            raise ReleaseError(nothing_found(receipt, self.charge.address))
        charged = reprint(receipt, self.charge.address)
        return guarded(lambda: replace(CodeBook.of(codebook), receipt=receipt), charged=charged)

    def synthesize(
        self,
        codebook: Any = None,
        *,
        columns: Sequence[str] | None = None,
        epsilon: Number,
        delta: Number = 0,
        network: Wiring = AUTO,
        purpose: str | None = None,
    ) -> Model:
        """Release a private table: a model that any number of rows and counts come from.

        Args:
            codebook: as for :meth:`row`. Without one, the letters are found privately first, as
                by :meth:`codebook`, for a quarter of epsilon and half of delta.
            columns: without a code book, the columns to find letters of; by default all.
            epsilon: for everything that the model will ever reveal.
            delta: allows Gaussian noise where it is expected to be closer; required without a
                code book.
            network: which columns are counted together: ``"declared"`` by the code book,
                ``"learned"`` privately, or ``"independent"``; by default declared where the code
                book names parents, and learned where it does not.
            purpose: as for :meth:`row`.

        >>> book = {"schema": {"fields": [{"name": "ill", "type": "boolean", "outside": False}]}}
        >>> model = open([{"ill": True}] * 90 + [{"ill": False}] * 10).synthesize(book, epsilon=1)
        >>> len(model.rows(5)), model.receipt.certificate["holds"]
        (5, True)
        """
        from dproo.releases.table import FoundTableRequest  # noqa: PLC0415 - loads NumPy

        if codebook is None:
            unlisted = FoundTableRequest.of(
                discovery_of(self, epsilon=epsilon, delta=delta, columns=columns), network
            )
            return self._model(self.release(unlisted, purpose=purpose).receipt)
        if columns is not None:
            raise ValueError("columns must be left out with a code book: it names them.")
        book = self._book(codebook)
        request = self._table(book, epsilon=epsilon, delta=delta, network=network)
        return self._model(self._described(book).release(request, purpose=purpose).receipt)

    def _table(
        self, book: CodeBook, *, epsilon: Number, delta: Number = 0, network: Wiring
    ) -> ModelRequest:
        from dproo.releases.table import ModelRequest  # noqa: PLC0415 - loads NumPy

        return ModelRequest(
            codebook=book,
            epsilon=parse_epsilon(epsilon),
            delta=parse_delta(delta),
            network=network,
            protection=self.protection.described_by(book),
        )

    def _model(self, receipt: Receipt) -> Model:
        from dproo.synthesis.model import Model  # noqa: PLC0415 - loads NumPy

        if "model" not in receipt.details:
            raise ReleaseError(nothing_found(receipt, self.charge.address))
        charged = reprint(receipt, self.charge.address)
        return guarded(lambda: Model.of_receipt(receipt.as_dict()), charged=charged)

    def release(self, request: Request, *, purpose: str | None = None) -> Release:
        """Charge a checked request, read the data and release."""
        source, charge = self.source.opened(), self._named_charge()
        if self.namesake is not None:
            require_named(source, str(charge.dataset))
        if purpose is not None:
            charge = replace(charge, purpose=purpose)
        return execute(request, source, charge)

    def _named_charge(self) -> Charge:
        """Return the charge with the name of its budget, which a path determines now."""
        if self.namesake is None:
            return self.charge
        return replace(self.charge, dataset=_name_of(self.namesake))

    def _letters(self, column: Any, letters: Any) -> tuple[str | None, Alphabet]:
        column = _column(column)
        if isinstance(letters, CodeBook):
            return column, letters.letters(str(column))
        with guarding(protected(self.charge.opened, self.source)):
            alphabet = Alphabet.of(letters)
        if alphabet.columns and column is not None:
            raise ValueError(refusal("column", "be None: the letters name their columns", column))
        return column, alphabet

    def _described(self, letters: Any) -> Dataset:
        """Return the same data as a code book describes it, if there is one."""
        if not isinstance(letters, CodeBook):
            return self
        return replace(
            self,
            source=self.source.described_by(letters.descriptor),
            protection=self.protection.described_by(letters),
        )

    def _book(self, codebook: Any) -> CodeBook:
        with guarding(protected(self.charge.opened, self.source)):
            return CodeBook.of(codebook)


def _name_of(source: Source) -> str:
    """Return the name that the budget of a path or URL has by default."""
    return dataset_name(exact(os.fspath(source.data)))


def discovery_of(
    dataset: Dataset, *, epsilon: Number, delta: Number, columns: Sequence[str] | None
) -> DiscoveryRequest:
    """Return the checked request of a code book; only header or schema of the data is read."""
    if dataset.source.is_read_once:
        raise ValueError(
            must_be_reread(
                "to find its letters: a file, a table or a frame. Save it to a file first."
            )
        )
    names = None if columns is None else _columns(columns)
    try:
        described = {column.name: column for column in dataset.source.columns}
    except (TypeError, ValueError):
        if names is None:
            raise
        described = {}  # lists and JSON have no schema
    if names is None:
        excluded = {dataset.protection.person, ""}
        names = tuple(n for n, column in described.items() if n not in excluded and column.kind)
    elif len({*names}) < len(names):
        raise ValueError(refusal("columns", "be named once", list(names)))
    unknown = partial(Column, kind=sql.ANY, type_name="")
    return DiscoveryRequest(
        known=tuple(described.get(name) or unknown(name=name) for name in names),
        epsilon=parse_epsilon(epsilon),
        delta=parse_delta(delta),
        protection=dataset.protection,
        resource=resource_of(dataset.source.data, dataset.source.table, dataset.source.layout),
    )


def _column(column: object) -> str | None:
    if column is None:
        return None
    if not isinstance(column, str):
        raise TypeError(refusal("column", "be the name of a column", type(column)))
    return plain_text("column", column)


def _columns(columns: object) -> tuple[str, ...]:
    condition = "be a list of names"
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise TypeError(refusal("columns", condition, columns))
    return tuple(plain_text("columns", name, condition) for name in columns)


def sample(cells: Any, letters: Any, *, epsilon: Number) -> Release:
    """Release one representative value of cells in memory, charged to no budget.

    Args:
        cells: a list, an array or a series; an iterator is used up by it.
        letters: the possible values, in any form that :meth:`dproo.Alphabet.of` takes.
        epsilon: the privacy parameter.

    >>> sample(["a"] * 60 + ["b"] * 40, ["a", "b"], epsilon="1").value in {"a", "b", "other"}
    True
    """
    return open(cells).value(None, letters, epsilon=epsilon)


def nothing_found(receipt: Receipt, ledger: Address | None) -> str:
    """Return the sentence for a discovery without a result."""
    return (
        "no column has values that enough people share, at this epsilon and delta: "
        f"{receipt.accuracy}. {reprint(receipt, ledger)}"
    )


def _shares(shares: Mapping[str, Number] | None, book: CodeBook) -> tuple[Fraction, ...]:
    """Return the epsilon of each column, in the order of the code book."""
    if shares is None:
        return ()
    shares = exact(shares)
    if not isinstance(shares, Mapping) or set(shares) != set(book.columns):
        raise ValueError(refusal("shares", "name the epsilon of every column", shares))
    return tuple(parse_epsilon(shares[column], name="shares") for column in book.columns)
