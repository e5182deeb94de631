"""The function that releases synthetic columns."""

from __future__ import annotations

import os
from typing import Any

from dproo.alphabet import Alphabet
from dproo.core.numbers import Number, parse_delta, parse_epsilon
from dproo.engines.layout import Layout
from dproo.ledger import Ledger, address_of
from dproo.mechanisms import AUTO, REPLACE, Relation
from dproo.releases.budget_name import reprint
from dproo.releases.execute import Release, execute, guarded
from dproo.releases.sample_request import SampleRequest
from dproo.releases.synthesis_request import SynthesisRequest
from dproo.releases.tables import require_new, write


def synthesize(
    data: Any,
    *,
    alphabet: Any,
    rows: int,
    epsilon: Number,
    delta: Number = 0,
    sampler: str = AUTO,
    column: str | None = None,
    table: str | tuple[str, ...] | None = None,
    neighbours: Relation = REPLACE,
    records_per_person: int = 1,
    person: str | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    operator: str | None = None,
    out: str | os.PathLike[str] | None = None,
    engine: str | None = None,
    master: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Release:
    """Release ``rows`` synthetic records of ``data`` under (epsilon, delta)-DP for all together.

    Guarantee: whatever way is chosen, all rows together are (epsilon, delta)-DP, and no single
    row costs more than epsilon.
    Proof: docs/proofs/dominating_pair.md

    Args:
        data: any source that :func:`dproo.sample` takes.
        alphabet: the public letters of a column, or of several at once.
        rows: how many records.
        epsilon: the privacy parameter, for all rows together.
        delta: the probability that epsilon may fail; it should be far below one over the
            number of records. With 0 the release is pure, and less accurate.
        sampler: draws independent rows; ``"auto"`` takes that of the smallest proven worst
            case. Rows drawn jointly always come from ROO.
        column: the column of a file, table or frame.
        table: the table of a database, as in ``"table"`` or ``"schema.table"``.
        neighbours: ``"replace"`` (n is public) or ``"add-remove"`` (n is private).
        records_per_person: the most records that one protected person may own.
        person: the column that names whom a record is about. One record of each person is
            counted, or up to ``records_per_person`` under add-remove, and the release protects
            a person, whatever they contribute.
        ledger: the ledger to charge; with a delta, the budget must have been declared with one.
        dataset: the name under which the ledger keeps the budget of this data.
        purpose: what the release is for, as the receipt and the ledger will say.
        operator: who makes it, as the ledger will say, and only the ledger.
        out: a new file to write the rows to, ``.csv`` or ``.parquet``.
        engine: ``"spark"`` to have Spark read ``data``, a table's name or Parquet files.
        master: the cluster that Spark runs on, by default this machine.
        delimiter: what separates the cells of a CSV file, by default by the file's name.
        encoding: of a text file, by default UTF-8.

    >>> rows = synthesize(["a"] * 600 + ["b"] * 400, alphabet=["a", "b"], rows=50, epsilon=1,
    ...     delta="1e-6")
    >>> len(rows.values), rows.receipt["way"]
    (50, 'composed')

    Raises:
        TypeError, ValueError: an argument is wrong; nothing was charged, no data was read.
        LedgerError: the ledger refused; no data was read.
        ReleaseError: it failed after data was touched; the charge stays.
    """
    synthesis = SynthesisRequest(
        request=SampleRequest(
            alphabet=Alphabet.of(alphabet),
            epsilon=parse_epsilon(epsilon),
            sampler=sampler,
            neighbours=neighbours,
            records_per_person=records_per_person,
            person=person,
        ),
        rows=rows,
        delta=parse_delta(delta),
    )
    columns = synthesis.alphabet.columns or (column or "value",)
    path = None if out is None else require_new(out, columns)
    made = execute(
        synthesis,
        data,
        column=column,
        table=table,
        engine=engine,
        master=master,
        layout=Layout(delimiter=delimiter, encoding=encoding),
        ledger=ledger,
        dataset=dataset,
        purpose=purpose,
        operator=operator,
        asked=epsilon,
    )
    if path is not None:
        book = ledger.path if isinstance(ledger, Ledger) else address_of(ledger or "")
        kept = reprint(made.receipt, book)
        guarded(lambda: write(made.values, columns, path), kept=kept)
    return made
