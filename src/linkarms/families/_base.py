"""What a family is, and the base for a user's own."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms._validate import check_integer, check_number
from linkarms.errors import InvalidInput
from linkarms.families._callbacks import Callback, CallbackTable

__all__ = ["Family", "Row", "ScalarFamily"]

Array = NDArray[np.float64]


class Row:
    """One arm's line of a model: codes and known parameters of its coordinates, covariance, callbacks, whether the variance is unknown."""

    def __init__(
        self,
        codes: Sequence[int],
        pars: Sequence[float],
        covariance: Array | None = None,
        callbacks: Sequence[CallbackTable | None] = (),
        unknown: int = 0,
    ) -> None:
        self.codes = list(codes)
        self.pars = list(pars)
        self.covariance = covariance
        self.callbacks = list(callbacks) or [None] * len(self.codes)
        self.unknown = unknown


class Family(ABC):
    """A distribution of samples, known up to ``d`` parameters.

    Attributes
    ----------
    name : str
        How the family is called in dumps and messages.
    support : str
        In words, what a sample may be.
    domain : tuple of float
        The smallest and the largest value of a parameter.
    open_domain : bool
        The ends of the domain are no parameters themselves.
    """

    name: ClassVar[str]
    support: ClassVar[str] = "any finite number"
    domain: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    open_domain: ClassVar[bool] = False

    @property
    def n_features(self) -> int | None:
        """Numbers in a sample; None if the family does not fix it."""
        return None

    @property
    def n_arms(self) -> int | None:
        """Number of arms, where the family holds something different for each; else None."""
        return None

    @abstractmethod
    def row(self, n_features: int) -> Row:
        """The family as integer codes and numbers for the kernels."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, theta: Array, size: int) -> Array:
        """Draw ``size`` samples, shape (size, d), with parameter ``theta`` of shape (d,)."""

    def contains(self, values: Array) -> NDArray[np.bool_]:
        """Which of the samples ``values``, shape (n, d), lie in the support; shape (n,)."""
        return np.ones(len(values), dtype=bool)

    def statistics(self, values: Array) -> Array:
        """Sufficient statistics of samples (n, d) -> (n, d); their mean gives the estimate."""
        return values

    def for_arm(self, m: int) -> Family:
        """The family of arm ``m``: itself, unless it holds something different for each arm."""
        return self

    def check_parameter(self, theta: Array, where: str) -> None:
        """Raise `InvalidInput` unless ``theta``, shape (d,), is a parameter of the family."""
        low, high = self.domain
        bad = (theta <= low) | (theta >= high) if self.open_domain else (theta < low) | (theta > high)
        if np.any(bad):
            left, right = "()" if self.open_domain else "[]"
            raise InvalidInput(
                f"{where}={theta[bad][0]:g} is no parameter of the {self.name} family; give numbers in "
                f"{left}{low:g}, {high:g}{right}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain data from which `linkarms.families.from_dict` makes the family again."""
        return {"name": self.name}

    def kl(self, theta: ArrayLike, lam: ArrayLike) -> float:
        """``KL(theta, lam)`` of one sample."""
        from linkarms.families._resolve import one_arm
        from linkarms.families._vector import arm_kl

        model, (t, x), done = one_arm(self, theta, lam)
        value = float(arm_kl(model, 0, t, x))
        done()
        return value

    def information(self, theta: ArrayLike) -> float:
        """Largest eigenvalue of the Fisher information of one sample."""
        from linkarms.families._resolve import one_arm
        from linkarms.families._vector import arm_fisher

        model, (t,), done = one_arm(self, theta)
        value = float(arm_fisher(model, 0, t))
        done()
        return value

    def log_evidence(self, n: int, mean: ArrayLike, lam: ArrayLike, c: float = 5.0) -> float:
        """Log evidence of ``n`` samples with mean ``mean`` against the parameter ``lam``: a centred mixture of the weight of ``c`` samples.

        Its exponential is a martingale of mean one where ``lam`` is the truth; see ``families/_evidence.py``.
        """
        from linkarms.families._evidence import arm_log_evidence
        from linkarms.families._resolve import one_arm

        model, (mu, x), _ = one_arm(self, mean, lam)
        value = float(arm_log_evidence(model, 0, check_integer("n", n, 0), mu, x, check_number("c", c, 0.0)))
        if math.isnan(value):
            raise InvalidInput(
                f"the family {self.name!r} has no centred mixture; use a family that the package ships"
            )
        return value

    def mle(self, mean: ArrayLike) -> Array:
        """Maximum likelihood estimate from the mean of the sufficient statistics."""
        from linkarms.families._resolve import one_arm
        from linkarms.families._vector import arm_estimate

        model, (mu,), done = one_arm(self, mean)
        out = np.empty_like(mu)
        box = np.tile(np.array([-np.inf, np.inf]), (len(mu), 1))
        arm_estimate(model, 0, mu, box, out)
        done()
        return out

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
    static and take and return plain numbers; with ``compiled = True`` numba compiles them (they may then use only numbers
    and the ``math`` module), otherwise they run in the interpreter, which works and is slow.

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
    ...     compiled = True
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
        """One number a sample."""
        return 1

    @staticmethod
    def estimate(mean: float) -> float:
        """The mean itself."""
        return mean

    @staticmethod
    def slope_limit(theta: float) -> float:
        """No limit."""
        return math.inf

    @staticmethod
    def inflection(theta: float) -> float:
        """Convex everywhere."""
        return math.inf

    def row(self, n_features: int) -> Row:
        """The family as addresses of its functions; compiled once and kept with the object."""
        from linkarms.families._prior import HALF_LINE, LINE, UNIT
        from linkarms.families._scalar import USER

        low, high = self.domain
        place = LINE if low < 0.0 else UNIT if high <= 1.0 else HALF_LINE
        return Row([USER], [float(place)], callbacks=[self._callbacks()])

    def _callbacks(self) -> CallbackTable:
        kept: CallbackTable | None = self.__dict__.get("_compiled_callbacks")
        if kept is None:
            from linkarms.families._scalar import USER_FUNCTIONS

            kept = CallbackTable([self._callback(name) for name in USER_FUNCTIONS])
            self.__dict__["_compiled_callbacks"] = kept
        return kept

    def _callback(self, name: str) -> Callback:
        function = getattr(type(self), name, None)
        if function is None or (name == "kl" and function is Family.kl):
            raise InvalidInput(
                f"the family {type(self).__name__} has no function {name!r}; write it as a @staticmethod (see ScalarFamily)"
            )
        if name in ("kl", "step"):
            return Callback(function, self.compiled)
        return Callback(_with_unused_argument(function, self.compiled), self.compiled)

    def to_dict(self) -> dict[str, Any]:
        """Only the name: a user's own family has to be handed to ``load`` again."""
        return {"name": self.name, "custom": True}

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_compiled_callbacks"}


def _with_unused_argument(function: Any, compiled: bool) -> Any:
    """Give a function of one number the signature that all callbacks share."""
    if compiled:
        import numba

        inner = numba.njit(function)
    else:
        inner = function

    def wrapped(x: float, unused: float) -> float:
        return inner(x)  # type: ignore[no-any-return]

    wrapped.__qualname__ = getattr(function, "__qualname__", "callback")
    return wrapped
