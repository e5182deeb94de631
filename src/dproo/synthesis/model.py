r"""A model: the released counts of a private table, the law fitted to them, and rows drawn from it.

A model is public. Rows cost nothing, may be drawn with a seed, and need no ledger. It is saved as
one JSON file with its hash, which is also on the receipt of its release: a file whose hash does not
fit is refused, and so is one whose noise or certificate does not follow from its steps' costs.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self, TextIO

import numpy as np

from dproo.core.checks import flag, one_of, refusal, require_unicode, whole
from dproo.core.notebook import table as html_table
from dproo.core.paths import path_of, read_public, written
from dproo.mechanisms.base import REPLACE
from dproo.mechanisms.network import INDEPENDENT
from dproo.mechanisms.noise import Ratio
from dproo.receipt import Receipt
from dproo.schema.axis import Bins, between, whole_numbers
from dproo.synthesis.families import CLIQUE_MAX, Elimination, Family, cells
from dproo.synthesis.fit import LOWEST, QUIET, Array, Law
from dproo.synthesis.request import (
    CHOICE,
    GAUSSIAN,
    GEOMETRIC,
    MEASURE,
    QUESTION,
    Measurement,
    Released,
    Step,
    TableCertificate,
    TableRequest,
    certified,
    total,
    transcript,
)

SCHEMA = 1
SYNTHETIC = "synthetic: drawn from a differentially private model, no row is a record"
CONFIDENCE = 0.95
SIZE_MAX = 10**9
COUNTED = ("count", "low", "high")
_SAVED = "be a model that dproo saved"
_RELEASED = "epsilon", "delta", "neighbours", "records_per_person", "steps"

Letter = str | int | float | bool | None


@dataclass(frozen=True)
class ModelColumn:
    """A public column of a model.

    Attributes:
        name: of the column.
        letters: its possible values.
        labels: a label, or None, for each letter; or empty.
        bins: the edges, or None if it is not a bin, for each letter; or empty.
        is_integer: whether a number within a bin is an integer.
    """

    name: str
    letters: tuple[Letter, ...]
    labels: tuple[str | None, ...] = ()
    bins: tuple[tuple[float, float] | None, ...] = ()
    is_integer: bool = False

    def __post_init__(self) -> None:
        if not self.letters:
            raise ValueError(f"letters must have at least one letter, got none for {self.name!r}.")
        for name, items in (("labels", self.labels), ("bins", self.bins)):
            if items and len(items) != len(self.letters):
                raise ValueError(f"{name} must be as many as the letters of {self.name!r}.")

    def shown(self, *, labels: bool) -> list[Letter]:
        """Return the letters, or their labels where they have one."""
        if not labels or not self.labels:
            return list(self.letters)
        pairs = zip(self.letters, self.labels, strict=True)
        return [letter if label is None else label for letter, label in pairs]

    def within(self, places: np.ndarray[Any, Any], chance: np.random.Generator) -> list[Any]:
        """Return a uniform number from the bin at each place, or the letter if it is not a bin."""
        cells: list[Any] = []
        for place, share in zip(places.tolist(), chance.random(len(places)).tolist(), strict=True):
            edges = self.bins[place]
            cells.append(self.letters[place] if edges is None else self._number(edges, share))
        return cells

    def _number(self, edges: tuple[float, float], share: float) -> float:
        low, high = edges
        if not self.is_integer:
            return between(low, high, share)
        whole = whole_numbers(low, high) or [math.ceil(low)]
        return whole[min(int(share * len(whole)), len(whole) - 1)]


@dataclass(frozen=True, repr=False)
class Rows(Sequence[dict[str, Any]]):
    """Rows drawn from a model: a sequence of dictionaries, also as a frame or a file.

    Attributes:
        columns: the cells of each column.
        model: the hash of the model they were drawn from.
    """

    columns: dict[str, list[Any]]
    model: str

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Rows({name: cells_[place] for name, cells_ in self.columns.items()}, self.model)
        return {name: cells_[place] for name, cells_ in self.columns.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names = list(self.columns)
        for row in zip(*self.columns.values(), strict=True):
            yield dict(zip(names, row, strict=True))

    def __repr__(self) -> str:
        return f"<{len(self):,} synthetic rows of {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        shown = [list(row.values()) for row in self[:10]]
        return html_table(repr(self)[1:-1], shown, heads=list(self.columns))

    @property
    def metadata(self) -> dict[str, str]:
        """What marks a file of these rows as synthetic."""
        return {"synthetic": "true", "description": SYNTHETIC, "dproo_model": self.model}

    def to_pandas(self) -> Any:
        """Return a pandas frame; its ``attrs`` mark it as synthetic."""
        import pandas as pd  # noqa: PLC0415 - only if it is used

        frame = pd.DataFrame(self.columns)
        frame.attrs.update(self.metadata)
        return frame

    def to_polars(self) -> Any:
        """Return a Polars frame."""
        import polars as pl  # noqa: PLC0415 - as above

        return pl.DataFrame({n: _typed(c) for n, c in self.columns.items()}, strict=False)

    def to_arrow(self) -> Any:
        """Return an Arrow table; the metadata of its schema mark it as synthetic."""
        import pyarrow as pa  # noqa: PLC0415 - as above

        arrays = {name: _arrow(pa, cells_) for name, cells_ in self.columns.items()}
        return pa.table(arrays).replace_schema_metadata(self.metadata)

    def text(self) -> str:
        """Return the rows as CSV."""
        file = io.StringIO(newline="")
        self._write_csv(file)
        return file.getvalue()

    def _write_csv(self, file: TextIO) -> None:
        # Before Python 3.13, a carriage return is quoted only where lines end in one.
        lines = SimpleNamespace(write=lambda line: file.write(line.removesuffix("\r\n") + "\n"))
        writer = csv.writer(lines, lineterminator="\r\n")
        writer.writerow(self.columns)
        writer.writerows(zip(*(map(_cell, found) for found in self.columns.values()), strict=True))

    def write(self, path: str | Path) -> None:
        """Write a CSV, JSON Lines or Parquet file, by the ending of its name.

        A Parquet file contains its metadata. For the others, it is written to a file whose name
        goes on with ``-metadata.json``, as the W3C recommends for CSV.

        Raises:
            ValueError: the name has another ending.
        """
        target = path_of("path", path)
        kind = one_of("path", target.suffix.lower(), (".csv", ".jsonl", ".parquet"))
        if kind == ".parquet":
            import pyarrow.parquet as pq  # noqa: PLC0415 - as above

            table = self.to_arrow()
            with written(target, "wb") as file:
                pq.write_table(table, file)
            return
        with written(target) as file:
            if kind == ".csv":
                self._write_csv(file)
            else:
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in self)
        about = {"@context": "http://www.w3.org/ns/csvw", "url": target.name} | {
            f"dc:{key}" if key == "description" else key: value
            for key, value in self.metadata.items()
        }
        beside = target.with_name(f"{target.name}-metadata.json")
        with written(beside) as file:
            file.write(json.dumps(about, indent=1) + "\n")


@dataclass(frozen=True, repr=False)
class CountTable(Sequence[dict[str, Any]]):
    """Counts of one or more columns, with an interval for every cell that was measured.

    Attributes:
        names: the columns.
        rows: for each cell its letters, ``count``, and ``low`` and ``high``: the true count lies
            between them with 95 % confidence. These are None if no measured family has all of these
            columns: then the count rests on the model alone. The letters of a column that is itself
            called ``count`` are under ``count_``, and so on.
    """

    names: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    @property
    def is_measured(self) -> bool:
        """Whether the counts have intervals."""
        return self.rows[0]["low"] is not None

    def to_pandas(self) -> Any:
        """Return a pandas frame with a line for each cell."""
        import pandas as pd  # noqa: PLC0415 - as above

        return pd.DataFrame(list(self.rows))

    def _cells(self) -> list[list[str]]:
        return [
            [
                *map(str, list(row.values())[: len(self.names)]),
                f"{row['count']:,.0f}",
                f"{row['low']:,.0f} to {row['high']:,.0f}" if self.is_measured else "not measured",
            ]
            for row in self.rows
        ]

    def __repr__(self) -> str:
        lines = [[*self.names, "count", "95 %"], *self._cells()[:40]]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        more = len(self.rows) - 40
        return "\n".join([*shown, *([f"... and {more:,} more cells"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        heads = [*self.names, "count", "95 %"]
        return html_table("Counts, noisy", self._cells()[:100], heads=heads)


@dataclass(frozen=True, repr=False, eq=False)
class Model:
    """A released private table.

    Attributes:
        columns: the public columns.
        released: what the mechanism released: epsilon, relation, steps, in JSON's types.
        measurements: the noisy counts.
        law: the law of a row, fitted to them.
        records: the public or noisy number of records.
        receipt: what was paid for it, if it was released just now; not part of the file.
    """

    columns: tuple[ModelColumn, ...]
    released: Mapping[str, Any]
    measurements: tuple[Measurement, ...]
    law: Law
    records: float
    receipt: Receipt | None = None

    @classmethod
    def of(cls, released: Released, columns: Sequence[ModelColumn]) -> Self:
        """Return the model of what was released."""
        sizes = tuple(len(column.letters) for column in columns)
        if sizes != released.request.sizes:
            raise ValueError(refusal("columns", f"have {released.request.sizes} letters", sizes))
        request = released.request
        about = {
            "epsilon": str(request.epsilon),
            "delta": str(request.delta),
            "neighbours": request.neighbours,
            "records_per_person": request.records_per_person,
            "steps": transcript(released.steps),
        }
        records = round(released.records, 3)
        return cls(tuple(columns), about, released.measurements, released.law, records)

    @classmethod
    def of_receipt(cls, receipt: Mapping[str, Any]) -> Self:
        """Return the model that a receipt holds, as ``dproo ledger print`` prints it.

        Raises:
            ValueError: it holds none, or one that was changed.
        """
        if not isinstance(receipt, Mapping):
            raise TypeError(refusal("receipt", "be the dict of a receipt", receipt))
        stored = receipt.get("model")
        if not isinstance(stored, Mapping) or not isinstance(stored.get("values"), Mapping):
            raise ValueError(  # noqa: TRY004 - the receipt of another release
                "receipt must be of a private table, and contain its model."
            )
        model = cls._checked({**stored["values"], "sha256": stored.get("sha256")}, "of the receipt")
        short = {**receipt, "model": {"sha256": model.sha256}}
        return replace(model, receipt=Receipt.of(short))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def certificate(self) -> TableCertificate:
        """The exact worst loss of the steps that made it, from the cost of each."""
        return certified(*self._mechanism)

    @property
    def _mechanism(self) -> tuple[TableRequest, list[Step]]:
        """The mechanism and its steps, whose noise follows from their costs."""
        about, steps = self.released, self.released["steps"]
        request = TableRequest(
            sizes=tuple(len(column.letters) for column in self.columns),
            epsilon=Fraction(about["epsilon"]),
            delta=Fraction(about["delta"]),
            neighbours=about["neighbours"],
            records=round(self.records) if about["neighbours"] == REPLACE else None,
            records_per_person=about["records_per_person"],
            network=INDEPENDENT,
            noise=GAUSSIAN if any("variance" in step for step in steps) else GEOMETRIC,
        )
        return request, [_step(step, request) for step in steps]

    def _check(self) -> None:
        """Refuse what does not follow from the costs of the steps and from the counts."""
        request, steps = self._mechanism
        noise = [(s.family, s.ratio, s.variance) for s in steps if s.kind == MEASURE]
        records = total(self.measurements) if request.records is None else request.records
        is_noise = noise == [(m.family, m.ratio, m.variance) for m in self.measurements]
        is_near = math.isclose(self.records, records, rel_tol=1e-9, abs_tol=1e-3)
        is_released = transcript(steps) == self.released["steps"]
        if not (is_noise and is_near and is_released and certified(request, steps).holds):
            raise ValueError

    def __repr__(self) -> str:
        epsilon, delta = self.released["epsilon"], self.released["delta"]
        paid = f"epsilon {epsilon}" + (f", delta {delta}" if delta != "0" else "")
        return f"<Model of {len(self.columns)} columns, about {self.records:,.0f} records; {paid}>"

    def _repr_html_(self) -> str:
        rows = [(column.name, len(column.letters), self._known(column)) for column in self.columns]
        return html_table(repr(self)[1:-1], rows, heads=("column", "values", "measured with"))

    def _known(self, column: ModelColumn) -> str:
        place = self.names.index(column.name)
        families = [measured.family for measured in self.measurements if place in measured.family]
        others = {other for family in families for other in family} - {place}
        return ", ".join(self.names[other] for other in sorted(others)) or "alone"

    def rows(
        self,
        size: int,
        *,
        seed: int | None = None,
        within_bins: bool = False,
        labels: bool = False,
    ) -> Rows:
        """Return independent rows; free, since the model is public.

        Args:
            size: how many.
            seed: draws the same rows again, with the same model and version of NumPy.
            within_bins: whether a bin is shown as a uniform number within it.
            labels: whether letters are shown by their labels.
        """
        size = whole("size", size, at_least=1, at_most=SIZE_MAX)
        seed = None if seed is None else whole("seed", seed, at_least=0)
        within_bins, labels = flag("within_bins", within_bins), flag("labels", labels)
        chance = np.random.default_rng(seed)
        drawn: dict[str, list[Any]] = {}
        for column, places in zip(self.columns, self.law.rows(size, chance), strict=True):
            if within_bins and column.bins:
                drawn[column.name] = column.within(places, chance)
            else:
                shown = np.array([*column.shown(labels=labels), None], dtype=object)[:-1]
                drawn[column.name] = shown[places].tolist()
        return Rows(drawn, self.sha256)

    @QUIET
    def counts(self, *names: str, labels: bool = False) -> CountTable:
        """Return the counts of some columns together, each with an honest interval.

        The noise exceeds an interval at most one time in twenty. If several measured families have
        these columns, the one with the shortest interval is used.
        """
        labels = flag("labels", labels)
        places = tuple(self._place(name) for name in names)
        if len({*places}) < len(places):
            raise ValueError(refusal("names", "name every column once", names))
        if (size := cells([len(c.letters) for c in self.columns], places)) > CLIQUE_MAX:
            raise ValueError(f"names must have at most {CLIQUE_MAX:,} cells, got {size:,}.")
        estimates = self.records * self.law.joint(places)
        interval = self._interval(places)
        rows = []
        keys = [f"{name}_" if name.rstrip("_") in COUNTED else name for name in names]
        letters = [self.columns[place].shown(labels=labels) for place in places]
        for at, cell in enumerate(product(*letters)):
            count = float(estimates.ravel()[at])
            row: dict[str, Any] = dict(zip(keys, cell, strict=True))
            row |= {"count": round(count, 1), "low": None, "high": None}
            if interval is not None:
                centre, half = float(interval[0].ravel()[at]), interval[1]
                row["low"] = max(0.0, min(centre - half, math.floor(count)))
                row["high"] = max(0.0, centre + half, math.ceil(count))
            rows.append(row)
        return CountTable(names, tuple(rows))

    def _place(self, name: str) -> int:
        return self.names.index(one_of("column", name, self.names))

    def _interval(self, places: Family) -> tuple[Array, int] | None:
        """Return noisy counts of some columns, and half the width of their intervals."""
        best: tuple[Array, int] | None = None
        for measured in self.measurements:
            if not {*places} <= {*measured.family}:
                continue
            shape = [len(self.columns[column].letters) for column in measured.family]
            table = np.array(measured.values, dtype=float).reshape(shape)
            rest = tuple(a for a, column in enumerate(measured.family) if column not in places)
            summed = table.sum(rest)
            half = half_width(measured, table.size // summed.size)
            if best is None or half < best[1]:
                axes = [column for column in measured.family if column in places]
                best = np.transpose(summed, [axes.index(place) for place in places]), half
        return best

    @cached_property
    def _content(self) -> dict[str, Any]:
        return {
            "dproo_model": SCHEMA,
            "synthetic": SYNTHETIC,
            **self.released,
            "records": self.records,
            "columns": [
                {
                    "name": column.name,
                    "letters": list(column.letters),
                    "labels": list(column.labels),
                    "bins": [None if edges is None else list(edges) for edges in column.bins],
                    "is_integer": column.is_integer,
                }
                for column in self.columns
            ],
            "measurements": [
                {
                    "columns": list(one.family),
                    "counts": list(one.values),
                    **({"ratio": [one.ratio.over, one.ratio.bits]} if one.ratio else {}),
                    **({"variance": str(one.variance)} if one.variance is not None else {}),
                }
                for one in self.measurements
            ],
            "potentials": [
                {"columns": list(family), "values": [float(v) for v in table.ravel()]}
                for family, table in self.law.potentials.items()
            ],
        }

    @cached_property
    def sha256(self) -> str:
        """The hash of everything in the model, which a receipt names."""
        return _hash(self._content)

    @property
    def in_receipt(self) -> dict[str, Any]:
        """The model as it is stored in a receipt."""
        return {"sha256": self.sha256, "values": self._content}

    @property
    def text(self) -> str:
        """The content of the model's file, in JSON."""
        return json.dumps(self._content | {"sha256": self.sha256}, ensure_ascii=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the model as JSON."""
        text = self.text
        with written(path) as file:
            file.write(text)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return a saved model, or the model in a receipt that ``dproo ledger print`` has printed.

        Raises:
            ValueError: the file is not a model, or was changed after it was saved.
        """
        path = path_of("path", path)
        text = read_public("model", path, at_most=1 << 30, condition=_SAVED)
        try:
            content = json.loads(text, parse_constant=int)  # which refuses NaN and infinities
        except (ValueError, RecursionError):
            content = None
        if isinstance(content, dict) and "certificate" in content and "model" in content:
            return cls.of_receipt(content)
        if not isinstance(content, dict) or content.get("dproo_model") != SCHEMA:
            raise ValueError(refusal("model", _SAVED, str(path)))
        return cls._checked(content, repr(str(path)))

    @classmethod
    def _checked(cls, content: dict[str, Any], place: str) -> Self:
        """Return the model of a JSON object; refusals name its place."""
        if (stored := content.pop("sha256", None)) != _hash(content):
            raise ValueError(
                f"The model {place} was changed after it was saved: its hash does not fit. "
                "Use the file as it was released."
            )
        require_unicode("model", content)
        try:
            model = cls._read(content)
            if model.sha256 != stored:  # what a file holds beyond a model, a reader could believe
                raise ValueError  # noqa: TRY301 - one sentence for all
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise ValueError(f"model must hold tables that fit each other, got {place}.") from None
        return model

    @classmethod
    def _read(cls, content: dict[str, Any]) -> Self:
        columns = tuple(map(_column, content["columns"]))
        if len({column.name for column in columns}) < len(columns):
            raise ValueError
        sizes = tuple(len(column.letters) for column in columns)
        measured = tuple(_measurement(part, sizes) for part in content["measurements"])
        potentials = {}
        for part in content["potentials"]:
            family = _family(part["columns"], sizes)
            values = np.array([float(value) for value in part["values"]])
            if not (np.abs(values) <= LOWEST).all():
                raise ValueError
            potentials[family] = values.reshape([sizes[column] for column in family])
        if Elimination(sizes, potentials).largest > 4 * CLIQUE_MAX:
            raise ValueError
        about = {key: content[key] for key in _RELEASED}
        records = float(content["records"])
        epsilon, delta = _fraction(about["epsilon"]), _fraction(about["delta"])
        if not (0 < records < math.inf and epsilon > 0 <= delta):
            raise ValueError
        model = cls(columns, about, measured, Law(sizes, potentials), records)
        model._check()
        return model


_COUNT_MAX = 10**40
_LONG = 1 << 63
_BITS_MAX = 1 << 14
_FRACTION = re.compile("[0-9]{1,9999}(/[0-9]{1,9999})?")


@QUIET
def half_width(measured: Measurement, summed: int) -> int:
    """Return what the noise of a sum of this many cells exceeds at most one time in twenty.

    >>> half_width(Measurement((0,), (), ratio=Ratio.of(Fraction(1))), 1)
    3
    """
    if measured.ratio is None:
        return math.ceil(1.96 * math.sqrt(measured.deviation_squared * summed))
    q, widest = measured.ratio.value, math.exp(-_LEAST)
    if q > widest:  # beyond this, the noise is only scaled
        return math.ceil((_quantile(widest, summed) + 1) * _LEAST / -math.log1p(float(q - 1)))
    return _quantile(float(q), summed)


_LEAST = 0.01


@lru_cache(maxsize=4096)
def _quantile(q: float, summed: int) -> int:
    """Return the least ``t`` that a sum of two-sided geometric noise exceeds at most 1 in 20."""
    deviation = math.sqrt(2 * q * summed) / (1 - q)
    length = 1 << math.ceil(math.log2(30 * deviation + 64))
    angles = 2 * math.pi * np.arange(length) / length
    transform = ((1 - q) ** 2 / (1 - 2 * q * np.cos(angles) + q * q)) ** summed
    chances = np.fft.ifft(transform).real
    inside = chances[0] + 2 * np.cumsum(np.concatenate([[0.0], chances[1 : length // 2]]))
    return int(np.searchsorted(inside, CONFIDENCE))


def _hash(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _column(part: dict[str, Any]) -> ModelColumn:
    name, letters, labels = part["name"], tuple(part["letters"]), tuple(part["labels"])
    if not (
        all(isinstance(letter, Letter) for letter in letters)
        and all(math.isfinite(letter) for letter in letters if isinstance(letter, float))
        and isinstance(name, str)
        and all(isinstance(text, str | None) for text in labels)
    ):
        raise TypeError
    is_integer = flag("is_integer", part["is_integer"])
    for low, high in (edges for edges in part["bins"] if edges is not None):
        Bins.of([low, high])
    bins = tuple(None if edges is None else tuple(edges) for edges in part["bins"])
    return ModelColumn(name, letters, labels, bins, is_integer)


def _step(part: Mapping[str, Any], request: TableRequest) -> Step:
    """Return a step by its cost, from which its ratio follows."""
    family = None if part["family"] is None else tuple(part["family"])
    cost = _fraction(part["cost"])
    if not 0 < cost <= request.budget:
        raise ValueError
    if part["kind"] == QUESTION:
        answer = whole("answer", part["answer"], at_least=-_COUNT_MAX)
        return replace(request.question(cost), answer=answer)
    if part["kind"] == CHOICE:
        if family is not None and len(_family(family, request.sizes)) != 2:
            raise ValueError
        return request.choice(family, cost)
    return request.measurement(family or (), cost)


def _fraction(text: str) -> Fraction:
    """Return a fraction as a model writes it; one with an exponent could take all memory."""
    if not _FRACTION.fullmatch(text):
        raise ValueError
    return Fraction(text)


def _family(columns: Iterable[int], sizes: Sequence[int]) -> Family:
    family = tuple(columns)
    if list(family) != sorted({*family}) or not {*family} <= {*range(len(sizes))}:
        raise ValueError
    return family


def _measurement(part: dict[str, Any], sizes: Sequence[int]) -> Measurement:
    family = _family(part["columns"], sizes)
    values = tuple(
        whole("counts", value, at_least=-_COUNT_MAX, at_most=_COUNT_MAX) for value in part["counts"]
    )
    if len(values) != cells(sizes, family):
        raise ValueError
    ratio = None
    if "ratio" in part:
        over, bits = (whole("ratio", number, at_least=1) for number in part["ratio"])
        ratio = Ratio(over, whole("ratio", bits, at_least=1, at_most=_BITS_MAX))
    variance = _fraction(part["variance"]) if "variance" in part else None
    return Measurement(family, values, ratio, variance)


def _cell(cell: Any) -> Any:
    """Return a cell as CSV shows it: '' if it is missing, booleans as in JSON."""
    if cell is None:
        return ""
    return json.dumps(cell) if isinstance(cell, bool) else cell


def _typed(column: list[Any]) -> list[Any]:
    """Return a column as a frame holds it: all as text if an integer has more than 64 bits."""
    is_long = any(isinstance(cell, int) and not -_LONG <= cell < _LONG for cell in column)
    return _texts(column) if is_long else column


def _texts(column: list[Any]) -> list[Any]:
    return [None if cell is None else str(_cell(cell)) for cell in column]


def _arrow(pa: Any, column: list[Any]) -> Any:
    """Return a column for Arrow, as text if its letters are of several types."""
    column = _typed(column)
    kinds = {type(cell) for cell in column if cell is not None}
    if len(kinds) > 1 and not kinds <= {int, float}:
        column = _texts(column)
    elif kinds == {int, float}:
        column = [None if cell is None else float(cell) for cell in column]
    return pa.array(column)
