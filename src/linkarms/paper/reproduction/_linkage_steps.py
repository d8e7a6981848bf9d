"""Figure 1: single linkage on Synthetic Dataset 1, merge by merge."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from linkarms.linkage import single_linkage
from linkarms.paper.reproduction._piece import Piece
from linkarms.problem import problems

__all__ = ["PAPER_STEPS", "LinkageSteps", "run_figure1"]

Clusters = tuple[tuple[int, ...], ...]

#: The four panels, arms counted from 1.
PAPER_STEPS: tuple[Clusters, ...] = (
    ((1,), (2,), (3,), (4,), (5,), (6,)),
    ((1,), (2,), (3,), (4,), (5, 6)),
    ((1, 2), (3,), (4,), (5, 6)),
    ((1, 2), (3, 4), (5, 6)),
)


@dataclass(frozen=True)
class LinkageSteps:
    """Clusters from one per arm down to K.

    Attributes
    ----------
    parameters : ndarray, shape (M, d)
        The points.
    steps : tuple
        The clusters of each step, as tuples of arms counted from 1.
    distances : tuple of float or None
        The distance between the two clusters that were merged; None for the first step.
    """

    parameters: NDArray[np.float64]
    steps: tuple[Clusters, ...]
    distances: tuple[float | None, ...]


def linkage_steps(parameters: NDArray[np.float64], n_clusters: int) -> LinkageSteps:
    """Return the clusters for M, M - 1, ..., K, and how far apart those were that merged."""
    steps = []
    for k in range(len(parameters), n_clusters - 1, -1):
        labels, _ = single_linkage(parameters, k)
        steps.append(tuple(tuple(int(m) + 1 for m in np.flatnonzero(labels == c)) for c in range(k)))
    distances: list[float | None] = [None]
    for before, after in pairwise(steps):
        (merged,) = set(after) - set(before)
        first, second = (set(c) for c in before if set(c) < set(merged))
        distances.append(
            min(float(np.linalg.norm(parameters[a - 1] - parameters[b - 1])) for a in first for b in second)
        )
    return LinkageSteps(parameters, tuple(steps), tuple(distances))


def run_figure1() -> Piece:
    """Compute Figure 1. Nothing here is random."""
    problem = problems.synthetic1()
    found = linkage_steps(problem.parameters, problem.n_clusters)
    rows = [
        {
            "step": i,
            "clusters": in_words(ours),
            "merged_at": found.distances[i],
            "paper": in_words(theirs),
            "same": ours == theirs,
        }
        for i, (ours, theirs) in enumerate(zip(found.steps, PAPER_STEPS, strict=True))
    ]
    return Piece(
        "figure1",
        "Single linkage, step by step",
        found,
        (),
        {"figure1": rows},
        {"parameters": problem.parameters.tolist(), "n_clusters": problem.n_clusters},
        (
            "The paper's picture has the numbers of arms 1 and 2 in the reverse order of its caption; the caption is taken.",
        ),
        tuple(f"step {r['step']}: {r['clusters']}, the paper {r['paper']}" for r in rows if not r["same"]),
    )


def in_words(clusters: Clusters) -> str:
    """Return a partition as ``"1 2 | 3 | 4"``."""
    return " | ".join(" ".join(map(str, c)) for c in clusters)
