"""Plan and Understand, in a real browser: what a person does, and what stands there then."""

import re
from decimal import ROUND_CEILING, Context
from math import log10
from urllib.parse import parse_qsl, urlsplit

import pytest
from support.browsing import NARROW, OVERFLOW, ROOMS, seen, settled, visit
from support.draws import some

import dproo
from dproo.analysis.planner import planned
from dproo.mechanisms import SAMPLERS, mechanism
from dproo.web.questions import FIRST

pytestmark = pytest.mark.one_of(4)

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed.").expect


def cells(page, sampler):
    row = page.locator("#answers tbody tr", has=page.locator(f"input[value='{sampler}']"))
    return row.locator("td.number").all_inner_texts()


def percent(share):
    """Return a share in percent to two digits, never better than it is."""
    found = Context(prec=2, rounding=ROUND_CEILING).create_decimal(float(share) * 100)
    return f"{found.normalize():f}\u00a0%"


def test_a_plan_is_answered_drawn_and_told_in_words(browser, admissions_page):
    with visit(browser, admissions_page, "plan") as page:
        page.wait_for_selector("#accuracy .curve.chosen")
        page.click("#more summary")
        page.fill("#k", "20")
        page.fill("#epsilon", "0.5")
        needed = dproo.plan(k=20, epsilon="0.5", alpha="0.05")["ls-roo"]
        page.wait_for_selector(f"#answers:not(:has(.past)) >> text='{needed:,}'")
        reached = dproo.plan(n=1000, k=20, epsilon="0.5")["ls-roo"]
        assert cells(page, "ls-roo")[:2] == [percent(reached), f"{needed:,}"]
        assert "at most a factor 1.649" in page.inner_text("#meaning")
        assert "--k 20 --epsilon 0.5 --alpha 0.05" in page.text_content("#command")
        page.wait_for_selector("#accuracy text:has-text('bal-roo')")
        curves = page.locator("#accuracy .curve")
        expect(curves).to_have_count(len(planned(is_closed_form=True)) + 1)
        assert page.locator("#accuracy .floor").count() == 1
        for text in ("better privacy", "better accuracy"):
            assert page.locator(f"#accuracy svg text:has-text('{text}')").count() == 1
        page.wait_for_selector("#accuracy .here")
        page.wait_for_selector("#records .here")


def test_one_record_is_one_and_a_small_target_is_stated_as_it_was_typed(browser, admissions_page):
    with visit(browser, admissions_page, "plan") as page:
        page.fill("#n", "1")
        page.fill("#alpha", "1e-7")
        page.wait_for_selector("#sentence:not(.past):has-text('With 1 record at ε')")
        page.wait_for_selector("#target:has-text('For at most 0.00001\u00a0%, ')")


FOLLOWED = """(chart) => ({
  name: document.querySelector(`${chart} text.accent`).textContent,
  hue: document.querySelector(`${chart} path.chosen`).classList[1],
})"""


def test_the_headline_and_both_charts_follow_one_sampler_in_one_hue(browser, admissions_page):
    with visit(browser, admissions_page, "plan") as page:
        page.click("#more summary")
        page.wait_for_selector("#target:has-text('360 records would do')")
        for chart in ("#accuracy", "#records"):
            page.wait_for_selector(f"{chart} text.accent:has-text('bal-roo')")
        first, second = (page.evaluate(FOLLOWED, chart) for chart in ("#accuracy", "#records"))
        assert first == second
        assert first["name"] in page.inner_text("#recommended")
        axis = page.locator("#accuracy svg text").all_text_contents()
        assert {"100\u00a0%", "1\u00a0%"} <= set(axis)
        page.focus("#records svg")
        page.keyboard.press("ArrowRight")
        assert "bal-roo" in page.get_attribute("#records svg", "aria-valuetext")


ASK_FOR_ANOTHER_ALPHA = """() => {
  const alpha = document.querySelector("#alpha");
  alpha.value = "0.1";
  alpha.dispatchEvent(new Event("input"));
  return document.querySelectorAll("#answers tbody tr:first-child .past").length;
}"""


def test_an_answer_to_an_earlier_question_fades_until_the_new_one_is_there(
    browser, admissions_page
):
    with visit(browser, admissions_page, "plan") as page:
        page.click("#more summary")
        page.wait_for_selector("#answers:not(:has(.past)) td.number")
        assert page.evaluate(ASK_FOR_ANOTHER_ALPHA) == 2  # records needed, and epsilon needed
        page.wait_for_selector("#answers:not(:has(.past)) td.number")


