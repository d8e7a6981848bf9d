"""What the native core keeps of samples: means, estimates, and the predictions of universal inference against SciPy."""

import math

import numpy as np
import pytest
from scipy import stats

from linkarms import _core
from linkarms._core import testing as core

EVERYWHERE = np.array([[-np.inf, np.inf]] * 2)


def gaussian_model(n_arms, variances, d=2):
    return _core.Model([_core.Arm.coordinates([_core.gaussian(1.0)] * d)] * n_arms, d, variances)


def test_counts_means_and_estimates():
    product = _core.Arm.coordinates([_core.gamma_rate(2.0), _core.poisson()])
    box = np.array([[0.5, 3.0], [0.0, np.inf]])
    samples = core.Samples(_core.Model([product] * 3, 2), box)
    rng, seen = np.random.default_rng(1), {0: [], 2: []}
    for m in rng.choice([0, 2], 40):
        x = np.array([rng.gamma(2.0), rng.poisson(3.0)])
        seen[int(m)].append(x)
        samples.add(int(m), x)
    assert samples.total == 40
    assert not samples.every_arm_has_one
    assert samples.counts.tolist() == [len(seen[0]), 0, len(seen[2])]
    for m, rows in seen.items():
        mean = np.mean(rows, axis=0)
        assert samples.means[m] == pytest.approx(mean, rel=1e-13)
        wanted = [min(max(2.0 / mean[0], 0.5), 3.0), mean[1]]
        assert samples.estimates[m] == pytest.approx(wanted, rel=1e-13)
    samples.add(1, np.array([1.0, 1.0]))
    assert samples.every_arm_has_one
    again = core.Samples(_core.Model([product] * 3, 2), box)
    again.set(samples.counts, samples.means, [])
    assert again.estimates.tolist() == samples.estimates.tolist()
    assert (again.total, again.every_arm_has_one) == (41, True)


@pytest.mark.parametrize("variances", ["separate", "shared"])
@pytest.mark.parametrize("d", [1, 2])
def test_predictions_are_students(variances, d):
    rng = np.random.default_rng(2)
    model = gaussian_model(3, variances, d)
    samples = core.Samples(model, EVERYWHERE[:d])
    told = [[] for _ in range(3)]
    predicted = [[] for _ in range(3)]
    logs = [0.0] * 3

    def squares_of(rows):
        return float(np.sum((rows - np.mean(rows, axis=0)) ** 2)) if len(rows) else 0.0

    for m in rng.integers(0, 3, 60):
        x = rng.normal(3.0 * m, 0.5, d)
        pool = told if variances == "shared" else [told[m]]
        squares = sum(squares_of(rows) for rows in pool)
        degrees = d * sum(max(len(rows) - 1, 0) for rows in pool)
        if told[m] and degrees >= 1:
            n, mean = len(told[m]), np.mean(told[m], axis=0)
            spread = squares / degrees * (1 + 1 / n)
            logs[m] += stats.multivariate_t(mean, spread * np.eye(d), df=degrees).logpdf(x)
            predicted[m].append(x)
        told[m].append(x)
        samples.add(int(m), x)
    for m in range(3):
        kept = samples.moments(m)
        assert kept.predicted == len(predicted[m]) > 5
        assert kept.log_predictive == pytest.approx(logs[m], rel=1e-10)
        assert kept.mean == pytest.approx(np.mean(predicted[m], axis=0), rel=1e-12)
        assert kept.squares == pytest.approx(squares_of(predicted[m]), rel=1e-10)
        assert kept.all_squares == pytest.approx(squares_of(told[m]), rel=1e-10)
        degrees = d * (len(told[m]) - 1)
        variance = squares_of(told[m]) / degrees * math.exp(2 * math.sqrt(2 / degrees))
        wanted = 1 / variance if variances == "separate" else 1.0
        assert samples.precision(m) == pytest.approx(wanted, rel=1e-10)
    # a dump brings everything back, and the run goes on in the same way
    again = core.Samples(model, EVERYWHERE[:d])
    again.set(samples.counts, samples.means, [samples.moments(m) for m in range(3)])
    for each in (samples, again):
        each.add(1, np.full(d, 2.5))
    kept, fresh = samples.moments(1), again.moments(1)
    assert (kept.log_predictive, kept.squares, kept.mean) == (fresh.log_predictive, fresh.squares, fresh.mean)
    assert [samples.precision(m) for m in range(3)] == [again.precision(m) for m in range(3)]


def test_first_samples_predict_nothing():
    samples = core.Samples(gaussian_model(2, "separate", 1), EVERYWHERE[:1])
    for x in (1.0, 1.0, 1.0):  # no spread yet: nothing can be predicted from it
        samples.add(0, np.array([x]))
    assert samples.moments(0).predicted == 0.0
    assert samples.precision(0) == 1.0
    samples.add(0, np.array([2.0]))
    samples.add(0, np.array([2.0]))
    assert samples.moments(0).predicted == 1.0


def test_shapes_are_checked():
    model = gaussian_model(2, "separate")
    with pytest.raises(ValueError, match="box"):
        core.Samples(model, EVERYWHERE[:1])
    samples = core.Samples(model, EVERYWHERE)
    with pytest.raises(ValueError, match="one row per arm"):
        samples.set(np.array([1, 2]), np.zeros((2, 2)), [])
    with pytest.raises(ValueError, match="fit the model"):
        samples.add(2, np.zeros(2))
