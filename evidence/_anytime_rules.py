"""Sampling rules that differ in the weights at which they look at psi, for the comparison under the anytime rule."""

import math

import numpy as np

import linkarms as la

#: Samples that the prior weighs in the weights of the evidence.
PRIOR = 5.0


def evidence_weights(n):
    return n * n / (n + PRIOR)


class _Tracking(la.sampling.SamplingRule):
    """Forced exploration as in the paper, then `aim`."""

    def choose(self, view):
        n = np.asarray(view.counts + view.pending, dtype=float)
        if n.min() < math.sqrt(n.sum() / len(n)):
            return int(n.argmin())
        return int(self.aim(view, n))


class ByCounts(_Tracking):
    """EBC-H: the largest KL at psi's alternative for the numbers of samples."""

    name = "ebc-h at N"

    def aim(self, view, n):
        kl = view.psi(n).kl
        return np.argmax(kl) if kl.max() > 0 else n.argmin()


class _Ascent(_Tracking):
    """EBC with its step, at weights given by `seen`: the gradient follows by the chain rule."""

    def __init__(self):
        self.w = self.sum = None

    def seen(self, n):
        return n, np.ones_like(n)

    def aim(self, view, n):
        if self.w is None:
            self.w = np.full(len(n), 1 / len(n))
            self.sum = np.zeros(len(n))
        t = n.sum()
        weights, slope = self.seen(t * self.w)
        moved = self.w + view.psi(weights / t).kl * slope / math.sqrt(t)
        ordered = np.sort(moved)[::-1]
        shift = (np.cumsum(ordered) - 1) / np.arange(1, len(n) + 1)
        self.w = np.maximum(moved - shift[np.flatnonzero(ordered > shift)[-1]], 0)
        self.sum += self.w
        return np.argmin(n / t - self.sum / self.sum.sum())


class AscentByCounts(_Ascent):
    """EBC as in the paper."""

    name = "ebc at w"


class AscentByEvidence(_Ascent):
    """EBC that climbs psi at the weights of the evidence."""

    name = "ebc at the evidence's"

    def seen(self, n):
        return evidence_weights(n), (n * n + 2 * n * PRIOR) / (n + PRIOR) ** 2


RULES = {
    "ebc-h": "ebc-h",
    ByCounts.name: ByCounts,
    AscentByCounts.name: AscentByCounts,
    AscentByEvidence.name: AscentByEvidence,
}