def test_the_headline_holds_no_answers_to_different_questions(browser, admissions_page):
    held = []
    with visit(browser, admissions_page, "plan") as page:
        page.wait_for_selector("#target:has-text('360 records would do, or ε = 0.0')")
        page.route("**/api/plan?k=*", lambda route: held.append(route))  # noqa: PLW0108 - as it is asked for
        with page.expect_request("**/api/plan?k=*"):
            page.fill("#epsilon", "0.2")
        page.wait_for_selector("#sentence:has-text('at ε = 0.2,')")
        page.wait_for_selector("#target:has-text('For at most 5 %, ε = 0.0')")
        held[0].continue_()
        page.wait_for_selector("#target:has-text('records would do, or ε = 0.0')")


def test_a_chart_is_read_by_pointer_and_by_keys_and_takes_an_epsilon(browser, admissions_page):
    with visit(browser, admissions_page, "plan") as page:
        page.wait_for_selector("#accuracy .curve.chosen")
        page.hover("#accuracy svg", position={"x": 300, "y": 150})
        tip = page.inner_text("#accuracy .tip")
        assert all(name in tip for name in planned(is_closed_form=True))
        page.click("#accuracy svg", position={"x": 300, "y": 150})
        taken = page.input_value("#epsilon")
        assert taken != "0.1"
        page.mouse.move(0, 0)
        page.focus("#accuracy svg")
        page.keyboard.press("ArrowRight")
        read = page.get_attribute("#accuracy svg", "aria-valuetext")
        assert re.match(r"ε [\d.]+: subrr [\d.]+\s%, roo [\d.]+\s%, ", read)
        page.keyboard.press("Enter")
        assert float(page.input_value("#epsilon")) > float(taken)


def test_another_sampler_can_be_followed(browser, admissions_page):
    with visit(browser, admissions_page, "plan") as page:
        settled(page, "plan")
        page.click("#more summary")
        page.check("#answers input[value='roo']")
        assert page.locator("#accuracy text.accent").text_content() == "roo"
        assert "By roo, which you follow" in page.inner_text("#recommended")
        page.reload()
        page.wait_for_selector("#accuracy text.accent:has-text('roo')")


def test_one_answer_comes_first(browser, admissions_page):
    with visit(browser, admissions_page, "plan") as page:
        asked = []
        page.on("request", lambda request: asked.append(urlsplit(request.url)))
        page.reload()
        settled(page, "plan")
        found = [(url.path, dict(parse_qsl(url.query))) for url in asked if "/api/" in url.path]
        prepared = [(f"/api/{name}", dict(fields)) for name, fields in FIRST]
        assert set(map(str, found)) == set(map(str, prepared))  # some may be of the first visit
        assert page.inner_text("#sentence").startswith(
            "With 1,000 records at ε = 0.1, at most 1.7\u00a0% of draws differ from a random record"
        )
        assert page.inner_text("#recommended").startswith("By bal-roo, which “auto” takes.")
        page.wait_for_selector(
            "#target:has-text('For at most 5 %, 360 records would do, or ε = 0.0')"
        )
        assert not page.is_visible("#answers")
        page.fill("#n", "1,000,000")  # which took a minute once
        page.wait_for_selector("#sentence:not(.past):has-text('With 1,000,000 records')")


REFUSED = {  # what is written, why it is refused, and to how many questions
    "k": ("1", "Possible values k must be at least 2, got 1.", 4),
    "alpha": ("2", "Target accuracy \u03b1 must be between 0 and 1, got '2'.", 3),
}


@pytest.mark.parametrize("field", REFUSED)
def test_a_refused_plan_says_why_at_its_field(browser, admissions_page, field):
    text, sentence, refusals = REFUSED[field]
    with visit(browser, admissions_page, "plan", refusals=refusals) as page:
        settled(page, "plan")
        if field == "alpha":  # the other chart does not depend on it
            page.click("#more summary")
            page.wait_for_selector("#records .curve.chosen")
        page.fill(f"#{field}", text)
        page.wait_for_selector(f'[data-name={field}] .wrong:has-text("{sentence}")')
        page.wait_for_selector("#sentence.past")
        page.wait_for_selector(
            "#accuracy.past" if field == "k" else "#records.past", state="attached"
        )


MEANINGS = {
    "1/3": "1.396",
    "0,500": "…",
    "1000": "10⁴³⁵",
    "7": "1,100",
    "nothing": "…",
    "0.1": "1.106",
}
WRITE_EACH = """(texts) => texts.map((text) => {
  const epsilon = document.querySelector("#epsilon");
  epsilon.value = text;
  epsilon.dispatchEvent(new Event("input"));
  return document.querySelector("#meaning strong").textContent;
})"""


