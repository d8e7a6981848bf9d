"""``n_clusters=None``: sample for the cut with the largest gap, stop when it is certain."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage

import linkarms as la
from linkarms import _core
from linkarms._goal import Goal
from linkarms.engine import Engine
from linkarms.errors import InvalidInput
from linkarms.linkage import largest_gap, single_linkage
from linkarms.sampling import resolve_sampling

#: The largest gap is below the cut into two clusters.
LINE = [0.0, 0.4, 2.6, 3.0, 5.3, 9.9]
#: Two gaps of the same size, those of the cuts into two and three: K changes on the way.
TWO_GAPS = [0.0, 0.4, 2.6, 2.9, 6.9, 7.3]
TASK = _core.Task(largest_gap=True)


def names(labels) -> list[int]:
    """Labels in order of first appearance."""
    seen: dict[int, int] = {}
    return [seen.setdefault(int(k), len(seen)) for k in labels]


def by_scipy(points) -> tuple[int, list[int]]:
    """K and the labels, from SciPy's dendrogram."""
    tree = linkage(points, method="single")
    heights = tree[::-1, 2]
    gaps = heights[:-1] - heights[1:]  # of the cuts into 2, 3, ... clusters
    k = 2 + int(np.argmax(gaps))  # the first of equal ones
    return k, names(fcluster(tree, k, criterion="maxclust"))


def test_the_cut_is_that_of_scipys_dendrogram():
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(200):
        points = rng.normal(size=(int(rng.integers(3, 12)), int(rng.integers(1, 4))))
        k, labels = by_scipy(points)
        assert largest_gap(points) == k
        assert _core.single_linkage(points, TASK)[0].tolist() == labels
        seen.add(k)
    assert len(seen) > 5


def test_of_equal_gaps_the_one_with_the_fewest_clusters_counts():
    assert largest_gap([0.0, 1.0, 3.0, 6.0]) == 2  # heights 3, 2, 1
    assert largest_gap([0.0, 1.0, 2.0, 4.0, 7.0, 10.0]) == 3  # 3, 3, 2, 1, 1: gaps 0, 1, 1, 0
    assert largest_gap([0.0, 1.0, 3.0]) == 2  # the only cut of three points
    labels, ambiguous = _core.single_linkage(np.arange(4.0)[:, None], TASK)
    assert (labels.max() + 1, ambiguous) == (2, True)  # no gap at all
    with pytest.raises(InvalidInput, match="equal edges at the cut"):
        la.Problem([0.0, 1.0, 2.0, 3.0])


@pytest.mark.parametrize(("n", "step"), [(3, 0.3), (6, 0.3), (70, 0.3), (6, 1.0)])
def test_the_cut_follows_points_that_move(n, step):
    rng = np.random.default_rng(n)
    points = np.round(rng.normal(size=(n, 2)) / step) * step if step == 1.0 else rng.normal(size=(n, 2))
    kept = _core.testing.MovingPoints(points, TASK)
    counts = set()
    for _ in range(300):
        m = int(rng.integers(n))
        move = rng.normal(scale=0.4, size=2)
        points[m] += np.round(move / 0.5) if step == 1.0 else move  # on a grid, with ties everywhere
        before = kept.labels.tolist()
        changed = kept.move(m, points[m])
        labels, ambiguous = _core.single_linkage(points, TASK)
        assert kept.labels.tolist() == labels.tolist()
        assert kept.ambiguous == ambiguous
        assert changed or before == labels.tolist()
        counts.add(int(labels.max()) + 1)
    assert len(counts) == 1 if n == 3 else len(counts) >= 3


