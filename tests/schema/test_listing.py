"""Letters as other libraries hold them, and text as on the command line."""

import enum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.releasing import sample

import dproo


class Sex(enum.Enum):
    FEMALE = "f"
    MALE = "m"


LISTS = {
    "a NumPy array": np.array(["f", "m"]),
    "a pandas series": pd.Series(["f", "m"]),
    "a pandas index": pd.Index(["f", "m"]),
    "a type of categories": pd.CategoricalDtype(["f", "m"]),
    "a Polars series": pl.Series(["f", "m"]),
    "a Polars enum": pl.Enum(["f", "m"]),
    "an Arrow array": pa.array(["f", "m"]),
    "a series with labels": pd.Series(["f", "m"], index=["to_pylist", "columns"]),
    "an enum": Sex,
    "members of an enum": list(Sex),
}


@pytest.mark.parametrize("letters", LISTS.values(), ids=LISTS)
def test_a_list_of_any_library_is_the_same_alphabet(letters):
    assert dproo.Alphabet.of(letters).digest == dproo.Alphabet.of(["f", "m"]).digest
    several = dproo.Alphabet.of({"sex": letters, "age": range(3)}, policy="uniform")
    assert several[3] == {"sex": "m", "age": 0}


def test_integers_of_any_library_are_integers():
    for letters in (
        np.arange(1, 4),
        pd.array([1, 2, 3], dtype="Int64"),
        pl.Series([1, 2, 3]),
        enum.IntEnum("Stage", ["I", "II", "III"]),
    ):
        alphabet = dproo.Alphabet.of(letters)
        assert [type(letter) for letter in alphabet.axes[0].letters] == [int] * 3
        assert alphabet.digest == dproo.Alphabet.of([1, 2, 3]).digest


@pytest.mark.parametrize(
    "letters",
    [
        np.array([["a"], ["b"]]),
        pd.DataFrame({"a": ["b"]}),
        pl.DataFrame({"a": ["b"]}),
        pd.CategoricalDtype(),
        pl.Categorical(),
        pl.Enum,
        np.int64(3),
    ],
    ids=repr,
)
def test_what_holds_no_list_is_refused(letters):
    with pytest.raises(TypeError, match="alphabet must be a list of letters, or hold one, got '"):
        dproo.Alphabet.of(letters)


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "as"])
def test_moments_of_numpy_are_days_or_refused(unit):
    """Those in nanoseconds were integers once."""
    days = np.array([0], f"M8[{unit}]")
    if unit in {"Y", "M", "W", "D"}:
        assert dproo.Alphabet.of(days).digest == dproo.Alphabet.of(["1970-01-01"]).digest
        refused = [days.astype("m8")]
    else:
        refused = [days, days.astype("m8"), list(days), pd.Series(days)]
    for letters in refused:
        with pytest.raises(TypeError, match="letter must be text, an integer, a boolean or a date"):
            dproo.Alphabet.of(letters)


def test_a_column_of_data_is_not_an_alphabet():
    with pytest.raises(ValueError, match="letters must all differ as text"):
        dproo.Alphabet.of(pd.Series(["a", "b", "a"], dtype="category"))


def test_text_means_what_it_means_on_the_command_line(tmp_path):
    table = tmp_path / "codes.csv"
    table.write_text("code,words\nA,one\nB,two\n")
    for text in ("1..7", "bins:0,18,65", f"{table}:code"):
        assert dproo.Alphabet.of(text).digest == dproo.Alphabet.parse(text).digest
    assert dproo.Alphabet.of(np.str_("1..7")).k == 7
    assert sample([3] * 50, alphabet="1..7", epsilon=20).value == 3
    for text in ("auto", "infer"):
        with pytest.raises(ValueError, match="It is never inferred"):
            dproo.Alphabet.parse(text)
