"""Clusters by a distance threshold, as users meet them: runs and dumps, refusals, bounds, plans, plots, campaigns, the command line."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from scipy.optimize import minimize

import linkarms as la
from linkarms._goal import Goal
from linkarms.errors import InvalidDump, InvalidInput
from linkarms.families import resolve


def test_a_loaded_run_goes_on_bit_for_bit():
    rng = np.random.default_rng(10)
    truth = [0.0, 0.4, 3.0, 3.3]
    for family in ("gaussian", "gaussian-unknown"):
        runs = [la.BanditClusterer(arms=4, family=family, distance_threshold=1.5, tolerance=0.1)]
        for t in range(400):
            if t == 60:
                runs.append(la.BanditClusterer.load(runs[0].dump()))
            if runs[0].done:
                break
            (arm,) = runs[0].ask()
            x = rng.normal(truth[arm])
            runs[0].tell(arm, x)
            if len(runs) > 1:
                assert runs[1].ask() == [arm]
                runs[1].tell(arm, x)
        assert runs[0].done
        assert runs[0].result().to_dict() == runs[-1].result().to_dict()
        assert runs[0].result().clusters == [[0, 1], [2, 3]]


def test_dumps_hold_one_of_the_two():
    c = la.BanditClusterer(arms=3, distance_threshold=2.0)
    data = json.loads(c.dump())
    assert data["n_clusters"] is None
    assert data["distance_threshold"] == 2.0
    assert "tolerance" not in data
    old = json.loads(la.BanditClusterer(2, 3).dump())
    assert "distance_threshold" not in old
    assert "tolerance" not in old
    assert la.BanditClusterer.load(json.dumps(old)).n_clusters == 2
    with pytest.raises(InvalidDump, match="both given"):
        la.BanditClusterer.load(json.dumps(data | {"n_clusters": 2}))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_clusters": 2, "distance_threshold": 1.0}, "both given; give one"),
        ({"distance_threshold": 0.0}, "out of range"),
        ({"distance_threshold": math.inf}, "not a finite number"),
        ({"distance_threshold": "far"}, "not a finite number"),
        ({"distance_threshold": 1.0, "tolerance": 1.0}, "not below distance_threshold=1"),
        ({"n_clusters": 2, "tolerance": -1.0}, "tolerance=-1 is out of range"),
        ({"distance_threshold": 1.0, "sampling": "lucbboc"}, "needs n_clusters and no tolerance"),
        ({"distance_threshold": 1.0, "stopping": la.stopping.Anytime(version=1)}, "version 2"),
    ],
)
def test_bad_goals_are_refused(settings, words):
    with pytest.raises(InvalidInput, match=words):
        la.BanditClusterer(arms=4, **settings)


def test_one_cluster_and_all_alone_are_answers_that_need_evidence():
    near = la.cluster(la.Problem([0.0, 0.1, 0.2], distance_threshold=2.0), seed=1)
    assert near.stopped
    assert near.labels.tolist() == [0, 0, 0]
    assert near.samples > 6
    assert near.witness is not None
    assert near.witness.inter is None
    far = la.cluster(la.Problem([0.0, 3.0, 6.0], distance_threshold=1.0), seed=1)
    assert far.stopped
    assert far.labels.tolist() == [0, 1, 2]
    assert far.samples > 3
    assert far.witness is not None
    assert far.witness.intra is None
    assert str(far.witness).endswith("(apart)")


def test_the_level_counts_pairs_of_arms():
    families = resolve("poisson", 7, 1)
    rule = la.stopping.Anytime()
    assert rule.base(families, Goal(None, 1.0), 3) == pytest.approx(math.log(21) + math.log(8))
    assert rule.base(resolve("gaussian", 7, 2), Goal(None, 1.0), 3) == pytest.approx(math.log(21))


def test_lower_bound_against_a_search_over_weights():
    rng = np.random.default_rng(11)
    for turn in range(6):
        n, d = 3 + turn % 2, 1 + turn % 2
        theta = rng.normal(scale=2.0, size=(n, d))
        dist = np.linalg.norm(theta[:, None] - theta[None], axis=2)
        r = float(np.median(dist[np.triu_indices(n, 1)])) * 0.8
        bound = la.lower_bound(theta, distance_threshold=r, gap=1e-4)
        labels = Goal(None, r).partition(theta)[0]
        if np.bincount(labels).max() > 2:
            continue

        def value(x, theta=theta, labels=labels, r=r, dist=dist, n=n):
            w = np.exp(x - x.max())
            w /= w.sum()
            best = math.inf
            for a, b in itertools.combinations(range(n), 2):
                best = min(best, (dist[a, b] - r) ** 2 / (2.0 * (1.0 / w[a] + 1.0 / w[b])))
            return -best

        found = min(
            minimize(
                value, rng.normal(scale=0.5, size=n), method="Nelder-Mead", options={"maxiter": 4000}
            ).fun
            for _ in range(4)
        )
        assert bound.closed
        assert 1.0 / bound.upper <= -found * (1.0 + 5e-3)
        assert -found <= 1.0 / bound.lower * (1.0 + 1e-9)


def test_lower_bound_of_a_larger_cluster_is_a_bracket():
    bound = la.lower_bound([0.0, 1.0, 2.0, 6.0], distance_threshold=1.5)
    assert 0.0 < bound.lower <= bound.upper < math.inf
    for active in bound.alternatives:
        labels = Goal(None, 1.5).partition(active.parameters)[0]
        wide = Goal(None, 1.5 * (1.0 + 1e-9)).partition(active.parameters)[0]
        assert labels.tolist() != [0, 0, 0, 1] or wide.tolist() != [0, 0, 0, 1]


def test_plan_simulate_and_audit_take_a_threshold():
    problem = la.Problem([0.0, 0.2, 3.0], distance_threshold=1.5)
    assert problem.n_clusters == 2
    found = la.audit(problem, deltas=[0.2], trials=100, seed=1)
    assert found.passed
    assert found.rows[0].ratio > 1.0
    assert la.audit(problem, deltas=[0.2], trials=100, weaken=100, seed=1).rows[0].mean < found.rows[0].mean
    plan = la.plan(
        problem.parameters, distance_threshold=1.5, sampling="ebc-h", stopping="anytime", trials=5, n_jobs=1
    )
    assert plan.rows[0].mean is not None
    runs = la.simulate(problem, ["ebc", "ebc-h", "round-robin", "lma"], deltas=[0.2], trials=3, seed=1)
    assert all((runs[name].stopping_times > 0).all() for name in ("ebc", "ebc-h", "round-robin", "lma"))
    paper = la.simulate(
        problem, ["ebc-h"], stopping=la.stopping.Paper(theta=(-5, 8)), deltas=[0.2], trials=3, seed=1
    )
    assert (paper["ebc-h"].stopping_times > 0).all()
    assert not paper["ebc-h"].errors.any()


def test_dendrogram_draws_the_threshold():
    result = la.cluster(la.Problem([0.0, 0.2, 3.0], distance_threshold=1.5), seed=1)
    info = la.plots.dendrogram_info(result)
    assert info.cut == 1.5
    assert info.by_threshold


def test_campaigns_take_a_threshold(tmp_path):
    place = tmp_path / "runs.db"
    arms = ["a", "b", "c"]
    with la.campaign.Campaign.create(
        "sensors", arms, distance_threshold=2.0, tolerance=0.2, family="gaussian", storage=place
    ) as made:
        status = made.status()
        assert (status.n_clusters, status.distance_threshold, status.tolerance) == (None, 2.0, 0.2)
    with la.campaign.Campaign.open("sensors", storage=place) as again:
        rng = np.random.default_rng(12)
        truth = dict(zip(arms, (0.0, 0.5, 6.0), strict=True))
        while not again.status().done:
            tickets = again.ask(8)
            again.tell_many(tickets, [rng.normal(truth[t.arm]) for t in tickets])
        result = again.result()
    assert result.clusters == [["a", "b"], ["c"]]
    assert result.distance_threshold == 2.0


def test_command_line(tmp_path, capsys):
    from linkarms.cli._app import run

    rng = np.random.default_rng(13)
    path = tmp_path / "sensors.csv"
    rows = [
        f"{arm},{rng.normal(mean):.4f}"
        for arm, mean in (("a", 0.0), ("b", 0.5), ("c", 6.0))
        for _ in range(100)
    ]
    path.write_text("id,temp\n" + "\n".join(rows) + "\n")
    words = ["cluster", str(path), "--arm", "id", "--value", "temp", "--family", "gaussian", "--quiet"]
    assert run([*words, "--distance-threshold", "2", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["clusters"] == [["a", "b"], ["c"]]
    assert answer["distance_threshold"] == 2.0
    assert run([*words, "-k", "2", "--tolerance", "0.5"]) == 0
    assert run([*words, "-k", "2", "--distance-threshold", "2"]) == 2
    assert "both given" in capsys.readouterr().err
    problem = tmp_path / "mine.json"
    problem.write_text(json.dumps({"parameters": [0, 0.5, 6], "distance_threshold": 2}))
    assert run(["bound", str(problem), "--quiet"]) == 0
    place = str(tmp_path / "runs.db")
    words = ["campaign", "create", "lab", "--arms", "a,b,c", "--storage", place]
    assert run([*words, "--distance-threshold", "2"]) == 0
    assert "distance threshold 2" in capsys.readouterr().out


@pytest.mark.parametrize(
    "family", ["gaussian", "gaussian-unknown", "gaussian-unknown:shared", "bounded:-20:20"]
)
@pytest.mark.parametrize("r", [0.5, 2.0, 12.0])
def test_looking_at_two_arms_does_not_stop_them(family, r):
    rng = np.random.default_rng(5)
    runs = [la.BanditClusterer(arms=["a", "b"], family=family, distance_threshold=r) for _ in range(2)]
    for _ in range(30):
        for name, mean in (("a", 0.5), ("b", 9.5)):
            x = mean + 0.3 * rng.normal()
            for run in runs:
                if not run.done:
                    run.tell(name, x)
            found = runs[0].result()
            if min(found.pulls) > 0:
                pair = runs[0]._engine.core.evidence_against(
                    (0, 1, -1, -1) if found.labels[0] == found.labels[1] else (-1, -1, 0, 1)
                )
                assert found.evidence == pytest.approx(pair, rel=1e-6, abs=1e-6)
    assert runs[0].result().samples == runs[1].result().samples
