"""One pair problem, for whichever model: the type of the model chooses the implementation when the kernel is compiled.

The four implementations take the same arguments; those that one of them does not use are there for the others. ``dist``
holds distances, ``w`` weights (none zero), ``inv`` the variance of each arm (the largest, with a covariance) over its weight; ``box``
and ``which`` are scratch space, of the shapes `SCRATCH` and `INT_SCRATCH`.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import overload

from linkarms._jit import FLAT_OPTIONS, LEAN_OPTIONS, address_of, call_for_float, call_for_int, lean
from linkarms.alternatives._angles import vector_pair
from linkarms.alternatives._covariance import covariance_pair
from linkarms.alternatives._dominating import dominating_variance
from linkarms.alternatives._gaussian import isotropic_bound, isotropic_cost, isotropic_solution
from linkarms.alternatives._number import COLUMNS, INT_COLUMNS
from linkarms.alternatives._scalar import scalar_pair
from linkarms.families._model import (
    CATEGORICAL,
    COVARIANCE,
    CovarianceModel,
    IsotropicModel,
    ScalarModel,
    UnknownModel,
    VectorModel,
)
from linkarms.families._scalar import USER, scalar_fisher
from linkarms.families._vector import arm_fisher, arm_variance, bernoulli_upper, kl_interval

__all__ = [
    "INT_SCRATCH",
    "SCRATCH",
    "arm_spread",
    "call_cost",
    "call_solution",
    "has_closed_form",
    "has_fixed_spread",
    "has_quadratic",
    "pair_addresses",
    "pair_cost",
    "pair_solution",
]

#: Shapes of the scratch arrays ``box`` and ``which``.
SCRATCH, INT_SCRATCH = (8, COLUMNS), (8, INT_COLUMNS)
#: How roughly the spread of an arm that is no Gaussian may be found.
_ROUGH = 0.02


def pair_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which) -> Any:
    """``cost(u,v; a,b)``, or if it is above ``level`` any value above that it is sure to reach. A shared arm is ``u = a``. Kernels only.

    A value up to ``level`` does not depend on ``level``.
    """
    raise TypeError("pair_cost is called from kernels only")


def pair_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which) -> Any:
    """Move the rows of ``lam`` (a copy of ``theta``) to the minimiser of ``cost(u,v; a,b)``. Kernels only."""
    raise TypeError("pair_solution is called from kernels only")


def arm_spread(model, m, theta, w, level) -> Any:
    """``i_m`` such that ``w KL(theta, x) >= |x - theta|^2 / (2 i_m)`` wherever ``w KL(theta, x) <= level``. Kernels only.

    With these the Gaussian formulas bound from below what an alternative of at most ``level`` costs. Where `has_quadratic` is false
    they only do so at ``level`` itself: a bound above it means a cost above it, and a lower one says nothing. A negative ``level``
    asks for a rough figure, from the curvature at ``theta``.
    """
    raise TypeError("arm_spread is called from kernels only")


def has_quadratic(model) -> Any:
    """Whether every arm has a quadratic below its KL: of a user's own family only its reach at the level is known. Kernels only."""
    raise TypeError("has_quadratic is called from kernels only")


def has_closed_form(model) -> Any:
    """Whether the Gaussian formulas at the spreads are the costs themselves, not only bounds. Kernels only."""
    raise TypeError("has_closed_form is called from kernels only")


def has_fixed_spread(model) -> Any:
    """Whether the spreads are the same at every level. Kernels only."""
    raise TypeError("has_fixed_spread is called from kernels only")


def _isotropic_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which):
    return isotropic_cost(dist, inv, u, v, a, b)


def _isotropic_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which):
    isotropic_solution(theta, dist, inv, u, v, a, b, lam)


def _covariance_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which):
    # a larger covariance costs less: the closed form with the largest eigenvalues is a lower bound
    bound = isotropic_bound(dist, inv, u, v, a, b)
    return bound if bound > level else covariance_pair(theta, model.covariance, w, u, v, a, b, theta, False)


def _covariance_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which):
    covariance_pair(theta, model.covariance, w, u, v, a, b, lam, True)


def _scalar_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which):
    return scalar_pair(model, theta, w, u, v, a, b, level, theta, False, box, which)


def _scalar_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which):
    scalar_pair(model, theta, w, u, v, a, b, math.inf, lam, True, box, which)


def _vector_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which):
    # the search is certified to 3e-8: only what is further above the level is above it wherever the search looks
    reject = level * (1.0 + 1e-7)
    value = vector_pair(model, theta, w, u, v, a, b, reject, theta, False, box, which)
    if value > reject or level == math.inf:
        return value
    return vector_pair(model, theta, w, u, v, a, b, math.inf, theta, False, box, which)


def _vector_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which):
    vector_pair(model, theta, w, u, v, a, b, math.inf, lam, True, box, which)


def _gaussian_spread(model, m, theta, w, level):
    return arm_variance(model, m, theta) / w


def _scalar_spread(model, m, theta, w, level):
    code, par, address = model.codes[m, 0], model.pars[m, 0], model.address[m, 0]
    if level < 0.0:
        return 1.0 / (scalar_fisher(code, par, address, theta[0]) * w)
    if code != USER:
        return dominating_variance(code, par, address, theta[0], level / w, _ROUGH) / w
    # (r_1 + ... + r_4)^2 <= 4 (r_1^2 + ... + r_4^2): enough room for four arms within their reach
    high = kl_interval(code, par, address, theta[0], level / w, 1, _ROUGH) - theta[0]
    low = theta[0] - kl_interval(code, par, address, theta[0], level / w, -1, _ROUGH)
    reach = max(high, low)
    return 4.0 * reach * reach / (2.0 * level) if level > 0.0 else math.inf


