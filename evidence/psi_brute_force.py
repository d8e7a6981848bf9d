"""Brute-force values of psi on random instances: ``python -m evidence.psi_brute_force``.

Instance ``i`` is drawn from ``numpy.random.default_rng([SEED, i])`` and solved by ``tests/oracles`` alone;
the library takes no part. The results go to ``evidence/psi_brute_force.json``, which is replaced as a whole
every few instances; a run that was interrupted goes on where it stopped. ``tests/test_psi_brute_force.py``
compares the library with every stored value, and computes a slice of them again.
"""

import argparse
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import islice
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import linkage
from tests.oracles.psi_oracle import psi_brute, single_linkage

SEED = 20250
INSTANCES = 350
COMMAND = "python -m evidence.psi_brute_force"
STORE = Path(__file__).with_suffix(".json")

KINDS = (
    "gaussian unit",
    "gaussian scalar",
    "gaussian diagonal",
    "gaussian shared",
    "gaussian per arm",
    "exponential rate",
    "exponential mean",
    "gamma rate",
    "gamma mean",
    "bernoulli",
    "poisson",
    "categorical",
    "product",
    "mixed",
)
# Sizes of the clusters. SMALL has one or two arms in each, where the bottleneck is exact.
SMALL = (
    (2, 1),
    (2, 2),
    (2, 1, 1),
    (2, 2, 1),
    (2, 1, 1, 1),
    (2, 2, 2),
    (2, 2, 1, 1),
    (2, 1, 1, 1, 1),
    (2, 2, 2, 1),
    (2, 2, 1, 1, 1),
    (2, 1, 1, 1, 1, 1),
)
LARGE = (
    (3, 1),
    (4, 1),
    (3, 2),
    (3, 1, 1),
    (4, 2),
    (3, 3),
    (3, 2, 1),
    (5, 1),
    (4, 1, 1),
    (3, 1, 1, 1),
    (4, 3),
    (5, 2),
    (3, 2, 2),
    (4, 2, 1),
    (3, 3, 1),
    (5, 1, 1),
    (3, 1, 1, 1, 1),
)
PRODUCTS = (
    [{"name": "bernoulli"}, {"name": "poisson"}],
    [{"name": "exponential", "parameter": "rate"}, {"name": "gaussian", "covariance": 0.5}],
    [{"name": "exponential", "parameter": "mean"}, {"name": "bernoulli"}],
    [{"name": "poisson"}, {"name": "gamma", "shape": 2.0, "parameter": "rate"}],
    [{"name": "gaussian"}, {"name": "bernoulli"}, {"name": "poisson"}],
)
GAP_RATIO = 1.05


def draw_covariance(d, rng):
    axes = np.linalg.qr(rng.normal(size=(d, d)))[0]
    matrix = (axes * np.geomspace(1.0, rng.uniform(2.0, 10.0), d)) @ axes.T * rng.uniform(0.3, 1.5)
    return ((matrix + matrix.T) / 2.0).tolist()


def draw_scalar_family(rng):
    """One of the one-dimensional families, for lists with one family per arm."""
    choices = (
        {"name": "gaussian", "covariance": float(rng.uniform(0.02, 0.3))},
        {"name": "exponential", "parameter": "rate"},
        {"name": "exponential", "parameter": "mean"},
        {"name": "bernoulli"},
        {"name": "poisson"},
        {"name": "gamma", "shape": float(rng.uniform(0.5, 4.0)), "parameter": "rate"},
    )
    return choices[rng.integers(len(choices))]