def test_every_epsilon_has_a_meaning(browser, admissions_page):
    """Which is never better than it is: a factor is rounded up."""
    with visit(browser, admissions_page, "plan") as page:
        settled(page, "plan")
        assert page.evaluate(WRITE_EACH, list(MEANINGS)) == list(MEANINGS.values())


@pytest.mark.parametrize("question", ["plan?n=1000000&*alpha=*", "curve?n=1000000&*decade=-1"])
def test_a_question_that_is_no_longer_asked_is_cancelled(browser, admissions_page, question):
    with visit(browser, admissions_page, "plan") as page:
        settled(page, "plan")
        page.route(f"**/api/{question}", lambda _: None)  # an answer that never comes
        with page.expect_request(f"**/api/{question}") as asked:
            page.fill("#n", "1,000,000")
        with page.expect_event("requestfailed", lambda request: request == asked.value):
            page.fill("#n", "2,000")
        page.wait_for_selector("#sentence:not(.past):has-text('With 2,000 records')")


def test_choices_and_sliders_are_restored_on_the_way_back(browser, admissions_page):
    with visit(browser, admissions_page, "plan") as page:
        settled(page, "plan")
        page.fill("#epsilon", "2.5")
        page.click("nav >> text=Understand")
        page.wait_for_selector("#laws svg")
        page.fill("#letters", "26")
        page.wait_for_selector("#paint [role=slider] >> nth=25")
        page.focus("#paint [role=slider][tabindex='0']")
        page.keyboard.press("Home")
        page.wait_for_selector("#laws[data-counts^='0 ']")
        page.click("nav >> text=Plan")
        settled(page, "plan")
        page.go_back()
        page.wait_for_selector("#laws[data-counts^='0 ']")
        assert page.input_value("#letters") == "26"
        assert page.input_value("#shape") == ""
        assert page.locator("#paint [role=slider]").count() == 26
        assert page.locator("[data-sampler=roo] .bar-law").count() == 26
        page.go_back()
        settled(page, "plan")
        assert page.input_value("#epsilon") == "2.5"
        slider = page.locator("[data-name=epsilon] [type=range]")
        assert float(slider.input_value()) == pytest.approx(log10(2.5), abs=0.02)


RUSH = """async (slider) => {
  const real = history.replaceState.bind(history);
  let left = 100; // as a browser limits them
  history.replaceState = (...given) => {
    if (left-- <= 0) throw new DOMException("too often", "SecurityError");
    real(...given);
  };
  for (let i = 0; i < 200; i++) {
    slider.value = i % 2 ? slider.min : slider.max;
    slider.dispatchEvent(new InputEvent("input", { bubbles: true }));
    await new Promise((go) => setTimeout(go));
  }
}"""


@pytest.mark.parametrize(("room", "of"), [("plan", "epsilon"), ("understand", "epsilon")])
def test_a_slider_moved_fast_changes_the_address_no_more_often_than_browsers_allow(
    browser, admissions_page, room, of
):
    with visit(browser, admissions_page, room) as page:
        page.wait_for_load_state("networkidle")
        slider = page.locator(f"[data-name={of}] [type=range]")
        slider.evaluate(RUSH)
        last = page.input_value(f"#{of}")
        page.wait_for_function(
            "([name, last]) => new URLSearchParams(location.search).get(name) === last",
            arg=[of, last],
        )


def test_the_commands_are_copied(browser, admissions_page):
    allowed = {"permissions": ["clipboard-read", "clipboard-write"]}
    with visit(browser, admissions_page, "plan", **allowed) as page:
        page.click("#elsewhere summary")
        button = "document.querySelector('[data-copies=python]')"
        with seen(page, f"{button}.textContent === 'Copied'"):
            page.click("text=Copy the Python")
        assert page.evaluate("navigator.clipboard.readText()") == page.inner_text("#python")


def painted(page):
    bars = page.locator("#paint [role=slider]")
    return [int(bars.nth(i).get_attribute("aria-valuenow")) for i in range(bars.count())]


def law_of(page, sampler, place):
    """Return what the tip of a letter says, in hundredths."""
    chart = page.locator(f"[data-sampler={sampler}] svg")
    chart.focus()
    page.keyboard.press("Home")
    for _ in range(place):
        page.keyboard.press("ArrowRight")
    return float(re.search(r"released ([\d.e-]+)\s%", chart.get_attribute("aria-valuetext"))[1])


