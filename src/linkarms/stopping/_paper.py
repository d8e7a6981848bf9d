"""The paper's stopping rule."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms import _core
from linkarms._validate import check_number
from linkarms.alternatives._exact import solve_psi_exact
from linkarms.errors import InvalidInput
from linkarms.families import ArmFamilies, Categorical, Family, Product
from linkarms.sampling import View
from linkarms.stopping._base import StoppingRule

__all__ = ["Paper"]


class Paper(StoppingRule):
    """Stop when ``Z(t) >= beta(delta, t)``, the threshold of *Efficient Clustering in Stochastic Bandits*.

    Parameters
    ----------
    theta : tuple of float, or array of shape (d, 2)
        The compact parameter space: one interval for all coordinates, or one per coordinate. It must contain the true parameters;
        estimates are clipped to it. Its volume enters the threshold.
    epsilon : float, default 0.01
        Half the side of the cube around the estimate that the proof integrates over. Small: a larger constant. Large: a larger
        slope, and where ``psi* <= eta(epsilon)`` the rule never stops (`Result.reason` then says so).
    exact : bool, default False
        Take the exact psi (docs/exact.md) in place of the bottleneck, each time that the samples have grown by a hundredth: it stops sooner
        where clusters have three arms or more. It takes milliseconds, and the rule then runs in Python.

    Examples
    --------
    >>> import linkarms as la
    >>> la.stopping.Paper(theta=(-5, 5), epsilon=0.01)
    Paper(theta=(-5.0, 5.0), epsilon=0.01)
    """

    name = "paper"

    def __init__(self, theta: ArrayLike, epsilon: float = 0.01, exact: bool = False) -> None:
        try:
            self._theta = np.array(theta, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"theta={theta!r} is not an interval ({error}); give (low, high), or one per feature"
            ) from error
        if (
            self._theta.ndim not in (1, 2)
            or self._theta.shape[-1] != 2
            or not np.all(np.isfinite(self._theta))
        ):
            raise InvalidInput(f"theta={theta!r} is not an interval; give (low, high), or one per feature")
        if not np.all(self._theta[..., 0] < self._theta[..., 1]):
            raise InvalidInput(f"theta={theta!r} is empty; give low < high")
        self.epsilon = check_number("epsilon", epsilon, 0.0)
        if not isinstance(exact, bool):
            raise InvalidInput(f"exact={exact!r} is neither True nor False; give one of them")
        self.exact = exact

    def box(self, n_features: int) -> NDArray[np.float64]:
        """Return Theta, shape (d, 2)."""
        if self._theta.ndim == 1:
            return np.tile(self._theta, (n_features, 1))
        if len(self._theta) != n_features:
            raise InvalidInput(
                f"theta has {len(self._theta)} intervals for {n_features} features; give one per feature"
            )
        return self._theta.copy()

    def native(self, families: ArmFamilies) -> _core.StoppingRule | None:
        """Return the rule with epsilon and the volume of Theta; with `exact` it is asked in Python."""
        return (
            None
            if self.exact
            else _core.PaperStop(epsilon=self.epsilon, log_volume=self.log_volume(families))
        )

    def log_volume(self, families: ArmFamilies) -> float:
        """Return ``log |Theta|``, of the free parameters."""
        sides = self.box(families.n_features)
        if isinstance(families.families[0], Categorical):
            sides = sides[:-1]
        return float(np.log(sides[:, 1] - sides[:, 0]).sum())

    def check(self, families: ArmFamilies) -> None:
        """Check that Theta, and epsilon around it, lie inside every family's domain."""
        box = self.box(families.n_features)
        for m, family in enumerate(families.families):
            for i in range(families.n_features):
                _check_interval(family, m, i, float(box[i, 0]), float(box[i, 1]), self.epsilon)
            if isinstance(family, Categorical) and not box[:, 0].sum() <= 1.0 <= box[:, 1].sum():
                raise InvalidInput(
                    "theta contains no probabilities that add up to one; give a wider one, for example (0.02, 0.96)"
                )

    def statistic(self, view: View) -> float:
        """Return ``Z(t)`` by the bottleneck; with `exact`, by the exact psi at every hundredth more samples. Both are never too large."""
        if not self.exact or int(100.0 * math.log(view.t)) == int(100.0 * math.log(view.t - 1)):
            return view.psi().value
        counts = np.array(view.counts, dtype=np.float64)
        return solve_psi_exact(counts, np.array(view.estimates), view.goal, view.families).value

    def threshold(self, view: View, delta: float) -> float:
        """Return ``beta(delta, t)``."""
        model, volume = view.families.model, self.log_volume(view.families)
        parts = [
            _core.paper_penalty(model, m, np.array(view.estimates[m]), int(n), self.epsilon, volume)
            for m, n in enumerate(view.counts)
        ]
        return math.fsum(parts) - math.log(delta)

    def eta(self, view: View, epsilon: float) -> float:
        """Return ``eta(epsilon)`` at the estimates, weighted by the pulls: what the threshold grows by with each sample."""
        model = view.families.model
        shifts = [model.shift_kl(m, np.array(view.estimates[m]), epsilon) for m in range(view.n_arms)]
        return float(np.dot(view.counts, shifts)) / view.t

    def diagnose(self, view: View) -> str | None:
        """Name an epsilon that works where ``psi <= eta(epsilon)`` at the estimates."""
        psi = view.psi().value / view.t
        eta = self.eta(view, self.epsilon)
        if psi <= 0.0 or psi > eta:
            return None
        power = math.floor(math.log10(self.epsilon))
        candidates = [c * 10.0**p for p in range(power, power - 12, -1) for c in (5.0, 2.0, 1.0)]
        works = next((e for e in candidates if e < self.epsilon and self.eta(view, e) <= psi / 10.0), None)
        advice = "" if works is None else f"; epsilon={works:g} would work"
        return (
            f"at these estimates psi={psi:.3g} does not exceed eta(epsilon={self.epsilon:g})={eta:.3g}, so the paper's rule can "
            f"never stop{advice}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return name, Theta and epsilon."""
        spec = {"name": self.name, "theta": self._theta.tolist(), "epsilon": self.epsilon}
        return {**spec, "exact": True} if self.exact else spec

    def __repr__(self) -> str:
        theta = self._theta.tolist()
        exact = ", exact=True" if self.exact else ""
        return f"Paper(theta={tuple(theta) if self._theta.ndim == 1 else theta}, epsilon={self.epsilon:g}{exact})"


def _check_interval(family: Family, m: int, i: int, low: float, high: float, epsilon: float) -> None:
    if isinstance(family, Product):
        family = family.families[i]
    least, most = family.domain
    if least < low - epsilon and high + epsilon < most:
        return
    if not (least < low and high < most):
        raise InvalidInput(
            f"theta=({low:g}, {high:g}) reaches the ends of the {family.name} family's domain ({least:g}, {most:g}) (arm {m}); "
            "give an interval strictly inside"
        )
    margin = min(low - least, most - high)
    raise InvalidInput(
        f"epsilon={epsilon:g} leaves the domain ({least:g}, {most:g}) of the {family.name} family from theta=({low:g}, {high:g}) "
        f"(arm {m}); give epsilon below {margin:g}"
    )
