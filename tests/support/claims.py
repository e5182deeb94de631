"""Where the numbers of the note and of the proofs come from."""

import importlib
import json
import math
import re
import sys
import tomllib
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from pkgutil import resolve_name as of
from unittest.mock import patch

from dproo import certify, limit, mechanism
from dproo.analysis.composition import compose
from dproo.analysis.limit import _HALF_WIDTH, _WIDE, _hardest
from dproo.codebooks.found import YEARS
from dproo.core.numbers import exp_lower, exp_upper
from dproo.mechanisms.bal_roo.sampler import BalancedRevealOrObscure
from dproo.mechanisms.base import ADD_REMOVE, BOTH
from dproo.mechanisms.ls_roo.calibration import Envelope
from dproo.mechanisms.ls_roo.sampler import LetterSpecificRevealOrObscure
from dproo.study.average import worst_mean_alpha
from dproo.study.minimax import worst_distribution
from dproo.synthesis.request import UNIT

ROOT = Path(__file__).parents[2]


@cache
def results(name):
    return json.loads((ROOT / "benchmarks" / f"{name}.json").read_text(encoding="utf-8"))


def loss(n, k, epsilon):
    """Return the true loss of the printed table."""
    printed = mechanism("ds-roo", epsilon=epsilon, n=int(n), k=int(k), as_printed=True)
    return certify(printed).epsilon


def agree(k, n):
    """Return the least epsilon, in steps of 0.0001, at which the printed table is private."""

    def is_private(epsilon):
        printed = mechanism("ds-roo", epsilon=epsilon, n=int(n), k=int(k), as_printed=True)
        return certify(printed).holds

    assert not is_private("0.0089")
    assert is_private("0.009")
    return 0.009


def smallest():
    """Return the printed table of the smallest counterexample, and its ratio."""
    growth, r = Fraction(101, 100), Fraction(3, 2)
    first = 1 / (1 + r * (growth - 1))
    second = ((r - 2) * first - (growth - 2)) / (growth * (r - 1))
    ratio = (2 + second * (r - 2)) / (1 + second * (r - 1))
    assert ratio > growth
    return first, second, ratio


def witness():
    """Return the counts on which a letter with many records leaks most."""
    printed = mechanism("ds-roo", epsilon="0.01", n=100_000, k=1000, as_printed=True)
    return [*certify(printed).witness.before.runs]


def story(*_):
    """Return the numbers of the second counterexample, in the order in which they are told."""
    (rarest, _), (losing, _), (large, _), (others, letters) = witness()
    assert rarest + 1 == others == losing - 1
    return [rarest, others, rarest, losing, others, others, letters, others, large]


def merged(*setting):
    """Return the loss of a row of two columns if a kept record changes in both."""
    *sizes, one, other, _ = setting
    first, second = (
        mechanism("ls-roo", epsilon=epsilon, k=k, neighbours=ADD_REMOVE)
        for epsilon, k in zip((one, other), map(int, sizes), strict=True)
    )
    before = first.pmf([0, 2])[0] * second.pmf([0] * second.k)[0]
    after = first.pmf([1, 1])[0] * second.pmf([1] + [0] * (second.k - 1))[0]
    return math.log(after / before)


def shape(which):
    """Return a size of the table on which rows are measured."""
    found = results("rows")["tables"]["fair"]
    return len(found[which]) if which == "columns" else found[which]


def peak():
    """Return where ``t / (1 + e^(t/2))^2`` is largest, and its value."""
    return max((t / (1 + math.exp(t / 2)) ** 2, t) for t in (i / 10_000 for i in range(1, 50_000)))


def balance():
    """Return the largest ``a d / (a + d)``, ``a = e^(-1-d)``."""
    levels = ((math.exp(-1 - i / 10_000), i / 10_000) for i in range(1, 50_000))
    return max(a * d / (a + d) for a, d in levels)


def over(which, n, k, epsilon):
    """Return a limit over the one for distributions."""
    found = limit(n=int(n), k=int(k), epsilon=epsilon)
    return float(getattr(found, which) / found.lower)


