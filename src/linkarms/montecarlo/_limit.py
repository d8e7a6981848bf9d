"""Where a sampling rule settles when there is no noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from linkarms._validate import check_count, check_integer
from linkarms.engine import Engine
from linkarms.errors import InvalidInput
from linkarms.problem import Problem
from linkarms.sampling import SamplingRule, resolve_sampling
from linkarms.stopping import SampleSize

__all__ = ["known_parameters"]


def known_parameters(
    problem: Problem, rule: str | SamplingRule, samples: Sequence[int], seed: int = 0
) -> NDArray[np.float64]:
    """Compute ``T_w = 1 / psi(N/t)`` of a rule's proportions ``N/t``, when every sample is the parameter itself.

    A rule needs more than ``T*`` for two reasons: it has to learn the parameters, and its proportions may settle away from the best ones.
    Without noise only the second remains.

    Parameters
    ----------
    problem : Problem
        The parameters; of a family whose estimate is the mean (Gaussian, Bernoulli, Poisson, means).
    rule : str or SamplingRule
        A sampling rule that does not look at delta.
    samples : sequence of int
        After how many samples ``T_w`` is taken, in increasing order, M or more.
    seed : int, default 0
        For rules that start at random.

    Returns
    -------
    ndarray, shape (len(samples),)
        ``T_w``; never below ``T*``.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.montecarlo import known_parameters
    >>> known_parameters(la.problems.synthetic1(), "round-robin", [600, 6000]).round(2).tolist()
    [36.0, 36.0]
    """
    times = [check_count("samples", n, problem.n_arms) for n in samples]
    if not times or times != sorted(set(times)):
        raise InvalidInput("samples are not increasing numbers; give, for example, [1000, 10000]")
    way = resolve_sampling(rule).fresh()
    if way.uses_delta:
        raise InvalidInput(f"{way.name!r} looks at delta and settles nowhere; take another rule")
    theta = problem.parameters
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    engine = Engine(problem.arm_families, problem.goal, way, SampleSize(times[-1]), 0.1, rng)
    found: list[float] = []
    for t in range(1, times[-1] + 1):
        m = engine.choose()
        engine.observe(m, theta[m])
        if t == problem.n_arms and not np.allclose(engine.core.estimates, theta, rtol=1e-9, atol=0.0):
            raise InvalidInput(
                "the estimate of this family is not the mean of its samples; take a family by the mean"
            )
        if t == times[len(found)]:
            found.append(t / engine.view().psi().value)
    return np.array(found)
