"""The fixture for other people's tests finds a bug that several libraries had, and no other."""

import subprocess
import sys
from math import copysign, log

import pytest
from support.draws import DICE

import dproo
from dproo.auditing.fixture import check

BITS = 8


def float_laplace(records):
    """Return a count with Laplace noise in floats, as textbooks and early libraries had it.

    Mironov (2012) showed for PINQ, Airavat, Fuzz and GUPT that the last bits of the sum tell the
    count apart. In miniature: the uniform number has 8 bits instead of 53.
    """
    uniform = (DICE.getrandbits(BITS) + 1) / 2**BITS
    return sum(records) - copysign(log(uniform), DICE.getrandbits(1) - 0.5)


def geometric(records):
    """Return the same count with the noise drawn as an integer: its share is 3/4."""

    def failures():
        count = 0
        while DICE.getrandbits(2):
            count += 1
        return count

    return sum(records) + failures() - failures()


def test_a_sum_of_floats_that_betrays_its_count_is_found():
    with pytest.raises(pytest.fail.Exception, match=r"epsilon is at least ([2-9]|\d\d)"):
        check(float_laplace, 1, [1, 0, 1], [1, 1, 1], trials=20_000)


def test_the_same_noise_in_integers_is_not_refuted():
    check(geometric, log(4 / 3), [1, 0, 1], [1, 1, 1], trials=20_000)


@pytest.mark.parametrize("name", ["roo", "ls-roo"])
def test_our_samplers_need_no_pair(name):
    check(dproo.mechanism(name, epsilon=1, n=5, k=2), 1, trials=20_000)


def test_a_sampler_that_claims_too_little_is_refuted():
    with pytest.raises(pytest.fail.Exception, match=r"^sampler must be private for epsilon = 0\.5"):
        check(dproo.mechanism("roo", epsilon=1, n=5, k=2), "0.5", trials=20_000)


def test_a_generator_that_repeats_itself_is_refuted():
    letters = iter([0, 0, 1, 1] * 10_000)
    with pytest.raises(pytest.fail.Exception, match="draws depend on each other"):
        check(lambda _: next(letters), 1, [0], [1], trials=5_000)


@pytest.mark.one_of(3)
def test_a_test_file_elsewhere_has_the_fixture(tmp_path):
    (tmp_path / "test_mine.py").write_text(
        "def test_a_record_shown_as_it_is(assert_private):\n"
        "    assert_private(max, 1, [0, 0], [0, 1], trials=1000)\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:dproo", "-p", "dproo.auditing.fixture"]
    done = subprocess.run(
        [*command, "-q"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "sampler must be private for epsilon = 1, but its epsilon is at least" in done.stdout
