"""Audits of one-sided evidence on near-ties of exponential, gamma, Poisson and Bernoulli arms: ``python -m evidence.one_sided_audits``.

Version 2 of the anytime rule, EBC-H, delta = 0.1, 0.2 and 0.5. ``evidence/one_sided_audits.json`` keeps the chunks of
`evidence._audit_series`; ``tests/test_one_sided_evidence.py`` checks them and computes some again.
"""

from pathlib import Path

import linkarms as la
from evidence._audit_series import AuditSeries

#: name -> the arguments of the problem.
INSTANCES = {
    "exponential rates, three arms": {"parameters": [1.0, 5.0, 11.0], "family": "exponential"},
    "exponential rates, two pairs": {"parameters": [2.0, 3.0, 6.0, 7.5], "family": "exponential"},
    "gamma rates, shape 2.5, chain of three": {"parameters": [1.0, 2.0, 3.1, 7.0], "family": "gamma:2.5"},
    "poisson, three arms": {"parameters": [1.0, 6.0, 13.0], "family": "poisson"},
    "poisson, two pairs": {"parameters": [1.0, 3.0, 7.5, 9.5], "family": "poisson"},
    "bernoulli, three arms": {"parameters": [0.05, 0.45, 0.95], "family": "bernoulli"},
    "bernoulli, chain of three": {"parameters": [0.05, 0.25, 0.45, 0.9], "family": "bernoulli"},
}


def setting(name):
    """The problem; two clusters."""
    return la.Problem(**INSTANCES[name], n_clusters=2)


SERIES = AuditSeries(
    path=Path(__file__).with_suffix(".json"),
    command="python -m evidence.one_sided_audits",
    seed=22_360,
    rule=la.stopping.Anytime(version=2),
    instances=INSTANCES,
    setting=setting,
    deltas=(0.1, 0.2, 0.5),
    weaker=(16.0, 64.0, 256.0),
    weak_trials=500,
    catch=2,  # of three arms hardly more than half of all answers can be wrong
)

main = SERIES.main

if __name__ == "__main__":
    main()
