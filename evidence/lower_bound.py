"""T* by an independent solver on random instances: ``python -m evidence.lower_bound``.

The instances are some of those of ``evidence.psi_brute_force``, without their weights; `chosen` says which. The library takes no part
in the solution. It is SLSQP on ``max z`` over ``(w, z)``, ``w`` in the simplex, subject to ``c_j(w) >= z``, where ``c_j(w)`` is the cost
of the cheapest alternative of one split, one inter pair and one pattern of signs, by SLSQP of ``tests/oracles``. A constraint joins when
brute-force psi, over all of them, finds it the cheapest at the weights reached. ``T`` is one over brute-force psi at the best weights
from several starts. The results go to ``evidence/lower_bound.json``; ``tests/test_bound_evidence.py`` checks that every bracket of the
library contains them, and computes some again.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from tests.oracles.divergence import kl
from tests.oracles.psi_oracle import Subproblem, family_list, psi_brute

from evidence._store import Store
from evidence.psi_brute_force import KINDS, draw

SEED = 77
COMMAND = "python -m evidence.lower_bound"
HERE = Path(__file__)
ROUNDS, STARTS, TOLERANCE = 60, 2, 1e-7


def choose_instances(limit=400):
    """Indices of instances of at most five arms whose clusters have one or two arms, and of some with three."""
    small = {kind: [] for kind in KINDS}
    large = {kind: [] for kind in KINDS}
    for index in range(limit):
        row = draw(index)
        if len(row["parameters"]) > 5 or row["d"] > 3:
            continue
        most = max(row["shape"])
        if most <= 2:
            small[row["kind"]].append(index)
        elif most == 3:
            large[row["kind"]].append(index)
    return sorted(i for kind in KINDS for i in (*small[kind][:4], *large[kind][:1]))


class Alternatives:
    """The constraints ``c_j``: a split, a pair, a pattern of signs, and points from which to look for the cheapest alternative."""

    def __init__(self, row):
        self.theta = np.array(row["parameters"], dtype=float)
        self.labels = np.array(row["labels"])
        self.families = row["families"]
        self.specs = family_list(row["families"], len(self.theta))
        self.kinds = {}

    def psi_by_brute_force(self, w, seed):
        """psi by brute force. The constraint that attains it joins, or gets one more point to start from."""
        found = psi_brute(w, self.theta, self.labels, self.families, seed=seed)
        split, lam = tuple(found["split"]), found["alternative"]
        cluster = np.flatnonzero(self.labels == self.labels[split[0]])
        rest = tuple(int(m) for m in cluster if m not in split)
        signs = None
        if self.theta.shape[1] == 1:
            signs = tuple(1.0 if lam[u, 0] > lam[v, 0] else -1.0 for u in split for v in rest)
        self.kinds.setdefault((split, rest, *found["pair"], signs), []).append(lam)
        return found["value"]

    def values(self, w):
        """``c_j(w)`` and their gradients, the divergences at the points that attain them."""
        values, slopes = [], []
        for kind, starts in self.kinds.items():
            sub = Subproblem(w, self.theta, self.specs, *kind)
            best, point = np.inf, None
            for start in starts[-3:]:
                scale = sub.value(sub.repair(start[sub.arms].ravel()))
                for _ in range(2):
                    value, lam = sub.solve(start[sub.arms] if point is None else point, scale, 1e-15)
                    if value < best:
                        best, point, scale = value, lam, value
            full = sub.embed(point, self.theta)
            values.append(best)
            slopes.append([kl(s, t, x) for s, t, x in zip(self.specs, self.theta, full, strict=True)])
        return np.array(values), np.array(slopes)


def improve(problem, w, reach):
    """One run of SLSQP over weights and level, with weights changing by at most the factor ``reach``; the better of it and ``w``."""
    n = len(w)
    seen = {}

    def values_at(x):
        key = x[:n].tobytes()
        if key not in seen:
            seen[key] = problem.values(np.maximum(x[:n], 1e-12))
        return seen[key]

    z = values_at(w)[0].min()
    found = minimize(
        lambda x: -x[n],
        np.append(w, 1.0),
        jac=lambda x: np.append(np.zeros(n), -1.0),
        method="SLSQP",
        bounds=[(x / reach, min(reach * x, 1.0)) for x in w] + [(0.0, None)],
        constraints=[
            {"type": "eq", "fun": lambda x: x[:n].sum() - 1.0, "jac": lambda x: np.append(np.ones(n), 0.0)},
            {
                "type": "ineq",
                "fun": lambda x: values_at(x)[0] / z - x[n],
                "jac": lambda x: np.column_stack([values_at(x)[1] / z, -np.ones(len(problem.kinds))]),
            },
        ],
        options={"ftol": 1e-11, "maxiter": 40},
    )
    new = found.x[:n] / found.x[:n].sum()
    level = values_at(new)[0].min() if np.all(new > 0.0) else -np.inf
    return (new, level) if level > z else (w, z)


def climb(problem, w, seed):
    """From one start to weights that no constraint, known or new, improves."""
    reach, best, weights, rounds = 4.0, -np.inf, w, 0
    for rounds in range(1, ROUNDS + 1):
        value = problem.psi_by_brute_force(w, [*seed, rounds])
        if value > best * (1.0 + TOLERANCE):
            reach = min(2.0 * reach, 4.0)
        else:
            reach = 1.0 + 0.5 * (reach - 1.0)
        if value > best:
            best, weights = value, w
        w, level = improve(problem, weights, reach)
        if level <= best * (1.0 + TOLERANCE) and reach > 1.01:
            break  # nothing is left to gain under the constraints, all of which hold for psi
        if reach < 1.001:
            break
    return best, weights, rounds


def solve(index):
    """The instance with the optimum that was found, from several starts."""
    row = draw(index)
    begin = time.perf_counter()
    problem = Alternatives(row)
    n = len(problem.theta)
    rng = np.random.default_rng([SEED, index])
    starts = [np.full(n, 1.0 / n), *(0.5 / n + 0.5 * rng.dirichlet(np.ones(n)) for _ in range(STARTS - 1))]
    ends = [climb(problem, w, [SEED, index, i]) for i, w in enumerate(starts)]
    best, weights, _ = max(ends, key=lambda end: end[0])
    return {
        "index": index,
        "kind": row["kind"],
        "shape": row["shape"],
        "d": row["d"],
        "T": 1.0 / best,
        "spread": best / min(end[0] for end in ends) - 1.0,
        "weights": weights.tolist(),
        "rounds": sum(end[2] for end in ends),
        "seconds": round(time.perf_counter() - begin, 1),
    }


def main(arguments=None):
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    store = Store(HERE.with_suffix(".json"), COMMAND)
    store.data.update(seed=SEED, starts=STARTS)
    done = store.data.setdefault("instances", {})
    for index in choose_instances():
        if str(index) in done:
            continue
        row = done[str(index)] = solve(index)
        store.save()
        print(
            f"#{index} {row['kind']} {row['shape']} d={row['d']}: T={row['T']:.8g} (starts differ by {row['spread']:.1e}), "
            f"{row['rounds']} rounds, {row['seconds']} s",
            flush=True,
        )
    store.save()


if __name__ == "__main__":
    main()
