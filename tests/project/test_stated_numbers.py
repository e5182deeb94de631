"""Every number of the note and of the proofs is computed again, and the note compiles."""

import json
import math
import re
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

import pytest

from dproo import certify, limit, mechanism
from dproo.analysis.limit import _HALF_WIDTH, _WIDE, _hardest
from dproo.codebooks.found import YEARS
from dproo.mechanisms.base import ADD_REMOVE, BOTH
from dproo.mechanisms.ls_roo.sampler import LetterSpecificRevealOrObscure
from dproo.study.average import worst_mean_alpha
from dproo.study.minimax import worst_distribution
from dproo.synthesis.request import UNIT

ROOT = Path(__file__).parents[2]
NOTE = ROOT / "docs" / "note" / "note.typ"
SAID = re.compile(r'#said\("([^"]+)",\s+"([^"]+)"\)')
GIVEN = {"0.002", "0.01", "0.05", "0.1", "0.3"} | {
    "10", "20", "98", "99", "100", "101", "1000", "10000", "10001", "100000"
}  # fmt: skip
"""Settings of an example, or what another test asserts."""


@cache
def results(name):
    return json.loads((ROOT / "benchmarks" / f"{name}.json").read_text(encoding="utf-8"))


def loss(n, k, epsilon):
    """Return the true loss of the printed table."""
    printed = mechanism("ds-roo", epsilon=epsilon, n=int(n), k=int(k), as_printed=True)
    return certify(printed).epsilon


def agree():
    """Return the least epsilon, in steps of 0.0001, at which the printed table is private."""

    def is_private(epsilon):
        return certify(mechanism("ds-roo", epsilon=epsilon, n=1000, k=9, as_printed=True)).holds

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


def story():
    """Return the numbers of the second counterexample, in the order in which they are told."""
    (rarest, _), (losing, _), (large, _), (others, letters) = witness()
    assert rarest + 1 == others == losing - 1
    return [rarest, others, rarest, losing, others, others, letters, others, large]


def merged():
    """Return the loss of a row of 2 and 50 letters if a kept record changes in both."""
    first, second = (
        mechanism("ls-roo", epsilon=epsilon, k=k, neighbours=ADD_REMOVE)
        for epsilon, k in (("1", 2), ("0.05", 50))
    )
    before = first.pmf([0, 2])[0] * second.pmf([0] * 50)[0]
    after = first.pmf([1, 1])[0] * second.pmf([1] + [0] * 49)[0]
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


def random(which):
    found = [case["ratio"] for case in results("random_shapes")["cases"]]
    return {
        "cases": len(found),
        "lost": sum(ratio > 1.05 for ratio in found),
        "worst": 100 * (max(found) - 1),
    }[which]


def rows(method):
    """Return the mean distance of pairs of columns on ``fair``, add-remove, epsilon 1."""
    asked = ("fair", method.replace("_", " "), "add-remove", "1")
    [case] = [
        case
        for case in results("rows")["cases"]
        if (case["table"], case["method"], case["relation"], case["epsilon"]) == asked
    ]
    return case["pairs mean"]


def best(k, epsilon):
    """Return the smallest proven worst case over the limit, with n epsilon = 10 k."""
    asked = int(k), epsilon
    [row] = [r for r in results("worst_case")["range"] if (r["k"], r["epsilon"]) == asked]
    return min(row["ls-roo"], row["mean"]) / row["limit"]


def against_all(which, suite):
    """Return how often BAL-ROO wins or loses where the exponential mechanism is a peer, too."""
    found = results(suite)["summary"]["bal-roo, all peers"]
    return {"won": found["won"], "lost": found["cases"] - found["won"] - found["tied"]}[which]


def obscured(which):
    """Return how often two letters are obscured if all ten records are of one, at epsilon 0.3."""
    sampler = mechanism("ds-roo", epsilon="0.3", n=10, k=2, as_printed=which == "printed")
    return float(2 * sampler.pmf([10, 0])[1])


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


