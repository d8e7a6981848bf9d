"""psi, T* and the pair problem of every goal by brute force, 100 random instances each: ``python -m evidence.goals_brute_force``.

Goals: a distance threshold, one with a tolerance, a fixed K with a tolerance, and costs (with a fixed K, a threshold, a tolerance in
turn); the first and the third again for products and categories. Instance ``i`` of a goal is drawn from
``numpy.random.default_rng([SEED, goal, i])`` and solved by ``tests/oracles/goal_oracle.py`` (SLSQP, many starts) alone.
``evidence/goals_brute_force.json`` keeps the values, written after every instance, and at the end how far the library is from them;
``tests/test_goals_brute_force.py`` compares the library with every pair problem and psi and some T*, and computes some again.
"""

import argparse
import time
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from tests.oracles import goal_oracle
from tests.oracles.library import to_library
from tests.oracles.psi_oracle import family_list, single_linkage

import linkarms as la
from evidence._store import Store
from linkarms import _core
from linkarms.families import resolve

SEED, INSTANCES, VECTOR_INSTANCES = 7_118, 100, 54
COMMAND = "python -m evidence.goals_brute_force"
HERE = Path(__file__)
GOALS = (
    "threshold",
    "threshold and tolerance",
    "tolerance",
    "costs",
    "threshold, vectors",
    "tolerance, vectors",
)
KINDS = (
    ("gaussian", 1),
    ("poisson", 1),
    ("gaussian", 2),
    ("exponential rate", 1),
    ("bernoulli", 1),
    ("gaussian variances", 2),
    ("exponential mean", 1),
    ("gaussian", 3),
)
#: Kinds of the last two goals: categories, and products of these families.
VECTORS = (
    ("categorical", 3),
    ("bernoulli bernoulli", 2),
    ("poisson gaussian", 2),
    ("exponential-rate bernoulli", 2),
    ("categorical", 4),
    ("poisson poisson poisson", 3),
)


def draw_vectors(kind, d, n, rng):
    """The same for categories and products."""
    if kind == "categorical":
        return {"name": kind, "n_categories": d}, rng.dirichlet(np.full(d, 1.5), size=n)
    drawn = [draw_arms(part.replace("-", " "), 1, n, rng) for part in kind.split()]
    scale = [1.0 if family["name"] == "bernoulli" else 0.4 for family, _ in drawn]
    columns = [x * s for (_, x), s in zip(drawn, scale, strict=True)]
    return {"name": "product", "of": [family for family, _ in drawn]}, np.hstack(columns)


def draw_arms(kind, d, n, rng):
    """The families and the parameters of the arms."""
    name, _, more = kind.partition(" ")
    if name == "gaussian":
        family = {"name": name}
        if more:
            family = [{"name": name, "covariance": float(v)} for v in rng.uniform(0.3, 3.0, n)]
        return family, rng.normal(scale=1.5, size=(n, d))
    if name == "bernoulli":
        return {"name": name}, rng.uniform(0.05, 0.95, size=(n, 1))
    family = {"name": name, "parameter": more} if more else {"name": name}
    return family, np.exp(rng.uniform(np.log(0.3), np.log(8.0), size=(n, 1)))


def most_arms(asked, d, index):
    """Arms of an instance: a fixed K has many more pieces than a threshold, and the second half of its instances is smaller."""
    if asked in ("tolerance", "fixed K"):
        return 4 if d > 1 or index >= INSTANCES // 2 else 5
    return 5 if d > 1 else 6


