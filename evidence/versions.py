"""Version 2 of the anytime rule against version 1 on the same samples: ``python -m evidence.versions``.

The instances are those of the audits, of ``evidence/error_rates.py`` and of ``evidence/exact_stops.py``, where both versions can run them,
and some of kinds of arms that these do not have. (Those of ``evidence/anytime.py`` are compared there, with the same seeds.) EBC-H, delta =
0.1; trial ``i`` has the seed (SEED, i) and the same samples of each arm under both versions. There are as many trials as it takes to see
that version 2 is not slower by 2%: the ratio of the means, and three of its standard errors. ``evidence/versions.json`` keeps the stopping
times of both; ``tests/test_anytime_evidence.py`` checks them and computes some again.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import linkarms as la
from evidence import _anytime_tables as tables
from evidence import (
    aligned_audits,
    audits,
    bounded_audits,
    error_rates,
    exact_stops,
    gap_audits,
    one_sided_audits,
    variance_audits,
    watched_runs,
)
from evidence._audit_series import markdown
from evidence._store import Store
from linkarms.montecarlo._trial import run_trial

SEED, DELTA, CHUNK, FEWEST, MOST, MAX_SAMPLES = 41_421, 0.1, 20, 40, 1_000, 200_000
COMMAND = "python -m evidence.versions"
HERE = Path(__file__)
VERSIONS = (1, 2)
#: What version 2 may take at most, as a share of version 1, and the standard errors by which it has to be below.
AT_MOST, ERRORS = 1.02, 3.0

F = la.families
TILTED = np.array([[1.0, 0.6], [0.6, 0.8]])
#: Kinds of arms that the other files do not have, in clusters of two, of three and one, and of one.
OTHERS = {
    "Synthetic 2 by the mean": lambda: la.problems.synthetic2("mean"),
    "gamma means, three and one": lambda: la.Problem([1.0, 2.0, 3.1, 7.0], 2, F.Gamma(2.5, "mean")),
    "covariances, three pairs": lambda: la.Problem(
        [[0, 0], [0.6, 0], [3, 3], [3, 3.6], [6, 0], [6.6, 0]], 3, F.Gaussian(TILTED)
    ),
    "covariances, three and one": lambda: la.Problem(
        [[0, 0], [1, 0], [2, 0], [3.6, 0]], 2, F.Gaussian(TILTED)
    ),
    "products, two pairs": lambda: la.Problem(
        [[1.0, 0.3], [1.5, 0.4], [5.0, 0.6], [5.5, 0.7]], 2, F.Product([F.Poisson(), F.Bernoulli()])
    ),
    "categories, two pairs": lambda: la.Problem(
        [[0.8, 0.1, 0.1], [0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.1, 0.2, 0.7]], 2, F.Categorical(3)
    ),
    "22 counts, two clusters": lambda: la.Problem(
        [(5.0, 20.0)[i // 11] + 0.1 * (i % 11) for i in range(22)], 2, "poisson"
    ),
    "32 arms in the plane, two clusters": lambda: la.Problem(
        [(0.4 * i + 4.0 * (i > 15), 0.3 * (i % 2)) for i in range(32)], 2
    ),
}


def instances():
    """name -> what makes the problem."""
    found = {}
    for words, series in (
        ("audits", audits),
        ("one-sided", one_sided_audits),
        ("bounded", bounded_audits),
        ("no K", gap_audits),
        ("watched", watched_runs),
    ):
        for name in series.INSTANCES:
            found[f"{words}: {name}"] = lambda series=series, name=name: series.setting(name)
    for name, (parameters, k) in aligned_audits.INSTANCES.items():
        found[f"aligned: {name}"] = lambda parameters=parameters, k=k: la.Problem(parameters, k)
    for name, (kind, *_) in variance_audits.INSTANCES.items():
        if kind in ("isotropic", "shared"):  # version 1 has no evidence for other kinds
            found[f"variances: {name}"] = lambda name=name: variance_audits.setting(name)
    for name in error_rates.INSTANCES:
        found[f"error rates: {name}"] = lambda name=name: error_rates.setting(name)[0]
    found.update({f"exact: {name}": make for name, make in exact_stops.INSTANCES.items()})
    found.update(OTHERS)
    return found


def run(name, trials):
    """Rows of the stopping times under version 1 and version 2; unstopped runs have used their budget."""
    problem, sampling = instances()[name](), la.sampling.resolve_sampling("ebc-h")
    rows = []
    for i in trials:
        row = []
        for version in VERSIONS:
            seed = np.random.SeedSequence(SEED, spawn_key=(i,))
            rule = la.stopping.Anytime(version=version)
            at = int(run_trial(problem, sampling, rule, (DELTA,), seed, MAX_SAMPLES).stopped_at[0])
            row.append(at if at >= 0 else MAX_SAMPLES)
        rows.append(row)
    return rows


def ratio(rows):
    """The mean of version 2 over that of version 1, and its standard error."""
    return tables.ratio(*np.transpose(rows))


def is_settled(rows):
    """Whether version 2 is surely not slower by more than is allowed."""
    if len(rows) < FEWEST:
        return False
    found, error = ratio(rows)
    return found + ERRORS * error <= AT_MOST


def table(data):
    """The table of the docs."""
    lines = []
    for name, rows in data["instances"].items():
        old, new = np.mean(rows, axis=0)
        found, error = ratio(rows)
        lines.append([name, f"{len(rows)}", f"{old:,.0f}", f"{new:,.0f}", f"{found:.3f} ± {error:.3f}"])
    return markdown(["instance", "runs", "version 1", "version 2", "ratio"], lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing new after so long")
    parser.add_argument("--only", default="", help="instances whose names contain this")
    options = parser.parse_args(arguments)
    until = time.monotonic() + options.seconds
    store = Store(HERE.with_suffix(".json"), COMMAND)
    store.data.update(seed=SEED, delta=DELTA, max_samples=MAX_SAMPLES)
    done = store.data.setdefault("instances", {})
    for name in instances():
        if options.only not in name:
            continue
        rows, start = done.get(name, []), time.process_time()
        while not is_settled(rows) and len(rows) < MOST and time.monotonic() < until:
            rows += run(name, range(len(rows), len(rows) + CHUNK))
            done[name] = rows
            store.save()
        if rows:
            old, new = np.mean(rows, axis=0)
            words = "{:.3f} ± {:.3f}".format(*ratio(rows))
            spent = time.process_time() - start
            print(
                f"{name}: {len(rows)} runs, {old:.0f} and {new:.0f}, ratio {words}, {spent:.1f} s", flush=True
            )


if __name__ == "__main__":
    main()
