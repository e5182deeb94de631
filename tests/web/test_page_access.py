"""The page for everybody: names, contrast and visible focus."""

import pytest
from support.browsing import ROOMS, named, settled, visit
from support.draws import some

pytest.importorskip("playwright", reason="Playwright is not installed.")

# Relative luminance and contrast as WCAG 2.2 defines them; 4.5 for text, 3 where it is large.
CONTRAST = """
() => {
  const channels = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = ([r, g, b]) => [r, g, b]
    .map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let checked = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const color = channels(element.namespaceURI.endsWith("svg") ? style.fill : style.color);
    const [one, other] = [luminance(color), luminance(ground(element))].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const contrast = (one + 0.05) / (other + 0.05);
    checked += 1;
    if (contrast < (isLarge ? 3 : 4.5)) low.push([walker.currentNode.data.trim(), contrast]);
  }
  const boxes = "input:not([type=range], [type=radio], [type=file]), select, textarea";
  for (const control of document.querySelectorAll(boxes)) {
    if (!control.checkVisibility()) continue;
    const edge = luminance(channels(getComputedStyle(control).borderTopColor));
    const [one, other] = [edge, luminance(ground(control.parentElement))].sort((a, b) => b - a);
    if ((one + 0.05) / (other + 0.05) < 3) low.push([`edge of ${control.id}`, 0]);
  }
  return { checked, low };
}
"""

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


@pytest.mark.parametrize("room", some(ROOMS, one_of=2))
def test_every_control_has_a_name_and_every_page_its_landmarks(browser, admissions_page, room):
    with visit(browser, admissions_page, room) as page:
        settled(page, room)
        assert named(page) > 5
        assert page.locator("h1:visible").count() == 1
        assert page.locator("main").count() == page.locator("nav[aria-label]").count() == 1
        assert page.locator("nav [aria-current=page]").inner_text() == room.capitalize()
        assert page.get_attribute("html", "lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("room", some(ROOMS, one_of=2))
def test_every_text_has_enough_contrast(browser, admissions_page, room, scheme):
    with visit(browser, admissions_page, room, color_scheme=scheme) as page:
        settled(page, room)
        found = page.evaluate(CONTRAST)
        assert found["checked"] > 10
        assert found["low"] == []


def test_too_little_contrast_is_noticed(browser, admissions_page):
    with visit(browser, admissions_page, "plan") as page:
        settled(page, "plan")
        page.evaluate("document.querySelector('.lead h1').style.color = '#a0a0a0'")
        assert [text for text, _ in page.evaluate(CONTRAST)["low"]] == ["Plan"]


@pytest.mark.parametrize("room", some(ROOMS, one_of=2))
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
