from __future__ import annotations

import datetime as dt
import os
import sys
import threading
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from dproo import Alphabet, Counts, counting
from dproo.core.draw import RandomSource
from dproo.counting.tally import Tally, spread
from dproo.schema.cell import number_of, text_of


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("a", "a"),
        (" a ", " a "),
        ("", None),
        (7, "7"),
        (2**70, str(2**70)),
        (10**1000, None),
        (True, "true"),
        (np.bool_(False), "false"),  # noqa: FBT003
        (np.int8(7), "7"),
        (np.float32(7), "7"),
        (np.str_("a"), "a"),
        (-0.0, "0"),
        (2.0**53, str(2**53)),
        (2.0**53 + 2, None),
        (7.5, None),
        (float("nan"), None),
        (float("inf"), None),
        (Decimal("7.00"), "7"),
        (Decimal("1e2"), "100"),
        (Decimal("1e999999"), None),
        (Decimal("sNaN"), None),
        (Decimal("7.5"), None),
        (dt.date(26, 1, 2), "0026-01-02"),
        (dt.datetime(2026, 1, 2), None),  # noqa: DTZ001
        (b"a", None),
        (None, None),
        ([1], None),
        (1 + 0j, None),
    ],
)
def test_a_cell_has_one_canonical_text(cell: object, text: str | None) -> None:
    assert text_of(cell) == text


def test_a_number_in_text_is_written_plainly() -> None:
    texts = [
        "1",
        "-1.50",
        "1e3",
        "007",
        "1E-5",
        "1e999",
        "1e100",
        ".5",
        "5.",
        "+1",
        "1\n",
        "1 ",
        "x",
    ]
    numbers = [1.0, -1.5, 1000.0, 7.0, 1e-5, *[None] * 8]
    assert [number_of(text) for text in texts] == numbers
    assert [number_of(cell) for cell in (True, 10**400, Decimal("sNaN"))] == [None] * 3


@pytest.mark.parametrize(
    ("letters", "sentence"),
    [
        ([], "alphabet must have at least one letter, got none."),
        (["a", "a"], "letters must all differ as text, got two that do not."),
        ([1, "1"], "letters must all differ as text, got two that do not."),
        ([True, "true"], "letters must all differ as text, got two that do not."),
        ([1, True], "letters must all differ, got a boolean and an equal integer."),
        ([dt.date(2026, 1, 2), "2026-01-02"], "letters must all differ as text"),
        (["a", ""], "letter must not be empty: an empty cell counts as missing."),
        (["other"], "letter must not be 'other': it stands for every other cell."),
        (["\ud800"], "letter must be valid Unicode text, got "),
        ([10**308], "letter must have at most 308 digits, got "),
        ([1, -(10**308)], "letter must have at most 308 digits, got "),
        (None, "alphabet must be given. It is never inferred"),
        ("auto", "alphabet must be given. It is never inferred"),
        (
            "no/such/file.txt",
            "alphabet must be a readable UTF-8 text file, got 'no/such/file.txt'.",
        ),
        (range(3, 3), "stop must be at least 4, got 3."),
        (range(10**18 + 1), "stop must be at most 1000000000000000000, got 1000000000000000001."),
        ({}, "alphabet must have a name for each of its columns."),
        ({"a": {"b": ["c"]}}, "alphabet must not nest a product of columns in another."),
    ],
)
def test_letters_that_are_none_are_refused(letters: object, sentence: str) -> None:
    with pytest.raises(ValueError, match="must") as refused:
        Alphabet.of(letters)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize("letter", [1.0, None, b"a", dt.datetime(2026, 1, 2), ["a"]])  # noqa: DTZ001
def test_a_letter_is_text_an_integer_a_boolean_or_a_date(letter: object) -> None:
    with pytest.raises(
        TypeError, match="letter must be text, an integer, a boolean or a date, got"
    ):
        Alphabet.of(["a", letter])


