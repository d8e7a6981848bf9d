"""psi with clusters of three to six arms, by brute force over all splits: ``python -m evidence.exact_psi``.

Instance ``i`` is drawn from ``numpy.random.default_rng([SEED, i])`` and solved by multi-start SLSQP of ``tests/oracles``, for every split
of every cluster and every inter pair; the library takes no part. On a line a split is ordered, all of ``S`` left of all of ``T`` or right
of it, because a cluster falls apart where a gap opens. Problems whose bound from the triangle inequality exceeds a value already reached
are left out. The results go to ``evidence/exact_psi.json``, which is replaced as a whole after each instance; a run that was interrupted
goes on where it stopped. ``tests/test_exact_evidence.py`` compares ``linkarms.psi`` with every stored value and computes a slice of them
again. ``python -m evidence.exact_psi --report`` tells how often the library says exact.
"""

import argparse
import json
import os
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import linkage
from tests.oracles.lower import pair_bound, signed_bound
from tests.oracles.psi_oracle import Subproblem, family_list, margin, single_linkage, splits, total_cost

from evidence.psi_brute_force import draw_covariance, interval

SEED = 50505
INSTANCES = 264
COMMAND = "python -m evidence.exact_psi"
STORE = Path(__file__).with_suffix(".json")
GAP_RATIO = 1.05
#: Kind, dimension, starting points for each problem.
KINDS = (
    ("gaussian unit", 1, 2),
    ("gaussian variances", 1, 2),
    ("gaussian unit", 2, 10),
    ("gaussian per arm", 2, 10),
    ("gaussian unit", 3, 10),
    ("gaussian shared", 3, 10),
    ("exponential rate", 1, 2),
    ("exponential mean", 1, 4),
    ("gamma rate", 1, 2),
    ("poisson", 1, 2),
    ("bernoulli", 1, 2),
)
SHAPES = (
    (3, 1),
    (4, 1),
    (3, 2),
    (5, 1),
    (6, 1),
    (3, 1, 1),
    (4, 2),
    (5, 2),
    (3, 3),
    (4, 1, 1),
    (6, 2),
    (5, 1, 1),
)


def draw_families(kind, d, n_arms, rng):
    name, _, detail = kind.partition(" ")
    if detail == "variances":
        return [{"name": name, "covariance": float(rng.uniform(0.3, 3.0))} for _ in range(n_arms)]
    if detail == "per arm":
        return [{"name": name, "covariance": draw_covariance(d, rng)} for _ in range(n_arms)]
    if detail == "shared":
        return {"name": name, "covariance": draw_covariance(d, rng)}
    if name == "gamma":
        return {"name": name, "shape": float(rng.uniform(0.5, 5.0)), "parameter": detail}
    return {"name": name, "parameter": detail} if detail in ("rate", "mean") else {"name": name}


def draw(index):
    """The instance of this index, without its value: clusters as clouds of random size, weights even or not."""
    rng = np.random.default_rng([SEED, index])
    turn, which = divmod(index, len(KINDS))
    kind, d, _ = KINDS[which]
    shape = SHAPES[(turn + 5 * which) % len(SHAPES)]
    n_arms, K = sum(shape), len(shape)
    families = draw_families(kind, d, n_arms, rng)
    low, high, _ = interval(kind.split()[0])
    while True:
        centres = rng.uniform(low, high, (K, d))
        cloud = rng.uniform(0.02, 0.4) * (high - low)
        theta = np.repeat(centres, shape, axis=0) + cloud * rng.uniform(-0.5, 0.5, (n_arms, d))
        theta = np.clip(theta, low, high)
        if rng.random() < 0.1:
            theta[1] = theta[0]
        theta = theta[rng.permutation(n_arms)]
        edges = linkage(theta, method="single")[:, 2]
        labels = single_linkage(theta, K)
        if edges[n_arms - K] < GAP_RATIO * edges[n_arms - K - 1]:
            continue
        if sorted(np.bincount(labels), reverse=True) == list(shape):
            break
    weights = rng.dirichlet(np.full(n_arms, rng.choice([1.0, 5.0, 50.0])))
    return {
        "index": index,
        "kind": kind,
        "d": d,
        "K": K,
        "shape": list(shape),
        "families": families,
        "parameters": theta.tolist(),
        "weights": weights.tolist(),
        "labels": labels.tolist(),
    }


