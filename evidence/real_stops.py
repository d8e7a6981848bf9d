"""Samples until the stop on real data, both versions of the anytime rule against the paper's: ``python -m evidence.real_stops FOLDER``.

``FOLDER`` has ``green_tripdata_2025-01.parquet`` and ``taxi_zone_lookup.csv``, ``ml-latest-small`` in a folder of that name,
``nycflights13_delays.csv.gz``, or several of these; what is missing is left as it is. The data are not part of the project
(`linkarms.datasets.fetch`). Arms, clusters and records of taxis and ratings are those of
``evidence/real_data.py``: samples are drawn with replacement, and the truth is the partition of all records. EBC-H, delta = 0.1. The
paper's rule has the epsilon, and for gaps the Theta, that `linkarms.plan` chooses for the true parameters, which nobody knows
beforehand; for ratings Theta is the range of the stars. It has no version for unknown variances, so that flights are without it.
``python -m evidence.real_stops table`` prints the table of the docs.
"""

import argparse
import csv
import gzip
from pathlib import Path

import numpy as np

import linkarms as la
from evidence._store import Store
from linkarms.arms import resampled_problem
from linkarms.datasets import load_bookings, load_ratings
from linkarms.families import Exponential, Gaussian, UnknownVariance, bounded
from linkarms.montecarlo import error_interval
from linkarms.paper import choose_regions, choose_users
from linkarms.planning._rules import Guess, stopping_rules

SEED, CHUNK, DELTA, MAX_SAMPLES = 2_718, 10, 0.1, 200_000
COMMAND = "python -m evidence.real_stops FOLDER"
STORE = Path(__file__).parent / "real_data" / "stops.json"
TAXI_FILES = ("green_tripdata_2025-01.parquet", "taxi_zone_lookup.csv")
#: name -> how the table calls it.
ANYTIME = {"anytime": la.stopping.Anytime(version=2), "anytime, version 1": la.stopping.Anytime(version=1)}
RULES = (*ANYTIME, "paper")


def taxi(folder, parameter):
    """Six zones of Manhattan in three clusters by their gaps, weighed as exponential."""
    data = load_bookings(*(folder / name for name in TAXI_FILES))
    choice = choose_regions(data)
    gaps = {arm: data.gaps[str(arm)] for arm in choice.arms}
    return resampled_problem(gaps, choice.n_clusters, Exponential(parameter))


def movielens(folder, family):
    """Six users in four clusters by their ratings of Comedy and Drama."""
    data = load_ratings(folder / "ml-latest-small")
    choice = choose_users(data)
    stars = {user: data.users[int(user)] for user in choice.arms}
    return resampled_problem(stars, choice.n_clusters, family, independent=True)


