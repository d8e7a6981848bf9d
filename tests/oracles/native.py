"""The native engine with the surface of `linkarms.engine.Engine`, so that the same tests and recordings drive both."""

import math

import numpy as np
from linkarms.families._model import CATEGORICAL, COVARIANCE

from linkarms import _core
from linkarms.families import ArmFamilies
from linkarms.families import _scalar as codes
from linkarms.families._unknown import SHARED
from linkarms.stopping import Anytime, Paper

SCALARS = {
    codes.GAUSSIAN: _core.gaussian,
    codes.GAMMA_RATE: _core.gamma_rate,
    codes.GAMMA_MEAN: _core.gamma_mean,
    codes.BERNOULLI: lambda par: _core.bernoulli(),
    codes.POISSON: lambda par: _core.poisson(),
}
DOMAINS = {(-math.inf, math.inf): "line", (0.0, math.inf): "half-line", (0.0, 1.0): "unit"}


def native_model(families: ArmFamilies) -> _core.Model:
    """The model of the arms' families."""
    model, d, arms = families.model, families.n_features, []
    for m, family in enumerate(families.families):
        if model.codes[m, 0] == COVARIANCE:
            arms.append(_core.Arm.covariance(np.ascontiguousarray(model.covariance[m])))
        elif model.codes[m, 0] == CATEGORICAL:
            arms.append(_core.Arm.categories(d))
        elif model.codes[m, 0] == codes.USER:
            functions = {name: getattr(family, name) for name in codes.USER_FUNCTIONS}
            domain = DOMAINS[tuple(float(x) for x in family.domain)]
            arms.append(_core.Arm.coordinates([_core.user_family(**functions, domain=domain)]))
        else:
            pairs = zip(model.codes[m], model.pars[m], strict=True)
            arms.append(_core.Arm.coordinates([SCALARS[int(c)](float(p)) for c, p in pairs]))
    variances = "known"
    if families.unknown_variance:
        variances = "shared" if model.address[0, 0] == SHARED else "separate"
    return _core.Model(arms, d, variances)


def native_rules(families, sampling, stopping, delta):
    """The rules of the core; None for those that are asked in Python."""
    level = -math.log(delta)
    chooses = {
        "ebc": lambda: _core.Ebc(sampling.step),
        "ebc-h": _core.EbcH,
        "round-robin": _core.RoundRobin,
        "fixed": _core.RoundRobin,
        "lucbboc": lambda: _core.Lucbboc(level=level),
        "atboc": lambda: _core.Atboc(sampling.gap),
    }.get(sampling.name, lambda: None)()
    if isinstance(stopping, Anytime):
        stops = _core.AnytimeStop(
            grid=stopping.grid(families).tolist(),
            base=stopping.base(families),
            discount=stopping.discount,
        )
    elif isinstance(stopping, Paper) and not stopping.exact:
        stops = _core.PaperStop(epsilon=stopping.epsilon, log_volume=stopping.log_volume(families))
    else:
        stops = _core.BocStop() if stopping.name == "boc" else None
    return chooses, stops


class NativeEngine:
    """One run of the native core; rules of the package only."""

    def __init__(self, families, n_clusters, sampling, stopping, delta, rng):
        self.families, self.stopping, self.delta = families, stopping, delta
        chooses, stops = native_rules(families, sampling, stopping, delta)
        self.core = _core.Engine(
            native_model(families),
            n_clusters,
            sampling=chooses,
            stopping=stops,
            box=stopping.box(families.n_features),
            weights=sampling.initial_weights(len(families.families), rng).tolist(),
        )

    def __getattr__(self, name):
        return getattr(self.core, name)

    def check(self, delta=None):
        return self.core.check(self.stopping.level(self.delta if delta is None else delta))

    def threshold(self, delta=None):
        if not self.core.ready:
            return math.inf
        return self.core.threshold_base + self.stopping.level(self.delta if delta is None else delta)

    def refreshed(self, other):
        """This engine, told what the other was: it remembers nothing else."""
        self.core.set_told(other.core.told())
        return self
