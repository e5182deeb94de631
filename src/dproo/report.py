"""Results and refusals as objects, shared by the command line and the page."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from dproo.analysis.certificate import Certificate
from dproo.analysis.planner import Plan, plan, planned
from dproo.analysis.row_plan import RowPlan
from dproo.core.checks import one_of, refusal
from dproo.core.numbers import counted, fraction_text, parse_epsilon
from dproo.errors import (
    BudgetRefused,
    ChargedError,
    LedgerError,
    OutputError,
    ReleaseError,
    RuleRefused,
    Stopped,
)
from dproo.mechanisms import Mechanism
from dproo.receipt import SCHEMA_VERSION
from dproo.schema.reading import UNTYPED

if TYPE_CHECKING:
    from dproo.ledger import Account, Line


BUG, USAGE, REFUSED, FAILED, VIOLATION = 1, 2, 3, 4, 5
"""The exit codes: a bug, or a full disk; a wrong argument; too little budget; a failure after the
charge; epsilon does not hold."""


def versioned(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with the version of their layout."""
    return {"schema_version": SCHEMA_VERSION, **fields}


_WORD = r"(?<![^\s(]){}(?![\w/=-])"  # a path may hold the same text, as Hive names its folders
_READ_AS = re.compile(_WORD.format(r"\.read_as\('(\w+)'((?:, \w+='[^']*')*)\)"))
_NAMES = "column|dataset|delimiter|encoding|format|skip_rows|table|unit"
_ARGUMENT = re.compile(_WORD.format(rf"({_NAMES})=('[^']*'|\w*)"))
_CALLED = {repr(blank)[1:-1]: name for name, blank in UNTYPED.items()}
_PHRASES = {
    "read_as": "--as",
    "has_header=False": "--no-header",
    "skip_rows and comment": "--skip-rows and --comment",
    "ledger=None": "--no-ledger",
    "dproo.open(DATA).columns": "dproo codebook draft DATA",
    "dproo.draft_codebook(DATA)": "dproo codebook draft DATA",
}


def as_options(sentence: str) -> str:
    """Return a sentence with its Python arguments replaced by options of the command line.

    >>> as_options("Add delimiter=';', or .read_as('date', format='DD.MM.YYYY').")
    "Add --delimiter ';', or --as date:DD.MM.YYYY."
    >>> as_options("Add .read_as('number', thousands=','), or has_header=False.")
    "Add --thousands ',', or --no-header."
    >>> as_options("data must be a readable file, got '/visits/table=3/unit=icu/read_as.csv'.")
    "data must be a readable file, got '/visits/table=3/unit=icu/read_as.csv'."
    """
    sentence = _READ_AS.sub(_reading_option, sentence)
    sentence = _ARGUMENT.sub(lambda match: _option(match[1], match[2].strip("'")), sentence)
    for python, option in _PHRASES.items():
        sentence = re.sub(_WORD.format(re.escape(python)), option, sentence)
    return sentence


def _reading_option(match: re.Match[str]) -> str:
    signs = dict(re.findall(r"(\w+)='([^']*)'", match[2]))
    form = signs.pop("format", "")
    if signs:
        return " ".join(_option(name, sign) for name, sign in signs.items())
    return _option("as", f"{match[1]}:{form}" if form else match[1])


def _option(name: str, value: str) -> str:
    value = _CALLED.get(value, value)
    is_plain = re.fullmatch(r"[\w.:/@-]*", value)
    shown = value if is_plain else repr(value)
    return f"--{name.replace('_', '-')} {shown}".rstrip()


_UNWRITABLE = {errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC)}


