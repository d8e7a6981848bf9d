"""Audits of bets on bounded samples: ``python -m evidence.bounded_audits``.

Two-point and skewed distributions with little to choose between two partitions, and samples that vary much: the threshold of the anytime
rule, divided by some number, must be caught. Version 2 of the rule, EBC-H, delta = 0.1, 0.2 and 0.5. ``evidence/bounded_audits.json`` keeps
the chunks of `evidence._audit_series`; ``tests/test_bounded_evidence.py`` checks them and computes some again.
"""

from pathlib import Path

import numpy as np

import linkarms as la
from evidence._audit_series import AuditSeries
from linkarms.arms import resampled_problem


def two_points(mean, half):
    return [mean - half, mean + half]


def skewed(low, high):
    """Six values that are mostly near the lower end."""
    return (low + (high - low) * np.linspace(0.0, 1.0, 6) ** 4).tolist()


#: name -> records of each arm, of which one is as likely as any other; two clusters.
INSTANCES = {
    "0 or 1, three arms": [[0.0] * 49 + [1.0], [0.0] * 13 + [1.0] * 7, [0.0] + [1.0] * 9],
    "rare ones": [[0.0] * (100 - k) + [1.0] * k for k in (1, 3, 10)],
    "rare large values": [[0.0] * 9 + [1.0], [0.2] * 4 + [1.0], [0.7] * 2 + [1.0] * 3],
    "two points, chain of three": [two_points(m, 0.2) for m in (0.2, 0.35, 0.5, 0.8)],
    "skewed, two pairs": [
        skewed(low, high) for low, high in ((0.0, 0.5), (0.05, 0.9), (0.35, 1.0), (0.5, 1.0))
    ],
}


def setting(name):
    """The problem."""
    records = {str(m): x for m, x in enumerate(INSTANCES[name])}
    return resampled_problem(records, 2, la.families.bounded(0.0, 1.0))


SERIES = AuditSeries(
    path=Path(__file__).with_suffix(".json"),
    command="python -m evidence.bounded_audits",
    seed=31_415,
    rule=la.stopping.Anytime(version=2),
    instances=INSTANCES,
    setting=setting,
    deltas=(0.1, 0.2, 0.5),
    weaker=(16.0, 64.0, 256.0),
    weak_trials=500,
    max_samples=200_000,
    catch=2,  # of three arms hardly more than half of all answers can be wrong
)

main = SERIES.main

if __name__ == "__main__":
    main()
