"""Code books as the page builds them: the columns of the data, a preview, a plan, a check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dproo.analysis.row_plan import RowPlan, plan_row
from dproo.codebooks.draft import PROFILE, draft_codebook
from dproo.codebooks.overview import line_of
from dproo.core.checks import refusal, whole
from dproo.core.numbers import percent
from dproo.mechanisms import REPLACE
from dproo.mechanisms.network import Network
from dproo.releases.assurance import POOR, epsilon_warnings
from dproo.releases.dataset import Dataset
from dproo.report import row_plan_object
from dproo.schema.axis import PeriodRange
from dproo.schema.codebook import CodeBook
from dproo.web.folder import Folder
from dproo.web.source import FIELDS, Source, texts_of

_TEXT_FILES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".csv.zst", ".tsv.zst")
_MOST_FIELDS = 1000
_MOST_DAYS = 10**6

Fields = Mapping[str, Any]


def columns(form: Fields, folder: Folder) -> dict[str, Any]:
    """Return the columns of the data by header and schema: names, types, enumerations.

    No record is read, and no cell of one is in the answer.
    """
    source = Source.of(texts_of(form, FIELDS), folder)
    draft = draft_codebook(
        source.data,
        table=source.table,
        delimiter=source.layout.delimiter,
        encoding=source.layout.encoding,
    )
    listed = [
        {
            "name": field["name"],
            "type": field["type"],
            "values": found if isinstance(found := field.get("categories"), list) else [],
        }
        for field in draft["schema"]["fields"]
    ]
    is_text = source.name.lower().endswith(_TEXT_FILES)
    return {
        "from": "header" if is_text else "schema",
        "columns": listed,
        "notes": draft["draft"][2:],
        "dataset": source.dataset,
        "codebook": {key: draft[key] for key in draft if key not in {"draft", "schema"}},
    }


def preview(form: Fields) -> dict[str, Any]:
    """Return how many values each column of a code book has, the first of them, or what is wrong.

    A code book that is being written is mostly wrong: what is wrong is an answer, not a refusal.
    """
    descriptor = _confirmed(form)
    lines = [_line(descriptor, field) for field in descriptor["schema"]["fields"]]
    is_clean = not any(line["error"] for line in lines)
    wrong = ""
    if is_clean:
        try:
            found = book_of(descriptor)
            Network.wired("auto", found.parents, found.sizes)
        except (TypeError, ValueError) as error:
            wrong = str(error)
    return {
        "columns": lines,
        "error": wrong,
        "is_complete": is_clean and not wrong,
        "codebook": {"$schema": PROFILE, **descriptor},
    }


def _line(descriptor: dict[str, Any], field: dict[str, Any]) -> dict[str, Any]:
    """Return how many values one column has, the first of them, and what any other cell is."""
    schema = {**descriptor["schema"], "fields": [{**field, "parents": []}]}
    try:
        (found,) = CodeBook.of({**descriptor, "schema": schema}).fields
    except (TypeError, ValueError) as error:
        wrong = str(error).removeprefix("schema.fields[0]").lstrip(".: ")
        return {"column": field.get("name"), "k": None, "values": "", "rest": "", "error": wrong}
    rest = f"anything else is “{found.other}”"
    if found.outside is not None:
        rest = f"anything else counts as {found[found.outside]}"
    line = line_of(found)
    return {"column": line.column, "k": line.k, "values": line.shown, "rest": rest, "error": ""}


def book_of(descriptor: dict[str, Any]) -> CodeBook:
    """Return a code book whose days can be listed in a moment, as a release does.

    Raises:
        ValueError: it is none, or its columns have too many days.
    """
    book = CodeBook.of(descriptor)
    days = sum(field.axis.listed for field in book.fields if isinstance(field.axis, PeriodRange))
    if days > _MOST_DAYS:
        raise ValueError(
            f"columns of days must have at most {_MOST_DAYS:,} together, got {days:,}."
            " Give months or years instead."
        )
    return book


def row_plan(form: Fields) -> dict[str, Any]:
    """Return what a row costs, column by column, and how far it can be from the data."""
    if set(form) - {"codebook", "n", "epsilon", "network", "neighbours"}:
        raise ValueError("request must be an object of codebook, n, epsilon, network, neighbours.")
    n = form.get("n")
    if not (isinstance(n, str) and n.isascii() and n.isdigit() and len(n) <= 15):
        raise ValueError(refusal("n", "be an integer", n))
    answer = plan_row(
        book_of(_confirmed(form)),
        n=whole("n", int(n), at_least=1),
        epsilon=form.get("epsilon", ""),
        network=form.get("network") or "auto",
        neighbours=form.get("neighbours") or REPLACE,
        is_searched=False,
    )
    warnings = epsilon_warnings(answer.epsilon)
    if answer.alpha is None or answer.alpha > POOR:
        warnings.append("The row may be poor: use more records, a larger ε, or fewer values.")
    told = {"sentence": _sentence(answer, form), "limits": _limits(answer), "warnings": warnings}
    shown = row_plan_object(answer) | told
    del shown["parents"]  # not searched for
    return shown


def _sentence(answer: RowPlan, form: Fields) -> str:
    """Return how far a row can be from one that is drawn without privacy, by the same network."""
    given = f"With {answer.n:,} records at ε = {form['epsilon']},"
    if answer.alpha is None:
        return (
            f"{given} no bound is known: a column depends on several columns that do not depend"
            " on each other."
        )
    exact = "rows drawn without privacy, with the same dependencies"
    if len(answer.columns) == 1:
        exact = "a random record's"
    return f"{given} at most {percent(answer.alpha)} of rows differ from {exact}."


def _limits(answer: RowPlan) -> str:
    """Return what the bound leaves out: how far the network itself is from the data."""
    if len(answer.columns) == 1:
        return ""
    said = "learned" if answer.network_epsilon else "declared"
    return f"Dependencies that are not {said} are lost; that is not counted here."


def fits(form: Fields, folder: Folder) -> dict[str, Any]:
    """Return what a release would refuse or doubt, by header and schema; no record is read."""
    texts = texts_of(form, FIELDS, besides=("codebook",))
    source = Source.of(texts, folder)
    found = Dataset(source=source.records).check(book_of(_confirmed(form)))
    return {
        "holds": found.holds,
        "refusals": list(found.refusals),
        "warnings": list(found.warnings),
    }


def descriptor_of(form: Fields) -> dict[str, Any]:
    """Return the descriptor of a code book, as far as it has the form of one.

    Raises:
        ValueError: it has not, or it would take long to read.
    """
    book = form.get("codebook")
    schema = book.get("schema") if isinstance(book, dict) else None
    fields = schema.get("fields") if isinstance(schema, dict) else None
    is_list = isinstance(fields, list) and all(isinstance(field, dict) for field in fields)
    if not isinstance(book, dict) or not isinstance(fields, list) or not is_list:
        raise ValueError("codebook must be an object with schema.fields, a list of columns.")
    if len(fields) > _MOST_FIELDS:
        raise ValueError(f"codebook must have at most {_MOST_FIELDS} columns.")
    return book


def _confirmed(form: Fields) -> dict[str, Any]:
    """Return a descriptor without its mark as a draft: who sends it has it before their eyes."""
    return {key: value for key, value in descriptor_of(form).items() if key != "draft"}
