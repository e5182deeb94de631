"""Data in, counts out: one way to count any source.

:func:`prepare` checks everything that can be checked before a record is read; the scan it
returns reads once. Any later failure is one fixed sentence.
"""

from dproo.counting.prepare import count, prepare
from dproo.counting.scan import COUNT_FAILED, Scan
from dproo.counting.source import Source
from dproo.counting.tally import Tally

__all__ = ["COUNT_FAILED", "Scan", "Source", "Tally", "count", "prepare"]
