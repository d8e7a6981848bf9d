"""Bets on bounded samples: what they need: ``python -m evidence.bounded [FOLDER]``. Audits are in ``evidence/bounded_audits.py``.

Two parts, both with EBC-H and samples drawn with replacement from records:

- `FIGURES`: ratings on [0.5, 5] of variance 1.04; samples until the evidence against a mean 0.5 or 0.3 below reaches 8.
- `REAL`: ratings of six MovieLens users and the CPU load of ten AWS servers, versions 1 and 2 of the anytime rule, delta = 0.1.
  ``FOLDER`` has ``movielens/ml-latest-small/ratings.csv`` and ``extra/nab_aws_cpu_10servers.csv.gz``; without it this part stays as it is.

``evidence/bounded.json`` keeps what was found; ``tests/test_bounded_evidence.py`` checks it and computes some again.
"""

import argparse
import csv
import gzip
import time
from pathlib import Path

import numpy as np

import linkarms as la
from evidence._audit_series import run_chunk
from evidence._store import Store
from linkarms._core import testing as core
from linkarms.arms import resampled_problem

SEED, PATHS, MAX_SAMPLES = 31_415, 400, 200_000
COMMAND = "python -m evidence.bounded FOLDER"
HERE = Path(__file__)

#: Ratings by half stars with mean 3.5 and variance 1.04.
STARS = np.arange(0.5, 5.25, 0.5)
LIKELY = np.array([0.01, 0.022, 0.026, 0.075, 0.085, 0.146, 0.193, 0.206, 0.13, 0.107])
#: Samples until the evidence is 8, by how far below the tested mean is: betting, and as math.md has them.
FIGURES = {0.5: 117, 0.3: 272}

USERS = ("298", "599", "414", "474", "305", "105")


def ratings(folder):
    """The ratings of six users with many of them: means 2.36 2.64, 3.39 3.40, 3.92 4.12."""
    stars = {user: [] for user in USERS}
    with (Path(folder) / "movielens" / "ml-latest-small" / "ratings.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["userId"] in stars:
                stars[row["userId"]].append(float(row["rating"]))
    return resampled_problem(stars, 3, la.families.bounded(0.5, 5.0))


def servers(folder):
    """The CPU load of ten servers, in per cent."""
    load = {}
    with gzip.open(Path(folder) / "extra" / "nab_aws_cpu_10servers.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            load.setdefault(row["series"], []).append(float(row["value"]))
    return resampled_problem(load, 3, la.families.bounded(0.0, 100.0))


#: name -> (the problem, runs); samples of many different values take longer to weigh.
REAL = {
    "MovieLens, stars of six users, K = 3": (ratings, 200),
    "AWS, CPU load of ten servers, K = 3": (servers, 8),
}


def figures(first, paths):
    """Samples of each path until the evidence is 8, one row per entry of `FIGURES`."""
    found = []
    for i in range(first, first + paths):
        rng = np.random.default_rng([SEED, i])
        x = rng.choice(STARS, 1_500, p=LIKELY)
        row = []
        for below in FIGURES:
            # bisection would need a path that rises; the first of every second sample is near enough
            row.append(
                next(
                    n
                    for n in range(2, len(x), 2)
                    if core.bets(0.5, 5.0, x[:n]).log_evidence(LIKELY @ STARS - below) >= 8.0
                )
            )
        found.append(row)
    return found


def table(data):
    """The table of real data in the docs."""
    lines = ["| data | version 1 (Hoeffding) | version 2 (bets) | ratio | errors |", "|---" * 5 + "|"]
    for name, entry in data["real"].items():
        (one,), (two,) = (entry[version][2] for version in ("1", "2"))
        errors, n = sum(entry[version][0][0] for version in ("1", "2")), entry["trials"]
        lines.append(f"| {name} | {one / n:,.0f} | {two / n:,.0f} | {two / one:.2f} | {errors} of {2 * n} |")
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="where the real data are")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing new after so long")
    options = parser.parse_args(arguments)
    store, start = Store(HERE.with_suffix(".json"), COMMAND), time.monotonic()
    late = lambda: time.monotonic() - start > options.seconds  # noqa: E731
    paths = store.data.setdefault("figures", [])
    while len(paths) < PATHS and not late():
        paths += figures(len(paths), 20)
        store.save()
    for name, (make, trials) in REAL.items():
        entry = store.data.setdefault("real", {}).setdefault(name, {"trials": trials})
        for version in ("1", "2"):
            if options.folder and version not in entry and not late():
                rule = la.stopping.Anytime(version=int(version))
                entry[version] = run_chunk(make(options.folder), rule, [0.1], SEED, 0, trials, MAX_SAMPLES)
                store.save()
    print(np.mean(paths, axis=0), table(store.data), sep="\n")


if __name__ == "__main__":
    main()
