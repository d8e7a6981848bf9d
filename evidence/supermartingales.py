"""The evidence of the anytime rule under adaptive sampling and optional stopping: ``python -m evidence.supermartingales``.

For each family, three arms with known parameters. Which arm is sampled next is chosen by someone who sees everything, the evidence
at the truth included, and wants it to be large: half of the time the arm whose evidence is largest so far, otherwise an arm at random.
He stops as soon as ``exp(max over c of sum over the arms of l_m(theta_m)) / J`` reaches ``1 / ALPHA``, or after `SAMPLES` samples.
By Ville's inequality he gets there with probability at most `ALPHA`; an exact binomial bound compares the count with it. The same
without the prices of the arms and of the grid (the plain likelihood ratio) has to be found out. ``mean`` is that of the process when
he stopped, at most 1 but for chance.

The evidence is taken from the rule's own tables (``stopping/_tables.py``).
"""

import argparse
import math
from pathlib import Path

import numpy as np

import linkarms as la
from evidence._store import Store
from linkarms import _core
from linkarms.families._resolve import resolve
from linkarms.montecarlo import promise_is_broken

SEED, RUNS, SAMPLES, ALPHA = 90_210, 500, 120, 0.1
COMMAND = "python -m evidence.supermartingales"
HERE = Path(__file__)


class Geometric(la.families.ScalarFamily):
    """A user's own family: failures before the first success, by the probability of success."""

    name, domain, open_domain = "geometric", (0.0, 1.0), True

    @staticmethod
    def kl(p, q):
        if q <= 0.0 or q >= 1.0:
            return math.inf
        return math.log(p / q) + (1 - p) / p * math.log((1 - p) / (1 - q))

    @staticmethod
    def step(p, slope):
        b = 1 / p - slope
        return 2 / (b + math.sqrt(b * b + 4 * slope))

    @staticmethod
    def fisher(p):
        return 1 / (p * p * (1 - p))

    @staticmethod
    def estimate(mean):
        return 1 / (1 + max(mean, 1e-9))

    def draw(self, rng, theta, size):
        return rng.geometric(theta[0], (size, 1)) - 1.0


F = la.families
#: name -> (families, parameters); a further kind of evidence needs an entry here, and in `arm_evidence` if it is no rise less a price.
FAMILIES = {
    "gaussian, d=1": (F.Gaussian(2.0), [[0.0], [0.5], [3.0]]),
    "gaussian, d=5": (F.Gaussian(), [[0.0] * 5, [1.0] * 5, [-2.0] * 5]),
    "gaussian, covariance": (F.Gaussian([[1.0, 0.6], [0.6, 0.8]]), [[0.0, 0.0], [1.0, 0.0], [1.4, 1.2]]),
    "bounded": (F.bounded(0.0, 1.0), [[0.5], [0.3], [0.8]]),
    "exponential, rate": (F.Exponential(), [[0.5], [1.0], [9.0]]),
    "exponential, mean": (F.Exponential("mean"), [[0.5], [1.0], [9.0]]),
    "gamma, shape 2.5": (F.Gamma(2.5), [[0.5], [1.0], [9.0]]),
    "bernoulli": (F.Bernoulli(), [[0.03], [0.5], [0.8]]),
    "poisson": (F.Poisson(), [[0.1], [1.0], [7.0]]),
    "categorical (prior)": (F.Categorical(3), [[0.2, 0.5, 0.3], [0.05, 0.05, 0.9], [0.4, 0.4, 0.2]]),
    "product (prior)": (F.Product([F.Bernoulli(), F.Poisson()]), [[0.3, 1.0], [0.8, 4.0], [0.5, 0.2]]),
    "a user's own (prior)": (Geometric(), [[0.2], [0.5], [0.8]]),
}