@pytest.mark.parametrize(
    ("edges", "error"),
    [
        ([1], ValueError),
        ([1, 1], ValueError),
        ([2, 1], ValueError),
        ([0, float("nan")], ValueError),
        ([0, float("inf")], ValueError),
        ([0, 2**53 + 1], ValueError),
        (["a", "b"], TypeError),
        ([False, True], TypeError),
        ("ab", TypeError),
    ],
)
def test_edges_are_increasing_numbers(edges: object, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"edges? must"):
        Alphabet.bins(edges)


def test_a_bin_is_called_by_its_edges_and_half_open() -> None:
    bins = Alphabet.bins([-0.0, 0.5, 18, 1e300])
    assert [bins[i] for i in range(4)] == ["[0, 0.5)", "[0.5, 18)", "[18, 1e+300)", "other"]
    assert list(counting.count([-1e-9, 0, "0.5", 17.9, 18, 1e300, None], alphabet=bins)) == [
        1,
        2,
        1,
        3,
    ]


def test_a_file_has_one_letter_a_line_and_keeps_it_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "letters.txt"
    path.write_bytes("\ufeffa\r\n b \r\n\r\ncaf\u00e9\u2028x\n".encode())
    assert Alphabet.read(path).axes[0].content == {"letters": ["a", " b ", "caf\u00e9\u2028x"]}
    assert Alphabet.of(str(path)) == Alphabet.parse(str(path)) == Alphabet.read(path)