def draw(goal, index):
    """The instance of this index: plain numbers and lists."""
    rng = np.random.default_rng([SEED, GOALS.index(goal), index])
    vectors = goal.endswith("vectors")
    kind, d = (VECTORS if vectors else KINDS)[index % len(VECTORS if vectors else KINDS)]
    asked = (
        ("tolerance", "threshold", "threshold and tolerance", "fixed K")[index % 4]
        if goal == "costs"
        else goal.removesuffix(", vectors")
    )
    while True:
        n = int(rng.integers(3, 1 + most_arms(asked, d, index)))
        families, theta = (draw_vectors if vectors else draw_arms)(kind, d, n, rng)
        edges = np.sort(linkage(theta, method="single")[:, 2])
        K = int(rng.integers(2, n))
        if asked in ("tolerance", "fixed K"):
            labels = single_linkage(theta, K)
            eps = float(rng.uniform(0.1, 0.5) * edges[-1]) if asked == "tolerance" else 0.0
            settings = {"n_clusters": K, **({"tolerance": eps} if eps else {})}
            clear = edges[n - K] - edges[n - K - 1] > 0.02 * edges[-1]
        else:
            below = int(rng.integers(0, n))  # so many edges are kept
            low = edges[below - 1] if below else 0.3 * edges[0]
            high = edges[below] if below < n - 1 else 1.5 * edges[-1]
            r = float(rng.uniform(low, high))
            eps = float(rng.uniform(0.05, 0.3) * r) if asked == "threshold and tolerance" else 0.0
            settings = {"distance_threshold": r, **({"tolerance": eps} if eps else {})}
            raw = fcluster(linkage(theta, method="single"), r, criterion="distance")
            order = {}
            labels = np.array([order.setdefault(label, len(order)) for label in raw])
            unit = kind in ("bernoulli", "bernoulli bernoulli", "categorical")
            clear = min(r - low, high - r) > 0.02 * r and (not unit or r + eps < 0.9)
        most = 2 if n == 5 and "n_clusters" in settings else 3  # arms of one cluster: its splits are many
        if clear and np.bincount(labels).max() <= most:
            break
    found = {
        "kind": kind,
        "d": d,
        "families": families,
        "parameters": theta.tolist(),
        "labels": labels.tolist(),
        "goal": settings,
        "weights": rng.dirichlet(np.full(n, 3.0)).tolist(),
        "costs": np.exp(0.7 * rng.normal(size=n)).tolist() if goal == "costs" else None,
    }
    found["pairs"] = draw_pairs(theta, settings, rng)
    return found


def draw_pairs(theta, goal, rng):
    """Two pairs of arms that have to move: the first one apart, the second one together."""
    r, eps = goal.get("distance_threshold"), goal.get("tolerance", 0.0)
    every = list(combinations(range(len(theta)), 2))
    length = {pair: float(np.linalg.norm(theta[pair[0]] - theta[pair[1]])) for pair in every}
    if r is not None:
        ways = ([p for p in every if length[p] < r + eps], [p for p in every if length[p] > r - eps])
        return [list(way[rng.integers(len(way))]) if way else None for way in ways]
    ways = [(p, q) for p in every for q in every if p != q and length[p] < length[q] + eps]
    return [list(pair) for pair in ways[rng.integers(len(ways))]]


def parts(row):
    """What the oracle takes."""
    theta = np.array(row["parameters"])
    specs = family_list(row["families"], len(theta))
    return np.array(row["weights"]), theta, specs, np.array(row["labels"]), row["goal"]


def n_instances(goal):
    """How many instances there are; those of vectors take longer."""
    return VECTOR_INSTANCES if goal.endswith("vectors") else INSTANCES


def n_starts(row):
    return 10 if row["d"] > 1 else 3


def solve(goal, index):
    """The values of the instance: the pair problem, psi and T*."""
    row = draw(goal, index)
    weights, theta, specs, labels, asked = parts(row)
    rng = np.random.default_rng([SEED, index, 1])
    starts, begin = n_starts(row), time.perf_counter()
    intra, inter = row["pairs"]
    found, ways = {}, {}
    if "n_clusters" in asked:
        ways["pair"] = (*intra, tuple(inter))
    else:
        if intra:
            ways["split"] = (*intra, None)
        if inter:
            ways["merge"] = (None, None, tuple(inter))
    for name, way in ways.items():
        found[name] = goal_oracle.pair_cost(weights, theta, specs, asked, *way, 2 * starts, rng)
    found["psi"] = goal_oracle.psi(weights, theta, specs, labels, asked, starts, rng)
    costs = np.ones(len(theta)) if row["costs"] is None else np.array(row["costs"])
    found["T"], found["gap"], found["rounds"] = goal_oracle.TStar(
        theta, specs, labels, asked, costs, starts, rng
    ).solve()
    found["seconds"] = round(time.perf_counter() - begin, 1)
    return found


def library_pair(row, name):
    """The library's value of the pair problem."""
    families = to_library(row["families"])
    theta, weights = np.array(row["parameters"]), np.array(row["weights"])
    intra, inter = row["pairs"]
    eps = row["goal"].get("tolerance", 0.0)
    if name == "pair":
        model = resolve(families, *theta.shape).model
        where = (*intra, *inter)
        testing = _core.testing
        if eps:
            return testing.tolerant_cost(model, theta, weights, where, eps)
        return testing.pair_cost(model, theta, weights, where)
    arms = intra if name == "split" else inter
    chosen = [families[m] for m in arms] if isinstance(families, list) else families
    model = resolve(chosen, 2, theta.shape[1]).model
    labels = np.array([0, 0] if name == "split" else [0, 1])
    task = _core.Task(distance=row["goal"]["distance_threshold"], tolerance=eps)
    return _core.psi(model, weights[arms], np.ascontiguousarray(theta[arms]), labels, task).value


