"""The errata: two commands that show the leaks, and the least private table by linear program."""

import re
import shlex
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import linprog
from support.draws import some

from dproo import mechanism
from dproo.analysis.certificate import _neighbours
from dproo.cli.commands import cli
from dproo.core.counts import falling_datasets

ERRATA = Path(__file__).parents[2] / "docs" / "errata.md"


def constraints(sampler):
    """Return what privacy asks of a table ``q_0 .. q_M``, by enumeration of all neighbours.

    A letter ``c`` at minimum ``m`` that becomes ``c'`` at minimum ``m'`` must have
    ``h_m'(c') <= E h_m(c)`` with ``h_m(c) = c + q_m (r - c)``: a row of a linear program.
    """
    asked = {
        (min(before), c, min(after), changed)
        for before in falling_datasets(sampler.n, sampler.k)
        for after in _neighbours(before, sampler)
        for c, changed in zip(before, after, strict=True)
    }
    growth, r = float(sampler.growth), sampler.n / sampler.k
    rows = np.zeros((len(asked), sampler.n // sampler.k + 1))
    bounds = np.zeros(len(asked))
    for i, (m, c, after, changed) in enumerate(sorted(asked)):
        rows[i, after] += r - changed
        rows[i, m] -= growth * (r - c)
        bounds[i] = growth * c - changed
    return rows, bounds


@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize("epsilon", some(["0.02", "0.1", "0.5", "1.5"], one_of=4))
def test_the_private_table_is_the_least_of_the_linear_program(k, epsilon):
    for n in range(1, 21):
        sampler = mechanism("ds-roo", epsilon=epsilon, n=n, k=k)
        rows, bounds = constraints(sampler)
        for m in range(-(-n // k)):  # where all counts are equal any q will do
            cost = np.eye(rows.shape[1])[m]
            least = linprog(cost, A_ub=rows, b_ub=bounds, bounds=(0, 1), method="highs-ds")
            assert least.status == 0
            assert abs(float(sampler.q(m)) - least.fun) < 1e-9, (n, m)


def test_the_linear_program_refuses_the_printed_table():
    printed = mechanism("ds-roo", epsilon="0.1", n=7, k=3, as_printed=True)
    rows, bounds = constraints(printed)
    table = [float(printed.q(m)) for m in range(rows.shape[1])]
    assert max(rows @ table - bounds) > 1e-3


def test_the_commands_of_the_errata_show_the_leaks():
    commands = re.findall(
        r"^\$ dproo (certify .*)$", ERRATA.read_text(encoding="utf-8"), re.MULTILINE
    )
    losses = []
    for command in commands:
        result = CliRunner().invoke(cli, shlex.split(command))
        assert "DOES NOT HOLD" in result.output
        losses.append(Fraction(re.search(r"worst loss +(\S+)", result.output)[1]))
    assert [round(float(loss), 4) for loss in losses] == [0.6931, 0.0336]
