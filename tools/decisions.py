"""Write the decisions of whole runs to a file, or compare two such files: two compilers must decide alike.

python tools/decisions.py write FILE        runs every family under EBC-H and EBC with the installed core
python tools/decisions.py compare ONE OTHER  exit code 1 at the first difference
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import linkarms as la

FAMILIES = {
    "gaussian": ("gaussian", 1),
    "gaussian in the plane": ("gaussian:2", 2),
    "gaussian-unknown": ("gaussian-unknown", 1),
    "gaussian-unknown:shared": ("gaussian-unknown:shared", 2),
    "exponential": ("exponential", 1),
    "gamma": ("gamma:2", 1),
    "bernoulli": ("bernoulli", 1),
    "poisson": ("poisson", 1),
    "bounded": ("bounded:0:1", 1),
}
SIZES = {4: 2, 6: 3, 20: 10, 40: 3}
STEPS = 400


def main() -> int:
    """Run one of the two commands."""
    match sys.argv[1:]:
        case ["write", file]:
            Path(file).write_text(json.dumps(runs()))
            return 0
        case ["compare", one, other]:
            return compare(json.loads(Path(one).read_text()), json.loads(Path(other).read_text()))
    print(__doc__, file=sys.stderr)
    return 2


def runs() -> dict[str, list[list[object]]]:
    """Every run: the arm pulled, the statistic and the threshold after each sample, as exact numbers."""
    found = {}
    for name, (family, d) in FAMILIES.items():
        for n_arms, n_clusters in SIZES.items():
            for sampling in ("ebc-h", "ebc"):
                if n_arms == 40 and sampling == "ebc":
                    continue
                title = f"{name}, M={n_arms}, {sampling}"
                found[title] = run(family, d, n_arms, n_clusters, sampling)
                print(title, len(found[title]), file=sys.stderr)
    return found


def run(family: str, d: int, n_arms: int, n_clusters: int, sampling: str) -> list[list[object]]:
    """One run of at most STEPS samples."""
    rng = np.random.default_rng([n_arms, d, len(family)])
    level = 1.0 + np.arange(n_arms) % n_clusters + 0.2 * rng.random(n_arms)
    clusterer = la.BanditClusterer(n_clusters, n_arms, n_features=d, family=family, sampling=sampling)
    log: list[list[object]] = []
    while not clusterer.done and len(log) < STEPS:
        (arm,) = clusterer.ask(1)
        clusterer.tell(arm, sample(family, level[arm], d, rng))
        log.append([int(arm), *(float(x).hex() for x in clusterer.evidence_and_threshold())])
    return log


def sample(family: str, level: float, d: int, rng: np.random.Generator) -> object:
    """One sample of an arm at ``level``."""
    match family.split(":")[0]:
        case "exponential":
            return rng.exponential(1.0 / level)
        case "gamma":
            return rng.gamma(2.0, 1.0 / level)
        case "bernoulli":
            return int(rng.random() < level / (2.0 + level))
        case "poisson":
            return int(rng.poisson(3.0 * level))
        case "bounded":
            return rng.beta(level, 3.0)
    return rng.normal(level, 0.7, d) if d > 1 else rng.normal(level, 0.7)


def compare(one: dict[str, list[list[object]]], other: dict[str, list[list[object]]]) -> int:
    """Name the runs whose decisions differ, and how many numbers do."""
    assert one.keys() == other.keys()
    decisions = numbers = samples = 0
    for title, log in one.items():
        arms = [[row[0] for row in rows] for rows in (log, other[title])]
        samples += len(log)
        if arms[0] != arms[1]:
            decisions += 1
            first = next(t for t, (a, b) in enumerate(zip(*arms, strict=False)) if a != b)
            print(f"{title}: other decisions from sample {first + 1} on")
        elif log != other[title]:
            numbers += 1
            print(f"{title}: the same decisions, other roundings of the statistic")
    print(
        f"{len(one)} runs, {samples} samples: {decisions} with other decisions, {numbers} with other roundings"
    )
    return 1 if decisions else 0


if __name__ == "__main__":
    raise SystemExit(main())