def _vector_spread(model, m, theta, w, level):
    if model.codes[m, 0] == COVARIANCE:
        return model.pars[m, 1] / w
    if level < 0.0:
        return 1.0 / (arm_fisher(model, m, theta) * w)
    largest = 0.0
    if model.codes[m, 0] == CATEGORICAL:
        # on the segment the curvature is at least p_i / upper_i^2; Pinsker: KL >= |x - p|^2 always
        for i in range(theta.shape[0]):
            upper = max(bernoulli_upper(theta[i], level / w), theta[i])
            largest = max(largest, upper * upper / theta[i] if theta[i] > 0.0 else math.inf)
        return min(largest * (1.0 + 1e-9), 0.5) / w
    for i in range(theta.shape[0]):
        variance = dominating_variance(
            model.codes[m, i], model.pars[m, i], model.address[m, i], theta[i], level / w, _ROUGH
        )
        largest = max(largest, variance)
    return largest / w


def _fixed(model):
    return True


def _not_fixed(model):
    return False


def _quadratic(model):
    return True


def _without_user(model):
    for m in range(model.codes.shape[0]):  # noqa: SIM110
        if model.codes[m, 0] == USER:
            return False
    return True


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


@overload(pair_cost, jit_options=LEAN_OPTIONS)
def _choose_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which):
    return _COST.get(model.instance_class) if isinstance(model, types.NamedTuple) else None


@overload(pair_solution, jit_options=LEAN_OPTIONS)
def _choose_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which):
    return _SOLUTION.get(model.instance_class) if isinstance(model, types.NamedTuple) else None


_SPREAD = {
    IsotropicModel: _gaussian_spread,
    CovarianceModel: _gaussian_spread,
    UnknownModel: _gaussian_spread,
    ScalarModel: _scalar_spread,
    VectorModel: _vector_spread,
}
_FIXED = {
    IsotropicModel: _fixed,
    CovarianceModel: _fixed,
    UnknownModel: _fixed,
    ScalarModel: _not_fixed,
    VectorModel: _not_fixed,
}


@overload(arm_spread, jit_options=LEAN_OPTIONS)
def _choose_spread(model, m, theta, w, level):
    return _SPREAD.get(model.instance_class) if isinstance(model, types.NamedTuple) else None


@overload(has_quadratic, jit_options=LEAN_OPTIONS)
def _choose_quadratic(model):
    if not isinstance(model, types.NamedTuple):
        return None
    return _without_user if model.instance_class is ScalarModel else _quadratic


@overload(has_fixed_spread, jit_options=LEAN_OPTIONS)
def _choose_fixed(model):
    return _FIXED.get(model.instance_class) if isinstance(model, types.NamedTuple) else None


@overload(has_closed_form, jit_options=LEAN_OPTIONS)
def _choose_closed(model):
    if not isinstance(model, types.NamedTuple):
        return None
    return _fixed if model.instance_class in (IsotropicModel, UnknownModel) else _not_fixed


@lean
def _far_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which) -> float:
    return pair_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which)


@lean
def _far_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which) -> int:
    pair_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which)
    return 0


def pair_addresses(model: Any) -> Any:
    """Where `pair_cost` and `pair_solution` for this type of model lie in this process, for `call_cost` and `call_solution`."""
    kind = numba.typeof(model)
    if kind not in _ADDRESSES:
        if isinstance(model, (IsotropicModel, UnknownModel)):
            _ADDRESSES[kind] = np.zeros(2, dtype=np.int64)
        else:
            row, matrix = np.zeros(1), np.zeros((1, 1))
            head = (model, matrix, matrix, row, row, 0, 0, 0, 0)
            tail = (np.zeros(SCRATCH), np.zeros(INT_SCRATCH, dtype=np.int64))
            found = [
                address_of(_far_cost, *head, 0.0, *tail),
                address_of(_far_solution, *head, matrix, *tail),
            ]
            _ADDRESSES[kind] = np.array(found, dtype=np.int64)
    return _ADDRESSES[kind]


_ADDRESSES: dict[Any, Any] = {}


def call_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which, calls) -> Any:
    """`pair_cost`, by its address where it is large, so that it is not compiled again with each of its callers. Kernels only.

    Isotropic arms, whose costs are a few operations, would lose more by the call than by all the rest.
    """
    raise TypeError("call_cost is called from kernels only")


def call_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which, calls) -> Any:
    """`pair_solution` in the same way. Kernels only."""
    raise TypeError("call_solution is called from kernels only")


def _near_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which, calls):
    return isotropic_cost(dist, inv, u, v, a, b)


def _near_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which, calls):
    isotropic_solution(theta, dist, inv, u, v, a, b, lam)


def _cost_by_address(model, theta, dist, w, inv, u, v, a, b, level, box, which, calls):
    return call_for_float(calls[0], (model, theta, dist, w, inv, u, v, a, b, level, box, which))


def _solution_by_address(model, theta, dist, w, inv, u, v, a, b, lam, box, which, calls):
    call_for_int(calls[1], (model, theta, dist, w, inv, u, v, a, b, lam, box, which))


@overload(call_cost, jit_options=FLAT_OPTIONS)
def _choose_call(model, theta, dist, w, inv, u, v, a, b, level, box, which, calls):
    if not isinstance(model, types.NamedTuple):
        return None
    return _near_cost if model.instance_class in (IsotropicModel, UnknownModel) else _cost_by_address


@overload(call_solution, jit_options=LEAN_OPTIONS)
def _choose_solution_call(model, theta, dist, w, inv, u, v, a, b, lam, box, which, calls):
    if not isinstance(model, types.NamedTuple):
        return None
    return _near_solution if model.instance_class in (IsotropicModel, UnknownModel) else _solution_by_address
