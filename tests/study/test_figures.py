"""The figures: written in every format, and their numbers are the formulas' numbers."""

from __future__ import annotations

import csv
from itertools import islice
from math import exp, expm1

import numpy as np
import pytest
from click.testing import CliRunner
from support.draws import DICE, SOAK, some

import dproo
from dproo.cli.commands import cli, run
from dproo.mechanisms import SAMPLERS
from dproo.study import figures
from dproo.study.distributions import shape

NAMES = (
    "figure1_obscuring",
    "figure2_output",
    "figure3_accuracy",
    "figure4_records",
    "figure5_sparse",
)
START = {"pdf": b"%PDF", "png": b"\x89PNG", "svg": b"<?xml"}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    out = tmp_path_factory.mktemp("figures")
    result = CliRunner().invoke(cli, ["figures", "--out", str(out), "--trials", "4000"])
    assert result.exit_code == 0, result.output
    assert len(result.output.split()) == 20
    return out


@pytest.mark.one_of(3)
def test_a_figure_drawn_again_is_the_same_file(drawn, tmp_path):
    again = list(islice(figures.write_all(tmp_path, trials=4000), None if SOAK else 4))
    assert len(again) == (20 if SOAK else 4)
    for path in again:
        assert path.read_bytes() == (drawn / path.name).read_bytes(), path.name


def rows_of(drawn, name):
    with (drawn / f"{name}.csv").open(encoding="utf-8") as file:
        return [
            {key: value if key == "epsilon" else float(value) for key, value in row.items()}
            for row in csv.DictReader(file)
        ]


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_is_written_in_every_format(drawn, name):
    for suffix, start in START.items():
        content = (drawn / f"{name}.{suffix}").read_bytes()
        assert content.startswith(start)
        assert len(content) > 10_000
    assert len(rows_of(drawn, name)) >= 9


@pytest.mark.one_of(3)
@pytest.mark.parametrize(
    ("known", "solved_for"),
    some(
        [
            ({"n": 1000, "k": 9, "epsilon": "0.1"}, "alpha"),
            ({"n": 1000, "k": 9, "alpha": "1/20"}, "alpha"),
            ({"k": 9, "epsilon": "1/10", "alpha": "0.05"}, "n"),
            ({"n": 1000, "epsilon": "1", "alpha": "0.05"}, "k"),
        ],
        one_of=4,
    ),
)
def test_a_plan_is_drawn_with_all_samplers_in_one_legend(tmp_path, monkeypatch, known, solved_for):
    """Every sampler has a line, the recommended one is called so, and the plan is on its line."""
    seen = []
    draw = figures.draw_plan

    def drawn(*arguments, **options):
        seen.append(draw(*arguments, **options))
        return seen[0]

    monkeypatch.setattr(figures, "draw_plan", drawn)
    out = tmp_path / f"plan.{DICE.choice(list(START))}"
    given = [part for name, value in known.items() for part in (f"--{name}", str(value))]
    result = CliRunner().invoke(cli, ["plan", *given, "--plot", str(out)])
    assert result.exit_code == 0, result.output
    assert out.read_bytes().startswith(START[out.suffix[1:]])
    (axes,) = seen[0].axes
    lines = {line.get_label(): line for line in axes.lines}
    best = dproo.plan(**known).recommended.sampler
    named = [label for label in lines if "recommended" in label]
    assert [label.split(",")[0].lower() for label in named] == [best]
    assert len(lines) == len(SAMPLERS) + 2
    (x,), (y,) = lines["your plan"].get_data()
    line = lines[named[0]]
    answer = np.exp(np.interp(np.log(x), np.log(line.get_xdata()), np.log(line.get_ydata())))
    assert y == pytest.approx(answer, rel=0.1)
    assert axes.get_ylabel() == figures._ANSWERS[solved_for]


def test_a_model_s_columns_are_drawn_with_their_counts(tmp_path):
    letters = [f"w{i}" for i in range(20)]
    rows = [{"ward": DICE.choice(letters), "$sex": DICE.choice("mf")} for _ in range(500)]
    fields = [
        {"name": "ward", "type": "string", "categories": letters},
        {"name": "$sex", "type": "string", "categories": ["m", "f"]},
    ]
    model = dproo.open(rows).synthesize({"schema": {"fields": fields}}, epsilon=1)
    model.save(tmp_path / "m.json")
    out = tmp_path / f"columns.{DICE.choice(list(START))}"
    result = CliRunner().invoke(cli, ["rows", str(tmp_path / "m.json"), "--plot", str(out)])
    assert (result.exit_code, result.output) == (0, "")
    assert out.read_bytes().startswith(START[out.suffix[1:]])
    figure = figures.draw_columns({name: model.counts(name) for name in model.names})
    ward, sex = figure.axes[:2]
    counts = [row["count"] for row in model.counts("ward")]
    assert sum(bar.get_width() for bar in ward.patches) == pytest.approx(sum(counts))
    assert ward.get_yticklabels()[-1].get_text() == "9 more"
    assert [text.get_text() for text in sex.get_yticklabels()] == ["m", "f", "other"]


def test_a_picture_that_cannot_be_drawn_is_refused(tmp_path, capsys):
    command = ["plan", "--n", "9", "--k", "3", "--epsilon", "1"]
    (tmp_path / "old.png").write_text("")
    for plot, told in (
        (tmp_path / "old.png", "plot must be a new file"),
        (tmp_path / "no" / "a.png", "plot must be a new file"),
        (tmp_path / "a.gif", "must be one of .pdf, .png, .svg"),
    ):
        assert run([*command, "--plot", str(plot)]) == 2
        assert told in capsys.readouterr().err
    assert run([*command, "--releases", "3", "--plot", str(tmp_path / "a.png")]) == 2
    assert "--plot cannot be used with --releases" in capsys.readouterr().err