def test_a_painted_histogram_shows_the_exact_law_of_every_sampler(browser, admissions_page):
    with visit(browser, admissions_page, "understand") as page:
        page.wait_for_selector("[data-sampler=ls-roo] svg")
        before = painted(page)
        box = page.locator("#paint svg").bounding_box()
        page.mouse.move(box["x"] + 80, box["y"] + 200)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 20, box["y"] + 60, steps=40)
        page.mouse.up()
        assert page.evaluate("String(getSelection())") == ""
        counts = painted(page)
        assert counts != before
        assert len(set(counts)) == len(counts), "each letter was painted to its own height"
        assert f"{sum(counts):,} records" in page.inner_text("#painted")
        page.wait_for_selector(f"#laws[data-counts='{' '.join(map(str, counts))}']")
        for sampler in SAMPLERS:
            law = mechanism(sampler, n=sum(counts), k=len(counts), epsilon="0.1").pmf(counts)
            for place in (0, len(counts) - 1):
                shown = law_of(page, sampler, place)
                assert shown == pytest.approx(float(law[place]) * 100, abs=0.005)


def test_a_law_is_read_by_touch(browser, admissions_page):
    with visit(browser, admissions_page, "understand", has_touch=True, viewport=NARROW) as page:
        page.locator("[data-sampler=ls-roo] svg").tap()
        assert "exactly" in page.inner_text("[data-sampler=ls-roo] .tip")


def test_a_histogram_is_painted_by_keys_and_by_shapes(browser, admissions_page):
    with visit(browser, admissions_page, "understand") as page:
        page.wait_for_selector("[data-sampler=ls-roo] svg")
        page.select_option("#shape", "uniform-half")
        page.wait_for_selector("#paint [role=slider] >> nth=7")
        page.wait_for_selector("#painted:has-text('360 records')")
        assert painted(page) == [90] * 4 + [0] * 4
        page.focus("#paint [role=slider][tabindex='0']")
        for key in ("Home", "ArrowUp", "ArrowUp", "ArrowRight", "End", "PageDown"):
            page.keyboard.press(key)
        assert painted(page) == [2, 90, 90, 90, 0, 0, 0, 0]
        assert page.input_value("#shape") == ""
        page.fill("#letters", "3")
        page.wait_for_selector("#painted:has-text('on 3 possible values')")
        page.select_option("#step", "100")
        page.wait_for_selector("#painted:has-text('27,000 records')")


def test_a_shape_that_comes_after_a_hand_has_painted_is_not_shown(browser, admissions_page):
    held = []
    with visit(browser, admissions_page, "understand") as page:
        page.wait_for_selector("[data-sampler=ls-roo] svg")
        page.route("**/api/shape?*", lambda route: held.append(route))  # noqa: PLW0108 - as it is asked for
        with page.expect_request("**/api/shape?*") as asked:
            page.select_option("#shape", "uniform-half")
        page.focus("#paint [role=slider][tabindex='0']")
        with page.expect_event("requestfailed", lambda request: request == asked.value):
            page.keyboard.press("Home")  # it is cancelled
        assert page.input_value("#shape") == ""


def test_draws_fall_on_the_bars(browser, admissions_page):
    with visit(browser, admissions_page, "understand", reduced_motion="no-preference") as page:
        page.wait_for_selector("#draws svg")
        with seen(page, "document.querySelector('#draws .drop')"):
            page.click("#draw-one")
            page.wait_for_selector("#drawn:has-text('1 draw. The last one:')")
        page.click("#draw-many")
        page.wait_for_selector("#drawn:has-text('101 draws.')")
        page.click("#draw-none")
        page.wait_for_selector("#drawn:has-text('0 draws.')")


DRAW_AND_FOLLOW_ANOTHER = """() => {
  document.querySelector("#draw-one").click();
  const sampler = document.querySelector("#sampler");
  sampler.value = "roo";
  sampler.dispatchEvent(new Event("change"));
}"""


def test_a_draw_that_comes_after_a_change_is_not_counted(browser, admissions_page):
    with visit(browser, admissions_page, "understand") as page:
        page.wait_for_selector("#draws svg")
        with page.expect_response("**/api/draws"):
            page.evaluate(DRAW_AND_FOLLOW_ANOTHER)
        page.click("#draw-many")
        page.wait_for_selector("#drawn:has-text('100 draws.')")