CLAIMS = {
    "agree": agree,
    "bell": lambda: [_WIDE, 2 * _HALF_WIDTH - 1],
    "alike": lambda place: witness()[int(place)][1],
    "cases": lambda suite: len(results(suite)["cases"]),
    "constants": lambda which, slope, surplus: constants(slope, surplus)[which],
    "merged": merged,
    "steps": lambda: [2 * UNIT, 3 * UNIT],
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
    "size": lambda path: len(resolve_name(path)),
    "value": lambda path, scale="1": float(Fraction(scale) * Fraction(resolve_name(path))),
    "split": lambda: (math.sqrt(17) - 3) / 4,
    "untouched": untouched,
    "worst": lambda n, k, epsilon: float(
        mechanism("bal-roo", n=int(n), k=int(k), epsilon=epsilon).worst_alpha
    ),
    "corollary": lambda: math.ceil(
        max(100 * (row["reached"] - 1) for row in results("minimax")["add_remove"] if row["n"] >= 5)
    ),
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
    "rows": rows,
    "sharp": lambda which, *setting: row("minimax", "settings", *setting)[which],
    "sharper": sharper,
    "share": lambda: 1 / (1 + math.exp(peak()[1] / 2)),
    "q": lambda m, part: getattr(smallest()[int(m)], part),
    "smallest": lambda: float(smallest()[2]),
    "suite": suite,
    "times": times,
}


def compare(numbers, claim):
    """Assert that numbers are what they claim: a result, or one that a test or program names."""
    name, *setting = claim.split()
    if "/" in name:
        code = (ROOT / name).read_text(encoding="utf-8").replace("_", "")
        for number in numbers:
            assert re.search(rf"(?<![\d.]){re.escape(number.replace(',', ''))}", code), number
        return
    found = CLAIMS[name](*setting)
    for number, value in zip(numbers, found if isinstance(found, list) else [found], strict=True):
        places = len(number.partition(".")[2])
        assert f"{value:.{places}f}" == number.replace(",", "")


@pytest.mark.parametrize("said", sorted(set(SAID.findall(NOTE.read_text(encoding="utf-8")))))
def test_a_number_of_the_note_is_what_it_claims(said):
    value, claim = said
    compare([value], claim)


def test_every_number_of_the_note_is_claimed_or_given():
    text = SAID.sub("", NOTE.read_text(encoding="utf-8"))
    body = text.partition("abstract: [")[2]
    prose = re.sub(r"  table\(.*?^  \),", "", body, flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"width: \d+%|10\^|size: \d+pt", "", prose)
    assert set(re.findall(r"(?<!\w)\d+\.\d+|(?<![\w.^])\d\d+(?![\w.])", prose)) <= GIVEN


PAGES = sorted((ROOT / "docs" / "proofs").glob("*.md"))
NUMBER = re.compile(
    r"(?<![\w.,])\d[\d,]*\.\d+(?!\.?\d)|(?<![\w.,])\d[\d,]*(?= %| times| \N{MULTIPLICATION SIGN})"
    r"|(?<![\w.,/^-])(?:\d\d+|\d{1,3}(?:,\d{3})+)(?!\w|[.,]\d)"
)
TEXTS = re.compile(r"```.*?```|^    .*?$|\]\([^)]*\)|arXiv [\d.]+", re.DOTALL | re.MULTILINE)
FIGURES = "[\\d.,⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+"
SETTING = re.compile(
    rf"(?<![\w/])[nkδεE]`? (?:=|≤|from) {FIGURES}(?:(?: to| and) {FIGURES})?"
    r"|\b(?:19|20)\d\d\b|10(?:\^-\d|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)|SHA-256|Theorem \d+"
)
"""What is not a number of the text: code, quoted statements, links, and a given setting."""

