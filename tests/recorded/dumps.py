"""Dumps of runs under way, and what the engine that wrote them did next: reading and recording."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from tests.recorded import HERE, UNIT, Spec
from tests.recorded.adapter import families_of, rules_of
from tests.recorded.cases import FILES, cases, drawn

import linkarms as la

__all__ = ["Dumped", "load_dumps", "make_dumps"]

#: Pulls after the load.
_NEXT = 20
_PATH = HERE / "dumps.json.gz"


@dataclass(frozen=True)
class Dumped:
    """A dump and how the run went on.

    Attributes
    ----------
    spec : Spec
        The problem and the rules.
    blob : str
        What ``BanditClusterer.dump`` wrote.
    before : dict
        ``result().to_dict()`` when it was written.
    asks : list of int
        The arms asked for after ``load``, one at a time, each told before the next.
    samples : list of list of int
        Their samples in multiples of `UNIT`.
    after : dict
        The result then.
    """

    spec: Spec
    blob: str
    before: dict[str, Any]
    asks: list[int]
    samples: list[list[int]]
    after: dict[str, Any]


def load_dumps() -> Iterator[Dumped]:
    """All of them."""
    with gzip.open(_PATH, "rt") as file:
        for line in file:
            data = json.loads(line)
            yield Dumped(spec=Spec(**data.pop("spec")), **data)


def _begun(spec: Spec, length: int, rng: np.random.Generator) -> la.BanditClusterer:
    """A run after ``length`` samples, with two pulls under way and one released."""
    sampling, stopping = rules_of(spec)
    families = families_of(spec).families
    run = la.BanditClusterer(
        spec.n_clusters,
        spec.n_arms,
        n_features=spec.n_features,
        family=families,
        delta=spec.delta,
        sampling=sampling,
        stopping=stopping,
        seed=spec.seed,
    )
    for _ in range(length):
        for arm in run.ask():
            run.tell(arm, np.array(drawn(families[arm], spec, arm, rng)) * UNIT)
    for arm in run.ask(3)[2:]:
        run.release(arm)
    return run


def _dumped(spec: Spec, rng: np.random.Generator, length: int) -> Dumped:
    while (run := _begun(spec, length, rng)).done:
        length -= spec.n_arms
    return _continued(spec, run, rng)


def _continued(spec: Spec, run: la.BanditClusterer, rng: np.random.Generator) -> Dumped:
    blob, before = run.dump(), run.result().to_dict()
    families = run.families.families
    asks: list[int] = []
    samples: list[list[int]] = []
    for _ in range(_NEXT):
        for arm in run.ask():
            samples.append(drawn(families[arm], spec, arm, rng))
            run.tell(arm, np.array(samples[-1]) * UNIT)
            asks.append(arm)
    return Dumped(spec, blob, before, asks, samples, run.result().to_dict())


def _special() -> Iterator[Dumped]:
    """A run in which an arm has no sample yet, one that was closed, and one that stopped and was told more."""
    spec = next(cases("gaussian")).spec
    rng = np.random.default_rng(7)
    yield _dumped(replace(spec, name="begun"), rng, 2)
    closed = _begun(spec, 8, rng)
    closed.close("the probe is lost")
    yield _continued(replace(spec, name="closed"), closed, rng)
    stopped = _begun(replace(spec, delta=0.2), 40, rng)
    assert stopped.done
    stopped.tell_many([0, 1], [[0.25], [0.5]])
    yield _continued(replace(spec, name="stopped"), stopped, rng)


def make_dumps() -> None:
    """Record one dump per kind of arms and pair of rules; the first design that a pair is recorded with is taken."""
    seen, lines = set(), []
    for file in FILES:
        if file.startswith("many"):
            continue
        for i, case in enumerate(cases(file)):
            spec = case.spec
            key = (spec.name.split()[0], str(spec.sampling), str(spec.stopping))
            if key in seen:
                continue
            seen.add(key)
            # a small delta: the run should not be over before it is dumped
            rng = np.random.default_rng([100 + FILES.index(file), i])
            dumped = _dumped(replace(spec, delta=1e-3), rng, 4 * spec.n_arms)
            lines.append(json.dumps(asdict(dumped), separators=(",", ":")) + "\n")
            print(f"dump {len(lines)}: {key}", flush=True)
    lines += [json.dumps(asdict(d), separators=(",", ":")) + "\n" for d in _special()]
    _PATH.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
