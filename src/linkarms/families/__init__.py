"""Distributions of samples, and what the rules need of each.

A family is given as text (``"gaussian-unknown"``, ``"exponential:mean"``), as an object (``Exponential(parameter="mean")``), or as
a list with one per arm. `ScalarFamily` is the base for a user's own.
"""

from linkarms._family_syntax import DEFAULT, SYNTAX
from linkarms.families._base import Family, ScalarFamily
from linkarms.families._check import check_family
from linkarms.families._counts import Bernoulli, Categorical, Poisson
from linkarms.families._gamma import Exponential, Gamma
from linkarms.families._gaussian import Bounded, Gaussian, bounded
from linkarms.families._parse import parse
from linkarms.families._product import Product
from linkarms.families._resolve import ArmFamilies, FamilyLike, from_dict, resolve
from linkarms.families._suggest import are_whole, suggestion
from linkarms.families._unknown import UnknownVariance

__all__ = [
    "DEFAULT",
    "SYNTAX",
    "ArmFamilies",
    "Bernoulli",
    "Bounded",
    "Categorical",
    "Exponential",
    "Family",
    "FamilyLike",
    "Gamma",
    "Gaussian",
    "Poisson",
    "Product",
    "ScalarFamily",
    "UnknownVariance",
    "are_whole",
    "bounded",
    "check_family",
    "from_dict",
    "parse",
    "resolve",
    "suggestion",
]
