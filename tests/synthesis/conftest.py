"""What the tests of private tables share."""

import pytest

from dproo.synthesis import run as runs
from dproo.synthesis.families import WEAK, PairPlan


@pytest.fixture
def asking(monkeypatch):
    """Let every run ask for the mean dependence, as if pairs did not pay where it is weak."""
    true = runs.planned

    def planned(*sizes, dependence, **options):
        return (
            PairPlan(0, 0) if dependence == WEAK else true(*sizes, dependence=dependence, **options)
        )

    monkeypatch.setattr(runs, "planned", planned)