def sharper(n, k, epsilon):
    """Return the limit over what two levels give."""
    two = math.exp(_hardest(int(n), int(k), float(epsilon)).log_bound)
    return float(limit(n=int(n), k=int(k), epsilon=epsilon).lower) / two


def row(file, part, n, k, epsilon):
    """Return the row of a setting."""
    asked = int(n), int(k), epsilon
    rows = results(file)[part]
    [found] = [row for row in rows if (row["n"], row["k"], row["epsilon"]) == asked]
    return found


def times(name, which, n, k, epsilon):
    """Return the worst case of a sampler over a limit."""
    sampler = mechanism(name, n=int(n), k=int(k), epsilon=epsilon)
    return float(sampler.worst_alpha / getattr(limit(n=int(n), k=int(k), epsilon=epsilon), which))


def in_table(column, *setting):
    """Return what the table of worst cases has over the limit."""
    found = row("worst_case", "settings", *setting)
    return found[column] / found["limit"]


def ratios(suite, name):
    return [case["ratios"][f"{name}, all but exponential"] for case in results(suite)["cases"]]


def suite(which, name):
    return math.exp(sum(map(math.log, ratios(which, name))) / len(ratios(which, name)))


def random(which, percent="0"):
    found = [case["ratio"] for case in results("random_shapes")["cases"]]
    return {
        "cases": len(found),
        "lost": sum(ratio > 1 + int(percent) / 100 for ratio in found),
        "worst": 100 * (max(found) - 1),
    }[which]


def rows_of(method):
    """Return what was measured of rows of ``fair``, add-remove, epsilon 1."""
    asked = ("fair", method.replace("_", " "), "add-remove", "1")
    return [
        case
        for case in results("rows")["cases"]
        if (case["table"], case["method"], case["relation"], case["epsilon"]) == asked
    ]


def projections():
    """Return in how many ways Laplace noise is projected in the accuracy suite."""
    return len({name for case in results("accuracy")["cases"] for name in case["samplers"]
                if name.startswith("laplace ")})  # fmt: skip


def best(k, epsilon):
    """Return the smallest proven worst case over the limit, with n epsilon = 10 k."""
    asked = int(k), epsilon
    [row] = [r for r in results("worst_case")["range"] if (r["k"], r["epsilon"]) == asked]
    return min(row["ls-roo"], row["mean"]) / row["limit"]


def against_all(which, suite):
    """Return how often BAL-ROO wins or loses where the exponential mechanism is a peer, too."""
    found = results(suite)["summary"]["bal-roo, all peers"]
    return {"won": found["won"], "lost": found["cases"] - found["won"] - found["tied"]}[which]


def obscured(which, n, epsilon):
    """Return how often two letters are obscured if all records are of one."""
    sampler = mechanism("ds-roo", epsilon=epsilon, n=int(n), k=2, as_printed=which == "printed")
    return float(2 * sampler.pmf([int(n), 0])[1])


def untouched():
    """Return what the letter of 1099 records gains as printed, at E = 101/100."""
    growth, r = Fraction(101, 100), Fraction(100)
    q = [1 / (1 + r * (growth - 1))]
    for m in range(1, 100):
        q.append(max(0, ((r - m - 1) * q[-1] - m * (growth - 1) + 1) / (growth * (r - m))))
    after, before = (1099 + q[m] * (r - 1099) for m in (99, 98))
    return float(after / before)


def both(k):
    """Return the lift of an unseen letter for both relations over that for add-remove."""
    lifts = [
        Fraction(table.values[0], table.slope)
        for relation in (BOTH, ADD_REMOVE)
        for table in [
            LetterSpecificRevealOrObscure(
                epsilon=Fraction(1, 100), n=100_000, k=int(k), neighbours=relation
            ).table
        ]
    ]
    return float(lifts[0] / lifts[1])


def constants(slope, surplus):
    """Return what the choice of the constants found with these two."""
    [found] = [r for r in results("balance") if (r["SLOPE"], r["SURPLUS"]) == (slope, surplus)]
    return found


def known():
    """Return by how many percent the proven mean of BAL-ROO is above what was found, rounded up."""
    found = max(100 * (row["mean"] / row["found"] - 1) for row in results("worst_case")["settings"])
    return math.ceil(found)


