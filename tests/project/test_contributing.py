"""CONTRIBUTING is enough: a toy sampler, added by its steps and nothing else."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

import pytest
from click.testing import CliRunner
from support.walk import law

import dproo
from dproo import Counts, Mechanism, Transition
from dproo.analysis.comparison import compare
from dproo.cli.commands import cli
from dproo.core.counts import Runs
from dproo.mechanisms import SAMPLERS


@dataclass(frozen=True, kw_only=True)
class SeenOrNot(Mechanism):
    """Draw a letter that somebody has, ``e^epsilon`` times as likely as one that nobody has.

    Guarantee: epsilon-DP when one record is replaced. A letter's weight has two values, so it
    grows by at most ``e^epsilon``. If it does, the total does not fall: a letter that becomes
    unseen is made up for by the one that becomes seen. If it stays, the total falls by at most
    the step of one letter, and the ratio is the smaller one.
    """

    name = "seen-or-not"

    def weights(self, counts: Counts) -> Runs:
        """Return one of two weights for every letter."""
        seen, unseen = self.growth.as_integer_ratio()
        return counts.map(lambda count: seen if count else unseen)

    @cached_property
    def worst(self) -> Transition:
        """A letter's only record moves to a letter that nobody had, if there can be one."""
        if self.k == 2 and self.n > 1:
            return self._transition({1: self.n}, {0: 1, 1: self.n - 1})
        rest = {2: self.n - 1} if self.n > 1 else {}
        return self._transition({1: 1, **rest}, {0: 1, **rest})

    def _transition(self, before: dict[int, int], after: dict[int, int]) -> Transition:
        return Transition(Counts.sparse(before, k=self.k), Counts.sparse(after, k=self.k))

    @property
    def worst_alpha(self) -> Fraction:
        """``1 - min_y P(y)``, a bound: no letter is ever less likely than that minimum."""
        return 1 - 1 / (1 + (self.k - 1) * self.growth)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """Step 2: the class is in the registry."""
    monkeypatch.setitem(SAMPLERS, SeenOrNot.name, SeenOrNot)


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "3"])
def test_its_certificate_equals_brute_force(epsilon):
    for n, k in product([1, 2, 5, 9], [2, 3, 5]):
        sampler = dproo.mechanism("seen-or-not", epsilon=epsilon, n=n, k=k)
        certificate = dproo.certify(sampler)
        assert certificate.holds
        assert certificate.ratio == dproo.certify(sampler, method="enumerate").ratio


def test_the_law_of_its_draw_is_its_pmf(monkeypatch):
    monkeypatch.setattr(dproo.Mechanism, "growth", property(lambda _: Fraction(5, 2)))
    for counts in product(range(4), repeat=3):
        if sum(counts):
            sampler = dproo.mechanism("seen-or-not", epsilon=1, n=sum(counts), k=3)
            drawn = law(lambda source: sampler.draw(counts, source=source))  # noqa: B023
            assert [drawn[letter,] for letter in range(3)] == sampler.pmf(counts)


def test_a_release_and_the_command_line_know_it(tmp_path):
    release = dproo.sample(["a"] * 9, alphabet=["a", "b"], epsilon=1, sampler="seen-or-not")
    assert release.value in {"a", "b", "other"}
    assert release.receipt["sampler"] == "seen-or-not"
    options = ["--sampler", "seen-or-not", "--n", "9", "--k", "3", "--epsilon", "1"]
    assert "epsilon = 1 holds" in CliRunner().invoke(cli, ["certify", *options]).output
    (tmp_path / "data.csv").write_text("letter\na\n", encoding="utf-8")
    (tmp_path / "letters.txt").write_text("a\nb\n", encoding="utf-8")
    asked = ["sample", str(tmp_path / "data.csv"), "--column", "letter", "--epsilon", "1"]
    asked += ["--alphabet", str(tmp_path / "letters.txt"), "--sampler", "seen-or-not"]
    assert CliRunner().invoke(cli, [*asked, "--no-ledger", "--quiet"]).output.strip()


def test_the_planner_asks_it():
    """Its worst case never falls, and the planner says so rather than guess."""
    answer = dproo.plan(n=20, k=3, epsilon=1)
    assert answer["seen-or-not"] == dproo.mechanism("seen-or-not", n=20, k=3, epsilon=1).worst_alpha
    (row,) = dproo.plan(k=3, epsilon=1, alpha="0.1", samplers=["seen-or-not"]).rows
    assert row.n is None
    assert row.reason == "none was found for which its proven bound is small enough"


def test_it_is_compared_and_audited():
    assert "seen-or-not" in compare(n=20, k=3, epsilon=1, p=["0.5", "0.3", "0.2"])
    sampler = dproo.mechanism("seen-or-not", epsilon=1, n=3, k=3)
    witness = dproo.certify(sampler).witness
    found = dproo.audit(
        sampler.draw_many,
        witness.before,
        witness.after,
        trials=20_000,
        epsilon=1,
        confidence="0.999999999",
        is_batched=True,
    )
    assert 0.5 < found.epsilon_lower <= 1


def test_a_sampler_that_leaks_cannot_be_made(monkeypatch):
    monkeypatch.setattr(SeenOrNot, "growth", property(lambda _: Fraction(3)))
    with pytest.raises(ValueError, match="seen-or-not did not certify at epsilon = 1"):
        dproo.mechanism("seen-or-not", epsilon=1, n=5, k=3)
