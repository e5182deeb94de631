"""Every refusal and failure other than a wrong argument, one class for each."""

from __future__ import annotations

from dproo.core.numbers import in_delta, in_epsilon

POSIX_ONLY = (
    "ledgers and files need Linux or macOS; on Windows, release from a list or a frame without a"
    " ledger, or use WSL. Nothing was read or charged."
)


class ReleaseError(RuntimeError):
    """The release failed after data was touched; the message reveals nothing about the data."""


STOPPED = "the release was stopped."


class Stopped(KeyboardInterrupt):
    """An interrupt after which a charge stands, or may stand; the message says so."""


class OutputError(RuntimeError):
    """A file could not be written, and nothing of it is left; after a charge, a release failed."""


class DamagedFileError(ValueError):
    """A compressed file cannot be unpacked to its end; no record decides that."""


class UnpreparedError(ValueError):
    """A release needs something other than data that is missing; nothing was read or charged."""


class LedgerError(Exception):
    """The ledger refused or failed; the message is one sentence with nothing private in it."""


class BudgetRefused(LedgerError):  # noqa: N818 - an answer, not an error
    """The release would exceed the budget; nothing was charged and no data was read.

    Attributes:
        dataset: the declared name.
        asked: the charge requested, in nano-epsilon.
        left: what is left of the budget, in nano-epsilon.

    >>> str(BudgetRefused("patients", asked=500_000_000, left=200_000_000))
    "epsilon must be at most the 0.2 left of the budget of 'patients', got a charge of 0.5."
    """

    _part, _shown = "epsilon", staticmethod(in_epsilon)

    def __init__(self, dataset: str, *, asked: int, left: int) -> None:
        self.dataset, self.asked, self.left = dataset, asked, left
        super().__init__(
            f"{self._part} must be at most the {self._shown(left)} left of the budget of "
            f"{dataset!r}, got a charge of {self._shown(asked)}."
        )


class DeltaRefused(BudgetRefused):
    """The release would exceed the delta of the budget; ``asked`` and ``left`` are atto-delta.

    >>> str(DeltaRefused("patients", asked=10**12, left=0))
    "delta must be at most the 0 left of the budget of 'patients', got a charge of 1e-6."
    """

    _part, _shown = "delta", staticmethod(in_delta)


class RuleRefused(LedgerError):  # noqa: N818 - as above
    """The release would break a rule of the budget; nothing was charged.

    Attributes:
        rule: its name.
        dataset: the declared name.
        condition: what it requires.

    >>> str(RuleRefused("until", "patients", "nothing is released from 2027-01-31 on"))
    "the rule 'until' of 'patients': nothing is released from 2027-01-31 on."
    """

    def __init__(self, rule: str, dataset: str, condition: str) -> None:
        self.rule, self.dataset, self.condition = rule, dataset, condition
        super().__init__(f"the rule {rule!r} of {dataset!r}: {condition}.")


class ApprovalNeeded(RuleRefused):
    """A second person must approve the release first; nothing was charged.

    Attributes:
        number: the number of the request for approval.

    >>> str(ApprovalNeeded("patients", 7))
    "the rule 'approval_above' of 'patients': a second person must approve request 7 first."
    """

    def __init__(self, dataset: str, number: int) -> None:
        self.number = number
        condition = f"a second person must approve request {number} first"
        super().__init__("approval_above", dataset, condition)


class PureBudgetError(LedgerError):
    """The budget is pure epsilon, and the release would need a delta."""


class MissingLedgerError(LedgerError):
    """There is no file at the path."""


class NotALedgerError(LedgerError):
    """The file is not a ledger, or is a link."""


class NewerFormatError(LedgerError):
    """The file was made by a later version of the software."""


class CorruptLedgerError(LedgerError):
    """The file was changed since it was written: an edit, a torn copy or a failing disk."""


class UnsafePlaceError(LedgerError):
    """Others can write the file or a folder above it, or the file is mounted by itself."""


class RolledBackError(LedgerError):
    """The file lacks events that it held before: an old copy, or writes that were lost."""


class UnusableWitnessError(LedgerError):
    """A witness cannot be read or written; neither was the ledger."""


class BusyLedgerError(LedgerError):
    """Other processes held the ledger for too long; nothing was written."""


class ReadOnlyLedgerError(LedgerError):
    """The file or its folder cannot be written; nothing was written."""


class FullDiskError(LedgerError):
    """There is no space left; nothing was written."""


class ChargedError(LedgerError):
    """The charge stands, or may stand, but the ledger could not finish; do not read data."""


class UnusableLedgerError(LedgerError):
    """The operating system refused to open, read or write the file."""


class UnreachableLedgerError(UnusableLedgerError):
    """No server answers, or the connection was lost; nothing was written."""


class NotEmptyLedgerError(LedgerError):
    """A ledger can only be copied into an empty one; nothing was written."""


class RoleError(LedgerError):
    """The database does not let this role do that; nothing was charged."""


class UnknownDatasetError(LedgerError):
    """No budget was declared under this name."""


class DatasetTakenError(LedgerError):
    """A budget was already declared under this name."""


class OtherRelationError(LedgerError):
    """The budget was declared for other neighbours; their epsilons cannot be added."""


class UnknownEntryError(LedgerError):
    """There is no such release in the ledger."""


class NotRecordedError(LedgerError):
    """The release was charged but never recorded, so there is nothing to print again."""


class AlreadyRecordedError(LedgerError):
    """The release is already recorded; one charge pays for one release."""
