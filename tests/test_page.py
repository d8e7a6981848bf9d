"""The page in a real browser: from nothing to the stop, through a restart of the service."""

import json
import os
import re
import subprocess
import sys
import time

import httpx
import numpy as np
from tests.browser import TRUTH, Watched, make, serious
from tests.service_process import MAIN, Service
from tests.service_thread import local_service
from tests.test_service_access import READ, WRITE
from tests.test_service_states import Stalled

from linkarms.client import Client
from linkarms.server._served import _Watched


def store(page, value):
    page.get_by_label("Value").fill(str(value))
    page.get_by_role("button", name="Store the sample").click()
    # the words of the sample before may still stand there
    page.wait_for_function(
        "() => document.querySelector('[name=value]').value === '' && !document.querySelector('form .main').disabled"
    )
    page.get_by_text(re.compile("Stored as sample")).wait_for()


def test_from_an_empty_list_to_the_stop(chrome, tmp_path):
    """Create on the page, feed from the page and from the API until it stops, reload, kill and restart the service."""
    rng = np.random.default_rng(0)
    with Service(tmp_path / "runs.db") as service, Client("coffee", service.url) as client:
        watched = Watched(chrome, service)
        page = watched.page
        page.goto(service.url)
        page.get_by_text("There is no campaign yet.").wait_for()
        assert serious(page) == []
        page.get_by_label("Name (letters").fill("coffee")
        page.get_by_label("Arms").fill("\n".join(TRUTH))
        page.get_by_label("A sample is").select_option("gaussian")
        page.get_by_label("It stops").select_option("paper")
        page.get_by_label("All parameters lie above").fill("-10")
        page.get_by_label("… and below").fill("10")
        page.get_by_role("button", name="Start the campaign").click()
        page.get_by_role("heading", name="coffee").wait_for()
        page.get_by_text("4 of 4 arms have no sample").wait_for()
        page.get_by_label("Who measures").fill("Ada")
        for _ in range(4):  # a person who does what the page says
            page.get_by_role("button", name="What should I measure next?").click()
            told = page.get_by_text(re.compile("Please measure")).inner_text()
            arm = re.search(r"measure (\w+):", told)[1]
            store(page, rng.normal(TRUTH[arm]))
        page.get_by_text("The best guess so far is").wait_for()
        page.get_by_label("Sample of").select_option(label="dot")  # one that nobody asked for
        store(page, -4.0)
        assert service_status(service)["samples"] == 5
        wrong = clusters_shown(page)

        tickets = client.ask(8, worker="robot")
        client.tell_many(tickets, [rng.normal(TRUTH[t.arm]) for t in tickets])
        page.get_by_text(re.compile(r"^13 samples of 4 arms")).wait_for()  # without a reload
        client.retract(next(s for s in numbers(service) if s["value"] == -4.0)["ticket"], "a slip of the pen")
        page.get_by_text(re.compile(r"^12 samples of 4 arms")).wait_for()
        page.get_by_text("1 sample(s) were retracted").wait_for()
        page.wait_for_function("() => document.querySelectorAll('svg .evidence').length > 0")
        assert clusters_shown(page) != wrong

        page.reload()
        page.get_by_text(re.compile(r"^12 samples of 4 arms")).wait_for()
        watched.check()

        service.kill()
        page.get_by_text("disconnected").wait_for()
        page.get_by_label("Sample of").select_option(label="ada")
        page.get_by_label("Value").fill("0.125")
        page.get_by_role("button", name="Store the sample").click()
        page.get_by_text("What you entered is still here").wait_for()
        service.start()
        page.get_by_text("live", exact=True).wait_for()
        page.get_by_role("button", name="Store the sample").click()
        page.get_by_text(re.compile("Stored as sample")).wait_for()
        assert [s["value"] for s in numbers(service)].count(0.125) == 1

        while tickets := client.ask(16, worker="robot"):
            client.tell_many(tickets, [rng.normal(TRUTH[t.arm]) for t in tickets])
        page.get_by_text("Done: the clusters are wrong with probability at most 0.05.").wait_for()
        page.get_by_text("Nothing more to measure.").wait_for()
        assert clusters_shown(page) == {"ada": "0", "ben": "0", "cy": "1", "dot": "1"}
        assert serious(page) == []
        with page.expect_download() as download:
            page.get_by_role("link", name="CSV").click()
        assert download.value.suggested_filename == "coffee.csv"
        watched.check(away=True)
        watched.context.close()  # a page that stays open goes on to look for its service