PROOFS = {
    "audit.md": [
        ("up to 40 trials", "tests/auditing/test_audit.py"),
        ("of 400 audits", "tests/auditing/test_audit.py"),
        ("on 50 letters", "tests/auditing/test_audit.py"),
    ],
    "balanced.md": [
        ("{17: 1, 58: 1, 72: 900, 73: 3}", "tests/mechanisms/test_bal_roo.py"),
        ("by 900 letters", "tests/mechanisms/test_bal_roo.py"),
        ("beyond 128", "value dproo.study.average:_COUNTS_MAX"),
        ("p(T) = 15/16", "value dproo.mechanisms.bal_roo.sampler:TOP 16"),
        ("about 15/16", "value dproo.mechanisms.bal_roo.sampler:TOP 16"),
        ("compared at `10 k", "value dproo.mechanisms.base:ENOUGH"),
        ("seen is 1.4025", "constants worst 1/20 3/2"),
        ("a loss of 1.29 times", "tests/mechanisms/test_bal_roo.py"),
        ("would say 1.12", "tests/mechanisms/test_bal_roo.py"),
        ("more than 1.5 times, on", "tests/mechanisms/test_bal_roo.py"),
        ("whose largest value is `0.1544·κ₀`", "balance"),
        ("≥ (0.1544 - o(1))", "constant"),
        ("better](limit.md#the-limit-for-datasets) than 0.0154", "datasets 10000 100 0.1"),
        ("and it has 0.0164", "worst 10000 100 0.1"),
        ("known within 5 %", "known"),
        ("at most 1.15 times", "benchmarks/balance.py"),
        ("at most 1.5 times", "benchmarks/balance.py"),
        ("at most 1.75 times", "benchmarks/balance.py"),
        ("2.62 times the limit", "mean_of 1000 100 3"),
        ("against 3.56", "times ls-roo lower 1000 100 3"),
        ("Theorem A has 4.54", "times bal-roo lower 1000 100 3"),
        ("Theorem A has 3.24 times", "times bal-roo lower 30 3 1"),
        ("LS-ROO 2.49, but", "times ls-roo lower 30 3 1"),
        ("for BAL-ROO has 1.83", "searched bal-roo 30 3 1"),
        ("for LS-ROO its 2.49", "searched ls-roo 30 3 1"),
        ("which has 0.333", "suite accuracy bal-roo"),
    ],
    "data_specific.md": [
        (
            "98 → 99: counts 98 and 100 become 99 and 99, 997 letters have 99, one has 1099",
            "story",
        ),
        ("longer than 16,384", "value dproo.mechanisms.ds_roo:ENTRIES_MAX"),
        ("says 103/100", "proofs/PrintedTable.v"),
        ("a loss of 0.693", "loss 10001 10000 0.01"),
        ("**69 times", "leak 10001 10000 0.01"),
        ("ratio 1.010098…", "smallest"),
        ("`e^0.0336`", "loss 100000 1000 0.01"),
        ("**3.36 times", "leak 100000 1000 0.01"),
        ("`q_0 = 0.244`", "obscured private"),
        ("printed table has 0.364", "obscured printed"),
        ("ratio being 1.0340…", "untouched"),
    ],
    "discovery.md": [
        ("30 public shapes", "size dproo.codebooks.found:SHAPES"),
        ("years 1800 to 2199", "years"),
        ("at most 200 printable", "value dproo.schema.axis:LONGEST_OPEN"),
        ("about 64 cells", "value dproo.codebooks.found:CELLS"),
    ],
    "dominating_pair.md": [
        ("least 100 at each run and 20,000", "tests/analysis/test_composition.py"),
        (
            "100 releases cost 3.9672 all three ways, where the sum is 100",
            "tests/analysis/test_composition.py",
        ),
    ],
    "exact_numbers.md": [("at 4,096 bits", "tests/core/test_numbers.py")],
    "letter_specific.md": [
        ("more than 16,384", "value dproo.mechanisms.ls_roo.calibration:ENTRIES_MAX"),
        ("ends at 16,384", "value dproo.mechanisms.ls_roo.calibration:ENTRIES_MAX"),
        ("`f(16384)", "value dproo.mechanisms.ls_roo.calibration:ENTRIES_MAX"),
        ("- 16384`", "value dproo.mechanisms.ls_roo.calibration:ENTRIES_MAX"),
        ("is 1.36 times", "both 3"),
        ("1.15 times for k = 10", "both 10"),
        ("1.02 times for k = 100", "both 100"),
    ],
    "limit.md": [
        ("314 settings", "tests/analysis/test_limit.py"),
        ("down to 192 bits", "value dproo.analysis.limit:_BITS"),
        ("at most 45, and from there on the 33", "bell"),
        ("of 600 bits", "tests/analysis/test_limit.py"),
        ("both are `0.1544·k", "constant"),
        ("datasets is 1.05 times", "over datasets 100000 1000 0.1"),
        ("1.16 times", "over datasets 100000 1000 0.3"),
        ("1.51 times at 1", "over datasets 100000 1000 1"),
        ("2.4 times at 3", "over datasets 100000 1000 3"),
        ("1.3 times at 6", "over datasets 100000 1000 6"),
        ("and 1.06 times", "over datasets 100000 1000 10"),
        ("corollary is within 6 %", "corollary"),
        ("within 1.006 times", "tests/analysis/test_limit.py"),
        ("within 1.04 times", "tests/analysis/test_limit.py"),
        ("within 1.03 times", "tests/analysis/test_limit.py"),
        ("W((1-x)/(e·x)) = 0.1544", "constant"),
        ("x = j/k = 0.323", "share"),
        ("`1/e = 0.368`", "reciprocal_e"),
        ("the constant 0.1544", "constant"),
    ],
    "machine_checked.md": [
        ("10,001 records of 10,000 letters", "proofs/PrintedTable.v"),
        ("more than 64 of both", "value dproo.mechanisms.roo_joint:CELLS_MAX"),
    ],
    "open_alphabet.md": [("longer than 200", "value dproo.schema.axis:LONGEST_OPEN")],
    "people.md": [
        ("at most 64 bytes", "value dproo.counting.sql.people:LONGEST_KEY"),
        ("more than 16 KiB", "value dproo.counting.sources.file_scan:_SHORT 1/1024"),
        ("a loss of 1.218", "merged"),
        ("first 48 bits", "value dproo.counting.sql.people:RANK 4"),
    ],
    "reveal_or_obscure.md": [
        ("`λ < 0.281`", "split"),
        ("up to 1.79", "log_choose 4 2"),
        ("up to 12", "log_choose 20 10"),
        ("`g·s ≤ 64`", "value dproo.mechanisms.roo_joint:CELLS_MAX"),
        ("More than 64 factors", "value dproo.mechanisms.roo_joint:FACTORS_MAX"),
        ("with 256 bits", "value dproo.core.numbers:BITS 4"),
        ("on 800 settings", "tests/analysis/test_certificates_at_random.py"),
        ("247996 against e⁸ = 2981", "tests/mechanisms/test_roo_joint.py"),
        ("against 200-bit", "tests/mechanisms/test_mechanisms.py"),
    ],
    "table.md": [
        ("`Σ |16 N_f(x)", "value dproo.synthesis.request:UNIT"),
        ("`⌊16 · mean", "value dproo.synthesis.request:UNIT"),
        ("changes `|16 N(x)", "value dproo.synthesis.request:UNIT"),
        ("by at most 16, and", "value dproo.synthesis.request:UNIT"),
        ("`u = 16`", "value dproo.synthesis.request:UNIT"),
        ("at most 32 or 48", "steps"),
        ("is 32 or 48", "steps"),
        ("records 1 %", "value dproo.synthesis.families:ROWS 100"),
        ("columns 15 %", "value dproo.synthesis.families:COLUMNS 100"),
        ("choices 10 %", "value dproo.synthesis.families:CHOICES 100"),
        ("weak (0.02)", "value dproo.synthesis.families:WEAK"),
        ("strong (0.2)", "value dproo.synthesis.families:STRONG"),
        ("asked for 3 %", "value dproo.synthesis.families:DEPENDENCE 100"),
        ("typical (0.105", "value dproo.synthesis.families:TYPICAL"),
        ("± 0.06)", "value dproo.synthesis.families:SPREAD"),
    ],
}
"""For every number in the text of a proof, where it stands and what it claims."""

