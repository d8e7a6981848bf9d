"""What the exact psi saves at the stop: ``python -m evidence.exact_stops``.

The paper's rule with the bottleneck and with the exact psi, on the same trajectories of EBC-H, for clusters of 3, 5 and 10 arms. Trial
``i`` has the seed (SEED, i). ``--table`` prints the table of the docs.
"""

import argparse
from pathlib import Path

import numpy as np

import linkarms as la
from evidence._store import Store
from linkarms.montecarlo._trial import run_trial

SEED, TRIALS, DELTA = 20268, 15, 0.01
COMMAND = "python -m evidence.exact_stops"
HERE = Path(__file__)


def _pair_of(cluster, far):
    return np.concatenate([cluster, cluster + far])


def _on_line(n):
    return la.Problem(_pair_of(np.linspace(0.0, 0.4 * n, n), 0.4 * n + 3.0), n_clusters=2)


INSTANCES = {f"two clusters of {n} on a line": (lambda n=n: _on_line(n)) for n in (3, 5, 10)}


def run(name, trials):
    """Stopping times of the bottleneck and of the exact psi."""
    problem = INSTANCES[name]()
    box = [
        (float(a) - 2.0, float(b) + 2.0)
        for a, b in zip(problem.parameters.min(0), problem.parameters.max(0), strict=True)
    ]
    rows = []
    for i in trials:
        row = []
        for exact in (False, True):
            stop = la.stopping.Paper(theta=box, epsilon=0.02, exact=exact)
            seed = np.random.SeedSequence(SEED, spawn_key=(i,))
            trial = run_trial(problem, la.sampling.resolve_sampling("ebc-h"), stop, (DELTA,), seed, 200_000)
            row.append(int(trial.stopped_at[0]))
        rows.append(row)
    return rows


def table(data):
    """The table of the docs."""
    lines = ["| instance | bottleneck | exact | saved |", "|---|---|---|---|"]
    for name in INSTANCES:
        rows = np.array(data[name], dtype=float)
        a, b = rows.mean(0)
        saved = 1.0 - rows[:, 1] / rows[:, 0]
        error = saved.std(ddof=1) / np.sqrt(len(rows))
        lines.append(f"| {name} | {a:.0f} | {b:.0f} | {100 * saved.mean():.1f}% ± {100 * error:.1f} |")
    return "\n".join(lines)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true", help="print the table of the docs")
    args = parser.parse_args(argv)
    store = Store(HERE.with_suffix(".json"), COMMAND)
    if args.table:
        print(table(store.data))
        return
    for name in INSTANCES:
        rows = store.data.setdefault(name, [])
        while len(rows) < TRIALS:
            rows += run(name, range(len(rows), min(len(rows) + 5, TRIALS)))
            store.save()
            print(f"{name}: {len(rows)} trials, mean {np.mean(rows, axis=0).round(1).tolist()}", flush=True)


if __name__ == "__main__":
    main()
