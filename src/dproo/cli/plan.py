"""The commands that read no data: plan, certify, compare, figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from dproo.analysis.certificate import certify
from dproo.analysis.composition import compose
from dproo.analysis.planner import Plan, plan, plan_open
from dproo.analysis.row_plan import RowPlan
from dproo.cli.output import (
    echo,
    figures,
    json_option,
    neighbours_option,
    picture,
    plot_option,
    print_json,
    refuse_unused,
    sampler_option,
    waiting,
)
from dproo.core.checks import one_of
from dproo.core.numbers import (
    counted,
    decimal_text,
    float_upper,
    log_float_upper,
    parse_delta,
    parse_epsilon,
    percent,
    percent_below,
)
from dproo.mechanisms import AUTO, REPLACE, SAMPLERS, choose, mechanism
from dproo.report import (
    VIOLATION,
    advised_object,
    certificate_object,
    curve,
    limit_sentence,
    number,
    row_plan_object,
)
from dproo.study.distributions import SHAPES, shape

_DEFAULTS: dict[str, Any] = {
    "alphabet": None,
    "codebook": None,
    "releases": None,
    "delta": "0",
    "minimum_people": 2,
    "plot": None,
}
_TAKES = {
    "alphabet": {"alphabet", "delta", "minimum_people"},
    "codebook": {"codebook"},
    "releases": {"releases", "delta"},
    "": {"plot"},
}
"""The options that each kind of plan takes, by the option that asks for it."""


@click.command("plan")
@click.option("--n", type=int, help="Number of records.")
@click.option("--k", type=int, help="Number of letters of the alphabet.")
@click.option("--epsilon", help="Privacy parameter.")
@click.option("--alpha", help="Worst-case error: total variation distance, 0 to 1.")
@click.option("--codebook", help="A code book: plan a whole row, with n and epsilon.")
@click.option("--releases", type=int, help="How many records will be released from the same data.")
@click.option("--alphabet", help="'open': how many records an unlisted value needs to appear.")
@click.option("--minimum-people", type=int, default=2, help="With --alphabet open.")
@click.option(
    "--delta",
    default="0",
    help="With --releases or --alphabet open: the probability that epsilon may fail.",
)
@plot_option
@json_option
def plan_command(*, plot: str | None, as_json: bool, **options: Any) -> None:
    """Solve for one of n, k, epsilon and alpha, for every sampler.

    Give the other three. With --releases, give n, k and epsilon, and see what that many
    records cost and how accurate they are. With --codebook, give n and epsilon, and see what
    each column of a whole row costs and how accurate the row is. With --alphabet open, give
    epsilon, delta and perhaps n, and see how many records a value needs to appear.

    \b
    Examples:
      dproo plan --k 9 --epsilon 0.1 --alpha 0.05     records needed
      dproo plan --n 1000 --k 9 --alpha 0.05          epsilon needed
      dproo plan --n 1000 --k 9 --epsilon 0.1         accuracy reached
      dproo plan --n 1000 --k 20 --epsilon 1 --releases 100 --delta 1e-6
      dproo plan --codebook codebook.json --n 50000 --epsilon 1
      dproo plan --alphabet open --n 100000 --epsilon 1 --delta 1e-9
      dproo plan --n 1000 --k 9 --epsilon 0.1 --plot plan.png
    """
    known = {name: options.pop(name) for name in ("n", "k", "epsilon", "alpha")}
    kind = next((name for name in _TAKES if name and options[name] is not None), "")
    why = f"with --{kind}" if kind else "with three of --n, --k, --epsilon and --alpha alone"
    refuse_unused({**options, "plot": plot}, _DEFAULTS, _TAKES[kind], why)
    codebook, releases = options.pop("codebook"), options.pop("releases")
    if options["alphabet"] is not None:
        print_open_plan(as_json=as_json, **options, **known)
        return
    if codebook is not None:
        print_row_plan(codebook, as_json=as_json, **known)
        return
    if releases is not None:
        print_releases(releases, options["delta"], as_json=as_json, **known)
        return
    path = None if plot is None else picture(plot)
    answer = plan(**known)
    if path is not None:
        with waiting("drawing"):
            _draw(answer, known, path)
    if as_json:
        print_json(advised_object(answer, known))
    else:
        print_plan(answer)


def print_plan(answer: Plan) -> None:
    """Print the plan of a value as a table, with what is recommended."""
    titles = {
        "n": "records needed",
        "k": "letters at most",
        "epsilon": "epsilon needed",
        "alpha": "alpha at worst",
    }
    echo(f"{'sampler':<9} {titles[answer.solved_for]:>20}  basis")
    for row in answer.rows:
        value = answer[row.sampler]
        shown = "-" if value is None else f"{number(value):,.6g}"
        if isinstance(value, int):
            shown = f"{value:,}"
        echo(f"{row.sampler:<9} {shown:>20}  {row.reason or row.basis}")
    choice = answer.recommended
    echo("")
    if choice:
        echo(f"Recommended: {choice.sampler}, which auto takes. {choice.reason}")
    if sentence := limit_sentence(answer):
        echo(sentence)


def _draw(answer: Plan, known: dict[str, Any], path: Path) -> None:
    """Draw all samplers' answers around a plan; if epsilon is solved for, alpha against epsilon."""
    choice = answer.recommended
    best = choice.sampler if choice else answer.best
    solved = best and number(answer[best])
    given = {name: value for name, value in known.items() if value is not None}
    at = None
    if answer.solved_for == "epsilon":
        target = float(Fraction(given.pop("alpha")))
        at = (solved, target) if solved else None
        given["epsilon"] = decimal_text(Fraction(f"{solved or 1:.6g}"))
    elif solved:
        at = (float(parse_epsilon(given["epsilon"])), solved)
    around = curve(**given)
    slow = [row.sampler for row in answer.rows if row.sampler not in around["series"]]
    series = {name: curve(sampler=name, **given)["series"][name] for name in slow}
    around = around | {"series": around["series"] | series}
    draw = figures()
    draw.write(path, lambda: draw.draw_plan(around, at=at, recommended=best))


