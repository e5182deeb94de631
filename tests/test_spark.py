from __future__ import annotations

from typing import Any

import pytest
from test_engines_faults import CANARY, assert_silent
from test_engines_names import NAMES, rows_of
from test_parity import assert_parity, batches, plain

from dproo import engines


def test_spark_counts_the_same_under_any_name_and_fails_without_data(
    spark: Any, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """One test, so that one worker alone starts a session."""
    for nasty in batches():
        assert_parity(nasty, engines.count, spark.createDataFrame(plain(nasty.rows)))
    for part in (NAMES[i : i + 5] for i in range(0, 20, 5)):
        frame = spark.createDataFrame(rows_of(part))
        counts = engines.count(frame, alphabet={column: ["x"] for column in part})
        assert list(counts) == [2, 1], part
    faulty = spark.createDataFrame([(CANARY,)], "b string").selectExpr("CAST(b AS INT) AS a")
    assert_silent(engines.prepare(faulty, alphabet=[1], column="a"), capfd, caplog)