def test_a_column_of_a_file_can_be_the_alphabet(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text('code,name\nA,"x, y"\nB\n\nC,z\n')
    assert Alphabet.parse(f"{path}:code").axes[0].content == {"letters": ["A", "B", "C"]}
    assert Alphabet.read(path, column="name").k == 3
    with pytest.raises(
        ValueError, match="column must be exactly one column of the alphabet's header, got 'x'"
    ):
        Alphabet.read(path, column="x")
    for name in (f"a:{'x' * 300}", f"{'x' * 300}:a", "a\0:b"):  # no file can have this name
        with pytest.raises(ValueError, match="alphabet must be a readable UTF-8 text file"):
            Alphabet.parse(name)


def test_a_product_is_never_written_out() -> None:
    columns = {"a": range(10**9), "b": range(-(10**9), 10**9), "c": ["x", "other"]}
    alphabet = Alphabet.of(columns)
    assert alphabet.k == 4 * 10**18 + 1
    record = {"a": 7, "b": -5, "c": "other"}
    index = alphabet.index(tuple(record.values()))
    assert index is not None
    assert alphabet[index] == record
    assert alphabet[alphabet.k - 1] == "other"
    assert alphabet.index((7, None, "x")) is None
    with pytest.raises(IndexError, match="index must be below"):
        alphabet[alphabet.k]


def test_the_digest_is_of_the_canonical_content() -> None:
    digests = {
        Alphabet.of(letters, policy=policy).digest
        for policy in ("other", "uniform")
        for letters in (
            ["a", "b"],
            ["b", "a"],
            ["ab"],
            range(2),
            {"x": ["a", "b"]},
            {"y": ["a", "b"]},
        )
    }
    assert len(digests) == 12
    assert Alphabet.of([1, True][:1]).digest == Alphabet.of(["1"]).digest
    day = dt.date(2026, 1, 2)
    assert Alphabet.of([day]).digest == Alphabet.of([day.isoformat()]).digest


def test_a_policy_is_one_of_two() -> None:
    with pytest.raises(ValueError, match="policy must be one of other, uniform, got 'unifrom'"):
        Alphabet.of(["a"], policy="unifrom")
    assert Alphabet.of(["other"], policy="uniform").k == 1


def test_every_cell_outside_becomes_a_uniform_letter_and_none_is_lost() -> None:
    """All words below the limit are equally likely, and each letter has as many of them."""
    for words, letters in {
        (0, 1): (0, 1),
        (3, 5): (0, 2),
        (2**64 - 2, 2**64 - 1, 7): (2, 1),  # the last word of 2^64 = 3 * 6148914691236517205 + 1
    }.items():
        counts = spread({0: 5}, 2, k=3, source=_words(*words))
        expected = [5, 0, 0]
        for letter in letters:
            expected[letter] += 1
        assert [counts.get(letter, 0) for letter in range(3)] == expected
    tally = Tally(alphabet=Alphabet.of(range(1000), policy="uniform"), seen={3: 7}, outside=10**6)
    counts = tally.counts()
    assert counts.n == 10**6 + 7
    assert counts.k == 1000
    # Each letter's count is Binomial(10^6, 1/1000); 500 is beyond 15 standard deviations.
    assert all(500 < count < 1500 for count in counts)
    assert sum(spread({}, 99, k=10**30, source=RandomSource()).values()) == 99


def _words(*words: int) -> RandomSource:
    stream = iter(words)

    def supply(length: int) -> bytes:
        return b"".join(next(stream).to_bytes(8, sys.byteorder) for _ in range(length // 8))

    return RandomSource(supply)


def test_the_uniform_policy_has_no_extra_letter() -> None:
    counts = counting.count(["a", None, "x"], alphabet=Alphabet.of(["a", "b"], policy="uniform"))
    assert counts.k == 2
    assert counts.n == 3
    assert counts[0] >= 1


def test_ready_counts_are_taken_as_they_are() -> None:
    alphabet = Alphabet.of(["a", 1, "b"])
    assert list(counting.count({"a": 2**63, "1": 5, None: 3, "z": 4}, alphabet=alphabet)) == [
        2**63,
        5,
        0,
        7,
    ]
    ready = Counts.of([1, 2, 3, 4])
    assert counting.count(ready, alphabet=alphabet) is ready
    pairs = Alphabet.of({"x": ["a", "b"], "y": range(2)})
    assert list(counting.count({("a", 1): 2, ("b", "0"): 3, ("c", 0): 4}, alphabet=pairs)) == [
        0,
        2,
        3,
        0,
        4,
    ]
    with pytest.raises(ValueError, match="counts must have 4 letters, like the alphabet"):
        counting.prepare(Counts.of([1, 2]), alphabets=[alphabet])
    assert list(counting.count({"a": 1}, alphabet=pairs)) == [0, 0, 0, 0, 1]
    with pytest.raises(TypeError, match="data must be records, or a dict of letters"):
        counting.prepare({"a": -1}, alphabets=[alphabet])


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="it is not there.")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/null", "/dev"])
def test_an_alphabet_is_a_file_or_a_pipe_and_no_device(device: str) -> None:
    with pytest.raises(ValueError, match=f"alphabet must be a file or a pipe, got '{device}'"):
        Alphabet.read(device)


def test_an_alphabet_may_come_from_a_pipe_but_not_without_end() -> None:
    """As the shell's <(...) does, and as a program that never ends would go on."""

    def sent(content: bytes, times: int) -> Alphabet:
        reading, writing = os.pipe()

        def send() -> None:
            with suppress(BrokenPipeError), os.fdopen(writing, "wb") as pipe:
                for _ in range(times):
                    pipe.write(content)

        sender = threading.Thread(target=send)
        sender.start()
        try:
            return Alphabet.read(f"/dev/fd/{reading}")
        finally:
            os.close(reading)
            sender.join()

    assert sent(b"a\nb\n", 1).size == 2
    with pytest.raises(ValueError, match=r"alphabet must have at most 67,108,864 bytes, got"):
        sent(b"x" * (1 << 20), 10**6)


def test_a_file_of_letters_has_its_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "codes.txt"
    with path.open("wb") as file:
        file.truncate((64 << 20) + 1)  # a hole: it takes no space
    with pytest.raises(ValueError, match=r"have at most 67,108,864 bytes"):
        Alphabet.read(path)
    monkeypatch.setattr("dproo.schema.alphabet.LINES_MAX", 3)
    path.write_text("a\nb\nc\nd\ne")
    with pytest.raises(
        ValueError, match="alphabet must be a file that lists every possible value once"
    ):
        Alphabet.read(path)