@click.command("certify")
@sampler_option
@click.option("--n", type=int, help="Number of records (not needed under add-remove).")
@click.option("--k", type=int, required=True, help="Number of letters of the alphabet.")
@click.option("--epsilon", required=True, help="The claimed privacy parameter.")
@click.option("--as-printed", is_flag=True, help="ds-roo with the paper's own table, for study.")
@click.option("--draws", type=int, help="Records released jointly (roo, subrr).")
@click.option("--records-per-person", type=int, help="The most records of one person (roo).")
@neighbours_option
@click.option(
    "--enumerate",
    "enumerated",
    is_flag=True,
    help="Check all datasets one by one; small n and k only.",
)
@json_option
def certify_command(sampler: str, *, enumerated: bool, as_json: bool, **options: Any) -> int:
    """Certify a sampler's epsilon from its integer weights.

    Prints the largest ratio of probabilities over all neighbouring datasets, or a proven bound
    on it, with two neighbours and an output that reach it, or nearly. Exit code 0: epsilon
    holds; 5: it does not.

    \b
    Examples:
      dproo certify --sampler ls-roo --n 1000 --k 9 --epsilon 0.1
      dproo certify --sampler ds-roo --n 10001 --k 10000 --epsilon 0.01 --as-printed
    """
    chosen = {
        name: value for name, value in options.items() if value is not None and value is not False
    }
    certificate = certify(
        mechanism(sampler, **chosen), method="enumerate" if enumerated else "extremes"
    )
    code = 0 if certificate.holds else VIOLATION
    if as_json:
        print_json(certificate_object(certificate))
        return code
    law, witness = certificate.mechanism, certificate.witness
    verdict = "holds" if certificate.holds else "DOES NOT HOLD"
    echo(f"epsilon = {options['epsilon']} {verdict} for {law.name} ({law.neighbours})")
    if sampler == AUTO:
        n = law.n if law.neighbours == REPLACE else None
        chosen_for = {"epsilon": law.epsilon, "k": law.k, "n": n, "neighbours": law.neighbours}
        echo(f"auto         {choose(**chosen_for).reason}")
    found = law.ratio(witness)
    bound = "" if found == certificate.ratio else ", a proven bound"
    echo(f"worst loss   {certificate.epsilon:.12g}{bound}")
    ratio = Decimal(certificate.ratio.numerator) / Decimal(certificate.ratio.denominator)
    echo(f"worst ratio  {ratio:.12g}{bound}")  # at a large epsilon beyond every float
    if bound:
        echo(f"found        {log_float_upper(found):.12g}, the loss between these two:")
    echo(f"dataset      {_repeated(witness.before.runs)}")
    echo(f"neighbour    {_repeated(witness.after.runs)}")
    letters = Counter(letter + 1 for letter in witness.letters)  # people count from one
    echo(f"output       letter {_repeated(letters.items())}")
    return code


