"""Is a run heading for a tie? The gap that decides, with an interval, and the samples that such a gap takes."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np

from linkarms.engine import Engine
from linkarms.result import Tie, Witness
from linkarms.stopping import Anytime

__all__ = ["nearest_tie", "tie_in_words"]

#: A run is heading for a tie if it would need so many times the samples that it has, and each arm concerned has at least so many.
_FAR, _ENOUGH = 10.0, 100
#: Half the width of the interval, in standard errors.
_WIDTH = 2.0


def nearest_tie(engine: Engine, arms: tuple[Hashable, ...]) -> Tie | None:
    """Return the gap that keeps a run from stopping; None where there is no such pair of pairs, no rule of the core, or a tolerance.

    ``gap = |theta_a - theta_b| - |theta_u - theta_v|`` of the estimates at psi's witness. To close it costs ``psi = gap^2 / (2 V)`` with
    ``V`` the variance of the gap (exactly so for four Gaussian arms, nearly for others), hence the standard error ``gap / sqrt(2 psi)``. At
    this gap and these shares of the samples psi grows like their number ``t``, and the prices of the arms like their logarithm: the
    samples at the stop solve ``psi s - price - (m d / 2) log s = threshold`` for ``s = t' / t``, with ``m`` arms concerned.
    """
    core = engine.core
    pairs = core.nearest_witness
    fixed = engine.goal.distance_threshold is None and engine.goal.tolerance == 0.0
    if pairs is None or not fixed or not engine.compiled or not engine.ready or engine.trivial:
        return None
    u, v, a, b = pairs
    theta = core.estimates
    gap = float(np.linalg.norm(theta[a] - theta[b]) - np.linalg.norm(theta[u] - theta[v]))
    psi, total = _psi_of_samples(engine, (u, v, a, b)), float(core.counts.sum())
    witness = Witness((arms[u], arms[v]), (arms[a], arms[b]))
    if not math.isfinite(psi) or gap <= 0.0 or psi <= 0.0:
        return Tie(witness, max(gap, 0.0), 0.0, math.inf, math.inf)
    error = gap / math.sqrt(2.0 * psi)
    low, high = max(gap - _WIDTH * error, 0.0), gap + _WIDTH * error
    price, level = max(psi - engine.evidence(), 0.0), engine.threshold()
    growth = 0.5 * len({u, v, a, b}) * theta.shape[1]
    stretch = 1.0
    for _ in range(50):
        stretch = max((level + price + growth * math.log(stretch)) / psi, 1.0)
    return Tie(witness, gap, low, high, stretch * total)


def _psi_of_samples(engine: Engine, pairs: tuple[int, int, int, int]) -> float:
    """Return psi at the numbers of samples N: the core's is at ``N^2 / (N + c)``, and costs are as one over the variance of the gap."""
    core, rule = engine.core, engine.stopping
    c = float(rule.grid(engine.families)[core.told().scale]) if isinstance(rule, Anytime) else 0.0
    u, v, a, b = pairs
    shared = {u, v} & {a, b}
    spread = spread_of_samples = 0.0
    for m in {u, v, a, b}:
        part = (4.0 if m in shared else 1.0) / max(float(core.weights[m]), 1e-300)
        n = float(core.counts[m])
        spread += part
        spread_of_samples += part * n / (n + c)
    return float(core.psi) * spread / spread_of_samples


def tie_in_words(engine: Engine, tie: Tie, ended: bool) -> str | None:
    """Describe the gap that decides, if the run is heading for a tie or has ended without a stop; otherwise return None."""
    arms = set(engine.core.nearest_witness or ())
    enough = min((int(engine.core.counts[m]) for m in arms), default=0) >= _ENOUGH
    heading = enough and tie.samples >= _FAR * float(engine.core.counts.sum())
    return f"{'heading for a tie: ' if heading else ''}{tie}" if heading or ended else None