def library(row, values, with_bound=True):
    """name -> (the library's value, the brute force's, whether the library says that it is exact); T* only if asked for."""
    families, theta = to_library(row["families"]), row["parameters"]
    gaussian, vectors = row["kind"].startswith("gaussian"), row["kind"] in dict(VECTORS)
    found = {}
    for name in ("split", "merge", "pair"):
        if name in values:
            shared = name == "pair" and bool(set(row["pairs"][0]) & set(row["pairs"][1]))
            # with a tolerance only four Gaussian arms are promised to be exact (cpp/pair/tolerant.hpp)
            bound = vectors or (name == "pair" and "tolerance" in row["goal"] and (shared or not gaussian))
            found[name] = (library_pair(row, name), values[name], not bound)
    psi = la.psi(row["weights"], theta, family=families, **row["goal"])
    found["psi"] = (psi.value, values["psi"], psi.exact)
    if not with_bound:
        return found
    b = la.lower_bound(theta, family=families, costs=row["costs"], gap=1e-4, **row["goal"])
    exact = b.closed
    # with a tolerance there is no lower end to close; under a threshold psi of clusters of two arms is exact at all weights
    if {"tolerance", "distance_threshold"} <= set(row["goal"]) and max(np.bincount(row["labels"])) <= 2:
        exact = la.psi(b.weights, theta, family=families, **row["goal"]).exact
    # one over T: like the others never above the truth, if psi is not
    found["1/T*"] = (1.0 / b.upper, 1.0 / values["T"], exact)
    return found


def below(value, brute):
    """By what share the library's value is below that of the brute force (negative: above)."""
    return (brute - value) / max(brute, 1e-9)


def summary(instances, every=1):
    """Per goal and quantity: how many, how many are exact, their largest difference, how far bounds are below; T* of every so many."""
    rows = []
    for goal in GOALS:
        kept = {}
        for key, values in instances.get(goal, {}).items():
            row = draw(goal, int(key))
            for name, (value, brute, exact) in library(row, values, int(key) % every == 0).items():
                kind = "pair problem" if name in ("split", "merge", "pair") else name
                kept.setdefault(kind, []).append((below(value, brute), bool(exact)))
        for kind, found in kept.items():
            exact = [x for x, is_exact in found if is_exact]
            bounds = [x for x, is_exact in found if not is_exact]
            rows.append(
                {
                    "goal": goal,
                    "what": kind,
                    "count": len(found),
                    "exact": len(exact),
                    "largest": float(np.abs(exact).max()) if exact else None,
                    "above": float(max(-x for x, _ in found)),
                    "bound_below": float(max(bounds)) if bounds else None,
                }
            )
    return rows


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--goals", nargs="+", choices=GOALS, default=GOALS)
    parser.add_argument(
        "--seconds", type=float, default=np.inf, help="begin no instance after so many seconds"
    )
    parser.add_argument("--path", type=Path, default=HERE.with_suffix(".json"))
    chosen = parser.parse_args(arguments)
    store = Store(chosen.path, COMMAND)
    instances = store.data.setdefault("instances", {})
    end = time.monotonic() + chosen.seconds
    for index in range(INSTANCES):
        for goal in chosen.goals:
            done = instances.setdefault(goal, {})
            if str(index) in done or index >= n_instances(goal) or time.monotonic() > end:
                continue
            done[str(index)] = solve(goal, index)
            store.save()
            print(goal, index, draw(goal, index)["kind"], done[str(index)], flush=True)
    store.data["summary"] = summary(instances)
    store.save()
    print(table(store.data))


def table(data):
    """The summary as Markdown."""
    lines = [
        "| goal | what | instances | exact | largest difference of these | elsewhere at most below |",
        "|---|---|---|---|---|---|",
    ]
    for row in data["summary"]:
        below_by = "" if row["bound_below"] is None else f"{max(row['bound_below'], 0.0):.2g}"
        largest = "" if row["largest"] is None else f"{row['largest']:.1e}"
        lines.append(
            f"| {row['goal']} | {row['what']} | {row['count']} | {row['exact']} | {largest} | {below_by} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