class Arms:
    """Three arms' evidence at the truth, one sample at a time."""

    def __init__(self, name):
        family, theta = FAMILIES[name]
        self.theta = np.array(theta)
        self.families = resolve(family, *self.theta.shape)
        self.model = self.families.model
        self.grid = la.stopping.Anytime(version=1).grid(self.families)

    def arm_evidence(self, m, n, mean, priced=True):
        """``l_m(theta_m)`` for each ``c`` after ``n`` samples with mean ``mean``; without the price, ``l_m - min l_m``."""
        model, family, truth = self.model, self.families.families[m], self.theta[m]
        if not _core.evidence_has_scale(model, 2):  # a fixed prior: the divergence less its price
            estimate = model.estimate(m, mean)
            rise = n * model.kl(m, estimate, truth)
            return np.array([rise - model.regret(m, n, estimate) if priced else rise])
        values = np.array([model.log_evidence(m, n, mean, truth, c) for c in self.grid])
        if priced:
            return values
        if isinstance(family, F.Gaussian):
            return values + [0.5 * len(truth) * math.log1p(n / c) for c in self.grid]
        return values - [_core.testing.Mixture(family.scalar(), n, mean[0], c).minimum for c in self.grid]


def run(name, runs, priced=True, samples=SAMPLES):
    """For each run: whether the process reached ``1 / ALPHA``, and its value when it was stopped."""
    arms = Arms(name)
    n_arms = len(arms.theta)
    rows = []
    for i in runs:
        rng = np.random.default_rng([SEED, i])
        drawn = [
            arms.families.families[m].statistics(arms.families.families[m].draw(rng, arms.theta[m], samples))
            for m in range(n_arms)
        ]
        counts, sums = np.zeros(n_arms, dtype=int), np.zeros_like(arms.theta)
        evidence = np.zeros((n_arms, len(arms.grid)))
        for _ in range(samples):
            m = int(evidence.max(axis=1).argmax()) if rng.random() < 0.5 else int(rng.integers(n_arms))
            sums[m] += drawn[m][counts[m]]
            counts[m] += 1
            evidence[m] = arms.arm_evidence(m, int(counts[m]), sums[m] / counts[m], priced)
            height = evidence.sum(axis=0).max() - (math.log(len(arms.grid)) if priced else 0.0)
            if height >= -math.log(ALPHA):
                break
        rows.append((bool(height >= -math.log(ALPHA)), math.exp(height)))
    return rows


def summary(rows):
    """Count, and mean at the stop."""
    return {
        "runs": len(rows),
        "reached": sum(r for r, _ in rows),
        "mean": round(float(np.mean([x for _, x in rows])), 4),
    }


def verdict(entry):
    """Whether the count shows that the process is no supermartingale of mean one."""
    return promise_is_broken(entry["reached"], entry["runs"], ALPHA)


def table(data):
    """The table of the docs."""
    lines = ["| family | reached 10 | mean at the stop | without the price |", "|---|---|---|---|"]
    for name, entry in data["families"].items():
        kept, bare = entry["evidence"], entry["without the price"]
        lines.append(
            f"| {name} | {kept['reached']} of {kept['runs']:,} | {kept['mean']:.2f} | {bare['reached']} of {bare['runs']:,} |"
        )
    return "\n".join(lines)


def main(arguments=None):
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    store = Store(HERE.with_suffix(".json"), COMMAND)
    store.data.update(seed=SEED, samples=SAMPLES, alpha=ALPHA)
    done = store.data.setdefault("families", {})
    for name in FAMILIES:
        entry = done.setdefault(name, {})
        if "evidence" not in entry:
            entry["evidence"] = summary(run(name, range(RUNS)))
            store.save()
        if "without the price" not in entry:
            entry["without the price"] = summary(run(name, range(200), priced=False))
            store.save()
        print(
            f"{name}: {entry['evidence']}, {'BROKEN' if verdict(entry['evidence']) else 'holds'}; without the price "
            f"{entry['without the price']}, {'found out' if verdict(entry['without the price']) else 'MISSED'}",
            flush=True,
        )
    print(table(store.data))


if __name__ == "__main__":
    main()
