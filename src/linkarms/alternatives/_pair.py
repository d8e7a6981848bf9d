"""One pair problem, for whichever model: the type of the model chooses the implementation when the kernel is compiled.

The four implementations take the same arguments; those that one of them does not use are there for the others. ``dist``
holds distances, ``w`` weights (none zero), ``inv`` the variance of each arm (the largest, with a covariance) over its weight; ``box``
and ``which`` are scratch space, of the shapes `SCRATCH` and `INT_SCRATCH`.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from linkarms._jit import KERNEL_OPTIONS
from linkarms.alternatives._angles import vector_pair
from linkarms.alternatives._covariance import covariance_pair
from linkarms.alternatives._gaussian import isotropic_bound, isotropic_cost, isotropic_solution
from linkarms.alternatives._number import COLUMNS, INT_COLUMNS
from linkarms.alternatives._scalar import scalar_pair, scalar_reach
from linkarms.families._model import CovarianceModel, IsotropicModel, ScalarModel, UnknownModel, VectorModel
from linkarms.families._vector import arm_reach

__all__ = ["INT_SCRATCH", "SCRATCH", "fill_reach", "pair_cost", "pair_solution"]

#: Shapes of the scratch arrays ``box`` and ``which``.
SCRATCH, INT_SCRATCH = (8, COLUMNS), (8, INT_COLUMNS)


def pair_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which) -> Any:
    """``cost(u,v; a,b)``, or any value >= ``level`` that it is sure to reach. A shared arm is ``u = a``. Kernels only."""
    raise TypeError("pair_cost is called from kernels only")


def pair_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which) -> Any:
    """Move the rows of ``lam`` (a copy of ``theta``) to the minimiser of ``cost(u,v; a,b)``. Kernels only."""
    raise TypeError("pair_solution is called from kernels only")


def fill_reach(model, theta, dist, w, inv, level, longer, shorter) -> Any:
    """How far apart and how near each two arms can come in an alternative that costs at most ``level``. Kernels only.

    Fills ``longer`` (upper bounds of ``|lambda_u - lambda_v|``) and ``shorter`` (lower bounds), shape (M, M).
    """
    raise TypeError("fill_reach is called from kernels only")


def _isotropic_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which):
    bound = isotropic_bound(dist, inv, u, v, a, b)
    return bound if bound >= level else isotropic_cost(dist, inv, u, v, a, b)


def _isotropic_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which):
    isotropic_solution(theta, dist, inv, u, v, a, b, lam)


def _covariance_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which):
    # a larger covariance costs less: the closed form with the largest eigenvalues is a lower bound
    bound = isotropic_bound(dist, inv, u, v, a, b)
    return bound if bound >= level else covariance_pair(theta, model.covariance, w, u, v, a, b, theta, False)


def _covariance_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which):
    covariance_pair(theta, model.covariance, w, u, v, a, b, lam, True)


def _scalar_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which):
    return scalar_pair(model, theta, w, u, v, a, b, level, theta, False, box, which)


def _scalar_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which):
    scalar_pair(model, theta, w, u, v, a, b, math.inf, lam, True, box, which)


def _vector_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which):
    return vector_pair(model, theta, w, u, v, a, b, level, theta, False, box, which)


def _vector_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which):
    vector_pair(model, theta, w, u, v, a, b, math.inf, lam, True, box, which)


def _gaussian_reach(model, theta, dist, w, inv, level, longer, shorter):
    # |lambda_m - theta_m|^2 / (2 inv_m) <= level for each arm alone
    for m in range(dist.shape[0]):
        for j in range(dist.shape[0]):
            room = math.sqrt(2.0 * level * inv[m]) + math.sqrt(2.0 * level * inv[j])
            longer[m, j] = (dist[m, j] + room) * (1.0 + 1e-12)
            shorter[m, j] = (dist[m, j] - room) * (1.0 - 1e-12)


def _scalar_reach(model, theta, dist, w, inv, level, longer, shorter):
    scalar_reach(model, theta, w, level, longer, shorter)


def _vector_reach(model, theta, dist, w, inv, level, longer, shorter):
    reach = np.empty(dist.shape[0])
    for m in range(dist.shape[0]):
        reach[m] = arm_reach(model, m, theta[m], level / w[m])
    for m in range(dist.shape[0]):
        for j in range(dist.shape[0]):
            longer[m, j] = (dist[m, j] + reach[m] + reach[j]) * (1.0 + 1e-12)
            shorter[m, j] = (dist[m, j] - reach[m] - reach[j]) * (1.0 - 1e-12)


_COST = {
    IsotropicModel: _isotropic_cost,
    CovarianceModel: _covariance_cost,
    UnknownModel: _isotropic_cost,
    ScalarModel: _scalar_cost,
    VectorModel: _vector_cost,
}
_SOLUTION = {
    IsotropicModel: _isotropic_solution,
    CovarianceModel: _covariance_solution,
    UnknownModel: _isotropic_solution,
    ScalarModel: _scalar_solution,
    VectorModel: _vector_solution,
}


@overload(pair_cost, jit_options=KERNEL_OPTIONS)
def _choose_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which):
    return _COST.get(model.instance_class) if isinstance(model, types.NamedTuple) else None


@overload(pair_solution, jit_options=KERNEL_OPTIONS)
def _choose_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which):
    return _SOLUTION.get(model.instance_class) if isinstance(model, types.NamedTuple) else None


_REACH = {
    IsotropicModel: _gaussian_reach,
    CovarianceModel: _gaussian_reach,
    UnknownModel: _gaussian_reach,
    ScalarModel: _scalar_reach,
    VectorModel: _vector_reach,
}


@overload(fill_reach, jit_options=KERNEL_OPTIONS)
def _choose_reach(model, theta, dist, w, inv, level, longer, shorter):
    return _REACH.get(model.instance_class) if isinstance(model, types.NamedTuple) else None
