"""Rules that choose the next arm."""

from linkarms.sampling._base import SamplingRule, View
from linkarms.sampling._fixed import FixedSize
from linkarms.sampling._lucbboc import LUCBBOC
from linkarms.sampling._resolve import resolve_sampling, sampling_from_dict
from linkarms.sampling._rules import EBC, EBCH, RoundRobin

__all__ = [
    "EBC",
    "EBCH",
    "LUCBBOC",
    "FixedSize",
    "RoundRobin",
    "SamplingRule",
    "View",
    "resolve_sampling",
    "sampling_from_dict",
]
