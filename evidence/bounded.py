"""Bets on bounded samples: what they need, and whether they keep the promise: ``python -m evidence.bounded [FOLDER]``.

Three parts, all with EBC-H and samples drawn with replacement from records:

- `FIGURES`: ratings on [0.5, 5] of variance 1.04; samples until the evidence against a mean 0.5 or 0.3 below reaches 8.
- `REAL`: ratings of six MovieLens users and the CPU load of ten AWS servers, versions 1 and 2 of the anytime rule, delta = 0.1.
  ``FOLDER`` has ``movielens/ml-latest-small/ratings.csv`` and ``extra/nab_aws_cpu_10servers.csv.gz``; without it this part stays as it is.
- `AUDITS`: two-point and skewed distributions with little to choose between two partitions, delta = 0.1, 0.2 and 0.5; a rule
  that was weakened on purpose must be caught.

``evidence/bounded.json`` keeps what was found; ``tests/test_bounded_evidence.py`` checks it and computes some again.
"""

import argparse
import csv
import gzip
import time
from pathlib import Path

import numpy as np

import linkarms as la
from evidence._audit_series import CHUNK, RATES, is_broken, markdown, rates, run_chunk
from evidence._store import Store
from linkarms._core import testing as core
from linkarms.arms import resampled_problem

SEED, PATHS, TRIALS = 31_415, 400, 10_000
DELTAS, WEAK, WEAK_TRIALS, MAX_SAMPLES = (0.1, 0.2, 0.5), 32.0, 500, 200_000
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


def two_points(mean, half):
    return [mean - half, mean + half]


#: The rule that must be caught: here, with the prices of the arms divided by `WEAK`.
WEAKENED = "0 or 1, three arms"
#: name -> (records of each arm, K); a record is as likely as any other.
AUDITS = {
    "0 or 1, three arms": (
        [[0.0] * 49 + [1.0], [0.0] * 13 + [1.0] * 7, [0.0] + [1.0] * 9],
        2,
    ),
    "rare large values": ([[0.02] * 9 + [1.0], two_points(0.4, 0.15), two_points(0.85, 0.15)], 2),
    "two points, chain of three": ([two_points(m, 0.1) for m in (0.15, 0.3, 0.45, 0.72)], 2),
    "skewed, two pairs": (
        [(shift + 0.4 * np.linspace(0.0, 1.0, 21) ** 4).tolist() for shift in (0.0, 0.14, 0.44, 0.6)],
        2,
    ),
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


def audit(name, factor, first, trials):
    records, k = AUDITS[name]
    problem = resampled_problem({str(m): x for m, x in enumerate(records)}, k, la.families.bounded(0.0, 1.0))
    rule = la.stopping.weaken(la.stopping.Anytime(), factor)
    return run_chunk(problem, rule, DELTAS, SEED, first, trials, MAX_SAMPLES)


def broken(chunks):
    """For each delta, whether the promise is broken."""
    return is_broken(chunks, DELTAS)


def table(data):
    """The table of real data in the docs."""
    lines = ["| data | version 1 (Hoeffding) | version 2 (bets) | ratio | errors |", "|---" * 5 + "|"]
    for name, entry in data["real"].items():
        (one,), (two,) = (entry[version][2] for version in ("1", "2"))
        errors, n = sum(entry[version][0][0] for version in ("1", "2")), entry["trials"]
        lines.append(f"| {name} | {one / n:,.0f} | {two / n:,.0f} | {two / one:.2f} | {errors} of {2 * n} |")
    return "\n".join(lines)


def audit_table(data):
    """The table of audits in the docs."""
    runs = data["audits"] | {f"{WEAKENED}, prices / {WEAK:g}": data["weakened"]}
    rows = [cells for name, chunks in runs.items() for cells in rates(name, chunks, DELTAS)]
    return markdown(["distributions", *RATES], rows)


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
    audits = store.data.setdefault("audits", {name: [] for name in AUDITS})
    weakened = store.data.setdefault("weakened", [])
    while len(weakened) < WEAK_TRIALS // CHUNK and not late():
        weakened.append(audit(WEAKENED, WEAK, len(weakened) * CHUNK, CHUNK))
    for done in range(TRIALS // CHUNK):  # all grow together
        for name, chunks in audits.items():
            if late():
                break
            if len(chunks) == done:
                chunks.append(audit(name, 1.0, done * CHUNK, CHUNK))
        store.save()
    print(np.mean(paths, axis=0), table(store.data), audit_table(store.data), sep="\n")


if __name__ == "__main__":
    main()
