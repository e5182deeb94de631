"""A draft of a code book from what people have; none feeds a release by itself."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from dproo.codebooks.draft import FILL_IN, PROFILE, REMOVE, draft_codebook
from dproo.codebooks.public_tables import EXCEL, read_rows
from dproo.codebooks.redcap import fields_of_dictionary, is_dictionary
from dproo.codebooks.statistics_files import with_labels
from dproo.core.checks import one_of, refusal
from dproo.counting.sources.rows.statistics import SPSS, STATA
from dproo.schema.lookup import LEADING_ZEROS, fields_of_lookup

_TABLES = (".csv", ".tsv", ".txt", *EXCEL)


def import_codebook(path: str | os.PathLike[str], *, column: str | None = None) -> dict[str, Any]:
    """Draft a code book from one in another form; a person completes and confirms it.

    Args:
        path: a lookup table (CSV or Excel: value and label; or column, value and label), a data
            dictionary of REDCap (CSV), or an SPSS or Stata file (only its header is read).
        column: the column that a lookup table lists the values of.

    Raises:
        ValueError: it is of no such form, or cannot be read.
    """
    name = os.fspath(path)
    suffix = Path(name).suffix.lower()
    one_of("the end of the file's name", suffix, (*_TABLES, *SPSS, *STATA))
    if column is not None and suffix not in _TABLES:
        raise ValueError(refusal("column", "be given with a lookup table only", column))
    if suffix in (*SPSS, *STATA):
        return with_labels(draft_codebook(name), name, suffix)
    notes: list[str] = []
    rows = read_rows(name)
    if is_dictionary(rows[0]) and column is None:
        fields, left_out = fields_of_dictionary(rows)
        if left_out:
            notes = [f"Left out, as identifiers or without values: {', '.join(left_out)}."]
    else:
        fields = fields_of_lookup(rows, column)
        notes = [LEADING_ZEROS] if suffix in EXCEL else []
    slug = re.sub("[^a-z0-9._-]+", "-", Path(name).stem.lower()).strip("-") or "data"
    return {
        "$schema": PROFILE,
        "draft": [FILL_IN, REMOVE, *notes],
        "name": slug,
        "schema": {"fieldsMatch": "subset", "missingValues": [""], "fields": fields},
    }