def _repeated(runs: Iterable[tuple[int, int]]) -> str:
    """Return numbers and how often each occurs in a row, as in ``98, 100, 99 x 997``."""
    return ", ".join(str(one) if times == 1 else f"{one} x {times}" for one, times in runs)


@click.command("compare")
@click.option("--n", type=int, required=True, help="Number of records.")
@click.option("--k", type=int, required=True, help="Number of letters of the alphabet.")
@click.option("--epsilon", required=True, help="Privacy parameter.")
@click.option(
    "--p",
    "guess",
    required=True,
    help=f"A public guess: {', '.join(SHAPES)}; or probabilities, such as 0.5,0.3,0.2.",
)
@click.option("--trials", type=int, help="Datasets to simulate where no exact method works.")
@json_option
def compare_command(*, guess: str, as_json: bool, **options: Any) -> None:
    """Compare the error of all samplers on one distribution.

    Smaller is better. No data is read: the distribution is a public guess, and must not come
    from the data.

    \b
    Examples:
      dproo compare --k 100 --n 1000 --epsilon 1 --p zipf
      dproo compare --k 3 --n 500 --epsilon 0.1 --p 0.5,0.3,0.2
    """
    from dproo.study.comparison import compare  # noqa: PLC0415 - NumPy is an extra

    p: Any = guess.split(",") if "," in guess else shape(guess, k=options["k"])
    measured = compare(p=p, **options)
    known = {name: options[name] for name in ("n", "k", "epsilon")}
    choice = choose(epsilon=parse_epsilon(known["epsilon"]), k=known["k"], n=known["n"])
    if as_json:
        rows = [
            {"sampler": name, "alpha": a.alpha, "low": a.low, "high": a.high, "method": a.method}
            for name, a in measured.items()
        ]
        recommended = {"sampler": choice.sampler, "reason": choice.reason}
        print_json({**known, "p": guess, "rows": rows, "recommended": recommended})
        return
    echo(f"{'sampler':<18} {'alpha':>9}  {'interval':^21}  method")
    for name, a in measured.items():
        between = f"{a.low:.6f} to {a.high:.6f}"
        echo(f"{name:<18} {a.alpha:>9.6f}  {between:^21}  {a.method}")
    echo("")
    echo(f"Recommended: {choice.sampler}, which auto takes. {choice.reason}")


@click.command("figures")
@click.option("--out", default="figures", show_default=True, help="Directory to write to.")
@click.option(
    "--trials",
    type=int,
    default=100_000,
    show_default=True,
    help="Datasets to simulate where no exact method works.",
)
def figures_command(out: str, trials: int) -> None:
    """Plot the paper's figures and ours, as PDF, PNG, SVG and CSV."""
    for path in figures().write_all(out, trials=trials):
        echo(path)


def print_open_plan(
    *, alphabet: str, as_json: bool, k: object, alpha: object, epsilon: str | None, **known: Any
) -> None:
    """Print the plan of an open alphabet in three sentences, or as JSON."""
    one_of("alphabet", alphabet, ["open"])
    if epsilon is None or k is not None or alpha is not None:
        raise ValueError("--alphabet open requires --epsilon and --delta, and no --k or --alpha.")
    answer = plan_open(epsilon=epsilon, **known)
    if as_json:
        numbers = {"epsilon": number(answer.epsilon), "obscured": number(answer.obscured)}
        print_json(vars(answer) | numbers | {"delta": decimal_text(answer.delta)})
        return
    echo(f"A value that fewer than {answer.first:,} records have never appears.")
    if answer.n is None or answer.proportional <= answer.n:
        echo(f"From {counted(answer.proportional, 'record')} on it is drawn in proportion to them.")
    if answer.obscured is not None:
        echo(f"'other' takes at least {percent_below(answer.obscured)} of every value's share.")


