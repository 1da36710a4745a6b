"""The page in a real browser: drawn without an error, zoomed, copied from, read in the dark.

Needs Chromium, its driver and selenium; skipped without them, unless ``STAGECUT_BROWSER=1`` says
that they must be there.
"""

import os
import shutil

import pytest

import stagecut as sc

if os.environ.get("STAGECUT_BROWSER") != "1":
    pytest.importorskip("bokeh")
    pytest.importorskip("selenium")
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        pytest.skip("needs chromium and chromedriver", allow_module_level=True)

from selenium import webdriver
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1280,900",
)  # fmt: skip

HOSTILE = ("</script><script>window.hacked=1</script>", '"><img src=x onerror=window.hacked=1>')

FIND_SHAPES = """
function* drawn(root) {
  for (const element of root.querySelectorAll("*")) {
    if (element instanceof SVGElement) yield element;
    if (element.shadowRoot) yield* drawn(element.shadowRoot);
  }
}
return [...drawn(document.getElementById(arguments[0]))]
  .filter((element) => element.tagName === arguments[1])
  .map((element) => arguments[1] === "text" && arguments[2] === "text"
    ? element.textContent : element.getAttribute(arguments[2]))
  .filter((value) => value && value !== "none");
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    grants = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    driver.execute_cdp_cmd("Browser.grantPermissions", grants)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(example, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    problem, profile, result = example
    front = sc.pareto_front(problem)
    sc.save_report(
        problem, result, folder / "page.html", name="gpt3-2.6b", front=front, profile=profile
    )
    hostile = sc.StageProblem(
        [[[1.0], [9.0]], [[9.0], [2.0]]], [(1, 1)], 2, 4, layer_names=HOSTILE
    )  # fmt: skip
    sc.save_report(hostile, sc.solve(hostile), folder / "hostile.html", name=HOSTILE[0])
    return folder


def show(browser, path, scheme="light"):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get_log("browser")
    browser.get(path.as_uri())
    WebDriverWait(browser, 30).until(
        lambda found: found.execute_script("return document.documentElement.dataset.drawn")
    )


@pytest.fixture
def opened(browser, pages):
    show(browser, pages / "page.html")
    return browser


def shapes(browser, picture, tag="path", attribute="fill"):
    return browser.execute_script(FIND_SHAPES, picture, tag, attribute)


def window(browser):
    return browser.execute_script(
        "const range = Bokeh.documents.flatMap((doc) => [...doc.all_models])"
        ".find((model) => model.type === 'Range1d' && model.bounds);"
        "return [range.start, range.end, ...range.bounds];"
    )


def errors(browser):
    return [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"]


def rgb(colour):
    """The three parts of ``#rrggbb`` or ``rgb(...)``, 0 to 255."""
    if colour.startswith("#"):
        return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    return [float(part) for part in colour.split("(")[1].rstrip(")").split(",")[:3]]


