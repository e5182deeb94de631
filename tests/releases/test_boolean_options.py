"""Every boolean option is a boolean: the text "false" would be true."""

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import Any, get_type_hints

import numpy as np
import pandas as pd
import pytest

import dproo
from dproo.counting.layout import LayoutOptions
from dproo.synthesis.model import Model

BOOK = {"schema": {"fields": [{"name": "w", "type": "integer", "bins": [0, 5, 10]}]}}
DATA = dproo.open([{"w": 3}] * 90)
SMALL = {"epsilon": 1, "n": 10, "k": 3}
FRAME = pd.DataFrame({"w": ["a", "b"]})
FOUND = dproo.audit(lambda _: 1, [1], [2], trials=1000)


def model() -> Model:
    return DATA.synthesize(BOOK, epsilon=1)


def audited(*, are_independent: Any) -> dproo.Audit:
    return dataclasses.replace(FOUND, are_independent=are_independent)


USES: dict[str, Callable[..., Any]] = {
    "Audit": audited,
    "DataSpecificRevealOrObscure": lambda **option: dproo.mechanism("ds-roo", **SMALL, **option),
    "Dataset.row": lambda **option: DATA.row(BOOK, epsilon=1, **option),
    "Dataset.rows": lambda **option: DATA.rows(BOOK, epsilon=1, size=7, **option),
    "Groups": lambda **option: dproo.Groups("w", ["A", "B"], **option),
    "Layout": dproo.Layout,
    "Layout.refuse_lines": lambda **option: dproo.Layout(skip_rows=1).refuse_lines(**option),
    "Model.counts": lambda **option: model().counts("w", **option),
    "Model.rows": lambda **option: model().rows(3, **option),
    "draft_codebook": lambda **option: dproo.draft_codebook(FRAME, **option),
    "open": lambda **option: dproo.open(["a"], **option),
}


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function, class and method of one."""
    for name in dproo.__all__:
        found = getattr(dproo, name)
        if callable(found):
            yield name, found
        if inspect.isclass(found):
            for inner, method in inspect.getmembers(found, callable):
                if not inner.startswith("_"):
                    yield f"{name}.{inner}", method


def booleans() -> list[tuple[str, str]]:
    """Every boolean parameter, by its annotation or default, and by what it unpacks."""
    found = []
    for place, function in public():
        try:
            parameters = inspect.signature(function).parameters.values()
        except ValueError:  # one of C has no signature
            continue
        for one in parameters:
            words = str(one.annotation).replace(" ", "").split("|")
            if {"bool", "<class'bool'>"} & {*words} or isinstance(one.default, bool):
                found.append((place, one.name))
            if "Unpack[LayoutOptions]" in words:
                hints = get_type_hints(LayoutOptions).items()
                found += [(place, name) for name, hint in hints if hint is bool]
    return found


OPTIONS = booleans()
WRONG = ["false", "true", "", 0, 1, 0.0, None, [], [True], np.array([True]), np.int64(1)]


def test_every_boolean_option_is_walked() -> None:
    assert {place for place, _ in OPTIONS} == {*USES}


@pytest.mark.parametrize(("place", "name"), OPTIONS)
def test_what_is_not_a_boolean_is_refused(place: str, name: str) -> None:
    for wrong in WRONG:
        with pytest.raises(TypeError, match=f"^{name} must be True or False, got "):
            USES[place](**{name: wrong})


@pytest.mark.parametrize(("place", "name"), OPTIONS)
def test_booleans_of_numpy_are_plain_booleans(place: str, name: str) -> None:
    made = USES[place](**{name: np.bool_(True)})  # noqa: FBT003
    if dataclasses.is_dataclass(made) and hasattr(made, name):
        assert getattr(made, name) is True


def test_the_groups_of_a_receipt_are_plain_booleans() -> None:
    assert dproo.Groups("w", ["A"], are_public=np.bool_(1)).facts["are_public"] is True
