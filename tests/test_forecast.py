"""The trace of a campaign and the forecast of its stop."""

from itertools import pairwise

import numpy as np
import pytest

import linkarms as la
from linkarms.campaign import Campaign, Look, Trace, open_storage
from linkarms.server._forecast import forecast
from linkarms.server._view import campaign_view

RULE = la.stopping.Paper(theta=(-10, 10))
TRUTH = [0.0, 0.4, 5.0, 5.3]
ARMS = ["ada", "ben", "cy", "dot"]


def line(n, slope=0.1, level=30.0, noise=0.0, pace=2.0):
    rng = np.random.default_rng(0)
    return [Look(i, slope * i + noise * rng.normal(), level, i / pace, (0, 1)) for i in range(4, n + 1)]


def test_lines_meet_where_they_meet():
    found = forecast(line(100))
    assert (found.low, found.middle, found.high) == (300, 300, 300)
    assert found.seconds == pytest.approx(100.0)
    noisy = forecast(line(150, noise=0.5))
    assert noisy.low <= noisy.middle <= noisy.high
    assert noisy.low > 200
    assert noisy.high < 450


def test_nothing_is_said_too_early_or_without_hope():
    assert forecast([]) is None
    assert forecast(line(6)) is None
    assert forecast(line(100, slope=-0.1)) is None
    assert forecast(line(100, slope=0.0)) is None
    assert forecast(line(100, level=210.5)) is None  # twenty times as far as it has come
    assert forecast(line(100, level=205.0)).middle == 2050
    assert forecast(line(100, slope=1.0)) is None  # it is there already


def fed(storage, seed, name="lab"):
    """A campaign that was run to its stop."""
    rng = np.random.default_rng(seed)
    campaign = Campaign.create(name, ARMS, 2, storage=storage, stopping=RULE, family="gaussian")
    while tickets := campaign.ask(1):
        campaign.tell(tickets[0], rng.normal(TRUTH[ARMS.index(tickets[0].arm)]))
    return campaign


def test_the_trace_is_what_the_clusterer_saw(storage):
    home = open_storage(storage)
    campaign = fed(home, 0)
    trace = Trace("lab", home)
    assert trace.catch_up() == 1.0
    c = la.BanditClusterer(2, ARMS, stopping=RULE, family="gaussian")
    seen = {}
    for row in sorted(trace_rows(campaign), key=lambda r: r["ticket"]):
        c.tell(row["arm"], row["value"])
        seen[c.n_samples] = (*c.evidence_and_threshold(), tuple(c.result().labels))
    assert trace.looks[0].samples == 4
    assert trace.looks[-1].samples == campaign.status().samples
    assert [look.samples for look in trace.looks] == sorted({look.samples for look in trace.looks})
    for look in trace.looks:
        assert (look.evidence, look.threshold, look.labels) == seen[look.samples]
    # as many tuples of labels as there were changes of the clusters
    assert len({id(look.labels) for look in trace.looks}) == 1 + sum(
        a.labels != b.labels for a, b in pairwise(trace.looks)
    )
    # in steps, and after a retraction, it is the same as at once
    campaign.retract(3, "a slip")
    trace.catch_up()
    anew = Trace("lab", home)
    steps = 0
    while anew.catch_up(0.0) < 1.0:
        steps += 1
    assert steps > 10
    assert trace.looks == anew.looks
    assert trace.looks[-1].samples == campaign.status().samples


def trace_rows(campaign):
    import json

    return [row for row in json.loads(campaign.export("json")) if row["value"] is not None]


def test_half_way_the_forecast_is_of_the_right_size():
    """Of thirty runs, looked at half-way, two thirds of the guesses are within a factor 1.5 of the stop.

    Each of the runs is seeded: the test cannot fail by chance, only by a change.
    """
    good = 0
    for seed in range(30):
        rng, looks = np.random.default_rng(seed), []
        c = la.BanditClusterer(2, ARMS, stopping=RULE, family="gaussian")
        while not c.done:
            (arm,) = c.ask()
            c.tell(arm, rng.normal(TRUTH[ARMS.index(arm)]))
            looks.append(Look(c.n_samples, *c.evidence_and_threshold(), float(c.n_samples), ()))
        stop = c.n_samples
        guess = forecast([look for look in looks if look.threshold < np.inf and look.samples <= stop / 2])
        good += guess is not None and stop / 1.5 <= guess.middle <= stop * 1.5
        assert c.result().stopped
    assert good >= 20


