"""Whole runs under aligned evidence stop when every pair of pairs reaches the level, by searches that know neither level nor past."""

import math
from collections import deque

import numpy as np
import pytest
from tests.oracles import evidence as oracle

import linkarms as la

#: means and K: pairs in the plane, a chain with a cluster of three, four clusters on a line, five dimensions
CASES = {
    "pairs": (la.problems.synthetic1().parameters, 3),
    "chain": ([0.0, 1.0, 2.2, 5.0], 2),
    "line": ([0.0, 0.7, 3.0, 6.0, 6.5, 10.0], 4),
    "threes": ([(0, 0), (0.8, 0.3), (0.2, 0.9), (4, 0), (4.6, 0.7), (4.1, 1.2)], 2),
    "deep": (0.1 * la.problems.scaling(4).parameters, 2),
}
#: A search without a level ends where its bounds are as near as this.
GAP = 2e-3


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(2))
def test_a_run_stops_at_the_first_sample_that_leaves_nothing_below_the_level(name, seed):
    means, k = np.array(CASES[name][0], dtype=float), CASES[name][1]
    means = means.reshape(len(means), -1)
    rng = np.random.default_rng(seed)
    run = la.BanditClusterer(k, len(means), means.shape[1], family="gaussian", delta=0.01)
    last = deque(maxlen=4)
    while not run.done:
        (arm,) = run.ask(1)
        run.tell(arm, rng.normal(means[arm], 1.0))
        last.append(run.dump())
    lacking = []
    for dump in last:
        core = la.BanditClusterer.load(dump)._engine.core
        found = oracle.statistic(lambda *pairs, core=core: core.evidence_against(pairs), core.labels.tolist())
        lacking.append(core.threshold_base + math.log(100) - found)
    assert lacking[-1] <= GAP
    assert min(lacking[:-1]) > -GAP


@pytest.mark.parametrize(("smallest", "aligned"), [(0.9, True), (0.7, True), (0.6, False)])
def test_nearly_round_covariances_have_the_evidence_of_their_largest_variance(smallest, aligned):
    """Samples of covariance Sigma <= v I are sub-Gaussian of variance v; more uneven ones keep the evidence of their covariance."""
    means, k = la.problems.synthetic1().parameters, 3
    turned = np.array([[0.6, -0.8], [0.8, 0.6]])
    covariance = 2.0 * turned @ np.diag([1.0, smallest]) @ turned.T
    covariance = (covariance + covariance.T) / 2
    rng = np.random.default_rng(3)
    samples = [
        (m, x)
        for _ in range(12)
        for m, x in enumerate(rng.multivariate_normal([0, 0], covariance, 6) + means)
    ]
    found = []
    for family in (la.families.Gaussian(covariance), la.families.Gaussian(2.0)):
        run = la.BanditClusterer(k, len(means), 2, family=family, delta=1e-9)
        for m, x in samples:
            run.tell(m, x)
        found.append(run.evidence_and_threshold())
    assert (found[0] == pytest.approx(found[1], abs=1e-9)) is aligned


def test_the_promise_is_kept_with_nearly_round_covariances():
    """Near-ties of three arms, along the widest and along the narrowest direction."""
    for along in ((1.0, 0.0), (0.0, 1.0)):
        problem = la.Problem(np.outer((0.0, 10.0, 21.0), along), 2, la.families.Gaussian(np.diag([1.0, 0.7])))
        runs = la.simulate(problem, "ebc-h", deltas=[0.5], trials=300, seed=5, max_samples=20_000)["ebc-h"]
        assert (runs.stopping_times > 0).all()
        assert not la.montecarlo.promise_is_broken(int(runs.errors.sum()), 300, 0.5)