def draw_families(kind, turn, n_arms, rng):
    """The family (a dict, or a list with one per arm) and the dimension."""
    first, _, second = kind.partition(" ")
    if first == "gaussian":
        d = (
            (1, 2, 3, 5)[turn % 4]
            if second in ("unit", "scalar", "per arm")
            else (2, 3, 5)[(turn + turn // 3) % 3]
        )
        if second == "unit":
            return {"name": "gaussian"}, d
        if second == "scalar":
            return {"name": "gaussian", "covariance": float(rng.uniform(0.2, 4.0))}, d
        if second == "diagonal":
            return {"name": "gaussian", "covariance": rng.uniform(0.2, 4.0, size=d).tolist()}, d
        if second == "shared":
            return {"name": "gaussian", "covariance": draw_covariance(d, rng)}, d
        return [{"name": "gaussian", "covariance": draw_covariance(d, rng)} for _ in range(n_arms)], d
    if first == "exponential":
        return {"name": "exponential", "parameter": second}, 1
    if first == "gamma":
        return {"name": "gamma", "shape": float(rng.uniform(0.5, 5.0)), "parameter": second}, 1
    if first == "categorical":
        return {"name": "categorical", "n_categories": 3}, 3
    if first == "product":
        parts = PRODUCTS[turn % len(PRODUCTS)]
        return {"name": "product", "of": parts}, len(parts)
    if first == "mixed":
        return [draw_scalar_family(rng) for _ in range(n_arms)], 1
    return {"name": first}, 1


def interval(name):
    """Where the parameters of a family are drawn, and whether on a logarithmic scale."""
    return {"gaussian": (-4.0, 4.0, False), "bernoulli": (0.03, 0.97, False)}.get(name, (0.2, 9.0, True))


def draw_parameters(kind, families, d, n_arms, rng):
    """Parameters anywhere in the domain, or drawn to one another; now and then an arm at the edge."""
    if kind == "categorical":
        raw = rng.dirichlet(np.ones(3) * rng.uniform(0.7, 3.0), size=n_arms)
        near = rng.integers(n_arms, size=n_arms)
        raw = (1 - (pull := rng.uniform(0, 0.9))) * raw + pull * raw[near]
        if rng.random() < 0.15:
            raw[0, 0] = 0.0
        return raw / raw.sum(axis=1, keepdims=True)
    if kind == "mixed":
        boxes = [(0.05, 0.95, False)]
    elif kind == "product":
        boxes = [interval(part["name"]) for part in families["of"]]
    else:
        boxes = [interval(kind.split()[0])] * d
    columns = []
    near, pull = rng.integers(n_arms, size=n_arms), rng.uniform(0.0, 0.9)
    for j in range(d):
        low, high, log = boxes[min(j, len(boxes) - 1)]
        raw = (
            np.exp(rng.uniform(np.log(low), np.log(high), n_arms)) if log else rng.uniform(low, high, n_arms)
        )
        columns.append((1.0 - pull) * raw + pull * raw[near])
    theta = np.column_stack(columns)
    if kind in ("poisson", "bernoulli") and rng.random() < 0.15:
        theta[np.argmin(theta)] = 0.0
    return theta


def draw(index):
    """The instance of this index: a dict of plain numbers and lists, without its value."""
    rng = np.random.default_rng([SEED, index])
    turn, which = divmod(index, len(KINDS))
    kind = KINDS[which]
    small = turn % 3 != 2
    shapes, place = (SMALL, turn - turn // 3 + 4 * which) if small else (LARGE, turn // 3 + 5 * which)
    shape = shapes[place % len(shapes)]
    n_arms, K = sum(shape), len(shape)
    families, d = draw_families(kind, turn, n_arms, rng)
    while True:
        theta = draw_parameters(kind, families, d, n_arms, rng)
        if rng.random() < 0.1:
            theta[1] = theta[0]
        edges = linkage(theta, method="single")[:, 2]
        labels = single_linkage(theta, K)
        if edges[n_arms - K] < GAP_RATIO * edges[n_arms - K - 1]:
            continue
        if sorted(np.bincount(labels), reverse=True) == list(shape):
            break
    weights = rng.dirichlet(np.full(n_arms, rng.choice([1.0, 3.0])))
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


def solve(index, starts=None, prune=None):
    """The instance with its value. By default nothing is ruled out beforehand where clusters have at most two
    arms; elsewhere (thousands of problems each) the triangle bound may rule a problem out."""
    instance = draw(index)
    prune = max(instance["shape"]) > 2 if prune is None else prune
    begin = time.perf_counter()
    found = psi_brute(
        instance["weights"],
        instance["parameters"],
        instance["labels"],
        instance["families"],
        starts=starts,
        seed=[SEED, index, 1],
        prune=prune,
    )
    instance["value"] = found["value"]
    instance["alternative"] = found["alternative"].tolist()
    instance["split"], instance["pair"] = list(found["split"]), list(found["pair"])
    instance["solved"] = found["solved"]
    instance["seconds"] = round(time.perf_counter() - begin, 3)
    return instance


def load():
    if not STORE.exists():
        return {}
    return {row["index"]: row for row in json.loads(STORE.read_text())["instances"]}


def save(done):
    """Replace the file at once, one instance per line, so that a reader never sees half of it."""
    rows = ",\n".join(json.dumps(done[i]) for i in sorted(done))
    seconds = round(sum(row["seconds"] for row in done.values()), 1)
    head = json.dumps({"command": COMMAND, "seed": SEED, "count": len(done), "seconds": seconds})
    partial = STORE.with_suffix(".partial")
    partial.write_text(head[:-1] + ', "instances": [\n' + rows + "\n]}\n")
    os.replace(partial, STORE)


def results(todo, jobs, starts, prune):
    if jobs == 1:
        yield from (solve(i, starts, prune) for i in todo)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(solve, i, starts, prune) for i in todo]):
            yield future.result()


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=int, nargs="+", help="compute these instances again")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--starts", type=int, help="starting points for each problem, instead of the default")
    parser.add_argument("--every", action="store_true", help="solve also what the triangle bound rules out")
    chosen = parser.parse_args(arguments)
    done = load()
    todo = chosen.only or [i for i in range(INSTANCES) if i not in done]
    begin = time.perf_counter()
    stream = results(todo, chosen.jobs, chosen.starts, False if chosen.every else None)
    count = 0
    while batch := list(islice(stream, 5)):
        for row in batch:
            done[row["index"]] = row
            count += 1
            print(
                f"{count}/{len(todo)} #{row['index']} {row['kind']} d={row['d']} {row['shape']} "
                f"psi={row['value']:.8g} solved={row['solved']} {row['seconds']} s",
                flush=True,
            )
        save(done)
    print(f"{len(done)} of {INSTANCES} instances stored, {time.perf_counter() - begin:.0f} s in this run")


if __name__ == "__main__":
    main()
