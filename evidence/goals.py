"""Audits of runs by a distance threshold and of runs with a tolerance: ``python -m evidence.goals``.

Distances that are just beside the threshold, and exact ties. EBC-H; with a tolerance a partition is wrong if it is not right up to it.
The error rate must not be above delta (99% Clopper-Pearson), while the same audit of a threshold divided by some number must find it
broken on most instances. ``evidence/goals.json`` keeps, for every 250 runs, errors, unstopped runs and samples for each delta;
``tests/test_goal_evidence.py`` checks them and computes some again.
"""

from pathlib import Path

import linkarms as la
from evidence._audit_series import AuditSeries

#: Five arms in a row, a gap, and one more; in the plane.
ROW = [(0.0, 0.0), (4.0, 0.0), (8.0, 0.0), (12.0, 0.0), (16.0, 0.0), (22.0, 0.0)]
CORRELATED = [[1.0, 0.4], [0.4, 0.6]]
#: name -> the arguments of the problem. A new instance is one more line; runs of the old ones are kept.
INSTANCES = {
    "threshold, just beside it": {"parameters": [0.0, 4.2, 10.0], "distance_threshold": 5.0},
    "threshold, clusters of five, d=2": {"parameters": ROW, "distance_threshold": 5.0},
    "threshold, unequal variances, d=2": {
        "parameters": [(0.0, 0.0), (0.0, 2.0), (4.2, 0.0)],
        "distance_threshold": 3.0,
        "family": [la.families.Gaussian(v) for v in (0.5, 1.0, 2.0)],
    },
    "threshold, poisson": {"parameters": [1.0, 3.0, 8.0], "distance_threshold": 3.5, "family": "poisson"},
    "threshold, bernoulli": {
        "parameters": [0.1, 0.3, 0.8],
        "distance_threshold": 0.35,
        "family": "bernoulli",
    },
    "threshold, unknown variance": {
        "parameters": [0.0, 4.0, 10.0],
        "distance_threshold": 5.0,
        "family": "gaussian-unknown",
    },
    "tolerance, three on a line": {"parameters": [0.0, 3.0, 6.0], "n_clusters": 2, "tolerance": 1.0},
    "tolerance, a row of five, d=2": {
        "parameters": [(0.0, 0.0), (3.0, 0.0), (6.0, 0.0), (9.0, 0.0), (13.2, 0.0)],
        "n_clusters": 2,
        "tolerance": 1.0,
    },
    "tolerance, four arms and a near-tie": {
        "parameters": [0.0, 4.0, 9.1, 13.2],
        "n_clusters": 2,
        "tolerance": 0.8,
    },
    "tolerance, poisson": {
        "parameters": [2.0, 6.0, 10.0],
        "n_clusters": 2,
        "tolerance": 2.0,
        "family": "poisson",
    },
    "tolerance, a triangle, d=2": {
        "parameters": [(0.0, 0.0), (3.0, 0.0), (1.5, 3.0 * 0.75**0.5)],
        "n_clusters": 2,
        "tolerance": 1.0,
    },
    "tolerance around a threshold": {
        "parameters": [0.0, 3.0, 7.2],
        "distance_threshold": 3.0,
        "tolerance": 0.9,
    },
    "threshold, unknown covariance, d=2": {
        "parameters": [(0.0, 0.0), (2.2, 0.3), (5.0, -0.3)],
        "distance_threshold": 2.5,
        "family": la.families.UnknownVariance(covariance="full", draw_variance=CORRELATED),
    },
    "tolerance, unknown covariance, d=2": {
        "parameters": [(0.0, 0.0), (3.0, 0.0), (6.9, 0.0)],
        "n_clusters": 2,
        "tolerance": 0.8,
        "family": la.families.UnknownVariance(covariance="full", draw_variance=CORRELATED),
    },
    "tolerance, one unknown variance": {
        "parameters": [0.0, 3.0, 6.9],
        "n_clusters": 2,
        "tolerance": 0.8,
        "family": "gaussian-unknown:shared",
    },
    "threshold, products": {
        "parameters": [(1.0, 0.3), (3.0, 0.5), (8.0, 0.6)],
        "distance_threshold": 3.5,
        "family": la.families.Product([la.families.Poisson(), la.families.Bernoulli()]),
    },
}
#: Runs of these take longer.
FEWER = {
    "threshold, unknown variance": 2_000,
    "tolerance, poisson": 2_000,
    "tolerance, a row of five, d=2": 5_000,
    "tolerance, a triangle, d=2": 2_500,
    "threshold, poisson": 2_000,
    "threshold, bernoulli": 2_000,
    "threshold, unknown covariance, d=2": 2_500,
    "tolerance, unknown covariance, d=2": 2_500,
    "threshold, products": 1_750,
}


def setting(name):
    """The problem."""
    return la.Problem(**INSTANCES[name])


SERIES = AuditSeries(
    path=Path(__file__).with_suffix(".json"),
    command="python -m evidence.goals",
    seed=27_182,
    rule=la.stopping.Anytime(),
    instances=INSTANCES,
    setting=setting,
    fewer=FEWER,
    weak_trials=500,
)

main = SERIES.main

if __name__ == "__main__":
    main()
