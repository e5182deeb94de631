"""How likely it is that letters were drawn by a law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping

from scipy.stats import chi2

ALPHA = 1e-6
"""How rarely a test that asks for more than this may fail without a reason."""


def p_value(drawn: Counter[Hashable], law: Mapping[Hashable, object]) -> float:
    """Return the p-value of a chi-square test of the drawn letters against a law."""
    means = {letter: drawn.total() * float(p) for letter, p in law.items()}
    distance = sum((drawn[letter] - mean) ** 2 / mean for letter, mean in means.items())
    return chi2.sf(distance, len(law) - 1)
