"""Known variances and many arms: the evidence of a result is cheap at any moment of a run."""

import math

import numpy as np
import pytest

import linkarms as la
from linkarms import _core
from linkarms.stopping import Anytime


@pytest.mark.parametrize(("n_arms", "aligned"), [(30, True), (31, False)])
def test_evidence_is_aligned_up_to_thirty_arms(n_arms, aligned):
    c = la.BanditClusterer(2, n_arms, family="gaussian:4")
    assert _core.evidence_is_aligned(c._engine.families.model, 2) == aligned


@pytest.mark.parametrize("n_clusters", [2, 10, 100])
def test_three_hundred_arms_with_one_to_five_samples(n_clusters):
    rng = np.random.default_rng(n_clusters)
    level = rng.normal(0.0, 0.5, 300) + 10.0 * (np.arange(300) % n_clusters)
    runs = [
        la.BanditClusterer(n_clusters, 300, family="gaussian:4", stopping=Anytime(version=version))
        for version in (1, 2)
    ]
    for _ in range(5):
        samples = rng.normal(level, 2.0).tolist()
        for run in runs:
            run.tell_many(list(range(300)), samples)
        largest, average = (run.result().evidence for run in runs)
        # the average over a grid of eight values is at most the largest, and at least an eighth of it
        assert largest - math.log(8) <= average <= largest
