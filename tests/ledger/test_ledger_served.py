"""The page with a ledger in PostgreSQL."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.browsing import LOSE, visit
from support.serving import ORDER, Answer, Served, admissions, served
from support.stores import emptied

from dproo.errors import ApprovalNeeded
from dproo.ledger import Ledger, Limits


def ordered(page: Served, **changes: Any) -> Answer:
    return page.post("/api/order", {**ORDER, "dataset": "admissions", **changes})


@pytest.mark.one_of(3)
def test_a_page_charges_a_ledger_in_a_database(tmp_path: Path, ledger_database: str) -> None:
    url = emptied(ledger_database)
    folder, _ = admissions(tmp_path, budget="3")
    ledger = Ledger(url)
    limits = Limits(per_release="1", per_spender="1.5")
    ledger.declare("admissions", budget="3", neighbours="replace", limits=limits)
    with served(folder, url) as page:  # type: ignore[arg-type]
        done = page.post("/api/release", {"nonce": ordered(page).json["nonce"]})
        assert done.status == 200, done.body
        too_much = ordered(page, epsilon="0.75")
        if too_much.status == 200:  # the rule is held at the charge
            too_much = page.post("/api/release", {"nonce": too_much.json["nonce"]})
        shown = page.get("/api/ledger")
    assert "the rule 'per_spender' of 'admissions': at most 1.5" in too_much.json["error"]
    assert "user=" not in shown.body.decode() + too_much.body.decode()
    (account,) = ledger.verify().accounts
    assert [(line.charge, line.spender) for line in account.lines] == [(10**9, "team")]
    assert shown.json["datasets"][0]["left"] == "2"
    assert ledger.released(account.lines[0].entry)["values"] == done.json["values"]


@pytest.mark.one_of(3)
def test_a_second_person_approves_in_the_room_of_the_ledger(
    tmp_path: Path, ledger_database: str, browser: Any
) -> None:
    team = emptied(ledger_database)
    bob, ann = (team.replace("user=team", f"user={name}") for name in ("bob", "ann"))
    folder, _ = admissions(tmp_path, budget="3")
    limits = Limits(approval_above="0.5")
    basis: dict[str, Any] = {"neighbours": "replace"}
    Ledger(team).declare("admissions", budget="3", delta="1e-6", limits=limits, **basis)
    with served(folder, bob) as page, served(folder, ann) as other:  # type: ignore[arg-type]
        shown = ordered(page).json
        assert any("A second person must approve it" in one for one in shown["warnings"])
        assert shown["command"].endswith(' --ledger "$LEDGER_URL"')  # which names the role
        waiting = ordered(page).json
        asked = page.post("/api/release", {"nonce": shown["nonce"]})
        assert "a second person must approve request" in asked.json["error"]
        number = page.get("/api/requests").json["requests"][0]["number"]
        own = page.post("/api/decide", {"number": number, "is_approved": True})
        assert "may not be used so by this role" in own.json["error"]
        with visit(browser, other, "ledger") as room:
            told = "ε 1 of admissions for diagnosis, asked for by bob; purpose: not stated."
            room.wait_for_selector(f"#requests:has-text('{told}')")
            room.evaluate(LOSE, "decide")
            room.click("text=Approve")
            room.wait_for_selector("#requests", state="detached")
            room.wait_for_selector("#refused:has-text('does not answer')")
        stated = {"columns": ["ward"], "protects": "one record"}
        with pytest.raises(ApprovalNeeded):
            Ledger(bob).reserve("admissions", epsilon="1", delta="1e-7", request=stated, **basis)
        with visit(browser, other, "ledger") as room:
            told = "ε 1 and δ 1e-7 of admissions for ward, asked for by bob; purpose: not stated."
            room.wait_for_selector(f"#requests:has-text('{told}')")
            room.click("text=All its parameters")
            room.wait_for_selector("""#requests:has-text('"protects":"one record"')""")
            room.click("text=Deny")
            room.wait_for_selector("#requests", state="detached")
        assert page.get("/api/requests").json["requests"] == []
        late = page.post("/api/release", {"nonce": waiting["nonce"]})  # it was approved since
        assert "a second person has decided since the review" in late.json["error"]
        assert any("has approved it" in one for one in ordered(page).json["warnings"])
        dearer = ordered(page, epsilon="0.75").json
        page.post("/api/release", {"nonce": dearer["nonce"]})
        Ledger(ann).deny(page.get("/api/requests").json["requests"][0]["number"])
        refused = ordered(page, epsilon="0.75").json
        assert re.search(r"'admissions': request \d+ was denied", refused["error"])
        done = page.post("/api/release", {"nonce": ordered(page).json["nonce"]})
        assert done.status == 200, done.body