def mean_of(n, k, epsilon):
    """Return the proven mean of BAL-ROO over the limit."""
    sampler = mechanism("bal-roo", n=int(n), k=int(k), epsilon=epsilon)
    least = limit(n=int(n), k=int(k), epsilon=epsilon).lower
    return float(worst_mean_alpha(sampler) / least)


def searched(name, n, k, epsilon):
    """Return the largest distance from any P that a search finds, over the limit."""
    _, found = worst_distribution(mechanism(name, n=int(n), k=int(k), epsilon=epsilon), grid=30)
    return found / float(limit(n=int(n), k=int(k), epsilon=epsilon).lower)


def number(path):
    """Return a number of a module of the package or of the tests."""
    found = of(path)
    return found if isinstance(found, float) else Fraction(found)


def parameters(test, name):
    """Return the values with which a test is run."""
    for mark in of(test).pytestmark:
        names, rows = mark.args if len(mark.args) == 2 else ("", ())
        if name == names:
            return [*rows]
    raise LookupError(name)


def proven(theorem):
    """Return letters, records and the ratio of a leak, as Coq states them."""
    text = (ROOT / "proofs" / "PrintedTable.v").read_text(encoding="utf-8")
    statement = text.split(f"Theorem {theorem} :")[1].split("Proof.")[0]
    pattern = r"replaced_of_n (\d+) (\d+|\([^)]*\))\) \((\S+) / (\S+)\)"
    k, n, over, under = re.search(pattern, statement).groups()
    records = math.prod(map(int, n.strip("()").split("*")))
    return int(k), records, Fraction(int(over[:-3]), int(under[:-3]))


def within(bound, value):
    """Return a bound that a value does not exceed."""
    assert value <= bound
    return bound


