"""Shared settings: hypothesis without a deadline (the first example of a kernel compiles), derandomised so that CI does not flake."""

import gc
import os
import sys

import pytest
from hypothesis import settings

os.environ.setdefault("LINKARMS_QUIET", "1")
# Before NumPy is imported: small matrices gain nothing from threads, which wait actively while the other processes need the processor.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
settings.register_profile("linkarms", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("linkarms")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect without looking for garbage: there is little, and all that is imported stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def no_figures_stay_open():
    """Examples leave their figures open, and more than twenty at a time are a warning, whichever test opens the last one."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def few_samples(tmp_path_factory):
    """A CSV file of three arms in two clusters, four records each."""
    path = tmp_path_factory.mktemp("data") / "samples.csv"
    rows = [
        f"{zone},{m + i / 4 - 0.5},{-m},hello" for i in range(4) for zone, m in (("a", 0), ("b", 8), ("c", 1))
    ]
    path.write_text("\n".join(["zone,x,y,note", *rows]) + "\n")
    return path


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of our own; the tests that need it are skipped where it is not installed, except in CI."""
    from tests.postgres import Server, binaries, required

    if binaries() is None and not required():
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    with Server(fsync=False) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request, tmp_path):
    """An empty database, once of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    return request.getfixturevalue("postgres").database()


@pytest.fixture(scope="module")
def chrome():
    """A browser; see tests/browser.py."""
    from tests.browser import browser

    with browser() as started:
        yield started