def service_status(service):
    return httpx.get(f"{service.url}/api/v1/campaigns/coffee", timeout=120, verify=False).json()


def numbers(service):
    return httpx.get(
        f"{service.url}/api/v1/campaigns/coffee/export?format=json", timeout=120, verify=False
    ).json()


def clusters_shown(page):
    """The cluster of each arm, from the table."""
    if not page.locator("details[open]").count():
        page.get_by_text("As a table", exact=True).click()
    rows = page.locator("details table tbody tr")
    return {
        row.locator("td").nth(0).inner_text(): row.locator("td").nth(1).inner_text() for row in rows.all()
    }


def test_names_with_html_are_text(chrome, tmp_path):
    storage = tmp_path / "runs.db"
    nasty = [
        "<img src=x onerror=\"document.title='hit'\">",
        "<script>document.title='hit'</script>",
        "b&amp;",
        "c",
    ]
    campaign = make(storage, arms=nasty)
    campaign.add_many(nasty, [0.0, 0.1, 5.0, 5.1], worker="<b>me</b>")
    campaign.ask(2, worker="<i>you</i>")
    with Service(storage) as service:
        watched = Watched(chrome, service)
        watched.page.goto(f"{service.url}/#/c/coffee")
        watched.page.get_by_role("cell", name="<b>me</b>").first.wait_for()
        watched.page.get_by_text("As a table", exact=True).click()
        watched.page.get_by_role("cell", name=nasty[0]).first.wait_for()
        assert watched.page.locator("main img, main script, main b, main i").count() == 0
        assert watched.page.title() == "coffee – linkarms"
        watched.check()
        watched.context.close()


def test_log_in_and_read_only(chrome, tmp_path):
    storage, tokens = tmp_path / "runs.db", tmp_path / "tokens"
    make(storage)
    tokens.write_text(f"read {READ}\nwrite {WRITE}\n")
    tokens.chmod(0o600)
    with Service(storage, "--token-file", str(tokens)) as service:
        watched = Watched(chrome, service)
        page = watched.page
        page.goto(f"{service.url}/#/c/coffee")
        assert serious(page) == []
        page.get_by_label("Token").fill("wrong-token-0123456789")
        page.get_by_role("button", name="Log in").click()
        page.get_by_text("there is no such token").wait_for()
        watched.said.clear()  # the browser reports the 401 by itself
        page.get_by_label("Token").fill(READ)
        page.keyboard.press("Enter")
        page.get_by_text("4 of 4 arms have no sample").wait_for()
        page.get_by_text("live", exact=True).wait_for()
        assert page.get_by_role("button", name="Store the sample").count() == 0
        assert page.evaluate("document.cookie") == ""
        page.get_by_role("button", name="Log out").click()
        page.get_by_label("Token").wait_for()
        watched.check()
        watched.context.close()


def test_an_unknown_campaign_is_an_error_in_words(chrome, tmp_path):
    make(tmp_path / "runs.db")
    with Service(tmp_path / "runs.db") as service:
        watched = Watched(chrome, service)
        watched.page.goto(f"{service.url}/#/c/tea")
        watched.page.get_by_text("there is no campaign 'tea'").wait_for()
        watched.page.keyboard.press("Tab")  # by keyboard: skip link, home
        watched.page.keyboard.press("Tab")
        watched.page.keyboard.press("Enter")
        watched.page.get_by_role("link", name="coffee").wait_for()
        watched.check(away=True)
        watched.context.close()


