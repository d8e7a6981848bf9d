"""Rules that choose the next arm."""

from linkarms.sampling._base import SamplingRule, View
from linkarms.sampling._rules import EBC, EBCH, RoundRobin, resolve_sampling, sampling_from_dict

__all__ = ["EBC", "EBCH", "RoundRobin", "SamplingRule", "View", "resolve_sampling", "sampling_from_dict"]