STATED = {
    "balanced.md": {
        "within 3.2 %": "1/32, rounded up",
        "integers, within 0.1 %": "how far the levels of a grid are apart",
    },
    "limit.md": {"at 0.3,": "an epsilon", "at 10.": "an epsilon", "1,000 letters": "a setting"},
    "machine_checked.md": {
        "Coq 8.16": "a version", "Components 1.15": "a version",
        "a factor of 1.99": "that of the theorem, 199/100",
        "100,000 records of 1,000 letters": "those of the theorem, 100 * 1000 and 1000",
    },
    "open_alphabet.md": {"10⁻⁹ to 0.9": "a range of settings"},
    "people.md": {
        "2 and 50 letters": "a setting", "`007`": "an example of an identifier",
        "7.0 and 7.00": "examples of identifiers", "7.5 and 8.5": "examples of identifiers"
    },
    "table.md": {
        "Section 2.3": "of a paper", "probability at least 0.95": "the level",
        "coverage at least 0.95": "the level",
    },
}  # fmt: skip
"""Numbers that are not results, and what they are."""


@cache
def tables():
    """Return the lines of tables that are results, by page."""
    found = {"balanced.md": [], "limit.md": []}
    epsilons = ["0.1", "0.3", "0.5", "1", "1.5", "2", "3", "4", "6", "8", "10", "20"]
    ratios = " | ".join(f"{round(sharper(10**5, 1000, epsilon), 3):g}" for epsilon in epsilons)
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_number_of_a_proof_has_a_source(page):
    text = page.read_text(encoding="utf-8")
    fragments = [*STATED.get(page.name, {}), *(f for f, _ in PROOFS.get(page.name, []))]
    for line in [*tables().get(page.name, []), *fragments]:
        assert line in text, line
        text = text.replace(line, "", 1)
    assert NUMBER.findall(SETTING.sub("", TEXTS.sub("", text))) == []