def test_the_leak_of_the_printed_table_is_drawn_with_its_witness(browser, admissions_page):
    with visit(browser, admissions_page, "understand") as page:
        page.wait_for_selector("#verdict:has-text('69.3 times as much')")
        lines = [line.split("\t") for line in page.inner_text("#witness tbody").split("\n")]
        assert lines[:3] == [
            ["Records with value 1", "1", "2"],
            ["Records with value 2", "2", "1"],
            ["Records with each of 9,998 others", "1", "1"],
        ]
        assert lines[4] == ["q, as printed", "0", "0"]
        held = []
        page.route("**/api/tables?*", lambda route: held.append(route))  # noqa: PLW0108 - as it is asked for
        with page.expect_request("**/api/tables?*"):
            page.select_option("#preset", "3,2,0.01")
        assert page.locator("#verdict.past, #witness.past").count() == 2  # of the case before
        held[0].continue_()
        page.unroute("**/api/tables?*")
        page.wait_for_selector("#verdict:not(.past):has-text('0.98 % more:')")
        told = re.search(r"by a factor ([\d.]+), not ([\d.]+)\.", page.inner_text("#verdict"))
        assert float(told[1]) > float(told[2])
        page.select_option("#preset", "1000,9,0.1")
        page.wait_for_selector("#verdict:has-text('Here the printed table keeps its word')")
        with page.expect_response("**/api/tables?n=*&k=8&epsilon=0.1") as painted:
            page.select_option("#preset", "painted")
        assert painted.value.ok


def test_the_case_to_certify_survives_a_reload_as_what_is_painted_does(browser, admissions_page):
    with visit(browser, admissions_page, "understand") as page:
        page.wait_for_selector("#verdict:has-text('is claimed')")
        page.select_option("#preset", "painted")
        page.wait_for_url("**preset=painted**")
        with page.expect_response("**/api/tables?n=*&k=8&epsilon=0.1") as painted:
            page.reload()
        assert painted.value.ok
        assert page.input_value("#preset") == "painted"


def test_too_many_values_are_refused_at_their_field_and_the_laws_fade(browser, admissions_page):
    with visit(browser, admissions_page, "understand", refusals=1) as page:
        page.wait_for_selector("#laws svg")
        page.fill("#letters", "27")
        page.wait_for_selector("[data-name=k] .wrong:has-text('must be at most 26, got 27.')")
        assert "past" in page.get_attribute("#laws", "class")
        page.fill("#letters", "3")
        page.wait_for_selector("#laws:not(.past)")
        assert page.locator(".wrong").count() == 0


EMPTIEST = """() => Math.max(...[...document.querySelectorAll(".card")]
  .filter((card) => card.checkVisibility())
  .map((card) => {
    const box = card.getBoundingClientRect();
    const ends = [...card.children].map((part) => part.getBoundingClientRect().bottom);
    return (box.bottom - Math.max(...ends)) / box.height;
  }))"""


@pytest.mark.parametrize("room", some(ROOMS, one_of=4))
def test_no_card_is_half_empty(browser, admissions_page, room):
    with visit(browser, admissions_page, room, viewport={"width": 1100, "height": 900}) as page:
        settled(page, room)
        assert page.evaluate(EMPTIEST) < 0.25


def test_an_address_that_leads_nowhere_is_a_page(browser, admissions_page):
    with visit(browser, admissions_page, "ledger", refusals=2) as page:
        page.goto(f"{admissions_page.origin}/nowhere")
        assert page.inner_text("h1") == "Nothing here"
        page.goto(f"{admissions_page.origin}/api/ledger")
        assert page.inner_text("h1") == "No entry"


@pytest.mark.parametrize("room", some(ROOMS, one_of=4))
def test_nothing_overflows_a_narrow_screen(browser, admissions_page, room):
    with visit(browser, admissions_page, room, viewport=NARROW) as page:
        settled(page, room)
        for width in (NARROW["width"], 320):  # a window of 1280 at 400 %
            page.set_viewport_size({**NARROW, "width": width})
            assert page.evaluate(OVERFLOW) == 0


@pytest.mark.parametrize(
    "script",
    [
        "console.error('a mistake')",
        "fetch('http://localhost:1/').catch(() => 0)",
        "document.body.append(Object.assign(new Image(), {src: 'https://evil.example/x.png'}))",
        "document.body.append(document.createElement('script')); document.scripts[1].text = '1'",
        "document.body.setAttribute('style', 'color: red')",
    ],
)
def test_the_watch_notices_what_must_not_happen(browser, admissions_page, script):
    with pytest.raises(AssertionError, match=r"mistake|violates|external"):
        happen(browser, admissions_page, script)


def happen(browser, served, script):
    with visit(browser, served, "plan") as page, page.context.expect_console_message():
        page.evaluate(script)
