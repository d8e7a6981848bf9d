"""Is a run heading for a tie? The gap that decides, with an interval, and the samples that such a gap takes."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np

from linkarms._witness import Tie, name_witness
from linkarms.engine import Engine
from linkarms.stopping import Anytime

__all__ = ["nearest_tie", "tie_in_words"]

#: A run is heading for a tie if it would need so many times the samples that it has, and each arm concerned has at least so many.
_FAR, _ENOUGH = 10.0, 100
#: Half the width of the interval, in standard errors.
_WIDTH = 2.0


def nearest_tie(engine: Engine, arms: tuple[Hashable, ...]) -> Tie | None:
    """Return the gap that keeps a run from stopping; None where there is no witness, no rule of the core, or a tolerance.

    ``gap = |theta_a - theta_b| - |theta_u - theta_v|`` of the estimates at psi's witness; under a distance threshold, which stands for the
    pair that is missing, ``|theta_a - theta_b| - r`` or ``r - |theta_u - theta_v|``. To close it costs ``psi = gap^2 / (2 V)`` with ``V``
    the variance of the gap (exactly so for two or four Gaussian arms, nearly for others), hence the error ``gap / sqrt(2 psi)``. At
    this gap and these shares of the samples psi grows like their number ``t``, and the prices of the arms like their logarithm: the
    samples at the stop solve ``psi s - price - (m d / 2) log s = threshold`` for ``s = t' / t``, with ``m`` arms concerned.
    """
    core, r = engine.core, engine.goal.distance_threshold
    if core.nearest_witness is None or engine.goal.tolerance > 0.0:
        return None
    if not engine.compiled or not engine.ready or engine.trivial:
        return None
    u, v, a, b = core.nearest_witness
    theta = core.estimates

    def distance(m: int, n: int) -> float:
        return float(np.linalg.norm(theta[m] - theta[n])) if m >= 0 or r is None else r

    gap = distance(a, b) - distance(u, v)
    psi, total = _psi_of_samples(engine), float(core.counts.sum())
    witness = name_witness((u, v, a, b), arms)
    if not math.isfinite(psi) or gap <= 0.0 or psi <= 0.0:
        return Tie(witness, max(gap, 0.0), 0.0, math.inf, math.inf, r)
    error = gap / math.sqrt(2.0 * psi)
    low, high = max(gap - _WIDTH * error, 0.0), gap + _WIDTH * error
    price, level = max(psi - engine.evidence(), 0.0), engine.threshold()
    growth = 0.5 * len(_concerned(engine)) * theta.shape[1]
    stretch = 1.0
    for _ in range(50):
        stretch = max((level + price + growth * math.log(stretch)) / psi, 1.0)
    return Tie(witness, gap, low, high, stretch * total, r)


def _concerned(engine: Engine) -> set[int]:
    """Return the arms of psi's witness."""
    return {m for m in engine.core.nearest_witness or () if m >= 0}


def _psi_of_samples(engine: Engine) -> float:
    """Return psi at the numbers of samples N: the core's is at ``N^2 / (N + c)``, and costs are as one over the variance of the gap."""
    core, rule = engine.core, engine.stopping
    c = float(rule.grid(engine.families)[core.told().scale]) if isinstance(rule, Anytime) else 0.0
    u, v, a, b = core.nearest_witness or (-1, -1, -1, -1)
    shared = {u, v} & {a, b}
    spread = spread_of_samples = 0.0
    for m in _concerned(engine):
        part = (4.0 if m in shared else 1.0) / max(float(core.weights[m]), 1e-300)
        n = float(core.counts[m])
        spread += part
        spread_of_samples += part * n / (n + c)
    return float(core.psi) * spread / spread_of_samples


def tie_in_words(engine: Engine, tie: Tie, ended: bool) -> str | None:
    """Describe the gap that decides, if the run is heading for a tie or has ended without a stop; otherwise return None."""
    enough = min((int(engine.core.counts[m]) for m in _concerned(engine)), default=0) >= _ENOUGH
    heading = enough and tie.samples >= _FAR * float(engine.core.counts.sum())
    return f"{'heading for a tie: ' if heading else ''}{tie}" if heading or ended else None