def verdict(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the one sentence for an error.

    >>> verdict(ValueError("k must be at least 2, got 1."))
    (2, 'k must be at least 2, got 1.')
    """
    from dproo.counting.boundary import interrupt_in  # noqa: PLC0415 - loaded only after an error

    if (stopped := _stopped(error)) is not None:
        return FAILED, stopped
    if isinstance(error, BudgetRefused | RuleRefused):
        return REFUSED, f"{error} Nothing was read or charged."
    if isinstance(error, ReleaseError | ChargedError):
        return FAILED, str(error)
    if isinstance(error, ImportError):  # after a charge it is a ReleaseError
        name = (error.name or "a library").partition(".")[0]
        error = ValueError(f"{name} cannot be loaded; install it again. Nothing was read.")
    if isinstance(error, TypeError | ValueError | LedgerError):
        return USAGE, as_options(str(error))
    if interrupt_in(error) is KeyboardInterrupt:
        return USAGE, "stopped; nothing was charged."
    return BUG, _fault(error)


def _fault(error: BaseException) -> str:
    if isinstance(error, OutputError):
        return str(error)
    if isinstance(error, OSError) and error.errno in _UNWRITABLE:
        return f"the output cannot be written: {os.strerror(error.errno or 0)}."
    return "this is a bug in dproo; details are withheld because they could reveal data."


Fields = Mapping[str, Any]
Action = Callable[[Fields], dict[str, Any]]

STATUS = {USAGE: 400, REFUSED: 409, FAILED: 500, BUG: 500}
"""The HTTP status of each exit code."""


class Verdict(Exception):  # noqa: N818 - the exit code tells which error it is
    """An exit code and its sentence, from another process."""


def answered(action: Action, sent: Fields | bytes) -> tuple[int, str]:
    """Return the status and the JSON of an action's answer to a request.

    A refusal is the sentence that the command line would print. The JSON is ASCII, so that a
    file's name that is not Unicode survives unchanged.
    """
    try:
        fields = object_of(sent) if isinstance(sent, bytes) else sent
        return 200, json_text(versioned(action(fields)))
    except Exception as error:  # noqa: BLE001 - as on the command line
        code, sentence = error.args if isinstance(error, Verdict) else verdict(error)
        return STATUS[code], json_text({"error": sentence, "exit_code": code})


def json_text(content: Mapping[str, Any]) -> str:
    """Return the JSON of an object, in ASCII."""
    return json.dumps(content, allow_nan=False, separators=(",", ":"))


def object_of(body: bytes) -> Fields:
    """Return the JSON object in a body.

    Raises:
        TypeError, ValueError: it is not one.
    """
    try:
        fields = json.loads(body, parse_constant=int)  # which refuses NaN and infinities
    except (ValueError, RecursionError):
        raise ValueError("the body must be JSON.") from None
    if not isinstance(fields, dict):
        raise TypeError("the body must be a JSON object.")
    return fields


def _stopped(error: BaseException | None) -> str | None:
    """Return the message of a release that was stopped after its charge.

    A second Ctrl-C interrupts the first, which is then its context.
    """
    while error is not None:
        if isinstance(error, Stopped):
            return str(error)
        if isinstance(error, SystemExit) and getattr(error, "__notes__", None):
            return str(error.__notes__[0])
        error = error.__cause__ or error.__context__
    return None


def plan_object(answer: Plan, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return every sampler's answer to the question that ``given`` poses."""
    rows = [
        {
            "sampler": row.sampler,
            answer.solved_for: number(answer[row.sampler]),
            "times_limit": number(answer.times_limit(row.sampler)),
            "basis": row.basis,
            "reason": row.reason,
        }
        for row in answer.rows
    ]
    known = {name: value for name, value in given.items() if value is not None}
    return {
        "solved_for": answer.solved_for,
        "given": known,
        "rows": rows,
        "limit": number(answer.limit),
    }


_PER_DECADE = 8
_LOW, _HIGH = -2, 1
_LOWEST, _HIGHEST = -4, 2


def curve(
    *, epsilon: str, sampler: str | None = None, decade: str | None = None, **known: Any
) -> dict[str, Any]:
    """Return every sampler's answer for epsilons around the given one, evenly on a log scale.

    Args:
        epsilon: an epsilon that the range must include.
        sampler: the sampler; by default all that have a closed form, as a curve has many
            points.
        decade: the power of ten at which the part to compute begins; by default the whole
            range. A sampler without a closed form takes a while for each point.
        known: two of n, k and alpha; the other one is solved for.

    >>> answers = curve(epsilon="0.1", n=1000, k=9)
    >>> answers["solved_for"], answers["epsilon"][0], answers["epsilon"][-1]
    ('alpha', 0.01, 10.0)
    """
    decades = log10(parse_epsilon(epsilon))
    if not _LOWEST <= decades <= _HIGHEST:
        raise ValueError(refusal("epsilon", "be between 0.0001 and 100 for a chart", epsilon))
    low, high = min(_LOW, floor(decades)), max(_HIGH, ceil(decades))
    if decade is not None:
        low = int(one_of("decade", decade, map(str, range(low, high))))
        high = low + 1
    chosen = () if sampler is None else (one_of("sampler", sampler, planned()),)
    return _curve(low, high, chosen, tuple(sorted(known.items())))


@lru_cache(maxsize=64)
def _curve(
    low: int, high: int, chosen: tuple[str, ...], known: tuple[tuple[str, Any], ...]
) -> dict[str, Any]:
    steps = range(low * _PER_DECADE, high * _PER_DECADE + 1)
    epsilons = [Fraction(f"{10 ** (step / _PER_DECADE):.3g}") for step in steps]
    given = dict(known)
    samplers = chosen or planned(is_closed_form=True)
    answers = [
        plan_object(plan(epsilon=epsilon, samplers=samplers, **given), given)
        for epsilon in epsilons
    ]
    solved_for = answers[0]["solved_for"]
    shown = [row["sampler"] for row in answers[0]["rows"]]
    return {
        "solved_for": solved_for,
        "given": answers[0]["given"],
        "epsilon": [float(epsilon) for epsilon in epsilons],
        "series": {
            sampler: [answer["rows"][i][solved_for] for answer in answers]
            for i, sampler in enumerate(shown)
        },
        "limit": [answer["limit"] for answer in answers],
    }


def advised_object(answer: Plan, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plan, how near it is to the limit, and the sampler that ``"auto"`` uses."""
    choice = answer.recommended
    recommended = choice and {"sampler": choice.sampler, "reason": choice.reason}
    return plan_object(answer, given) | {
        "sentence": limit_sentence(answer),
        "recommended": recommended,
    }


def limit_sentence(answer: Plan) -> str:
    """Return how the best sampler compares with the limit for all private samplers.

    >>> from dproo.analysis.planner import plan
    >>> limit_sentence(plan(n=1000, k=9, epsilon="0.1"))
    'bal-roo: at most 1.3 times the best that any private sampler could do (alpha 0.0132).'
    """
    choice = answer.recommended
    answered = {row.sampler for row in answer.rows if answer[row.sampler] is not None}
    best = choice.sampler if choice and choice.sampler in answered else answer.best
    times = best and answer.times_limit(best)
    if not times or answer.limit is None:
        return ""
    if answer.solved_for == "k":
        more = f"no private sampler could take more than {_factor(times)} as many letters"
        return f"{best}: {more} ({answer.limit:,})."
    what = f"{answer.solved_for} {float(answer.limit):.3g}"
    if isinstance(answer.limit, int):
        what = counted(answer.limit, "record")
    return f"{best}: at most {_factor(times)} the best that any private sampler could do ({what})."


def _factor(times: Fraction) -> str:
    """Return "2.2 times", rounded up."""
    return f"{ceil(times * 10) / 10} times" if times < 10 else f"{ceil(times):,} times"


def row_plan_object(answer: RowPlan) -> dict[str, Any]:
    """Return what a row costs, column by column, and how far it can be from the data."""
    return {
        "n": answer.n,
        "epsilon": number(answer.epsilon),
        "network": answer.network,
        "network_epsilon": number(answer.network_epsilon),
        "alpha": number(answer.alpha),
        "is_hopeless": answer.is_hopeless,
        "parents": answer.parents,
        "table": round(answer.table, 4),
        "table_from": answer.table_from,
        "columns": [
            vars(step) | {"epsilon": number(step.epsilon), "alpha": number(step.alpha)}
            for step in answer.columns
        ],
    }


def certificate_object(certificate: Certificate) -> dict[str, Any]:
    """Return the worst ratio of a sampler and the neighbours that reach it."""
    law, witness = certificate.mechanism, certificate.witness
    return {
        "sampler": law.name,
        "is_for_release": law.is_for_release,
        "claimed_epsilon": str(law.epsilon),
        "neighbours": law.neighbours,
        "n": law.n,
        "k": law.k,
        "method": certificate.method,
        "holds": certificate.holds,
        "epsilon": certificate.epsilon,
        "ratio": fraction_text(certificate.ratio),
        "witness": {
            "before": [list(run) for run in witness.before.runs],
            "after": [list(run) for run in witness.after.runs],
            "letters": list(witness.letters),
        },
    }


def accounts_object(accounts: Iterable[Account]) -> dict[str, Any]:
    """Return every budget, what is spent and what is left."""
    return {"datasets": [_account(account) for account in accounts]}


def _account(account: Account) -> dict[str, object]:
    from dproo.ledger import in_delta, in_epsilon  # noqa: PLC0415 - loaded with the account

    return {
        "dataset": account.dataset,
        "neighbours": account.neighbours,
        "records_per_person": account.records_per_person,
        "unit": account.unit,
        "budget": in_epsilon(account.budget),
        "spent": in_epsilon(account.spent),
        "left": in_epsilon(account.left),
        "delta": in_delta(account.delta),
        "delta_left": in_delta(account.delta_left),
        "limits": account.limits.declared,
        "problem": account.problem,
        "entries": [
            {
                "entry": line.entry,
                "at": line.at,
                "charge": in_epsilon(line.charge),
                "delta": in_delta(line.delta),
                "is_recorded": line.is_recorded,
                "is_restored": line.is_restored,
                "spender": line.spender,
                "problem": line.problem,
                "request": line.request,
                **released_object(line),
            }
            for line in account.lines
        ],
    }


def released_object(line: Line) -> dict[str, Any]:
    """Return what one charge released: its values, purpose, author and accuracy."""
    receipt = line.receipt
    return {
        "columns": line.request.get("columns", []),
        "purpose": line.request.get("purpose"),
        "operator": line.request.get("operator"),
        "values": receipt.get("values", []),
        "rows": receipt.get("rows"),
        "sampler": receipt.get("sampler", line.request.get("sampler")),
        "accuracy": receipt.get("accuracy"),
        "codebook_sha256": receipt.get("codebook_sha256"),
        "alphabet_sha256": receipt.get("alphabet_sha256"),
    }


def released_text(line: Line, *, most: int | None = None) -> str:
    """Return the released values in one line, at most ``most`` of them.

    >>> from dproo.ledger import Line
    >>> facts = {"entry": 2, "charge": 1, "at": "", "is_recorded": True, "request": {}}
    >>> receipt = {"values": ["flu", {"sex": "F", "age": 4}, "flu"]}
    >>> released_text(Line(**facts, receipt=receipt), most=2)
    'flu | sex=F, age=4 | ... (3 in all)'
    >>> released_text(Line(**facts, receipt={"values": [["flu", 3], ["cold", 1]], "rows": 4}))
    'flu x 3 | cold x 1'
    """
    if isinstance(model := line.receipt.get("model"), dict):
        return f"a model, sha256 {str(model.get('sha256'))[:16]}"
    values = line.receipt.get("values", [])
    values = values if isinstance(values, list) else [values]
    columns = line.request.get("columns", [])
    texts = [_value_text(value, columns) for value in values[:most]]
    cut = [f"... ({len(values):,} in all)"] if most is not None and len(values) > most else []
    return " | ".join([*texts, *cut])


def _value_text(value: Any, columns: Sequence[str]) -> str:
    match value:
        case dict():
            order = [*(name for name in columns if name in value), *value]
            return ", ".join(f"{name}={value[name]}" for name in dict.fromkeys(order))
        case [of, int(times)]:
            return f"{_value_text(of, columns)} x {times}"
    return str(value)


def law_object(law: Mechanism, counts: Sequence[int]) -> dict[str, Any]:
    """Return a sampler's integer weights on public counts, and the resulting law.

    >>> from dproo.mechanisms import mechanism
    >>> law = law_object(mechanism("roo", epsilon="1", n=4, k=2), [3, 1])
    >>> [round(p, 3) for p in law["pmf"]], round(law["distance"], 3)
    ([0.694, 0.306], 0.056)
    """
    weights = law.weights(law.checked(counts))
    shares = [Fraction(weight, weights.total) for weight in weights]
    distance = sum(abs(p - Fraction(c, law.n)) for p, c in zip(shares, counts, strict=True))
    return {
        "sampler": law.name,
        "weights": [str(weight) for weight in weights],
        "total": str(weights.total),
        "pmf": [float(p) for p in shares],
        "distance": float(Fraction(distance) / 2),
    }


def number(value: int | Fraction | None) -> int | float | None:
    """Return a number that JSON can hold, or None if it exceeds every float.

    >>> number(Fraction(1, 4)), number(Fraction(10) ** 400)
    (0.25, None)
    """
    if not isinstance(value, Fraction):
        return value
    try:
        return float(value)
    except OverflowError:
        return None