@pytest.mark.parametrize(("sampling", "n"), [("ebc-h", 6), ("ebc", 6), ("ebc-h", 24)])
def test_psi_of_a_run_is_that_from_scratch_while_k_changes(sampling, n):
    rng = np.random.default_rng(3)
    theta = np.array(TWO_GAPS) if n == 6 else rng.normal(scale=3.0, size=n)
    problem = la.Problem(theta)
    # the paper's rule weighs samples by their number
    rule = la.stopping.Paper(theta=(-60.0, 60.0))
    engine = Engine(problem.arm_families, problem.goal, resolve_sampling(sampling), rule, 1e-9, rng)
    ks = []
    for t in range(400):
        m = engine.choose()
        engine.observe(m, rng.normal(theta[m], size=1))
        if t % 3 == 0 and engine.ready:  # pending pulls are weighed by the other search
            engine.core.add_pending(int(rng.integers(n)), 1)
            engine.choose()
            engine.core.set_pending(np.zeros(n, np.int64))
        if not engine.ready:
            continue
        estimates, weights = np.array(engine.core.estimates), np.array(engine.core.counts, dtype=float)
        labels, _ = problem.goal.partition(estimates)
        assert labels.tolist() == engine.core.labels.tolist()
        again = _core.psi(problem.arm_families.model, weights, estimates, labels, Goal(2).task())
        assert again.value == engine.core.psi
        assert again.witness == engine.core.nearest_witness
        ks.append(engine.n_clusters)
    assert sum(a != b for a, b in itertools.pairwise(ks)) >= 5


@pytest.mark.parametrize(
    ("family", "stopping"),
    [
        ("gaussian", "anytime"),
        ("gaussian", la.stopping.Anytime(version=1)),
        ("poisson", "anytime"),
        ("gaussian-unknown", "anytime"),
    ],
)
def test_it_stops_when_its_cut_is_among_the_certified_ones(family, stopping):
    """The union is that of `Result.cuts`, so both certify the same cut at the same sample."""
    truth = [1.0, 1.8, 9.0, 9.5, 22.0]
    settings = {"family": family, "stopping": stopping, "sampling": "round-robin", "delta": 0.1}
    open_k = la.BanditClusterer(arms=5, **settings)
    judge = la.BanditClusterer(2, 5, **settings | {"delta": 1e-300})
    fixed = {k: la.BanditClusterer(k, 5, **settings) for k in (2, 3, 4)}
    rng = np.random.default_rng(5)
    rule, ended = judge._engine.stopping, {}
    for t in range(3000):
        arm = t % 5
        x = float(rng.poisson(truth[arm])) if family == "poisson" else rng.normal(truth[arm])
        for run in (open_k, judge, *fixed.values()):
            run.tell(arm, x)
        for k, run in fixed.items():
            if run.done:
                ended.setdefault(k, t)
        if not judge._engine.ready:
            continue
        k = open_k._engine.n_clusters
        certified = [cut[0] for cut in judge._engine.core.cuts(rule.level(0.1))]
        assert open_k.done == (k in certified)
        if open_k.done:
            break
    assert open_k.result().stopped
    # a fixed K needs no more samples, and names the same clusters
    assert ended[k] <= t
    assert fixed[k].result().labels.tolist() == open_k.result().labels.tolist()
    assert open_k.result().labels.tolist() == single_linkage(truth, k)[0].tolist()


def test_the_level_is_that_of_every_cut():
    rule, families = la.stopping.Anytime(), la.families.resolve("gaussian", 6, 1)
    pieces = (6 - 1) * (15 - 1)
    for goal in (Goal(), Goal(tolerance=0.5)):
        assert rule.base(families, goal, 2) == rule.base(families, goal, 5)
    assert rule.base(families, Goal(), 2) == pytest.approx(math.log(pieces))
    assert rule.base(families, Goal(), 2) > rule.base(families, Goal(3), 2)


