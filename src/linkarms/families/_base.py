"""What a family is, and the base for a user's own."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms import _core
from linkarms._validate import LARGEST, check_count, check_number
from linkarms.errors import InvalidInput
from linkarms.families._callbacks import native_function

__all__ = ["Family", "ScalarFamily"]

Array = NDArray[np.float64]
#: How far the mean of many samples may be outside the range of the samples, relative to that range.
ROUNDING = 1e-9


class Family(ABC):
    """A distribution of samples, known up to ``d`` parameters.

    Attributes
    ----------
    name : str
        The name of the family in dumps and messages.
    support : str
        In words, what a sample may be.
    domain : tuple of float
        The smallest and the largest value of a parameter.
    open_domain : bool
        The ends of the domain are not parameters themselves.
    limit : float
        The largest absolute value of a sample: up to here nothing that is computed from samples overflows.

    Examples
    --------
    >>> import linkarms as la
    >>> family = la.families.parse("poisson")
    >>> isinstance(family, la.families.Family), family.name, family.support
    (True, 'poisson', 'a whole number >= 0')
    """

    name: ClassVar[str]
    support: str = "any finite number"
    domain: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    open_domain: ClassVar[bool] = False
    limit: ClassVar[float] = LARGEST

    @property
    def n_features(self) -> int | None:
        """Numbers in a sample; None if the family does not fix it."""
        return None

    @property
    def n_arms(self) -> int | None:
        """Number of arms, where the family holds something different for each; else None."""
        return None

    def native(self, n_features: int) -> _core.Arm:
        """Return the family of one arm as the native core takes it; by default one coordinate."""
        return _core.Arm.coordinates([self.scalar()])

    def scalar(self) -> _core.Scalar:
        """Return the family of a single coordinate as the native core takes it."""
        raise InvalidInput(
            f"the {self.name} family has several numbers per sample; give a one-dimensional family"
        )

    @property
    def variances(self) -> Literal["known", "separate", "shared", "coordinate", "full"]:
        """What is known of the variances of Gaussian arms."""
        return "known"

    @abstractmethod
    def draw(self, rng: np.random.Generator, theta: Array, size: int) -> Array:
        """Draw ``size`` samples, shape (size, d), with parameter ``theta`` of shape (d,)."""

    def contains(self, values: Array) -> NDArray[np.bool_]:
        """Return which of the samples ``values``, shape (n, d), lie in the support; shape (n,)."""
        return np.ones(len(values), dtype=bool)

    def can_average(self, means: Array) -> NDArray[np.bool_]:
        """Return which rows of ``means``, shape (n, d), can be means of `statistics`, up to rounding; shape (n,). Dumps are checked by it.

        By default these are the samples themselves.
        """
        return np.asarray((np.abs(means) <= self.limit).all(axis=1) & self.contains(means))

    def statistics(self, values: Array) -> Array:
        """Return the sufficient statistics of samples, (n, d) -> (n, d); their mean gives the estimate."""
        return values

    def for_arm(self, m: int) -> Family:
        """Return the family of arm ``m``: itself, unless it holds something different for each arm."""
        return self

    def check_parameter(self, theta: Array, where: str) -> None:
        """Raise `InvalidInput` unless ``theta``, shape (d,), is a parameter of the family."""
        low, high = self.domain
        bad = (theta <= low) | (theta >= high) if self.open_domain else (theta < low) | (theta > high)
        if np.any(bad):
            left, right = "()" if self.open_domain else "[]"
            raise InvalidInput(
                f"{where}={theta[bad][0]:g} is not a parameter of the {self.name} family; give numbers in "
                f"{left}{low:g}, {high:g}{right}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data from which `linkarms.families.from_dict` makes the family again."""
        return {"name": self.name}

    def _one_arm(self, *vectors: ArrayLike) -> tuple[_core.Model, list[Array]]:
        """Return a model of one arm, and the arguments as vectors."""
        from linkarms.families._resolve import resolve

        arrays = [np.atleast_1d(np.array(v, dtype=np.float64)) for v in vectors]
        return resolve(self, 1, len(arrays[0])).model, arrays

    def kl(self, theta: ArrayLike, lam: ArrayLike) -> float:
        """Return ``KL(theta, lam)`` of one sample."""
        model, (t, x) = self._one_arm(theta, lam)
        return model.kl(0, t, x)

    def information(self, theta: ArrayLike) -> float:
        """Return the largest eigenvalue of the Fisher information of one sample."""
        model, (t,) = self._one_arm(theta)
        return model.fisher(0, t)

    def log_evidence(self, n: int, mean: ArrayLike, lam: ArrayLike, c: float = 5.0) -> float:
        """Return the log evidence of ``n`` samples with mean ``mean`` against ``lam``: a centred mixture that weighs ``c`` samples.

        Its exponential is a martingale of mean one where ``lam`` is the truth; see docs/anytime.md.
        """
        model, (mu, x) = self._one_arm(mean, lam)
        value = model.log_evidence(0, check_count("n", n, 0), mu, x, check_number("c", c, 0.0))
        if math.isnan(value):
            raise InvalidInput(
                f"the family {self.name!r} has no centred mixture; use a family that the package ships"
            )
        return value

    def mle(self, mean: ArrayLike) -> Array:
        """Return the maximum likelihood estimate from the mean of the sufficient statistics."""
        model, (mu,) = self._one_arm(mean)
        return model.estimate(0, mu)

    def __repr__(self) -> str:
        spec = ", ".join(f"{k}={v!r}" for k, v in self.to_dict().items() if k != "name")
        return f"{type(self).__name__}({spec})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((type(self), str(self.to_dict())))


