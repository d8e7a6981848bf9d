"""The trials behind one curve of Figure 2 or 3, in chunks that are kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from linkarms.errors import InvalidInput
from linkarms.montecarlo import simulate
from linkarms.montecarlo._simulate import Backend
from linkarms.paper._chunks import load_chunk, save_chunk, settings_digest
from linkarms.paper.published import Curve
from linkarms.problem import Problem, problems
from linkarms.sampling import resolve_sampling
from linkarms.stopping import Paper

__all__ = ["CHUNK", "MAX_SAMPLES", "CurveRun", "CurveSettings", "Execution", "available", "run_curve"]

#: Trials that are kept in one file. Trial ``i`` is that of `simulate` with the same seed, whatever the chunk.
CHUNK = 10
#: A trial is given up here; the longest of the paper takes some 30,000 samples.
MAX_SAMPLES = 200_000
Parameter = Literal["rate", "mean"]


@dataclass(frozen=True)
class Execution:
    """What trials run on: nothing here changes a number.

    Attributes
    ----------
    backend, n_jobs
        As for `linkarms.simulate`.
    store : Path or None
        The folder that keeps finished chunks.
    say : callable
        Told the share of the piece that is done, and what is going on.
    progress : bool
        For pieces that show progress of their own.
    """

    backend: Backend = "local"
    n_jobs: int = 1
    store: Path | None = None
    say: Callable[[float, str], None] = lambda share, text: None
    progress: bool = False


@dataclass(frozen=True)
class CurveSettings:
    """All that the numbers of one curve depend on.

    Attributes
    ----------
    paper : Curve
        The paper's curve: figure, rule, Theta, epsilon, and the values of ``log(1/delta)``.
    trials, seed : int
        Ours.
    parameter : {"rate", "mean"} or None
        What the numbers of Synthetic Dataset 2 are; None on Synthetic Dataset 1.
    """

    paper: Curve
    trials: int
    seed: int
    parameter: Parameter | None = None

    @property
    def label(self) -> str:
        """The curve in words; those of one figure differ."""
        words = [self.paper.rule]
        if self.paper.theta is not None:
            words.append(f"Theta [{self.paper.theta[0]:g}, {self.paper.theta[1]:g}]")
        if self.paper.epsilon is not None:
            words.append(f"epsilon {self.paper.epsilon:g}")
        if self.parameter == "mean":
            words.append("by the mean")
        return ", ".join(words)

    @property
    def problem(self) -> Problem:
        """Synthetic Dataset 1 or 2."""
        return problems.synthetic1() if self.parameter is None else problems.synthetic2(self.parameter)

    @property
    def stopping(self) -> Paper | None:
        """The paper's rule; None for the rule's own stop."""
        if self.paper.theta is None or self.paper.epsilon is None:
            return None
        return Paper(self.paper.theta, self.paper.epsilon)

    def digest(self) -> str:
        """Digest of all settings but the number of trials: more trials only add chunks."""
        stop = self.stopping
        return settings_digest(
            {
                "parameters": self.problem.parameters.tolist(),
                "families": [f.to_dict() for f in self.problem.families],
                "rule": resolve_sampling(self.paper.rule).to_dict(),
                "stopping": None if stop is None else stop.to_dict(),
                "levels": self.paper.x,
                "rest": [self.seed, CHUNK, MAX_SAMPLES],
            }
        )


@dataclass(frozen=True)
class CurveRun:
    """The trials of one curve.

    Attributes
    ----------
    settings : CurveSettings
        What was run.
    times : ndarray of int, shape (trials, J)
        Samples at the stop, by trial and ``log(1/delta)``; -1 where there was none.
    wrong : ndarray of bool, shape (trials, J)
        The clusters named are not the true ones.
    """

    settings: CurveSettings
    times: NDArray[np.int64]
    wrong: NDArray[np.bool_]

    @property
    def spent(self) -> NDArray[np.float64]:
        """Samples used. A trial that does not stop counts with the whole budget, so the mean is only slightly too small."""
        return np.where(self.times < 0, MAX_SAMPLES, self.times).astype(np.float64)

    @property
    def unstopped(self) -> int:
        """Trials that did not stop for the smallest delta."""
        return int((self.times[:, -1] < 0).sum())


def available(rule: str) -> bool:
    """Whether the package has a sampling rule of this name."""
    try:
        resolve_sampling(rule)
    except InvalidInput:
        return False
    return True


def run_curve(
    settings: CurveSettings, execution: Execution, done: float = 0.0, share: float = 1.0
) -> CurveRun:
    """Run the trials that are not kept yet, chunk by chunk; one trajectory is used for all deltas if the rule does not depend on delta.

    Parameters
    ----------
    settings : CurveSettings
        What to run.
    execution : Execution
        Where to run it.
    done, share : float
        For the progress: what is done before, and what this is of the whole.
    """
    folder = None if execution.store is None else execution.store / settings.digest()
    total = -(-settings.trials // CHUNK)
    chunks = []
    for i in range(total):
        execution.say(done + share * i / total, f"{settings.label}: {i * CHUNK} of {settings.trials} trials")
        found = load_chunk(folder, f"{i:05}")
        count = min(CHUNK, settings.trials - i * CHUNK)
        # the last chunk may be short, and is run again when more trials are asked for
        if found is None or len(found["times"]) < count:
            s = simulate(
                settings.problem,
                settings.paper.rule,
                stopping=settings.stopping,
                deltas=[math.exp(-x) for x in settings.paper.x],
                trials=count,
                seed=settings.seed,
                first_trial=i * CHUNK,
                max_samples=MAX_SAMPLES,
                n_jobs=execution.n_jobs,
                backend=execution.backend,
            )
            if s.completed < count:  # Ctrl-C: the chunks before this one are kept
                raise KeyboardInterrupt
            (r,) = s.values()
            found = {"times": r.stopping_times.tolist(), "wrong": r.errors.astype(int).tolist()}
            save_chunk(folder, f"{i:05}", found)
        chunks.append(found)
    n = settings.trials
    return CurveRun(
        settings,
        np.concatenate([np.array(c["times"], dtype=np.int64) for c in chunks])[:n],
        np.concatenate([np.array(c["wrong"], dtype=bool) for c in chunks])[:n],
    )
