"""Rows of integers stored as runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dproo import Counts
from dproo.core.counts import Runs

rows = st.lists(st.integers(0, 4), min_size=1, max_size=12)


@given(rows)
def test_a_row_reads_back_letter_by_letter(row):
    counts = Counts.of(row)
    assert list(counts) == row
    assert [counts[letter] for letter in range(len(row))] == row
    assert (counts.k, counts.n, counts.smallest) == (len(row), sum(row), min(row))
    assert len(counts) == len(row)


@given(rows)
def test_each_letter_holds_as_many_units_as_its_value(row):
    counts = Counts.of(row)
    units = [letter for letter, value in enumerate(row) for _ in range(value)]
    assert [counts.letter_at(unit) for unit in range(counts.n)] == units


@given(rows)
def test_sparse_counts_equal_dense_ones(row):
    seen = {letter: value for letter, value in enumerate(row) if value}
    assert Counts.sparse(seen, k=len(row)) == Counts.of(row)
    assert hash(Counts.sparse(seen, k=len(row))) == hash(Counts.of(row))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_two_rows_are_combined_letter_by_letter(pairs):
    left, right = (Runs((value, 1) for value in row) for row in zip(*pairs, strict=True))
    assert list(left.combine(right, lambda a, b: 10 * a + b)) == [10 * a + b for a, b in pairs]
    assert list(left.map(lambda a: a + 1)) == [a + 1 for a, _ in pairs]


def test_a_trillion_letters_take_a_few_runs():
    counts = Counts.sparse({10**11: 3, 10**12 - 1: 2**63}, k=10**12)
    assert len(counts.runs) == 4
    assert counts.n == 2**63 + 3
    assert counts.letter_at(2) == 10**11
    assert counts.letter_at(2**63 + 2) == 10**12 - 1
    assert counts.sizes == {0: 10**12 - 2, 3: 1, 2**63: 1}


def test_an_empty_row_has_no_letters():
    assert (Counts.of([]).k, Counts.of([]).n) == (0, 0)


@pytest.mark.parametrize(
    ("counts", "error", "message"),
    [
        ([1, -1], ValueError, "counts must be at least 0, got -1."),
        ([1, 0.5], TypeError, "counts must be an integer, got 0.5."),
        ([1, True], TypeError, "counts must be an integer, got True."),
        ("12", TypeError, "counts must be a sequence of integers, got '12'."),
        (7, TypeError, "counts must be a sequence of integers, got 7."),
        ({1: 2}, TypeError, "counts must be a sequence of integers, got {1: 2}."),
    ],
)
def test_wrong_counts_are_refused(counts, error, message):
    with pytest.raises(error) as refused:
        Counts.of(counts)
    assert str(refused.value) == message


def test_a_letter_outside_the_alphabet_is_refused():
    with pytest.raises(ValueError, match="letter must be at most 4, got 5"):
        Counts.sparse({5: 1}, k=5)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_counts_of_two_datasets_add_up_letter_by_letter(pairs):
    before, today = (Counts.of(column) for column in zip(*pairs, strict=True))
    assert before + today == Counts.of([a + b for a, b in pairs])


def test_counts_of_different_alphabets_are_not_added():
    with pytest.raises(ValueError, match="counts must have 2 letters, got 3"):
        Counts.of([1, 2]) + Counts.of([1, 2, 3])
    with pytest.raises(TypeError):
        Counts.of([1, 2]) + 3


def test_counts_are_shown_as_runs():
    assert repr(Counts.of([3, 3, 0])) == "Counts([(3, 2), (0, 1)])"


def test_counts_may_be_integers_of_numpy():
    seen = {np.int64(2): np.int64(3), 0: np.uint8(1)}
    assert Counts.sparse(seen, k=4) == Counts.of([1, 0, 3, 0])
    assert type(Counts.sparse(seen, k=4).n) is int
