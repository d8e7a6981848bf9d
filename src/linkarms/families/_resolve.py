"""From what a user writes (a name, an object, a list) to the model of all arms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkarms import _core
from linkarms._family_syntax import SYNTAX
from linkarms.errors import InvalidDump, InvalidInput
from linkarms.families._base import Array, Family, ScalarFamily
from linkarms.families._counts import Bernoulli, Categorical, Poisson
from linkarms.families._gamma import Exponential, Gamma
from linkarms.families._gaussian import Bounded, Gaussian
from linkarms.families._parse import parse
from linkarms.families._product import Product
from linkarms.families._unknown import UnknownVariance

__all__ = ["ArmFamilies", "FamilyLike", "from_dict", "resolve"]

FamilyLike = str | Family | Sequence[str | Family]

_SHIPPED: dict[str, type[Family]] = {
    cls.name: cls
    for cls in (
        Gaussian,
        UnknownVariance,
        Bounded,
        Exponential,
        Gamma,
        Bernoulli,
        Poisson,
        Categorical,
        Product,
    )
}


#: Numbers that a run may keep of the samples of all arms: several times as much memory, in bytes, as 8 per number.
_MOST_NUMBERS = 2**24


def _check_memory(n_arms: int, n_features: int, full: bool = False) -> None:
    """Refuse what could not be kept before anything is allocated; a ``full`` covariance has a number for each pair of coordinates."""
    each = n_features * (n_features + 1) // 2 if full else n_features
    if n_arms * each <= _MOST_NUMBERS:
        return
    what = f"a covariance of {n_features} features has {each} numbers" if full else f"n_features={n_features}"
    other = "; the family gaussian-unknown:coordinate keeps fewer" if full else ""
    raise InvalidInput(
        f"{what}, and there are {n_arms} arms; at most {_MOST_NUMBERS} numbers are kept in all: "
        f"give fewer features or arms{other}"
    )


class ArmFamilies:
    """The families of M arms: the objects, and the arrays made of them.

    Attributes
    ----------
    families : list of Family
        One per arm.
    model : _core.Model
        The families as the native core takes them.

    Examples
    --------
    >>> import linkarms as la
    >>> families = la.families.resolve("gaussian:4", n_arms=3, n_features=1)
    >>> len(families.families), families.families[0]
    (3, Gaussian(covariance=4.0))
    """

    def __init__(self, families: list[Family], n_features: int) -> None:
        _check_memory(len(families), n_features, any(family.variances == "full" for family in families))
        self.families = families
        self.n_features = n_features
        self.model = self._build()

    def _build(self) -> _core.Model:
        # equal objects share an arm, so a user's functions are looked up once
        arms = {id(f): f.native(self.n_features) for f in self.families}
        categorical = [isinstance(f, Categorical) for f in self.families]
        if any(categorical) and not all(categorical):
            raise InvalidInput("categorical arms cannot be mixed with other families; give all arms one kind")
        variances = {f.variances for f in self.families}
        if len(variances) > 1:
            raise InvalidInput(
                "arms of unknown variance cannot be mixed with others, nor arms that share one with arms that do not; "
                "give all arms one kind"
            )
        return _core.Model([arms[id(f)] for f in self.families], self.n_features, variances.pop())

    def __reduce__(self) -> tuple[Any, ...]:
        # the model is made again: it may hold functions of this process
        return ArmFamilies, (self.families, self.n_features)

    @property
    def has_callbacks(self) -> bool:
        """Whether the family of some arm is a user's own."""
        return self.model.has_user_family

    @property
    def unknown_variance(self) -> bool:
        """Whether the arms are Gaussian with unknown variance."""
        return self.model.kind == "unknown-variance"

    def require_known(self, what: str) -> None:
        """Raise `InvalidInput` where the variance is unknown: ``what`` needs it."""
        if self.unknown_variance:
            raise InvalidInput(
                f"{what} needs a known variance and the family is {self.families[0].name!r}; give the family "
                "'gaussian:VARIANCE' with your best guess"
            )

    def covariance(self, m: int) -> Array:
        """Return the known covariance of a Gaussian arm, shape (d, d)."""
        family = self.families[m]
        assert isinstance(family, Gaussian)
        return family.matrix(self.n_features)

    def check_parameters(self, parameters: Array) -> None:
        """Raise `InvalidInput` unless row ``m`` is a parameter of family ``m``."""
        for m, family in enumerate(self.families):
            family.check_parameter(parameters[m], f"parameters[{m}]")

    def to_list(self) -> list[dict[str, Any]]:
        """Return plain data, one entry per arm."""
        return [f.to_dict() for f in self.families]