def every_problem(weights, theta, specs, labels):
    """Every ``(bound, S, T, a, b, signs)``, the smallest bound first."""
    d = theta.shape[1]
    cache = {}

    def bound(u, v, a, b, sign):
        key = (u, v, a, b, sign)
        if key not in cache:
            args = (weights, theta, specs, u, v, a, b)
            cache[key] = pair_bound(*args) if sign is None else signed_bound(*args, sign)
        return cache[key]

    inter = [(a, b) for a, b in combinations(range(len(labels)), 2) if labels[a] != labels[b]]
    found = []
    for k in np.unique(labels):
        members = tuple(int(m) for m in np.flatnonzero(labels == k))
        for S, T in splits(members) if len(members) > 1 else ():
            cut = [(u, v) for u in S for v in T]
            for sign in (1.0, -1.0) if d == 1 else (None,):
                signs = None if sign is None else (sign,) * len(cut)
                for a, b in inter:
                    found.append((max(bound(u, v, a, b, sign) for u, v in cut), S, T, a, b, signs))
    return sorted(found, key=lambda item: item[0])


def solve(index, starts=None):
    """The instance with its value, the cost of a point that was checked to be an alternative."""
    instance = draw(index)
    begin = time.perf_counter()
    weights, theta = np.array(instance["weights"]), np.array(instance["parameters"])
    specs = family_list(instance["families"], len(weights))
    rng = np.random.default_rng([SEED, index, 1])
    starts = KINDS[index % len(KINDS)][2] if starts is None else starts
    todo = every_problem(weights, theta, specs, instance["labels"])
    best, answer = np.inf, None
    for _, S, T, a, b, _ in todo:  # an alternative of low cost to begin with
        sub = Subproblem(weights, theta, specs, S, T, a, b)
        lam = sub.repair(sub.collapse().ravel())
        if sub.value(lam) < best:
            best, answer = sub.value(lam), sub.embed(lam, theta)
    solved = 0
    for low, S, T, a, b, signs in todo:
        if low >= best:
            break
        sub = Subproblem(weights, theta, specs, S, T, a, b, signs)
        value, lam = sub.minimum(starts, rng, best)
        solved += 1
        if value < best:
            best, answer = value, sub.embed(lam, theta)
    instance["value"] = total_cost(weights, theta, answer, specs)
    if margin(answer, instance["labels"]) < 1.0 - 1e-10 or abs(instance["value"] - best) > 1e-9 * best:
        raise AssertionError("the brute force returned a point that is no alternative, or a wrong cost")
    instance["alternative"] = answer.tolist()
    instance["solved"], instance["problems"] = solved, len(todo)
    instance["seconds"] = round(time.perf_counter() - begin, 2)
    return instance


def load():
    return {row["index"]: row for row in json.loads(STORE.read_text())["instances"]} if STORE.exists() else {}


def save(done):
    rows = ",\n".join(json.dumps(done[i]) for i in sorted(done))
    seconds = round(sum(row["seconds"] for row in done.values()), 1)
    head = json.dumps({"command": COMMAND, "seed": SEED, "count": len(done), "seconds": seconds})
    partial = STORE.with_suffix(".partial")
    partial.write_text(head[:-1] + ', "instances": [\n' + rows + "\n]}\n")
    os.replace(partial, STORE)


def count_exact():
    """How often the library says exact on the stored instances, by dimension and largest cluster, and the bottleneck alone."""
    from tests.oracles.library import to_library

    import linkarms as la

    counts = Counter()
    for row in load().values():
        problem = row["weights"], row["parameters"], row["K"], to_library(row["families"])
        cell = row["d"], max(row["shape"])
        counts[cell, "all"] += 1
        counts[cell, "quick"] += la.psi(*problem, refine=False).exact
        counts[cell, "exact"] += la.psi(*problem).exact
    return counts


def table(counts):
    """The table of docs/exact.md, as Markdown."""
    lines = ["| d | largest cluster | instances | bottleneck alone exact | exact |", "|---|---|---|---|---|"]
    for d, size in sorted({cell for cell, _ in counts}):
        every, quick, exact = (counts[(d, size), x] for x in ("all", "quick", "exact"))
        lines.append(f"| {d} | {size} | {every} | {quick} | {exact} |")
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=int, nargs="+", help="compute these instances again")
    parser.add_argument("--starts", type=int, help="starting points for each problem, instead of the default")
    parser.add_argument("--report", action="store_true", help="how often the library says exact")
    chosen = parser.parse_args(arguments)
    if chosen.report:
        print(table(count_exact()))
        return
    done = load()
    for i in chosen.only or [i for i in range(INSTANCES) if i not in done]:
        row = done[i] = solve(i, chosen.starts)
        save(done)
        print(
            f"#{i} {row['kind']} d={row['d']} {row['shape']}: psi={row['value']:.9g}, {row['solved']} of {row['problems']} "
            f"problems, {row['seconds']} s",
            flush=True,
        )
    print(f"{len(done)} of {INSTANCES} instances stored")


if __name__ == "__main__":
    main()