def module(folder, name):
    """Return a module that is not part of the package."""
    known = [*sys.path]
    sys.path.insert(0, str(ROOT / folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path[:] = known


benchmark = partial(module, "benchmarks")


def promised(*setting):
    """Return what the worst case of BAL-ROO's constants may be at most."""
    n, k, epsilon = setting
    return benchmark("balance").PROMISED[int(n), int(k), epsilon]


def chosen():
    """Return by how many percent the worst case of the constants is above the least found."""
    rows = [row["worst"] for row in results("balance")]
    return 100 * (rows[0] / min(rows) - 1)


def first_level():
    """Return the least epsilon, in steps of 0.01, at which three levels give more."""
    steps = (Fraction(i, 100) for i in range(1, 100))
    return next(e for e in steps if limit(n=10**5, k=1000, epsilon=e).levels)


def few_records():
    """Return where Theorem 2 stops being the larger one for two letters, times the records."""
    steps = (Fraction(i, 1000) for i in range(1, 1000))
    return round(next(float(100 * e) for e in steps if limit(n=100, k=2, epsilon=e).pair))


def short_table():
    """Return the epsilon below which a table is cut, to one digit."""
    return Fraction(
        f"{math.log1p(1 / number('dproo.mechanisms.ls_roo.calibration:ENTRIES_MAX')):.0e}"
    )


def small_datasets():
    """Return the records and letters of all datasets on which the proof of BAL-ROO is tried."""
    known = of("mechanisms.test_bal_roo:SMALL_DATASETS")
    most = max(n for _, n in known)
    return [most, max(k for k, n in known if n == most)]


def grid(which="", end=""):
    """Return of the settings whose linear program equals Theorem 3 how many, or an end of them."""
    kept = [
        row
        for row in of("analysis.test_limit:GRID")
        if row[0] >= 3 and row[0] * row[2] > 2 * row[1]
    ]
    if which in {"k", "epsilon"}:
        column = [row[1 if which == "k" else 2] for row in kept]
        return float({"min": min, "max": max}[end](column))
    letters = [k for _, k, _ in kept]
    found = [len(kept), min(letters), max(letters), number("analysis.test_limit:SOLVER")]
    return found[:1] if which else found


BALANCED = "dproo.mechanisms.bal_roo"
DIVERGENCE = "dproo.core.divergence"
EVEN = of(f"{BALANCED}.sampler:EVEN")
DRIFT = 2 / of(f"{BALANCED}.sampler:SLOPE")
"""The slope is so chosen that a level drifts by this part of epsilon."""

LARGE = 10**5, 1000
"""Records and letters of the table of what Theorem 4 adds."""


def rounds():
    """Return the share of trials that choose an event, and what of them orders and what chooses."""
    every, *parts = (
        of(f"dproo.auditing.trials:{name}") for name in ("_ROUNDS", "_ORDERING", "_CHOOSING")
    )
    return [Fraction(sum(parts), every), *(Fraction(part, sum(parts)) for part in parts)]


def risks():
    """Return the inverse share of the bound, how many tests of independence, and theirs."""
    share = of("dproo.auditing.trials:_INDEPENDENCE")
    tests = 2 * len(of("dproo.auditing.trials:SIDES"))
    assert 1 - share == Fraction(9, 10)
    return [share.denominator, tests, tests * share.denominator]


def lowest():
    """Return the lowest level of tables of several sizes."""
    settings = [(1000, 9, "1"), (10**4, 100, "0.1"), (10**6, 10**4, "0.3")]
    return min(mechanism("bal-roo", n=n, k=k, epsilon=e).table.low for n, k, e in settings)


def others(epsilon):
    """Return what is promised at the settings with this epsilon, and how many they are."""
    found = [most for (_, _, e), most in benchmark("balance").PROMISED.items() if e == epsilon]
    assert len({*found}) == 1
    return [found[0], len(found)]


def futile(n, k, epsilon):
    """Return the worst case of LS-ROO over the bound of Theorem A, to one digit."""
    setting = {"n": int(n), "k": int(k), "epsilon": epsilon}
    with patch.object(BalancedRevealOrObscure, "_is_worse", lambda *_: False):
        bound = mechanism("bal-roo", **setting).worst_alpha
    return Fraction(f"{float(mechanism('ls-roo', **setting).worst_alpha / bound):.0e}")


def two_for_one(n, k, epsilon):
    """Return the counts that leak as one record is all that a letter has, and the ratio."""
    printed = mechanism("ds-roo", epsilon=epsilon, n=int(n), k=int(k), as_printed=True)
    found = certify(printed).witness
    assert found.before.sizes == found.after.sizes == {2: 1, 1: int(k) - 1}
    return [2, 2, round(math.exp(loss(n, k, epsilon)), 6)]


def smallest_of():
    """Return growth, letters and records of the smallest counterexample, its counts and ratio."""
    k, n, growth = proven("printed_leaks_at_the_last_step")
    return [growth, k, n, *(2, 1), *(1, 2), float(smallest()[2])]


def sole(rows, name):
    """Return what all rows have in common."""
    [found] = {row[name] for row in rows}
    return found


def minimax_of(which):
    """Return how many settings the linear program was solved in, or the largest of a kind."""
    rows = results("minimax")["settings"]
    return len(rows) if which == "all" else max(Fraction(row[which]) for row in rows)


def fixed_tables(which):
    """Return the ends of what fixed tables have over the limit, and ours, or of their settings."""
    rows = results("fixed_tables")
    if which in {"n", "k"}:
        return max(row[which] for row in rows)
    *whose, end = which.split("_")
    found = [min(row["ls-roo"], row["bal-roo"]) if whose else row["table"] for row in rows]
    return {"least": min, "most": max}[end](found)


def records():
    """Return ``n epsilon / k`` of the curves, before the number of records is rounded."""
    rows = results("worst_case")
    for row in rows["curves"] + rows["range"]:
        assert row["n"] == round(10 * row["k"] / float(row["epsilon"]))
    return 10


def suite_of(name):
    """Return how many different ones the accuracy suite has."""
    return len(
        {str([case[part] for part in name.split()]) for case in results("accuracy")["cases"]}
    )


def leak_of(theorem, which):
    """Return what Coq says of a leak: its ratio, records of letters, or all of these."""
    k, n, ratio = proven(theorem)
    return {"n": n, "k": k, "ratio": ratio, "of": [n, k], "all": [n, k, ratio]}[which]


def enumerated():
    """Return the most records and letters, and the epsilons, at which neighbours are enumerated."""
    names = "RECORDS_MAX", "LETTERS_MAX", "EPSILONS"
    n, k, epsilons = (of(f"analysis.test_privacy:{name}") for name in names)
    return [n, k, len(epsilons)]


def kept_values():
    """Return the records and values over which all releases of the keep rule are enumerated."""
    values = [value for value in of("mechanisms.test_keep:VALUES") if value is not None]
    return [of("mechanisms.test_keep:RECORDS"), len(values)]


def smaller():
    """Return by how much a pair is smaller that a test finds beaten."""
    rows = parameters(
        "analysis.test_composition:test_a_smaller_pair_than_that_of_roo_is_beaten",
        ("ratio", "distance"),
    )
    return 1 - min(Fraction(part) for row in rows for part in row)


def composed(k, n, epsilon, delta, releases):
    """Return what releases of ROO cost together."""
    roo = mechanism("roo", k=int(k), n=int(n), epsilon=epsilon)
    cost = compose(roo, releases=int(releases), delta=delta)
    assert float(cost.composed.epsilon) == of("analysis.test_composition:COST")
    return float(cost.composed.epsilon)


def envelope(epsilon):
    return Envelope(growth=exp_lower(Fraction(epsilon)), n=10**40, k=3)


def tolerance():
    """Return how far a rate may be from the largest, as a share of ``growth - 1``."""
    known = envelope("0.1")
    return known.tolerance / (known.growth - 1)


def longer(epsilon):
    """Return how fine the tolerance is, and by how many entries a table would be longer."""
    fine = 1 / tolerance()
    entries = 1 / (envelope(epsilon).growth - 1) / fine
    return [fine, fine, Fraction(f"{float(entries):.0e}")]


def spent(k, n, epsilon):
    """Return the power of ten that the worst ratio is nearer to what epsilon allows."""
    ratio = certify(mechanism("ls-roo", k=int(k), n=int(n), epsilon=epsilon)).ratio
    return within(Fraction(1, 10**6), exp_upper(Fraction(epsilon)) - ratio)


def corollary(least):
    """Return how far the corollary is from the best, in percent, from so many records on."""
    rows = [row for row in results("minimax")["add_remove"] if row["n"] >= int(least)]
    return math.ceil(max(100 * (row["reached"] - 1) for row in rows))


def sharp_pairs():
    """Return how near samplers of two letters come to the limit, and where."""
    rows = of("analysis.test_limit:SHARP")
    return [Fraction(str(part)) for n, epsilon, times in rows for part in (times, n, epsilon)]


def ranges():
    """Return the ends of epsilon and delta with which the open alphabet is enumerated."""
    columns = zip(*of("mechanisms.test_open:SETTINGS"), strict=True)
    return [f(map(Fraction, column)) for column in columns for f in (min, max)]


def leaked():
    """Return the setting that leaked once: its numbers, the ratio, and what was allowed."""
    known, two = of("mechanisms.test_roo_joint:LEAKED"), of("mechanisms.test_roo_joint:TWO")
    assert known["n"] == known["k"]
    return [known["n"], known["epsilon"], *two.values(), of("mechanisms.test_roo_joint:LEAK"),
            round(math.exp(known["epsilon"]))]  # fmt: skip


def full_rows():
    """Return the records, columns and letters of the rows that are enumerated."""
    test = "mechanisms.test_rows_in_full:test_one_record_changes_no_row_by_more_than_certified"
    sizes = of("mechanisms.test_rows_in_full:SIZES")
    letters = {size for row in sizes for size in row}
    [columns] = {len(row) for row in sizes}
    return [max(parameters(test, "n")), columns, *sorted(letters)]


def missed():
    """Return how often an interval may miss."""
    return 1 - Fraction(str(of("dproo.synthesis.model:CONFIDENCE")))


CLAIMS = {
    "agree": agree,
    "bell": lambda: [_WIDE, 2 * _HALF_WIDTH - 1],
    "alike": lambda place: witness()[int(place)][1],
    "cases": lambda suite: len(results(suite)["cases"]),
    "constants": lambda which, slope, surplus: constants(slope, surplus)[which],
    "merged": merged,
    "steps": lambda *times: [int(many) * UNIT for many in times],
    "story": story,
    "table": shape,
    "years": lambda: [YEARS[0], YEARS[-1]],
    "witness": lambda place: witness()[int(place)][0],
    "both": both,
    "known": known,
    "log_choose": lambda n, k: math.log(math.comb(int(n), int(k))),
    "mean_of": mean_of,
    "obscured": obscured,
    "searched": searched,
    "size": lambda path: len(of(path)),
    "value": lambda *paths: [*map(number, paths)],
    "scaled": lambda path, scale: number(path) * Fraction(scale),
    "inverse": lambda path: 1 / number(path),
    "power": lambda path: Fraction(1, 2 ** of(path)),
    "ends": lambda path: [f(map(Fraction, of(path))) for f in (min, max)],
    "last": lambda path: of(path)[-1],
    "most": lambda test, name: max(parameters(test, name)),
    "all": parameters,
    "rounds": rounds,
    "risks": risks,
    "narrowest": lambda: Fraction(1, round(2 ** of(f"{BALANCED}.bounds:_NARROWEST"), -3)),
    "lowest": lambda: -within(-(2**64), -lowest()),
    "gap": lambda: [part for run in of("mechanisms.test_bal_roo:GAP").runs for part in run],
    "hidden": lambda: max(many for _, many in of("mechanisms.test_bal_roo:GAP").runs),
    "drift": lambda: [DRIFT, math.ceil(1000 / DRIFT) / 10],
    "drifts": lambda: [DRIFT, DRIFT],
    "close": lambda: float(100 * (of(f"{BALANCED}.bounds:_CLOSE") - 1)),
    "shares": lambda: [of(f"{BALANCED}.sampler:TOP"), EVEN, 1 - EVEN],
    "promised": promised,
    "others": others,
    "chosen": lambda: [len(benchmark("balance").PROMISED), within(Fraction(1, 2), chosen())],
    "settings": lambda: len(benchmark("balance").PROMISED),
    "constants_of": lambda: len(benchmark("balance").GRID),
    "futile": futile,
    "small_datasets": small_datasets,
    "two_for_one": two_for_one,
    "smallest_of": smallest_of,
    "short_table": short_table,
    "enumerated": enumerated,
    "growth": lambda: proven("printed_leaks_at_the_last_step")[2],
    "proven": leak_of,
    "kept_values": kept_values,
    "tail": lambda: Fraction(of(f"{DIVERGENCE}:_TAIL"), 2 ** of(f"{DIVERGENCE}:_MASS_BITS")),
    "smaller": smaller,
    "composed": composed,
    "fewer": lambda: (
        of("analysis.test_composition:RELEASES") * of("analysis.test_composition:FEWER")
    ),
    "tolerance": tolerance,
    "longer": longer,
    "spent": spent,
    "few_records": few_records,
    "first_level": first_level,
    "grid": grid,
    "sharp_pairs": sharp_pairs,
    "large": lambda: [*LARGE[::-1]],
    "sensitivities": lambda: [*of("dproo.mechanisms.network:SENSITIVITY").values()],
    "ranges": ranges,
    "chance": lambda: Fraction(1, 16 ** of("dproo.counting.sql.people:RANK")),
    "leaked": leaked,
    "full_rows": full_rows,
    "reserve": lambda: 1 - of("dproo.synthesis.request:RESERVE"),
    "level": lambda: 1 / missed(),
    "missed": missed,
    "split": lambda: (math.sqrt(17) - 3) / 4,
    "untouched": untouched,
    "worst": lambda n, k, epsilon: float(
        mechanism("bal-roo", n=int(n), k=int(k), epsilon=epsilon).worst_alpha
    ),
    "corollary": corollary,
    "datasets": lambda n, k, epsilon: float(limit(n=int(n), k=int(k), epsilon=epsilon).datasets),
    "against_all": against_all,
    "best": best,
    "balance": balance,
    "constant": lambda: peak()[0],
    "found": lambda *setting: in_table("found", *setting),
    "mean": lambda *setting: in_table("mean", *setting),
    "excess": lambda *setting: 100 * (times(*setting) - 1),
    "leak": lambda n, k, epsilon: loss(n, k, epsilon) / float(epsilon),
    "loss": loss,
    "lost": lambda which, name: sum(ratio > 1 for ratio in ratios(which, name)),
    "over": over,
    "random": random,
    "reciprocal_e": lambda: math.exp(-1),
    "rows": lambda method: sole(rows_of(method), "pairs mean"),
    "sharp": lambda which, *setting: row("minimax", "settings", *setting)[which],
    "sharper": sharper,
    "share": lambda: 1 / (1 + math.exp(peak()[1] / 2)),
    "q": lambda m, part: getattr(smallest()[int(m)], part),
    "smallest": lambda *_: float(smallest()[2]),
    "ratio": lambda *setting: round(math.exp(loss(*setting)), 6),
    "minimax": minimax_of,
    "weights": lambda name: module("docs/note", "build").WEIGHTS[name],
    "delta": lambda method: -math.log10(float(sole(rows_of(method), "delta"))),
    "records": records,
    "tables": fixed_tables,
    "suite_settings": lambda: suite_of("n k epsilon"),
    "suite_shapes": lambda: suite_of("p"),
    "projections": projections,
    "floor": lambda: results("accuracy")["floor"],
    "suite": suite,
    "times": times,
}


PROOFS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""Of every page with proofs: where each claim stands, and its source."""


@cache
def tables():
    """Return the lines of tables that are results, by page."""
    found = {"balanced.md": [], "limit.md": []}
    epsilons = ["0.1", "0.3", "0.5", "1", "1.5", "2", "3", "4", "6", "8", "10", "20"]
    ratios = " | ".join(f"{round(sharper(*LARGE, epsilon), 3):g}" for epsilon in epsilons)
    found["limit.md"] += [f"| ε | {' | '.join(epsilons)} |", f"| limit over Theorem 1 | {ratios} |"]
    for records, n, k, epsilon in [
        ("1000", 1000, 9, "0.1"), ("10,000", 10_000, 100, "0.1"), ("1000", 1000, 20, "1")
    ]:  # fmt: skip
        worst = [
            limit(n=n, k=k, epsilon=epsilon).lower,
            *(mechanism(name, n=n, k=k, epsilon=epsilon).worst_alpha for name in ("ls-roo", "roo")),
        ]
        many = " | ".join(f"{float(alpha):.4f}" for alpha in worst)
        found["limit.md"].append(f"| {records}, {k}, {epsilon} | {many} |")
    for row in results("worst_case")["settings"][:13]:
        names = "datasets", "bal-roo", "mean", "found"
        many = " | ".join(
            f"{row[name] / row['limit']:.3f} \N{MULTIPLICATION SIGN}" for name in names
        )
        records = f"{row['n']:,}"
        found["balanced.md"].append(
            f"| {records}, {row['k']}, {row['epsilon']} | {row['limit']:.5f} | {many} |"
        )
    for row in results("minimax")["settings"]:
        both = f"{row['bound']:.3f} to {row['reached']:.3f}"
        alone = f"{row['grid_bound']:.3f} | {row['grid_reached']:.3f}"
        found["limit.md"].append(f"| {row['n']}, {row['k']}, {row['epsilon']} | {alone} | {both} |")
    for row in results("minimax")["add_remove"]:
        both = f"{row['bound']:.3f} to {row['reached']:.3f}"
        setting = f"{row['n']}, {row['k']}, {row['epsilon']}"
        found["limit.md"].append(f"| {setting} | {row['limit']:.4f} | {both} |")
    surplus = {"1": "log k", "1/2": "log(k/2)", "1/5": "log(k/5)"}
    for row in results("balance")[:-1]:
        asked = row["SLOPE"], row["TOP"], surplus[row["SURPLUS"]], row["EVEN"]
        many = f"{row['worst']:.3f} | {row['kept']} | {row['family']:.3f}"
        found["balanced.md"].append(f"| {' | '.join(asked)} | {many} |")
    return found
