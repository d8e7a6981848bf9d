"""Debian's Chromium by way of Playwright; its path is in the variable LINKARMS_CHROMIUM."""

import contextlib
import os
import shutil

import pytest
from tests.postgres import required


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
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield started
        finally:
            started.close()
