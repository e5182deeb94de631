"""Cells outside that count as a letter of their column: the counts are those of mapped records."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import prod

import pytest

from dproo.core.counts import Counts
from dproo.core.draw import RandomSource
from dproo.releases.row import RowRequest, folded
from dproo.schema.codebook import CodeBook

FLAG = {"name": "flag", "type": "boolean"}
CODE = {"name": "code", "type": "string", "categories": ["a", "b", "c"]}
SIZE = {"name": "size", "type": "number", "bins": [0, 1, 2]}


def book_of(*fields):
    return CodeBook.of({"schema": {"fields": list(fields)}})


def place_of(letters, sizes):
    place = 0
    for letter, size in zip(letters, sizes, strict=True):
        place = place * size + letter
    return place


@pytest.mark.parametrize("flag_outside", [{}, {"outside": True}])
@pytest.mark.parametrize("code_outside", [{}, {"outside": "b"}])
@pytest.mark.parametrize("size_outside", [{}, {"outside": 0.5}])
@pytest.mark.parametrize("columns", [2, 3])
def test_folded_counts_are_those_of_the_mapped_records(
    flag_outside, code_outside, size_outside, columns
):
    book = book_of(FLAG | flag_outside, CODE | code_outside, SIZE | size_outside)
    fields = book.fields[:columns]
    counted = [field.axis.size for field in fields]
    named = [field.outside for field in fields]
    assert named == [1, 1, 0][:columns] or None in named
    records_max = 2 if columns == 2 else 1
    for records in combinations_with_replacement(product(*map(range, counted)), records_max):
        mapped = [
            [
                outside if outside is not None and letter == field.axis.listed else letter
                for field, outside, letter in zip(fields, named, record, strict=True)
            ]
            for record in records
        ]
        before = Counter(place_of(record, counted) for record in records)
        after = Counter(place_of(record, book.sizes[:columns]) for record in mapped)
        found = folded(Counts.sparse(before, k=prod(counted)), fields)
        assert found.k == prod(book.sizes[:columns])
        assert list(found) == [after[place] for place in range(found.k)]


@pytest.mark.parametrize("network", ["learned", "independent"])
def test_a_row_has_no_letter_for_cells_outside_where_the_code_book_names_a_value(network):
    book = book_of(FLAG | {"outside": False}, CODE | {"outside": "c"})
    assert book.sizes == (2, 3)
    request = RowRequest(codebook=book, epsilon=Fraction(1, 100), network=network)
    tables = [Counts.sparse({}, k=alphabet.k) for alphabet in request.counted_alphabets]
    tables = [counts + Counts.sparse({counts.k - 1: 9}, k=counts.k) for counts in tables]
    drawn = [request.draw(tables, RandomSource()).values[0] for _ in range(200)]
    assert {row["flag"] for row in drawn} == {False, True}
    assert {row["code"] for row in drawn} == {"a", "b", "c"}
