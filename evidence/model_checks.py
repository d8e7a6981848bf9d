"""How often the checks of the model catch what is wrong, and speak where nothing is: ``python -m evidence.model_checks``.

Six arms with 100 samples each, means 0, 1, 3, 4, 7, 8 (shifted where a family needs positive ones). Run ``i`` of an instance has the seed
(SEED, place of the instance, i). ``--table`` prints the table of the docs.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy import stats

from evidence._store import Store
from linkarms.checks import check_model

SEED, RUNS, GOOD_RUNS, SAMPLES = 20281, 100, 300, 100
MEANS = (0.0, 1.0, 3.0, 4.0, 7.0, 8.0)
COMMAND = "python -m evidence.model_checks"
HERE = Path(__file__)


def _ar1(rng, rho):
    x = rng.normal(size=SAMPLES)
    for i in range(1, SAMPLES):
        x[i] = rho * x[i - 1] + np.sqrt(1.0 - rho**2) * x[i]
    return x


def _step(rng):
    return rng.normal(size=SAMPLES) + (np.arange(SAMPLES) >= SAMPLES // 2)


#: Instance -> (family told, samples of the arm with this mean, kind of finding that is right).
WRONG = {
    "variance 4 told as 1": ("gaussian", lambda g, m: g.normal(m, 2.0, SAMPLES), "variance"),
    "negative binomial of dispersion 2 told as Poisson": (
        "poisson",
        lambda g, m: g.negative_binomial(m + 1.0, 0.5, SAMPLES),
        "dispersion",
    ),
    "AR(1) of 0.5, variance known": ("gaussian", lambda g, m: m + _ar1(g, 0.5), "dependence"),
    "AR(1) of 0.5, variance unknown": ("gaussian-unknown", lambda g, m: m + _ar1(g, 0.5), "dependence"),
    "a step of one sigma, variance known": ("gaussian", lambda g, m: m + _step(g), "drift"),
    "a step of one sigma, variance unknown": ("gaussian-unknown", lambda g, m: m + _step(g), "drift"),
    "Student with 3 degrees told as Gaussian": (
        "gaussian-unknown",
        lambda g, m: m + g.standard_t(3, SAMPLES),
        "tails",
    ),
    "exponential told as Gaussian": (
        "gaussian-unknown",
        lambda g, m: m + g.exponential(1.0, SAMPLES),
        "skewness",
    ),
    "two rates, 1 and 9, told as exponential": (
        "exponential",
        lambda g, m: (m + 1.0) * g.exponential(np.where(g.random(SAMPLES) < 0.5, 0.2, 1.8)),
        "dispersion",
    ),
    "different variances told as shared": (
        "gaussian-unknown:shared",
        lambda g, m: g.normal(m, 1.0 + m / 4.0, SAMPLES),
        "shared variance",
    ),
}
RIGHT = {
    "Gaussian, variance 1": ("gaussian", lambda g, m: g.normal(m, 1.0, SAMPLES)),
    "Gaussian, variance 4, in two dimensions": ("gaussian:4", lambda g, m: g.normal(m, 2.0, (SAMPLES, 2))),
    "Gaussian, unknown variances": ("gaussian-unknown", lambda g, m: g.normal(m, 0.5 + m, SAMPLES)),
    "Gaussian, unknown shared variance": ("gaussian-unknown:shared", lambda g, m: g.normal(m, 3.0, SAMPLES)),
    "Poisson, means 0.3 to 8.3": ("poisson", lambda g, m: g.poisson(m + 0.3, SAMPLES)),
    "Bernoulli, 0.03 to 0.83": (
        "bernoulli",
        lambda g, m: (g.random(SAMPLES) < (m + 0.3) / 10.0).astype(float),
    ),
    "exponential": ("exponential", lambda g, m: g.exponential(m + 1.0, SAMPLES)),
    "gamma of shape 3": ("gamma:3:mean", lambda g, m: g.gamma(3.0, m + 1.0, SAMPLES)),
    "bounded, beta distributed": ("bounded:0:1", lambda g, m: g.beta(m + 1.0, 2.0, SAMPLES)),
    "three categories": (
        "categorical:3",
        lambda g, m: np.eye(3)[g.choice(3, SAMPLES, p=np.array([1.0 + m, 5.0, 3.0]) / (9.0 + m))],
    ),
}


def run(name, number):
    """Return the kinds of findings of one run."""
    place = [*WRONG, *RIGHT].index(name)
    rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(place, number)))
    family, draw = (WRONG.get(name) or RIGHT[name])[:2]
    return [found.kind for found in check_model([draw(rng, m) for m in MEANS], family)]


def counts(kinds, name):
    """Return runs, runs with any finding, and runs with the right one."""
    right = WRONG[name][2] if name in WRONG else None
    return len(kinds), sum(bool(k) for k in kinds), sum(right in k for k in kinds)


def table(data):
    """Return the table of the docs."""
    lines = ["| samples | told | caught | as |", "|---|---|---|---|"]
    for name, (family, _, kind) in WRONG.items():
        runs, _, right = counts(data[name], name)
        lines.append(f"| {name} | `{family}` | {right} of {runs} | {kind} |")
    lines += ["", "| well specified | told | false alarms | at most (95%) |", "|---|---|---|---|"]
    for name, (family, _) in RIGHT.items():
        runs, alarms, _ = counts(data[name], name)
        high = stats.beta.ppf(0.95, alarms + 1, runs - alarms)
        lines.append(f"| {name} | `{family}` | {alarms} of {runs} | {100 * high:.1f}% |")
    return "\n".join(lines)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--table", action="store_true", help="print the table of the docs")
    options = parser.parse_args(argv)
    store = Store(HERE.with_suffix(".json"), COMMAND)
    if options.table:
        print(table(store.data))
        return
    for name in (*WRONG, *RIGHT):
        done = store.data.setdefault(name, [])
        done += [run(name, i) for i in range(len(done), RUNS if name in WRONG else GOOD_RUNS)]
        print(name, counts(done, name), flush=True)
        store.save()


if __name__ == "__main__":
    main()
