"""Replays of recorded runs: the same samples, told in the same order, give the same arms, psi, evidence and stop.

A replay follows the recorded choices, so that a difference does not spread. Where another arm is chosen, it has to be a tie: see `tie`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from tests.recorded import TELL, Recording, Snapshot
from tests.recorded.adapter import Run

import linkarms as la

__all__ = ["PATHS", "SCALAR", "TOLERANCE", "close", "replay", "tie"]

#: How far psi and the evidence may be from the recorded ones, relatively to ``max(1, |value|)``, by the recordings' file.
#: Closed forms (Gaussian arms with one variance each) differ by rounding only. A scalar pair problem is a concave maximum whose
#: multiplier is found to 1e-13 of its bracket, and a covariance's is a root to 1e-15; the value is flat there, so that rounding of
#: logarithms is what is left. The evidence of scalar families adds log-gamma functions of size t, and unknown variances sum t of them.
#: Pairs of vectors (products, categories) are searched until the bracket is 3e-8 wide (``angle_gap`` in cpp/pair/angles.hpp).
TOLERANCE = {
    "gaussian": 1e-12,
    "many-gaussian": 1e-12,
    "bounded": 1e-12,
    "covariance": 1e-10,
    "unknown": 1e-10,
    "categorical": 3e-8,
    "product": 3e-8,
}
SCALAR = 1e-10
#: Rules whose choice depends on choices made before: after a tie they go their own way.
PATHS = ("ebc", "atboc", "lma")


def close(a: float, b: float, tolerance: float) -> bool:
    """``|a - b| <= tolerance max(1, |a|)``, or both the same infinity."""
    return a == b or abs(a - b) <= tolerance * max(1.0, abs(a))


def nearest(run: Run, weights: NDArray[np.float64]) -> la.Psi:
    """psi of the estimates, from scratch, by the bottleneck that runs use."""
    family = "gaussian" if run.families.unknown_variance else run.families.families
    return la.psi(weights, run.estimates, run.spec.n_clusters, family=family, refine=False)


def tie(run: Run, recorded: int, chosen: int, tolerance: float = 1e-12) -> bool:
    """Whether the rule may choose either arm: their scores are equal within rounding, or two alternatives are equally near.

    The tracking rules' score is how far the pulls are behind the weights. EBC-H's is the arm's KL in the nearest alternative. Among
    equally near alternatives, the one that moves the recorded arm most is the nearest with a little less weight on that arm, or, where a
    cluster of three and more has several ways to come apart, with a little more. Its cost at the weights themselves has to be psi.
    """
    if run.spec.sampling["name"] == "atboc":
        return within_gap(run)
    tracked = run.tracked
    if tracked is not None:
        scale = run.pulls.sum() / run.t if run.spec.sampling["name"] == "ebc" else 1.0
        scores = run.pulls - scale * tracked
        return bool(abs(scores[recorded] - scores[chosen]) <= 1e-7)
    if run.spec.sampling["name"] != "ebc-h":
        return False
    weights = run.choice_weights
    here = nearest(run, weights)
    # a divergence is the square of a distance to a minimum that is known to the root of the tolerance
    room = max(1e-9, 10.0 * math.sqrt(tolerance)) if tolerance > 1e-12 else 1e-9
    if close(here.kl.max(), here.kl[recorded], room):
        return True
    for factor in (1.0 - 1e-6, 1.0 + 1e-6):
        moved = weights.copy()
        moved[recorded] *= factor
        other = nearest(run, moved).kl
        if close(other.max(), other[recorded], room) and close(here.value, float(weights @ other), room):
            return True
    return False


def within_gap(run: Run) -> bool:
    """Whether ATBOC's weights are as good as it promises: any within its gap of the optimum will do, and rounding decides which."""
    lower, upper = run.bracket
    return lower >= (1.0 - run.spec.sampling["gap"]) * upper * (1.0 - 1e-9)


def drifts(run: Run, tolerance: float) -> bool:
    """Whether rounding has taken a run its own way: a rule that adds up what a solver found, after 30 samples."""
    return tolerance > 1e-12 and run.spec.sampling["name"] in PATHS and run.t > 30


def replay(recording: Recording, tolerance: float) -> list[str]:
    """Every way in which the run differs from the recorded one, in words."""
    spec, wrong, run = recording.spec, [], Run(recording.spec)
    values, psi, stops = recording.values(), iter(recording.psi), set(recording.stops)
    snapshots = {s.t: s for s in recording.snapshots}
    follow, told = True, 0
    for event in recording.events:
        if event != TELL:
            arm = run.choose()
            if drifts(run, tolerance):
                follow = False
            if arm != event and follow:
                if not tie(run, event, arm, tolerance):
                    wrong.append(f"t={run.t}: chose {arm}, recorded {event}, and that is no tie")
                follow = spec.sampling["name"] not in PATHS
            run.pend(event)
            continue
        run.observe(recording.arms[told], values[told])
        told += 1
        if not run.ready:
            continue
        expected = next(psi)
        if not close(expected, run.psi, tolerance):
            wrong.append(f"t={run.t}: psi {run.psi!r}, recorded {expected!r}")
        if run.check() != (run.t in stops) and not close(run.threshold(), run.evidence(), tolerance):
            wrong.append(f"t={run.t}: stop {run.check()}, recorded {run.t in stops}")
        if run.t in snapshots:
            wrong += compare(run, snapshots[run.t], tolerance, follow)
    assert next(psi, None) is None
    if run.labels != recording.labels:
        wrong.append(f"labels {run.labels}, recorded {recording.labels}")
    return wrong


def compare(run: Run, recorded: Snapshot, tolerance: float, follow: bool) -> list[str]:
    """The differences from a snapshot; another alternative is none where it is as near as the recorded one."""
    wrong = []
    evidence = None if recorded.evidence is None else run.evidence()
    if evidence is not None and not close(recorded.evidence, evidence, tolerance):
        wrong.append(f"t={run.t}: evidence {evidence!r}, recorded {recorded.evidence!r}")
    if not close(recorded.threshold, run.threshold(), tolerance):
        wrong.append(f"t={run.t}: threshold {run.threshold()!r}, recorded {recorded.threshold!r}")
    if recorded.labels and recorded.labels != run.labels:
        wrong.append(f"t={run.t}: labels {run.labels}, recorded {recorded.labels}")
    kl, weights, recorded_kl = run.kl, run.weights, np.zeros(run.spec.n_arms)
    for m, value in recorded.kl.items():
        recorded_kl[m] = value
    # KL is the square of a distance to a minimum that is known to the root of the tolerance
    same = np.allclose(kl, recorded_kl, rtol=math.sqrt(tolerance), atol=math.sqrt(tolerance))
    if not same and not close(float(weights @ kl), float(weights @ recorded_kl), 10 * tolerance):
        wrong.append(f"t={run.t}: KL {kl.tolist()}, recorded {recorded_kl.tolist()}")
    # EBC adds up divergences at every sample, each known to the root of the tolerance; ATBOC adds up weights within its gap
    room = max(1e-7, math.sqrt(tolerance) * run.t)
    same = not recorded.tracked or np.allclose(run.tracked, recorded.tracked, rtol=0, atol=room)
    if follow and not same and not (run.spec.sampling["name"] == "atboc" and within_gap(run)):
        wrong.append(f"t={run.t}: tracks {run.tracked.tolist()}, recorded {recorded.tracked}")
    return wrong
