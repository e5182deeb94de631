"""The lines of a chart, as people see them who see few colours."""

import re
from pathlib import Path

import pytest
from support.colours import SIGHTS, contrast, nearest

import dproo
from dproo.analysis.planner import planned

SHEET = (Path(dproo.__file__).parent / "web" / "static" / "page.css").read_text(encoding="utf-8")
SCHEMES = dict(zip(("light", "dark"), SHEET.split("prefers-color-scheme: dark"), strict=True))
APART = 20
"""A distance that nobody overlooks; 1 is just noticeable."""


def colours(scheme, name):
    return re.findall(rf"--{name}: (#[0-9a-f]{{6}});", SCHEMES[scheme])


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("sight", SIGHTS)
def test_the_lines_are_told_apart_whatever_colours_one_sees(scheme, sight):
    lines = colours(scheme, r"hue-\d")
    assert len(lines) >= len(planned(is_closed_form=True)) + 1
    assert nearest(lines, sight) >= APART


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_lines_are_told_from_the_paper(scheme):
    (card,) = colours(scheme, "card")
    assert min(contrast(line, card) for line in colours(scheme, r"hue-\d")) >= 3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_words_in_charts_and_the_edges_of_controls_are_told_from_the_paper(scheme):
    """Which axe-core does not look at."""
    (card,), (soft,), (control,) = (colours(scheme, name) for name in ("card", "soft", "control"))
    assert contrast(soft, card) >= 4.5
    assert contrast(control, card) >= 3


def test_a_pair_that_somebody_confuses_is_noticed():
    assert (
        nearest(["#d02020", "#606000"], "no green") < APART < nearest(["#d02020", "#606000"], "all")
    )
