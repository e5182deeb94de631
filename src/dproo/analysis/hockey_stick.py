r"""The hockey-stick divergence: how far (epsilon, 0) fails between two laws.

``H(P, Q) = sum over y of max(0, P(y) - growth Q(y))`` is the largest of ``P(S) - growth Q(S)`` over
all sets ``S`` of outputs. A sampler is (log growth, delta)-DP if and only if it is at most delta
for all neighbours, both ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from dproo.analysis.enumeration import Dataset, falling_datasets
from dproo.mechanisms import REPLACE
from dproo.mechanisms.open_alphabet import OpenAlphabet


def hockey_stick(p: Sequence[Fraction], q: Sequence[Fraction], growth: Fraction) -> Fraction:
    """Return the divergence of two laws over the same outputs.

    >>> half, most = Fraction(1, 2), Fraction(3, 4)
    >>> hockey_stick([most, 1 - most], [half, half], Fraction(1))
    Fraction(1, 4)
    """
    excesses = (a - growth * b for a, b in zip(p, q, strict=True))
    return sum((excess for excess in excesses if excess > 0), Fraction(0))


def worst_divergence(law: OpenAlphabet, *, letters: int, records: int | None = None) -> Fraction:
    """Return the largest divergence over all neighbours, by trying every pair of them.

    Args:
        law: the sampler.
        letters: how many different letters there are at most, ``other`` not included.
        records: how many records there are at most, under add-remove.
    """
    sizes = [law.n] if law.neighbours == REPLACE else range((records or law.n) + 1)
    worst = Fraction(0)
    for size in sizes:
        for dataset in _datasets(size, letters):
            for neighbour in _neighbours(dataset, law):
                pair = law.pmf(list(dataset)), law.pmf(list(neighbour))
                for p, q in (pair, pair[::-1]):
                    worst = max(worst, hockey_stick(p, q, law.growth))
    return worst


def _datasets(size: int, letters: int) -> Iterator[Dataset]:
    """Yield all datasets, ``other`` last, apart from the order of the letters."""
    for others in range(size + 1):
        yield from ((*dataset, others) for dataset in falling_datasets(size - others, letters))


def _neighbours(dataset: Dataset, law: OpenAlphabet) -> Iterator[Dataset]:
    """Yield what becomes of a dataset if one record is replaced, or one is added."""
    for gained in range(len(dataset)):
        more = (*dataset[:gained], dataset[gained] + 1, *dataset[gained + 1 :])
        if law.neighbours != REPLACE:
            yield more
            continue
        for lost in range(len(dataset)):
            if lost != gained and dataset[lost]:
                yield (*more[:lost], more[lost] - 1, *more[lost + 1 :])