def luminance(colour):
    """Relative luminance (WCAG 2)."""
    linear = [
        part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in rgb(colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def test_no_error_and_no_request(browser, pages):
    browser.get_log("performance")
    show(browser, pages / "page.html")
    assert errors(browser) == []
    sent = [
        entry["message"]
        for entry in browser.get_log("performance")
        if "Network.requestWillBeSent" in entry["message"] and '"url":"http' in entry["message"]
    ]
    assert sent == []


def test_every_picture_is_drawn(opened, example):
    assert int(opened.execute_script("return document.documentElement.dataset.drawn")) == 5
    stages = example[2].plan.num_stages
    for picture in ("picture-plan", "picture-times", "picture-memory"):
        filled = [fill for fill in shapes(opened, picture) if fill.startswith("rgb")]
        assert len(filled) == stages
    assert len([fill for fill in shapes(opened, "picture-timeline") if fill.startswith("rgb")]) > 40
    labels = shapes(opened, "picture-timeline", "text", "text")
    assert {label for label in labels if "·" in label} == {
        f"{s} · {stage.submesh}" for s, stage in enumerate(example[2].plan.stages)
    }


def test_buttons_zoom_the_timeline(opened):
    start, end, least, most = window(opened)
    press = {
        button.get_attribute("data-action"): button
        for button in opened.find_elements("css selector", "[data-zooms] button")
    }
    opened.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", press["in"]
    )
    press["in"].click()
    narrow = window(opened)
    assert narrow[1] - narrow[0] == pytest.approx((end - start) / 2)
    press["all"].click()
    assert window(opened)[:2] == [least, most]
    press["right"].click()
    assert window(opened)[:2] == [least, most]
    press["start"].click()
    assert window(opened)[:2] == [start, end]
    told = opened.find_element("css selector", "[data-zooms] output").text
    assert told.startswith("0 to ")
    assert errors(opened) == []


def test_keyboard_reaches_and_moves_the_timeline(opened):
    for _ in range(60):
        opened.switch_to.active_element.send_keys(Keys.TAB)
        if opened.switch_to.active_element.get_attribute("id") == "picture-timeline":
            break
    focused = opened.switch_to.active_element
    assert focused.get_attribute("id") == "picture-timeline"
    start, end, _, most = window(opened)
    focused.send_keys(Keys.ARROW_RIGHT)
    assert window(opened)[0] == pytest.approx(start + (end - start) / 2)
    focused.send_keys("0")
    assert window(opened)[1] == most


def test_keyboard_copies_the_settings(opened, example):
    button = opened.find_element("css selector", "[data-copies]")
    for _ in range(120):
        opened.switch_to.active_element.send_keys(Keys.TAB)
        if opened.switch_to.active_element == button:
            break
    assert opened.switch_to.active_element == button
    button.send_keys(Keys.ENTER)
    copied = opened.execute_async_script(
        "const done = arguments[0];"
        "setTimeout(() => navigator.clipboard.readText().then(done, (e) => done(String(e))), 200);"
    )
    shown = opened.find_element("id", button.get_attribute("data-copies")).get_attribute(
        "textContent"
    )
    assert copied == shown
    assert '"first_layer": 0' in copied
    assert opened.find_element("css selector", ".paste output").text == "Copied"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_and_stages_stand_out(browser, pages, scheme):
    show(browser, pages / "page.html", scheme)
    colour = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    card = browser.execute_script(colour, ".card", "backgroundColor")
    assert (luminance(card) < 0.05) == (scheme == "dark")
    for selector in ("h2", ".lead", ".card th", ".card td", "nav a", ".remark", ".marked td"):
        assert contrast(card, browser.execute_script(colour, selector, "color")) >= 4.5
    for picture in ("picture-plan", "picture-times", "picture-timeline", "picture-front"):
        assert all(contrast(card, fill) >= 4.5 for fill in shapes(browser, picture, "text")
                   if picture != "picture-plan" or fill.startswith("#"))  # fmt: skip
        fills = {fill for fill in shapes(browser, picture) if fill.startswith("rgb")}
        assert fills
        assert all(contrast(card, fill) >= 3 for fill in fills)


def test_print_of_a_dark_page_is_light(browser, pages):
    show(browser, pages / "page.html")
    light = {tuple(rgb(fill)) for fill in shapes(browser, "picture-timeline")}
    show(browser, pages / "page.html", "dark")
    dark = {tuple(rgb(fill)) for fill in shapes(browser, "picture-timeline")}
    # paper takes the page as it is when the event is over
    event = "dispatchEvent(new Event('beforeprint'));"
    printed = browser.execute_script(event + FIND_SHAPES, "picture-timeline", "path", "fill")
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert {tuple(rgb(fill)) for fill in printed} == light
    assert not light & dark


def test_a_narrow_window_has_no_sideways_scroll(opened):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wide = opened.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide[0] <= wide[1]


def test_hover_tells_the_stage(opened):
    place = opened.find_element("id", "picture-plan")
    webdriver.ActionChains(opened).move_to_element(place).perform()
    WebDriverWait(opened, 10).until(
        lambda found: "decoder" in found.execute_script(HOVER_TEXT, "picture-plan")
    )


HOVER_TEXT = """
const texts = [];
const visit = (root) => root.querySelectorAll("*").forEach((element) => {
  if (element.classList.contains("bk-tooltip-row-value")) texts.push(element.textContent);
  if (element.shadowRoot) visit(element.shadowRoot);
});
visit(document.body);
return texts.join(" ");
"""


def test_hostile_names_run_nothing(browser, pages):
    show(browser, pages / "hostile.html")
    assert browser.execute_script("return window.hacked") is None
    assert HOSTILE[0] in browser.find_element("css selector", "h1").text
    place = browser.find_element("id", "picture-plan")
    webdriver.ActionChains(browser).move_to_element_with_offset(place, -200, -20).perform()
    WebDriverWait(browser, 10).until(
        lambda found: HOSTILE[0] in found.execute_script(HOVER_TEXT, "picture-plan")
    )
    assert browser.execute_script("return window.hacked") is None
    assert errors(browser) == []