def delays(folder):
    """The minutes by which flights of fourteen airlines were late."""
    late = {}
    with gzip.open(folder / FLIGHTS, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["arr_delay"]:
                late.setdefault(row["carrier"], []).append(float(row["arr_delay"]))
    return {carrier: minutes for carrier, minutes in late.items() if len(minutes) >= 500}


def flights(folder):
    """Airlines by their mean delay: one is early, the others are not. Standard deviations are 33 to 62 minutes."""
    return resampled_problem(delays(folder), 2, UnknownVariance())


def flights_bound(folder, problem):
    """The least number of samples where the variances are known."""
    families = [Gaussian(float(np.var(minutes))) for minutes in delays(folder).values()]
    return la.lower_bound(problem.parameters, problem.n_clusters, families)


RATINGS, FLIGHTS = "ml-latest-small/ratings.csv", "nycflights13_delays.csv.gz"
#: name -> (a file that has to be there, trials, the problem); a sample of the exponential by its mean takes long to weigh.
SETTINGS = {
    "taxi gaps, exponential by the mean": (TAXI_FILES[0], 30, lambda folder: taxi(folder, "mean")),
    "taxi gaps, exponential by the rate": (TAXI_FILES[0], 50, lambda folder: taxi(folder, "rate")),
    "MovieLens, bounded": (
        RATINGS,
        200,
        lambda folder: movielens(folder, bounded([0.5, 0.5], [5.0, 5.0], independent=True)),
    ),
    "MovieLens, Gaussian of variance 1": (RATINGS, 400, lambda folder: movielens(folder, Gaussian())),
    "flights, unknown variance": (FLIGHTS, 30, flights),
}


def paper_rule(problem, stars):
    """The paper's rule as `linkarms plan` sets it up for these parameters, with the stars' own Theta for ratings; and the bound."""
    bound = la.lower_bound(problem.parameters, problem.n_clusters, problem.family)
    guess = Guess(
        problem.parameters, problem.labels, bound.weights, problem.n_clusters, problem.arm_families, DELTA
    )
    rules, _ = stopping_rules(guess, 1.0 / bound.upper)
    rule = next(rule for rule in rules if isinstance(rule, la.stopping.Paper))
    return la.stopping.Paper((0.5, 5.0), rule.epsilon) if stars else rule, bound


def run(problem, rule, first, trials):
    """Rows ``[stopping time, wrong]``."""
    found = la.simulate(
        problem,
        stopping=rule,
        deltas=[DELTA],
        trials=trials,
        seed=SEED,
        max_samples=MAX_SAMPLES,
        first_trial=first,
    )["ebc-h"]
    pairs = zip(found.stopping_times[:, 0].tolist(), found.errors[:, 0].tolist(), strict=True)
    return [[t, int(w)] for t, w in pairs]


def summary(chunks):
    """What the table says of one rule, from its rows."""
    times = np.array([t for t, _ in chunks])
    spent = np.where(times < 0, MAX_SAMPLES, times)
    return {
        "trials": len(chunks),
        "errors": sum(w for _, w in chunks),
        "unstopped": int((times < 0).sum()),
        "mean": round(float(spent.mean()), 1),
        "median": float(np.median(spent)),
        "q95": float(np.quantile(spent, 0.95, method="inverted_cdf")),
    }


def table(data):
    """The table of the docs."""
    head = [
        "data",
        "rule",
        "mean samples",
        "median",
        "95% quantile",
        "unstopped",
        "error rate (95%)",
        "information bound",
    ]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name, entry in data["settings"].items():
        for rule in RULES:
            if rule not in entry:
                continue
            s = entry[rule]
            low, high = error_interval(s["errors"], s["trials"])
            words = rule if rule in ANYTIME else f"`{entry['paper_rule']}`"
            lines.append(
                f"| {name if rule == RULES[0] else ''} | {words} | {s['mean']:,.0f} | {s['median']:,.0f} | {s['q95']:,.0f} | "
                f"{s['unstopped']} of {s['trials']:,} | {s['errors'] / s['trials']:.3f} ({low:.3f} to {high:.3f}) | "
                f"{entry['least']:,.0f} |"
            )
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="where the data are; or `table`")
    options = parser.parse_args(arguments)
    store = Store(STORE, COMMAND)
    if options.folder == "table":
        print(table(store.data))
        return
    store.data.update(seed=SEED, delta=DELTA, max_samples=MAX_SAMPLES)
    done = store.data.setdefault("settings", {})
    for name, (needed, trials, make) in SETTINGS.items():
        rules = tuple(ANYTIME) if needed == FLIGHTS else RULES
        if not (Path(options.folder) / needed).is_file() or all(r in done.get(name, {}) for r in rules):
            continue
        problem = make(Path(options.folder))
        entry = done.setdefault(name, {})
        if needed == FLIGHTS:
            entry.update(least=flights_bound(Path(options.folder), problem).samples(DELTA))
            paper = None
        else:
            paper, bound = paper_rule(problem, stars=needed == RATINGS)
            entry.update(paper_rule=repr(paper), least=bound.samples(DELTA))
        for rule in rules:
            rows = []
            while rule not in entry and len(rows) < trials:
                rows += run(problem, ANYTIME.get(rule, paper), len(rows), CHUNK)
                print(f"{name}, {rule}: {summary(rows)}", flush=True)
            if rows:
                entry[rule] = summary(rows)
                store.save()
    print(table(store.data))


if __name__ == "__main__":
    main()
