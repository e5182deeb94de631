"""CONTRIBUTING is enough: a toy sampler, added by its steps and nothing else."""

import shutil
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner
from support import seen_or_not
from support.nursery import outcome
from support.releasing import sample
from support.seen_or_not import SeenOrNot
from support.walk import law

import dproo
from dproo.cli.commands import cli
from dproo.mechanisms import SAMPLERS
from dproo.study.comparison import compare


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
    release = sample(["a"] * 9, alphabet=["a", "b"], epsilon=1, sampler="seen-or-not")
    assert release.value in {"a", "b", "other"}
    assert release.receipt.sampler == "seen-or-not"
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
        sampler,
        witness.before,
        witness.after,
        trials=20_000,
        epsilon=1,
        confidence="0.999999999",
    )
    assert 0.5 < found.epsilon_lower <= 1


def test_a_sampler_that_leaks_cannot_be_made(monkeypatch):
    monkeypatch.setattr(SeenOrNot, "growth", property(lambda _: Fraction(3)))
    with pytest.raises(ValueError, match="seen-or-not did not certify at epsilon = 1"):
        dproo.mechanism("seen-or-not", epsilon=1, n=5, k=3)


FOUND_BY = ["mechanisms/test_mechanisms.py", "mechanisms/test_draw.py", "analysis/test_privacy.py"]


def test_one_file_and_one_line_of_the_registry_are_enough_for_the_tests_to_find_it(tmp_path):
    package = tmp_path / "dproo"
    shutil.copytree(Path(dproo.__file__).parent, package)
    shutil.copy(seen_or_not.__file__, package / "mechanisms")
    registry = package / "mechanisms" / "registry.py"
    text, last = registry.read_text(encoding="utf-8"), "        SubsampledRandomizedResponse,\n"
    assert text.count(last) == 1
    imported = "from dproo.mechanisms.seen_or_not import SeenOrNot\n\nSAMPLERS"
    text = text.replace(last, f"{last}        SeenOrNot,\n").replace("\nSAMPLERS", imported, 1)
    registry.write_text(text, encoding="utf-8")
    for name in FOUND_BY:
        log = tmp_path / "log"
        tests = Path(__file__).parents[1] / name
        assert outcome(tmp_path, tests, log, "-k", "seen-or-not") == 0, log.read_text()
