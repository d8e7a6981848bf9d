"""Debian's Chromium by way of Playwright; its path is in the variable LINKARMS_CHROMIUM."""

import contextlib
import os
import re
import shutil

import httpx
import pytest
from tests.postgres import required

import linkarms as la
from linkarms.campaign import Campaign

TRUTH = {"ada": 0.0, "ben": 0.4, "cy": 5.0, "dot": 5.3}
#: What a browser says by itself while the service is away.
AWAY = re.compile(r"net::ERR_|Failed to load resource")


def chromium():
    """The path of the browser, or None."""
    return os.environ.get("LINKARMS_CHROMIUM") or shutil.which("chromium")


@contextlib.contextmanager
def browser():
    """A browser; the test is skipped where there is none, except in CI."""
    path = chromium()
    if path is None and not required():
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield started
        finally:
            started.close()


class Watched:
    """A page whose console, errors and requests are kept."""

    def __init__(self, chrome, service, **options):
        self.context = chrome.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(90_000)  # the first campaign may wait for the compiler
        self.said, self.hosts = [], set()
        self.page.on(
            "console", lambda m: self.said.append(m.text) if m.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda e: self.said.append(str(e)))
        self.page.on("request", lambda r: self.hosts.add(httpx.URL(r.url).netloc.decode()))
        self.service = service

    def check(self, away=False):
        said = [text for text in self.said if not (away and AWAY.search(text))]
        assert said == []
        assert self.hosts == {f"127.0.0.1:{self.service.port}"}


def serious(page):
    """What axe finds that is serious or critical, in words."""
    from axe_playwright_python.sync_playwright import Axe

    # axe is put into the page by the browser itself, which the page's policy does not concern
    found = Axe().run(page).response["violations"]
    return [
        f"{v['id']}: {v['help']} {[n['target'] for n in v['nodes']]}"
        for v in found
        if v["impact"] in ("serious", "critical")
    ]


def make(storage, name="coffee", arms=tuple(TRUTH), **settings):
    rule = settings.pop("stopping", la.stopping.Paper(theta=(-10, 10)))
    return Campaign.create(
        name, list(arms), settings.pop("k", 2), storage=storage, stopping=rule, family="gaussian", **settings
    )
