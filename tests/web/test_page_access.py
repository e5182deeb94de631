"""The page for everybody: what axe-core finds, and visible focus."""

import pytest
from support.browsing import ROOMS, faultless, settled, visit
from support.draws import some

pytestmark = pytest.mark.one_of(4)

pytest.importorskip("playwright", reason="Playwright is not installed.")

FOCUS = """
() => {
  const at = document.activeElement;
  const style = getComputedStyle(at);
  const column = at.querySelector(":scope > .column");
  const isShown = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2)
    || (column && getComputedStyle(column).stroke !== "none");
  return { name: at.id || at.textContent.trim() || at.tagName, isShown: Boolean(isShown) };
}
"""


@pytest.mark.parametrize("room", some(ROOMS, one_of=4))
def test_axe_finds_nothing_in_a_room_in_either_scheme(browser, admissions_page, room):
    with visit(browser, admissions_page, room) as page:
        settled(page, room)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            faultless(page)
        assert page.locator("nav [aria-current=page]").inner_text() == room.capitalize()


def test_axe_notices_too_little_contrast(browser, admissions_page):
    with visit(browser, admissions_page, "ledger") as page:
        settled(page, "ledger")
        page.evaluate("document.querySelector('.lead h1').style.color = '#d0d0d0'")
        with pytest.raises(AssertionError, match="color-contrast"):
            faultless(page)


@pytest.mark.parametrize("room", some(ROOMS, one_of=4))
def test_the_focus_is_always_seen(browser, admissions_page, room):
    with visit(browser, admissions_page, room) as page:
        settled(page, room)
        seen = []
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement === document.body"):
                break
            seen.append(page.evaluate(FOCUS))
        assert len(seen) > 5
        assert [stop["name"] for stop in seen if not stop["isShown"]] == []
