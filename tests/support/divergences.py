"""The divergence of two laws, and the largest over all small neighbours of an open alphabet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from dproo.core.counts import Dataset, falling_datasets
from dproo.mechanisms import REPLACE
from dproo.mechanisms.open import OpenAlphabet


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
        letters: the most distinct letters, not including ``other``.
        records: the most records, under add-remove.
    """
    sizes = [law.n] if law.neighbours == REPLACE else range((records or law.n) + 1)
    worst = Fraction(0)
    for size in sizes:
        for dataset in datasets(size, letters):
            for neighbour in neighbours_of(dataset, law):
                pair = law.pmf(list(dataset)), law.pmf(list(neighbour))
                for p, q in (pair, pair[::-1]):
                    worst = max(worst, hockey_stick(p, q, law.growth))
    return worst


def datasets(size: int, letters: int) -> Iterator[Dataset]:
    """Yield all datasets up to the order of the letters, ``other`` last."""
    for others in range(size + 1):
        yield from ((*dataset, others) for dataset in falling_datasets(size - others, letters))


def neighbours_of(dataset: Dataset, law: OpenAlphabet) -> Iterator[Dataset]:
    """Yield the datasets with one record replaced, or one added."""
    for gained in range(len(dataset)):
        more = (*dataset[:gained], dataset[gained] + 1, *dataset[gained + 1 :])
        if law.neighbours != REPLACE:
            yield more
            continue
        for lost in range(len(dataset)):
            if lost != gained and dataset[lost]:
                yield (*more[:lost], more[lost] - 1, *more[lost + 1 :])
