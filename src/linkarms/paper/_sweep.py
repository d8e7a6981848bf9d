"""Error and samples at many levels of the evidence, each trajectory run once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms._progress import Pace, Progress
from linkarms._validate import check_count, check_integer
from linkarms.errors import InvalidInput
from linkarms.montecarlo import fixed_size_errors, simulate
from linkarms.montecarlo._simulate import Backend
from linkarms.paper._chunks import chunk_seed, load_chunk, save_chunk, settings_digest
from linkarms.paper._level import EvidenceLevel
from linkarms.problem import Problem
from linkarms.sampling import SamplingRule, resolve_sampling

__all__ = ["FIXED", "Rules", "Sweep", "run_sweep"]

Rules = Sequence[str] | Mapping[str, str | SamplingRule]
#: The name of the rule that takes a fixed number of samples of each arm.
FIXED = "fixed"
#: Trials of a chunk. Each chunk has its own seed, so an interrupted run continues with the next one; another size would change the results.
CHUNK = 25


@dataclass(frozen=True)
class Sweep:
    """All trials of one rule.

    Attributes
    ----------
    levels : ndarray, shape (J,)
        Levels of the evidence; for ``"fixed"``, samples of each arm.
    samples : ndarray of int, shape (trials, J)
        Samples when the evidence first reached the level; -1 where it did not within the budget.
    wrong : ndarray of bool, shape (trials, J)
        The partition named then is not the true one. False where there is none.
    budget : int
        The most samples of a trial.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.paper import run_sweep
    >>> sweep = run_sweep(la.problems.synthetic1(), ["fixed"], levels=[1.0], sizes=[2, 50], theta=(-5, 5), trials=10)["fixed"]
    >>> sweep.spent[0].tolist(), sweep.failed.shape
    ([12.0, 300.0], (10, 2))
    """

    levels: NDArray[np.float64]
    samples: NDArray[np.int64]
    wrong: NDArray[np.bool_]
    budget: int

    @property
    def unstopped(self) -> NDArray[np.bool_]:
        """Where the level was not reached within the budget, shape (trials, J)."""
        return np.asarray(self.samples < 0)

    @property
    def spent(self) -> NDArray[np.float64]:
        """Samples used, shape (trials, J): a trial that does not get to the level uses up the budget."""
        return np.where(self.unstopped, self.budget, self.samples).astype(np.float64)

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Wrong, or without an answer, shape (trials, J)."""
        return self.wrong | self.unstopped


@dataclass(frozen=True)
class _Plan:
    problem: Problem
    rules: Mapping[str, SamplingRule | None]  # None: a fixed number of samples
    levels: tuple[float, ...]
    sizes: tuple[int, ...]
    theta: Any
    max_samples: int
    seed: int
    n_jobs: int
    backend: Backend

    def digest(self) -> str:
        """Digest of everything that the numbers depend on, except the number of trials."""
        spec = {
            "families": [f.to_dict() for f in self.problem.families],
            "n_clusters": self.problem.n_clusters,
            "theta": np.asarray(self.theta, dtype=float).tolist(),
            "rules": {name: rule and rule.to_dict() for name, rule in self.rules.items()},
            "rest": [list(self.rules), self.levels, self.sizes, self.max_samples, self.seed, CHUNK],
        }
        return settings_digest(spec)

    def run(self, chunk: int) -> dict[str, Any] | None:
        """All rules on the trials of one chunk, as plain lists; None if it was interrupted."""
        seed = chunk_seed(self.seed, chunk)
        stop = EvidenceLevel(self.theta)
        adaptive = {name: rule for name, rule in self.rules.items() if rule is not None}
        found: dict[str, Any] = {}
        if adaptive:
            s = simulate(
                self.problem,
                adaptive,
                stopping=stop,
                deltas=[math.exp(-x) for x in self.levels],
                trials=CHUNK,
                seed=seed,
                max_samples=self.max_samples,
                n_jobs=self.n_jobs,
                backend=self.backend,
            )
            if s.completed < CHUNK:
                return None
            for name, r in s.items():
                found[name] = {"samples": r.stopping_times.tolist(), "wrong": r.errors.astype(int).tolist()}
        for name in self.rules.keys() - adaptive.keys():
            box = stop.box(self.problem.n_features)
            wrong = fixed_size_errors(self.problem, self.sizes, trials=CHUNK, seed=seed, box=box)
            used = [[n * self.problem.n_arms for n in self.sizes]] * CHUNK
            found[name] = {"samples": used, "wrong": wrong.astype(int).tolist()}
        return found


