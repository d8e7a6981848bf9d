"""Recorded runs: what the engine of version 0.1.0 did with given samples. See README.md beside this file."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["HERE", "TELL", "UNIT", "Recording", "Snapshot", "Spec", "load", "names", "store", "whole"]

HERE = Path(__file__).parent
#: In `Recording.events`: the next sample is told. Any other event is the arm that was chosen, pending from then on.
TELL = -1
#: Samples are whole multiples of this, so that they are stored exactly and by few digits.
UNIT = 2.0**-20


@dataclass(frozen=True)
class Spec:
    """What a run is made from.

    ``family`` is one description, or a list with one per arm (`linkarms.families.from_dict`); ``sampling`` and ``stopping`` are what the
    rules' ``to_dict`` returns; ``parameters`` are the true ones, which no rule sees.
    """

    name: str
    family: dict[str, Any] | list[dict[str, Any]]
    n_arms: int
    n_features: int
    n_clusters: int
    sampling: dict[str, Any]
    stopping: dict[str, Any]
    delta: float
    seed: int
    parameters: list[list[float]] = field(repr=False)


@dataclass(frozen=True)
class Snapshot:
    """More of the state after ``t`` samples.

    ``evidence`` is None where the anytime rule's full statistic takes too long: above 100 arms, except in the last snapshot of 300.
    ``kl`` holds the arms that move in the nearest alternative; ``labels`` is empty above 100 arms; ``tracked`` is the sum of the weights
    of a rule that tracks one (EBC, ATBOC, LMA), for at most 20 arms.
    """

    t: int
    evidence: float | None
    threshold: float
    kl: dict[int, float]
    labels: list[int]
    tracked: list[float]


@dataclass(frozen=True)
class Recording:
    """One run: the samples in the order in which they were told, and what the engine answered.

    Attributes
    ----------
    spec : Spec
        The problem and the rules.
    events : list of int
        What happened, in order: `TELL`, or the arm that was chosen.
    arms, samples : list of int, list of list of int
        Arm and sample of each `TELL`, samples in multiples of `UNIT`.
    psi : list of float
        psi at the rule's weights after each sample from the one on that gave the last arm its first.
    stops : list of int
        The numbers of samples after which the rule said stop.
    labels : list of int
        The partition at the end.
    snapshots : list of Snapshot
        Every tenth sample (every hundredth above 100 arms), and the last.
    """

    spec: Spec
    events: list[int]
    arms: list[int]
    samples: list[list[int]]
    psi: list[float]
    stops: list[int]
    labels: list[int]
    snapshots: list[Snapshot]

    def values(self) -> NDArray[np.float64]:
        """The samples, shape (T, d)."""
        return np.array(self.samples, dtype=np.float64).reshape(len(self.arms), -1) * UNIT


def names() -> list[str]:
    """The files of recordings, without their ending."""
    return sorted(path.name.removesuffix(".runs.json.gz") for path in HERE.glob("*.runs.json.gz"))


def load(name: str, part: int = 0, parts: int = 1) -> Iterator[Recording]:
    """The recordings of one file; or one of ``parts`` of them, each with every ``parts``-th recording."""
    with gzip.open(HERE / f"{name}.runs.json.gz", "rt") as file:
        for line in islice(file, part, None, parts):
            data = json.loads(line)
            snapshots = [
                Snapshot(**{**s, "kl": {int(m): x for m, x in s["kl"].items()}})
                for s in data.pop("snapshots")
            ]
            yield Recording(spec=Spec(**data.pop("spec")), snapshots=snapshots, **data)


def store(name: str, recordings: list[Recording]) -> None:
    """Write a file, one recording per line; the same recordings give the same bytes."""
    lines = [json.dumps(asdict(r), separators=(",", ":")) + "\n" for r in recordings]
    (HERE / f"{name}.runs.json.gz").write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))


def whole(sample: NDArray[np.float64]) -> list[int]:
    """A sample in multiples of `UNIT`; one of them where a waiting time would be rounded to zero."""
    steps = np.rint(sample / UNIT)
    return [int(s) for s in np.where((steps == 0.0) & (sample > 0.0), 1.0, steps)]
