"""FSS: a fixed number of samples of each arm, then single linkage. The error is measured, not promised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from linkarms._validate import check_count, check_integer
from linkarms.errors import InvalidInput
from linkarms.montecarlo._streams import BLOCK
from linkarms.problem import Problem

__all__ = ["fixed_size_errors"]


def fixed_size_errors(
    problem: Problem,
    sizes: Sequence[int],
    *,
    trials: int = 100,
    seed: int = 0,
    box: NDArray[np.float64] | None = None,
) -> NDArray[np.bool_]:
    """Return whether single linkage of the estimates from ``n`` samples of each arm is wrong.

    Trial ``i`` sees the samples that `simulate` shows to trial ``i`` of the same seed: in round robin, those of its first ``n M`` pulls.

    Parameters
    ----------
    problem : Problem
        The true parameters.
    sizes : sequence of int
        Samples of each arm; one trajectory is used for all sizes.
    trials, seed : int
        How many trials, from which seed.
    box : array of shape (d, 2), optional
        Bounds to which estimates are clipped, as a stopping rule's Theta would.

    Returns
    -------
    ndarray of bool, shape (trials, len(sizes))
        Wrong partitions.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.montecarlo import fixed_size_errors
    >>> fixed_size_errors(la.problems.synthetic1(), [1, 300], trials=20, seed=1).sum(axis=0).tolist()
    [11, 0]
    """
    numbers = [check_count("sizes", n) for n in sizes]
    if not numbers:
        raise InvalidInput("sizes are empty; give at least one number of samples")
    n_trials, root = check_count("trials", trials), check_integer("seed", seed, 0)
    model, theta = problem.arm_families.model, np.empty_like(problem.parameters)
    bounds = (
        np.tile([-np.inf, np.inf], (problem.n_features, 1))
        if box is None
        else np.asarray(box, dtype=np.float64)
    )
    wrong = np.zeros((n_trials, len(numbers)), dtype=bool)
    for i in range(n_trials):
        sums = [_sums(problem, m, root, i, max(numbers)) for m in range(problem.n_arms)]
        for j, n in enumerate(numbers):
            for m in range(problem.n_arms):
                theta[m] = model.estimate(m, sums[m][n - 1] / n, bounds)
            wrong[i, j] = not problem.is_correct(problem.goal.partition(theta)[0])
    return wrong


def _sums(problem: Problem, m: int, seed: int, trial: int, size: int) -> NDArray[np.float64]:
    """Running sums of arm ``m``'s sufficient statistics, from the stream and the blocks of `run_trial`."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(trial, m)))
    family, theta = problem.families[m], problem.parameters[m]
    blocks = [family.statistics(family.draw(rng, theta, BLOCK)) for _ in range(-(-size // BLOCK))]
    return np.asarray(np.cumsum(np.concatenate(blocks), axis=0))
