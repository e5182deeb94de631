"""Many letters, many records, many days: memory and integers keep up."""

import json
import subprocess
import sys
import tracemalloc
from itertools import chain

import duckdb
import pytest
from support.draws import SOAK
from support.releasing import sample

from dproo import Alphabet, counting
from dproo.mechanisms import SAMPLERS

WIDE = Alphabet.of({"x": range(10**6), "y": range(10**6)})


def peak(action):
    """Return the most memory that Python objects took during an action, in bytes."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.one_of(3)
def test_memory_grows_with_the_letters_that_were_seen_not_with_those_declared():
    """A thousand pairs of a million declared, and of 10^12: the same; a hundred thousand: not."""
    narrow = Alphabet.of({"x": range(10**3), "y": range(10**3)})

    def release(alphabet, seen):
        cells = {(i % 1000, i // 1000): 5 for i in range(seen)}
        return peak(lambda: sample(cells, alphabet=alphabet, epsilon=1))

    few, wide, many = release(narrow, 1_000), release(WIDE, 1_000), release(WIDE, 100_000)
    assert wide < 1.5 * few
    assert many > 4 * wide


@pytest.mark.one_of(3)
def test_very_many_letters_are_seen_within_little_memory(tmp_path):
    """In a process of its own, whose peak memory is then that of the release."""
    letters, most = (10**6, 1024) if SOAK else (10**5, 420)
    path = tmp_path / "rows.parquet"
    rows = f"SELECT i % {letters} AS x FROM range({15 * letters // 10}) AS rows(i)"
    duckdb.sql(rows).write_parquet(str(path))
    code = (
        "import dproo, json\n"
        f"drawn = dproo.open({str(path)!r}).value('x', range({letters}), epsilon=1)\n"
        "status = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
        "memory = int(status['VmHWM'].split()[0]) // 1024\n"  # ru_maxrss is the parent's too
        "print(json.dumps([drawn.receipt.n, drawn.receipt.details['k'], memory]))"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    n, k, megabytes = json.loads(output)
    assert (n, k) == (15 * letters // 10, letters + 1)
    assert megabytes < most


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_more_records_than_a_float_can_count_are_counted(sampler):
    counts = {"a": 2**60 + 1, "b": 2**53 + 1}
    receipt = sample(counts, alphabet=["a", "b"], epsilon=1, sampler=sampler).receipt.as_dict()
    assert receipt["n"] == 2**60 + 2**53 + 2
    assert receipt["certificate"]["holds"]


def test_days_add_up_to_the_counts_of_all_days():
    days = [["a", "b", "z"], ["a"], ["b", "b", None]]
    alphabet = Alphabet.of(["a", "b"])
    total = counting.count([], alphabet=alphabet)
    for day in days:
        total += counting.count(day, alphabet=alphabet)
    assert total == counting.count(list(chain(*days)), alphabet=alphabet)
    assert sample(total, alphabet=alphabet, epsilon=1).receipt.n == 7


def test_equal_keys_of_different_types_are_different_cells():
    cells = [True, 1, 1.0, "1", None, "true"]
    assert list(counting.count(cells, alphabet=[1, "x"])) == [3, 0, 3]
    assert list(counting.count(cells, alphabet=[True, "x"])) == [2, 0, 4]