def resolve(family: FamilyLike, n_arms: int, n_features: int) -> ArmFamilies:
    """Return the families of ``n_arms`` arms with ``n_features`` numbers per sample.

    A one-dimensional family given for ``n_features >= 2`` stands for independent coordinates of it.

    Parameters
    ----------
    family : str, Family, or a sequence of them
        One for all arms, or one per arm; `linkarms.families.SYNTAX` lists the texts.
    n_arms, n_features : int
        M and d.

    Examples
    --------
    >>> import linkarms as la
    >>> families = la.families.resolve(["poisson", "poisson", "exponential"], n_arms=3, n_features=1)
    >>> [family.name for family in families.families]
    ['poisson', 'poisson', 'exponential']
    """
    _check_memory(n_arms, n_features)
    if isinstance(family, (str, Family)):
        shared = _one(family, n_features)
        if shared.n_arms not in (None, n_arms):
            raise InvalidInput(f"there are {shared.n_arms} covariances for {n_arms} arms; give one per arm")
        return ArmFamilies([_fit(shared.for_arm(m), n_features, m) for m in range(n_arms)], n_features)
    if not isinstance(family, Sequence):
        raise _no_family(family)
    if len(family) != n_arms:
        raise InvalidInput(f"there are {len(family)} families for {n_arms} arms; give one per arm")
    return ArmFamilies([_fit(_one(f, n_features), n_features, m) for m, f in enumerate(family)], n_features)


def _one(family: str | Family, n_features: int) -> Family:
    if isinstance(family, Family):
        return family
    if not isinstance(family, str):
        raise _no_family(family)
    return parse(family, n_features)


def _no_family(given: object) -> InvalidInput:
    return InvalidInput(
        f"family={given!r} is not a family; choose {SYNTAX}, give an object of linkarms.families, or a list with one per arm"
    )


def _fit(family: Family, n_features: int, m: int) -> Family:
    if family.n_arms is not None:
        raise InvalidInput(
            f"the family of arm {m} holds a covariance for each arm; give the list one covariance per arm"
        )
    own = family.n_features
    if own is None or own == n_features:
        return family
    if isinstance(family, Bounded) and own == 1:
        # the same bounds for every coordinate; only the user can know that coordinates are independent
        return Bounded(np.full(n_features, family.low), np.full(n_features, family.high), family.independent)
    if own == 1 and not isinstance(family, ScalarFamily):
        return Product([family] * n_features)
    raise InvalidInput(
        f"the {family.name} family of arm {m} has {own} numbers per sample and n_features={n_features}; make them equal"
    )


def from_dict(spec: dict[str, Any], custom: dict[str, Family] | None = None) -> Family:
    """Return the family that ``to_dict`` described; ``custom`` holds a user's own by name.

    Examples
    --------
    >>> import linkarms as la
    >>> la.families.from_dict(la.families.Gaussian(covariance=4.0).to_dict())
    Gaussian(covariance=4.0)
    """
    name = spec.get("name")
    if spec.get("custom"):
        if custom and name in custom:
            return custom[name]
        raise InvalidDump(
            f"the dump uses the family {name!r}, which is not part of linkarms; call load(blob, family=...)"
        )
    if name not in _SHIPPED:
        raise InvalidDump(f"the dump uses the unknown family {name!r}; it is damaged or from a newer version")
    arguments = {k: v for k, v in spec.items() if k != "name"}
    if name == "product":
        arguments["families"] = [from_dict(s, custom) for s in arguments["families"]]
    try:
        return _SHIPPED[name](**arguments)
    except (TypeError, InvalidInput) as error:
        raise InvalidDump(f"the dump's {name} family is damaged ({error}); use an intact dump") from error