@pytest.mark.parametrize(
    ("fragment", "claim"),
    [case for cases in PROOFS.values() for case in cases],
)
def test_a_number_of_a_proof_is_what_it_claims(fragment, claim):
    compare(NUMBER.findall(SETTING.sub("", fragment.replace("e^", ""))), claim)


def test_a_number_without_a_source_would_be_found():
    text = "the loss is 1.25 at ε = 0.3, or 7 % more, `q = 0.5`, in 1,200 of 10⁶ cases (2020)"
    assert NUMBER.findall(SETTING.sub("", TEXTS.sub("", text))) == ["1.25", "7", "0.5", "1,200"]


def test_no_side_of_the_linear_program_is_above_what_the_note_says():
    rows = results("minimax")["settings"]
    assert len(rows) == 10
    assert all(1 - 1e-6 <= row["grid_bound"] <= row["bound"] + 1e-6 for row in rows)
    assert all(row["bound"] <= row["reached"] < 1.145 for row in rows)


def test_under_add_remove_the_corollary_is_met_from_both_sides():
    for row in results("minimax")["add_remove"]:
        found = limit(n=row["n"], k=row["k"], epsilon=row["epsilon"], neighbours="add-remove").lower
        assert row["limit"] == pytest.approx(float(found))
        assert 1 <= row["bound"] <= row["reached"] <= 1.0005 * row["bound"]


def test_bal_roo_loses_one_random_shape_by_a_little():
    assert sum(case["ratio"] > 1 for case in results("random_shapes")["cases"]) == 1


def test_the_table_of_worst_cases_is_what_the_samplers_have():
    for row in results("worst_case")["settings"]:
        n, k, epsilon = row["n"], row["k"], row["epsilon"]
        found = limit(n=n, k=k, epsilon=epsilon)
        assert row["limit"] == pytest.approx(float(found.lower))
        assert row["datasets"] == pytest.approx(float(found.datasets))
        for name in ("roo", "ls-roo", "bal-roo"):
            worst = mechanism(name, n=n, k=k, epsilon=epsilon).worst_alpha
            assert row[name] == pytest.approx(float(worst), rel=1e-6)
        assert row["limit"] <= row["found"] <= row["mean"] <= row["bal-roo"]
        if k == 20:  # a second each
            worst = worst_mean_alpha(mechanism("bal-roo", n=n, k=k, epsilon=epsilon))
            assert row["mean"] == pytest.approx(float(worst), rel=1e-6)


def test_the_note_compiles_without_a_warning_to_a_short_paper(monkeypatch):
    monkeypatch.syspath_prepend(NOTE.parent)
    monkeypatch.delitem(sys.modules, "build", raising=False)
    from build import build  # noqa: PLC0415

    pages = build(format="png", ppi=20.0)
    assert 4 <= len(pages) <= 9, "eight pages at most, and an appendix"
