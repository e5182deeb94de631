"""What a command says of a release: before the charge, and of the receipt."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from typing import Any

from dproo.cli.output import echo
from dproo.core.numbers import decimal_text
from dproo.ledger import in_epsilon
from dproo.mechanisms import REPLACE
from dproo.releases.assurance import epsilon_warnings
from dproo.releases.groups import Groups
from dproo.releases.protection import PERSON, Protection


def told_before(cost: Fraction, protection: Protection, *, groups: Groups | None) -> list[str]:
    """Say on standard error, before the charge, what it will be where that may surprise."""
    told = []
    if groups is not None and protection.neighbours == REPLACE and not groups.are_public:
        cost *= 2
        why = "a record that is replaced can leave one group and enter another."
        told = [f"With --by this costs 2 x epsilon = {decimal_text(cost)}: {why}"]
    return warn([*told, *epsilon_warnings(cost, whom=protection.whom)])


def warn(sentences: Iterable[str]) -> list[str]:
    """Print warnings on standard error, and return them."""
    sentences = list(sentences)
    with suppress(OSError):  # the result does not depend on what is beside it
        for sentence in sentences:
            echo(f"Warning: {sentence}", err=True)
    return sentences


def _public(receipt: dict[str, Any]) -> dict[str, object]:
    """Return which letters a release was out of."""
    if "longest" in receipt:
        least = f"of {receipt['minimum_people']} or more, {receipt['longest']} characters at most"
        return {"letters": f"open: text {least}"}
    if "codebook_sha256" not in receipt:
        letters = {"letters k": receipt["k"]}
        return letters | {"alphabet": f"sha256 {receipt['alphabet_sha256'][:16]}"}
    if "model" in receipt:
        edges = (f"{' - '.join(family['columns'])}" for family in receipt["families"])
        return {
            "network": f"{receipt['network']}: {'; '.join(edges)}",
            "noise": f"{receipt['noise']}, exact",
            "model": f"sha256 {receipt['model']['sha256'][:16]}",
            "code book": f"sha256 {receipt['codebook_sha256'][:16]}",
        }
    arrows = (
        f"{', '.join(step['parents'])} -> {step['column']}" if step["parents"] else step["column"]
        for step in receipt["columns"]
    )
    return {
        "network": f"{receipt['network']}: {'; '.join(arrows)}",
        "code book": f"sha256 {receipt['codebook_sha256'][:16]}",
    }


def _sampler(receipt: dict[str, Any]) -> str:
    return f"{receipt['sampler']} (auto)." if receipt["sampler_reason"] else receipt["sampler"]


def facts(receipt: dict[str, Any]) -> dict[str, object]:
    """Return what a person wants to read of a receipt."""
    charged = receipt["ledger"]
    several = {"rows": f"{receipt['rows']:,}, {receipt['way']}"} if "rows" in receipt else {}
    if receipt.get("delta", "0") != "0":
        several["delta"] = receipt["delta_decimal"]
    stated = {"purpose": receipt["purpose"]} if receipt["purpose"] else {}
    return {
        **stated,
        **several,
        "sampler": " ".join(filter(None, (_sampler(receipt), receipt["sampler_reason"]))),
        "accuracy": receipt["accuracy"],
        "epsilon": f"{receipt['epsilon_decimal']} (worst loss, certified:"
        f" {receipt['certificate']['epsilon']:.9g} for {receipt['certificate']['covers']})",
        "protects": f"{receipt['protects']}, {receipt['neighbours']}",
        f"{'people' if receipt['unit'] == PERSON else 'records'} n": receipt.get("n", "private"),
        **_public(receipt),
        "ledger": f"entry {charged['entry']} of {charged['dataset']!r},"
        f" charged {in_epsilon(charged['charge_nano_epsilon'])}"
        if charged
        else "none: not charged to any budget",
        "software": receipt["software"],
    }
