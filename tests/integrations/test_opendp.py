"""Our samplers as OpenDP measurements, by OpenDP's own ideas of what a measurement must keep."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import opendp.prelude as dp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.chance import ALPHA, p_value
from support.draws import some

import dproo
from dproo.core.counts import every_dataset
from dproo.core.numbers import is_at_most_exp
from dproo.integrations import opendp as ours
from dproo.mechanisms import SAMPLERS, mechanism

pytestmark = pytest.mark.one_of(3)

LETTERS = ["a", "b"]
EMPTY = dp.vector_domain(dp.atom_domain(T=str), size=0)
REPLACED = dp.vector_domain(dp.atom_domain(T=str), size=10), dp.change_one_distance()
ADDED = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
DATA = ["a"] * 6 + ["b"] * 3 + ["zz"]

EPSILONS = st.one_of(
    st.floats(min_value=1e-12, max_value=50, allow_subnormal=False),
    st.fractions(min_value="1/1000000", max_value=20),
)


@pytest.fixture(autouse=True, scope="module")
def _features():
    dp.enable_features("contrib", "honest-but-curious")
    ours.enable()
    yield
    dp.disable_features("contrib", "honest-but-curious")


def spaces(name):
    """Return the relations of a sampler that OpenDP has a metric for, with domain and metric."""
    known = {"replace": REPLACED, "add-remove": ADDED}
    return {relation: known[relation] for relation in SAMPLERS[name].relations if relation in known}


@pytest.mark.parametrize("name", SAMPLERS)
@settings(max_examples=30)
@given(epsilon=EPSILONS)
def test_the_map_covers_the_certified_loss_and_hardly_more_than_epsilon(name, epsilon):
    law = mechanism(name, epsilon=epsilon, n=10, k=3)
    for space in spaces(name).values():
        loss = ours.make_sampler(*space, LETTERS, epsilon, name).map(1)
        assert loss >= dproo.certify(law).epsilon
        assert Fraction(loss) >= Fraction(epsilon)
        assert loss <= epsilon + 1e-12


@pytest.mark.parametrize("epsilon", ["0.1", "1/3", "2/3", "1.1"])
def test_the_map_is_never_below_an_epsilon_that_is_no_float(epsilon):
    loss = ours.make_sampler(*REPLACED, LETTERS, epsilon).map(1)
    assert math.nextafter(loss, 0) < Fraction(epsilon) <= Fraction(loss)


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_map_is_zero_at_zero_and_rises(name):
    for space, epsilon in product(spaces(name).values(), ("1e-9", "0.1", "1", "20")):
        losses = [ours.make_sampler(*space, LETTERS, epsilon, name).map(d) for d in range(50)]
        assert losses[0] == 0
        assert losses == sorted(losses)
        assert all(loss <= d * losses[1] + 1e-9 for d, loss in enumerate(losses))


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_map_covers_every_pair_of_datasets_at_its_distance(name):
    """By enumeration, exactly: six records replaced, and up to six added and removed."""
    for relation, (_, metric) in spaces(name).items():
        domain = dp.vector_domain(dp.atom_domain(T=str), size=6)
        measurement = ours.make_sampler(domain, metric, LETTERS, "0.7", name)
        law = mechanism(name, epsilon="0.7", n=6, k=3, neighbours=relation)
        sizes = [6] if relation == "replace" else range(7)
        datasets = [d for size in sizes for d in every_dataset(size, 3)]
        laws = {d: law.pmf(d) for d in datasets}
        worst = Counter()
        for one, other in product(datasets, repeat=2):
            changed = sum(abs(x - y) for x, y in zip(one, other, strict=True))
            distance = changed // 2 if relation == "replace" else changed
            ratio = max(p / q for p, q in zip(laws[one], laws[other], strict=True))
            worst[distance] = max(worst[distance], ratio)
        assert len(worst) > 6
        for distance, ratio in worst.items():
            assert is_at_most_exp(ratio, Fraction(measurement.map(distance)))


def test_the_map_of_roo_is_tight_for_groups():
    measurement = ours.make_sampler(*REPLACED, LETTERS, "1", "roo")
    law = mechanism("roo", epsilon=1, n=10, k=3)
    for d in range(1, 11):
        ratio = law.pmf([d, 10 - d, 0])[0] / law.pmf([0, 10, 0])[0]
        assert measurement.map(d) == pytest.approx(math.log(ratio), abs=1e-12)


def test_the_map_of_a_composition_is_the_sum():
    parts = [
        ours.make_sampler(*REPLACED, LETTERS, epsilon, name)
        for name, epsilon in (("roo", "0.5"), ("ls-roo", "0.25"), ("subrr", "1"))
    ]
    both = dp.c.make_composition(parts)
    assert both.map(1) == pytest.approx(1.75)
    assert both.map(3) >= sum(part.map(3) for part in parts) - 1e-12
    assert len(both(DATA)) == 3


@pytest.mark.parametrize("name", some(["roo", "ls-roo"], one_of=4))
def test_releases_through_opendp_have_the_law_of_the_sampler(name):
    measurement = ours.make_sampler(*REPLACED, LETTERS, "1", name)
    drawn = Counter(measurement(DATA) for _ in range(3_000))

    def law(epsilon, counts):
        pmf = mechanism(name, epsilon=epsilon, n=10, k=3).pmf(counts)
        return dict(zip([*LETTERS, "other"], pmf, strict=True))

    assert p_value(drawn, law("1", [6, 3, 1])) > ALPHA
    assert p_value(drawn, law("0.3", [6, 3, 1])) < ALPHA
    assert p_value(drawn, law("1", [4, 5, 1])) < ALPHA


def context(loss, unit=None, **options):
    return dp.Context.compositor(
        data=DATA,
        domain=REPLACED[0],
        privacy_unit=unit or dp.unit_of(changes=1),
        privacy_loss=loss,
        **options,
    )


@pytest.mark.parametrize("name", some(SAMPLERS, one_of=6))
def test_a_query_finds_its_epsilon_and_is_refused_when_the_budget_is_spent(name):
    asked = context(dp.loss_of(epsilon=1.0), split_evenly_over=2)
    for _ in range(2):
        query = getattr(asked.query(), name.replace("-", "_"))(LETTERS)
        assert query.param() == 0.5
        assert query.release() in {*LETTERS, "other"}
    with pytest.raises(ValueError, match="exhausted"):
        asked.query()


def test_a_person_with_several_records_gets_the_larger_epsilon_of_the_tight_map():
    unit = dp.unit_of(changes=3)
    asked = context(dp.loss_of(epsilon=1.0), unit, split_evenly_over=1)
    roo, other = (asked.query().roo(LETTERS).param(), asked.query().ls_roo(LETTERS).param())
    assert roo == pytest.approx(math.log(1 + (math.e - 1) / 3))
    assert other == pytest.approx(1 / 3)


def test_a_filter_refuses_what_an_odometer_only_adds_up():
    odometer = context(dp.loss_of(epsilon=math.inf))
    for _ in range(3):
        odometer.query().roo(LETTERS, 0.5).release()
    assert odometer.current_privacy_loss() == pytest.approx(1.5)
    filtered = context(dp.loss_of(epsilon=1.0))
    filtered.query(epsilon=0.75).roo(LETTERS).release()
    with pytest.raises(dp.OpenDPException, match="would exceed privacy budget"):
        filtered.query(epsilon=0.75).roo(LETTERS).release()


@pytest.mark.parametrize(
    "loss", [dp.loss_of(epsilon=1.0, delta=1e-6), dp.loss_of(rho=0.5)], ids=["approximate", "zCDP"]
)
def test_a_sampler_is_cast_to_the_measure_of_its_context(loss):
    asked = context(loss, split_evenly_over=1)
    assert asked.query().roo(LETTERS).release() in {*LETTERS, "other"}


def test_data_of_another_size_is_refused_without_telling_it():
    measurement = ours.make_sampler(*REPLACED, LETTERS, 1)
    with pytest.raises(dp.OpenDPException) as refused:
        measurement(["canary-7f3a"] * 7)
    assert ours._OTHER_SIZE in refused.value.message
    assert "canary" not in str(refused.value)
    assert "7 " not in refused.value.message.replace("line 7", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ADDED[0], REPLACED[1], LETTERS, 1), "input_domain must have a size"),
        ((EMPTY, REPLACED[1], LETTERS, 1), "input_domain must have a size above 0"),
        ((*ADDED, LETTERS, 1, "ds-roo"), "input_metric must be one of ChangeOneDistance"),
        ((REPLACED[0], dp.discrete_distance(), LETTERS, 1), "input_metric must be one of"),
        ((dp.atom_domain(T=str), ADDED[1], LETTERS, 1), "input_domain must be a domain of vectors"),
        ((*REPLACED, LETTERS, 0), "epsilon must be positive"),
        ((*REPLACED, LETTERS, 1, "gauss"), "sampler must be one of"),
        ((*REPLACED, None, 1), "alphabet must be given"),
        ((*REPLACED, dproo.Alphabet.of(["a"], policy="uniform"), 1), "at least 2 letters, got 1"),
    ],
)
def test_a_wrong_argument_is_refused_before_there_is_a_measurement(arguments, message):
    with pytest.raises(ValueError, match=message):
        ours.make_sampler(*arguments)


def test_a_missing_library_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opendp", None)
    with pytest.raises(ValueError, match="opendp must be installed for this"):
        ours.make_sampler(*REPLACED, LETTERS, 1)


def test_whoever_does_not_trust_other_libraries_gets_no_measurement():
    dp.disable_features("honest-but-curious")
    try:
        with pytest.raises(dp.OpenDPException, match="honest-but-curious"):
            ours.make_sampler(*REPLACED, LETTERS, 1)
    finally:
        dp.enable_features("honest-but-curious")