def test_the_view_has_the_library_s_numbers(storage):
    home = open_storage(storage)
    campaign = Campaign.create("lab", ARMS, 2, storage=home, stopping=RULE, family="gaussian")
    trace = Trace("lab", home)
    empty = campaign_view(campaign, trace)
    assert empty["words"]["known"] == "Nothing yet: 4 of 4 arms have no sample."
    assert empty["arms"]["missing"] == ARMS
    rng = np.random.default_rng(0)
    arms = rng.choice(ARMS, 40)
    campaign.add_many(list(arms), [rng.normal(TRUTH[ARMS.index(a)]) for a in arms], worker="me")
    campaign.ask(2, worker="you")
    view, result = campaign_view(campaign, trace), campaign.result()
    assert view["arms"]["points"] == result.parameters.tolist()
    for (low, high), (point,) in zip(view["arms"]["regions"], view["arms"]["points"], strict=True):
        assert low < point < high
    assert view["evidence"]["evidence"][-1] == result.evidence
    assert view["progress"] == pytest.approx(result.evidence / result.threshold)
    (u, v), (a, b) = result.witness.intra, result.witness.inter
    assert view["words"]["doubt"] == f"{a} and {b} could still belong together, and {u} and {v} apart."
    assert [s["number"] for s in view["recent"]] == list(range(40, 20, -1))
    assert {t["worker"] for t in view["tickets"]} == {"you"}
    assert view["dendrogram"]["cut"] > 0


def test_words_claim_no_more_than_the_rule_does(tmp_path):
    home = open_storage(tmp_path / "runs.db")

    def seen(campaign):
        return campaign_view(campaign, Trace(campaign.name, home))["words"]

    fixed = Campaign.create(
        "fixed", ARMS, 2, storage=home, sampling=la.sampling.FixedSize(1), stopping=None, family="gaussian"
    )
    fixed.add_many(ARMS, TRUTH)
    assert seen(fixed)["known"].endswith("nothing is promised.")
    assert "probability" not in seen(fixed)["known"]
    short = Campaign.create("short", ARMS, 2, storage=home, stopping=RULE, max_samples=4, family="gaussian")
    short.add_many(ARMS, TRUTH)
    assert seen(short)["known"] == "Ended without a promise: 2 clusters, as a guess."
    assert "max_samples=4 is used up" in seen(short)["remark"]
    # the paper's rule cannot stop with so large an epsilon, and the page says so
    hard = Campaign.create(
        "hard", ARMS, 2, storage=home, stopping=la.stopping.Paper((-10, 10), epsilon=3), family="gaussian"
    )
    hard.add_many(ARMS * 5, TRUTH * 5)
    assert "can never stop" in seen(hard)["remark"]
    near = Campaign.create("near", ["a", "b"], distance_threshold=1, storage=home, family="gaussian")
    near.add_many(["a", "b"] * 200, [0.0, 1.001] * 200)
    assert seen(near)["known"] == "The best guess so far is 2 clusters. Nothing is promised yet."
    assert seen(near)["remark"].startswith(
        "heading for a tie: a and b are 0.001 (0 to 0.2) farther apart than"
    )
    done = fed(home, 0, "done")
    done.retract(1, "a slip")
    words = seen(done)
    assert words["condition"].startswith("the promise is conditional: 1 sample(s) were retracted")
    assert "conditional" not in words["known"] + words["remark"]


@pytest.mark.parametrize(("d", "axes", "corners"), [(1, 1, 2), (2, 2, 24), (3, 2, 24)])
def test_arms_are_drawn_on_a_line_a_plane_or_two_principal_axes(tmp_path, d, axes, corners):
    home = open_storage(tmp_path / "runs.db")
    campaign = Campaign.create("lab", ARMS, 2, storage=home, stopping=RULE, n_features=d, family="gaussian")
    rng = np.random.default_rng(d)
    campaign.add_many(ARMS * 9, [m + rng.normal(size=d) for m in TRUTH * 9])
    view = campaign_view(campaign, Trace("lab", home))["arms"]
    assert len(view["axes"]) == axes
    assert [len(point) for point in view["points"]] == [axes] * 4
    assert [len(region) for region in view["regions"]] == [corners] * 4
    for point, region in zip(view["points"], view["regions"], strict=True):
        # unit covariance: a ball, and its cut by any plane through the centre is a disc
        reach = np.linalg.norm(np.reshape(region, (corners, axes)) - point, axis=1)
        assert reach == pytest.approx(np.full(corners, reach[0]))