def run_sweep(
    problem: Problem,
    rules: Rules,
    *,
    levels: Sequence[float],
    sizes: Sequence[int],
    theta: Any,
    trials: int,
    seed: int = 0,
    max_samples: int = 10**5,
    n_jobs: int = 1,
    backend: Backend = "local",
    progress: bool = False,
    store: str | Path | None = None,
    title: str = "sweep",
) -> dict[str, Sweep]:
    """Run seeded trials of each rule without a stop, and note when the evidence first reaches each level.

    Parameters
    ----------
    problem : Problem
        The arms, and the true partition.
    rules : sequence of str, or a dict name -> rule
        Sampling rules by name, ``"fixed"`` among them, or a dict of your own rules by name. All see the same samples.
    levels : sequence of float
        Levels of ``Z(t)``, positive, increasing.
    sizes : sequence of int
        For ``"fixed"``: samples of each arm.
    theta : tuple of float, or array of shape (d, 2)
        The space to which estimates are clipped.
    trials, seed, max_samples, n_jobs : int
        As for `linkarms.simulate`. Trials run in chunks of 25, and the last chunk is cut.
    backend : str, Executor or distributed.Client, default "local"
        As for `linkarms.simulate`.
    progress : bool, default False
        Show progress on stderr.
    store : str or Path, optional
        A folder that keeps finished chunks: the same call continues where it was interrupted.
    title : str
        For the progress.

    Returns
    -------
    dict of str to Sweep
        By rule, in the order given. After Ctrl-C, the chunks finished so far.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.paper import run_sweep
    >>> s = run_sweep(la.problems.synthetic1(), ["fixed", "ebc-h"], levels=[0.5, 5.0], sizes=[2, 50], theta=(-5, 5), trials=10)
    >>> s["ebc-h"].samples.shape, s["fixed"].samples[0].tolist()
    ((10, 2), [12, 300])
    """
    given = rules if isinstance(rules, Mapping) else {name: name for name in rules}
    named = {name: None if rule == FIXED else resolve_sampling(rule) for name, rule in given.items()}
    if not named:
        raise InvalidInput("there are no rules; give at least one, for example 'ebc-h'")
    heights = tuple(float(x) for x in levels)
    if not heights or min(heights) <= 0 or any(b <= a for a, b in pairwise(heights)):
        raise InvalidInput(f"levels={list(heights)} must be positive and increase; fix them")
    n = check_count("trials", trials)
    plan = _Plan(
        problem,
        named,
        heights,
        tuple(sizes),
        theta,
        max_samples,
        check_integer("seed", seed, 0),
        n_jobs,
        backend,
    )
    total = -(-n // CHUNK)
    folder = None if store is None else Path(store) / plan.digest()
    pace = Pace(total * CHUNK, "trials")
    chunks: list[dict[str, Any]] = []
    with Progress(title, enabled=progress) as bar:
        for i in range(total):
            found = load_chunk(folder, f"{i:05}")
            if found is None:
                found = plan.run(i)
                if found is None:
                    if not chunks:
                        raise KeyboardInterrupt
                    bar.say(f"interrupted; {len(chunks) * CHUNK} trials are kept")
                    break
                save_chunk(folder, f"{i:05}", found)
            chunks.append(found)
            bar.update(len(chunks) / total, pace.text(len(chunks) * CHUNK))
    return {
        name: _gather(name, chunks, n, sizes if rule is None else heights, max_samples)
        for name, rule in named.items()
    }


def _gather(
    name: str, chunks: Sequence[Mapping[str, Any]], n: int, levels: Sequence[float], budget: int
) -> Sweep:
    samples = np.concatenate([np.array(c[name]["samples"], dtype=np.int64) for c in chunks])[:n]
    wrong = np.concatenate([np.array(c[name]["wrong"], dtype=bool) for c in chunks])[:n]
    return Sweep(np.array(levels, dtype=np.float64), samples, wrong, budget)
