"""LMA: lazy mirror ascent, one step of multiplicative weights per sample."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from linkarms import _core
from linkarms._validate import check_number
from linkarms.sampling._base import SamplingRule, View

__all__ = ["LMA"]


class LMA(SamplingRule):
    """Lazy mirror ascent (Menard 2019): EBC's idea with multiplicative weights.

    After every sample ``w_m <- w_m exp(eta g_m)``, renormalised, with ``g`` the gradient of psi at ``w``, ``eta = step sqrt(log(M) / t)``.
    The average of the weights, each mixed with ``1 / (4 sqrt(t))`` of equal weights, is tracked: ``argmin_m N_m - sum_s w_m(s)``. EBC-H
    takes the same gradient at the samples themselves, which is a plain Frank-Wolfe step on a function that is not smooth, and need not
    reach the optimum; the average of these weights does.

    Recalled, not printed in *Efficient Clustering in Stochastic Bandits*. It has no stop of its own, and takes any family.

    Parameters
    ----------
    step : float, default 1.0
        The constant in the step size.

    Examples
    --------
    >>> import linkarms as la
    >>> stop = la.stopping.Paper(theta=(-5, 5), epsilon=0.05)
    >>> la.cluster(la.problems.synthetic1(), sampling="lma", stopping=stop, seed=1).labels.tolist()
    [0, 0, 1, 1, 2, 2]
    """

    name = "lma"
    takes_costs = False
    baseline = True

    def __init__(self, step: float = 1.0) -> None:
        self._step = check_number("step", step, 0.0)
        self._t = 0
        self._logs = self._sum = np.zeros(0)

    @property
    def step(self) -> float:
        """The constant in the step size."""
        return self._step

    def choose(self, view: View) -> int:
        """Return the arm that is furthest behind the sum of the weights so far."""
        if view.t > self._t:
            self._track(view)
        return int(np.argmin(view.counts + view.pending - self._sum))

    def _track(self, view: View) -> None:
        n = view.n_arms
        if self._t == 0:
            self._logs, self._sum = np.zeros(n), np.full(n, (view.t - 1) / n)
            self._t = view.t - 1
        eta = self._step * math.sqrt(math.log(n) / view.t)
        self._ascend(view, eta)
        w = np.exp(self._logs)
        even = 1.0 / (4.0 * math.sqrt(view.t))
        self._sum += (view.t - self._t) * ((1.0 - even) * w / w.sum() + even / n)
        self._t = view.t

    def _ascend(self, view: View, eta: float) -> None:
        """Take one step: ``log w <- log w + eta g``, ``g`` the gradient of psi at ``w``; the largest of the logs is set to zero."""
        w = np.exp(self._logs)
        w /= w.sum()
        kl = _core.psi(
            view.families.model, w, np.array(view.estimates), np.array(view.labels), view.goal.task()
        ).kl
        self._logs += eta * np.where(np.isfinite(kl), kl, 0.0)
        self._logs = np.maximum(self._logs - self._logs.max(), -600.0)  # exp of it is still a number

    def fresh(self) -> LMA:
        """Return a copy."""
        return copy.deepcopy(self)

    def memory(self) -> dict[str, Any] | None:
        """Return the weights and their sum."""
        if self._t == 0:
            return None
        return {"t": self._t, "logs": self._logs.tolist(), "sum": self._sum.tolist()}

    def remember(self, memory: dict[str, Any]) -> None:
        """Continue with them."""
        self._t = int(memory["t"])
        self._logs, self._sum = np.array(memory["logs"], float), np.array(memory["sum"], float)

    def to_dict(self) -> dict[str, Any]:
        """Return name and step."""
        return {"name": self.name, "step": self._step}
