"""Audits of arms of unknown variance, every kind of it: ``python -m evidence.variance_audits``.

Each instance is a near-tie of three arms along the diagonal, with variances that differ from arm to arm and from coordinate to coordinate
as far as the kind allows; EBC-H. ``evidence/variance_audits.json`` keeps the chunks of `evidence._audit_series`;
``tests/test_mode_audits.py`` checks them and computes some again.
"""

from pathlib import Path

import numpy as np

import linkarms as la
from evidence._audit_series import AuditSeries

#: Variances of three arms, times those of the coordinates.
UNEQUAL, EQUAL = (0.5, 2.0, 1.0), (1.0, 1.0, 1.0)
#: name -> (kind, d, variances of the arms); proofs for unequal arms that have more than one variance each take long.
INSTANCES = {
    "one per arm, d=1": ("isotropic", 1, UNEQUAL),
    "one per arm, d=2": ("isotropic", 2, UNEQUAL),
    "one per arm, d=4": ("isotropic", 4, UNEQUAL),
    "one for all, d=1": ("shared", 1, EQUAL),
    "one for all, d=2": ("shared", 2, EQUAL),
    "one for all, d=4": ("shared", 4, EQUAL),
    "full covariance, d=2": ("full", 2, EQUAL),
    "full covariance, d=3": ("full", 3, EQUAL),
    "one per coordinate, d=2": ("coordinate", 2, EQUAL),
    "one per coordinate, d=3": ("coordinate", 3, EQUAL),
    "full covariance, d=4": ("full", 4, EQUAL),
    "one per coordinate, d=4": ("coordinate", 4, EQUAL),
}


def covariance(kind, d, spread):
    """The variance or covariance of an arm's samples: unequal coordinates, for "full" with correlations of 0.4."""
    if kind in ("isotropic", "shared"):
        return spread
    scales = spread * np.linspace(0.5, 1.5, d)
    if kind == "coordinate":
        return scales
    roots = np.sqrt(scales)
    return np.outer(roots, roots) * (0.6 * np.eye(d) + 0.4)


def setting(name):
    """The problem."""
    kind, d, spreads = INSTANCES[name]
    families = [
        la.families.UnknownVariance(
            shared=kind == "shared",
            draw_variance=covariance(kind, d, spread),
            covariance="isotropic" if kind == "shared" else kind,
        )
        for spread in spreads
    ]
    return la.Problem(np.outer((0.0, 10.0, 21.0), np.full(d, d**-0.5)), 2, families)


SERIES = AuditSeries(
    path=Path(__file__).with_suffix(".json"),
    command="python -m evidence.variance_audits",
    seed=14_142,
    rule=la.stopping.Anytime(),
    instances=INSTANCES,
    setting=setting,
    weaker=(16.0, 64.0, 256.0, 1024.0),
    weak_trials=1_000,
)

main = SERIES.main

if __name__ == "__main__":
    main()