def test_a_run_ends_with_the_cut_of_the_truth():
    result = la.cluster(la.Problem(LINE), delta=0.05, seed=2)
    assert result.stopped
    assert result.labels.tolist() == [0, 0, 0, 0, 0, 1]
    assert result.reason.startswith("stopped: the largest gap is at 2 clusters, and the clusters are wrong")
    assert 2 in [cut.n_clusters for cut in result.cuts]
    assert result.error_bound <= 0.05
    assert la.plots.dendrogram_info(result).cut > 0.0


def test_error_bound_is_where_the_rule_would_stop():
    c = la.BanditClusterer(arms=6, family="gaussian", delta=1e-30)
    rng, seen = np.random.default_rng(4), set()
    for _ in range(300):
        (arm,) = c.ask()
        c.tell(arm, rng.normal(LINE[arm]))
        p, check = c.result().error_bound, c._engine.check
        if p < 1.0:
            assert check(p * (1 + 1e-9))
            assert not check(p * (1 - 1e-9))
            seen.add(p)
    assert len(seen) > 20


def test_a_tie_of_gaps_and_one_at_the_cut_with_a_tolerance():
    """Equal gaps: either cut may be named, and every run ends. Equal edges: a tolerance ends it."""
    tied = la.Problem([0.0, 0.5, 5.0, 9.5])  # heights 4.5, 4.5, 0.5
    assert tied.n_clusters == 3
    for seed in range(5):
        assert la.cluster(tied, seed=seed).labels.tolist() == [0, 0, 1, 2]
    equal = la.Problem([0.0, 1.0, 2.0, 3.0], tolerance=0.6)
    for seed in range(5):
        found = la.cluster(equal, seed=seed)
        assert found.stopped
        assert equal.is_correct(found.labels)


def test_what_is_right_is_judged_for_its_own_k():
    p = la.Problem(LINE)
    assert p.n_clusters == 2
    for k in (2, 3, 4):
        assert p.is_correct(single_linkage(LINE, k)[0])
    assert not p.is_correct(np.array([0, 0, 1, 1, 1, 2]))
    for trivial in ([0] * 6, range(6)):
        assert not p.is_correct(np.array(trivial))
    tied = la.Problem([0.0, 1.0, 2.0, 9.0])
    assert not tied.is_correct(np.array([0, 0, 1, 2]))  # the cut into three goes through equal edges


@pytest.mark.parametrize("family", ["gaussian", "gaussian-unknown"])
def test_a_loaded_run_goes_on_bit_for_bit(family):
    rng = np.random.default_rng(8)
    runs = [la.BanditClusterer(arms=6, family=family)]
    assert json.loads(runs[0].dump())["n_clusters"] is None
    ks = set()
    for t in range(2000):
        if t == 10:
            runs.append(la.BanditClusterer.load(runs[0].dump()))
        if runs[0].done:
            break
        (arm,) = runs[0].ask()
        x = rng.normal(TWO_GAPS[arm])
        for run in runs:
            if run is not runs[0]:
                assert run.ask() == [arm]
            run.tell(arm, x)
        if t >= 10:
            ks.add(runs[0]._engine.n_clusters)
    assert runs[0].result().stopped
    assert runs[0].result().to_dict() == runs[1].result().to_dict()
    assert len(ks) > 1


def test_campaigns_sample_for_the_largest_gap(tmp_path):
    place = tmp_path / "runs.db"
    arms = ["a", "b", "c", "d"]
    with la.campaign.Campaign.create("lab", arms, family="gaussian", storage=place) as made:
        status = made.status()
        assert (status.n_clusters, status.distance_threshold) == (None, None)
    rng, truth = np.random.default_rng(12), dict(zip(arms, (0.0, 0.5, 6.0, 11.0), strict=True))
    while True:
        with la.campaign.Campaign.open("lab", storage=place) as again:
            if again.status().done:
                result = again.result()
                break
            tickets = again.ask(8)
            again.tell_many(tickets, [rng.normal(truth[t.arm]) for t in tickets])
    assert result.clusters == [["a", "b"], ["c"], ["d"]]
    assert result.stopped


