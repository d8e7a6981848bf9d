"""Rules that choose the next arm."""

from linkarms.sampling._atboc import ATBOC
from linkarms.sampling._base import SamplingRule, View
from linkarms.sampling._fixed import FixedSize
from linkarms.sampling._lma import LMA
from linkarms.sampling._lucbboc import LUCBBOC
from linkarms.sampling._maxgap import MaxGapElim, MaxGapTop2UCB, MaxGapUCB
from linkarms.sampling._resolve import resolve_sampling, sampling_from_dict
from linkarms.sampling._rules import EBC, EBCH, RoundRobin

__all__ = [
    "ATBOC",
    "EBC",
    "EBCH",
    "LMA",
    "LUCBBOC",
    "FixedSize",
    "MaxGapElim",
    "MaxGapTop2UCB",
    "MaxGapUCB",
    "RoundRobin",
    "SamplingRule",
    "View",
    "resolve_sampling",
    "sampling_from_dict",
]
