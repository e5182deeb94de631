"""One record, or a few, or whole rows: the arguments of a release, made into its request."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dproo.alphabet import Alphabet
from dproo.alphabet.codebook import CodeBook
from dproo.alphabet.open_text import OPEN
from dproo.core.checks import refusal
from dproo.core.numbers import Number, parse_delta, parse_epsilon
from dproo.ledger import Ledger
from dproo.mechanisms import AUTO, REPLACE, Relation
from dproo.mechanisms.network import Wiring
from dproo.releases.check import layout_of
from dproo.releases.execute import Release, execute
from dproo.releases.groups import Groups
from dproo.releases.open_request import OpenRequest
from dproo.releases.request import Request
from dproo.releases.row_request import RowRequest
from dproo.releases.sample_request import SampleRequest


def sample(
    data: Any,
    *,
    alphabet: Any = None,
    codebook: Any = None,
    epsilon: Number,
    sampler: str = AUTO,
    column: str | None = None,
    table: str | tuple[str, ...] | None = None,
    size: int = 1,
    by: Mapping[str, Any] | None = None,
    are_groups_public: bool = False,
    neighbours: Relation = REPLACE,
    records_per_person: int = 1,
    person: str | None = None,
    delta: Number | None = None,
    minimum_people: int | None = None,
    network: Wiring = AUTO,
    shares: Mapping[str, Number] | None = None,
    within_bins: bool = False,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    operator: str | None = None,
    engine: str | None = None,
    master: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Release:
    """Release one representative record of ``data``, a few, or whole rows, under epsilon-DP.

    Args:
        data: any source that :func:`dproo.engines.prepare` takes: a list, an array, a frame,
            a file, a database, ready counts.
        alphabet: the public letters, in any form that :meth:`dproo.Alphabet.of` takes. Cells
            outside it count as the extra letter ``other``, unless its policy differs. Or
            ``"open"``, where nobody can list them: a value that enough records have, else
            ``other``; this costs a ``delta``.
        codebook: the public columns and their letters, in any form that
            :meth:`dproo.CodeBook.of` takes; whole rows are released, each a dict.
        epsilon: the privacy parameter, for all released records together.
        sampler: the name of a sampler, or ``"auto"``, which takes the one with the least
            proven worst case at public parameters; the receipt says which, and why.
        column: the column of a file, table or frame.
        table: the table of a database, as in ``"table"`` or ``"schema.table"``.
        size: how many records. ``roo`` and ``subrr`` draw them jointly; the others split the
            data at random into as many disjoint blocks and draw one from each.
        by: a column and the public list of its groups: one record is released for each group.
            Under add-remove this costs epsilon once, since a record is in one group; under
            replace it costs it twice, since a record can leave one group and enter another.
        are_groups_public: whether everybody may know which record is in which group; it
            then costs epsilon only once under replace too.
        neighbours: ``"replace"`` (n is public) or ``"add-remove"`` (n is private).
        records_per_person: the most records that one protected person may own.
        person: the column that names whom a record is about. One record of each person is
            counted, or up to ``records_per_person`` under add-remove, and the release protects
            a person, whatever they contribute.
        delta: the probability with which epsilon may fail, for an open alphabet; it should be
            far below one over the number of records.
        minimum_people: with an open alphabet, a value that fewer records, or people, have is
            never shown; by default 2.
        network: how the columns of a row depend on each other: ``"declared"`` by the code book,
            ``"learned"`` privately for a fifth of epsilon, or ``"independent"``. By default it
            is declared where the code book names parents, and learned where it does not.
        shares: the epsilon of every column of a row, instead of the default, which is the best
            by the worst case.
        within_bins: whether a bin of a row is shown as a number drawn inside it.
        ledger: the ledger to charge. There is no default: data in memory has no name that a
            budget could go by. Without a ledger, the release is not charged to any budget.
        dataset: the name under which the ledger keeps the budget of this data.
        purpose: what the release is for, as the receipt and the ledger will say.
        operator: who makes it, as the ledger will say, and only the ledger.
        engine: ``"spark"`` to have Spark read ``data``, a table's name or Parquet files.
        master: the cluster that Spark runs on, by default this machine.
        delimiter: what separates the cells of a CSV file, by default by the file's name.
        encoding: of a text file, by default UTF-8.

    >>> release = sample(["a"] * 60 + ["b"] * 40, alphabet=["a", "b"], epsilon=1)
    >>> release.value in {"a", "b", "other"}, release.receipt["n"]
    (True, 100)

    Raises:
        TypeError, ValueError: an argument is wrong; nothing was charged, no data was read.
        LedgerError: the ledger refused, for example because too little is left; no data was read.
        ReleaseError: it failed after data was touched; the charge stays.
        KeyboardInterrupt: stopped; the charge stays if the message says so.
    """
    book = None if codebook is None else CodeBook.of(codebook)
    if book is None and isinstance(alphabet, str) and alphabet == OPEN:
        _refuse_beside_an_open_alphabet(
            size=size != 1,
            by=by is not None,
            sampler=sampler != AUTO,
            network=network != AUTO,
            shares=shares is not None,
            within_bins=within_bins,
        )
        request: Request = OpenRequest(
            epsilon=parse_epsilon(epsilon),
            delta=parse_delta(0 if delta is None else delta),
            neighbours=neighbours,
            records_per_person=records_per_person,
            person=person,
            minimum_people=2 if minimum_people is None else minimum_people,
        )
    elif delta is not None or minimum_people is not None:
        raise ValueError("alphabet must be 'open' with delta or minimum_people.")
    elif book is None:
        if network != AUTO or within_bins or shares is not None:
            raise ValueError("codebook must be given with network, shares or within_bins.")
        if by is not None and column is None:
            raise ValueError("column must be given with groups: it holds the letters.")
        groups = _groups(by, (str(column),), is_public=are_groups_public)
        request = SampleRequest(
            alphabet=Alphabet.of(alphabet),
            epsilon=parse_epsilon(epsilon),
            sampler=sampler,
            size=size,
            groups=groups,
            neighbours=neighbours,
            records_per_person=records_per_person,
            person=person,
        )
        column = None if groups else column  # groups name their columns
    else:
        _refuse_beside_a_codebook(alphabet=alphabet, column=column)
        request = RowRequest(
            codebook=book,
            epsilon=parse_epsilon(epsilon),
            sampler=sampler,
            network=network,
            shares=_shares(shares, book),
            groups=_groups(by, book.columns, is_public=are_groups_public),
            size=size,
            neighbours=neighbours,
            records_per_person=records_per_person,
            person=person,
            is_within_bins=within_bins,
        )
    return execute(
        request,
        data,
        column=column,
        table=table,
        engine=engine,
        master=master,
        layout=layout_of(book, delimiter=delimiter, encoding=encoding),
        ledger=ledger,
        dataset=dataset,
        purpose=purpose,
        operator=operator,
        asked=epsilon,
    )


def _refuse_beside_an_open_alphabet(**are_given: bool) -> None:
    for name, is_given in are_given.items():
        if is_given:
            raise ValueError(
                f"{name} must be left out with an open alphabet: it is for one record of one"
                " column, and has a sampler of its own."
            )


def _refuse_beside_a_codebook(**arguments: object) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"{name} must be left out with a code book, which names every column.")


def _groups(
    by: Mapping[str, Any] | None, columns: tuple[str, ...], *, is_public: bool
) -> Groups | None:
    return None if by is None else Groups.of(by, columns, is_public=is_public)


def _shares(shares: Mapping[str, Number] | None, book: CodeBook) -> tuple[Fraction, ...]:
    """Return the epsilon of each column, in the order of the code book."""
    if shares is None:
        return ()
    if not isinstance(shares, Mapping) or set(shares) != set(book.columns):
        raise ValueError(refusal("shares", "name the epsilon of every column", shares))
    return tuple(parse_epsilon(shares[column]) for column in book.columns)
