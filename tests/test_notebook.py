"""What objects look like in a notebook, and progress there."""

import re
import sys
import types
from xml.etree import ElementTree

import numpy as np
import pytest

import linkarms as la
from linkarms._progress import Progress


def parsed(value):
    """The view as a tree: it is well-formed, and has no script."""
    html = value._repr_html_()
    assert "<script" not in html
    return ElementTree.fromstring(html)


def text(value):
    return " ".join(" ".join(parsed(value).itertext()).split())


def test_a_result():
    rng = np.random.default_rng(0)
    data = {"<b>&": rng.normal(0, 1, 400), "two": rng.normal(0.2, 1, 400), "three": rng.normal(9, 1, 400)}
    result = la.cluster(data, 2)
    shown = text(result)
    assert f"2 clusters of 3 arms, {result.samples} samples" in shown
    assert "✓ Stopped: the clusters are wrong with probability at most 0.05." in shown
    assert "<b>&, two" in shown
    assert "Next: to_frame() gives the numbers of each arm" in shown
    assert parsed(result).find(".//{http://www.w3.org/2000/svg}svg") is not None
    titles = [title.text for title in parsed(result).iter("{http://www.w3.org/2000/svg}title")]
    assert [title.split(":")[0] for title in titles[2:]] == ["<b>&", "two", "three"]
    assert titles[0].startswith("joined at distance ")
    assert titles[4] == f"three: cluster 1, {result.pulls[2]} samples, estimate {result.parameters[2, 0]:.4g}"


def test_a_result_without_a_promise_says_what_is_missing():
    result = la.cluster(la.Problem([0.0, 1.0, 3.0, 4.2], n_clusters=2), delta=1e-6, max_samples=300, seed=4)
    shown = text(result)
    assert "– No promise: max_samples=300 is used up" in shown
    assert "Least certain: " in shown
    assert "Next: take more samples, or give a tolerance" in shown
    assert len(re.findall(r"would have stopped at delta = 0\.\d", shown)) == 1


def test_warnings_of_the_model_are_shown():
    """The samples contradict the declared variance: nobody should rely on the promise above them."""
    rng = np.random.default_rng(1)
    wide = {name: rng.normal(mean, 40.0, 300) for name, mean in {"a": 0.0, "b": 5.0, "c": 90.0}.items()}
    result = la.cluster(wide, 2, family="gaussian")
    (warning,) = (line for line in result.warnings if "times the declared one" in line)
    assert f"Warning. {warning[0].upper()}{warning[1:]}." in text(result)


def test_a_run_before_during_and_after():
    run = la.BanditClusterer(2, ["x", "y", "z"], family="gaussian")
    assert "3 arm(s) have no sample" in text(run)
    assert "inf" not in text(run)
    assert "3 arms, 2 clusters, delta=0.05" in text(run)
    run.ask(2)
    run.tell_many(["x", "y", "z"], [0.0, 0.2, 4.0])
    shown = text(run)
    assert "run.ask() names the next arm" in shown
    assert "evidence" in shown
    while not run.done:
        (arm,) = run.ask()
        run.tell(arm, {"x": 0.0, "y": 0.2, "z": 9.0}[arm])
    assert "run.ask()" not in text(run)
    assert "done" in text(run)


def test_many_arms_and_vectors_stay_readable():
    result = la.cluster(la.Problem(np.arange(60.0) ** 1.5, n_clusters=50), max_samples=70)
    assert "svg" not in result._repr_html_()
    assert "mean (" in text(la.cluster(la.problems.synthetic1()))


def test_plans_simulations_and_audits():
    problem = la.problems.synthetic1()
    plan = la.plan([0.0, 0.4, 5.0], n_clusters=2, stopping="anytime", trials=5, sampling=["ebc-h"])
    assert f"fewer than {plan.samples:,.1f} samples" in text(plan)
    simulation = la.simulate(problem, ["ebc-h"], stopping="anytime", deltas=[0.1], trials=4, seed=0)
    assert "Simulation of 4 trials" in text(simulation)
    assert f"{simulation.summary()[0]['mean']:,.1f}" in text(simulation)
    audit = la.audit(problem, sampling="ebc-h", stopping="anytime", deltas=[0.1], trials=10)
    assert audit.conclusion() in text(audit)


@pytest.fixture
def cell(monkeypatch):
    """The output of a notebook's cell, without a notebook."""
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data)

    def display(data, raw, display_id):
        shown.append(data)
        return Handle()

    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    fake = types.ModuleType("IPython.display")
    fake.display = display
    package = types.ModuleType("IPython")
    package.display = fake
    monkeypatch.setitem(sys.modules, "IPython", package)
    return shown


def test_progress_in_a_notebook_is_one_bar_that_moves(cell, capsys):
    with Progress("clustering <1>") as bar:
        bar._last = 0.0
        bar.update(0.25, "10 samples")
        bar.say("finished")
    assert cell[0] == {"text/plain": "clustering <1>"}
    assert [re.search(r'value="([\d.]+)"', data["text/html"])[1] for data in cell[1:]] == ["0.250", "1.000"]
    assert "clustering &lt;1&gt;: 10 samples" in cell[1]["text/html"]
    assert capsys.readouterr().err == ""


def test_progress_in_a_notebook_is_silent_unless_asked_for(cell):
    with Progress("clustering", enabled=False) as bar:
        bar.update(0.5, "x")
    assert cell == []