class ScalarFamily(Family):
    """Base for a one-parameter family that the package does not ship.

    Subclass it, give `name`, `domain` and `support`, and write five functions. `kl`, `step`, `fisher` and `estimate` are
    static and take and return plain numbers. As Python functions they run in the interpreter, which works and is slow. For
    speed give compiled ones: a ``scipy.LowLevelCallable``, a ctypes function or a numba ``cfunc`` of doubles. With
    ``compiled = True`` a Python function among them is refused.

    ``kl(theta, lam)``
        The divergence of one sample; infinite outside the domain.
    ``step(theta, slope)``
        The ``lam`` that minimises ``kl(theta, lam) - slope * lam``: solve ``d kl / d lam = slope``. It must increase
        with ``slope``, and be ``theta`` at 0.
    ``fisher(theta)``
        The Fisher information of one sample.
    ``estimate(mean)``
        The maximum likelihood estimate from the mean of the samples (or of `statistics`). Default: the mean.
    ``draw(rng, theta, size)``
        For simulations: ``size`` samples, shape (size, 1).

    Two more where they differ from the default: ``slope_limit(theta)``, the slope from which `step` has no finite answer
    (default: infinite), and ``inflection(theta)``, the point beyond which ``kl(theta, .)`` is no longer convex (default:
    infinite; `step` must then stay below it). `linkarms.families.check_family` tests all of this against each other.

    Examples
    --------
    Failures before the first success, by the probability of success:

    >>> import math
    >>> import linkarms as la
    >>> class Geometric(la.families.ScalarFamily):
    ...     name, domain, open_domain, support = "geometric", (0.0, 1.0), True, "0, 1, 2, ..."
    ...
    ...     @staticmethod
    ...     def kl(p, q):
    ...         if q <= 0.0 or q >= 1.0:
    ...             return math.inf
    ...         return math.log(p / q) + (1 - p) / p * math.log((1 - p) / (1 - q))
    ...
    ...     @staticmethod
    ...     def step(p, slope):
    ...         b = 1 / p - slope
    ...         return 2 / (b + math.sqrt(b * b + 4 * slope))
    ...
    ...     @staticmethod
    ...     def fisher(p):
    ...         return 1 / (p * p * (1 - p))
    ...
    ...     @staticmethod
    ...     def estimate(mean):
    ...         return 1 / (1 + max(mean, 1e-9))
    ...
    ...     def contains(self, values):
    ...         return ((values >= 0) & (values == values.round())).all(axis=1)
    ...
    ...     def draw(self, rng, theta, size):
    ...         return rng.geometric(theta[0], (size, 1)) - 1.0
    >>> la.families.check_family(Geometric(), [0.1, 0.4, 0.9])
    >>> la.psi([1, 1, 1], [0.2, 0.25, 0.8], n_clusters=2, family=Geometric()).exact
    True
    """

    compiled: ClassVar[bool] = False

    @property
    def n_features(self) -> int:
        """One number per sample."""
        return 1

    @staticmethod
    def estimate(mean: float) -> float:
        """Return the mean itself."""
        return mean

    @staticmethod
    def slope_limit(theta: float) -> float:
        """Return infinity: there is no limit."""
        return math.inf

    @staticmethod
    def inflection(theta: float) -> float:
        """Return infinity: the divergence is convex everywhere."""
        return math.inf

    def scalar(self) -> _core.Scalar:
        """Return the family's functions as the native core calls them; made once and kept with the object."""
        kept: _core.Scalar | None = self.__dict__.get("_functions")
        if kept is None:
            low, high = self.domain
            place: Literal["line", "half-line", "unit"]
            place = "line" if low < 0.0 else "unit" if high <= 1.0 else "half-line"
            kept = _core.user_family(
                kl=self._function("kl", 2),
                step=self._function("step", 2),
                fisher=self._function("fisher", 1),
                estimate=self._function("estimate", 1),
                slope_limit=self._function("slope_limit", 1),
                inflection=self._function("inflection", 1),
                domain=place,
                owner=type(self),
                name=type(self).__name__,
                low=low,
                high=high,
                open_ends=self.open_domain,
            )
            self.__dict__["_functions"] = kept
        return kept

    def can_average(self, means: Array) -> NDArray[np.bool_]:
        """Return true for all: only the family's own functions know."""
        return np.ones(len(means), dtype=bool)

    def _function(self, name: str, n_arguments: int) -> Any:
        function = inspect.getattr_static(type(self), name, None)
        if isinstance(function, staticmethod):
            function = function.__func__
        if function is None or (name == "kl" and function is Family.kl):
            raise InvalidInput(
                f"the family {type(self).__name__} has no function {name!r}; write it as a @staticmethod (see ScalarFamily)"
            )
        # the defaults of this class are Python functions, too simple to need compiling
        own = function is not getattr(ScalarFamily, name, None) and name in (
            "kl",
            "step",
            "fisher",
            "estimate",
        )
        what = f"{type(self).__name__}.{name}"
        return native_function(function, what, n_arguments, self.compiled and own)

    def to_dict(self) -> dict[str, Any]:
        """Return the name alone: a user's own family has to be passed to ``load`` again."""
        return {"name": self.name, "custom": True}

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_functions"}
