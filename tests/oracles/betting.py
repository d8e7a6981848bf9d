"""Betting on the mean of bounded samples, from the products themselves (math.md, section 6.1)."""

import numpy as np

FRACTIONS = np.array([0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8])


def log_evidence(x, lam, low=0.0, high=1.0):
    """Log of the average of all products of raw samples ``x`` against the mean ``lam``, inside the range."""
    y, m = (np.asarray(x) - low) / (high - low), (lam - low) / (high - low)
    f = FRACTIONS[:, None]
    up = np.log((1.0 - f) + f * y / m).sum(axis=1)
    down = np.log((1.0 - f) + f * (1.0 - y) / (1.0 - m)).sum(axis=1)
    return float(np.logaddexp.reduce(np.concatenate([up, down])) - np.log(2 * len(FRACTIONS)))
