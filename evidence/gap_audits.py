"""Audits of runs without a number of clusters, which stop for the cut with the largest gap: ``python -m evidence.gap_audits``.

Near-ties at the cut, and gaps of nearly the same size, so that K changes on the way; EBC-H. A run is wrong if the cut that it names is
not the true one for its own K. ``evidence/gap_audits.json`` keeps the chunks of `evidence._audit_series`; ``tests/test_mode_audits.py``
checks them and computes some again.
"""

from pathlib import Path

import linkarms as la
from evidence._audit_series import AuditSeries

#: name -> the arguments of the problem.
INSTANCES = {
    "three arms, d=1": {"parameters": [0.0, 10.0, 21.0]},
    "two gaps of one size, d=1": {"parameters": [0.0, 5.0, 11.0, 18.0]},
    "near-ties at every cut, d=1": {"parameters": [0.0, 4.0, 8.8, 14.4, 20.7]},
    "chain of five, d=1": {"parameters": [0.0, 5.0, 10.0, 15.0, 20.0, 26.5]},
    "two gaps of one size, d=2": {"parameters": [(0.0, 0.0), (5.0, 0.0), (0.0, 6.2), (12.4, 0.0)]},
    "poisson": {"parameters": [1.0, 6.0, 13.0], "family": "poisson"},
    "unknown variance": {"parameters": [0.0, 10.0, 21.0], "family": la.families.UnknownVariance()},
}
#: Runs of these take longer.
FEWER = {"poisson": 2_000}


def setting(name):
    """The problem."""
    return la.Problem(**INSTANCES[name])


SERIES = AuditSeries(
    path=Path(__file__).with_suffix(".json"),
    command="python -m evidence.gap_audits",
    seed=17_320,
    rule=la.stopping.Anytime(),
    instances=INSTANCES,
    setting=setting,
    fewer=FEWER,
    weaker=(8.0, 32.0, 128.0),
    weak_trials=500,
)

main = SERIES.main

if __name__ == "__main__":
    main()