def printed_table(epsilon, n, k):
    """Return the table of Algorithm 2, to the letter, in floats."""
    growth = exp(epsilon)
    q = [1 / (1 + n / k * (growth - 1))]
    for m in range(1, n // k + 1):
        u = -m / n + 1 / k - 1 / n
        v = growth * (1 / k - m / n)
        w = -1 / n - m / n + m / n * growth
        q.append(max(0.0, u / v * q[-1] - w / v) if m * k < n else q[-1])
    return q


def test_figure_1_agrees_with_the_formulas(drawn):
    rows = rows_of(drawn, NAMES[0])
    for epsilon, n, k in [*((e, 1000, 9) for e in figures.EPSILONS), figures.LEAK]:
        table = printed_table(float(epsilon), n, k)
        line = [row for row in rows if row["epsilon"] == epsilon and row["k"] == k]
        assert [row["m"] for row in line] == list(range(n // k + 1))
        assert [row["printed"] for row in line] == pytest.approx(table, abs=1e-9)
        assert all(row["private"] >= row["printed"] - 1e-15 for row in line)
    assert max(row["private"] - row["printed"] for row in rows) > 0.1


def exact_alpha_of_ds_roo(epsilon, n, p):
    """Return the accuracy by convolving binomial weights letter by letter, without transforms."""
    sampler = dproo.mechanism("ds-roo", epsilon=epsilon, n=n, k=len(p))
    entries = len(sampler.table) + 1
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])

    def chance(records, least):
        row = np.zeros(records + 1)
        row[0] = 1.0
        for share, m in zip(p, least, strict=True):
            c = np.arange(records + 1)
            factor = np.exp(c * np.log(records * share) - records * share - logs[c])
            factor[:m] = 0
            row = np.convolve(row, factor)[: records + 1]
        return row[records] / np.exp(records * np.log(records) - records - logs[records])

    def expected_q(records, marked):
        chances = [
            chance(records, [max(0, m - (x == marked)) for x in range(len(p))])
            for m in range(entries)
        ]
        q = [float(sampler.q(m)) for m in range(entries)]
        return q[0] - sum((q[m - 1] - q[m]) * chances[m] for m in range(1, entries))

    obscured = expected_q(n, None)
    output = [obscured / len(p) + share * (1 - expected_q(n - 1, y)) for y, share in enumerate(p)]
    assert sum(output) == pytest.approx(1, abs=1e-10)
    return sum(abs(q - share) for q, share in zip(output, p, strict=True)) / 2


@pytest.mark.one_of(3)
def test_figure_3_agrees_with_the_formulas_and_ds_roo_is_exact(drawn):
    p = [float(share) for share in shape("binomial", k=9).shares]
    distance = sum(abs(share - 1 / 9) for share in p) / 2
    for row in rows_of(drawn, NAMES[2]):
        epsilon = float(row["epsilon"])
        q = 1 / (1 + 1000 / 9 * expm1(epsilon))
        assert row["laplace bound"] == pytest.approx(2 * 9 / (1000 * epsilon), abs=1e-9)
        assert row["roo bound"] == pytest.approx(q * 8 / 9, abs=1e-9)
        assert row["roo"] == pytest.approx(q * distance, abs=1e-9)
        if row["epsilon"] in {"0.1", "0.5", "2"}:
            truth = exact_alpha_of_ds_roo(row["epsilon"], 1000, p)
            assert row["ds-roo"] == pytest.approx(truth, abs=1e-9)
        for kind in ("clip", "euclidean"):
            assert row[f"laplace {kind} low"] <= row[f"laplace {kind} high"] < row["laplace bound"]


def test_figure_2_shows_distributions_and_less_skew(drawn):
    rows = rows_of(drawn, NAMES[1])
    for name in ("true", "roo", "ds-roo", "ls-roo"):
        assert sum(row[name] for row in rows) == pytest.approx(1, abs=1e-9)
    middle, edge = rows[4], rows[0]
    assert middle["roo"] < middle["ds-roo"] < middle["ls-roo"] < middle["true"]
    assert edge["roo"] > edge["ds-roo"] > edge["ls-roo"] > edge["true"]


def test_figure_4_is_the_least_number_of_records_that_is_enough(drawn):
    for row in rows_of(drawn, NAMES[3]):
        epsilon = row["epsilon"]
        for name in ("roo", "ls-roo", "subrr"):
            n = int(row[name])
            enough, few = (
                dproo.mechanism(name, epsilon=epsilon, n=records, k=9).worst_alpha
                for records in (n, n - 1)
            )
            assert enough <= dproo.core.numbers.rational("alpha", figures.ALPHA) < few


def test_figure_5_shows_the_balanced_sampler_below_all_others_from_sparse_to_half_full(drawn):
    for row in rows_of(drawn, "figure5_sparse"):
        assert row["bal-roo low"] <= row["bal-roo"] <= row["bal-roo high"]
        if row["letters"] <= 50:
            others = ("laplace clip low", "laplace euclidean low", "roo", "ls-roo")
            assert row["bal-roo high"] < min(row[name] for name in others)
        assert row["bal-roo low"] < 1.1 * row["ls-roo"]