def print_row_plan(codebook: str, *, as_json: bool, **known: Any) -> None:
    """Print the plan of a row as a table, or as JSON."""
    answer = plan(codebook=codebook, **known)
    if as_json:
        print_json(row_plan_object(answer))
        return
    width = max(len("column"), *(len(step.column) for step in answer.columns))
    echo(f"{'column':<{width}} {'letters':>8} {'cells':>12} {'epsilon':>9} {'alpha':>7}  parents")
    for step in answer.columns:
        echo(
            f"{step.column:<{width}} {step.k:>8,} {step.cells:>12,} {float(step.epsilon):>9.4f}"
            f" {float(step.alpha):>7.4f}  {', '.join(step.parents)}"
        )
    echo("")
    for line in _sentences(answer):
        echo(line)


def _sentences(answer: RowPlan) -> list[str]:
    if answer.network_epsilon:
        first = (
            f"The network is learned privately for epsilon {float(answer.network_epsilon):g};"
            " the parents shown are the largest there could be."
        )
    else:
        first = "The network is the one that the code book declares."
    if answer.alpha is None:
        second = (
            "No bound on the whole row is known: the parents of a column are not all in one"
            " earlier family."
        )
    else:
        second = (
            f"At {counted(answer.n, 'record')}, at most {percent(answer.alpha)} of rows differ"
            " from rows drawn without privacy along the same dependencies."
        )
    if answer.is_hopeless:
        second += " That is hopeless: use more records, more epsilon, or fewer letters and parents."
    if answer.parents is None:
        third = "Not even independent columns stay within 10 %."
    else:
        third = f"Within 10 %, each column can have {counted(answer.parents, 'parent')}."
    fourth = (
        f"A private table ('dproo synthesize') serves any number of rows; its noise moves pairs of"
        f" columns by about {100 * answer.table:.1f} % in the mean, beside what its model leaves"
        " out."
    )
    if answer.table_from is not None:
        fourth += f" From {answer.table_from:,} rows for this epsilon on it is the better buy."
    return [first, second, third, fourth]


def print_releases(releases: int, delta: str, *, as_json: bool, **known: Any) -> None:
    """Print what releases cost together at epsilon each, and drawn jointly for one epsilon."""
    if None in (known["n"], known["k"], known["epsilon"]) or known["alpha"] is not None:
        raise ValueError("--releases requires --n, --k and --epsilon, and no --alpha.")
    sizes = {"n": known["n"], "k": known["k"]}
    epsilon = parse_epsilon(known["epsilon"])
    costs = [
        compose(sampler(epsilon=epsilon, **sizes), releases=releases, delta=delta)
        for sampler in SAMPLERS.values()
    ]
    ways = [way for cost in costs for way in (cost.basic, cost.composed)]
    rows: list[dict[str, Any]] = [
        {
            "sampler": way.sampler.name,
            "way": way.name,
            "epsilon": float_upper(way.epsilon),
            "delta": float_upper(way.delta),
            "alpha": float(way.alpha),
        }
        for way in (*ways, costs[0].joint)
    ]
    if as_json:
        print_json({"releases": releases, "delta": delta, **sizes, "ways": rows})
        return
    if parse_delta(delta) * known["n"] >= 1:
        echo("Note: a delta of 1/n or more allows someone's record to be shown.", err=True)
    echo(f"{releases:,} releases, epsilon {known['epsilon']} each, or for all drawn jointly:")
    echo(f"  {'sampler':<9}{'way':<9}{'epsilon':>14}{'delta':>9}{'alpha at worst':>16}")
    for row in rows:
        echo(
            f"  {row['sampler']:<9}{row['way']:<9}{row['epsilon']:>14.9g}"
            f"{row['delta']:>9.3g}{row['alpha']:>16.6g}"
        )
    echo("For many rows, a private table is the better buy: dproo plan --codebook.", err=True)
