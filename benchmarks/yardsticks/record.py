"""A trajectory of the engine, step by step, and the check that a yardstick computes the same along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.ours import Ours
from benchmarks.settings import Setting
from linkarms.errors import LinkarmsError

__all__ = ["Start", "Trajectory", "Yardstick", "check", "check_evidence", "record"]

#: Relative difference up to which two values are the same.
AGREE = 1e-9


@dataclass(frozen=True)
class Start:
    """State of the run when the clock starts: counts (M,), means (M, d), EBC's weights and their sum (2, M)."""

    counts: NDArray[np.int64]
    means: NDArray[np.float64]
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class Trajectory:
    """The engine's steps after a warm-up.

    Attributes
    ----------
    setting, rule, start
        Where it came from.
    arms : ndarray of int64, shape (T,)
        The arm that was pulled at each step.
    statistics : ndarray, shape (T, d)
        What it gave.
    evidence, base : ndarray, shape (T,)
        psi(N) after the step, and the threshold without ``log(1/delta)``.
    kl : ndarray, shape (T, M)
        KL of each arm at the minimiser.
    chosen : ndarray of int64, shape (T,)
        The arm that the engine would pull next.
    """

    setting: Setting
    rule: str
    start: Start
    arms: NDArray[np.int64]
    statistics: NDArray[np.float64]
    evidence: NDArray[np.float64]
    base: NDArray[np.float64]
    kl: NDArray[np.float64]
    chosen: NDArray[np.int64]


class Yardstick(Protocol):
    """Another implementation of the step; ``kl`` and ``base`` are those of the last step, ``rules`` those that it has."""

    rules: tuple[str, ...]

    @property
    def kl(self) -> NDArray[np.float64]: ...  # noqa: D102
    @property
    def base(self) -> float: ...  # noqa: D102

    def run(
        self, arms: NDArray[np.int64], statistics: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Take in the samples one by one; return psi and the next arm after each."""


def record(setting: Setting, rule: str, warm_up: int, steps: int, seed: int) -> Trajectory:
    """Run the engine for ``warm_up`` samples, then return ``steps`` more."""
    ours = Ours(setting, rule, seed)
    ours.advance(warm_up)
    engine, core = ours.engine, ours.engine.core
    start = Start(core.counts.copy(), core.means.copy(), np.array([core.ebc_weights, core.ebc_weight_sum]))
    n_arms, d = core.means.shape
    arms, chosen = np.empty((2, steps), dtype=np.int64)
    statistics, kl = np.empty((steps, d)), np.empty((steps, n_arms))
    evidence, base = np.empty((2, steps))
    arm = engine.choose()
    for i in range(steps):
        arms[i], statistics[i] = arm, ours.samples.take(arm)
        engine.observe(arm, statistics[i])
        evidence[i], base[i], kl[i] = core.psi, core.threshold_base, core.kl
        arm = chosen[i] = engine.choose()
    return Trajectory(setting, rule, start, arms, statistics, evidence, base, kl, chosen)


def check(name: str, yardstick: Yardstick, track: Trajectory, steps: int) -> None:
    """Take a yardstick through the first steps and compare psi, the threshold, every KL and the next arm.

    Two arms with equal counts can have equal KL, and rounding then decides which of them is next: both are accepted.
    """
    for i in range(steps):
        evidence, chosen = yardstick.run(track.arms[i : i + 1], track.statistics[i : i + 1])
        kl, mine, theirs = track.kl[i], int(track.chosen[i]), int(chosen[0])
        same_arm = mine == theirs or (track.rule == "ebc-h" and _same(kl[theirs], kl[mine]))
        if not (
            _same(evidence[0], track.evidence[i])
            and _same(yardstick.base, track.base[i])
            and np.allclose(yardstick.kl, kl, rtol=AGREE, atol=AGREE * kl.max())
            and same_arm
        ):
            raise LinkarmsError(
                f"{name} computes something else at step {i} of {track.setting.name}, {track.rule}: psi {evidence[0]!r} "
                f"(engine: {track.evidence[i]!r}), threshold {yardstick.base!r} ({track.base[i]!r}), next arm {theirs} ({mine}); "
                "its times would mean nothing: correct it"
            )


def check_evidence(name: str, evidence: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    """Compare the values of psi of a timed round."""
    if not np.allclose(evidence, expected, rtol=AGREE, atol=0.0):
        raise LinkarmsError(
            f"{name} computes another psi than the engine; its times would mean nothing: correct it"
        )


def _same(x: float, y: float) -> bool:
    return bool(abs(x - y) <= AGREE * abs(y))