def test_ten_thousand_samples_stay_smooth(chrome, tmp_path):
    """The service thins the curve out; drawing a new view takes no longer than three frames."""
    rng = np.random.default_rng(1)
    campaign = make(tmp_path / "runs.db", delta=1e-300)
    arms = rng.choice(list(TRUTH), 10_000)
    campaign.add_many(list(arms), list(rng.normal(size=10_000)))  # all alike, so that it does not stop
    with Service(tmp_path / "runs.db") as service:
        watched = Watched(chrome, service)
        watched.page.goto(f"{service.url}/#/c/coffee")
        watched.page.get_by_text(re.compile(r"^10,000 samples")).wait_for()
        with httpx.Client(base_url=service.url, timeout=60, verify=False) as client:
            view = client.get("/api/v1/campaigns/coffee/view")
            while view.json()["evidence"]["replayed"] < 1:
                time.sleep(0.05)
                view = client.get("/api/v1/campaigns/coffee/view")
        assert 200 <= len(view.json()["evidence"]["samples"]) <= 400
        assert view.json()["evidence"]["samples"][-1] == 10_000
        assert len(view.content) < 40_000
        watched.page.wait_for_function("() => document.querySelectorAll('svg .evidence')[0]")
        # processor time of the page while twenty samples come in; it does not depend on what else the machine does
        probe = watched.context.new_cdp_session(watched.page)
        probe.send("Performance.enable", {"timeDomain": "threadTicks"})
        drawn = []
        watched.page.on("requestfinished", lambda r: drawn.append(r.url) if r.url.endswith("/view") else None)
        before = busy(probe)
        for i in range(20):
            campaign.add("ada", float(i))
        watched.page.get_by_text(re.compile(r"^10,020 samples")).wait_for()
        assert 0 < busy(probe) - before < 0.05 * len(drawn)
        watched.check()
        watched.context.close()


def busy(probe):
    """Seconds of the processor that a page has used for scripts, styles and layout."""
    found = {m["name"]: m["value"] for m in probe.send("Performance.getMetrics")["metrics"]}
    return found["ScriptDuration"] + found["RecalcStyleDuration"] + found["LayoutDuration"]


def test_the_first_chart(chrome, tmp_path):
    """`linkarms serve --demo` shows a campaign that grows, and leaves nothing behind."""
    command = [sys.executable, "-c", MAIN, "serve", "--demo", "--json", "--port", "0"]
    env = os.environ | {"LINKARMS_QUIET": "1", "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    try:
        url = json.loads(process.stdout.readline())["url"]
        page = chrome.new_page()
        page.set_default_timeout(90_000)
        page.goto(url)
        page.get_by_role("link", name="demo").click()
        page.locator("svg .region").first.wait_for()
        page.locator("svg .evidence").first.wait_for()
        before = httpx.get(f"{url}/api/v1/campaigns/demo", timeout=120, verify=False).json()["samples"]
        assert before >= 6
        page.wait_for_function(
            "n => Number(document.querySelector('main section p').textContent.split(' ')[0].replace(',', '')) > n",
            arg=before,
        )
        page.close()
        process.terminate()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert list(tmp_path.iterdir()) == []


def test_it_shows_the_last_state_while_a_newer_one_is_computed(chrome, tmp_path, monkeypatch):
    stalled = Stalled(monkeypatch, _Watched, "_make_view")
    campaign = make(tmp_path / "runs.db")
    with local_service(tmp_path / "runs.db") as service:
        watched = Watched(chrome, service)
        page = watched.page
        page.goto(f"{service.base_url}/#/c/coffee")
        page.get_by_text("Nothing yet: 4 of 4 arms have no sample.").wait_for()
        stalled.go_on.clear()
        campaign.add("ada", 0.5)
        page.get_by_text(re.compile("A newer state is being computed. This one is \\d+ s old.")).wait_for()
        page.get_by_text("Nothing yet: 4 of 4 arms have no sample.").wait_for()
        stalled.go_on.set()
        page.get_by_text("Nothing yet: 3 of 4 arms have no sample.").wait_for()
        page.get_by_text("A newer state").wait_for(state="hidden")
        watched.check()
        watched.context.close()
