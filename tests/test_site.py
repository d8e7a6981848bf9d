"""The built site (`make docs`) in a real browser: phone and desktop, dark and light; every link leads somewhere, search finds things."""

import functools
import http.server
import importlib
import inspect
import io
import os
import re
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlparse

import pytest
from tests.browser import Watched, serious
from tests.postgres import required

import linkarms as la

SITE = Path(__file__).parents[1] / "docs" / "_build" / "html"
PAGES = [
    "index.html",
    "guide.html",
    "start.html",
    "anytime.html",
    "reference.html",
    "auto_examples/index.html",
]
SIZES = {"phone": {"width": 390, "height": 844}, "desktop": {"width": 1280, "height": 900}}

pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").is_file() and not required(), reason="the site is not built; run make docs"
)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


class QuietServer(http.server.ThreadingHTTPServer):
    def handle_error(self, *args):
        """Say nothing of a browser that leaves while it is sent a page."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(*args)


class Site:
    """The site on a port of its own."""

    def __init__(self):
        handler = functools.partial(QuietHandler, directory=str(SITE))
        self.server = QuietServer(("127.0.0.1", 0), handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def site():
    started = Site()
    yield started
    started.close()


def theme(page):
    """Whether the page is drawn dark or light."""
    return page.evaluate("document.documentElement.dataset.theme")


def take_picture(page, name):
    """With ``LINKARMS_SITE_PICTURES=docs/images/site`` the suite takes small pictures of the pages: look at them before you commit."""
    folder = os.environ.get("LINKARMS_SITE_PICTURES")
    if not folder:
        return
    from PIL import Image

    Path(folder).mkdir(parents=True, exist_ok=True)
    page.wait_for_timeout(1500)
    whole = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    half = whole.resize((whole.width * 5 // 8, whole.height * 5 // 8), Image.Resampling.LANCZOS)
    half.save(Path(folder) / f"{name}.webp", quality=70)


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("size", SIZES)
def test_pages_open_without_a_word_in_the_console(chrome, site, size, scheme):
    watched = Watched(chrome, site, viewport=SIZES[size], color_scheme=scheme)
    try:
        for name in PAGES:
            watched.page.goto(site.url + name)
            assert theme(watched.page) == scheme
            wide = watched.page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert wide <= 0, f"{name} is {wide} pixels wider than a {size}"
            take_picture(
                watched.page, f"{Path(name).with_suffix('').as_posix().replace('/', '-')}-{size}-{scheme}"
            )
        watched.check()
    finally:
        watched.context.close()


@pytest.mark.parametrize("name", ["families.html", "how-it-works.html", "api/linkarms.BanditClusterer.html"])
def test_the_text_fits_a_phone(chrome, site, name):
    """Code, tables and formulas may scroll by themselves, and begin at their left end; the text does not scroll sideways."""
    watched = Watched(chrome, site, viewport=SIZES["phone"])
    try:
        watched.page.goto(site.url + name)
        wide = "document.querySelector('.bd-article-container').scrollWidth - document.documentElement.clientWidth"
        assert watched.page.evaluate(wide) <= 0
        left = "Math.min(0, ...[...document.querySelectorAll('div.math > math')].map(f => f.getBoundingClientRect().left))"
        assert watched.page.evaluate(left) >= 0
    finally:
        watched.context.close()


@pytest.mark.parametrize("name", ["index.html", "start.html"])
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_no_serious_accessibility_issue(chrome, site, name, scheme):
    watched = Watched(
        chrome, site, viewport=SIZES["desktop"], color_scheme=scheme, reduced_motion="reduce", bypass_csp=True
    )
    try:
        watched.page.goto(site.url + name)
        watched.page.evaluate("Promise.all(document.getAnimations().map((a) => a.finished))")
        assert serious(watched.page) == []
    finally:
        watched.context.close()


def test_the_picture_plays_and_can_be_stopped(chrome, site):
    watched = Watched(chrome, site, viewport=SIZES["desktop"])
    try:
        page = watched.page
        page.goto(site.url)
        button, slider = page.locator(".run-controls button"), page.locator(".run-controls input")
        assert button.inner_text() == "Pause"
        page.wait_for_function("document.querySelector('.run-controls input').value > 1")
        button.click()
        assert button.inner_text() == "Play"
        slider.press("End")
        shown = page.locator(".run .frame.shown")
        assert shown.count() == 1
        assert "wrong with probability at most 0.05" in shown.text_content()
        watched.check()
    finally:
        watched.context.close()


def test_search_finds_a_function_and_a_page(chrome, site):
    watched = Watched(chrome, site, viewport=SIZES["desktop"])
    try:
        for words, expected in (("confidence_radii", "confidence_radii"), ("single linkage", "How it works")):
            watched.page.goto(site.url + f"search.html?q={words}")
            watched.page.locator("#search-results li > a", has_text=expected).first.wait_for()
        watched.check()
    finally:
        watched.context.close()


class Links(HTMLParser):
    """Addresses and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.addresses, self.anchors = set(), set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given[k] for k in ("id", "name") if given.get(k)}
        self.addresses |= {given[k] for k in ("href", "src") if given.get(k)}


def test_no_page_loads_anything_from_another_host():
    foreign = re.compile(r"<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)=\"(https?:)?//", re.IGNORECASE)
    found = [page.name for page in SITE.rglob("*.html") if foreign.search(page.read_text("utf-8"))]
    assert not found


def test_no_internal_link_is_broken():
    pages = {path: Links(path) for path in SITE.rglob("*.html") if "_static" not in path.parts}
    assert len(pages) > 150
    broken = []
    for path, found in pages.items():
        for address in found.addresses:
            if re.match(r"(https?:|mailto:|data:|javascript:)", address):
                continue
            there, anchor = urldefrag(urljoin(path.as_uri(), address))
            target = Path(unquote(urlparse(there).path))
            if not target.exists():
                broken.append(f"{path.relative_to(SITE)}: {address}")
            elif anchor and target in pages and unquote(anchor) not in pages[target].anchors:
                broken.append(f"{path.relative_to(SITE)}: {address} (no such heading)")
    assert broken == []


def test_everything_public_is_in_the_reference():
    """Each public name has a page of its own, under the package that it belongs to."""
    described = {path.stem.rpartition(".")[2] for path in (SITE / "api").glob("*.html")}
    modules = "arms campaign checks client datasets errors families linkage montecarlo paper planning regions sampling"
    names = {f"linkarms.{name}": getattr(la, name) for name in la.__all__}
    for module in map(
        importlib.import_module, (f"linkarms.{m}" for m in f"{modules} server sklearn stopping".split())
    ):
        names |= {f"{module.__name__}.{name}": getattr(module, name) for name in module.__all__}
    things = [name for name, value in names.items() if inspect.isclass(value) or inspect.isfunction(value)]
    assert [name for name in things if name.rpartition(".")[2] not in described] == []
