"""Write the decisions of whole runs to a file, or compare two such files: two compilers must decide alike.

python tools/decisions.py write FILE         every family, goal and rule, with the core that `import linkarms` finds
python tools/decisions.py compare ONE OTHER  exit code 1 where decisions differ

`tools/compilers.sh` builds the core with gcc and with clang and does both.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the families and samples of the tests

from tests.oracles.runs import CASES, OTHERS, VECTORS, Samples, family_arms

import linkarms as la
from linkarms import _core
from linkarms._goal import Goal
from linkarms.engine import Engine
from linkarms.sampling import resolve_sampling

SAMPLING = ("ebc-h", "ebc", "round-robin", "lucbboc", "atboc", "lma")
STOPPING = ("anytime", "anytime 1", "paper", "boc")
GOALS = {
    "two clusters": Goal(2),
    "three clusters": Goal(3),
    "distance": Goal(distance_threshold=1.0),
    "largest gap": Goal(),
    "tolerance": Goal(3, tolerance=0.1),
}
DELTA = 0.05


class Case(NamedTuple):
    """What a run is made from."""

    family: str
    d: int
    n_arms: int
    goal: str
    sampling: str
    stopping: str
    style: str

    @property
    def steps(self) -> int:
        """Most samples of the run: pair problems of vectors are searched, which takes long."""
        return 25 if self.family in VECTORS or self.sampling == "lma" else 120


def cases() -> Iterator[Case]:
    """Every family under every sampling and stopping rule; those without a slow search also with every goal, more arms and tied samples."""
    for family in (*CASES, *OTHERS):
        for d in OTHERS[family][1] if family in OTHERS else CASES[family][0]:
            first = Case(family, d, 6, "three clusters", "ebc-h", "anytime", "honest")
            yield from (first._replace(sampling=rule) for rule in SAMPLING)
            yield from (first._replace(stopping=rule) for rule in STOPPING[1:])
            if family in VECTORS:
                continue
            yield from (first._replace(goal=goal) for goal in GOALS if goal != first.goal)
            yield from (first._replace(style=style) for style in Samples.STYLES[1:])
            yield first._replace(n_arms=24)


def make_engine(case: Case, rng: np.random.Generator) -> tuple[Engine, Samples]:
    """The run, and its samples."""
    arms = family_arms(case.family, rng, case.n_arms, case.d)
    versions = {"anytime": 2, "anytime 1": 1}
    if case.stopping in versions:
        stopping: Any = la.stopping.Anytime(version=versions[case.stopping])
    else:
        stopping = la.stopping.Paper(arms.box, 0.002) if case.stopping == "paper" else la.stopping.BOC()
    sampling = resolve_sampling(case.sampling).fresh()
    engine = Engine(
        arms.families, GOALS[case.goal], sampling, stopping, DELTA, np.random.default_rng(0), None
    )
    return engine, Samples(arms, case.style, rng)


def run(case: Case) -> list[list[object]] | None:
    """After each sample: the arm, whether the rule stops, the clusters, psi and the evidence. None where rules do not go together."""
    seed = [case.d, case.n_arms, *map(ord, case.family)]
    try:
        engine, samples = make_engine(case, np.random.default_rng(seed))
    except la.errors.LinkarmsError:
        return None
    log: list[list[object]] = []
    try:
        for t in range(case.steps):
            arm = engine.choose()
            engine.observe(arm, samples(arm))
            if not engine.ready:
                continue
            stops = engine.check(DELTA)
            evidence = [float(engine.evidence()).hex()] if stops or t % 10 == 9 else []
            log.append([arm, stops, engine.core.labels.tolist(), float(engine.core.psi).hex(), *evidence])
            if stops:
                break
    except (
        la.errors.CallbackError
    ) as error:  # samples that are too much for the functions of the test's own family
        log.append([str(error), False, []])
    return log


def write(file: Path) -> None:
    """Run everything."""
    runs = {", ".join(map(str, case)): run(case) for case in cases()}
    known = {title: log for title, log in runs.items() if log is not None}
    file.write_text(json.dumps({"core": _core.build, "runs": known}))
    print(f"{len(known)} runs, {len(runs) - len(known)} that cannot be made, core {_core.build}")


def compare(one: dict[str, Any], other: dict[str, Any]) -> int:
    """Name the runs whose decisions differ, and say how many numbers do and how far."""
    assert one["core"] == other["core"], "these are cores of different sources"
    assert one["runs"].keys() == other["runs"].keys()
    different = decisions = numbers = rounded = 0
    farthest = 0.0
    for title, log in one["runs"].items():
        rows = list(zip(log, other["runs"][title], strict=False))
        decisions += len(rows)
        first = next((t for t, (x, y) in enumerate(rows) if x[:3] != y[:3]), None)
        if first is not None or len(log) != len(other["runs"][title]):
            different += 1
            print(f"{title}: other decisions from row {first} on")
        for x, y in rows[:first]:
            for a, b in zip(map(float.fromhex, x[3:]), map(float.fromhex, y[3:]), strict=True):
                numbers += 1
                if a != b:
                    rounded += 1
                    farthest = max(farthest, abs(a - b) / max(1.0, abs(a)))
    print(
        f"{len(one['runs'])} runs, {decisions} samples: {different} runs with other decisions; "
        f"of {numbers} numbers {rounded} differ, by at most {farthest:.1e}"
    )
    return 1 if different else 0


def main() -> int:
    """Run one of the two commands."""
    match sys.argv[1:]:
        case ["write", file]:
            write(Path(file))
            return 0
        case ["compare", one, other]:
            return compare(json.loads(Path(one).read_text()), json.loads(Path(other).read_text()))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    raise SystemExit(main())
