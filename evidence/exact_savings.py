"""What the exact psi is worth for clusters of 3, 5 and 10 arms: ``python -m evidence.exact_savings``.

Problems have two clusters of ``n`` arms each, clouds of unit variance in one or two dimensions, drawn from
``numpy.random.default_rng([SEED, n, d, i])``; Gaussian arms of unit variance. For each: exact psi over the bottleneck at equal weights and
at the weights that ``lower_bound`` finds best; and the bracket of T* with the exact psi and with the bottleneck alone, as it was before.
The results go to ``evidence/exact_savings.json``; a run that was interrupted goes on where it stopped. ``--table`` prints the table of
``docs/exact.md``.
"""

import argparse
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np

import linkarms as la
from evidence._store import Store
from linkarms.alternatives import solve_psi

SEED = 31
COMMAND = "python -m evidence.exact_savings"
HERE = Path(__file__)
CASES = tuple((n, d, count) for n, count in ((3, 12), (5, 12), (10, 6)) for d in (1, 2))
#: How narrow a bracket is asked for; at most so many evaluations of psi.
GAP, CUTS = 1e-3, 400


def draw(n, d, i):
    """Two clouds that single linkage tells apart, not too narrowly: psi at unit weights is 0.01 squared foreign distances, or more."""
    rng = np.random.default_rng([SEED, n, d, i])
    while True:
        theta = rng.normal(size=(2 * n, d))
        theta[n:, 0] += rng.uniform(4.0, 8.0)
        labels, ambiguous = la.linkage.single_linkage(theta, 2)
        if ambiguous or len(set(labels[:n])) > 1 or len(set(labels[n:])) > 1:
            continue
        inter = np.linalg.norm(theta[:n, None] - theta[None, n:], axis=2).min()
        if la.psi(np.full(2 * n, 1.0), (theta / inter), 2).value > 0.01:
            return theta


def bracket(theta):
    begin = time.process_time()
    b = la.lower_bound(theta, 2, gap=GAP, max_cuts=CUTS)
    return {
        "lower": b.lower,
        "upper": b.upper,
        "gap": b.gap,
        "evaluations": b.evaluations,
        "seconds": round(time.process_time() - begin, 2),
    }, b.weights


def ratio(weights, theta):
    exact, quick = la.psi(weights, theta, 2), la.psi(weights, theta, 2, refine=False)
    return {"ratio": exact.value / quick.value, "exact": exact.exact}


def solve(n, d, i):
    theta = draw(n, d, i)
    after, weights = bracket(theta)
    with patch("linkarms.bound._oracle.solve_psi_exact", solve_psi):
        before, _ = bracket(theta)
    return {
        "n": n,
        "d": d,
        "equal": ratio(np.full(2 * n, 0.5 / n), theta),
        "best": ratio(weights, theta),
        "before": before,
        "after": after,
    }


def table(rows):
    """The table of docs/exact.md, as Markdown."""
    lines = [
        "| arms in a cluster | d | problems | psi at equal weights | psi at the best weights | gap of T* before | gap of T* now |",
        "|---|---|---|---|---|---|---|",
    ]
    for n, d, _ in CASES:
        chosen = [row for row in rows if (row["n"], row["d"]) == (n, d)]
        equal, best = (np.array([row[x]["ratio"] for row in chosen]) for x in ("equal", "best"))
        before, after = (np.array([row[x]["gap"] for row in chosen]) for x in ("before", "after"))
        lines.append(
            f"| {n} | {d} | {len(chosen)} | {np.median(equal):.3f} ({equal.max():.3f}) | {np.median(best):.3f} ({best.max():.3f}) "
            f"| {np.median(before):.2g} ({before.max():.2g}) | {np.median(after):.1e} ({after.max():.1e}) |"
        )
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="print the table of what is stored")
    chosen = parser.parse_args(arguments)
    store = Store(HERE.with_suffix(".json"), COMMAND)
    done = store.data.setdefault("problems", {})
    if chosen.table:
        print(table(done.values()))
        return
    store.data.update(seed=SEED, gap=GAP, max_cuts=CUTS)
    for n, d, count in CASES:
        for i in range(count):
            key = f"{n} {d} {i}"
            if key in done:
                continue
            row = done[key] = solve(n, d, i)
            store.save()
            print(
                f"{key}: psi {row['equal']['ratio']:.4f} at equal, {row['best']['ratio']:.4f} at best weights; "
                f"gap {row['before']['gap']:.2g} before ({row['before']['seconds']} s), {row['after']['gap']:.2g} now "
                f"({row['after']['seconds']} s, {row['after']['evaluations']} evaluations)",
                flush=True,
            )
    store.save()


if __name__ == "__main__":
    main()
