"""`Result.cuts`: which cuts are certain, for every number of clusters at once (math.md 7.2); `Result.linkage_matrix`."""

import itertools
import math
import pickle

import numpy as np
import pytest
from scipy.cluster import hierarchy

import linkarms as la
from linkarms import errors
from linkarms.linkage import single_linkage

POINTS = np.array([(0.0, 0.0), (0.8, 0.1), (5.0, 0.0), (5.2, 1.1), (14.0, 3.0), (14.0, 4.4)])


def told(n, seed=0, points=POINTS, **options):
    c = la.BanditClusterer(3, len(points), n_features=2, **{"family": "gaussian", "delta": 1e-9} | options)
    rng = np.random.default_rng(seed)
    for m, p in enumerate(points):
        c.tell_many([m] * n, rng.normal(p, size=(n, 2)))
    return c


def statistic(core, labels):
    """The bottleneck over all splits of all clusters, by enumeration, from the evidence against single pairs of pairs."""
    worst = math.inf
    arms = range(len(labels))
    inter = [(a, b) for a, b in itertools.combinations(arms, 2) if labels[a] != labels[b]]
    for k in range(max(labels) + 1):
        members = [m for m in arms if labels[m] == k]
        for size in range(1, len(members) // 2 + 1):
            for side in itertools.combinations(members, size):
                cut = [(u, v) for u in side for v in members if v not in side]
                for a, b in inter:
                    worst = min(worst, max(core.evidence_against((*sorted(p), a, b)) for p in cut))
    return worst


@pytest.mark.parametrize("version", [1, 2])
def test_cuts_against_all_splits(version):
    """The level of 7.2, and at each K the smallest over splits of the largest over the pairs that the split cuts."""
    rule = la.stopping.Anytime(version=version)
    seen = set()
    for seed in range(5):
        c = told(30, seed, stopping=rule)
        core = c._engine.core
        sets = math.comb(6, 3) + math.comb(6, 4)
        # sets of arms for the best c of eight; pieces (any pair; an edge of the spanning tree) for aligned evidence
        base = math.log(sets) + math.log(8) if version == 1 else math.log(5 * (15 - 1))
        values = {
            k: statistic(core, single_linkage(c.result().parameters, k)[0].tolist()) for k in range(2, 6)
        }
        for delta in (0.3, 0.05, 1e-3, 1e-6, 1e-12):
            got = core.cuts(-math.log(delta))
            assert [k for k, _ in got] == [k for k in values if values[k] >= base - math.log(delta)]
            for k, labels in got:
                assert labels.tolist() == single_linkage(c.result().parameters, k)[0].tolist()
                seen.add(k)
    assert len(seen) >= 2


def test_certified_cuts_of_a_run():
    r = la.cluster(la.Problem(POINTS, 3), delta=0.05, seed=1)
    by_k = {cut.n_clusters: cut.labels.tolist() for cut in r.cuts}
    assert by_k[2] == [0, 0, 0, 0, 1, 1]
    assert all(labels == single_linkage(POINTS, k)[0].tolist() for k, labels in by_k.items())
    assert r.cuts is r.cuts
    assert r.to_dict(cuts=True)["cuts"][0] == {"n_clusters": 2, "labels": by_k[2]}
    assert "cuts" not in r.to_dict()
    again = pickle.loads(pickle.dumps(r))
    assert [cut.n_clusters for cut in again.cuts] == list(by_k)


def test_cuts_are_those_of_the_moment_of_the_result():
    c = told(3)
    early = c.result()
    for m, p in enumerate(POINTS):
        c.tell_many([m] * 60, np.random.default_rng(1).normal(p, size=(60, 2)))
    late = c.result()
    assert [cut.n_clusters for cut in late.cuts] != []
    assert early.cuts == ()


def test_no_cuts_before_every_arm_has_a_sample_and_none_of_two_arms():
    c = la.BanditClusterer(2, 4)
    c.tell(0, 1.0)
    assert c.result().cuts == ()
    two = la.BanditClusterer(2, 2)
    two.tell_many([0, 1], [0.0, 9.0])
    assert two.result().cuts == ()


def test_a_tied_cut_is_not_certain_and_others_are():
    c = la.BanditClusterer(2, 4, family="gaussian")
    for m, x in enumerate((0.0, 1.0, 5.0, 6.0)):
        c.tell_many([m] * 2000, [x] * 2000)
    assert [cut.n_clusters for cut in c.result().cuts] == [2]


def test_a_run_under_the_papers_rule_is_judged_by_the_anytime_rule():
    rule = la.stopping.Paper(theta=(-30, 30))
    paper, anytime = told(80, stopping=rule), told(80, delta=1e-300)  # neither stops
    same = anytime._engine.core.cuts(-math.log(1e-9))
    assert [c.n_clusters for c in paper.result().cuts] == [k for k, _ in same] == [2, 3]


def test_linkage_matrix_is_scipys():
    c = told(5)
    z = c.result().linkage_matrix
    assert hierarchy.is_valid_linkage(z)
    np.testing.assert_array_equal(z, hierarchy.linkage(c.result().parameters, "single"))
    for k in range(1, 7):
        flat = hierarchy.fcluster(z, k, "maxclust")
        ours = single_linkage(c.result().parameters, k)[0]
        assert len(set(zip(flat, ours, strict=True))) == k == len(set(flat))
    assert len(hierarchy.dendrogram(z, no_plot=True)["leaves"]) == 6
    empty = la.BanditClusterer(2, 3)
    with pytest.raises(errors.InvalidInput, match="arm 0 has no sample"):
        _ = empty.result().linkage_matrix


def test_the_dendrogram_marks_certified_cuts():
    from linkarms.plots import dendrogram_info

    r = told(80).result()
    info = dendrogram_info(r)
    assert [k for k, _, _ in info.certified] == [cut.n_clusters for cut in r.cuts]
    heights = r.linkage_matrix[:, 2]
    for k, low, high in info.certified:
        assert (low, high) == (heights[6 - k - 1], heights[6 - k])
    assert dendrogram_info(r, cuts=False).certified == ()
