"""The cheapest alternative that splits a cluster in a given way: a local solution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms.families import ArmFamilies, Categorical, Family, Product

__all__ = ["SplitProblem", "domain_box"]

Array = NDArray[np.float64]

#: Step of the differences, in standard deviations at the given weight.
_STEP = 1e-5


def domain_box(families: ArmFamilies) -> Array:
    """The least and the largest value of each parameter, shape (M, d, 2)."""
    box = np.empty((len(families.families), families.n_features, 2))
    for m, family in enumerate(families.families):
        parts: list[Family] = (
            list(family.families) if isinstance(family, Product) else [family] * families.n_features
        )
        box[m] = [part.domain for part in parts]
    return box


class SplitProblem:
    """``min sum_m w_m KL(theta_m, lambda_m)`` with ``|lambda_u - lambda_v| >= |lambda_a - lambda_b|`` for all ``u in S, v in T``.

    Sequential quadratic programming in the arms that take part, each scaled by its standard deviation. The result is near a local
    minimum and near the constraints; callers have to check both.
    """

    def __init__(
        self,
        theta: Array,
        families: ArmFamilies,
        weights: Array,
        s: tuple[int, ...],
        t: tuple[int, ...],
        a: int,
        b: int,
    ) -> None:
        self.theta, self.families, self.weights = theta, families, weights
        self.arms = sorted({*s, *t, a, b})
        place = {m: i for i, m in enumerate(self.arms)}
        self.u = np.array([place[m] for m in s for _ in t])
        self.v = np.array([place[m] for _ in s for m in t])
        self.a, self.b = place[a], place[b]
        self.shape = (len(self.arms), theta.shape[1])
        model = families.model
        spread = [math.sqrt(model.variance(m, theta[m]) / max(weights[m], 1e-12)) for m in self.arms]
        self.spread = np.clip(np.array(spread), 1e-12, 1e12)[:, None]
        self.sums = any(isinstance(families.families[m], Categorical) for m in self.arms)

    def solve(self, start: Array) -> Array | None:
        """All arms, shape (M, d), after a descent from the alternative ``start``; None where that failed."""
        from scipy.optimize import minimize

        cost = self._cost(start[self.arms])
        if not (0.0 < cost < math.inf):
            return None
        # one unit of z: a move of each arm that costs as much as the start
        self.unit = self.spread * math.sqrt(2.0 * cost)
        length = float(np.linalg.norm(start[self.arms[self.a]] - start[self.arms[self.b]])) or float(
            self.unit.max()
        )
        box = domain_box(self.families)[self.arms]
        margin = 1e-9 * np.minimum(np.abs(self.theta[self.arms]), 1.0)[:, :, None] * np.array([1.0, -1.0])
        bounds: Any = ((box + margin - self.theta[self.arms][:, :, None]) / self.unit[:, :, None]).reshape(
            -1, 2
        )
        constraints: list[Any] = [
            {
                "type": "ineq",
                "fun": lambda z: self._slack(z) / length**2,
                "jac": lambda z: self._slopes(z) / length**2,
            }
        ]
        if self.sums:  # probabilities go on adding up to one
            rows = np.kron(np.eye(self.shape[0]), np.ones(self.shape[1])) * np.repeat(
                self.unit[:, 0], self.shape[1]
            )
            constraints.append({"type": "eq", "fun": lambda z: rows @ z, "jac": lambda z: rows})
        begin = ((start - self.theta)[self.arms] / self.unit).ravel()
        search: Any = minimize
        settings: Any = {"ftol": 1e-9, "maxiter": 60}
        with np.errstate(all="ignore"):
            found = search(
                lambda z: self._value(z, cost),
                np.clip(begin, bounds[:, 0], bounds[:, 1]),
                jac=True,
                method="SLSQP",
                bounds=bounds,
                constraints=constraints,
                options=settings,
            )
        if not np.all(np.isfinite(found.x)):
            return None
        point = self.theta.copy()
        point[self.arms] = self._at(found.x)
        return point

    def _at(self, z: Array) -> Array:
        moved: Array = self.theta[self.arms] + self.unit * z.reshape(self.shape)
        return moved

    def _cost(self, rows: Array) -> float:
        model = self.families.model
        return sum(
            float(self.weights[m] * model.kl(m, self.theta[m], row))
            for m, row in zip(self.arms, rows, strict=True)
        )

    def _value(self, z: Array, cost: float) -> tuple[float, Array]:
        """Objective and gradient, over ``cost``; the divergences of arms are added, so a coordinate changes one of them."""
        model, rows = self.families.model, self._at(z)
        total, slope = 0.0, np.empty(self.shape)
        for i, m in enumerate(self.arms):
            here = model.kl(m, self.theta[m], rows[i])
            total += float(self.weights[m]) * here
            for j in range(self.shape[1]):
                ends = []
                for step in (_STEP, -_STEP):
                    moved = rows[i].copy()
                    moved[j] += step * self.unit[i, 0]
                    ends.append((step, model.kl(m, self.theta[m], moved)))
                ends = [(step, value) for step, value in ends if math.isfinite(value)]
                if len(ends) == 2:
                    slope[i, j] = (ends[0][1] - ends[1][1]) / (2.0 * _STEP)
                else:
                    slope[i, j] = (ends[0][1] - here) / ends[0][0] if ends else 0.0
            slope[i] *= self.weights[m]
        return total / cost, slope.ravel() / cost

    def _slack(self, z: Array) -> Array:
        rows = self._at(z)
        intra = np.sum((rows[self.u] - rows[self.v]) ** 2, axis=1)
        return np.asarray(intra - np.sum((rows[self.a] - rows[self.b]) ** 2))

    def _slopes(self, z: Array) -> Array:
        rows = self._at(z)
        n = np.arange(len(self.u))
        jacobian = np.zeros((len(n), *self.shape))
        intra, inter = rows[self.u] - rows[self.v], rows[self.a] - rows[self.b]
        jacobian[n, self.u] += intra
        jacobian[n, self.v] -= intra
        jacobian[:, self.a] -= inter
        jacobian[:, self.b] += inter
        return np.asarray(2.0 * (jacobian * self.unit).reshape(len(n), -1))
