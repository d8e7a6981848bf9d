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
