"""Audits of version 1 of the anytime rule on hard instances: ``python -m evidence.audits``.

Each instance has another partition that is nearly as good. Ten thousand runs of each, with EBC-H: the error rate must not be above
delta (99% Clopper-Pearson), while the same audit of a threshold divided by some number must find it broken.
``evidence/audits.json`` keeps, for every 250 runs, errors, unstopped runs and samples for each delta;
``tests/test_audit_evidence.py`` checks them and computes some again.
"""

from pathlib import Path

import numpy as np

import linkarms as la
from evidence._audit_series import AuditSeries

F = la.families
TILTED = np.array([[1.0, 0.6], [0.6, 0.8]])
#: name -> (parameters, K, family). A new instance is one more line; runs of the old ones are kept.
INSTANCES = {
    "gaussian near-tie, d=1": ([0.0, 10.0, 21.0], 2, "gaussian"),
    "gaussian chain of five, d=1": ([0.0, 5.0, 10.0, 15.0, 20.0, 26.5], 2, "gaussian"),
    "gaussian chain of three, d=2": (
        [(0.0, 0.0), (5.0, 0.0), (10.0, 0.0), (16.5, 0.0), (16.5, 5.0)],
        2,
        "gaussian",
    ),
    "gaussian near-tie, d=5": ([[0.0] * 5, [5.0] * 5, [10.5] * 5], 2, "gaussian"),
    "unequal variances, d=1": (
        [0.0, 5.0, 11.0, 16.0],
        2,
        [F.Gaussian(v) for v in (0.25, 2.0, 1.0, 0.5)],
    ),
    "unequal covariances, d=2": (
        [(0.0, 0.0), (6.0, 0.0), (6.0, 7.4)],
        2,
        [F.Gaussian(TILTED), F.Gaussian(2.0 * TILTED), F.Gaussian(np.diag([0.3, 1.5]))],
    ),
    "exponential rates": ([1.0, 5.0, 14.0], 2, "exponential"),
    "bernoulli": ([0.1, 0.35, 0.85], 2, "bernoulli"),
    "poisson": ([1.0, 6.0, 13.0], 2, "poisson"),
    "exponential means": ([1.0, 5.0, 17.0], 2, F.Exponential("mean")),
    "unknown variance, one for all": ([0.0, 10.0, 21.0], 2, F.UnknownVariance(shared=True)),
    "unknown variance, one for each": (
        [(0.0, 0.0), (10.0, 0.0), (20.5, 0.0)],
        2,
        [F.UnknownVariance(draw_variance=v) for v in (0.5, 2.0, 1.0)],
    ),
}


#: A sample of these costs several times as much as of others. Raise a number, run again, and the missing trials are added.
FEWER = {"exponential means": 500, "unknown variance, one for each": 2_000}


def setting(name):
    """The problem."""
    parameters, k, family = INSTANCES[name]
    return la.Problem(parameters, k, family)


SERIES = AuditSeries(
    path=Path(__file__).with_suffix(".json"),
    command="python -m evidence.audits",
    seed=61_803,
    rule=la.stopping.Anytime(version=1),  # what the results were measured with
    instances=INSTANCES,
    setting=setting,
    fewer=FEWER,
    bounds=True,
)

main = SERIES.main

if __name__ == "__main__":
    main()
