"""The page in a real browser: how it looks, and what its forms ask for. The pictures of the README are made here."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from tests.browser import Watched, make, serious
from tests.repeats import few, repeats
from tests.service_process import Service

import linkarms as la
from linkarms.client import Client

#: Where the pictures are kept; set LINKARMS_SCREENSHOTS=docs/images to make them anew.
PICTURES = os.environ.get("LINKARMS_SCREENSHOTS")


def many(storage):
    """Twelve zones in four groups, with two numbers a sample, half-way to the stop."""
    rng = np.random.default_rng(3)
    centres = np.array([[0, 0], [6, 1], [2, 6], [8, 7]])
    truth = {f"zone {i + 1}": centres[i // 3] + rng.normal(size=2) * 0.5 for i in range(12)}
    rule = la.stopping.Paper(theta=(-10, 15))
    campaign = make(storage, "zones", truth, k=4, n_features=2, stopping=rule)
    for _ in range(80 if PICTURES else repeats(30, 80)):
        tickets = campaign.ask(12, worker="bench 1")
        campaign.tell_many(tickets, [rng.normal(truth[t.arm]) for t in tickets])
    campaign.ask(3, worker="bench 2")
    campaign.ask(1, worker="Ada")


@pytest.fixture(scope="module")
def zones(tmp_path_factory):
    """A service with a campaign that is half-way, and one that is empty."""
    storage = tmp_path_factory.mktemp("zones") / "runs.db"
    many(storage)
    make(storage)
    with Service(storage) as service:
        yield service


#: Sizes with colours; axe takes a second for each page.
SCREENS = [
    (*size, scheme) for size in (("desktop", 1280, 900), ("phone", 390, 844)) for scheme in ("light", "dark")
]


@pytest.mark.parametrize(
    ("name", "width", "height", "scheme"), SCREENS if PICTURES else few(SCREENS, every=3)
)
def test_pictures(chrome, zones, name, width, height, scheme):
    """Nothing is wider than the screen, axe is content, and the picture is taken."""
    watched = Watched(chrome, zones, viewport={"width": width, "height": height}, color_scheme=scheme)
    page = watched.page
    page.goto(f"{zones.url}/#/c/zones")
    page.locator("svg .evidence").first.wait_for()
    page.locator("svg .region").first.wait_for()
    page.get_by_text("could still belong together").wait_for()
    page.get_by_text("live", exact=True).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(page) == []
    shot = page.screenshot(full_page=True)
    assert shot.startswith(b"\x89PNG")
    if PICTURES:
        (Path(PICTURES) / f"service-{name}-{scheme}.png").write_bytes(shot)
    page.goto(f"{zones.url}/#/")
    page.get_by_role("link", name="zones").wait_for()
    page.get_by_role("button", name="Start the campaign").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(page) == []
    watched.check()
    watched.context.close()


def test_a_ticket_that_is_gone_stays_chosen(chrome, zones):
    """No other arm may slip into its place while somebody types; and the keyboard keeps its place when the page changes."""
    watched = Watched(chrome, zones)
    page = watched.page
    with Client.open("coffee", zones.url) as client:
        client.ask(1, worker="robot")
        page.goto(f"{zones.url}/#/c/coffee")
        page.get_by_role("button", name="What should I measure next?").click()
        told = page.get_by_text(re.compile("Please measure")).inner_text()
        ticket = int(re.search(r"ticket (\d+)", told)[1])
        assert page.evaluate("document.activeElement.name") == "value"
        page.keyboard.type("0.5")
        client.release(ticket)
        chosen = page.locator("select[name=what] option:checked")
        page.wait_for_function(
            "() => document.querySelector('select').selectedOptions[0].textContent.includes('no longer')"
        )
        assert f"ticket {ticket}" in chosen.inner_text()
        page.keyboard.press("Enter")
        page.get_by_text(f"ticket {ticket} was released").wait_for()
        assert client.status().samples == 0
        page.get_by_label("Sample of").select_option(label="ada")
        page.get_by_label("Value").press("Enter")
        page.get_by_text(re.compile("Stored as sample 1, arm ada")).wait_for()
        button = page.get_by_role("button", name="Take out sample 1")
        button.focus()
        client.add("ben", 1.0)
        page.get_by_role("button", name="Take out sample 2").wait_for()
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Take out sample 1"
        page.keyboard.press("Enter")
        page.get_by_label("Why").fill("a slip")
        page.keyboard.press("Enter")
        page.get_by_text("1 sample(s) were retracted").wait_for()
    watched.check(away=True)  # the browser reports the refusal by itself
    watched.context.close()


def test_the_form_asks_for_what_the_rule_needs(chrome, zones):
    """The rules are those that the service names; a rule without settings is sent without any. Families are sent as text."""
    watched = Watched(chrome, zones)
    page, sent, families, clips, orders = watched.page, [], [], [], []
    rule = {"name": "anytime", "about": "", "parameters": ["grid"], "required": []}
    odd = {"name": "odd", "about": "", "parameters": ["size"], "required": ["size"]}

    def choices(route):
        found = route.fetch().json()
        found["stopping"] = [r for r in found["stopping"] if r["name"] == "paper"] + [rule, odd]
        found["defaults"]["stopping"] = "anytime"
        route.fulfill(json=found)

    def create(route):
        if route.request.method != "POST":
            route.continue_()
            return
        body = route.request.post_data_json
        sent.append(body["stopping"])
        families.append(body["family"])
        clips.append(body.get("clip"))
        orders.append(body.get("in_order"))
        route.fulfill(status=422, json={"detail": "not today"})

    page.route("**/api/v1/choices", choices)
    page.route("**/api/v1/campaigns", create)
    page.goto(zones.url)
    page.get_by_label("Name (letters").fill("tea")
    page.get_by_label("Arms").fill("a\nb\nc")
    assert page.get_by_label("It stops").evaluate("s => [...s.options].map(o => o.value)") == [
        "paper",
        "anytime",
    ]
    assert page.get_by_label("All parameters lie above").is_hidden()
    page.get_by_role("button", name="Start the campaign").click()
    page.get_by_text("not today").wait_for()
    page.get_by_label("It stops").select_option("paper")
    page.get_by_role("button", name="Start the campaign").click()  # the browser asks for the range first
    assert page.evaluate("document.activeElement.name") == "from"
    page.get_by_label("All parameters lie above").fill("-3")
    page.get_by_label("… and below").fill("3")
    page.get_by_role("button", name="Start the campaign").click()
    page.wait_for_function("() => !document.querySelector('form button.main').disabled")
    page.get_by_label("A sample is").select_option("gaussian")
    page.get_by_label("Variance of the noise").fill("2.5")
    page.get_by_label("It stops").select_option("anytime")
    page.get_by_role("button", name="Start the campaign").click()
    page.wait_for_function("() => !document.querySelector('form button.main').disabled")
    assert page.get_by_label("A sample outside").is_hidden()
    page.get_by_label("A sample is").select_option("bounded")
    page.get_by_label("Smallest possible sample").fill("-30")
    page.get_by_label("Largest possible sample").fill("120")
    page.get_by_label("A sample outside").select_option("clip")
    page.get_by_label("Samples count").select_option("asked")
    page.get_by_role("button", name="Start the campaign").click()
    page.wait_for_function("() => !document.querySelector('form button.main').disabled")
    assert families == ["gaussian-unknown", "gaussian-unknown", "gaussian:2.5", "bounded:-30:120"]
    assert clips == [None, None, None, [-30, 120]]
    assert orders == [None, None, None, True]
    assert sent == [
        {"name": "anytime"},
        {"name": "paper", "theta": [-3, 3], "epsilon": 0.01},
        {"name": "anytime"},
        {"name": "anytime"},
    ]
    watched.check(away=True)
    watched.context.close()
