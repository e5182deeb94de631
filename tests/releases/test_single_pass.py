"""Data that can be read only once: its second release is refused before the charge."""

import csv
import io
import itertools
import subprocess
import sys
from collections.abc import Callable
from threading import Barrier, Thread
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import dproo
from dproo.ledger import Ledger

pytestmark = pytest.mark.one_of(3)

CELLS = ["A"] * 60 + ["B"] * 40
ROWS = [{"w": cell} for cell in CELLS]
TEXT = "w\n" + "".join(f"{cell}\n" for cell in CELLS)
TABLE = pa.Table.from_pylist(ROWS)
BOOK = {"schema": {"fields": [{"name": "w", "type": "string", "categories": ["A", "B"]}]}}


class Foreign:
    """A stream of another library, which is not an iterator."""

    def __init__(self) -> None:
        self._reader = TABLE.to_reader()
        self.schema = TABLE.schema

    def read_next_batch(self) -> Any:
        return self._reader.read_next_batch()

    def __arrow_c_stream__(self, requested: Any = None) -> Any:
        return self._reader.__arrow_c_stream__(requested)


ONCE: dict[str, tuple[Callable[[], Any], str | None]] = {
    "iterator": (lambda: iter(CELLS), None),
    "generator": (lambda: (cell for cell in CELLS), None),
    "generator of records": (lambda: (dict(row) for row in ROWS), "w"),
    "map": (lambda: map(str, CELLS), None),
    "filter": (lambda: filter(None, CELLS), None),
    "zip": (lambda: zip(CELLS, strict=True), "w"),
    "reversed": (lambda: reversed(CELLS), None),
    "chain": (lambda: itertools.chain(CELLS, CELLS), None),
    "open file": (lambda: io.StringIO("\n".join(CELLS)), None),
    "csv.reader": (lambda: csv.reader(io.StringIO(TEXT)), "w"),
    "csv.DictReader": (lambda: csv.DictReader(io.StringIO(TEXT)), "w"),
    "rows of pandas": (lambda: pd.DataFrame(ROWS).itertuples(index=False), "w"),
    "Arrow reader": (TABLE.to_reader, "w"),
    "Arrow stream": (Foreign, "w"),
}


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    for relation in ("replace", "add-remove"):
        ledger.declare(relation, budget=10, neighbours=relation)
    return ledger


def opened(make: Callable[[], Any], ledger: Ledger | None, relation: str) -> dproo.Dataset:
    dataset = None if ledger is None else relation
    return dproo.open(make(), neighbours=relation, ledger=ledger, dataset=dataset)


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("is_charged", [True, False])
@pytest.mark.parametrize("what", ONCE)
def test_a_second_release_is_refused_before_its_charge(ledger, what, is_charged, relation):
    make, column = ONCE[what]
    data = opened(make, ledger if is_charged else None, relation)
    data.value(column, ["A", "B"], epsilon=1)
    releases = [lambda: data.value(column, ["A", "B"], epsilon=1)]
    if column is not None:  # also where a code book describes the data, or a table is counted
        releases += [lambda: data.row(BOOK, epsilon=1), lambda: data.synthesize(BOOK, epsilon=1)]
    for release in releases:
        with pytest.raises(ValueError, match="readable more than once for another release"):
            release()
    assert ledger.budget(relation).left == (9 if is_charged else 10) * 10**9
    refused = data.check(column, ["A", "B"])
    assert "readable more than once" in refused.refusals[0]


@pytest.mark.parametrize("what", ONCE)
def test_what_was_refused_or_only_checked_can_still_be_read(ledger, what):
    make, column = ONCE[what]
    data = opened(make, ledger, "replace")
    assert data.check(column, ["A", "B"]).holds
    with pytest.raises(dproo.LedgerError):
        data.value(column, ["A", "B"], epsilon=11)
    with pytest.raises(ValueError, match="sampler"):
        data.value(column, ["A", "B"], epsilon=1, sampler="none")
    assert data.value(column, ["A", "B"], epsilon=1).receipt.n >= len(CELLS)


def test_a_failed_release_has_read_the_data(ledger):
    def failing():
        yield "A"
        raise OSError

    data = opened(failing, ledger, "add-remove")
    with pytest.raises(dproo.ReleaseError):
        data.value(None, ["A", "B"], epsilon=1)
    with pytest.raises(ValueError, match="readable more than once"):
        data.value(None, ["A", "B"], epsilon=1)
    assert ledger.budget("add-remove").left == 9 * 10**9


def test_of_two_releases_at_once_one_is_charged(ledger):
    data, together, ends = opened(lambda: iter(CELLS), ledger, "add-remove"), Barrier(4), []

    def release():
        together.wait()
        try:
            ends.append(data.value(None, ["A", "B"], epsilon=1).value)
        except ValueError as refused:
            ends.append(str(refused)[:31])

    threads = [Thread(target=release) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends.count("data must be readable more than") == 3
    assert ledger.budget("add-remove").left == 9 * 10**9


@pytest.mark.parametrize("make", [lambda: CELLS, lambda: pd.Series(CELLS), lambda: tuple(CELLS)])
def test_data_that_stays_is_released_from_again(ledger, make):
    data = opened(make, ledger, "replace")
    for _ in range(2):
        assert data.value(None, ["A", "B"], epsilon=1).receipt.n == len(CELLS)


@pytest.mark.parametrize("is_piped", [True, False])
def test_standard_input_is_checked_often_and_released_from_once(tmp_path, is_piped):
    code = """
import dproo
data = dproo.open("-", format="csv")
for _ in range(2):
    print([column.name for column in data.columns], data.check("w", ["A", "B"]).holds)
try:
    data.value("x", ["A", "B"], epsilon=1)
except ValueError as refused:
    print("refused")
print(data.value("w", ["A", "B"], epsilon=1).receipt.n)
for again in (data, dproo.open("-", format="csv")):
    for act in (lambda: again.columns, lambda: again.value("w", ["A", "B"], epsilon=1)):
        try:
            print(act())
        except ValueError as refused:
            print(str(refused)[:36])
"""
    text = TEXT.encode() + b"A\n" * 200_000  # more than one block
    (tmp_path / "data.csv").write_bytes(text)
    (tmp_path / "-").write_text("not standard input")
    with (tmp_path / "data.csv").open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-c", code],
            **({"input": text} if is_piped else {"stdin": file}),
            capture_output=True,
            check=False,
            cwd=tmp_path,
        )
    seen = ["['w'] True", "['w'] True", "refused", str(len(CELLS) + 200_000)]
    assert done.stdout.decode().splitlines() == [
        *seen,
        *["data must be readable more than once"] * 4,
    ]
