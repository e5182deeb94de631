"""Lists of letters as other libraries hold them: arrays, series, types of categories, enums."""

from __future__ import annotations

from enum import Enum
from typing import Any

from dproo.core.checks import refusal

_LIBRARIES = {"numpy", "pandas", "polars", "pyarrow"}
_TO_LIST = ("to_pylist", "to_list", "tolist")


def listed(letters: Any) -> Any:
    """Return the plain list that an object of another library holds, anything else as it is.

    An ``enum.Enum`` stands for the values of its members, pandas' ``CategoricalDtype`` and
    Polars' ``Enum`` for their categories.

    Raises:
        TypeError: it has more than one column, or none of its categories is stated.

    >>> listed(Enum("Sex", {"F": "f", "M": "m"})), listed(range(3))
    (['f', 'm'], range(0, 3))
    """
    if isinstance(letters, str):  # also one of NumPy
        return str(letters)
    if isinstance(letters, type) and issubclass(letters, Enum):
        return [member.value for member in letters]
    if type(letters).__module__.partition(".")[0] in _LIBRARIES:
        return _of_library(letters)
    return letters


def _of_library(letters: Any) -> Any:
    name = type(letters).__name__
    if name in {"CategoricalDtype", "Enum"}:
        letters = letters.categories
    to_list = next((way for way in _TO_LIST if hasattr(letters, way)), None)
    if to_list is None or getattr(letters, "ndim", 1) != 1 or name == "DataFrame":
        raise TypeError(refusal("alphabet", "be a list of letters, or hold one", name))
    return getattr(letters, to_list)()
