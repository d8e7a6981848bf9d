"""Plain diagnostics: approximate tests for a fixed number of samples. They say what to look at; no promise depends on their level.

Each returns ``(-log p, effect)``, or None where there are too few samples for the approximation. The guards come from the next terms of the
Edgeworth expansions at the small levels that are used here (about four standard errors).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkarms.checks._special import log_normal_tail, log_upper_gamma, student_tail

__all__ = ["dependence", "drift", "pooled_dependence", "skewness", "tails", "unequal_variances"]

Array = NDArray[np.float64]
Found = tuple[float, float]
#: Fewer samples than this are not looked at.
_FEWEST = 20


def _two_sided(z: float) -> float:
    return float(-log_normal_tail(abs(z)) - np.log(2.0))


def _standard(values: Array) -> Array | None:
    """Return the samples with mean 0 and variance 1; None if there are few, or all are equal."""
    if len(values) < _FEWEST:
        return None
    centred = values - values.mean()
    scale = np.sqrt(np.mean(centred**2))
    return None if scale <= 1e-12 * np.abs(values).max(initial=0.0) else np.asarray(centred / scale)


def skewness(values: Array) -> Found | None:
    """Test the third moment against the Gaussian (D'Agostino 1970); the effect is the skewness."""
    y = _standard(values)
    if y is None:
        return None
    n, g = len(y), float(np.mean(y**3))
    spread = g * np.sqrt((n + 1.0) * (n + 3.0) / (6.0 * (n - 2.0)))
    beta = (
        3.0
        * (n * n + 27.0 * n - 70.0)
        * (n + 1.0)
        * (n + 3.0)
        / ((n - 2.0) * (n + 5.0) * (n + 7.0) * (n + 9.0))
    )
    w = np.sqrt(2.0 * (beta - 1.0)) - 1.0
    z = np.arcsinh(spread / np.sqrt(2.0 / (w - 1.0))) / np.sqrt(0.5 * np.log(w))
    return _two_sided(float(z)), g


def tails(values: Array) -> Found | None:
    """Test the fourth moment against a heavier one than the Gaussian's (Anscombe and Glynn 1983); the effect is the excess."""
    y = _standard(values)
    if y is None:
        return None
    n, b = len(y), float(np.mean(y**4))
    mean = 3.0 * (n - 1.0) / (n + 1.0)
    variance = 24.0 * n * (n - 2.0) * (n - 3.0) / ((n + 1.0) ** 2 * (n + 3.0) * (n + 5.0))
    root = 6.0 * (n * n - 5.0 * n + 2.0) / ((n + 7.0) * (n + 9.0))
    root *= np.sqrt(6.0 * (n + 3.0) * (n + 5.0) / (n * (n - 2.0) * (n - 3.0)))
    a = 6.0 + 8.0 / root * (2.0 / root + np.sqrt(1.0 + 4.0 / root**2))
    x = (b - mean) / np.sqrt(variance)
    below = 1.0 + x * np.sqrt(2.0 / (a - 4.0))
    z = (1.0 - 2.0 / (9.0 * a) - np.sign(below) * ((1.0 - 2.0 / a) / abs(below)) ** (1.0 / 3.0)) / np.sqrt(
        2.0 / (9.0 * a)
    )
    return -log_normal_tail(float(z)), b - 3.0


def _neighbours(values: Array) -> tuple[int, float] | None:
    """Return n and the autocorrelation at lag one plus 1/n, which has mean 0 and variance about 1/n for independent samples."""
    y = _standard(values)
    if y is None:
        return None
    n, skew, kurtosis = len(y), float(np.mean(y**3)), float(np.mean(y**4))
    if n < 6.0 * (kurtosis**2 - 3.0) or n < 100.0 * skew**4:
        return None
    return n, float(np.sum(y[1:] * y[:-1])) / n + 1.0 / n


def dependence(values: Array) -> Found | None:
    """Test whether neighbours in the order told are uncorrelated; the effect is the autocorrelation."""
    found = _neighbours(values)
    return None if found is None else (_two_sided(found[1] * np.sqrt(found[0])), found[1])


def pooled_dependence(series: list[Array]) -> Found | None:
    """Test the same for all series together; the effect is the mean autocorrelation."""
    found = [x for x in map(_neighbours, series) if x is not None]
    total = sum(n for n, _ in found)
    if total == 0:
        return None
    mean = sum(n * r for n, r in found) / total
    return _two_sided(mean * np.sqrt(total)), mean


def drift(values: Array) -> Found | None:
    """Test whether the first and the second half have one mean (Student); the effect is the difference in standard deviations."""
    y = _standard(values)
    if y is None or len(y) < 17.0 * (float(np.mean(y**4)) - 3.0):
        return None
    first, second = y[: len(y) // 2], y[len(y) // 2 :]
    freedom = len(y) - 2
    within = (np.sum((first - first.mean()) ** 2) + np.sum((second - second.mean()) ** 2)) / freedom
    step = float(second.mean() - first.mean())
    if within <= 0.0:
        return np.inf, step
    t = step / np.sqrt(within * (1.0 / len(first) + 1.0 / len(second)))
    p = 2.0 * student_tail(freedom, abs(float(t)))
    return float(-np.log(max(p, 1e-300))), step / float(np.sqrt(within))


def unequal_variances(series: list[Array]) -> Found | None:
    """Test whether Gaussian series have one variance (Bartlett 1937); the effect is the largest variance over the smallest."""
    used = [x for x in series if len(x) >= _FEWEST]
    if len(used) < 2:
        return None
    freedom = np.array([len(x) - 1.0 for x in used])
    variances = np.array([x.var(ddof=1) for x in used])
    if variances.min() <= 0.0:
        return None if variances.max() <= 0.0 else (np.inf, np.inf)
    pooled = float(freedom @ variances / freedom.sum())
    statistic = float(freedom.sum() * np.log(pooled) - freedom @ np.log(variances))
    statistic /= 1.0 + (np.sum(1.0 / freedom) - 1.0 / freedom.sum()) / (3.0 * (len(used) - 1.0))
    return -log_upper_gamma(0.5 * (len(used) - 1.0), 0.5 * statistic), float(
        variances.max() / variances.min()
    )
