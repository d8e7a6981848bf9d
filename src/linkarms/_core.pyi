"""Types of the native core; what each part computes is documented beside it in ``cpp/``."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

_Array: TypeAlias = NDArray[np.float64]
_Ints: TypeAlias = NDArray[np.int64]
#: A Python callable, or the address of a C function of doubles.
_OfOne: TypeAlias = Callable[[float], float] | int
_OfTwo: TypeAlias = Callable[[float, float], float] | int

#: What only tests call.
testing: ModuleType

# families

class Scalar:
    """The distribution of one number, known up to one parameter."""

def gaussian(variance: float) -> Scalar: ...
def gamma_rate(shape: float) -> Scalar: ...
def gamma_mean(shape: float) -> Scalar: ...
def bernoulli() -> Scalar: ...
def poisson() -> Scalar: ...
def user_family(
    *,
    kl: _OfTwo,
    step: _OfTwo,
    fisher: _OfOne,
    estimate: _OfOne | None = None,
    slope_limit: _OfOne | None = None,
    inflection: _OfOne | None = None,
    domain: Literal["line", "half-line", "unit"] = "line",
    owner: object = None,
) -> Scalar: ...

class Arm:
    """The distribution of one arm's samples."""

    @staticmethod
    def coordinates(families: Sequence[Scalar]) -> Arm: ...
    @staticmethod
    def covariance(matrix: _Array) -> Arm: ...
    @staticmethod
    def categories(n: int) -> Arm: ...
    @property
    def n_features(self) -> int: ...

class Model:
    """The families of all arms."""

    def __init__(
        self,
        arms: Sequence[Arm],
        n_features: int,
        variances: Literal["known", "separate", "shared"] = "known",
    ) -> None: ...
    @property
    def n_arms(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def kind(self) -> Literal["isotropic", "covariance", "scalar", "vector", "unknown-variance"]: ...
    @property
    def variances(self) -> Literal["known", "separate", "shared"]: ...
    @property
    def has_user_family(self) -> bool: ...
    @property
    def chart_dimension(self) -> int: ...
    def kl(self, arm: int, theta: _Array, lam: _Array) -> float: ...
    def fisher(self, arm: int, theta: _Array) -> float: ...
    def variance(self, arm: int, theta: _Array) -> float: ...
    def shift_kl(self, arm: int, theta: _Array, eps: float) -> float: ...
    def estimate(self, arm: int, mean: _Array, box: _Array | None = None) -> _Array: ...
    def log_evidence(self, arm: int, n: float, mean: _Array, lam: _Array, c: float) -> float: ...
    def regret(self, arm: int, n: float, theta: _Array) -> float: ...
    def reach(self, arm: int, theta: _Array, level: float) -> float: ...

class Moments:
    """What universal inference keeps of one arm's samples."""

    predicted: float
    squares: float
    log_predictive: float
    all_squares: float
    mean: list[float]
    def __init__(self) -> None: ...

def confidence_radii(
    model: Model,
    counts: _Ints,
    means: _Array,
    directions: _Array,
    delta: float,
    moments: Sequence[Moments] | None = None,
) -> _Array: ...

# linkage

def single_linkage(parameters: _Array, n_clusters: int) -> tuple[_Ints, bool]: ...
def minimum_spanning_tree(dist: _Array) -> tuple[_Ints, _Ints, _Array]: ...

# psi

class Psi:
    """The cheapest alternative to a partition."""

    @property
    def value(self) -> float: ...
    @property
    def alternative(self) -> _Array: ...
    @property
    def kl(self) -> _Array: ...
    @property
    def witness(self) -> tuple[int, int, int, int] | None: ...
    @property
    def ambiguous(self) -> bool: ...

@overload
def psi(model: Model, weights: _Array, theta: _Array, n_clusters: int) -> Psi: ...
@overload
def psi(model: Model, weights: _Array, theta: _Array, labels: _Ints) -> Psi: ...