def test_command_line(tmp_path, capsys):
    from linkarms.cli._app import run

    rng = np.random.default_rng(13)
    path = tmp_path / "sensors.csv"
    means = {"a": 0.0, "b": 0.5, "c": 6.0}
    rows = [f"{arm},{rng.normal(mean):.4f}" for arm, mean in means.items() for _ in range(100)]
    path.write_text("id,temp\n" + "\n".join(rows) + "\n")
    words = ["cluster", str(path), "--arm", "id", "--value", "temp", "--family", "gaussian", "--quiet"]
    for more in ([], ["-k", "auto"]):
        assert run([*words, *more, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["clusters"] == [["a", "b"], ["c"]]
    assert run([*words, "-k", "auto"]) == 0
    assert "the largest gap is at 2 clusters" in capsys.readouterr().out
    assert run([*words, "-k", "many"]) == 2
    assert "-k many: write a whole number, or auto" in capsys.readouterr().err
    place = str(tmp_path / "runs.db")
    assert run(["campaign", "create", "lab", "--arms", "a,b,c", "-k", "auto", "--storage", place]) == 0
    assert "3 arms, largest gap" in capsys.readouterr().out
    assert run(["campaign", "status", "lab", "--storage", place]) == 0
    assert "largest gap" in capsys.readouterr().out
    problem = tmp_path / "mine.json"
    problem.write_text(json.dumps({"parameters": [0, 0.5, 6]}))
    assert run(["simulate", str(problem), "--trials", "2", "--quiet", "--rules", "ebc-h"]) in (0, 1)
    assert run(["bound", str(problem), "--quiet"]) == 2
    assert "n_clusters is missing" in capsys.readouterr().err


def test_the_estimator_of_scikit_learn():
    pytest.importorskip("sklearn")
    from linkarms.sklearn import BanditClustering

    rng = np.random.default_rng(7)
    sensor = np.repeat([0, 1, 2, 3], 300)
    X = rng.normal(np.array([0.0, 0.4, 6.0, 6.3])[sensor])[:, None]
    model = BanditClustering(n_clusters=None, random_state=0).fit(X, groups=sensor)
    assert model.stopped_
    assert model.arm_labels_.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"arms": 2}, r"n_clusters is missing, and 2 arm\(s\) have no cut with a gap: that takes at least 3"),
        ({"arms": 4, "sampling": "lucbboc"}, "needs n_clusters and no tolerance"),
        ({"arms": 4, "sampling": "atboc"}, "needs n_clusters and no tolerance"),
        ({"arms": 4, "stopping": la.stopping.BOC()}, "needs n_clusters and no tolerance"),
    ],
)
def test_what_needs_a_number_of_clusters_is_refused(settings, words):
    with pytest.raises(InvalidInput, match=words):
        la.BanditClusterer(**settings)


def test_formulas_about_one_question_need_a_number_of_clusters():
    open_k = la.Problem(LINE)
    for ask in (lambda: la.lower_bound(open_k), lambda: la.plan(open_k), lambda: la.psi([1] * 6, LINE)):
        with pytest.raises(InvalidInput, match="n_clusters is missing"):
            ask()


def test_simulate_and_audit_judge_the_cut_that_was_named():
    near = la.Problem([0.0, 1.0, 2.3, 3.5])  # heights 1.3, 1.2, 1.0
    found = la.audit(near, deltas=[0.2], trials=150, seed=1)
    assert found.passed
    assert found.rows[0].errors < 30
    weak = la.audit(near, deltas=[0.2], trials=150, weaken=30, seed=1)
    assert weak.rows[0].errors > 30
    runs = la.simulate(
        la.Problem(LINE), ["ebc", "ebc-h", "round-robin", "lma"], deltas=[0.2], trials=3, seed=1
    )
    for name in ("ebc", "ebc-h", "round-robin", "lma"):
        assert (runs[name].stopping_times > 0).all()
